"""What a collective promises, about which vectors."""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.spec.custom_contract import OwnContract
from collc.spec.operation import FLOATS, ElementType, Operation, OwnOperation


class ContractKind(Enum):
    """What a collective promises."""

    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALLREDUCE = "allreduce"
    SCATTER = "scatter"
    GATHER = "gather"
    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"
    BARRIER = "barrier"
    OWN = "own"  # a user-defined contract says it

    @property
    def reduces(self) -> bool:
        """Whether it combines vectors, and so has an operation."""
        return self in (ContractKind.REDUCE, ContractKind.ALLREDUCE, ContractKind.REDUCE_SCATTER)

    @property
    def by_slices(self) -> bool:
        """Whether slice r of a vector belongs to rank r."""
        return self in _BY_SLICES

    @property
    def rooted(self) -> bool:
        """Whether it starts from one PE, or ends at one."""
        return self in _ROOTED

    @property
    def root_word(self) -> str:
        """The word before the root of a rooted one: it goes `from` there, or `to` there."""
        return "from" if self in (ContractKind.BROADCAST, ContractKind.SCATTER) else "to"


_ROOTED = frozenset(
    (ContractKind.BROADCAST, ContractKind.REDUCE, ContractKind.SCATTER, ContractKind.GATHER)
)
_BY_SLICES = frozenset(
    (
        ContractKind.SCATTER,
        ContractKind.GATHER,
        ContractKind.ALLGATHER,
        ContractKind.REDUCE_SCATTER,
        ContractKind.ALL_TO_ALL,
    )
)


@dataclass(frozen=True)
class RunLength:
    """`n <= B`: a length that is given when the program runs, by this name. The buffer holds `most`
    elements; what is said here is for `least` to `longest` of them."""

    name: str
    most: int
    span: Span
    least: int
    longest: int


@dataclass(frozen=True)
class Result:
    """`into y by 4`: the buffer of the result, and how far apart its elements are."""

    name: str
    stride: int
    span: Span


def spanned(elements: int, stride: int) -> int:
    """Places of memory from the first to the last of so many elements."""
    return (elements - 1) * stride + 1 if elements else 0


@dataclass(frozen=True)
class Contract:
    """`allreduce(x: f32[256], add)`; `operation` is None where nothing is combined.

    A barrier has no buffer: no name, a length of 0. With a `run_length` vectors have up to `length`
    elements. `own` is what a contract of the user's own says. Elements of the buffer are `stride`
    apart, those between are not the collective's. With a `result` the vectors are copied there, and
    the buffer stays as it is.
    """

    kind: ContractKind
    buffer: str
    element: ElementType
    length: int
    operation: Operation | OwnOperation | None
    span: Span
    run_length: RunLength | None = None
    own: OwnContract | None = None
    stride: int = 1
    result: Result | None = None
    length_span: Span | None = field(default=None, compare=False)  # where the length is written

    @property
    def apart(self) -> int:
        """How far apart the elements are of the vector that is combined or moved."""
        return self.result.stride if self.result else self.stride

    @property
    def in_memory(self) -> tuple[Contract, ...]:
        """Its buffers, each as that of a contract which has no other; a barrier has none."""
        if not self.buffer:
            return ()
        own, result = replace(self, result=None), self.result
        apart = (replace(own, buffer=result.name, stride=result.stride),) if result else ()
        return (own, *apart)

    @property
    def names_slices(self) -> bool:
        """Whether it promises slices, so that it says where they begin."""
        return self.kind.by_slices or (self.own is not None and self.own.slices > 1)

    @property
    def rounds(self) -> bool:
        """Whether the bits of a result may depend on which operands are combined first: those of
        sums and products of floats, of operations of the user's own on floats, and of those that
        are assumed to be associative."""
        operation, floats = self.operation, self.element in FLOATS
        if isinstance(operation, OwnOperation):
            return floats or operation.assumed_associative
        return operation is not None and operation.facts.rounds and floats

    @property
    def held(self) -> int:
        """Elements of the buffer."""
        return self.run_length.most if self.run_length else self.length

    def span_of(self, elements: int) -> int:
        """Places of memory from the first to the last of so many elements of its buffer."""
        return spanned(elements, self.stride)

    @property
    def words(self) -> int:
        """Words of a vector, two for each pair, else one for each element."""
        return self.length * self.element.words

    @property
    def name(self) -> str:
        """How the contract is called: `allreduce`, or `sums(G = 4)`."""
        return self.own.text if self.own else self.kind.value
