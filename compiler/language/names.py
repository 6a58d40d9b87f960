"""Who is called what: every name declared once, none of the language's own, none unknown.

Takes declarations, makes tables of them; what a tree names is looked up here even if nobody
uses the tree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from collc.base.values import dataclass
from collc.language import syntax
from collc.language.declarations import bind
from collc.language.declared_names import FIXED, ORDER_WORDS, TREE_WORDS, check_words, reserved
from collc.language.expressions import FUNCTIONS, RESERVED, check_function_call, unknown_function
from collc.language.names_of_algorithms import (
    Known,
    check_algorithm,
    check_contract,
    check_order,
)
from collc.language.parser import LATER, LATER_INSTEAD, not_supported
from collc.language.prelude import KINDS, Declared, Kinds, prelude_declaration, prelude_kinds
from collc.language.problems import ProblemError, Problems, problem, unknown
from collc.language.shapes import check_literal
from collc.language.syntax import AlgorithmDecl, OperationDecl, OrderDecl, TreeDecl, Word
from collc.language.traverse import walk
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
