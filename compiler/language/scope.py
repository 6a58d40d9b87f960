"""What an expression may name: numbers, ranks and functions; and what evaluating may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.problems import ProblemError, problem
from collc.language.syntax import Expression

Binding = int | ProblemError | None
"""What a name stands for: a number, a problem met on use, or something already reported."""

Key = tuple[str, tuple[int, ...], bool]  # parameter that varies, the others, whether a condition
Memoized = dict[Key, tuple[Bools, Ints]]  # what is known, and its value; a truth is 0 or 1
Found = dict[tuple[tuple[int, ...], bool], int | bool]  # arguments, whether a condition; its value

# Limits on the work that a file may ask for, since its text is untrusted; not numbers of a machine.
MAX_EVALUATIONS = 2_000_000  # of expressions, each for any number of ranks
MAX_VALUES = 400_000_000  # that all of these find, one for each rank


class Budget:
    """What evaluating the algorithms of a file may still take."""

    def __init__(self) -> None:
        self.memoized = 0
        self._evaluations = 0
        self._values = 0

    def take(self, expression: Expression, size: int) -> None:
        """Count one evaluation for `size` ranks; raises `ProblemError` when there are too many."""
        self._evaluations += 1
        self._values += size
        if not self._is_kept():
            message = f"working out the steps takes more than {MAX_EVALUATIONS} evaluations"
            help = "take fewer steps, or name what is used often with `where`"
            raise problem("C157", message, expression.span, help=help)

    def take_all(self, taken: Budget) -> bool:
        """Count what was taken of another budget, if there is as much left."""
        both = Budget()
        both.memoized = self.memoized + taken.memoized
        both._evaluations = self._evaluations + taken._evaluations
        both._values = self._values + taken._values
        if both._is_kept():
            vars(self).update(vars(both))
        return both._is_kept()

    def _is_kept(self) -> bool:
        return self._evaluations <= MAX_EVALUATIONS and self._values <= MAX_VALUES


@dataclass(frozen=True)
class FunctionOf:
    """A function declared by `where`, with what it sees."""

    declaration: syntax.LocalDecl
    scope: Scope
    memoized: Memoized = field(default_factory=dict, compare=False)
    found: Found = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Scope:
    """What an expression may name: numbers, functions, and the ranks of an `each` with their name;
    and what else the file declares, for messages. Without a `budget` the effort is limited by
    whoever evaluates it."""

    numbers: Mapping[str, Binding]
    others: Mapping[str, str] = field(default_factory=dict)  # name -> "tree", "grid", ...
    budget: Budget | None = None
    functions: Mapping[str, FunctionOf] = field(default_factory=dict)
    arrays: Mapping[str, Ints] = field(default_factory=dict)
    size: int = 1
    rank: str = ""  # the name of the rank in `arrays`, for messages
    nested: int = 0
    passes: tuple[str, ...] = ()  # which pass of each loop this is, for messages

    def only(self, chosen: Bools) -> Scope:
        """The same for some of the ranks."""
        size = int(np.count_nonzero(chosen))
        if size == self.size:
            return self
        arrays = {name: values[chosen] for name, values in self.arrays.items()}
        return replace(self, arrays=arrays, size=size)

    def which(self, index: int) -> str:
        """The rank at an index and the passes of the loops around it, for a message."""
        values = self.arrays.get(self.rank)
        rank = () if values is None else (f"{self.rank} = {values[index]}",)
        places = ", ".join((*self.passes, *rank))
        return f" (for {places})" if places else ""
