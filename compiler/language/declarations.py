"""What declarations of several kinds have in common: the numbers that a use gives to parameters,
names behind `where`, what is required, and the ranks and slices of `each` lines.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.diagnostics import Edit, Span, behind, head, left_out
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.expressions import (
    Binding,
    Budget,
    FunctionOf,
    Scope,
    number,
    numbers_for_all,
    truths_of,
    value_or_problem,
)
from collc.language.kinds import kind_of
from collc.language.printer import show_expression
from collc.language.problems import (
    KnownProblemError,
    ProblemError,
    nearest,
    problem,
    suggest,
)
from collc.language.syntax import (
    AlgorithmDecl,
    EachDecl,
    HeldDecl,
    LocalDecl,
    OwnContractDecl,
    TreeDecl,
)

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


# What lines `each r, q where ... : slice E` of algorithms and of contracts have in common: the
# names around them, the ranks they are for, and the slices they speak of.


MAX_SLICES = 65_535
MAX_RANKS_OF_PAIRS = 6_000  # 36 million pairs


def with_locals(locals_: tuple[LocalDecl, ...], around: Scope) -> Scope:
    """Names declared by `where`; a number without a value is a mistake only where it is used."""
    for local in locals_:
        if local.parameters is not None:
            functions = {**around.functions, local.name.text: FunctionOf(local, around)}
            around = replace(around, functions=functions)
        else:
            value = value_or_problem(local.value, around)
            around = replace(around, numbers={**around.numbers, local.name.text: value})
    return around


def check_required(
    declaration: AlgorithmDecl | OwnContractDecl | TreeDecl, values: tuple[int, ...], around: Scope
) -> None:
    """C158: the numbers are those that an algorithm, a contract or a tree is made for."""
    condition = declaration.condition
    if condition is None or truths_of(condition, around):
        return
    required = show_expression(condition)
    what = kind_of(declaration).word
    message = f"{in_full(declaration, values)}: the {what} requires {required}"
    given = [word.text for word in declaration.parameters[1:]]
    asked = [name for name in given if re.search(rf"\b{name}\b", required)]
    if asked:
        help = f"choose {' and '.join(asked)} so that {required}"
    else:
        help = f"take a line for which {required}, or another {what}"
    raise problem("C158", message, condition.span, help=help)


def slices_of(declaration: AlgorithmDecl | OwnContractDecl, around: Scope) -> int:
    """Into how many slices a vector is cut."""
    if declaration.slices is None:
        return 1
    slices = number(declaration.slices, around)
    if not 1 <= slices <= MAX_SLICES:
        message = f"a vector has 1 to {MAX_SLICES} slices, not {slices}"
        raise problem("C152", message, declaration.slices.span)
    return slices


def ranks_of(each: EachDecl | HeldDecl, ranks: int, around: Scope) -> Scope:
    """The ranks that a line is for, or the pairs of them, with their names as arrays."""
    name = each.rank.text
    if each.other is not None and ranks > MAX_RANKS_OF_PAIRS:
        message = f"these are all pairs of {ranks} ranks, more than {MAX_RANKS_OF_PAIRS}"
        raise problem("C157", message, each.span, help="say it of each rank: `each r : ...`")
    numbers = np.arange(ranks, dtype=np.int64)
    arrays = {name: numbers}
    if each.other is not None:
        arrays = {name: np.repeat(numbers, ranks), each.other.text: np.tile(numbers, ranks)}
    seen = replace(around, arrays=arrays, size=len(arrays[name]), rank=name)
    if each.condition is None:
        return seen
    holds = truths_of(each.condition, seen)
    return seen.only(np.full(seen.size, holds) if isinstance(holds, bool) else holds)


def slices_taken(part: syntax.SlicesDecl | None, slices: int, seen: Scope) -> tuple[Ints, Ints]:
    """First slice and number of slices for each of the ranks."""
    if part is None:
        return np.zeros(seen.size, np.int64), np.full(seen.size, slices, np.int64)
    first = numbers_for_all(part.first, seen)
    if part.last is None:
        return first, np.ones(seen.size, np.int64)
    last = numbers_for_all(part.last, seen)
    outside = (last >= first) & ((first < 0) | (last >= slices))
    refuse_first(
        outside,
        lambda i: f"there are no slices {first[i]} to {last[i]}: {_slices_are(slices)}",
        ("C152", part.span, Remedy()),
        seen,
    )
    return first, np.where(last < first, 0, last - np.minimum(first, last) + 1)


def check_slice(at: Ints, slices: int, span: Span, seen: Scope) -> None:
    """C152: a slice that does not exist."""
    refuse_first(
        (at < 0) | (at >= slices),
        lambda i: f"there is no slice {at[i]}: {_slices_are(slices)}",
        ("C152", span, Remedy()),
        seen,
    )


def _slices_are(slices: int) -> str:
    return "there is one, 0" if slices == 1 else f"slices are 0 to {slices - 1}"


def ranks_are(ranks: int) -> str:
    """Which ranks there are, for messages."""
    return f"ranks are 0 to {ranks - 1}" if ranks > 1 else "there is one, 0"


class Remedy(NamedTuple):
    """A help and its edits."""

    help: str = ""
    fix: tuple[Edit, ...] = ()


def restricted(each: EachDecl | HeldDecl, wrong: Bools, seen: Scope) -> Remedy:
    """Help that leaves out the ranks for which something is wrong, as a condition where all of them
    stand at one end, or only one is."""
    if not wrong.any():
        return Remedy()
    name = each.rank.text
    condition = "" if each.other is not None or seen.passes else _all_but(name, wrong, seen)
    if not condition:
        where = seen.which(int(np.flatnonzero(wrong)[0])).strip(" ()")
        return Remedy(f"restrict the ranks by `where`, to exclude {where.removeprefix('for ')}")
    if each.condition is None:
        at = behind(each.rank.span)
        help = f"restrict the ranks: `each {name} where {condition} : ...`"
        return Remedy(help, (Edit(at, f" where {condition}"),))
    both = [Edit(behind(each.condition.span), f" and {condition}")]
    if isinstance(each.condition, syntax.Logic | syntax.Conditional):
        start = head(each.condition.span, each.condition.span)
        both = [Edit(start, "("), Edit(behind(each.condition.span), f") and {condition}")]
    return Remedy(f"add `and {condition}` to the condition", tuple(both))


def _all_but(name: str, wrong: Bools, seen: Scope) -> str:
    """A condition that holds for the ranks for which nothing is wrong, if there is a short one."""
    numbers = seen.arrays[name]
    left, out = numbers[~wrong], numbers[wrong]
    if not left.size:
        return ""
    if (out > left.max()).all():
        return f"{name} < {left.max() + 1}"
    if (out < left.min()).all():
        return f"{name} >= {left.min()}"
    return f"{name} != {out[0]}" if out.size == 1 else ""


def refuse_first(
    wrong: Bools,
    message: Callable[[int], str],
    how: tuple[str, Span, Remedy],
    seen: Scope,
) -> None:
    """Report the first rank for which something is wrong: code, place and remedy."""
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        code, span, remedy = how
        text = f"{message(index)}{seen.which(index)}"
        raise problem(code, text, span, help=remedy.help, fix=remedy.fix)
