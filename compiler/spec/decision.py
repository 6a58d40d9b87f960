"""What a program leaves to the compiler, and what that has chosen."""

from dataclasses import dataclass


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
