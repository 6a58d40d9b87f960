"""Contracts of the user's own: what every rank of a line has before, and what it has after.

A contract is worked out for the line, the numbers and the length that it is used with, and checked
to be one that can be kept: only what somebody has before is promised, each contribution once.

At the end, the contract of a collective as its declaration says it, and what all collectives share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from collc.base.columns import Columns, Ints, joined, repeated_rows
from collc.base.diagnostics import Edit, Span, tail
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.algorithms import Algorithms
from collc.language.declarations import (
    Declarations,
    Remedy,
    as_used,
    check_required,
    check_slice,
    in_full,
    ranks_are,
    ranks_of,
    refuse_first,
    restricted,
    slices_of,
    slices_taken,
    values_of,
    with_locals,
)
from collc.language.expressions import Scope, number, numbers_for_all
from collc.language.grids import Line, Orders
from collc.language.kinds import BY_WORD, undeclared
from collc.language.parser import LATER, LATER_INSTEAD, not_supported
from collc.language.problems import KnownProblemError, ProblemError, meaning, nearest, problem
from collc.language.syntax import ContractDecl, HeldDecl, OwnContractDecl, Word
from collc.language.trees import Forest
from collc.spec import (
    Contract,
    ContractKind,
    ElementType,
    Operation,
    Origin,
    OwnOperation,
    Result,
)
from collc.spec.custom_contract import NO_HOLDINGS, Holdings, OwnContract
from collc.spec.exchange import Slicing
from collc.target import Target

MAX_PROMISES = 4_194_304  # slices of ranks, of one contract


@dataclass(frozen=True)
class _Slices(Columns):
    """Holdings slice by slice."""

    holder: Ints
    into: Ints
    whose: Ints
    slice: Ints

    def in_order(self) -> _Slices:
        """The rows by rank and by the slice that they are in; what is in one stands together."""
        return self.chosen(np.lexsort((self.slice, self.whose, self.into, self.holder)))


@dataclass(eq=False)
class Contracts(Declarations[OwnContractDecl]):
    """All contracts of a file."""

    def with_promise(
        self, used: ContractDecl, contract: Contract, line: Line, axis: str, scope: Scope
    ) -> Contract:
        """The contract of a collective on a line with what it says; raises `ProblemError`."""
        self.check_whole(used.kind)
        declaration = self.declared[used.kind.text]
        values = values_of(declaration, used.arguments, (line.length,), scope, used.span)
        try:
            own = self._worked_out(declaration, values, line, axis)
            _check_promise(declaration, own, contract)
        except ProblemError as error:
            inside = f"in {in_full(declaration, values)}"
            raise error.with_note(used.span, inside) from None
        return replace(contract, own=replace(own, span=declaration.span))

    def _worked_out(
        self, declaration: OwnContractDecl, values: tuple[int, ...], line: Line, axis: str
    ) -> OwnContract:
        around = with_locals(declaration.locals, self.scope_of(declaration, values))
        check_required(declaration, values, around)
        slices = slices_of(declaration, around)
        before, after = (
            [_holdings(one, line.length, slices, around) for one in declaration.held if is_(one)]
            for is_ in (_is_before, _is_after)
        )
        return OwnContract(
            text=as_used(declaration, values),
            ranks=line.length,
            slices=slices,
            given=joined(before) if before else None,
            promised=joined([NO_HOLDINGS, *after]),
            axis=axis,
            order=line.word,
            places=line.places,
            span=declaration.span,
        )


def _is_before(held: HeldDecl) -> bool:
    return held.when.text == "before"


def _is_after(held: HeldDecl) -> bool:
    return not _is_before(held)


def _holdings(held: HeldDecl, ranks: int, slices: int, around: Scope) -> Holdings:
    """What one line says, rank by rank."""
    seen = ranks_of(held, ranks, around)
    if seen.size:
        first, count = slices_taken(held.part, slices, seen)
        some = count > 0
        seen, first, count = seen.only(some), first[some], count[some]
    if not seen.size:
        return NO_HOLDINGS
    holder = seen.arrays[held.rank.text]
    whose = numbers_for_all(held.whose, seen)
    outside = (whose < 0) | (whose >= ranks)
    refuse_first(
        outside,
        lambda i: f"rank {holder[i]} is to have what is rank {whose[i]}'s: {ranks_are(ranks)}",
        ("C151", held.whose.span, restricted(held, outside, seen)),
        seen,
    )
    check_slice(first, slices, held.span if held.part is None else held.part.span, seen)
    into = first
    if held.into is not None:
        into = numbers_for_all(held.into, seen)
        check_slice(into, slices, held.into.span, seen)
    if _is_before(held):
        own, name = held.whose.span, held.rank.text
        remedy = Remedy(f"write `of {name}`", (Edit(own, name),))
        if (whose == holder).all():
            remedy = Remedy("leave `as slice` out")
        refuse_first(
            (whose != holder) | (into != first),
            lambda i: (
                f"before, rank {holder[i]} has slices of its own vector only, in their places"
            ),
            ("C167", held.whose.span, remedy),
            seen,
        )
    columns = (holder, whose, first, into, count)
    return Holdings(*(column.astype(np.int32) for column in columns))


def _check_promise(declaration: OwnContractDecl, own: OwnContract, contract: Contract) -> None:
    """C167, C155, C147: what is promised can be kept."""
    if int(own.promised.count.sum()) > MAX_PROMISES:
        message = f"these are more than {MAX_PROMISES} slices of ranks"
        raise problem("C157", message, declaration.name.span)
    promised = _by_slice(own.promised).in_order()
    _check_given(declaration, own, promised)
    same = (promised.holder[1:] == promised.holder[:-1]) & (promised.into[1:] == promised.into[:-1])
    moved = same & (promised.slice[1:] != promised.slice[:-1])
    twice = same & ~moved & (promised.whose[1:] == promised.whose[:-1])
    if moved.any():
        i = int(np.flatnonzero(moved)[0])
        message = (
            f"{_place(promised, i)} is to have slice {promised.slice[i]} of rank "
            f"{promised.whose[i]} and slice {promised.slice[i + 1]} of rank {promised.whose[i + 1]}"
        )
        help = "slices that are combined have the same number in every vector"
        raise problem("C167", message, declaration.name.span, help=help)
    if twice.any():
        i = int(np.flatnonzero(twice)[0])
        message = f"{_place(promised, i)} is to have the contribution of rank {promised.whose[i]} "
        message += "twice"
        raise problem(
            "C167",
            message,
            declaration.name.span,
            help="exclude this rank from one of the lines by `where`",
        )
    if same.any() and contract.operation is None:
        i = int(np.flatnonzero(same)[0])
        message = f"{own.text} needs an operation: {_place(promised, i)} is to have what rank "
        message += f"{promised.whose[i]} and rank {promised.whose[i + 1]} have"
        usual = usual_operation(contract.element).value
        help = f"write ({contract.buffer}: {contract.element.value}[...], {usual})"
        raise problem("C147", message, contract.span, help=help)
    _check_lengths(own, promised, contract)


def _place(promised: _Slices, i: int) -> str:
    return f"slice {promised.into[i]} of rank {promised.holder[i]}"


def _by_slice(held: Holdings) -> _Slices:
    """Every slice by itself."""
    row, within = repeated_rows(held.count)
    holder, whose = held.holder[row].astype(np.int64), held.whose[row].astype(np.int64)
    return _Slices(holder, held.into[row] + within, whose, held.slice[row] + within)


def _check_given(declaration: OwnContractDecl, own: OwnContract, promised: _Slices) -> None:
    """C167: promised is only what somebody has."""
    if own.given is None:
        return
    given = _by_slice(own.given)
    has = np.unique(given.holder * own.slices + given.slice)
    wrong = np.flatnonzero(~np.isin(promised.whose * own.slices + promised.slice, has))
    if len(wrong):
        i = int(wrong[0])
        message = f"rank {promised.holder[i]} is to have slice {promised.slice[i]} of rank "
        message += f"{promised.whose[i]}, who does not have it before"
        help = "say so: `before each r : r has slice E of r`; without `before`, all have all"
        raise problem("C167", message, declaration.name.span, help=help)


def _check_lengths(own: OwnContract, promised: _Slices, contract: Contract) -> None:
    """C155: slices that change places are of one length."""
    slicing = Slicing(own.slices, contract.length)
    bounds = np.arange(own.slices + 1, dtype=np.int64) * slicing.length // slicing.count
    sizes = np.diff(bounds)
    wrong = np.flatnonzero(sizes[promised.slice] != sizes[promised.into])
    if len(wrong):
        i = int(wrong[0])
        message = (
            f"{own.text} puts slice {promised.slice[i]} of {sizes[promised.slice[i]]} elements "
        )
        message += f"as slice {promised.into[i]} of {sizes[promised.into[i]]}"
        more = own.slices * (contract.length // own.slices + 1)
        help = f"make the length a multiple of {own.slices}, the number of slices, such as {more}"
        fix = (Edit(contract.length_span, str(more)),) if contract.length_span else ()
        raise problem("C155", message, contract.span, help=help, fix=fix)


_MEANS = ("mean", "avg", "average")


def find_operation(
    word: Word, element: ElementType, own: Mapping[str, OwnOperation], others: Mapping[str, str]
) -> Operation | OwnOperation:
    """The operation that a contract names, for elements of its type."""
    operations = {operation.value: operation for operation in Operation}
    if word.text in own:
        operation = own[word.text]
        if operation.element is not element:
            message = f"{word.text} combines {operation.element.value}, not {element.value}"
            place = (operation.span, "declared here")
            raise problem("C161", message, word.span, place, help=_instead(None, element))
        return operation
    if word.text not in operations:
        fitting = [name for name, one in operations.items() if one.combines(element)]
        fitting += [name for name, one in own.items() if one.element is element]
        if word.text.lower() in _MEANS and "add" in fitting:
            message = f"there is no operation called {word.text}"
            help = "for a mean combine by `add`, and let the kernel scale the result"
            raise problem("C111", message, word.span, help=help, fix="add")
        near = nearest(word.text, fitting)
        known = fitting if near else {**operations, **own}
        raise undeclared(BY_WORD["operation"], word, known, others)
    found = operations[word.text]
    if not found.combines(element):
        message = f"{word.text} combines {_combined_by(found)}, not {element.value}"
        raise problem("C161", message, word.span, help=_instead(found, element))
    return found


def _combined_by(operation: Operation) -> str:
    """What an operation is for, in words."""
    if operation.of_pairs:
        return "pairs of a value and an index"
    return "whole numbers" if operation.bitwise else "numbers"


def _instead(operation: Operation | None, element: ElementType) -> str:
    """What an operation is for, or the operations for elements that it is not for."""
    if element.pair_of:
        return f"for pairs there are {' and '.join(x.value for x in Operation if x.of_pairs)}"
    if operation is None:
        return "declare one for this type"
    types = (one for one in ElementType if operation.combines(one))
    return f"it is for {', '.join(one.value for one in types)}"


def usual_operation(element: ElementType) -> Operation:
    """An operation that combines elements of this type, for remedies."""
    return Operation.ADD if Operation.ADD.combines(element) else Operation.ARGMAX


# The contract of a collective, and what all collectives of a file share.


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
class DeclaredCollective(Origin):
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
