"""What a collective and a program are made of: clauses, places, calls."""

from __future__ import annotations

from dataclasses import dataclass

from collc.base.diagnostics import Span
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
from collc.language.syntax.expressions import Argument, Expression, Word


@dataclass(frozen=True, eq=False)
class OrderClause:
    """`order north_to_south, west_to_east` or `order spiral(S = 3)`."""

    uses: tuple[TreeUse, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class TreeUse:
    """`two_phase(S = 4)`: a tree or algorithm by name, its first parameter left to the line it is
    used on; or an order, whose first two are left to the grid."""

    name: Word
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ReduceClause:
    """`reduce columns by chain, star to 3`: a tree for each side of the root, or one for both;
    `then` says whether the word stood before it. `lower_first`: the lower ranks' sum comes first
    whichever side is the smaller one."""

    lines: Word | None
    tree: TreeUse
    upper: TreeUse | None
    to: PeDecl | Expression | None
    span: Span
    then: bool = False
    lower_first: bool = False


@dataclass(frozen=True, eq=False)
class BroadcastClause:
    """`broadcast from 0`."""

    root: PeDecl | Expression
    span: Span
    then: bool = False


@dataclass(frozen=True, eq=False)
class RunClause:
    """`run rows by ring_allreduce in simd`; `root` is the place behind `from` or `to`,
    `on_slices` that word, where it is there, `taken` the word behind `in`."""

    lines: Word | None
    algorithm: TreeUse
    root: PeDecl | Expression | None
    on_slices: Word | None
    taken: Word | None
    span: Span
    then: bool = False


@dataclass(frozen=True, eq=False)
class WithinClause:
    """`within colors <= 3`."""

    quantity: Word
    most: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class ReservationDecl:
    """`colors 0 .. 3`; `last` is None for one number."""

    resource: Word
    first: Expression
    last: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class ReserveClause:
    """`reserve colors 0 .. 3, tasks 10`: what the program around the collective uses."""

    reservations: tuple[ReservationDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ExpectClause:
    """`expect cycles <= 1.4 * bound`."""

    quantity: Word
    relation: str
    value: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class AlternativeDecl:
    """`n <= 8: reduce star to 0`; of `else: ...` `name` and `most` are None."""

    name: Word | None
    most: Expression | None
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class SelectClause:
    """`select by n { n <= 8: reduce star to 0  else: reduce chain to 0 }`."""

    name: Word
    alternatives: tuple[AlternativeDecl, ...]
    span: Span


Clause = (
    OrderClause
    | ReduceClause
    | BroadcastClause
    | RunClause
    | WithinClause
    | ReserveClause
    | ExpectClause
    | SelectClause
)


@dataclass(frozen=True, eq=False)
class PlaceDecl:
    """`on pes`, or `on each row of pes`: then `lines` is `row`, and `of` is `of`."""

    lines: Word | None
    of: Word | None
    grid: Word
    span: Span


@dataclass(frozen=True, eq=False)
class CollectiveDecl:
    """`collective total = contract on grid { clauses }`."""

    name: Word
    contract: ContractDecl
    place: PlaceDecl
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class TogetherDecl:
    """`rows and columns`: calls that are in flight at the same time."""

    names: tuple[Word, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class RepeatDecl:
    """`repeat 100 { largest spread }`."""

    rounds: Expression
    names: tuple[Word | TogetherDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ReconfigureClause:
    """`reconfigure teardown`."""

    way: Word
    span: Span


ProgramItem = Word | TogetherDecl | RepeatDecl | WithinClause | ReserveClause | ReconfigureClause


@dataclass(frozen=True, eq=False)
class ProgramDecl:
    """`program { total }`; what stands in it, in order."""

    items: tuple[ProgramItem, ...]
    span: Span


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
