"""Scripts of PEs cut at their marks: what a PE does in some phases, by themselves.

At the mark of a phase a PE has ended all that it does for those before, so what it does from there
on depends on the cycle alone. Equal segments are the same one, whatever PEs do before and behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collc.machine.timed import NO_COLOR, Act, Script

_OPS = {"settle", "issue", "call"}  # whose first number is an operation
_NOT_CUT = {"set", "await", "told"}


class InseparableError(Exception):
    """A script that is not one segment behind the other, in words."""


def segments_of(
    script: Script, parts: Sequence[range], colors: Sequence[set[int]]
) -> tuple[Script, ...]:
    """The segments of a script with a mark for each phase, from 0 on, and one before its end; each
    is of the phases of a range, and has operations on these colors. The first one begins with the
    launch, the others with the mark of their first phase; they are done at the mark behind their
    last one. Marks between keep their numbers. Raises InseparableError."""
    if script.handlers or any(act[0] in _NOT_CUT for of in script.codes for act in of):
        raise InseparableError("routers that PEs set")
    return tuple(
        _Segment(script, of, own).cut(_behind(script, of.start) if of.start else script.codes[0])
        for of, own in zip(parts, colors, strict=True)
    )


def _behind(script: Script, mark: int) -> tuple[Act, ...]:
    """The code behind a mark."""
    wanted: Act = ("mark", mark, 0, 0)
    found = {of[of.index(wanted) + 1 :] for of in script.codes if wanted in of}
    if len(found) != 1:
        raise InseparableError(f"{len(found)} places with mark {mark}")
    return found.pop()


class _Segment:
    """Code up to a mark; codes, operations, counters and lists are numbered as they are met."""

    def __init__(self, script: Script, phases: range, colors: set[int]) -> None:
        self.script, self.phases, self.colors = script, phases, colors | {NO_COLOR}
        self.codes: list[tuple[Act, ...]] = []
        self.old: list[int] = []  # what codes are in the script
        self.lists: list[tuple[int, ...]] = []
        self.ops: dict[int, int] = {}
        self.counters: dict[int, int] = {}
        self.known: dict[int, int] = {}
        self.turns: dict[int, int] = {}
        self.issued: set[int] = set()
        self.begun: set[int] = set()  # tasks that something begins, and those that have code
        self.followed: set[int] = set()

    def cut(self, begin: tuple[Act, ...]) -> Script:
        """The segment that begins with this code."""
        script, self.codes, self.old = self.script, [()], [-1]
        self.codes[0], at = self._acts(begin), 1
        while at < len(self.codes):
            self.codes[at] = self._acts(script.codes[self.old[at]])
            at += 1
        self.codes = [tuple(map(self._loaded, of)) for of in self.codes]
        used = [script.ops[old] for old in self.ops]
        if not {op.receive for op in used} | {op.send for op in used} <= self.colors:
            raise InseparableError("an operation on a color of another phase")
        issued = (script.ops[old] for old in self.issued)
        self.begun |= {op.end[1] for op in issued if op.end[0] == "activate"}
        if not self.begun <= self.followed:
            raise InseparableError("a task that another phase gives its code")
        outputs = sorted({op.output for op in used if op.send != NO_COLOR})
        colors = {op.receive for op in used}
        return Script(
            tuple(self.codes),
            tuple(
                replace(op, output=outputs.index(op.output) if op.send != NO_COLOR else 0)
                for op in used
            ),
            tuple(script.outputs[at] for at in outputs),
            tuple(one for one in script.inputs if one[0] in colors),
            script.blocked & sum(1 << task for task in self.followed),
            len(self.counters),
            tuple(self.lists),
        )

    def _loaded(self, act: Act) -> Act:
        """Registers of an operation of another phase are loaded; none waits for them here."""
        name, count, op, _ = act
        if name != "load":
            return act
        return ("load", count, self.ops[op], 0) if op in self.ops else ("code", count, 0, 0)

    def _code(self, old: int) -> int:
        if old not in self.known:
            self.known[old] = len(self.codes)
            self.codes.append(())
            self.old.append(old)
        return self.known[old]

    def _turn(self, old: int) -> int:
        if old not in self.turns:
            self.turns[old] = len(self.lists)
            self.lists.append(tuple(map(self._code, self.script.turns[old])))
        return self.turns[old]

    def _acts(self, acts: tuple[Act, ...]) -> tuple[Act, ...]:
        found: list[Act] = []
        for act in acts:
            name, one, two, three = act
            if name == "mark":
                if one == self.phases.stop:
                    return (*found, ("done", 0, 0, 0))
            elif name in _OPS:
                self.issued |= {one} if name == "issue" else set()
                one = self.ops.setdefault(one, len(self.ops))
            elif name == "follow":
                self.followed.add(one)
                two = self._code(two)
            elif name == "again":
                one, three = self.counters.setdefault(one, len(self.counters)), self._code(three)
            elif name == "turn":
                one = self._turn(one)
            elif name == "activate":
                self.begun.add(one)
            found.append((name, one, two, three))
        return tuple(found)
