"""What a collective and a program are made of: clauses, places, calls."""

from __future__ import annotations

from typing import TypeVar

from collc.base.values import dataclass
from collc.language.syntax.declarations import (
    AlgorithmDecl,
    ContractDecl,
    GridDecl,
    ImportDecl,
    NeedsDecl,
    OperationDecl,
    OrderDecl,
    OwnContractDecl,
    ParamDecl,
    PartDecl,
    PeDecl,
    TargetDecl,
    TreeDecl,
)
from collc.language.syntax.expressions import Argument, Expression, Syntax, Word

C = TypeVar("C")


@dataclass(frozen=True, eq=False)
class OrderClause(Syntax):
    """`order north_to_south, west_to_east` or `order spiral(S = 3)`."""

    uses: tuple[TreeUse, ...]


@dataclass(frozen=True, eq=False)
class FixedClause(Syntax):
    """`order fixed`: operands are combined in the order of ranks, one by one."""


@dataclass(frozen=True, eq=False)
class TreeUse(Syntax):
    """`two_phase(S = 4)`: a tree or algorithm by name, its first parameter left to the line it is
    used on; or an order, whose first two are left to the grid."""

    name: Word
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, eq=False)
class ReduceClause(Syntax):
    """`reduce columns by chain, star to 3`: a tree for each side of the root, or one for both;
    `then` says whether the word stood before it. `lower_first`: the lower ranks' sum comes first
    whichever side is the smaller one."""

    lines: Word | None
    tree: TreeUse
    upper: TreeUse | None
    to: PeDecl | Expression | None
    then: bool = False
    lower_first: bool = False


@dataclass(frozen=True, eq=False)
class BroadcastClause(Syntax):
    """`broadcast from 0`."""

    root: PeDecl | Expression
    then: bool = False


@dataclass(frozen=True, eq=False)
class RunClause(Syntax):
    """`run rows by ring_allreduce in simd`; `root` is the place behind `from` or `to`,
    `on_slices` that word, where it is there, `taken` the word behind `in`."""

    lines: Word | None
    algorithm: TreeUse
    root: PeDecl | Expression | None
    on_slices: Word | None
    taken: Word | None
    then: bool = False


@dataclass(frozen=True, eq=False)
class WithinClause(Syntax):
    """`within colors <= 3`."""

    quantity: Word
    most: Expression


@dataclass(frozen=True, eq=False)
class ReservationDecl(Syntax):
    """`colors 0 .. 3`; `last` is None for one number."""

    resource: Word
    first: Expression
    last: Expression | None


@dataclass(frozen=True, eq=False)
class ReserveClause(Syntax):
    """`reserve colors 0 .. 3, tasks 10`: what the program around the collective uses."""

    reservations: tuple[ReservationDecl, ...]


@dataclass(frozen=True, eq=False)
class ExpectClause(Syntax):
    """`expect cycles <= 1.4 * bound`."""

    quantity: Word
    relation: str
    value: Expression


@dataclass(frozen=True, eq=False)
class AlternativeDecl(Syntax):
    """`n <= 8: reduce star to 0`; of `else: ...` `name` and `most` are None."""

    name: Word | None
    most: Expression | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, eq=False)
class SelectClause(Syntax):
    """`select by n { n <= 8: reduce star to 0  else: reduce chain to 0 }`."""

    name: Word
    alternatives: tuple[AlternativeDecl, ...]


Clause = (
    OrderClause
    | FixedClause
    | ReduceClause
    | BroadcastClause
    | RunClause
    | WithinClause
    | ReserveClause
    | ExpectClause
    | SelectClause
)


@dataclass(frozen=True, eq=False)
class PlaceDecl(Syntax):
    """`on pes`, or `on each row of pes`: then `lines` is `row`, and `of` is `of`."""

    lines: Word | None
    of: Word | None
    grid: Word


@dataclass(frozen=True, eq=False)
class CollectiveDecl(Syntax):
    """`collective total = contract on grid { clauses }`."""

    name: Word
    contract: ContractDecl
    place: PlaceDecl
    clauses: tuple[Clause, ...]

    def of_kind(self, kind: type[C]) -> tuple[C, ...]:
        """Its clauses of a kind, in their order."""
        return tuple(clause for clause in self.clauses if isinstance(clause, kind))


@dataclass(frozen=True, eq=False)
class TogetherDecl(Syntax):
    """`rows and columns`: calls that are in flight at the same time."""

    names: tuple[Word, ...]


@dataclass(frozen=True, eq=False)
class RepeatDecl(Syntax):
    """`repeat 100 { largest spread }`."""

    rounds: Expression
    names: tuple[Word | TogetherDecl, ...]


@dataclass(frozen=True, eq=False)
class ReconfigureClause(Syntax):
    """`reconfigure teardown`."""

    way: Word


ProgramItem = Word | TogetherDecl | RepeatDecl | WithinClause | ReserveClause | ReconfigureClause


@dataclass(frozen=True, eq=False)
class ProgramDecl(Syntax):
    """`program { total }`; what stands in it, in order."""

    items: tuple[ProgramItem, ...]


Declaration = (
    NeedsDecl
    | ImportDecl
    | TargetDecl
    | ParamDecl
    | GridDecl
    | PartDecl
    | OrderDecl
    | TreeDecl
    | AlgorithmDecl
    | OperationDecl
    | OwnContractDecl
    | CollectiveDecl
    | ProgramDecl
)
