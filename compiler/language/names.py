"""Who is called what: every name declared once, none of the language's own, none unknown.

Takes declarations, makes tables of them; what a declaration names is looked up here even if nobody
uses it. What a piece of syntax makes and sees is in one table, `_SIGHT`, and one walk checks all
kinds by it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast, get_args

from collc.base.values import dataclass
from collc.language import syntax
from collc.language.declarations import bind
from collc.language.expressions import (
    FUNCTIONS,
    RESERVED,
    check_function_call,
    is_something_else,
    unknown_function,
    unknown_name,
)
from collc.language.kinds import (
    BY_WORD,
    GENERAL,
    KINDS,
    OF_CLASS,
    Kind,
    classes_of,
    kind_of,
    reserved,
    undeclared,
)
from collc.language.operations import OF_ELEMENTS
from collc.language.parser import LATER, LATER_INSTEAD, not_supported
from collc.language.prelude import Declared, PreludeDecl, prelude_declaration, prelude_kinds
from collc.language.problems import ProblemError, Problems, nearest, problem, unknown
from collc.language.syntax import Word, walk
from collc.language.trees import check_literal

D = TypeVar("D")
P = TypeVar("P", bound=PreludeDecl)
Found = Generator[ProblemError, None, "Known"]

_NAMED = classes_of(lambda kind: kind.space)
_EXPRESSIONS = get_args(syntax.Expression)
MAX_LOOPS_DEEP = 32


@dataclass(frozen=True)
class Names:
    """What a file declares, each name once: of two declarations the first stays."""

    kept: tuple[Any, ...]

    def of(self, made: type[D]) -> tuple[D, ...]:
        """All declarations of a class, in their order."""
        return tuple(one for one in self.kept if isinstance(one, made))

    def named(self, made: type[D]) -> dict[str, D]:
        """The same by name."""
        return {cast(Any, one).name.text: one for one in self.of(made)}

    def with_prelude(self, made: type[P]) -> Declared[P]:
        """The same of a class that the prelude has, too."""
        return Declared(made, self.named(made))

    def kinds(self) -> dict[str, str]:
        """What each name is, of all kinds but parameters: its word."""
        found = {name: OF_CLASS[made].word for name, made in prelude_kinds().items()}
        named: list[Any] = [one for one in self.kept if isinstance(one, _NAMED)]
        for one in sorted(named, key=lambda one: kind_of(one).space == GENERAL):  # hides others
            if not isinstance(one, syntax.ParamDecl):
                found[one.name.text] = kind_of(one).word
        return found


# Names that are declared.


def collect(declarations: tuple[syntax.Declaration, ...], problems: Problems) -> Names:
    """All declarations whose names are free; every name that is taken is reported."""
    taken: dict[str, dict[str, Word]] = {kind.space: {} for kind in KINDS}
    for kind in KINDS:
        _check_once(kind, [one for one in declarations if isinstance(one, kind.classes)], problems)
    return Names(
        tuple(
            one
            for one in declarations
            if not isinstance(one, _NAMED) or _is_free(one, taken, problems)
        )
    )


def _check_once(kind: Kind, declared: list[syntax.Declaration], problems: Problems) -> None:
    for again in declared[1:] if kind.once else ():
        first = (declared[0].span, "the first is here")
        problems.add(
            problem("C108", f"a file has one {kind.word}, this is another", again.span, first)
        )


def _is_free(declared: Any, taken: dict[str, dict[str, Word]], problems: Problems) -> bool:  # noqa: ANN401
    """Whether a declaration, of a class that has names, may have its name; else it is reported."""
    before = taken[kind_of(declared).space]
    error = _refusal(kind_of(declared), declared.name, before)
    if error is not None:
        problems.add(error)
        return False
    before[declared.name.text] = declared.name
    return True


def _refusal(kind: Kind, word: Word, before: Mapping[str, Word]) -> ProblemError | None:
    """Why a name cannot be declared: it is taken by a declaration before, or known to every
    program."""
    if word.text in kind.words:
        message = f"{word.text} {kind.said}"
        return problem("C109", message, word.span, help="choose another name")
    if error := reserved(word):
        return error
    in_prelude = prelude_kinds().get(word.text) if kind.space == GENERAL else None
    if in_prelude is not None:
        what = OF_CLASS[in_prelude].one
        message = f"{word.text} is {what} of the prelude and cannot be declared again"
        place = (prelude_declaration(word.text).name.span, "declared here")
        return problem("C109", message, word.span, place, help="choose another name")
    return _twice(word, before[word.text]) if word.text in before else None


def _twice(word: Word, first: Word) -> ProblemError:
    message, help = f"{word.text} is declared twice", "give one of them another name"
    place = (first.span, "first declared here")
    return problem("C108", message, word.span, place, help=help)


def _check_words(words: Iterable[Word]) -> Iterator[ProblemError]:
    """Refusal of names that are taken or stand twice."""
    seen: dict[str, Word] = {}
    for word in words:
        if error := reserved(word):
            yield error
        if word.text in seen:
            yield _twice(word, seen[word.text])
        seen.setdefault(word.text, word)


# Names that are used.

_SIGHT: Mapping[type, tuple[str, ...]] = {
    syntax.ParamDecl: ("default", "name", "condition"),
    syntax.GridDecl: ("width", "height"),
    syntax.PartDecl: ("columns", "rows"),
    syntax.ExtentDecl: ("first", "last"),
    syntax.OrderDecl: ("parameters", "pes"),
    syntax.FormulaDecl: ("rank", "locals", "pe"),
    syntax.PeDecl: ("x", "y"),
    syntax.TreeDecl: ("parameters", "condition", "locals", "body"),
    syntax.AlgorithmDecl: ("parameters", "locals", "slices", "condition", "actions"),
    syntax.StepDecl: ("range", "locals", "transfers"),
    syntax.LoopDecl: ("range", "locals", "actions"),
    syntax.RangeDecl: ("first", "last", "name"),
    syntax.IncludeDecl: ("arguments",),
    syntax.Argument: ("value",),
    syntax.EachDecl: ("rank", "other", "condition", "sent", "destination", "into"),
    syntax.SlicesDecl: ("first", "last"),
    syntax.OperationDecl: ("own", "received", "locals", "body"),
    syntax.OwnContractDecl: ("parameters", "locals", "slices", "condition", "held"),
    syntax.HeldDecl: ("rank", "other", "condition", "part", "whose", "into"),
}
"""The fields of a class as they come into sight: a word is a name that what follows sees."""

_SEEN_BEHIND = (syntax.LocalDecl, syntax.RangeDecl)  # what they make is seen by what follows


@dataclass(frozen=True)
class Known:
    """What names mean at a place: numbers, and functions with their arity. `outside` is what
    functions declared here see, where that is less."""

    kind: Kind
    names: Names
    trees: Mapping[str, syntax.TreeDecl]
    others: Mapping[str, str]
    numbers: frozenset[str]
    functions: Mapping[str, int]
    outside: Known | None = None
    longest_line: int = 0
    deep: int = 1

    def with_number(self, word: Word) -> Known:
        """With one more number; it hides a function of the same name."""
        left = self.functions
        if word.text in left:
            left = {name: arity for name, arity in left.items() if name != word.text}
        return replace(self, numbers=self.numbers | {word.text}, functions=left)

    def with_function(self, word: Word, arity: int) -> Known:
        """With one more function; it hides a number of the same name."""
        outside = self.outside and self.outside.with_function(word, arity)
        functions = {**self.functions, word.text: arity}
        numbers = self.numbers - {word.text}
        return replace(self, functions=functions, numbers=numbers, outside=outside)


def check_names(
    names: Names, problems: Problems, longest_line: int
) -> Mapping[str, frozenset[str]]:
    """Report what is wrong with the names in a file's own declarations; yields the names of the
    broken ones, by the word of their kind."""
    params = list(names.named(syntax.ParamDecl))
    broken: dict[str, set[str]] = {kind.word: set() for kind in KINDS}
    trees, others = names.with_prelude(syntax.TreeDecl), names.kinds()
    for one in names.kept:
        if type(one) not in _SIGHT:
            continue
        kind, name = kind_of(one), one.name.text
        seen = params[: params.index(name)] if kind.word == "param" else params
        around = Known(kind, names, trees, others, frozenset(seen), {}, longest_line=longest_line)
        for error in _check(one, around):
            problems.add(error)
            broken[kind.word].add(name)
    return {word: frozenset(of) for word, of in broken.items()}


def _check(part: object, known: Known) -> Found:
    """What is wrong with the names in a piece of syntax; returns what is known behind it."""
    if isinstance(part, tuple):
        for one in part:
            known = yield from _check(one, known)
    elif isinstance(part, Word):
        known = known.with_number(part)
    elif isinstance(part, _EXPRESSIONS):
        yield from _check_expression(cast(syntax.Expression, part), known)
    elif part is not None:
        behind = yield from _check_within(part, known)
        known = behind if isinstance(part, _SEEN_BEHIND) else known
    return known


def _check_within(part: object, known: Known) -> Found:
    if isinstance(part, syntax.LocalDecl):
        return (yield from _check_local(part, known))
    made = [getattr(part, name) for name in _SIGHT[type(part)]]
    if not isinstance(part, syntax.ParamDecl):  # whose name has been looked at
        yield from _check_words(_made(made))
    yield from _ALSO.get(type(part), _nothing)(part, known)
    if isinstance(part, syntax.FormulaDecl):
        known = replace(known, outside=known)
    if isinstance(part, syntax.LoopDecl):
        known = replace(known, deep=known.deep + 1)
        made = made[: None if known.deep <= MAX_LOOPS_DEEP else -1]
    for one in made:
        known = yield from _check(one, known)
    return known


def _made(fields: Iterable[object]) -> Iterator[Word]:
    """The names that a piece of syntax makes itself, or with its locals."""
    for field in fields:
        for one in field if isinstance(field, tuple) else (field,):
            if isinstance(one, Word | syntax.LocalDecl):
                yield one if isinstance(one, Word) else one.name


def _check_local(local: syntax.LocalDecl, known: Known) -> Found:
    """A name behind `where`: a number, or a function, which may call itself."""
    if local.parameters is None:
        yield from _check_expression(local.value, known)
        return known.with_number(local.name)
    if known.kind.word in _NO_FUNCTIONS:
        what = _NO_FUNCTIONS[known.kind.word]
        message = f"{local.name.text} is a function; the names of {known.kind.one} are {what}"
        yield problem("C113", message, local.span, help="functions belong to algorithms")
    yield from _check_words(local.parameters)
    behind = known.with_function(local.name, len(local.parameters))
    inner = behind.outside or behind
    for word in local.parameters:
        inner = inner.with_number(word)
    yield from _check_expression(local.value, inner)
    return behind


_NO_FUNCTIONS = {"tree": "numbers", "operation": "values"}


def _check_expression(outermost: syntax.Expression, known: Known) -> Iterator[ProblemError]:
    in_tree = known.kind.word == "tree"
    for expression, _ in walk(outermost):
        match expression:
            case syntax.Literal() if in_tree:
                yield from check_literal(expression, known.longest_line)
            case syntax.Name(text=text) if text not in known.numbers and text not in RESERVED:
                if not (in_tree and text in known.trees):
                    yield _no_number(expression, known)
            case syntax.Call():
                try:
                    _check_call(expression, known)
                except ProblemError as error:
                    yield error


def _no_number(name: syntax.Name, known: Known) -> ProblemError:
    text, in_tree = name.text, known.kind.word == "tree"
    seen = known.numbers | {"leaf", *known.trees} if in_tree else known.numbers
    if text in known.functions:
        message = f"{text} is a function, where a number is wanted"
        return problem("C113", message, name.span, help=f"write {text}(...)")
    if text in known.others:
        wanted = "a number or a tree" if in_tree else "a number"
        return is_something_else(text, known.others[text], name.span, seen, wanted)
    if in_tree:
        message = f"there is nothing called {text} here"
        word = Word(text, name.span)
        return unknown("C110", message, word, seen)
    return unknown_name(text, name.span, dict.fromkeys(seen))


def _check_call(call: syntax.Call, known: Known) -> None:
    name = call.name.text
    if name in known.functions:
        _check_arity(call, known.functions[name])
    elif (
        known.kind.word == "operation"
    ):  # whose elements and numbers are told apart by `operations`
        if name not in FUNCTIONS and name not in OF_ELEMENTS:
            message = f"there is no function called {name} in operations"
            raise unknown("C110", message, call.name, OF_ELEMENTS)
    elif name in FUNCTIONS:
        check_function_call(call)
    elif known.kind.word == "tree":
        _check_tree_call(call, known)
    elif name == "join" or known.others.get(name) == "tree":
        raise is_something_else(f"{name}(...)", "tree", call.span)
    else:
        raise unknown_function(call.name, {**FUNCTIONS, **known.functions})


def _check_tree_call(call: syntax.Call, known: Known) -> None:
    name = call.name.text
    if name == "join":
        _check_join(call)
    elif name in known.trees:
        bind(known.trees[name], call.arguments, 0, call.span)
    elif name in LATER:
        raise not_supported(LATER[name], call.name.span, help=LATER_INSTEAD[name])
    else:
        raise unknown_function(call.name, {**FUNCTIONS, **known.trees, "join": None})


def _check_arity(call: syntax.Call, arity: int) -> None:
    plain = all(argument.name is None for argument in call.arguments)
    if len(call.arguments) != arity or not plain:
        numbers = "one number" if arity == 1 else f"{arity} numbers"
        message = f"{call.name.text} takes {numbers} without names"
        raise problem("C114", message, call.span)


def _check_join(call: syntax.Call) -> None:
    unnamed = all(argument.name is None for argument in call.arguments)
    if len(call.arguments) != 2 or not unnamed:
        message = f"join takes two trees, not {len(call.arguments)}"
        if not unnamed:
            message = "the arguments of join have no names"
        help = "join(a, b) puts b's ranks behind a's and lets b's root send to a's"
        raise problem("C114", message, call.span, help=help)


# What else is said by names and words in some places.


def _nothing(part: object, known: Known) -> Iterator[ProblemError]:
    yield from ()


def _check_promise(contract: syntax.OwnContractDecl, known: Known) -> Iterator[ProblemError]:
    if not any(held.when.text == "after" for held in contract.held):
        message = f"{contract.name.text} promises nothing"
        help = "add what ranks have at the end: `after each r : r has ...`"
        yield problem("C167", message, contract.span, help=help)


def _check_held(held: syntax.HeldDecl, known: Known) -> Iterator[ProblemError]:
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


def _check_formula(formula: syntax.FormulaDecl, known: Known) -> Iterator[ProblemError]:
    if formula.arrow.text != "->":
        message = f"unexpected `{formula.arrow.text}`, expected `->`"
        help = "nothing is combined in an order: write `->`"
        yield problem("C105", message, formula.arrow.span, help=help, fix="->")


def _check_loop(loop: syntax.LoopDecl, known: Known) -> Iterator[ProblemError]:
    if known.deep >= MAX_LOOPS_DEEP:
        message = f"loops lie more than {MAX_LOOPS_DEEP} deep in each other"
        yield problem("C103", message, loop.span, help="count by one number")


def _check_include(include: syntax.IncludeDecl, known: Known) -> Iterator[ProblemError]:
    algorithms = known.names.with_prelude(syntax.AlgorithmDecl)
    if include.name.text not in algorithms:
        yield undeclared(BY_WORD["algorithm"], include.name, algorithms, known.others)


def _check_transfer(transfer: syntax.EachDecl, known: Known) -> Iterator[ProblemError]:
    if transfer.source.text != transfer.rank.text:
        message = f"each {transfer.rank.text} sends itself, not {transfer.source.text}"
        help = f"write `{transfer.rank.text}` in front of the arrow"
        yield problem("C156", message, transfer.source.span, help=help, fix=transfer.rank.text)


_ALSO: Mapping[type, Callable[[Any, Known], Iterator[ProblemError]]] = {
    syntax.OwnContractDecl: _check_promise,
    syntax.HeldDecl: _check_held,
    syntax.FormulaDecl: _check_formula,
    syntax.LoopDecl: _check_loop,
    syntax.IncludeDecl: _check_include,
    syntax.EachDecl: _check_transfer,
}
