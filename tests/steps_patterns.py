"""Phases made of steps, built directly, for tests that begin behind the language."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from with_schedules import render

import fabsim
from building import HERE
from collc.base.files import write_files
from collc.base.grids import Grid
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.run.expected import _reduce, make_input
from collc.schedule import BroadcastPhase, ReducePhase, Schedule, build_schedule
from collc.spec import (
    BroadcastStep,
    Collective,
    Contract,
    ContractKind,
    ElementType,
    Limits,
    Operation,
    ReduceStep,
    RunStep,
    Spec,
    Step,
    Tree,
)
from collc.spec.arrays import combine, words_of
from collc.spec.exchange import Moves, Slicing, StepsPhase
from collc.spec.steps import Algorithm

# source, destination, slice, into, count, combines
Move = tuple[int, int, int, int, int, bool]
Pattern = tuple[int, list[list[Move]]]  # slices, steps


def moves_of(moves: Iterable[Move]) -> Moves:
    """One step from its transfers."""
    table = np.array([tuple(map(int, move)) for move in moves], dtype=np.int32).reshape(-1, 6)
    return Moves(*(table[:, n] for n in range(5)), table[:, 5].astype(np.bool_))


def ring_allreduce(n: int) -> Pattern:
    """Reduce-scatter, then allgather, around the ring of ranks."""
    reduce = [
        [(r, (r + 1) % n, (r - s) % n, (r - s) % n, 1, True) for r in range(n)]
        for s in range(n - 1)
    ]
    gather = [
        [(r, (r + 1) % n, (r + 1 - s) % n, (r + 1 - s) % n, 1, False) for r in range(n)]
        for s in range(n - 1)
    ]
    return n, reduce + gather


def recursive_doubling(n: int) -> Pattern:
    """Whole vectors between partners; ranks beyond a power of two fold in first."""
    power = 1 << (n.bit_length() - 1)
    extra = n - power
    whole = (0, 0, 1)
    fold = [(power + r, r, *whole, True) for r in range(extra)]
    steps = [fold] if fold else []
    distance = 1
    while distance < power:
        steps.append([(r, r ^ distance, *whole, True) for r in range(power)])
        distance *= 2
    unfold = [(r, power + r, *whole, False) for r in range(extra)]
    return 1, [*steps, *([unfold] if unfold else [])]


def halving_doubling(n: int) -> Pattern:
    """Recursive halving, then doubling, among the ranks below a power of two."""
    power = 1 << (n.bit_length() - 1)
    extra = n - power
    everything = (0, 0, power)
    steps = [[(power + r, r, *everything, True) for r in range(extra)]] if extra else []
    size = power // 2
    halving = []
    while size:
        half = []
        for r in range(power):
            first = ((r ^ size) // size) * size
            half.append((r, r ^ size, first, first, size, True))
        halving.append(half)
        size //= 2
    doubling = [
        [(d, s, d // size * size, d // size * size, size, False) for s, d, *_ in half]
        for half, size in zip(reversed(halving), (1 << k for k in range(len(halving))), strict=True)
    ]
    back = [[(r, power + r, *everything, False) for r in range(extra)]] if extra else []
    return power, steps + halving + doubling + back


def pairwise_all_to_all(n: int) -> Pattern:
    """Step s: ranks whose sum is s modulo n change their slices for each other."""
    return n, [
        [(r, (s - r) % n, (s - r) % n, r, 1, False) for r in range(n) if (s - r) % n != r]
        for s in range(n)
    ]


def linear_scatter(n: int) -> Pattern:
    """Rank 0 sends everybody's slice, all in one step."""
    return n, [[(0, r, r, r, 1, False) for r in range(1, n)]]


def linear_gather(n: int) -> Pattern:
    """Everybody sends the own slice to rank 0, one a step."""
    return n, [[(r, 0, r, r, 1, False)] for r in range(1, n)]


def pipelined_chain(n: int, chunks: int = 4) -> Pattern:
    """A broadcast from rank 0 by neighbours, chunk after chunk."""
    return chunks, [
        [(r, r + 1, s - r, s - r, 1, False) for r in range(n - 1) if 0 <= s - r < chunks]
        for s in range(chunks + n - 2)
    ]


def direct_exchange(n: int) -> Pattern:
    """Everybody's vector to both neighbours, in one step, combined there."""
    pairs = [(r, r + d, 0, 0, 1, True) for r in range(n) for d in (-1, 1) if 0 <= r + d < n]
    return 1, [pairs]


PATTERNS = {
    "ring_allreduce": (ContractKind.ALLREDUCE, ring_allreduce),
    "recursive_doubling": (ContractKind.ALLREDUCE, recursive_doubling),
    "halving_doubling": (ContractKind.ALLREDUCE, halving_doubling),
    "all_to_all": (ContractKind.BROADCAST, pairwise_all_to_all),
    "scatter": (ContractKind.BROADCAST, linear_scatter),
    "gather": (ContractKind.BROADCAST, linear_gather),
    "chain": (ContractKind.BROADCAST, pipelined_chain),
    "neighbours": (ContractKind.ALLREDUCE, direct_exchange),
}


def ring_places(n: int) -> tuple[int, ...]:
    """0 2 4 .. 5 3 1: neighbours in rank are at most two hops apart."""
    return tuple([*range(0, n, 2), *range(1, n, 2)[::-1]])


