"""Who is called what: every name declared once, none of the language's own, none unknown.

Takes declarations, makes tables of them; what a tree names is looked up here even if nobody
uses the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from collc.base.values import dataclass
from collc.language import syntax
from collc.language.declarations import bind
from collc.language.declared_names import FIXED, ORDER_WORDS, TREE_WORDS, check_words, reserved
from collc.language.expressions import (
    FUNCTIONS,
    RESERVED,
    check_function_call,
    unknown_function,
    unknown_name,
)
from collc.language.parser import LATER, LATER_INSTEAD, not_supported
from collc.language.prelude import KINDS, Declared, Kinds, prelude_declaration, prelude_kinds
from collc.language.problems import ProblemError, Problems, nearest, problem, unknown
from collc.language.shapes import check_literal
from collc.language.syntax import AlgorithmDecl, OperationDecl, OrderDecl, TreeDecl, Word
from collc.language.traverse import expressions_of, walk
from collc.spec import ContractKind, Operation

Named = (
    syntax.ParamDecl
    | syntax.GridDecl
    | syntax.PartDecl
    | OrderDecl
    | TreeDecl
    | AlgorithmDecl
    | OperationDecl
    | syntax.OwnContractDecl
    | syntax.CollectiveDecl
)
D = TypeVar("D", bound=Named)


@dataclass(frozen=True)
class Names:
    """What a file declares, each name once; of two declarations the first stays."""

    targets: tuple[syntax.TargetDecl, ...]
    params: Mapping[str, syntax.ParamDecl]
    grids: Mapping[str, syntax.GridDecl | syntax.PartDecl]
    orders: Declared[OrderDecl]
    trees: Declared[TreeDecl]
    algorithms: Declared[AlgorithmDecl]
    operations: Mapping[str, OperationDecl]
    contracts: Mapping[str, syntax.OwnContractDecl]
    collectives: Mapping[str, syntax.CollectiveDecl]
    programs: tuple[syntax.ProgramDecl, ...]


def collect(declarations: tuple[syntax.Declaration, ...], problems: Problems) -> Names:
    """Sort the declarations by kind, reporting every name that is taken."""
    targets = tuple(d for d in declarations if isinstance(d, syntax.TargetDecl))
    programs = tuple(d for d in declarations if isinstance(d, syntax.ProgramDecl))
    _check_once("target", targets, problems)
    _check_once("program", programs, problems)
    general: dict[str, Word] = {}
    grids: dict[str, Word] = {}
    spaces = {syntax.GridDecl: grids, syntax.PartDecl: grids, syntax.CollectiveDecl: {}}
    kept: list[Named] = []
    for declaration in declarations:
        if isinstance(declaration, Named):
            taken = spaces.get(type(declaration), general)
            known = prelude_kinds() if taken is general else {}
            kept += [declaration] if _is_free(declaration, taken, known, problems) else []
    return Names(
        targets,
        _of_kind(syntax.ParamDecl, kept),
        {d.name.text: d for d in kept if isinstance(d, syntax.GridDecl | syntax.PartDecl)},
        Declared(OrderDecl, _of_kind(OrderDecl, kept)),
        Declared(TreeDecl, _of_kind(TreeDecl, kept)),
        Declared(AlgorithmDecl, _of_kind(AlgorithmDecl, kept)),
        _of_kind(OperationDecl, kept),
        _of_kind(syntax.OwnContractDecl, kept),
        _of_kind(syntax.CollectiveDecl, kept),
        programs,
    )


def _of_kind(kind: type[D], kept: Iterable[Named]) -> dict[str, D]:
    return {one.name.text: one for one in kept if isinstance(one, kind)}


def check_trees(names: Names, problems: Problems, longest_line: int) -> frozenset[str]:
    """Report what is wrong with the file's own trees; yields the names of the broken ones."""
    return _broken(names.trees.own, lambda tree: _check_tree(tree, names, longest_line), problems)


