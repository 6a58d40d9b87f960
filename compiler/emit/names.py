"""CSL and NumPy spellings of the plan's words: builtins, call-back bodies, types.

Only the constructs of docs/csl-constructs.md are used.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.arithmetic import arithmetic_of
from collc.spec import Contract, ElementType, Operation

NUMPY_TYPE = {
    ElementType.F32: "float32",
    ElementType.F16: "float16",
    ElementType.I32: "int32",
    ElementType.U32: "uint32",
    ElementType.I16: "int16",
    ElementType.U16: "uint16",
}

NUMPY_REDUCTION = {
    Operation.ADD: "add",
    Operation.MUL: "multiply",
    Operation.MAX: "maximum",
    Operation.MIN: "minimum",
}

_CALLBACK = {
    Operation.ADD: "return (own + received);",
    Operation.MUL: "return (own * received);",
    Operation.MAX: "if (received > own) { return received; } return own;",
    Operation.MIN: "if (received < own) { return received; } return own;",
}


@dataclass(frozen=True)
class Combine:
    """How vectors are moved and combined, in CSL.

    `builtin` is the vector builtin, or `callback` the body of a function for `@map`; both are
    empty for a broadcast. `negate` is the builtin that turns a maximum into a minimum:
    min(a, b) = -max(-a, -b).
    """

    move: str
    builtin: str
    callback: str
    negate: str


def combine_of(contract: Contract) -> Combine:
    """The CSL way of the contract's operation on its elements."""
    arithmetic = arithmetic_of(contract.element, contract.operation)
    by_map = arithmetic.kind == "map" and contract.operation is not None
    return Combine(
        move=_builtin(arithmetic.move),
        builtin=_builtin(arithmetic.combine),
        callback=_CALLBACK[contract.operation] if by_map and contract.operation else "",
        negate=_builtin(arithmetic.negate),
    )


def _builtin(name: str) -> str:
    return f"@{name}" if name else ""
