"""Proof of a collective on one line whose algorithms go by steps.

Every place starts with its own vector; all phases are carried out on sets of contributions; then
every segment that the contract promises must hold exactly what is due. Where it does not, the
first wrong segment is told with what arrived there, step by step.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.diagnostics import Diagnostic, Span
from collc.base.number_ranges import consecutive
from collc.base.values import dataclass
from collc.proof.contributions import (
    MIXED,
    NOTHING,
    TWICE,
    UNORDERED,
    Block,
    Contributions,
    cut_for,
    members,
)
from collc.proof.postcondition import Due, due_of, has_before
from collc.proof.steps import (
    clashing,
    follow_steps,
    grouped_otherwise,
    groups_matter,
    order_of,
    out_of_order,
    unequal_slices,
)
from collc.schedule import BroadcastPhase, ReducePhase, Schedule, home_pe
from collc.spec import ContractKind, ReduceStep, RunStep
from collc.spec.exchange import Slicing, StepsPhase
from collc.spec.steps import ascending, axis_of

_MOST_BYTES = 1 << 27  # of a block of contributions; more segments are followed in turns
_LARGEST_BYTES = 1 << 30  # of segments that change places and have to be followed together
_SHOWN = 6


@dataclass(frozen=True)
class Wrong:
    """A segment that does not hold what is due, with what it holds; sets are of places."""

    rank: int
    segment: int
    who: tuple[int, ...]
    origin: int
    flaw: int
    due: tuple[int, ...]
    due_origin: int


class Line:
    """A schedule on one line, ready to be followed."""

    def __init__(self, schedule: Schedule, axis: str) -> None:
        grid, contract = schedule.collective.grid, schedule.collective.contract
        self.schedule, self.contract = schedule, contract
        self.places = grid.extent(axis)
        self.axis = axis
        self.steps = schedule.by_steps
        self._places = np.array(_places_of_ranks(schedule, axis, self.places))
        self._ranks = np.argsort(self._places)
        slicings = [phase.slicing for phase in self.steps]
        if contract.kind.by_slices:
            slicings.append(Slicing(self.places, contract.length))
        if contract.own is not None:
            slicings.append(Slicing(contract.own.slices, contract.length))
        relabels = contract.own is not None and contract.own.relabels
        relabels |= any((m.into != m.slice).any() for phase in self.steps for m in phase.steps)
        finest = relabels and len({slicing.count for slicing in slicings}) > 1
        self.cut = cut_for(contract.length, slicings, finest)
        words = (self.places + 63) // 64
        self.bytes = self.places * self.cut.count * words * 8
        self.together = relabels
        self._most = max(1, _MOST_BYTES // (self.places * words * 8))

    def blocks(self) -> Iterator[Block]:
        """Segments that can be followed without the others."""
        size = self.cut.count if self.together else self._most
        for first in range(0, self.cut.count, size):
            yield Block(first, min(first + size, self.cut.count))

    @property
    def ranks(self) -> Ints:
        """The rank at each place."""
        return self._ranks

    def rank_at(self, place: int) -> int:
        """The rank at a place."""
        return int(self._ranks[place])

    def place_of(self, rank: int) -> int:
        """The place of a rank."""
        return int(self._places[rank])

    @property
    def root(self) -> int:
        """The place of the contract's root, if it has one."""
        return home_pe(self.schedule)[0 if self.axis == "x" else 1]

    def due(self, block: Block) -> Due:
        """The postcondition of the contract."""
        return due_of(self.contract, self._places, self.root, self.cut, block)


def _places_of_ranks(schedule: Schedule, axis: str, places: int) -> Sequence[int]:
    """Where the ranks stand on the line."""
    collective = schedule.collective
    if collective.contract.own is not None:
        return collective.contract.own.places
    steps = (step for step in collective.steps if isinstance(step, RunStep))
    runs = [step for step in steps if step.axis == axis]
    if runs:
        return runs[-1].places
    trees = (step for step in collective.steps if isinstance(step, ReduceStep))
    back = any(axis_of(step.order) == axis and not ascending(step.order) for step in trees)
    return range(places)[::-1] if back else range(places)


