"""Time stamps in an emitted program: what they take, and what the templates print of them.

Each PE writes down when it begins and ends. Clocks of PEs are not alike, so PE (0, 0) sends a
signal before: it goes down the first column and along all rows, and the stamp that a PE takes when
it comes is its reference, as in the vendor's bandwidth test and [hpdc]. By it the PEs also begin
together: each waits as long as the host tells it.
"""

from collections.abc import Iterator
from dataclasses import replace

from collc.base.diagnostics import CollcError, Diagnostic, Span
from collc.base.values import dataclass
from collc.spec import Reserved, Spec, TimeStamps
from collc.target import TARGETS

WORDS = 9  # of 16 bits: reference, begin and end, three each
CODE_BYTES = 420  # an estimate: a hundred instructions of the module and of <time>
MEMORY_BYTES = CODE_BYTES + 2 * (2 * WORDS + 3 + 1) + 4
# Cycles from a router to the next: WSE-2 [doc], WSE-3 [study].
HOP = {"wse2": 1, "wse3": 2}
# Cycles of taking a time stamp, three words of a counter: WSE-3 [study]; WSE-2 [meas]
# (docs/machine.md, M4-16).
STAMP = {"wse2": 6, "wse3": 12}
RAMPS = 5
SPIN = 100
LATE_CYCLES = 200  # that PEs begin late at most where nothing else is asked for


@dataclass(frozen=True)
class ClockModel:
    """What the templates print: numbers of resources, the routes of the signal by conditions on x
    and y, how many turns of an empty loop PE (0, 0) lets go by before it, and the cycles of a hop
    unless the host says others; those that a signal takes beside its hops; the least that a PE
    waits, and by how many cycles PEs begin late at most unless the host says others."""

    color: int
    queue: int
    task: int
    dsr: int
    width: int
    height: int
    routes: tuple[tuple[str, str, str], ...]
    pause: int
    hop: int
    ramps: int
    spin: int
    late: int

    @property
    def alone(self) -> bool:
        """Whether there is one PE, which needs no signal."""
        return self.width == self.height == 1


def with_time_stamps(spec: Spec) -> Spec:
    """The Spec with a color, a queue, a task id, a DSR and memory kept for time stamps: the last
    ones that are free. Raises CollcError where none is."""
    target, program = TARGETS[spec.target], spec.program
    others = [one.limits.reserved for one in spec.collectives]
    kept = [*others, *((program.reserved,) if program else ())]
    stamps = TimeStamps(
        color=_last("color", target.colors, [n for one in kept for n in one.colors]),
        queue=_last(
            "queue of both kinds",
            [n for n in target.input_queues if n in target.output_queues and n < _QUEUES],
            [n for one in kept for n in (*one.input_queues, *one.output_queues)],
        ),
        task=_last(
            "task id",
            target.task_ids_beside(target.colors),
            [n for one in kept for n in one.tasks],
        ),
        dsr=_last("DSR", target.dsr_ids, [n for one in kept for n in one.dsrs]),
    )
    collectives = tuple(
        replace(
            one,
            limits=replace(one.limits, reserved=_beside(one.limits.reserved, stamps, one.span)),
        )
        for one in spec.collectives
    )
    if program is not None:
        program = replace(program, reserved=_beside(program.reserved, stamps, program.span))
    return replace(spec, collectives=collectives, program=program, time_stamps=stamps)


_QUEUES = 6  # numbers that either target has of both kinds, for files that serve both


def _last(what: str, there: tuple[int, ...] | list[int], kept: list[int]) -> int:
    """The last number that nobody keeps."""
    free = [n for n in there if n not in kept]
    if not free:
        message = f"time stamps need a {what} of their own, and all are reserved"
        raise CollcError([Diagnostic("C505", message, None, help="build without --timed")])
    return free[-1]


def _beside(reserved: Reserved, stamps: TimeStamps, span: Span) -> Reserved:
    """What is reserved, with what the time stamps take."""
    return replace(
        reserved,
        colors=tuple(sorted({*reserved.colors, stamps.color})),
        input_queues=tuple(sorted({*reserved.input_queues, stamps.queue})),
        output_queues=tuple(sorted({*reserved.output_queues, stamps.queue})),
        tasks=tuple(sorted({*reserved.tasks, stamps.task})),
        dsrs=tuple(sorted({*reserved.dsrs, stamps.dsr})),
        memory_bytes=MEMORY_BYTES,
        clauses=reserved.clauses or (span,),
    )


def clock_model(spec: Spec, size: tuple[int, int]) -> ClockModel | None:
    """The model for a program of so many columns and rows; None where it has no time stamps."""
    stamps = spec.time_stamps
    if stamps is None:
        return None
    width, height = size
    return ClockModel(
        color=stamps.color,
        queue=stamps.queue,
        task=stamps.task,
        dsr=stamps.dsr,
        width=width,
        height=height,
        routes=tuple(_routes(width, height)),
        # A turn takes five cycles or more, and the host's command goes as far as the signal: so all
        # PEs listen when it is sent.
        pause=width + height + 200,
        hop=HOP[spec.target],
        ramps=RAMPS,
        spin=SPIN,
        late=LATE_CYCLES,
    )


def _routes(width: int, height: int) -> Iterator[tuple[str, str, str]]:
    """Condition, side that is received from, sides that are sent to."""
    east = ("EAST",) if width > 1 else ()
    south = ("SOUTH",) if height > 1 else ()
    yield "x == 0 and y == 0", "RAMP", ", ".join((*east, *south))
    if height > 2:
        yield f"x == 0 and y > 0 and y < {height - 1}", "NORTH", ", ".join((*east, "SOUTH", "RAMP"))
    if height > 1:
        yield f"x == 0 and y == {height - 1}", "NORTH", ", ".join((*east, "RAMP"))
    if width > 2:
        yield f"x > 0 and x < {width - 1}", "WEST", "EAST, RAMP"
    if width > 1:
        yield f"x == {width - 1}", "WEST", "RAMP"
