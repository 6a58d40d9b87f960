"""Running a program on fabsim and judging all its rounds."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collc.base.columns import Array, Bools
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.emit.library import libraries_of
from collc.emit.one_turn import by_turns
from collc.emit.spelling import spelled, spellings_of
from collc.plan.dynamic_lengths import Given, Lengths, checked_lengths, lengths_of_run
from collc.plan.plan import ProgramPlan
from collc.run import OfCall, Outcome, Progress, RunReport, run_texts, tokens_of
from collc.run.expected import (
    NOT_KEPT,
    Carried,
    carry_on,
    carry_on_in_part,
    describe,
    make_input,
    marked_after_call,
    on_site,
    replaced_on_site,
)
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import TOKEN
from collc.schedule.lengths import of_length
from collc.schedule.promised import promised
from collc.spec import Collective, Contract
from collc.spec.arrays import DTYPE, words_of

Inputs = Mapping[str, ArrayLike]
# What buffers hold by name, an array [round, height, width, length] each; and what is wrong
# between the elements, in words, or nothing.
Held = Mapping[str, tuple[Array, str]]


Due = Mapping[str, Schedule]  # what collectives carry out, by name


def _with_inputs(drawn: Mapping[str, Array], inputs: Inputs | None) -> dict[str, Array]:
    """The vectors of a run by buffer, the caller's in place of those drawn at random.

    Shapes are those of the drawn ones, [round, height, width, length]; axes of size 1 may be left
    out. Raises ValueError for a buffer that is not there,
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
        shape = _of_rounds(wanted).shape
        raise ValueError(f"input {name} has shape {array.shape}, the program's is {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(wanted.dtype)
    if wanted.dtype.kind in "iu" and not np.array_equal(cast, array):
        what = "numbers" if np.isfinite(array).all() else "NaN or infinities"
        raise ValueError(f"input {name} has {what} that {wanted.dtype} cannot hold")
    return np.ascontiguousarray(cast.reshape(wanted.shape))


def _of_rounds(vectors: Array) -> Array:
    """What a caller sees of vectors: they have an axis for rounds if there are several."""
    return vectors[0] if len(vectors) == 1 else vectors


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


KERNEL = "pe_program.csl"
NOTHING_KNOWN = "no element was compared: no contract says what a buffer holds after the last call"


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is due of the collectives; what the buffers hold after each round, and which elements of
    it are known; a call whose contract its schedule has not kept, if there is one; and for each
    call of a round that has a buffer how many of the known elements are its results, or made of
    them."""

    due: Due
    buffers: dict[str, list[tuple[Array, Bools]]]
    broken: str
    of_calls: tuple[OfCall, ...]

    @property
    def compared(self) -> int:
        """How many elements are compared."""
        return sum(int(known.sum()) for states in self.buffers.values() for _, known in states)


def run_program(  # noqa: PLR0913 - what to run, then how
    texts: Mapping[str, str],
    plan: ProgramPlan,
    schedules: Sequence[Schedule],
    arch: str,
    *,
    seed: int,
    repeats: int = 1,
    lengths: Mapping[str, Given] | None = None,
    progress: Progress | None = None,
    inputs: Inputs | None = None,
    most_idle: int = 0,
) -> RunReport:
    """Run `texts` on random input, or that of `inputs` (see `_with_inputs`), and compare with what
    comes of the schedules of the collectives.

    Each round has vectors of its own, all of which are compared as far as the contracts promise
    something. Where that leaves nothing of some call, its turns are run again one by one, in their
    order, each on new vectors, and compared. `lengths` are those of the run, by name, for each
    round or one for all of them; where there are none they are random. `repeats` launches follow
    each other on one load. PEs wait before each call up to `most_idle` turns of an empty loop, if
    the kernel has a parameter for that. Raises as `collc.run.run_texts`, and CollcError for lengths
    that the program cannot be run with.
    """
    fitting = checked_lengths(plan.program, (lengths or {}).items())
    due = {one.collective.name: one for one in schedules}

    def turn(simulator: Any, number: int) -> Outcome:  # noqa: ANN401 - see `fabsim_module`
        given = _with_inputs(inputs_of(plan, seed + number), inputs)
        of_run = lengths_of_run(plan.program, fitting, seed + number)
        copy_in(simulator, plan, given)
        copy_lengths(simulator, plan, of_run)
        launch = simulator.launch("run", progress=progress)
        wanted = wanted_of(plan, due, given, of_run)
        del given  # of a whole wafer it takes gigabytes
        held = held_in(simulator, plan)
        wrong = compare(simulator, plan, wanted, held)
        results = {name: _of_rounds(vectors) for name, (vectors, _) in held.items()}
        return Outcome(launch, wrong, of_run, wanted.compared, wanted.of_calls, results)

    idle = {"most_idle": most_idle, "idle_seed": seed % (1 << 16)} if most_idle else {}
    report = run_texts(texts, arch, _size(plan), repeats, turn, idle)
    unseen = any(not one.elements for one in report.of_calls)
    if not unseen or len(plan.program.turns) == 1 or report.problem not in ("", NOTHING_KNOWN):
        return report
    return _by_turns(texts, plan, due, arch, report, seed, progress, idle)


def _size(plan: ProgramPlan) -> str:
    grid = plan.plans[0].collective.grid.whole
    elements = plan.program.rounds * sum(one.length for one, _ in _buffers(plan).values())
    return f"{grid.width} x {grid.height} PEs of {elements} elements"


def _by_turns(  # noqa: PLR0913, PLR0917 - what to run, then how
    texts: Mapping[str, str],
    plan: ProgramPlan,
    due: Due,
    arch: str,
    report: RunReport,
    seed: int,
    progress: Progress | None,
    idle: Mapping[str, int],
) -> RunReport:
    """The report of a run in which nothing is left of some call, with what its turns leave that are
    run one by one: with the same library, on one load, in their order, on new vectors each."""
    grid, turns = plan.plans[0].collective.grid.whole, plan.program.turns
    kernel, first, end = by_turns(texts[KERNEL])
    of_calls: list[OfCall] = []

    def turn(simulator: Any, number: int) -> Outcome:  # noqa: ANN401 - see `fabsim_module`
        given = inputs_of(plan, seed + number)
        copy_in(simulator, plan, given)
        copy_lengths(simulator, plan, report.lengths)
        for name, value in ((first, number), (end, number + 1)):
            for y, x in np.ndindex(grid.height, grid.width):
                simulator.write_variable(name, x, y, np.uint16(value).tobytes())
        launch = simulator.launch("run", progress=progress)
        wanted = wanted_of(plan, due, given, report.lengths, turns[number])
        held = held_in(simulator, plan)
        wrong = compare(simulator, plan, wanted, held, number + 1)
        of_calls.extend(wanted.of_calls)
        if wrong in ("", NOTHING_KNOWN):
            return Outcome(launch, "")
        names = " and ".join(plan.program.calls[call] for call in turns[number])
        return Outcome(launch, f"{names} by itself: {wrong}")

    again = run_texts(dict(texts) | {KERNEL: kernel}, arch, _size(plan), len(turns), turn, idle)
    found = tuple(of_calls)
    nothing = "" if any(one.elements for one in found) else report.problem
    return replace(
        report,
        problem=again.problem or nothing,
        verified=not (again.problem or nothing),
        compared=report.compared + sum(one.elements for one in found),
        of_calls=found,
        by_turns=True,
        wall_seconds=report.wall_seconds + again.wall_seconds,
    )


def held_in(simulator: Any, plan: ProgramPlan) -> Held:  # noqa: ANN401 - see `fabsim_module`
    """What the buffers hold in the machine."""
    grid, rounds = plan.plans[0].collective.grid.whole, plan.program.rounds
    return {
        name: read_vectors(simulator, grid, contract, rounds)
        for name, contract in _in_memory(plan).items()
    }


def _in_memory(plan: ProgramPlan) -> dict[str, Contract]:
    """Every buffer by its name, as that of a contract whose buffer is called as the emitted text
    calls it."""
    symbols = spellings_of(plan).symbols
    return {
        name: replace(contract, buffer=symbols.get(name, name))
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


def copy_in(simulator: Any, plan: ProgramPlan, given: dict[str, Array]) -> None:  # noqa: ANN401 - see `fabsim_module`
    """Give all PEs their vectors."""
    for name, contract in _in_memory(plan).items():
        write_vectors(simulator, contract, given[name])


def copy_lengths(simulator: Any, plan: ProgramPlan, lengths: Lengths) -> None:  # noqa: ANN401 - see `fabsim_module`
    """Give every PE the dynamic lengths."""
    grid, symbols = plan.plans[0].collective.grid.whole, spellings_of(plan).symbols
    for name, of_rounds in lengths.items():
        everywhere = np.tile(np.array(of_rounds, np.uint16), grid.width * grid.height)
        place = (0, 0, grid.width, grid.height, len(of_rounds))
        simulator.memcpy_h2d(symbols.get(name, name), everywhere, *place)


def wanted_of(
    plan: ProgramPlan,
    due: Due,
    given: dict[str, Array],
    lengths: Lengths | None = None,
    calls: Sequence[int] | None = None,
) -> Wanted:
    """The buffers after each round of all its calls, or of those with these indices, and which of
    their elements the contracts make known."""
    made = range(len(plan.program.calls)) if calls is None else calls
    rounds = [
        _carried_out(
            plan,
            due,
            {name: vectors[round_] for name, vectors in given.items()},
            {name: of_rounds[round_] for name, of_rounds in (lengths or {}).items()},
            made,
        )
        for round_ in range(plan.program.rounds)
    ]
    return Wanted(
        due,
        {name: [one.state[name] for one in rounds] for name in given},
        next((one.broken for one in rounds if one.broken), ""),
        tuple(
            OfCall(of_call[0].name, sum(one.elements for one in of_call))
            for of_call in zip(*(one.of_calls for one in rounds), strict=True)
        ),
    )


def compare(
    simulator: Any,  # noqa: ANN401 - see `fabsim_module`
    plan: ProgramPlan,
    wanted: Wanted,
    held: Held,
    turns: int | None = None,
) -> str:
    """What is not as wanted in the machine, whose buffers hold `held`, in words; empty when all is
    right. Of a round so many turns have been made, or all."""
    if wanted.broken:
        return f"`{wanted.broken}`: {NOT_KEPT}"
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
                several = len(wanted.buffers) > 1 or len(states) > 1
                return where + wrong if several else wrong
    made = (plan.program.calls[call] for turn in plan.program.turns[:turns] for call in turn)
    return _tokens(simulator, plan, wanted.due, set(made))


@dataclass(frozen=True, eq=False)
class _Round:
    """The buffers after a round, and which of their elements the contracts make known; the first
    call that its schedule does not keep the contract of; and for each call with a buffer how many
    of the known elements are its results, or made of them."""

    state: dict[str, tuple[Array, Bools]]
    broken: str
    of_calls: tuple[OfCall, ...]


def _carried_out(
    plan: ProgramPlan,
    due: Due,
    given: dict[str, Array],
    lengths: Mapping[str, int],
    calls: Sequence[int],
) -> _Round:
    """These calls carried out, one after the other."""
    state = {name: (vectors, np.ones(vectors.shape, np.bool_)) for name, vectors in given.items()}
    choices = {one.name: one for one in plan.program.choices}
    rooted = {one.name: one for one in plan.program.rooted}
    broken = ""
    made: list[Schedule] = []
    names: list[str] = []
    for call in (plan.program.calls[index] for index in calls):
        of_call = choices[call].length if call in choices else None
        length = lengths[of_call.name] if of_call else 0
        schedule = due[plan.plans[plan.index_of(call, length)].collective.name]
        if call in rooted:
            schedule = build_schedule(rooted[call].by_root[lengths[rooted[call].root]])
        name = schedule.collective.contract.buffer
        if not name:
            continue
        if of_call:
            schedule = of_length(schedule, length)
            carried = carry_on_in_part(schedule, *state[name])
        else:
            carried = carry_on(schedule, *state[name])
        made.append(schedule)
        names.append(call)
        into = schedule.collective.contract.result
        if into is None:
            state[name] = carried.vectors, carried.known
        else:
            contract, grid = schedule.collective.contract, schedule.collective.grid
            most = length if contract.run_length else contract.length
            state[into.name] = _written_into(grid, carried, *state[into.name], most)
        broken = broken or ("" if carried.kept else call)
    seen = _seen(made, {name: mask for name, (_, mask) in state.items()})
    return _Round(state, broken, tuple(map(OfCall, names, seen)))


_MOST_MARKS = 8  # calls that are followed at once, each with a bit for every element


def _seen(made: Sequence[Schedule], known: Mapping[str, Bools]) -> Iterator[int]:
    """For each call how many of the elements that are known in the end are its results, or made of
    them."""
    if len(made) == 1:  # a grid's marks take much room
        yield _left(made[0], known)
        return
    for first in range(0, len(made), _MOST_MARKS):
        marks = {name: np.zeros(mask.shape, np.uint8) for name, mask in known.items()}
        for index, schedule in enumerate(made):
            mark = 1 << (index - first) if first <= index < first + _MOST_MARKS else 0
            contract, grid = schedule.collective.contract, schedule.collective.grid
            found = marked_after_call(schedule, marks[contract.buffer], mark)
            if contract.result is None:
                marks[contract.buffer] = found
            else:
                there = marks[contract.result.name]
                marked = on_site(grid, found)[..., : contract.length]
                marks[contract.result.name] = _in_first(grid, there, marked)
        for bit in range(min(_MOST_MARKS, len(made) - first)):
            yield sum(int((known[name] & (of >> bit & 1 > 0)).sum()) for name, of in marks.items())


def _left(schedule: Schedule, known: Mapping[str, Bools]) -> int:
    """How many of the elements that are known are what the last call has promised."""
    contract, grid = schedule.collective.contract, schedule.collective.grid
    name = contract.result.name if contract.result else contract.buffer
    there = on_site(grid, known[name][..., : contract.length])
    return int((there & promised(schedule)[:, :, None]).sum())


def _written_into(
    grid: Grid, results: Carried, vectors: Array, known: Bools, most: int
) -> tuple[Array, Bools]:
    """Another buffer with the first so many elements of the results of a collective in it, and what
    is known of them."""
    found = on_site(grid, results.vectors)[..., :most], on_site(grid, results.known)[..., :most]
    return _in_first(grid, vectors, found[0]), _in_first(grid, known, found[1])


V = TypeVar("V", bound=np.generic)


def _in_first(grid: Grid, vectors: NDArray[V], found: NDArray[V]) -> NDArray[V]:
    """The vectors with the first elements replaced on the site of a collective's grid."""
    most = found.shape[-1]
    first = replaced_on_site(grid, vectors[..., :most], found)
    return np.concatenate([first, vectors[..., most:]], axis=-1)


def _token_named(plan: ProgramPlan, name: str) -> str:
    """The path of a barrier's token in the PE program."""
    called = spellings_of(plan).calls.get(name, name)
    return next(
        f"{library.module}.{one.prefix}{TOKEN}"
        for library in libraries_of(spelled(plan), "")
        for one in library.all_collectives
        if one.name == called
    )


def _tokens(
    simulator: Any,  # noqa: ANN401 - see `fabsim_module`
    plan: ProgramPlan,
    due: Due,
    made: Set[str],
) -> str:
    """Whether every barrier that was called has gathered the tokens it should have."""
    for one in plan.plans:
        if one.collective.contract.buffer or not one.phases or one.collective.name not in made:
            continue
        given = make_input(one.collective, 0)
        wanted = carry_on(due[one.collective.name], given, np.ones(given.shape, np.bool_))
        found = tokens_of(simulator, _token_named(plan, one.collective.name), given)
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
