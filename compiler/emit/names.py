"""CSL and NumPy spellings of the plan's words: builtins, call-back bodies.

Only the constructs of docs/csl-constructs.md are used.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.emit.formulas import csl_body
from collc.spec import Contract, ElementType, Operation, OwnOperation
from collc.spec.arithmetic import arithmetic_of

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


# Of two pairs one is chosen by their values, which come first; the index follows its value.
_OF_PAIRS = """
if (index_next) {{
  index_next = false;
  const index = if (takes or (ties and (received < own))) received else own;
  return index;
}}
index_next = true;
const own_value = {own};
const received_value = {received};
takes = (received_value {first} own_value);
ties = (received_value == own_value);
const value = if (takes) received else own;
return value;
"""
_PAIR_STATE = (
    "var index_next: bool = false;  // the words of a pair are its value, then its index",
    "var takes: bool = false;  // the received one of the two values",
    "var ties: bool = false;  // the two values are equal",
)


@dataclass(frozen=True)
class Combine:
    """How vectors are moved and combined, in CSL.

    `builtin` is the vector builtin, or `callback` the lines of a function for `@map`, which keeps
    its `state` from call to call; all are empty for a broadcast. `negate` is the builtin that turns
    a maximum into a minimum: min(a, b) = -max(-a, -b).
    """

    move: str
    builtin: str
    callback: tuple[str, ...]
    negate: str
    state: tuple[str, ...] = ()


def combine_of(contract: Contract) -> Combine:
    """The CSL way of the contract's operation on its elements."""
    element, operation = contract.element.word, contract.operation
    if isinstance(operation, Operation) and operation.of_pairs:
        value = contract.element.pair_of
        assert value is not None, "such an operation is one of pairs"
        return Combine(_move(element), "", _of_pairs(operation, value), "", _PAIR_STATE)
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


def _of_pairs(operation: Operation, value: ElementType) -> tuple[str, ...]:
    """The lines of the function that combines two words of pairs."""
    words = ("own", "received")
    if value is not ElementType.U32:
        words = (f"@bitcast({value.value}, own)", f"@bitcast({value.value}, received)")
    first = ">" if operation is Operation.ARGMAX else "<"
    return tuple(_OF_PAIRS.format(own=words[0], received=words[1], first=first).split("\n")[1:-1])


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
