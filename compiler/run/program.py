"""Running a program on fabsim and judging all its rounds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from collc.base.columns import Array, Bools
from collc.base.grids import Grid
from collc.emit.program import call_stream_name
from collc.plan.dynamic_lengths import Given, Lengths, checked_lengths, lengths_of_run
from collc.plan.program import ProgramPlan
from collc.run import Outcome, Progress, RunReport, run_texts, tokens_of
from collc.run.expected import (
    NOT_KEPT,
    Carried,
    carry_on,
    carry_on_in_part,
    describe,
    make_input,
    on_site,
    replaced_on_site,
)
from collc.schedule import build_schedule
from collc.schedule.lengths import of_length
from collc.spec import Collective, Contract
from collc.spec.arrays import DTYPE, words_of

Inputs = Mapping[str, ArrayLike]
# What buffers hold by name, an array [round, height, width, length] each; and what is wrong
# between the elements, in words, or nothing.
Held = Mapping[str, tuple[Array, str]]


def _with_inputs(drawn: Mapping[str, Array], inputs: Inputs | None) -> dict[str, Array]:
    """The vectors of a run by buffer, the caller's in place of those drawn at random.

    Shapes are those of the drawn ones, [height, width, length] or [round, height, width, length]
    of a program; axes of size 1 may be left out. Raises ValueError for a buffer that is not there,
    another shape, or numbers that the element type cannot hold exactly, but for the rounding of
    floats; TypeError for what are no numbers.
    """
    given = {name: _fitting(name, drawn, value) for name, value in (inputs or {}).items()}
    return dict(drawn) | given


def _fitting(name: str, drawn: Mapping[str, Array], value: ArrayLike) -> Array:
    if name not in drawn:
        there = ", ".join(sorted(drawn)) or "none"
        raise ValueError(f"the program has no buffer called {name}; it has {there}")
    wanted, array = drawn[name], np.asarray(value)
    fits = array.dtype == wanted.dtype if wanted.dtype.names else array.dtype.kind in "fiu"
    if not fits:
        what = f"pairs, {wanted.dtype}" if wanted.dtype.names else "numbers"
        raise TypeError(f"input {name} is of type {array.dtype}, and has to be {what}")
    if _without_ones(array.shape) != _without_ones(wanted.shape):
        raise ValueError(f"input {name} has shape {array.shape}, the program's is {wanted.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(wanted.dtype)
    if wanted.dtype.kind in "iu" and not np.array_equal(cast, array):
        what = "numbers" if np.isfinite(array).all() else "NaN or infinities"
        raise ValueError(f"input {name} has {what} that {wanted.dtype} cannot hold")
    return np.ascontiguousarray(cast.reshape(wanted.shape))


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


NOTHING_KNOWN = "no element was compared: no contract says what a buffer holds behind the last call"


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the buffers hold after each round, and which elements of it are known; and a call whose
    contract its schedule has not kept, if there is one."""

    buffers: dict[str, list[tuple[Array, Bools]]]
    broken: str

    @property
    def compared(self) -> int:
        """How many elements are compared."""
        return sum(int(known.sum()) for states in self.buffers.values() for _, known in states)


def run_program(  # noqa: PLR0913 - what to run, then how
    texts: Mapping[str, str],
    plan: ProgramPlan,
    arch: str,
    *,
    seed: int,
    repeats: int = 1,
    lengths: Mapping[str, Given] | None = None,
    progress: Progress | None = None,
    inputs: Inputs | None = None,
) -> RunReport:
    """Run `texts` on random input, or that of `inputs` (see `with_inputs`), and compare with NumPy.

    Each round has vectors of its own, all of which are compared as far as the contracts promise
    something. `lengths` are those of the run, by name, for each round or one for all of them;
    where there are none they are random. `repeats` launches follow each other on one load. Raises
    as `collc.run.run_texts`, and CollcError for lengths that the program cannot be run with.
    """
    fitting = checked_lengths(plan.program, (lengths or {}).items())

    def turn(simulator: Any, number: int) -> Outcome:  # noqa: ANN401 - see `fabsim_module`
        given = _given(plan, seed + number, inputs)
        of_run = lengths_of_run(plan.program, fitting, seed + number)
        copy_in(simulator, plan, given, seed + number)
        copy_lengths(simulator, plan, of_run)
        launch = simulator.launch("run", progress=progress)
        wanted = wanted_of(plan, given, of_run)
        del given  # of a whole wafer it takes gigabytes
        held = held_in(simulator, plan)
        wrong = compare(simulator, plan, wanted, held)
        results = {
            name: vectors[0] if plan.alone else vectors for name, (vectors, _) in held.items()
        }
        return Outcome(launch, wrong, of_run, wanted.compared, results)

    grid = plan.plans[0].collective.grid.whole
    elements = plan.program.rounds * sum(one.length for one, _ in _buffers(plan).values())
    size = f"{grid.width} x {grid.height} PEs of {elements} elements"
    return run_texts(texts, arch, size, repeats, turn)


