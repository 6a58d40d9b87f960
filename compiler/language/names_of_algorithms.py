"""What an algorithm, a contract or an order names: its own numbers, functions, loop variables and
ranks, and no others."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

from collc.base.values import dataclass
from collc.language import syntax
from collc.language.declared_names import check_words
from collc.language.expressions import (
    FUNCTIONS,
    RESERVED,
    check_function_call,
    unknown_function,
    unknown_name,
)
from collc.language.problems import ProblemError, nearest, problem, unknown
from collc.language.traverse import expressions_of, walk

MAX_LOOPS_DEEP = 32


@dataclass(frozen=True)
class Known:
    """Names that mean something at a place: numbers, functions (with their arity), algorithms."""

    numbers: frozenset[str]
    functions: Mapping[str, int]
    algorithms: frozenset[str]

    def with_numbers(self, *words: syntax.Word) -> Known:
        """With more numbers; they hide functions of the same name."""
        names = {word.text for word in words}
        left = {name: arity for name, arity in self.functions.items() if name not in names}
        return replace(self, numbers=self.numbers | names, functions=left)


def check_algorithm(algorithm: syntax.AlgorithmDecl, known: Known) -> Iterator[ProblemError]:
    """Everything that is wrong with the names in an algorithm, in the order of the source."""
    within = yield from _check_head(algorithm, known)
    yield from _check_actions(algorithm.actions, within, 1)


def check_contract(contract: syntax.OwnContractDecl, known: Known) -> Iterator[ProblemError]:
    """Everything that is wrong with the names and words in a contract."""
    inner = yield from _check_head(contract, known)
    for held in contract.held:
        yield from _check_held(held, inner)
    if not any(held.when.text == "after" for held in contract.held):
        message = f"{contract.name.text} promises nothing"
        help = "add what ranks have at the end: `after each r : r has ...`"
        yield problem("C167", message, contract.span, help=help)


def _check_head(
    declared: syntax.AlgorithmDecl | syntax.OwnContractDecl, known: Known
) -> Generator[ProblemError, None, Known]:
    """Returns what is known between the braces."""
    yield from check_words((*declared.parameters, *(local.name for local in declared.locals)))
    inner = yield from _check_locals(declared.locals, known.with_numbers(*declared.parameters))
    for expression in (declared.slices, declared.condition):
        if expression is not None:
            yield from _check_expression(expression, inner)
    return inner


def _check_locals(
    locals_: tuple[syntax.LocalDecl, ...], known: Known
) -> Generator[ProblemError, None, Known]:
    """Returns what is known behind them."""
    for local in locals_:
        yield from _check_local(local, known)
        known = _behind(local, known)
    return known


def _check_held(held: syntax.HeldDecl, known: Known) -> Iterator[ProblemError]:
    words = (held.rank,) if held.other is None else (held.rank, held.other)
    yield from check_words(words)
    wanted = [(held.when, ("before", "after")), (held.has, ("has",))]
    wanted += [(held.of, ("of",))] if held.of is not None else []
    for word, spelled in wanted:
        if word.text not in spelled:
            expected = " or ".join(f"`{one}`" for one in spelled)
            message = f"unexpected `{word.text}`, expected {expected}"
            meant = spelled[0] if len(spelled) == 1 else nearest(word.text, spelled)
            help = f"write `{meant}`" if meant else ""
            yield problem("C105", message, word.span, help=help, fix=meant)
    if held.holder.text != held.rank.text:
        message = f"each {held.rank.text} has something, not {held.holder.text}"
        help = f"write `{held.rank.text} has`"
        yield problem("C156", message, held.holder.span, help=help, fix=held.rank.text)
    if held.into is not None and (held.part is None or held.part.last is not None):
        message = "`as slice` places one slice, and these are several"
        yield problem(
            "C154", message, held.into.span, help="name one slice in front of it: `slice E`"
        )
    inner = known.with_numbers(*words)
    for expression in expressions_of(held):
        yield from _check_expression(expression, inner)


def check_order(order: syntax.OrderDecl, known: Known) -> Iterator[ProblemError]:
    """Everything that is wrong with the names in an order. Its functions do not see the rank."""
    yield from check_words(order.parameters)
    known = known.with_numbers(*order.parameters)
    if not isinstance(order.pes, syntax.FormulaDecl):
        for pe in order.pes:
            yield from _check_expression(pe.x, known)
            yield from _check_expression(pe.y, known)
        return
    formula = order.pes
    if formula.arrow.text != "->":
        message = f"unexpected `{formula.arrow.text}`, expected `->`"
        help = "nothing is combined in an order: write `->`"
        yield problem("C105", message, formula.arrow.span, help=help, fix="->")
    yield from check_words((formula.rank, *(local.name for local in formula.locals)))
    inner = known.with_numbers(formula.rank)
    for local in formula.locals:
        yield from _check_local(local, inner if local.parameters is None else known)
        inner = _behind(local, inner)
        known = known if local.parameters is None else _behind(local, known)
    yield from _check_expression(formula.pe.x, inner)
    yield from _check_expression(formula.pe.y, inner)


def _check_local(local: syntax.LocalDecl, known: Known) -> Iterator[ProblemError]:
    yield from check_words(local.parameters or ())
    if local.parameters is not None:
        known = _behind(local, known).with_numbers(*local.parameters)  # it may call itself
    yield from _check_expression(local.value, known)


def _behind(local: syntax.LocalDecl, known: Known) -> Known:
    """What is known behind a local."""
    if local.parameters is None:
        return known.with_numbers(local.name)
    functions = {**known.functions, local.name.text: len(local.parameters)}
    return replace(known, functions=functions, numbers=known.numbers - {local.name.text})


def _check_actions(
    actions: tuple[syntax.Action, ...], known: Known, depth: int
) -> Iterator[ProblemError]:
    for action in actions:
        if isinstance(action, syntax.IncludeDecl):
            yield from _check_include(action, known)
            continue
        inner = known
        if action.range is not None:
            yield from check_words((action.range.name,))
            yield from _check_expression(action.range.first, known)
            yield from _check_expression(action.range.last, known)
            inner = known.with_numbers(action.range.name)
        yield from check_words(tuple(local.name for local in action.locals))
        inner = yield from _check_locals(action.locals, inner)
        if isinstance(action, syntax.StepDecl):
            for transfer in action.transfers:
                yield from _check_transfer(transfer, inner)
        elif depth >= MAX_LOOPS_DEEP:
            message = f"loops lie more than {MAX_LOOPS_DEEP} deep in each other"
            yield problem("C103", message, action.span, help="count by one number")
        else:
            yield from _check_actions(action.actions, inner, depth + 1)


def _check_include(include: syntax.IncludeDecl, known: Known) -> Iterator[ProblemError]:
    if include.name.text not in known.algorithms:
        message = f"there is no algorithm called {include.name.text}"
        yield unknown("C110", message, include.name, known.algorithms)
    for argument in include.arguments:
        yield from _check_expression(argument.value, known)


def _check_transfer(transfer: syntax.EachDecl, known: Known) -> Iterator[ProblemError]:
    words = (transfer.rank,) if transfer.other is None else (transfer.rank, transfer.other)
    yield from check_words(words)
    if transfer.source.text != transfer.rank.text:
        message = f"each {transfer.rank.text} sends itself, not {transfer.source.text}"
        help = f"write `{transfer.rank.text}` in front of the arrow"
        yield problem("C156", message, transfer.source.span, help=help, fix=transfer.rank.text)
    inner = known.with_numbers(*words)
    for expression in expressions_of(transfer):
        yield from _check_expression(expression, inner)


def _check_expression(outermost: syntax.Expression, known: Known) -> Iterator[ProblemError]:
    for expression, _ in walk(outermost):
        match expression:
            case syntax.Name(text=text) if text not in known.numbers:
                if text in known.functions:
                    message = f"{text} is a function, where a number is wanted"
                    yield problem("C113", message, expression.span, help=f"write {text}(...)")
                elif text not in RESERVED:
                    yield unknown_name(text, expression.span, dict.fromkeys(known.numbers))
            case syntax.Call(name=name) if name.text in known.functions:
                yield from _check_arity(expression, known.functions[name.text])
            case syntax.Call(name=name) if name.text not in FUNCTIONS:
                yield unknown_function(name, {**FUNCTIONS, **known.functions})
            case syntax.Call():
                try:
                    check_function_call(expression)
                except ProblemError as error:
                    yield error


def _check_arity(call: syntax.Call, arity: int) -> Iterator[ProblemError]:
    plain = all(argument.name is None for argument in call.arguments)
    if len(call.arguments) != arity or not plain:
        numbers = "one number" if arity == 1 else f"{arity} numbers"
        message = f"{call.name.text} takes {numbers} without names"
        yield problem("C114", message, call.span)
