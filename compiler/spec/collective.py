"""One collective with all that is said of it."""

from dataclasses import field, replace

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.spec.contract import Contract
from collc.spec.steps import Step


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


@dataclass(frozen=True)
class Gap:
    """A number that a program leaves to the compiler: "root" of a line of so many ranks, or the
    `name` of a parameter of a "tree" or an "algorithm" there. `place` is the rank at which the
    algorithm is said to start or end; None where nothing is said."""

    what: str
    name: str
    ranks: int
    place: int | None = None


@dataclass(frozen=True)
class Considered:
    """A way to carry out a collective. It takes `at_least` so many cycles; `cycles`, `colors` and
    `memory_bytes` are None where that, or a refusal, was reason enough to look no further.
    `terms` says where the cycles go, and sums up to them."""

    text: str
    at_least: int
    cycles: int | None
    colors: int | None
    memory_bytes: int | None
    refused: str
    terms: tuple[tuple[str, int], ...]

    @property
    def term(self) -> str:
        """What most of the cycles go into."""
        return max(self.terms, key=lambda term: term[1])[0] if self.terms else ""


@dataclass(frozen=True)
class Decision:
    """What was chosen for a collective, and what lost: first what was predicted, the fastest
    first, then what was ruled out. `left_out` are plans that the search had no budget left for."""

    chosen: Considered
    lost: tuple[Considered, ...]
    left_out: tuple[str, ...] = ()

    @property
    def runner_up(self) -> Considered | None:
        """The next best that was predicted."""
        return next((other for other in self.lost if other.cycles is not None), None)


@dataclass(frozen=True, eq=False)
class Undecided:
    """What a collective leaves to the compiler.

    It is everything (`run auto`) or the numbers of `gaps`. `extents` are the numbers of ranks
    along the lines of its grid, of a path or a single line one number; `ordered` says whether
    an order of the ranks is given, `root` where it has to start or end, if that is said.
    `collc.language.elaborate` has the collective in full once that is chosen.
    """

    gaps: tuple[Gap, ...]
    extents: tuple[int, ...]
    ordered: bool
    root: tuple[int, int] | None
    span: Span


@dataclass(frozen=True, eq=False)
class Origin:
    """What something was elaborated from; the language says what that is, and reads it again."""


@dataclass(frozen=True)
class Collective:
    """One collective: contract, grid, steps in order, limits, expectations.

    As long as it is `undecided` it has no steps; `decision` is how it came to them. `root` is the
    PE that a rooted contract starts from or ends at. None: reductions end at rank 0 and a broadcast
    step says where it starts. `path` is the order of all PEs that its other steps go along; None:
    they go along rows and columns. Where a contract is about slices, ranks of a grid are counted
    along the axis `counts_along`, line by line. Of one with a `root_of_call`, a PE that is not the
    root has to do the same for every root on that side. `fixed` is where it is said that operands
    are combined in the order of ranks, one by one (`order fixed`). `origin` is None for one that
    was not read.
    """

    name: str
    contract: Contract
    grid: Grid
    steps: tuple[Step, ...]
    limits: Limits
    expectations: tuple[Expectation, ...]
    span: Span
    root: tuple[int, int] | None = None
    path: Path | None = None
    undecided: Undecided | None = None
    decision: Decision | None = field(default=None, compare=False)
    counts_along: str = "x"
    root_of_call: bool = False
    fixed: Span | None = None
    origin: Origin | None = field(default=None, compare=False, repr=False)

    @property
    def one_by_one(self) -> bool:
        """Whether each rank has to be combined with the result of all before it: the order is said
        to be fixed, and the bits may depend on it."""
        return self.fixed is not None and self.contract.rounds

    @property
    def lined(self) -> Grid:
        """The grid whose rows and columns its steps go along: with a path a row, the path's."""
        if self.path is None:
            return self.grid
        return replace(self.grid, width=len(self.path), height=1)

    def pe_at(self, axis: str, place: int, line: int = 0) -> tuple[int, int]:
        """The PE at a place of a line along an axis; with a path, of the path."""
        if self.path is not None:
            return self.path.places[place]
        return (place, line) if axis == "x" else (line, place)
