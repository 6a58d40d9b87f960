"""What lines `each r, q where ... : slice E` of algorithms and of contracts have in common: the
names around them, the ranks they are for, and the slices they speak of."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.diagnostics import Edit, Span, behind, head
from collc.language import syntax
from collc.language.declarations import in_full
from collc.language.evaluation import (
    number,
    numbers_for_all,
    truths_of,
    value_or_problem,
)
from collc.language.kinds import kind_of
from collc.language.printer import show_expression
from collc.language.problems import problem
from collc.language.scope import FunctionOf, Scope
from collc.language.syntax import (
    AlgorithmDecl,
    EachDecl,
    HeldDecl,
    LocalDecl,
    OwnContractDecl,
    TreeDecl,
)

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
