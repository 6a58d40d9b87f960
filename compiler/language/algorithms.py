"""The algorithms of a program, and the transfers one of them makes on a line of n ranks.

Loops are gone through one after the other; the ranks of an `each` are computed all at once. Limits
on steps, transfers and evaluations stand between a user and an algorithm that does not end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

import numpy as np

from collc.base.columns import Ints, joined
from collc.base.diagnostics import Edit, Span, tail
from collc.base.memoize import Latest
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.declarations import (
    Declarations,
    Remedy,
    as_used,
    bind,
    check_required,
    check_slice,
    in_full,
    ranks_are,
    ranks_of,
    refuse_first,
    restricted,
    slices_of,
    slices_taken,
    told_inside,
    values_of,
    with_locals,
)
from collc.language.expressions import Scope, number, numbers_for_all
from collc.language.kinds import BY_WORD, undeclared
from collc.language.prelude import Declared
from collc.language.printer import show_expression
from collc.language.problems import problem
from collc.language.syntax import AlgorithmDecl, EachDecl, LocalDecl, TreeUse, Word
from collc.spec import Algorithm
from collc.spec.exchange import NO_MOVES, Moves

MAX_STEPS = 16_384  # of all algorithms of a file, loops counted each time
MAX_TRANSFERS = 4_194_304
_INCLUDED_DEEP = 8


@dataclass
class _Running:
    """An algorithm on its way: what it is run on and the steps so far."""

    ranks: int
    slices: int
    steps: list[Moves]
    size: str  # how the algorithm that is running calls the number of ranks
    included: int = 0


@dataclass(eq=False)
class Algorithms(Declarations[AlgorithmDecl]):
    """All algorithms a program may use, and what unfolding them has taken."""

    _steps: int = field(default=0, init=False)
    _transfers: int = field(default=0, init=False)
    _made: dict[tuple[str, tuple[int, ...], int], Algorithm] = field(
        default_factory=dict, init=False
    )

    def algorithm(self, name: Word) -> AlgorithmDecl:
        """Algorithm of a name."""
        self.check_whole(name)
        if name.text not in self.declared:
            raise undeclared(BY_WORD["algorithm"], name, self.declared, self.others)
        return self.declared[name.text]

    def unfold(self, use: TreeUse, ranks: int, scope: Scope) -> Algorithm:
        """Steps of an algorithm on a line of so many ranks; raises `ProblemError`."""
        declaration = self.algorithm(use.name)
        values = values_of(declaration, use.arguments, (ranks,), scope, use.span)
        key = (use.name.text, values, ranks)
        if key not in self._made:
            with told_inside(use, f"in {in_full(declaration, values)}"):
                self._made[key] = self._unfold(declaration, values, ranks, use.span)
        return replace(self._made[key], span=use.span)

    def _unfold(
        self, declaration: AlgorithmDecl, values: tuple[int, ...], ranks: int, span: Span
    ) -> Algorithm:
        if declaration is Declared(AlgorithmDecl).get(declaration.name.text):
            made, taken = _of_prelude(declaration.name.text, values, ranks)
            if self._take(taken):
                return made
        return self._worked_out(declaration, values, ranks, span)

    def _worked_out(
        self, declaration: AlgorithmDecl, values: tuple[int, ...], ranks: int, span: Span
    ) -> Algorithm:
        around = self._scope_with_locals(declaration, values)
        slices = slices_of(declaration, around)
        running = _Running(ranks, slices, [], _size(declaration, ranks))
        self._run(declaration, values, around, running)
        steps = tuple(moves for moves in running.steps if len(moves))
        return Algorithm(as_used(declaration, values), ranks, slices, steps, span)

    def _take(self, taken: Algorithms) -> bool:
        """Count what others have taken, if the limits allow it; else whoever works it out finds
        where they do not."""
        steps, transfers = self._steps + taken._steps, self._transfers + taken._transfers
        if steps > MAX_STEPS or transfers > MAX_TRANSFERS:
            return False
        if not self.budget.take_all(taken.budget):
            return False
        self._steps, self._transfers = steps, transfers
        return True

    def _scope_with_locals(self, declaration: AlgorithmDecl, values: tuple[int, ...]) -> Scope:
        return with_locals(declaration.locals, self.scope_of(declaration, values))

    def _run(
        self,
        declaration: AlgorithmDecl,
        values: tuple[int, ...],
        around: Scope,
        running: _Running,
    ) -> None:
        check_required(declaration, values, around)
        self._act(declaration.actions, around, running)

    def _act(self, actions: tuple[syntax.Action, ...], around: Scope, running: _Running) -> None:
        for action in actions:
            match action:
                case syntax.StepDecl():
                    for inside in self._passes(action.range, action.locals, around, action.span):
                        running.steps.append(self._step(action, inside, running))
                case syntax.LoopDecl():
                    for inside in self._passes(action.range, action.locals, around, action.span):
                        self._act(action.actions, inside, running)
                case _:
                    self._include(action, around, running)

    def _passes(
        self,
        range_: syntax.RangeDecl | None,
        locals_: tuple[LocalDecl, ...],
        around: Scope,
        span: Span,
    ) -> Iterator[Scope]:
        """What each pass through a step or loop sees; problems in a pass tell which it is."""
        if range_ is None:
            self._count(1, span)
            yield with_locals(locals_, around)
            return
        first, last = number(range_.first, around), number(range_.last, around)
        self._count(max(last - first + 1, 0), range_.span)
        for value in range(first, last + 1):
            numbers = {**around.numbers, range_.name.text: value}
            passes = (*around.passes, f"{range_.name.text} = {value}")
            inside = replace(around, numbers=numbers, passes=passes)
            yield with_locals(locals_, inside)

    def _count(self, passes: int, span: Span) -> None:
        self._steps += passes
        if self._steps > MAX_STEPS:
            message = f"the algorithms of this file take more than {MAX_STEPS} steps"
            help = "use fewer steps: in one step all ranks may send at the same time"
            raise problem("C157", message, span, help=help)

    def _step(self, step: syntax.StepDecl, around: Scope, running: _Running) -> Moves:
        """Transfers of one step, in the order of its lines and then of the ranks."""
        parts = [_moves(each, around, running) for each in step.transfers]
        moves = joined([NO_MOVES, *parts])
        self._transfers += len(moves)
        if self._transfers > MAX_TRANSFERS:
            raise problem("C157", f"these are more than {MAX_TRANSFERS} transfers", step.span)
        return moves

    def _include(self, include: syntax.IncludeDecl, around: Scope, running: _Running) -> None:
        """Take over the steps of another algorithm."""
        declaration = self.algorithm(include.name)
        if running.included >= _INCLUDED_DEEP:
            message = f"algorithms run each other more than {_INCLUDED_DEEP} deep"
            raise problem("C130", message, include.span, help="an algorithm cannot run itself")
        self._count(1, include.span)
        places = bind(declaration, include.arguments, 0, include.span)
        values = tuple(number(place.value, around) for place in places)
        if declaration.parameters and values[0] != running.ranks:
            message = (
                f"{in_full(declaration, values)} is for {values[0]} ranks, not {running.ranks}"
            )
            raise problem("C151", message, include.span, help="give it all ranks")
        inside = self._scope_with_locals(declaration, values)
        slices = slices_of(declaration, inside)
        if slices != running.slices:
            message = f"{in_full(declaration, values)} cuts a vector into {slices} slices"
            help = f"the algorithm that runs it has {running.slices}; both need the same"
            raise problem("C152", message, include.span, help=help)
        size, running.size = running.size, _size(declaration, running.ranks)
        running.included += 1
        self._run(declaration, values, replace(inside, passes=around.passes), running)
        running.included -= 1
        running.size = size


def _of_prelude(name: str, values: tuple[int, ...], ranks: int) -> tuple[Algorithm, Algorithms]:
    """An algorithm of the prelude, which sees nothing of the file that uses it, and what working
    it out has taken."""
    key = (name, values, ranks)

    def worked_out() -> tuple[Algorithm, Algorithms]:
        known = Declared(AlgorithmDecl)
        alone = Algorithms(known, {}, {}, frozenset())
        return alone._worked_out(known[name], values, ranks, known[name].span), alone

    return _unfolded.find(key, worked_out)


def _transfers(unfolded: tuple[Algorithm, Algorithms]) -> int:
    return unfolded[1]._transfers


# The last algorithms of the prelude, with no more transfers than one file may have: 88 MB.
_unfolded = Latest[tuple[str, tuple[int, ...], int], tuple[Algorithm, Algorithms]](
    16, MAX_TRANSFERS, _transfers
)


def _moves(each: EachDecl, around: Scope, running: _Running) -> Moves:
    """Transfers of one line, in the order of the sending ranks."""
    seen = ranks_of(each, running.ranks, around)
    if seen.size:
        first, count = slices_taken(each.sent, running.slices, seen)
        some = count > 0
        seen, first, count = seen.only(some), first[some], count[some]
    if not seen.size:
        return NO_MOVES
    source = seen.arrays[each.rank.text]
    destination = numbers_for_all(each.destination, seen)
    _check_ranks(each, destination, seen, running)
    into = first
    if each.into is not None:
        into = numbers_for_all(each.into, seen)
    _check_slices(each, first, into, seen, running)
    return Moves(
        source=source.astype(np.int32),
        destination=destination.astype(np.int32),
        slice=first.astype(np.int32),
        into=into.astype(np.int32),
        count=count.astype(np.int32),
        combines=np.full(seen.size, each.combines),
    )


def _size(declaration: AlgorithmDecl, ranks: int) -> str:
    """How an algorithm calls the number of its ranks."""
    return declaration.parameters[0].text if declaration.parameters else str(ranks)


def _around(each: EachDecl, size: str) -> Remedy:
    """Help that lets the destinations go around from the last rank to the first."""
    to = each.destination
    product = syntax.Arithmetic(to, "mod", syntax.Name(size, span=to.span), span=to.span)
    written = show_expression(product)
    return Remedy(f"write `{written}` to go around a ring", (Edit(to.span, written),))


def _check_ranks(each: EachDecl, destination: Ints, seen: Scope, running: _Running) -> None:
    """Every transfer goes to another rank of the line."""
    source = seen.arrays[each.rank.text]
    ranks = ranks_are(running.ranks)
    outside = (destination < 0) | (destination >= running.ranks)
    remedy = restricted(each, outside, seen)
    wrapped = destination % running.ranks
    if each.sent is not None and len(set(wrapped.tolist())) == seen.size and seen.size > 1:
        remedy = _around(each, running.size)  # slices that go around a ring
    refuse_first(
        outside,
        lambda i: f"rank {source[i]} sends to rank {destination[i]}: {ranks}",
        ("C151", each.destination.span, remedy),
        seen,
    )
    refuse_first(
        destination == source,
        lambda i: f"rank {source[i]} sends to itself",
        ("C153", each.destination.span, restricted(each, destination == source, seen)),
        seen,
    )


def _check_slices(each: EachDecl, first: Ints, into: Ints, seen: Scope, running: _Running) -> None:
    """Slices exist on both sides, and what is combined stays in its place."""
    at = each.span if each.sent is None else each.sent.span
    check_slice(first, running.slices, at, seen)
    if each.into is None:
        return
    if each.combines:
        message = "a slice is combined with the same slice of the receiver"
        help = "leave `as slice` out, or overwrite with `->`"
        out = (Edit(tail(each.destination.span, each.into.span), ""),)
        raise problem("C154", message, each.into.span, help=help, fix=out)
    if each.sent is None or each.sent.last is not None:
        message = "`as slice` places one slice, and this sends several"
        raise problem("C154", message, each.into.span, help="send one slice: `slice E`")
    check_slice(into, running.slices, each.into.span, seen)