def check_algorithms(names: Names, problems: Problems) -> frozenset[str]:
    """The same of the names in the file's own algorithms."""
    known = Known(frozenset(names.params), {}, frozenset(names.algorithms))
    return _broken(names.algorithms.own, lambda one: check_algorithm(one, known), problems)


def check_orders(names: Names, problems: Problems) -> frozenset[str]:
    """The same of the names in the file's own orders."""
    known = Known(frozenset(names.params), {}, frozenset())
    return _broken(names.orders.own, lambda order: check_order(order, known), problems)


def check_contracts(names: Names, problems: Problems) -> frozenset[str]:
    """The same of the names in the file's contracts."""
    known = Known(frozenset(names.params), {}, frozenset())
    return _broken(names.contracts, lambda contract: check_contract(contract, known), problems)


def _broken(
    declared: Mapping[str, D], check: Callable[[D], Iterable[ProblemError]], problems: Problems
) -> frozenset[str]:
    """Report what a check finds in declarations; yields the names of the broken ones."""
    broken = set()
    for name, declaration in declared.items():
        for error in check(declaration):
            problems.add(error)
            broken.add(name)
    return frozenset(broken)


def _check_once(
    word: str,
    declarations: tuple[syntax.TargetDecl, ...] | tuple[syntax.ProgramDecl, ...],
    problems: Problems,
) -> None:
    for again in declarations[1:]:
        first = (declarations[0].span, "the first is here")
        problems.add(problem("C108", f"a file has one {word}, this is another", again.span, first))


_WORDS: Mapping[type, tuple[frozenset[str], str]] = {
    OrderDecl: (ORDER_WORDS | {FIXED}, "is an order of the language and cannot be declared"),
    TreeDecl: (TREE_WORDS, "belongs to the language and cannot be declared"),
    syntax.OwnContractDecl: (
        frozenset(kind.value for kind in ContractKind),
        "is a contract of the language and cannot be declared again",
    ),
    OperationDecl: (
        frozenset(one.value for one in Operation),
        "is an operation of the language and cannot be declared again",
    ),
}
"""Names that the language has for something of a kind, and what is said of a declaration of one."""


def _is_free(
    declared: Named,
    taken: dict[str, Word],
    of_prelude: Kinds,
    problems: Problems,
) -> bool:
    """Whether a declaration may have its name, which is neither taken by one before it nor known
    to every program; else it is reported."""
    word = declared.name
    words, what = _WORDS.get(type(declared), (frozenset(), ""))
    if word.text in words:
        message = f"{word.text} {what}"
        problems.add(problem("C109", message, word.span, help="choose another name"))
        return False
    for error in reserved(word):
        problems.add(error)
        return False
    if word.text in of_prelude:
        kind = KINDS[of_prelude[word.text]]
        article = "a" if kind == "tree" else "an"
        message = f"{word.text} is {article} {kind} of the prelude and cannot be declared again"
        place = (prelude_declaration(word.text).name.span, "declared here")
        problems.add(problem("C109", message, word.span, place, help="choose another name"))
        return False
    before = taken.setdefault(word.text, word)
    if before is word:
        return True
    place = (before.span, "first declared here")
    message, help = f"{word.text} is declared twice", "give one of them another name"
    problems.add(problem("C108", message, word.span, place, help=help))
    return False


def _check_tree(tree: TreeDecl, names: Names, longest_line: int) -> Iterator[ProblemError]:
    local_words = tuple(local.name for local in tree.locals)
    yield from check_words((*tree.parameters, *local_words))
    for local in tree.locals:
        if local.parameters is not None:
            message = f"{local.name.text} is a function; the names of a tree are numbers"
            yield problem("C113", message, local.span, help="functions belong to algorithms")
    known = set(names.params) | {word.text for word in tree.parameters}
    if tree.condition is not None:
        yield from _check_expression(tree.condition, known, names, longest_line)
    for local in tree.locals:
        yield from _check_expression(local.value, known, names, longest_line)
        known.add(local.name.text)
    yield from _check_expression(tree.body, known, names, longest_line)


