"""CSL and NumPy spellings of the plan's words: builtins, call-back bodies, types.

Only the constructs of docs/csl-constructs.md are used.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.emit.formulas import csl_body
from collc.spec import Contract, ElementType, Operation, OwnOperation
from collc.spec.arithmetic import arithmetic_of

NUMPY_TYPE = {
    ElementType.F32: "float32",
    ElementType.F16: "float16",
    ElementType.I32: "int32",
    ElementType.U32: "uint32",
    ElementType.I16: "int16",
    ElementType.U16: "uint16",
}

_FLOAT_SUFFIX = {ElementType.F32: "s", ElementType.F16: "h"}

# A minimum is a maximum of negated values.
_FLOAT_BUILTIN = {
    Operation.ADD: "fadd",
    Operation.MUL: "fmul",
    Operation.MAX: "fmax",
    Operation.MIN: "fmax",
}

_INTEGER_BUILTIN = {
    Operation.ADD: "@add16",
    Operation.AND: "@and16",
    Operation.OR: "@or16",
    Operation.XOR: "@xor16",
}

_CALLBACK = {
    Operation.ADD: "return (own + received);",
    Operation.MUL: "return (own * received);",
    Operation.MAX: "const chosen = if (received > own) received else own; return chosen;",
    Operation.MIN: "const chosen = if (received < own) received else own; return chosen;",
    Operation.AND: "return (own & received);",
    Operation.OR: "return (own | received);",
    Operation.XOR: "return (own ^ received);",
}


@dataclass(frozen=True)
class Combine:
    """How vectors are moved and combined, in CSL.

    `builtin` is the vector builtin, or `callback` the lines of a function for `@map`; both are
    empty for a broadcast. `negate` is the builtin that turns a maximum into a minimum:
    min(a, b) = -max(-a, -b).
    """

    move: str
    builtin: str
    callback: tuple[str, ...]
    negate: str


def combine_of(contract: Contract) -> Combine:
    """The CSL way of the contract's operation on its elements."""
    element, operation = contract.element, contract.operation
    kind = arithmetic_of(element, operation).kind
    return Combine(
        move=_move(element),
        builtin=_vector_builtin(element, operation) if operation and kind != "map" else "",
        callback=_callback(operation) if operation and kind == "map" else (),
        negate=f"@fneg{_FLOAT_SUFFIX[element]}" if kind == "negated_dsd" else "",
    )


def _callback(operation: Operation | OwnOperation) -> tuple[str, ...]:
    """The lines of the function that combines two elements."""
    if isinstance(operation, OwnOperation):
        return csl_body(operation.formula)
    return (_CALLBACK[operation],)


def _move(element: ElementType) -> str:
    """The builtin that copies a vector."""
    if element in _FLOAT_SUFFIX:
        return f"@fmov{_FLOAT_SUFFIX[element]}"
    return f"@mov{8 * element.bytes}"


def _vector_builtin(element: ElementType, operation: Operation | OwnOperation) -> str:
    """The builtin that combines two vectors; of integers only 16-bit ones have any."""
    assert isinstance(operation, Operation)
    if element in _FLOAT_SUFFIX:
        return f"@{_FLOAT_BUILTIN[operation]}{_FLOAT_SUFFIX[element]}"
    return _INTEGER_BUILTIN[operation]
