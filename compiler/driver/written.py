"""Programs written by Python: what a `.coll` file says, said by calls.

    program = collc.Program("wse2")
    row = program.grid("row", 8, 1)
    program.tree("halves", 8, lambda rank: rank & (rank - 1))
    program.collective("total", "reduce", row, "f32", 16, "add").reduce("halves")
    bundle = program.compile()

Trees, steps and contracts are Python functions and lists; what they come to is checked and proved
as if it stood in a file. `str(program)` is that file: it can be read, compared and kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from operator import index
from typing import SupportsIndex

from collc.base.values import dataclass
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language import clauses, syntax
from collc.language.printer import show, show_tree
from collc.language.syntax import StepClause


@dataclass(frozen=True)
class Move:
    """One slice that goes from a rank to another in a step: combined there, or overwriting."""

    source: int
    destination: int
    slice: int = 0
    combine: bool = False


@dataclass
class Collective:
    """A collective of a program; its methods add steps, limits and expectations, and return it."""

    head: str
    clauses: list[syntax.Clause] = field(default_factory=list)

    def order(self, *names: str) -> Collective:
        """How ranks lie along the lines: `west_to_east`, `ring`, `snake`, ..."""
        self.clauses.insert(0, clauses.order(*map(_name, names)))
        return self

    def reduce(
        self, tree: str, to: SupportsIndex = 0, lines: str = "", **numbers: SupportsIndex
    ) -> Collective:
        """Reduce lines (`columns`, `row`, ...; of a line, none) by a tree to a rank."""
        return self._step(clauses.reduce(_use(tree, numbers), index(to), lines and _name(lines)))

    def broadcast(self, place: SupportsIndex | tuple[SupportsIndex, SupportsIndex]) -> Collective:
        """Send a vector to all, from a rank or a PE (x, y)."""
        at = (index(place[0]), index(place[1])) if isinstance(place, tuple) else index(place)
        return self._step(clauses.broadcast(at))

    def run(self, algorithm: str, lines: str = "", **numbers: SupportsIndex) -> Collective:
        """Run an algorithm along lines; `auto` leaves all to the compiler."""
        return self._step(clauses.run(_use(algorithm, numbers), along=lines and _name(lines)))

    def within(self, colors: SupportsIndex) -> Collective:
        """The most colors that it may take."""
        self.clauses.append(clauses.within_colors(index(colors)))
        return self

    def _step(self, step: StepClause) -> Collective:
        behind = any(isinstance(one, StepClause) for one in self.clauses)
        self.clauses.append(replace(step, then=behind))
        return self

    def __str__(self) -> str:
        return self.head + " {\n" + "".join(f"    {show(one)}\n" for one in self.clauses) + "}"


class Program:
    """A program that calls write. Names have to be names of the language, numbers integers: a
    ValueError or TypeError says so at once, everything else `compile` does, as for a file."""

    def __init__(self, target: str, name: str = "program") -> None:
        self.name = name
        self._parts: list[object] = [f"target {_name(target)}"]
        self._called: list[str] = []

    def grid(self, name: str, width: SupportsIndex, height: SupportsIndex) -> str:
        """A grid of PEs; returns its name."""
        self._parts.append(f"grid {_name(name)} = {index(width)} x {index(height)}")
        return name

    def tree(self, name: str, ranks: SupportsIndex, parent: Callable[[int], int]) -> str:
        """A tree over ranks 0 (the root) to `ranks` - 1, by each rank's parent; children send in
        the order of their ranks. ValueError for a parent that is not a smaller rank."""
        children: list[list[int]] = [[] for _ in range(index(ranks))]
        for rank in range(1, len(children)):
            above = index(parent(rank))
            if not 0 <= above < rank:
                raise ValueError(f"rank {rank} sends to {above}: a parent is a smaller rank")
            children[above].append(rank)
        body = show_tree(children) if len(children) > 1 else "leaf"
        self._parts.append(f"tree {_name(name)} = {body}")
        return name

    def algorithm(
        self, name: str, steps: Iterable[Iterable[Move]], slices: SupportsIndex = 1
    ) -> str:
        """An algorithm, by the moves of its steps, for as many ranks as it is run on."""
        lines = [f"algorithm {_name(name)}(n) slices {index(slices)} {{"]
        for step in steps:
            lines.append("    step {")
            lines += (f"        {_moved(move)}" for move in step)
            lines.append("    }")
        self._parts.append("\n".join([*lines, "}"]))
        return name

    def contract(
        self, name: str, after: Iterable[tuple[int, int, int]], slices: SupportsIndex = 1
    ) -> str:
        """A user-defined contract: triples (rank, slice, of whom) that hold afterwards; several of
        one rank and slice are combined."""
        lines = [f"contract {_name(name)}(n) slices {index(slices)} {{"]
        for rank, part, whose in after:
            has = f"r has slice {index(part)} of {index(whose)}"
            lines.append(f"    after each r where r == {index(rank)} : {has}")
        self._parts.append("\n".join([*lines, "}"]))
        return name

    def collective(  # noqa: PLR0913, PLR0917 - what a collective consists of
        self,
        name: str,
        contract: str,
        on: str,
        element: str = "",
        length: SupportsIndex = 0,
        operation: str = "",
        buffer: str = "x",
        stride: SupportsIndex = 1,
        into: str = "",
    ) -> Collective:
        """A collective that the program calls, after those before it; its steps are added to what
        is returned. Without an element type it has no buffer, as a barrier. Elements of the buffer
        are `stride` apart; `into` is the buffer of the result, if it has one of its own."""
        apart = f" by {index(stride)}" if index(stride) != 1 else ""
        vector = f"{_name(buffer)}: {_element(element)}[{index(length)}]{apart}" if element else ""
        combined = f", {_name(operation)}" if operation else ""
        promise = f"{_name(contract)}({vector}{combined}){f' into {_name(into)}' if into else ''}"
        head = f"collective {_name(name)} = {promise} on {_name(on)}"
        made = Collective(head)
        self._parts.append(made)
        self._called.append(name)
        return made

    def compile(self, target: str | None = None) -> Bundle:
        """Compile it. Raises CollcError, whose places are lines of `str(program)`."""
        return compile_text(str(self), f"{self.name}.coll", {}, target)

    def __str__(self) -> str:
        called = f"program {{ {' '.join(self._called)} }}"
        return "\n".join([*map(str, self._parts), called]) + "\n"


def _name(text: str) -> str:
    """A name, or ValueError: nothing else of the language comes in through one."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", text):
        raise ValueError(f"{text!r} is no name: letters, digits and _")
    return text


def _element(text: str) -> str:
    """An element type: a name, or two of them as a pair, `(f32, u32)`."""
    pair = re.fullmatch(r"\((.*), (.*)\)", text)
    return f"({_name(pair[1])}, {_name(pair[2])})" if pair else _name(text)


def _use(name: str, numbers: dict[str, SupportsIndex]) -> clauses.Use:
    given = ((_name(word), index(value)) for word, value in numbers.items())
    return clauses.Use(_name(name), tuple(given))


def _moved(move: Move) -> str:
    arrow = "=>" if move.combine else "->"
    places = f"slice {index(move.slice)}  r {arrow} {index(move.destination)}"
    return f"each r where r == {index(move.source)} : {places}"