def _given(plan: ProgramPlan, seed: int, inputs: Inputs | None) -> dict[str, Array]:
    """The vectors of a run as `inputs_of` has them, the caller's among them; of a collective that
    is alone these are without an axis for rounds."""
    drawn = inputs_of(plan, seed)
    if not plan.alone:
        return _with_inputs(drawn, inputs)
    given = _with_inputs({name: vectors[0] for name, vectors in drawn.items()}, inputs)
    return {name: vectors[None] for name, vectors in given.items()}


def held_in(simulator: Any, plan: ProgramPlan) -> Held:  # noqa: ANN401 - see `fabsim_module`
    """What the buffers hold in the machine."""
    grid, rounds = plan.plans[0].collective.grid.whole, plan.program.rounds
    return {
        name: read_vectors(simulator, grid, contract, rounds)
        for name, (contract, _) in _buffers(plan).items()
    }


def _buffers(plan: ProgramPlan) -> dict[str, tuple[Contract, Collective]]:
    """Every buffer as that of a contract, with a collective that uses it."""
    collectives = [one.collective for one in plan.plans]
    return {one.buffer: (one, c) for c in collectives for one in c.contract.in_memory}


def inputs_of(plan: ProgramPlan, seed: int) -> dict[str, Array]:
    """Random vectors for every buffer: an array [round, height, width, length] each."""
    found = {}
    for i, (name, (_, collective)) in enumerate(sorted(_buffers(plan).items())):
        seeds = (seed * 1_000_003 + 7919 * i + r for r in range(plan.program.rounds))
        first, *others = (make_input(collective, of_round) for of_round in seeds)
        found[name] = np.stack([first, *others]) if others else first[None]
    return found


def copy_in(simulator: Any, plan: ProgramPlan, given: dict[str, Array], seed: int) -> None:  # noqa: ANN401 - see `fabsim_module`
    """Give all PEs their vectors, and where they wait before calls the numbers for that."""
    grid = plan.plans[0].collective.grid.whole
    for name, (contract, _) in _buffers(plan).items():
        write_vectors(simulator, contract, given[name])
    if plan.skewed:
        dice = np.random.default_rng(seed).integers(0, 2**32, grid.width * grid.height, np.uint32)
        simulator.memcpy_h2d("dice", dice, 0, 0, grid.width, grid.height, 1)


def copy_lengths(simulator: Any, plan: ProgramPlan, lengths: Lengths) -> None:  # noqa: ANN401 - see `fabsim_module`
    """Give every PE the dynamic lengths."""
    grid = plan.plans[0].collective.grid.whole
    for name, of_rounds in lengths.items():
        everywhere = np.tile(np.array(of_rounds, np.uint16), grid.width * grid.height)
        simulator.memcpy_h2d(name, everywhere, 0, 0, grid.width, grid.height, len(of_rounds))


def wanted_of(plan: ProgramPlan, given: dict[str, Array], lengths: Lengths | None = None) -> Wanted:
    """The buffers after each round, and which of their elements the contracts make known."""
    rounds = [
        _carried_out(
            plan,
            {name: vectors[round_] for name, vectors in given.items()},
            {name: of_rounds[round_] for name, of_rounds in (lengths or {}).items()},
        )
        for round_ in range(plan.program.rounds)
    ]
    return Wanted(
        {name: [state[name] for state, _ in rounds] for name in given},
        next((broken for _, broken in rounds if broken), ""),
    )


def compare(simulator: Any, plan: ProgramPlan, wanted: Wanted, held: Held) -> str:  # noqa: ANN401 - see `fabsim_module`
    """What is not as wanted in the machine, whose buffers hold `held`, in words; empty when all is
    right."""
    if wanted.broken:
        return NOT_KEPT if plan.alone else f"`{wanted.broken}`: {NOT_KEPT}"
    if wanted.buffers and not wanted.compared:
        return NOTHING_KNOWN
    for name, states in wanted.buffers.items():
        by_round, wrong = held[name]
        if wrong:
            return f"`{name}`: {wrong}"
        for round_, (vectors, known) in enumerate(states):
            wrong = describe(vectors, by_round[round_], known)
            if wrong:
                where = f"`{name}` after round {round_ + 1}: "
                return wrong if plan.alone and len(wanted.buffers) == 1 else where + wrong
    return _tokens(simulator, plan)


