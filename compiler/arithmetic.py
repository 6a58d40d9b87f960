"""How the machine computes an operation on an element type.

The vector unit adds, multiplies and takes the maximum of floats, and adds 16-bit integers. A float
minimum is a maximum of negated values: every PE negates its vector before the first phase, and the
PE with the result negates it back after the last reduce phase. All else is computed element by
element by a call-back on the main thread (`@map`). Sources: the lists of DSD built-ins in
docs/machine.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.spec import ElementType, Operation
from collc.target import Target


@dataclass(frozen=True)
class Arithmetic:
    """`kind` is "dsd", "negated_dsd" or "map".

    `combine` is the DSD built-in that combines two vectors (empty for "map"), `negate` the one
    that negates a vector (empty unless "negated_dsd"), `move` the one that copies a vector.
    `instructions` is the number of scalar instructions of the call-back (0 unless "map").
    """

    kind: str
    combine: str
    negate: str
    move: str
    instructions: int = 0

    def cycles_per_element(self, target: Target) -> int:
        """Cycles to combine one element with one that arrives.

        A call-back's elements are taken from their operands, it runs, its result is written; the
        next call begins when that has happened.
        """
        if self.kind != "map":
            return 1
        return 2 * target.map_access + self.instructions * target.scalar


_FLOAT_SUFFIX = {ElementType.F32: "s", ElementType.F16: "h"}
_FLOAT_COMBINE = {
    Operation.ADD: "fadd",
    Operation.MAX: "fmax",
    Operation.MUL: "fmul",
    Operation.MIN: "fmax",
}
# Instructions of a call-back (`collc.emit.names`): the arithmetic one and the return, or a
# comparison, a branch and the return of the one or the other. [guess] one for each, even on 32 bits
_CALL_BACK = {Operation.ADD: 2, Operation.MUL: 2, Operation.MAX: 3, Operation.MIN: 3}
_SIXTEEN_BIT = (ElementType.I16, ElementType.U16)


def arithmetic_of(element: ElementType, operation: Operation | None) -> Arithmetic:
    """The arithmetic of a contract; with no operation (a broadcast) only `move` is used."""
    move = move_of(element)
    if operation is None:
        return Arithmetic("dsd", "", "", move)
    if element in _FLOAT_SUFFIX:
        suffix = _FLOAT_SUFFIX[element]
        negated = operation is Operation.MIN
        kind = "negated_dsd" if negated else "dsd"
        return Arithmetic(
            kind, _FLOAT_COMBINE[operation] + suffix, f"fneg{suffix}" if negated else "", move
        )
    if element in _SIXTEEN_BIT and operation is Operation.ADD:
        return Arithmetic("dsd", "add16", "", move)
    return Arithmetic("map", "", "", move, _CALL_BACK[operation])


def move_of(element: ElementType) -> str:
    """The DSD built-in that copies a vector."""
    if element in _FLOAT_SUFFIX:
        return f"fmov{_FLOAT_SUFFIX[element]}"
    return f"mov{8 * element.bytes}"