def _check_expression(
    outermost: syntax.Expression, known: set[str], names: Names, longest_line: int
) -> Iterator[ProblemError]:
    for expression, _ in walk(outermost):
        match expression:
            case syntax.Literal():
                yield from check_literal(expression, longest_line)
            case syntax.Name(text=text):
                if text not in known and text not in names.trees and text not in RESERVED:
                    yield _unknown(expression, known | {"leaf"}, names)
            case syntax.Call():
                yield from _check_call(expression, names)


def _unknown(name: syntax.Name, known: set[str], names: Names) -> ProblemError:
    message = f"there is nothing called {name.text} here"
    return unknown("C110", message, Word(name.text, name.span), known | set(names.trees))


def _check_call(call: syntax.Call, names: Names) -> Iterator[ProblemError]:
    name = call.name.text
    try:
        if name in FUNCTIONS:
            check_function_call(call)
        elif name == "join":
            _check_join(call)
        elif name in names.trees:
            bind(names.trees[name], call.arguments, 0, call.span)
        elif name in LATER:
            raise not_supported(LATER[name], call.name.span, help=LATER_INSTEAD[name])
        else:
            raise unknown_function(call.name, {**FUNCTIONS, **names.trees, "join": None})
    except ProblemError as error:
        yield error


def _check_join(call: syntax.Call) -> None:
    unnamed = all(argument.name is None for argument in call.arguments)
    if len(call.arguments) != 2 or not unnamed:
        message = f"join takes two trees, not {len(call.arguments)}"
        if not unnamed:
            message = "the arguments of join have no names"
        help = "join(a, b) puts b's ranks behind a's and lets b's root send to a's"
        raise problem("C114", message, call.span, help=help)


# What an algorithm, a contract or an order names: its own numbers, functions, loop variables and
# ranks, and no others.

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
            yield from _check_names_in(expression, inner)
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
        yield from _check_names_in(expression, inner)


def check_order(order: syntax.OrderDecl, known: Known) -> Iterator[ProblemError]:
    """Everything that is wrong with the names in an order. Its functions do not see the rank."""
    yield from check_words(order.parameters)
    known = known.with_numbers(*order.parameters)
    if not isinstance(order.pes, syntax.FormulaDecl):
        for pe in order.pes:
            yield from _check_names_in(pe.x, known)
            yield from _check_names_in(pe.y, known)
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
    yield from _check_names_in(formula.pe.x, inner)
    yield from _check_names_in(formula.pe.y, inner)


def _check_local(local: syntax.LocalDecl, known: Known) -> Iterator[ProblemError]:
    yield from check_words(local.parameters or ())
    if local.parameters is not None:
        known = _behind(local, known).with_numbers(*local.parameters)  # it may call itself
    yield from _check_names_in(local.value, known)


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
            yield from _check_names_in(action.range.first, known)
            yield from _check_names_in(action.range.last, known)
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
        yield from _check_names_in(argument.value, known)


def _check_transfer(transfer: syntax.EachDecl, known: Known) -> Iterator[ProblemError]:
    words = (transfer.rank,) if transfer.other is None else (transfer.rank, transfer.other)
    yield from check_words(words)
    if transfer.source.text != transfer.rank.text:
        message = f"each {transfer.rank.text} sends itself, not {transfer.source.text}"
        help = f"write `{transfer.rank.text}` in front of the arrow"
        yield problem("C156", message, transfer.source.span, help=help, fix=transfer.rank.text)
    inner = known.with_numbers(*words)
    for expression in expressions_of(transfer):
        yield from _check_names_in(expression, inner)


def _check_names_in(outermost: syntax.Expression, known: Known) -> Iterator[ProblemError]:
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