def phase(
    pattern: Pattern,
    ranks: int,
    length: int,
    name: str = "exchange",
    axis: str = "x",
    lines: tuple[int, int] = (0, 0),
    places: Sequence[int] | None = None,
) -> StepsPhase:
    """A pattern over `ranks` ranks as a phase."""
    slices, steps = pattern
    return StepsPhase(
        name=name,
        axis=axis,
        places=tuple(places or range(ranks)),
        lines=lines,
        slicing=Slicing(slices, length),
        steps=tuple(moves_of(step) for step in steps),
        algorithm=name,
        order="by hand",
        span=HERE,
    )


def schedule(
    phases: Sequence[StepsPhase | ReducePhase | BroadcastPhase],
    width: int,
    height: int,
    length: int,
    kind: ContractKind = ContractKind.ALLREDUCE,
    element: ElementType = ElementType.F32,
    operation: Operation | None = Operation.ADD,
    colors: int | None = None,
) -> Schedule:
    """A schedule of such phases, by what the steps of a collective say."""
    collective = Collective(
        name="total",
        contract=Contract(kind, "x", element, length, operation, HERE),
        grid=Grid("grid", width, height, HERE),
        steps=tuple(map(_step, phases)),
        limits=Limits(colors, None if colors is None else HERE),
        expectations=(),
        span=HERE,
    )
    return build_schedule(collective)


def _step(one: StepsPhase | ReducePhase | BroadcastPhase) -> Step:
    """The step that a phase is built of."""
    if isinstance(one, BroadcastPhase):
        return BroadcastStep(one.x, one.y, HERE)
    if isinstance(one, ReducePhase):
        return ReduceStep(one.order, Tree(one.tree, one.children, HERE), HERE)
    algorithm = Algorithm(one.algorithm, one.ranks, one.slicing.count, one.steps, HERE)
    return RunStep(one.axis, one.order, one.places, one.lines, algorithm, HERE)


@dataclass(frozen=True)
class Line:
    """One pattern on one row."""

    name: str
    ranks: int
    length: int
    ring: bool = False
    element: ElementType = ElementType.F32
    operation: Operation = Operation.ADD
    colors: int | None = None

    def schedule(self) -> Schedule:
        kind, make = PATTERNS[self.name]
        places = ring_places(self.ranks) if self.ring else None
        one = phase(make(self.ranks), self.ranks, self.length, places=places)
        phases = [one] if self.ranks > 1 else []
        return schedule(
            phases,
            self.ranks,
            1,
            self.length,
            kind,
            self.element,
            self.operation if kind is ContractKind.ALLREDUCE else None,
            self.colors,
        )


def carried_out(what: Schedule, given: np.ndarray) -> np.ndarray:
    """All vectors after the schedule, [height, width, length], operand by operand."""
    state = given.copy()
    operation = what.collective.contract.operation
    with np.errstate(all="ignore"):
        for one in what.phases:
            if isinstance(one, StepsPhase):
                _carry_out(one, operation, state)
            elif isinstance(one, ReducePhase):
                _reduce(one, operation.facts.ufunc, state)
            else:
                state[:, :] = state[one.y, one.x]
    return state


def _carry_out(one: StepsPhase, operation: Operation | None, state: np.ndarray) -> None:
    by_line = state if one.axis == "x" else state.swapaxes(0, 1)
    lines = by_line[one.lines[0] : one.lines[1] + 1]  # [line, place, length]
    bound = one.slicing.bound
    for moves in one.steps:
        before = lines.copy()
        for i in range(len(moves)):
            source, target = one.places[moves.source[i]], one.places[moves.destination[i]]
            first, into, count = int(moves.slice[i]), int(moves.into[i]), int(moves.count[i])
            part = before[:, source, bound(first) : bound(first + count)]
            there = lines[:, target, bound(into) : bound(into + count)]
            if moves.combines[i]:
                part = combine(operation, there, part)
            there[...] = part


def outcome(texts: Mapping[str, str], what: Schedule, arch: str, runs: int = 1) -> tuple[str, int]:
    """What is wrong with a run of the emitted text (nothing if all PEs hold what they should), and
    the cycles it took."""
    try:
        return run(texts, what, arch, runs)
    except (fabsim.CslError, fabsim.SimulationError) as error:
        return str(error), 0


def run(texts: Mapping[str, str], what: Schedule, arch: str, runs: int) -> tuple[str, int]:
    """The same, but raises what fabsim raises."""
    grid, contract = what.collective.grid, what.collective.contract
    area = (0, 0, grid.width, grid.height, contract.words)
    given = make_input(what.collective, 1)
    wanted = given
    with tempfile.TemporaryDirectory() as directory:
        write_files(Path(directory), texts)
        program = fabsim.compile(f"{directory}/layout.csl", arch=arch, strict=True)
        simulator = fabsim.opened(program).simulator  # with the options of FABSIM_OPTIONS
        words = words_of(given)
        simulator.memcpy_h2d(contract.buffer, words, *area)
        for _ in range(runs):
            launch = simulator.launch("run")
            wanted = carried_out(what, wanted)
        found = simulator.memcpy_d2h(contract.buffer, words.dtype, *area).view(given.dtype)
        simulator.stop()
    kind = f"u{given.dtype.itemsize}"
    differs = wanted.view(kind) != found.reshape(given.shape).view(kind)
    if differs.any():
        y, x, i = np.argwhere(differs)[0]
        return f"{differs.sum()} wrong, first element {i} at PE ({x}, {y})", launch.cycles
    return "", launch.cycles


def texts_of(what: Schedule, plan: Plan) -> dict[str, str]:
    """The emitted text of a plan."""
    spec = Spec("test.coll", plan.target.name, (), (what.collective,))
    return render(spec, of_one_call(plan), Prediction(0, 0, {}), (plan.target.name,))
