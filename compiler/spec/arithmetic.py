"""Which way the machine computes an operation on an element type.

The vector unit adds, multiplies and takes the maximum of floats, and adds 16-bit integers or
combines their digits. A float minimum is a maximum of negated values: every PE negates its vector
before the first phase, and the PE with the result negates it back after the last reduce phase. All
else is computed element by element by a call-back on the main thread (D7; docs/machine.md,
section 3). How each is spelled is in `collc.emit.names`.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.spec import ElementType, Operation, OwnOperation
from collc.spec.formula import Work, work_of
from collc.target import Target

FLOATS = (ElementType.F32, ElementType.F16)
_SIXTEEN_BIT = (ElementType.I16, ElementType.U16)

# what the vector unit computes; a minimum on negated values
_ON_FLOATS = frozenset((Operation.ADD, Operation.MUL, Operation.MAX, Operation.MIN))
_ON_SIXTEEN_BIT = frozenset((Operation.ADD, Operation.AND, Operation.OR, Operation.XOR))


NO_WORK = Work()
# Of value and index: not measured by `make constants`, but fitted to runs of stars and chains,
# which take 29.0 to 29.7 cycles a pair on WSE-2 and 31 on WSE-3. That it is two jumps is a guess.
_OF_PAIRS = Work(scalars=23, no_jumps=2)


@dataclass(frozen=True)
class Arithmetic:
    """`kind` is "dsd" (the vector unit), "negated_dsd" (it, on negated values) or "map", and `work`
    what the call-backs of that do, one for each of the `words` of an element."""

    kind: str
    work: Work = NO_WORK
    words: int = 1

    def cycles_per_element(self, target: Target) -> int:
        """Cycles to combine one element with one that arrives; the next call of a call-back begins
        when the one before has returned."""
        if self.kind != "map":
            return self.words
        engine, work = target.cycles.engine, self.work
        return (
            engine.map_element * self.words
            + engine.scalar * work.scalars
            + engine.float_wait * work.float_waits
            + engine.wide_product * work.wide_products
            + engine.no_jump * work.no_jumps
        )


def arithmetic_of(element: ElementType, operation: Operation | OwnOperation | None) -> Arithmetic:
    """The arithmetic of a contract; a broadcast, which has no operation, only moves vectors."""
    if operation is None:
        return Arithmetic("dsd", words=element.words)
    if isinstance(operation, OwnOperation):
        return Arithmetic("map", work_of(operation.formula))
    if element in FLOATS and operation in _ON_FLOATS:
        return Arithmetic("negated_dsd" if operation is Operation.MIN else "dsd")
    if element in _SIXTEEN_BIT and operation in _ON_SIXTEEN_BIT:
        return Arithmetic("dsd")
    return Arithmetic("map", _work_of(element, operation), element.words)


def _work_of(element: ElementType, operation: Operation) -> Work:
    """Of the call-backs in `collc.emit.names`: a maximum is compared and chosen."""
    if operation.of_pairs:
        return _OF_PAIRS
    if operation is Operation.MUL and element not in _SIXTEEN_BIT:
        return Work(wide_products=1)
    return Work(scalars=2 if operation in {Operation.MAX, Operation.MIN} else 1)
