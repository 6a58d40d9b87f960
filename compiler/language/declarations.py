"""What a file declares of one kind, by name, and the numbers that a use gives to its parameters."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Generic, TypeVar

from collc.base.diagnostics import Edit, Span, left_out
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.evaluation import number
from collc.language.kinds import kind_of
from collc.language.problems import (
    KnownProblemError,
    ProblemError,
    nearest,
    problem,
    suggest,
)
from collc.language.scope import Binding, Budget, Scope

Declaration = syntax.OrderDecl | syntax.TreeDecl | syntax.AlgorithmDecl | syntax.OwnContractDecl
D = TypeVar("D", syntax.OrderDecl, syntax.TreeDecl, syntax.AlgorithmDecl, syntax.OwnContractDecl)


@dataclass(eq=False)
class Declarations(Generic[D]):
    """All that a program may use of a kind; what is `broken` has been reported and is not looked
    at. Bodies see the `numbers` of the file; `others` are its other names, for messages."""

    declared: Mapping[str, D]
    numbers: Mapping[str, Binding]
    others: Mapping[str, str]
    broken: frozenset[str]
    budget: Budget = field(default_factory=Budget, init=False)

    def check_whole(self, name: syntax.Word) -> None:
        """Raise KnownProblemError for what has been reported."""
        if name.text in self.broken:
            raise KnownProblemError

    def with_values(self, declaration: D, values: tuple[int, ...]) -> dict[str, Binding]:
        """The numbers that a body sees before its own names."""
        words = (word.text for word in declaration.parameters)
        return {**self.numbers, **dict(zip(words, values, strict=True))}

    def scope_of(self, declaration: D, values: tuple[int, ...]) -> Scope:
        """The same as what expressions for many ranks see."""
        numbers = self.with_values(declaration, values)
        return Scope(numbers, self.others, self.budget)


@contextmanager
def told_inside(use: syntax.TreeUse, inside: str) -> Iterator[None]:
    """Problems within what is used are told at the use as well."""
    try:
        yield
    except RecursionError:
        message = f"the functions of {use.name.text} are nested too deep"
        raise problem("C103", message, use.span, help="write some of them out") from None
    except ProblemError as error:
        raise error.with_note(use.span, inside).seen_from(use.span, inside) from None


def in_full(declaration: Declaration, values: tuple[int, ...]) -> str:
    """`butterfly(n = 9, G = 3)`."""
    return as_used(declaration, values, 0)


def as_used(declaration: Declaration, values: tuple[int, ...], filled_in: int = 1) -> str:
    """The same without the first numbers, which the use fills in: `butterfly(G = 3)`."""
    given = list(zip(declaration.parameters, values, strict=True))[filled_in:]
    inside = ", ".join(f"{word.text} = {value}" for word, value in given)
    return f"{declaration.name.text}({inside})" if inside else declaration.name.text


def values_of(
    declaration: Declaration,
    arguments: tuple[syntax.Argument, ...],
    filled_in: tuple[int, ...],
    scope: Scope,
    span: Span,
) -> tuple[int, ...]:
    """The value of each parameter; those that are `filled_in` come first, as far as there are
    parameters for them. Raises `ProblemError`."""
    first = filled_in[: len(declaration.parameters)]
    places = bind(declaration, arguments, len(first), span)
    return (*first, *(number(place.value, scope) for place in places))


def bind(
    declaration: Declaration,
    arguments: tuple[syntax.Argument, ...],
    taken: int,
    span: Span,
) -> tuple[syntax.Argument, ...]:
    """Argument of each parameter behind the first `taken`; raises `ProblemError`."""
    name, open_words = declaration.name.text, declaration.parameters[taken:]
    declared = (declaration.name.span, f"{name} is declared here")
    found: dict[str, syntax.Argument] = {}
    positional = (word.text for word in open_words)
    for argument in arguments:
        if argument.name is None:
            word = next(positional, None)
            if word is None:
                message = f"{name} takes {_count(len(open_words))} here, this is one more"
                fix = _without(argument, arguments)
                help = "leave it out"
                raise problem("C114", message, argument.span, declared, help=help, fix=fix)
        else:
            word = argument.name.text
            if word in [one.text for one in declaration.parameters[:taken]]:
                raise _filled_in(declaration, argument.name, arguments)
            _check_argument_name(declaration, argument.name, taken)
        if word in found:
            given = (found[word].span, "it is given here already")
            message, help = f"{word} is given twice", "leave one of them out"
            fix = _without(argument, arguments)
            raise problem("C114", message, argument.span, given, help=help, fix=fix)
        found[word] = argument
    for parameter in open_words:
        if parameter.text not in found:
            message = f"{name} needs a value for {parameter.text}"
            help = f"write {name}({parameter.text} = ...)"
            raise problem("C114", message, span, (parameter.span, "declared here"), help=help)
    return tuple(found[parameter.text] for parameter in open_words)


def _without(argument: syntax.Argument, arguments: tuple[syntax.Argument, ...]) -> tuple[Edit, ...]:
    return left_out([one.span for one in arguments], arguments.index(argument))


def _filled_in(
    declaration: Declaration, word: syntax.Word, arguments: tuple[syntax.Argument, ...]
) -> ProblemError:
    """C114: a number that the use gives."""
    kind = kind_of(declaration)
    message = f"{word.text} is {kind.given}, which {kind.given_by} fills in"
    given = next(one for one in arguments if one.name is word)
    fix = _without(given, arguments)
    return problem("C114", message, word.span, help="leave it out", fix=fix)


def _check_argument_name(declaration: Declaration, word: syntax.Word, taken: int) -> None:
    names = [parameter.text for parameter in declaration.parameters]
    if word.text not in names:
        message = f"{declaration.name.text} has no parameter called {word.text}"
        declared = (declaration.name.span, f"{declaration.name.text} is declared here")
        rest = names[taken:]
        close, help = nearest(word.text, rest), suggest(word.text, rest)
        close = rest[0] if len(rest) == 1 else close
        raise problem("C114", message, word.span, declared, help=help, fix=close)


def _count(arguments: int) -> str:
    return {0: "no argument", 1: "one argument"}.get(arguments, f"{arguments} arguments")