def _carried_out(
    plan: ProgramPlan, given: dict[str, Array], lengths: Mapping[str, int]
) -> tuple[dict[str, tuple[Array, Bools]], str]:
    """The buffers after a round, which of their elements the contracts make known, and the first
    call that its schedule does not keep the contract of."""
    state = {name: (vectors, np.ones(vectors.shape, np.bool_)) for name, vectors in given.items()}
    choices = {one.name: one for one in plan.program.choices}
    rooted = {one.name: one for one in plan.program.rooted}
    broken = ""
    for call in plan.program.calls:
        of_call = choices[call].length if call in choices else None
        length = lengths[of_call.name] if of_call else 0
        schedule = plan.schedules[plan.index_of(call, length)]
        if call in rooted:
            schedule = build_schedule(rooted[call].by_root[lengths[rooted[call].root]])
        name = schedule.collective.contract.buffer
        if not name:
            continue
        if of_call:
            carried = carry_on_in_part(of_length(schedule, length), *state[name])
        else:
            carried = carry_on(schedule, *state[name])
        into = schedule.collective.contract.result
        if into is None:
            state[name] = carried.vectors, carried.known
        else:
            state[into.name] = _written_into(schedule.collective.grid, carried, *state[into.name])
        broken = broken or ("" if carried.kept else call)
    return state, broken


def _written_into(
    grid: Grid, results: Carried, vectors: Array, known: Bools
) -> tuple[Array, Bools]:
    """Another buffer with the results of a collective in it, and what is known of them."""
    found = on_site(grid, results.vectors), on_site(grid, results.known)
    return replaced_on_site(grid, vectors, found[0]), replaced_on_site(grid, known, found[1])


def _module_of(plan: ProgramPlan, name: str) -> str:
    """The path of a collective's module in the PE program."""
    if plan.alone:
        return name
    call_streams = enumerate(plan.call_streams or (plan,))
    own = next(i for i, s in call_streams if any(one.collective.name == name for one in s.plans))
    return f"{call_stream_name(own)}.{name}"


def _tokens(simulator: Any, plan: ProgramPlan) -> str:  # noqa: ANN401 - see `fabsim_module`
    """Whether every barrier has gathered the tokens it should have."""
    for one in plan.plans:
        if one.collective.contract.buffer or not one.phases:
            continue
        given = make_input(one.collective, 0)
        wanted = carry_on(one.schedule, given, np.ones(given.shape, np.bool_))
        found = tokens_of(simulator, _module_of(plan, one.collective.name), given)
        wrong = describe(wanted.vectors, found, wanted.known)
        if wrong:
            return f"tokens of `{one.collective.name}`: {wrong}"
    return ""


_BETWEEN = 0xA5  # every byte that is not of an element
_MOST_COPIED = 1 << 26  # bytes that are copied at once: a whole wafer's would be needed twice


def _blocks_of_rows(width: int, height: int, bytes_of_pe: int) -> Iterator[slice]:
    """The rows of PEs of a grid, so many at a time that they take little memory."""
    count = max(1, _MOST_COPIED // max(1, width * bytes_of_pe))
    return (slice(y, min(y + count, height)) for y in range(0, height, count))


def write_vectors(simulator: Any, contract: Contract, vectors: Array) -> None:  # noqa: ANN401 - see `fabsim_module`
    """Give all PEs their vectors, [round, height, width, element]: one PE's rounds in a row."""
    rounds, height, width, _ = vectors.shape
    held = contract.span_of(contract.held)
    for rows in _blocks_of_rows(width, height, rounds * held * vectors.itemsize):
        part = vectors[:, rows].transpose(1, 2, 0, 3)
        memory = np.empty((*part.shape[:3], held), vectors.dtype)
        memory.view(np.uint8)[...] = _BETWEEN
        memory[..., :: contract.stride] = part
        words = words_of(memory)
        place = (0, rows.start, width, len(memory), len(words) // (width * len(memory)))
        simulator.memcpy_h2d(contract.buffer, words, *place)


def read_vectors(
    simulator: Any,  # noqa: ANN401 - see `fabsim_module`
    grid: Grid,
    contract: Contract,
    rounds: int,
) -> tuple[Array, str]:
    """The vectors of all PEs, as they are written; and what is wrong between their elements, in
    words, or nothing."""
    dtype, held = DTYPE[contract.element], contract.span_of(contract.held)
    one = words_of(np.zeros(rounds * held, dtype))
    apart = np.arange(held) % contract.stride > 0
    vectors = np.empty((rounds, grid.height, grid.width, contract.held), dtype)
    intact = True
    for rows in _blocks_of_rows(grid.width, grid.height, rounds * held * dtype.itemsize):
        place = (0, rows.start, grid.width, rows.stop - rows.start, len(one))
        found = np.asarray(simulator.memcpy_d2h(contract.buffer, one.dtype, *place)).view(dtype)
        memory = found.reshape(-1, grid.width, rounds, held)
        between = np.ascontiguousarray(memory[..., apart]).view(np.uint8)
        intact = intact and bool((between == _BETWEEN).all())
        vectors[:, rows] = memory[..., :: contract.stride].transpose(2, 0, 1, 3)
    return vectors, "" if intact else "what is between its elements has changed"
