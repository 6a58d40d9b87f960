"""What lines `each r, q where ... : slice E` of algorithms and of contracts have in common: the
names around them, the ranks they are for, and the slices they speak of."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.diagnostics import Span
from collc.language import syntax
from collc.language.declarations import in_full
from collc.language.evaluation import (
    number,
    numbers_for_all,
    truths_of,
    value_or_problem,
)
from collc.language.problems import problem
from collc.language.scope import FunctionOf, Scope
from collc.language.syntax import AlgorithmDecl, EachDecl, HeldDecl, LocalDecl, OwnContractDecl

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
    declaration: AlgorithmDecl | OwnContractDecl, values: tuple[int, ...], around: Scope
) -> None:
    """C158: the numbers are those that an algorithm or a contract is made for."""
    condition = declaration.condition
    if condition is not None and not truths_of(condition, around):
        what = "algorithm" if isinstance(declaration, AlgorithmDecl) else "contract"
        message = f"{in_full(declaration, values)} does not meet what the {what} requires"
        article = "an" if what == "algorithm" else "a"
        help = _MADE_FOR.get(declaration.name.text)
        help = help or f"choose other numbers, or {article} {what} that takes any"
        raise problem("C158", message, condition.span, help=help)


_MADE_FOR = {  # of the prelude's: for which numbers they are, and what does the same for others
    "ring_reduce": "its root is one of the ranks, 0 to n - 1",
}


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
        ("C152", part.span, ""),
        seen,
    )
    return first, np.where(last < first, 0, last - np.minimum(first, last) + 1)


def check_slice(at: Ints, slices: int, span: Span, seen: Scope) -> None:
    """C152: a slice that does not exist."""
    refuse_first(
        (at < 0) | (at >= slices),
        lambda i: f"there is no slice {at[i]}: {_slices_are(slices)}",
        ("C152", span, ""),
        seen,
    )


def _slices_are(slices: int) -> str:
    return "there is one, 0" if slices == 1 else f"slices are 0 to {slices - 1}"


def ranks_are(ranks: int) -> str:
    """Which ranks there are, for messages."""
    return f"ranks are 0 to {ranks - 1}" if ranks > 1 else "there is one, 0"


def restricted(each: EachDecl | HeldDecl, wrong: Bools, seen: Scope) -> str:
    """Help that leaves out the ranks for which something is wrong, as a condition where all of them
    stand at one end."""
    if not wrong.any():
        return ""
    name = each.rank.text
    numbers = seen.arrays[name]
    left = numbers[~wrong]
    if each.other is not None or seen.passes or not left.size:
        condition = ""
    elif (numbers[wrong] > left.max()).all():
        condition = f"{name} < {left.max() + 1}"
    elif (numbers[wrong] < left.min()).all():
        condition = f"{name} >= {left.min()}"
    else:
        condition = ""
    if not condition:
        where = seen.which(int(np.flatnonzero(wrong)[0])).strip(" ()")
        return f"restrict the ranks by `where`: no transfer {where}"
    if each.condition is not None:
        return f"add `and {condition}` to the condition"
    return f"restrict the ranks: `each {name} where {condition} : ...`"


def refuse_first(
    wrong: Bools,
    message: Callable[[int], str],
    how: tuple[str, Span, str],
    seen: Scope,
) -> None:
    """Report the first rank for which something is wrong: code, place and help."""
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        code, span, help = how
        raise problem(code, f"{message(index)}{seen.which(index)}", span, help=help)
