"""Contracts of the user's own printed as the language would have them, each promise written out."""

from collections.abc import Iterator, Sequence

from collc.language.show_algorithm import cases_of
from collc.spec.custom_contract import Holdings, OwnContract


def show_contracts(used: Sequence[OwnContract]) -> list[str]:
    """A declaration for each name, with what it says on the lines that it is used on."""
    names = dict.fromkeys(one.text.partition("(")[0] for one in used)
    return [_declaration(n, [o for o in used if o.text.partition("(")[0] == n]) for n in names]


def _declaration(name: str, uses: list[OwnContract]) -> str:
    head, rank, cases = cases_of(name, uses)
    lines = [f"contract {head} {{"]
    for use, guard in cases:
        before = use.given
        lines += _held("before", before, rank, guard) if before is not None else ()
        if before is not None and not len(before):
            lines.append(f"    before each {rank} where {rank} < 0 : {rank} has {rank}")
        lines += _held("after", use.promised, rank, guard)
        if not len(use.promised):
            lines.append(f"    after each {rank} where {rank} < 0 : {rank} has {rank}")
    return "\n".join([*lines, "}"])


def _held(when: str, held: Holdings, rank: str, guard: str) -> Iterator[str]:
    columns = (held.holder, held.whose, held.slice, held.into, held.count)
    for holder, whose, slice_, into, count in zip(*(c.tolist() for c in columns), strict=True):
        head = f"    {when} each {rank} where {rank} == {holder}{guard} : {rank} has"
        what = f"slice {slice_}" if count == 1 else f"slices {slice_} .. {slice_ + count - 1}"
        placed = f" as slice {into}" if into != slice_ else ""
        yield f"{head} {what} of {whose}{placed}"
