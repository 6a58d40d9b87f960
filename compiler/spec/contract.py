"""What a collective promises, about which vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from collc.base.diagnostics import Span
from collc.spec.custom_contract import OwnContract
from collc.spec.formula import Formula


class ElementType(Enum):
    """Element types of a buffer: numbers, spelled as in CSL, and pairs of a value and an index."""

    F32 = "f32"
    F16 = "f16"
    I32 = "i32"
    U32 = "u32"
    I16 = "i16"
    U16 = "u16"
    F32_U32 = "(f32, u32)"
    I32_U32 = "(i32, u32)"
    U32_U32 = "(u32, u32)"

    @property
    def pair_of(self) -> ElementType | None:
        """The type of the value that a pair has beside its index, which is a u32; of a number
        None."""
        return ElementType(self.value[1:4]) if self.value.startswith("(") else None

    @property
    def words(self) -> int:
        """Operands of an instruction that an element takes: each of a pair's two is one."""
        return 2 if self.pair_of else 1

    @property
    def word(self) -> ElementType:
        """What memory, wavelets and instructions have of it: the two words of a pair are u32."""
        return ElementType.U32 if self.pair_of else self

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return self.words * (2 if self.value.endswith("16") else 4)


class Operation(Enum):
    """Reduction operations of the language; all are associative and commutative up to rounding."""

    ADD = "add"
    MAX = "max"
    MIN = "min"
    MUL = "mul"
    AND = "and"
    OR = "or"
    XOR = "xor"
    ARGMAX = "argmax"
    ARGMIN = "argmin"

    @property
    def commutative(self) -> bool:
        """Whether operands may be taken out of rank order."""
        return True

    @property
    def bitwise(self) -> bool:
        """Whether it combines the binary digits of integers."""
        return self in (Operation.AND, Operation.OR, Operation.XOR)

    @property
    def of_pairs(self) -> bool:
        """Whether it chooses one of two pairs by their values; of equal ones that with the lower
        index."""
        return self in (Operation.ARGMAX, Operation.ARGMIN)

    def combines(self, element: ElementType) -> bool:
        """Whether elements of this type can be combined."""
        if self.of_pairs or element.pair_of:
            return self.of_pairs and element.pair_of is not None
        return not self.bitwise or element not in (ElementType.F32, ElementType.F16)


@dataclass(frozen=True)
class OwnOperation:
    """An operation of the user's own, on elements of one type. Samples show it to be associative,
    unless that is assumed, and commutative if it is so called.

    `operands` are the names of the own and of the received element, `value` that of the operation.
    """

    value: str
    operands: tuple[str, str]
    element: ElementType
    commutative: bool
    formula: Formula
    span: Span
    assumed_associative: bool = False


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
    OWN = "own"  # a contract of one's own says it

    @property
    def reduces(self) -> bool:
        """Whether it combines vectors, and so has an operation."""
        return self in (ContractKind.REDUCE, ContractKind.ALLREDUCE, ContractKind.REDUCE_SCATTER)

    @property
    def by_slices(self) -> bool:
        """Whether slice r of a vector belongs to rank r."""
        return self in _BY_SLICES

    @property
    def root_word(self) -> str:
        """The word before the root of a rooted one: it goes `from` there, or `to` there."""
        return "from" if self in (ContractKind.BROADCAST, ContractKind.SCATTER) else "to"


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
    def held(self) -> int:
        """Elements of the buffer."""
        return self.run_length.most if self.run_length else self.length

    def span_of(self, elements: int, stride: int = 0) -> int:
        """Places of memory from the first to the last of so many elements of its buffer, or of one
        with another stride."""
        return (elements - 1) * (stride or self.stride) + 1 if elements else 0

    @property
    def words(self) -> int:
        """Words of a vector, two for each pair, else one for each element."""
        return self.length * self.element.words

    @property
    def name(self) -> str:
        """How the contract is called: `allreduce`, or `sums(G = 4)`."""
        return self.own.text if self.own else self.kind.value
