"""What a collective may use, and what is expected of it."""

from dataclasses import dataclass

from collc.base.diagnostics import Span


@dataclass(frozen=True)
class Reserved:
    """Numbers that the program around a collective, or around several, uses, in rising order; none
    is for a collective; and so much of a PE's memory, besides `kept_bytes` in place of what the
    target keeps. `clauses` are the places that say so."""

    colors: tuple[int, ...] = ()
    input_queues: tuple[int, ...] = ()
    output_queues: tuple[int, ...] = ()
    tasks: tuple[int, ...] = ()
    dsrs: tuple[int, ...] = ()
    memory_bytes: int = 0
    kept_bytes: int | None = None
    clauses: tuple[Span, ...] = ()


@dataclass(frozen=True)
class TimeStamps:
    """What time stamps have to themselves: a color, the queues of a number, a task, a DSR of a
    number in each file."""

    color: int
    queue: int
    task: int
    dsr: int


@dataclass(frozen=True)
class Limits:
    """What the collective may use; None is the target's own limit."""

    colors: int | None
    colors_span: Span | None
    reserved: Reserved = Reserved()


@dataclass(frozen=True)
class Expectation:
    """`expect cycles <= 1.4 * bound`: predicted `quantity` ("cycles", "colors", "memory_bytes")
    compared with `factor * bound` if `times_bound`, else with `factor`."""

    quantity: str
    relation: str
    factor: float
    times_bound: bool
    text: str
    span: Span