def prove_line(schedule: Schedule, axis: str) -> Iterator[Diagnostic]:
    """What the schedule of a line does not fulfil; at most one diagnostic."""
    line = Line(schedule, axis)
    unequal = [d for phase in line.steps for d in unequal_slices(phase)]
    if unequal:
        yield unequal[0]
        return
    if line.together and line.bytes > _LARGEST_BYTES:
        yield _too_large(line)
        return
    tokens = schedule.collective.contract.length == 0
    ranks, groups = line.ranks if order_of(schedule) else None, groups_matter(schedule)
    worst: Wrong | None = None
    for block in line.blocks():
        held = Contributions(line.places, block, tokens, ranks, groups)
        if line.contract.own is not None:
            held.keep_only(has_before(line.contract.own, line.contract.length, line.cut, block))
        clash = follow_line(line, held)
        if clash is not None:
            yield clash
            return
        wrong = _first_wrong(line, held, line.due(block))
        if wrong is None and groups and (held.mark != held.mark[line.place_of(0)]).any():
            yield _grouped_otherwise(line, held)
            return
        if wrong is not None and (worst is None or wrong.rank < worst.rank):
            worst = wrong
    if worst is not None:
        yield _explained(line, worst)


def follow_line(line: Line, held: Contributions) -> Diagnostic | None:
    """Carry out all phases; yields what two transfers of a step do to each other."""
    for phase in line.schedule.phases:
        if isinstance(phase, ReducePhase):
            for transfer in phase.transfers:
                source = phase.coordinate(transfer.source)
                held.combine_all(source, phase.coordinate(transfer.destination))
            if line.contract.kind is not ContractKind.BARRIER:
                held.drop([phase.coordinate(r) for r in range(1, phase.ranks) if r != phase.idle])
        elif isinstance(phase, BroadcastPhase):
            held.copy_to_all(phase.x if line.axis == "x" else phase.y)
        else:
            clash = follow_steps(phase, line.cut, held)
            if clash is not None:
                step, place, segment = clash
                part = "" if phase.slicing.length == 0 else _part(line, segment)
                return clashing(phase, step, place, part)
    return None


def _first_wrong(line: Line, held: Contributions, due: Due) -> Wrong | None:
    """The first segment of the first rank that is not as promised."""
    for rank in range(line.places):
        place = line.place_of(rank)
        differs = (held.who[place] != due.sets[due.who[place]]).any(axis=-1)
        differs |= (held.origin[place] != due.origin[place]) | (held.flaw[place] > 0)
        wrong = np.flatnonzero(differs & due.promised[place])
        if len(wrong):
            at = int(wrong[0])
            return Wrong(
                rank,
                at + held.block.first,
                tuple(members(held.who[place, at])),
                int(held.origin[place, at]),
                int(held.flaw[place, at]),
                tuple(members(due.sets[due.who[place, at]])),
                int(due.origin[place, at]),
            )
    return None


def _explained(line: Line, wrong: Wrong) -> Diagnostic:
    """The diagnostic for a wrong segment: what is there, what is due, how it came."""
    if wrong.flaw == UNORDERED:
        return _unordered(line, wrong)
    where = f"rank {wrong.rank} ends"
    barrier = line.contract.kind is ContractKind.BARRIER
    part = "" if barrier else _part(line, wrong.segment)
    holds = _listed(sorted(line.rank_at(place) for place in wrong.who))
    if barrier:
        missing = _missing(line, wrong)
        message = f"rank {wrong.rank} may end before rank {missing} has begun"
        code = "C201"
    elif wrong.flaw == NOTHING:
        code = "C213"
        message = f"{where} with what nobody had before or kept{part}"
    elif wrong.flaw == TWICE:
        code = "C202"
        message = f"{where} with a contribution counted twice{part}"
    elif wrong.flaw == MIXED or wrong.origin != wrong.due_origin:
        code = "C207"
        came = _elements(line, wrong.origin)
        due_part = _elements(line, wrong.due_origin)
        there = "elements of different places combined" if wrong.flaw == MIXED else f"{came}"
        message = f"{where} with {there}{part}, due: {due_part}"
    elif len(wrong.due) == 1 or set(wrong.due) < set(wrong.who):
        code = "C208"
        due = _listed(sorted(line.rank_at(place) for place in wrong.due))
        message = f"{where} with what is rank {holds}'s{part}, where rank {due}'s is due"
    else:
        code = "C201"
        missing = _missing(line, wrong)
        message = f"{where} without the contribution of rank {missing}{part}: it has {holds}"
    return Diagnostic(
        code,
        f"{message}; {_arrivals(line, wrong)}",
        _span(line),
        ((line.contract.span, f"the contract is {line.contract.name}"),),
        "a transfer is missing, superfluous, misdirected or in the wrong step",
    )


