"""A whole file: its parameters, its collectives, and what it runs of them."""

from dataclasses import field
from enum import Enum

from collc.base.diagnostics import Diagnostic, Span
from collc.base.values import dataclass
from collc.spec.collective import Collective, Origin, Reserved, TimeStamps
from collc.spec.contract import RunLength


@dataclass(frozen=True)
class Parameter:
    """A parameter and the value it got."""

    name: str
    value: int
    span: Span


@dataclass(frozen=True)
class Selection:
    """A collective with a length that is given when the program runs: `select by n { ... }`, or one
    way for all lengths.

    `names` are those of its alternatives, each a collective of the Spec, for short vectors first.
    Alternative i is for lengths up to `limits[i]`, the last one for all that are left; None is a
    limit that is left to the compiler.
    """

    name: str
    length: RunLength
    names: tuple[str, ...]
    limits: tuple[int | None, ...]
    span: Span
    origin: Origin = field(compare=False, repr=False)

    def chosen(self, length: int) -> str:
        """The alternative for a length; all limits are known."""
        below = sum(limit is not None and limit < length for limit in self.limits)
        return self.names[below]

    def lengths(self, index: int) -> tuple[int, int]:
        """The first and the last length of an alternative; all limits are known."""
        limits = [0, *(limit or 0 for limit in self.limits), self.length.most]
        return limits[index] + 1, limits[index + 1]


@dataclass(frozen=True)
class RootChoice:
    """A collective with a root that is given when the program runs: `broadcast from r < P`.

    `root` is its name; it is a rank below `ranks`. `names` are collectives of the Spec, for PEs
    behind the root in the order of the ranks, for the root, and for PEs before it: their roots are
    the first rank, one within the line, and the last. `places[r]` is where rank r stands on the
    line, or on the row that its path is unfolded to, `axis` its axis. With a `length` that is given
    as well. `by_root` is the collective with each rank for a root.
    """

    name: str
    root: str
    ranks: int
    names: tuple[str, str, str]
    axis: str
    places: tuple[int, ...]
    span: Span
    by_root: tuple[Collective, ...] = field(compare=False, repr=False)
    length: RunLength | None = None


class Reconfigure(Enum):
    """How a color gets from one use of a program to the next, spelled as in the language."""

    AUTO = "auto"  # what costs least: a color for each use where there are enough of them
    TEARDOWN = "teardown"  # colors are torn down behind every use


@dataclass(frozen=True)
class Program:
    """What a program of several calls runs: `rounds` times the collectives of `calls`, by name;
    those of `selections` and `rooted` stand for their alternatives.

    `colors` is the most that all of them may use together; None is the target's own limit.
    `reserved` is what the program around them uses. The calls whose indices are in `together` are
    in flight at the same time as the one before them.
    """

    calls: tuple[str, ...]
    rounds: int
    colors: int | None
    colors_span: Span | None
    reconfigure: Reconfigure
    span: Span
    reserved: Reserved = field(default_factory=Reserved)
    selections: tuple[Selection, ...] = ()
    together: tuple[int, ...] = ()
    rooted: tuple[RootChoice, ...] = ()

    @property
    def choices(self) -> tuple[Selection | RootChoice, ...]:
        """What stands for several collectives."""
        return (*self.selections, *self.rooted)

    @property
    def alternatives(self) -> dict[str, tuple[str, ...]]:
        """What the calls that stand for several collectives stand for."""
        return {one.name: one.names for one in self.choices}

    @property
    def roots(self) -> tuple[tuple[str, int], ...]:
        """The roots that are given when the program runs, each with how many ranks may be one."""
        ranks: dict[str, int] = {}
        for one in self.rooted:
            ranks[one.root] = min(one.ranks, ranks.get(one.root, one.ranks))
        return tuple(sorted(ranks.items()))

    @property
    def given(self) -> tuple[tuple[str, int, int], ...]:
        """All numbers that are given when the program runs, each with the least and the most that
        it can be."""
        lengths = ((name, 1, most) for name, most in self.lengths)
        return (*lengths, *((name, 0, ranks - 1) for name, ranks in self.roots))

    @property
    def lengths(self) -> tuple[tuple[str, int], ...]:
        """The lengths that are given when the program runs, each with the most that it can be."""
        most: dict[str, int] = {}
        for given in (one.length for one in self.choices):
            if given is not None:
                most[given.name] = min(given.most, most.get(given.name, given.most))
        return tuple(sorted(most.items()))

    @property
    def has_lengths(self) -> bool:
        """Whether vectors have lengths that are given when the program runs."""
        return any(one.length is not None for one in self.choices)

    @property
    def turns(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the calls, those together that are in flight at the same time."""
        turns: list[tuple[int, ...]] = []
        for call in range(len(self.calls)):
            with_last = (*turns.pop(), call) if call in self.together else (call,)
            turns.append(with_last)
        return tuple(turns)

    @property
    def goes_on(self) -> bool:
        """Whether something follows the first turn."""
        return len(self.turns) * self.rounds > 1


def program_of_one(collective: Collective) -> Program:
    """The program that calls one collective once, within the limits of that."""
    limits = collective.limits
    most = (limits.colors, limits.colors_span, Reconfigure.AUTO)
    return Program((collective.name,), 1, *most, collective.span, limits.reserved)


@dataclass(frozen=True)
class Spec:
    """A whole file: target name ("wse2" or "wse3"), parameters, the collectives it runs in order of
    their first calls. `program` is None where that is one collective, called once. `imports` are
    the files that were read beside it; what they declare is part of the Spec like all else.
    `notices` are warnings about how the file is written. The emitted library is called `library`,
    or as the file if that is empty.
    """

    file: str
    target: str
    parameters: tuple[Parameter, ...]
    collectives: tuple[Collective, ...]
    program: Program | None = None
    time_stamps: TimeStamps | None = None
    library: str = ""
    imports: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[Diagnostic, ...] = field(default=(), compare=False)
