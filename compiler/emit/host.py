"""The host script `run.py` as its template sees it: the buffers, the calls of a round, and what
each collective makes of its vectors."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from collc.base.values import dataclass
from collc.emit.custom_contract import OwnModel, own_model
from collc.emit.grid_places import site_model
from collc.emit.headline import headline, promise_of
from collc.emit.order import numpy_combine, order_of, rounds
from collc.emit.reference import (
    numpy_callback,
    numpy_operands,
    numpy_places,
    numpy_reduction,
    numpy_type,
)
from collc.plan import Plan
from collc.plan.geometry import home_of
from collc.plan.plan import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Contract
from collc.spec.slice_ownership import lines_and_ranks


@dataclass(frozen=True)
class BufferModel:
    """An array of the standalone program: `length` words of type `element`, for so many `elements`,
    which have so many `words` each and are `stride` apart."""

    name: str
    element: str
    numpy_type: str
    bits: int
    length: int
    elements: int
    words: int
    stride: int


@dataclass(frozen=True)
class FollowedModel:
    """A collective whose results are computed on the host, in NumPy text. `pes` are its PEs, a row
    for each group that has it to itself, `root` the place of a root, x and y. Vectors are in
    `buffer`, results in `results`; with a `run_length`, the name of a length that is given at run
    time, they have up to so many elements. `order` is the one in which the plan combines operands,
    where that matters and is short."""

    name: str
    headline: str
    kind: str
    by_slices: str
    places: str
    blocks: int
    width: int
    height: int
    pes: str
    root: tuple[int, int]
    buffer: str
    results: str
    run_length: str
    numpy_type: str
    numpy_reduction: str
    numpy_callback: tuple[str, ...]
    numpy_operands: str
    numpy_combine: str
    order: tuple[str, ...]
    rounds: bool
    own: OwnModel | None


@dataclass(frozen=True)
class CallModel:
    """What a call runs: a collective, or a choice of several. `m` is the collective, or one of the
    choice; by a length `names` are its alternatives and `limits` the most elements of all but the
    last; by a `root` of the call `places` are those of the ranks."""

    m: FollowedModel
    names: tuple[str, ...] = ()
    limits: tuple[int, ...] = ()
    root: str = ""
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class HostModel:
    """Everything that `run.py` is made of, but for time stamps. `lengths` and `roots` are those
    that calls are given, each with the longest length, or with how many ranks may be the root."""

    source: str
    version: str
    width: int
    height: int
    collectives: tuple[FollowedModel, ...]
    calls: tuple[CallModel, ...]
    rounds: int
    buffers: tuple[BufferModel, ...]
    lengths: tuple[tuple[str, int], ...]
    roots: tuple[tuple[str, int], ...]
    given: tuple[tuple[str, int, int], ...]  # both, each with the least and the most

    @property
    def has_results(self) -> bool:
        """Whether a result has a buffer apart from the input."""
        return any(one.results != one.buffer for one in self.collectives)

    @property
    def has_pairs(self) -> bool:
        """Whether elements of some buffer are pairs."""
        return any(one.words > 1 for one in self.buffers)

    @property
    def has_gaps_or_pairs(self) -> bool:
        """Whether elements of some buffer are not a word each that follows the one before."""
        return any(one.words > 1 or one.stride > 1 for one in self.buffers)

    @property
    def own(self) -> bool:
        """Whether a collective has a contract of the user's own."""
        return any(one.own for one in self.collectives)

    @property
    def ordered(self) -> bool:
        """Whether the script follows the order of some sum."""
        return any(one.order for one in self.collectives)

    @property
    def rounded(self) -> str:
        """The buffers with sums whose order it does not follow, as Python text."""
        found = {one.results for one in self.collectives if one.rounds and not one.order}
        return f"{{{', '.join(map(repr, sorted(found)))}}}" if found else "set()"

    @property
    def exported(self) -> tuple[str, ...]:
        """The symbols that it copies to and from, beside those of time stamps."""
        return (*(one.name for one in self.buffers), *(name for name, _, _ in self.given))


def host_model(
    program: ProgramPlan, due: Mapping[str, Schedule], source: str, version: str
) -> HostModel:
    """The model of a program whose collectives carry out what is `due`, by name; `source` is the
    name of the .coll file, for comments."""
    grid, said = program.plans[0].collective.grid.whole, program.program
    of_call = {name for one in said.rooted for name in one.names}
    found = (_followed(plan, due[plan.collective.name]) for plan in program.plans)
    # the order depends on the root
    collectives = tuple(replace(m, order=()) if m.name in of_call else m for m in found)
    calls = _callable(program, {one.name: one for one in collectives})
    return HostModel(
        source=source,
        version=version,
        width=grid.width,
        height=grid.height,
        collectives=collectives,
        calls=tuple(calls[name] for name in said.calls),
        rounds=said.rounds,
        buffers=tuple(_buffers(program)),
        lengths=said.lengths,
        roots=said.roots,
        given=said.given,
    )


def _followed(plan: Plan, schedule: Schedule) -> FollowedModel:
    collective, contract = plan.collective, plan.collective.contract
    return FollowedModel(
        name=collective.name,
        headline=headline(plan),
        kind=contract.kind.value,
        by_slices=promise_of(collective),
        places=numpy_places(collective),
        blocks=len(lines_and_ranks(collective)[0]) if contract.kind.by_slices else 1,
        width=collective.grid.width,
        height=collective.grid.height,
        pes=site_model(collective.grid).pes,
        root=home_of(plan),
        buffer=contract.buffer,
        results=contract.result.name if contract.result else contract.buffer,
        run_length=contract.run_length.name if contract.run_length else "",
        numpy_type=numpy_type(contract.element),
        numpy_reduction=numpy_reduction(contract),
        numpy_callback=numpy_callback(contract),
        numpy_operands=numpy_operands(schedule),
        numpy_combine=numpy_combine(contract),
        order=order_of(schedule),
        rounds=rounds(schedule),
        own=own_model(collective) if contract.own else None,
    )


def _callable(program: ProgramPlan, named: Mapping[str, FollowedModel]) -> dict[str, CallModel]:
    """What can be called, by name: every collective, and every choice of several."""
    found = {name: CallModel(m) for name, m in named.items()}
    for one in program.program.selections:
        if one.names != (one.name,):
            limits = tuple(one.lengths(i)[1] for i in range(len(one.names) - 1))
            found[one.name] = CallModel(named[one.names[0]], one.names, limits)
    for chosen in program.program.rooted:
        of = named[chosen.names[0]]
        path, width = chosen.by_root[0].path, chosen.by_root[0].grid.width
        places = tuple(y * width + x for x, y in path.places) if path else chosen.places
        found[chosen.name] = CallModel(of, root=chosen.root, places=places)
    return found


def _buffers(program: ProgramPlan) -> Iterator[BufferModel]:
    """The buffers of all collectives, those of results among them, sorted by name."""
    contracts = (plan.collective.contract for plan in program.plans)
    held = {one.buffer: one for contract in contracts for one in contract.in_memory}
    yield from (_buffer(held[name]) for name in sorted(held))


def _buffer(contract: Contract) -> BufferModel:
    element = contract.element
    return BufferModel(
        name=contract.buffer,
        element=element.word.value,
        numpy_type=numpy_type(element),
        bits=8 * element.word.bytes,
        length=contract.span_of(contract.held) * element.words,
        elements=contract.held,
        words=element.words,
        stride=contract.stride,
    )
