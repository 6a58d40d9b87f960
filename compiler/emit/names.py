"""CSL spellings of the plan's words: types, builtins, call-back bodies.

Only the constructs of docs/csl-constructs.md are used. 32-bit integers and most 16-bit integer
operations have no vector instruction, so they run as call-backs of `@map`.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.spec import ElementType, Operation

MOVE = {
    ElementType.F32: "@fmovs",
    ElementType.F16: "@fmovh",
    ElementType.I32: "@mov32",
    ElementType.U32: "@mov32",
    ElementType.I16: "@mov16",
    ElementType.U16: "@mov16",
}

NUMPY = {
    ElementType.F32: "float32",
    ElementType.F16: "float16",
    ElementType.I32: "int32",
    ElementType.U32: "uint32",
    ElementType.I16: "int16",
    ElementType.U16: "uint16",
}

REDUCTION = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}

NEGATE = {ElementType.F32: "@fnegs", ElementType.F16: "@fnegh"}

_COMBINE = {
    (ElementType.F32, Operation.ADD): "@fadds",
    (ElementType.F32, Operation.MUL): "@fmuls",
    (ElementType.F32, Operation.MAX): "@fmaxs",
    (ElementType.F32, Operation.MIN): "@fmaxs",
    (ElementType.F16, Operation.ADD): "@faddh",
    (ElementType.F16, Operation.MUL): "@fmulh",
    (ElementType.F16, Operation.MAX): "@fmaxh",
    (ElementType.F16, Operation.MIN): "@fmaxh",
    (ElementType.I16, Operation.ADD): "@add16",
    (ElementType.U16, Operation.ADD): "@add16",
}

_CALLBACK = {
    Operation.ADD: "return (own + received);",
    Operation.MUL: "return (own * received);",
    Operation.MAX: "if (received > own) { return received; } return own;",
    Operation.MIN: "if (received < own) { return received; } return own;",
}


@dataclass(frozen=True)
class Combine:
    """How two vectors are combined: a vector builtin, or the body of a `@map` call-back.

    At most one of `builtin` and `callback` is not empty; both are for a broadcast. `negate` is
    the builtin that turns a maximum into a minimum: min(a, b) = -max(-a, -b).
    """

    builtin: str = ""
    callback: str = ""
    negate: str = ""


def combine(element: ElementType, operation: Operation) -> Combine:
    """The CSL way of `operation` on `element`."""
    builtin = _COMBINE.get((element, operation), "")
    if not builtin:
        return Combine(callback=_CALLBACK[operation])
    negate = NEGATE[element] if operation is Operation.MIN else ""
    return Combine(builtin=builtin, negate=negate)
