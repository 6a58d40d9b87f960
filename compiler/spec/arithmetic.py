"""Which way the machine computes an operation on an element type.

The vector unit adds, multiplies and takes the maximum of floats, and adds 16-bit integers or
combines their digits. A float
minimum is a maximum of negated values: every PE negates its vector before the first phase, and the
PE with the result negates it back after the last reduce phase. All else is computed element by
element by a call-back on the main thread (D7; docs/machine.md, section 3). How each way is spelled
is in `collc.emit.names`.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.spec import ElementType, Operation, OwnOperation
from collc.spec.formula import instructions_of
from collc.target import Target

FLOATS = (ElementType.F32, ElementType.F16)
_SIXTEEN_BIT = (ElementType.I16, ElementType.U16)


@dataclass(frozen=True)
class Arithmetic:
    """`kind` is "dsd" (the vector unit), "negated_dsd" (it, on negated values) or "map".

    `instructions` is the number of scalar instructions of the call-back (0 unless "map").
    """

    kind: str
    instructions: int = 0

    def cycles_per_element(self, target: Target) -> int:
        """Cycles to combine one element with one that arrives.

        A call-back's elements are taken from their operands, it runs, its result is written; the
        next call begins when that has happened.
        """
        if self.kind != "map":
            return 1
        engine = target.cycles.engine
        return 2 * engine.map_access + self.instructions * engine.scalar


# Instructions of a call-back (`collc.emit.names`): the arithmetic one and the return, or a
# comparison, a branch and the return of the one or the other. [guess] one for each, even on 32 bits
_CALL_BACK = {
    Operation.ADD: 2,
    Operation.MUL: 2,
    Operation.MAX: 3,
    Operation.MIN: 3,
    Operation.AND: 2,
    Operation.OR: 2,
    Operation.XOR: 2,
}


def arithmetic_of(element: ElementType, operation: Operation | OwnOperation | None) -> Arithmetic:
    """The arithmetic of a contract; a broadcast, which has no operation, only moves vectors."""
    if operation is None:
        return Arithmetic("dsd")
    if isinstance(operation, OwnOperation):
        return Arithmetic("map", instructions_of(operation.formula))
    if element in FLOATS:
        return Arithmetic("negated_dsd" if operation is Operation.MIN else "dsd")
    if element in _SIXTEEN_BIT and (operation is Operation.ADD or operation.bitwise):
        return Arithmetic("dsd")
    return Arithmetic("map", _CALL_BACK[operation])