def _unordered(line: Line, wrong: Wrong) -> Diagnostic:
    """C203: the right contributions in the wrong order."""
    how = (
        f"does not combine in the order of ranks what rank {wrong.rank} ends with"
        f"{_part(line, wrong.segment)}; {_arrivals(line, wrong)}"
    )
    name = line.steps[-1].algorithm if line.steps else line.schedule.phases[-1].name
    return out_of_order(line.schedule, name, how, _span(line))


def _grouped_otherwise(line: Line, held: Contributions) -> Diagnostic:
    """C215: right contributions, combined in other groups than at rank 0."""
    differs = held.mark != held.mark[line.place_of(0)]
    rank = next(rank for rank in range(line.places) if differs[line.place_of(rank)].any())
    segment = int(np.argmax(differs[line.place_of(rank)])) + held.block.first
    where = f"at rank {rank} and at rank 0{_part(line, segment)}"
    name = line.steps[-1].algorithm if line.steps else line.schedule.phases[-1].name
    return grouped_otherwise(line.schedule, name, where, _span(line))


def _missing(line: Line, wrong: Wrong) -> int:
    return min(line.rank_at(place) for place in set(wrong.due) - set(wrong.who))


def _span(line: Line) -> Span:
    """The clause to point at: the last algorithm."""
    runs = [step for step in line.schedule.collective.steps if isinstance(step, RunStep)]
    return runs[-1].span if runs else line.schedule.collective.span


def _elements(line: Line, segment: int) -> str:
    first, last = line.cut.bounds[segment], line.cut.bounds[segment + 1] - 1
    return f"element {first}" if first == last else f"elements {first} to {last}"


def _part(line: Line, segment: int) -> str:
    """Which part of the vector a segment is, in elements and as a slice of the last algorithm."""
    text = f" in {_elements(line, segment)}"
    if not line.steps or line.steps[-1].slicing.count == 1:
        return text
    starts = line.cut.of_slices(line.steps[-1].slicing)
    slice_ = int(np.searchsorted(starts, segment, side="right")) - 1
    return f"{text} (slice {slice_})"


def _listed(ranks: list[int]) -> str:
    """Ranks in few words: `0 to 3, 7`."""
    runs = consecutive(ranks)
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in runs]
    return ", ".join(shown if len(shown) <= _SHOWN else [*shown[: _SHOWN - 1], "..."])


def _arrivals(line: Line, wrong: Wrong) -> str:
    """The transfers that wrote a segment, in order."""
    place, found = line.place_of(wrong.rank), []
    for phase, name in zip(line.steps, _names(line.steps), strict=True):
        starts = line.cut.of_slices(phase.slicing)
        block = Block(wrong.segment, wrong.segment + 1)
        rank = phase.places.index(place)
        for number, moves in enumerate(phase.steps):
            into, last = starts[moves.into], starts[moves.into + moves.count]
            if phase.slicing.length == 0:
                last = into + 1
            there = (moves.destination == rank) & (into <= block.first) & (block.first < last)
            for index in np.flatnonzero(there):
                arrow = "=>" if moves.combines[index] else "->"
                source = moves.source[index]
                found.append(f"{name} step {number} from rank {source} ({arrow})")
    if not found:
        return "nothing arrives there"
    shown = found if len(found) <= _SHOWN else [*found[: _SHOWN - 1], "...", found[-1]]
    return f"what arrives there: {', '.join(shown)}"


def _names(phases: Sequence[StepsPhase]) -> Iterator[str]:
    """The algorithms of phases; one that runs again is numbered."""
    runs: dict[str, int] = {}
    for phase in phases:
        number = runs[phase.algorithm] = runs.get(phase.algorithm, 0) + 1
        yield phase.algorithm if number == 1 else f"{phase.algorithm} (run {number})"


def _too_large(line: Line) -> Diagnostic:
    """C211: slices that change places between too many ranks to be followed one by one."""
    return Diagnostic(
        "C211",
        f"{line.cut.count} parts of {line.places} vectors change places, too many to be followed",
        _span(line),
        help="run algorithms whose numbers of slices are equal",
    )
