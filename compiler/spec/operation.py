"""What elements are, and the operations of the language that combine them: one record each."""

from __future__ import annotations

from enum import Enum
from typing import Literal

import numpy as np

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.spec.formula import Formula, Work


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
        return _VALUE_OF_PAIR.get(self)

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


_VALUE_OF_PAIR = {
    ElementType.F32_U32: ElementType.F32,
    ElementType.I32_U32: ElementType.I32,
    ElementType.U32_U32: ElementType.U32,
}
FLOATS = (ElementType.F32, ElementType.F16)
_SIXTEEN_BIT = (ElementType.I16, ElementType.U16)

_AT_ONCE = Work(scalars=1)
_CHOSEN = Work(scalars=2)  # compared, then chosen


@dataclass(frozen=True)
class OperationFacts:
    """What the compiler knows of an operation, but for its CSL, which `collc.emit.names` has.

    `ufunc` combines two numbers; where one of two is chosen, `chooses` says whether it is the "max"
    or the "min", and NumPy combines no floats as the language does. The vector unit combines the
    types in `vector`, floats only once they are negated if `negated`. For all other numbers a
    call-back does `work`, or `wide` on those of 32 bits if there is one; what one takes of pairs is
    measured as a whole.
    `rounds`: a result in floats depends on the order.
    """

    ufunc: np.ufunc
    chooses: Literal["max", "min", ""] = ""
    vector: tuple[ElementType, ...] = ()
    work: Work = _AT_ONCE
    wide: Work | None = None
    negated: bool = False
    rounds: bool = False
    bitwise: bool = False
    of_pairs: bool = False


class Operation(Enum):
    """Reduction operations of the language; all are associative and commutative up to rounding."""

    ADD = "add", OperationFacts(np.add, vector=(*FLOATS, *_SIXTEEN_BIT), rounds=True)
    MAX = "max", OperationFacts(np.maximum, "max", FLOATS, _CHOSEN)
    MIN = "min", OperationFacts(np.minimum, "min", FLOATS, _CHOSEN, negated=True)
    MUL = "mul", OperationFacts(np.multiply, vector=FLOATS, wide=Work(wide_products=1), rounds=True)
    AND = "and", OperationFacts(np.bitwise_and, vector=_SIXTEEN_BIT, bitwise=True)
    OR = "or", OperationFacts(np.bitwise_or, vector=_SIXTEEN_BIT, bitwise=True)
    XOR = "xor", OperationFacts(np.bitwise_xor, vector=_SIXTEEN_BIT, bitwise=True)
    ARGMAX = "argmax", OperationFacts(np.maximum, "max", of_pairs=True)
    ARGMIN = "argmin", OperationFacts(np.minimum, "min", of_pairs=True)

    facts: OperationFacts

    def __new__(cls, word: str, facts: OperationFacts) -> Operation:
        """An operation is known by its word."""
        made = object.__new__(cls)
        made._value_ = word
        made.facts = facts
        return made

    @property
    def commutative(self) -> bool:
        """Whether operands may be taken out of rank order."""
        return True

    @property
    def bitwise(self) -> bool:
        """Whether it combines the binary digits of integers."""
        return self.facts.bitwise

    @property
    def of_pairs(self) -> bool:
        """Whether it chooses one of two pairs by their values; of equal ones that with the lower
        index."""
        return self.facts.of_pairs

    def combines(self, element: ElementType) -> bool:
        """Whether elements of this type can be combined."""
        if self.of_pairs or element.pair_of:
            return self.of_pairs and element.pair_of is not None
        return not self.bitwise or element not in FLOATS


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
