"""The contract of a collective, as its declaration says it; and what all collectives share."""

from collections.abc import Mapping

from collc.base.diagnostics import Edit, Span, tail
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.algorithms import Algorithms
from collc.language.contracts import Contracts, find_operation, usual_operation
from collc.language.evaluation import number
from collc.language.forest import Forest
from collc.language.kinds import BY_WORD, undeclared
from collc.language.orders import Orders
from collc.language.parser import LATER, LATER_INSTEAD, not_supported
from collc.language.problems import KnownProblemError, meaning, problem
from collc.language.scope import Scope
from collc.language.syntax import Comparison, Word
from collc.spec import (
    Contract,
    ContractKind,
    ElementType,
    Operation,
    Origin,
    OwnOperation,
    Result,
)
from collc.target import Target


@dataclass(frozen=True)
class FileContext:
    """What all collectives of a file share: what it declares, and the machine."""

    scope: Scope
    forest: Forest
    algorithms: Algorithms
    orders: Orders
    operations: Mapping[str, OwnOperation | None]
    contracts: Contracts
    target: Target


@dataclass(frozen=True, eq=False)
class Declared(Origin):
    """A collective as the file has it, and what it was elaborated with."""

    declaration: syntax.CollectiveDecl
    grids: Mapping[str, Grid | None]
    context: FileContext


def contract_of(declaration: syntax.ContractDecl, context: FileContext) -> Contract:
    """The contract that is declared; raises what is wrong with it."""
    kind = _kind(declaration.kind, context)
    buffer = declaration.buffer
    if kind is not ContractKind.OWN and declaration.arguments:
        message = f"{kind.value} takes a buffer and an operation, and no numbers"
        at = declaration.arguments[0].span
        last = buffer and (buffer.operation or buffer)
        out = (Edit(tail(last.span, at), ""),) if last else ()
        raise problem("C114", message, at, help="leave it out", fix=out)
    if (kind is ContractKind.BARRIER) != (buffer is None):
        if buffer is None:
            message = f"{declaration.kind.text} needs a buffer"
            help = f"write {declaration.kind.text}(x: f32[B]{', add' if kind.reduces else ''})"
        else:
            message, help = "a barrier moves no vectors, so it has no buffer", "write barrier()"
        fix = None if buffer is None else "barrier()"
        raise problem("C147", message, declaration.span, help=help, fix=fix)
    if buffer is None:
        if declaration.into is not None:
            message = "a barrier has no result"
            help = "leave `into` out"
            raise problem("C147", message, declaration.into.span, help=help, fix="")
        return Contract(kind, "", ElementType.U32, 0, None, declaration.span)
    elements = {element.value: element for element in ElementType}
    word = buffer.element
    element = meaning(word, elements, f"there is no element type called {word.text}")
    operation = _operation(kind, buffer, element, context, declaration.span)
    length = number(buffer.length, context.scope)
    if length < 1:
        message = f"{buffer.name.text} has {length} elements; it needs at least 1"
        raise problem("C125", message, buffer.length.span, help="write 1 or more", fix="1")
    name = buffer.name.text
    run_length = buffer.run_length.given(length) if buffer.run_length else None
    stride = _stride(buffer.name, buffer.stride, element, context)
    result = _result(declaration, element, context)
    return Contract(
        *(kind, name, element, length, operation, declaration.span, run_length),
        stride=stride,
        result=result,
        length_span=None if run_length else buffer.length.span,
    )


def _result(
    declaration: syntax.ContractDecl, element: ElementType, context: FileContext
) -> Result | None:
    """The buffer that the result goes to, if it is not that of the contract."""
    into, buffer = declaration.into, declaration.buffer
    if into is None or buffer is None:
        return None
    if into.name.text == buffer.name.text:
        message = f"the result is to be apart from {into.name.text}, and goes into it"
        help = "leave `into` out, or name another buffer"
        raise problem("C176", message, into.span, help=help, fix="")
    if isinstance(buffer.length, Comparison) or buffer.run_length is not None:
        what = "`into` with a length that is given when the program runs"
        raise not_supported(what, into.span, help="leave `into` out, or fix the length", fix="")
    return Result(into.name.text, _stride(into.name, into.stride, element, context), into.span)


def _stride(
    name: Word, stride: syntax.Expression | None, element: ElementType, context: FileContext
) -> int:
    """How far apart the elements of a buffer are."""
    if stride is None:
        return 1
    apart = number(stride, context.scope)
    if apart < 1:
        message = f"elements of {name.text} are {apart} apart; they are at least 1 apart"
        raise problem("C175", message, stride.span, help="write a number from 1 on", fix="1")
    if apart > 1 and element.pair_of:
        message = "pairs follow each other without a gap, since an instruction strides over words"
        help = "write `by 1`, or leave it out"
        raise problem("C175", message, stride.span, help=help, fix="1")
    return apart


_UNEQUAL = {  # contracts that MPI has for slices of different lengths, and those for equal ones
    "alltoallv": "all_to_all",
    "all_to_allv": "all_to_all",
    "allgatherv": "allgather",
    "gatherv": "gather",
    "scatterv": "scatter",
}


def _kind(word: Word, context: FileContext) -> ContractKind:
    kinds = {kind.value: kind for kind in ContractKind if kind.value != ContractKind.OWN.value}
    kinds |= {name: ContractKind.OWN for name in context.contracts.declared}
    if word.text in _UNEQUAL:
        what, written = "slices of different lengths", _UNEQUAL[word.text]
        help = f"write `{written}`, and make all slices as long as the longest"
        raise not_supported(what, word.span, help=help, fix=written)
    if word.text in LATER:
        raise not_supported(LATER[word.text], word.span, help=LATER_INSTEAD[word.text])
    if word.text not in kinds:
        raise undeclared(BY_WORD["contract"], word, kinds, context.scope.others)
    return kinds[word.text]


def _operation(
    kind: ContractKind,
    buffer: syntax.BufferDecl,
    element: ElementType,
    context: FileContext,
    at: Span,
) -> Operation | OwnOperation | None:
    word = buffer.operation
    if kind is ContractKind.OWN and word is None:
        return None  # whether it needs one depends on the line
    if not kind.reduces and kind is not ContractKind.OWN:
        if word is not None:
            article = "an" if kind.value[0] == "a" else "a"
            message = f"{article} {kind.value} combines nothing, so it has no operation"
            out = (Edit(tail(buffer.span, word.span), ""),)
            raise problem("C147", message, word.span, help=f"leave `, {word.text}` out", fix=out)
        return None
    if word is None:
        message = f"{kind.value} needs an operation"
        usual = usual_operation(element).value
        help = f"write {kind.value}({buffer.name.text}: {element.value}[...], {usual})"
        end = Span(at.file, at.end_line, at.end_column - 1, at.end_line, at.end_column)
        raise problem("C147", message, at, help=help, fix=(Edit(end, f", {usual})"),))
    if word.text in context.operations and context.operations[word.text] is None:
        raise KnownProblemError
    own = {name: one for name, one in context.operations.items() if one is not None}
    return find_operation(word, element, own, context.scope.others)
