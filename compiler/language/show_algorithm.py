"""Algorithms printed as the language would have them: every step and transfer written out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from collc.spec import Algorithm
from collc.spec.custom_contract import OwnContract
from collc.spec.exchange import Moves

Cut = TypeVar("Cut", Algorithm, OwnContract)  # what is said for slices of a vector


def values_of(text: str) -> dict[str, str]:
    """The numbers a tree or an algorithm was given: `butterfly(G = 3)` -> {"G": "3"}."""
    return dict(re.findall(r"(\w+) = (-?\d+)", text))


def with_root(texts: Sequence[str], root: str) -> str:
    """An algorithm for each root, from the first one on, with the root by its name:
    `gather_behind(root = r)`."""
    values = [values_of(text) for text in texts]
    inside = (
        f"{word} = {root if all(one[word] == str(r) for r, one in enumerate(values)) else value}"
        for word, value in values[0].items()
    )
    name = texts[0].partition("(")[0]
    return f"{name}({', '.join(inside)})" if values[0] else name


def cases_of(name: str, uses: Sequence[Cut]) -> tuple[str, str, list[tuple[Cut, str]]]:
    """What stands behind the first word of a declaration for all uses of a name, the word for a
    rank therein, and each different use with the condition that leads to it, if there are others.
    """
    given: list[dict[str, str]] = [values_of(use.text) for use in uses]
    ranks, rank = (free_word(word, given[0]) for word in ("n", "r"))
    cases: dict[str, Cut] = {}
    for use, values in zip(uses, given, strict=True):
        wanted = {ranks: str(use.ranks), **values}
        condition = " and ".join(f"{word} == {value}" for word, value in wanted.items())
        cases[condition] = use
    *earlier, (_, last) = cases.items()
    slices = "".join(f"{c} ? {use.slices} : " for c, use in earlier) + str(last.slices)
    head = f"{name}({', '.join((ranks, *given[0]))}) slices {slices}"
    guarded = [(use, f" and {c}" if len(cases) > 1 else "") for c, use in cases.items()]
    return head, rank, guarded


def show_algorithm(name: str, uses: list[Algorithm]) -> str:
    """One declaration for all uses of a name: steps for each number of ranks and values."""
    head, rank, cases = cases_of(name, uses)
    lines = [f"algorithm {head} {{"]
    for use, guard in cases:
        for moves in use.steps:
            lines += ["    step {", *_transfers(moves, rank, guard), "    }"]
    return "\n".join([*lines, "}"])


def free_word(word: str, taken: dict[str, str]) -> str:
    """The word, or one like it that is not taken."""
    while word in taken:
        word += "_"
    return word


def _transfers(moves: Moves, rank: str, guard: str) -> Iterator[str]:
    for i in range(len(moves)):
        first, count, into = moves.slice[i], moves.count[i], moves.into[i]
        what = f"slice {first}" if count == 1 else f"slices {first} .. {first + count - 1}"
        arrow = "=>" if moves.combines[i] else "->"
        placed = f" as slice {into}" if into != first else ""
        head = f"each {rank} where {rank} == {moves.source[i]}{guard}"
        yield f"        {head} : {what}  {rank} {arrow} {moves.destination[i]}{placed}"
