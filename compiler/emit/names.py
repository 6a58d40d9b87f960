"""CSL spellings of the plan's words: builtins, call-back bodies, what libraries are called.

Only the constructs of docs/csl-constructs.md are used.
"""

from collc.base.values import dataclass
from collc.emit.formulas import csl_body
from collc.spec import Contract, ElementType, Operation, OwnOperation
from collc.spec.arithmetic import arithmetic_of

# of integers: what of floats is not the vector unit's is in `collc.emit.formulas`
_CHOSEN = "const chosen = if (received {} own) received else own; return chosen;"
_FLOAT_SUFFIX = {ElementType.F32: "s", ElementType.F16: "h"}


@dataclass(frozen=True)
class _Spelling:
    """The body of a call-back and the builtins of the vector unit that `OperationFacts` says to be
    there, those of floats without the letter of their type."""

    body: str = ""
    floats: str = ""
    integers: str = ""


_SPELLED = {
    Operation.ADD: _Spelling("return (own + received);", "fadd", "@add16"),
    Operation.MAX: _Spelling(_CHOSEN.format(">"), "fmax"),
    Operation.MIN: _Spelling(_CHOSEN.format("<"), "fmax"),  # of negated values
    Operation.MUL: _Spelling("return (own * received);", "fmul"),
    Operation.AND: _Spelling("return (own & received);", integers="@and16"),
    Operation.OR: _Spelling("return (own | received);", integers="@or16"),
    Operation.XOR: _Spelling("return (own ^ received);", integers="@xor16"),
}

# Of two pairs one is chosen by their values, which come first; the index follows its value.
_OF_PAIRS = """
if (index_next) {{
  index_next = false;
  const index = if (takes or (ties and (received < own))) received else own;
  return index;
}}
index_next = true;
{values}
takes = (received_value {first} own_value);
ties = (received_value == own_value);
const value = if (takes) received else own;
return value;
"""
# A value as what compares as it does. Bits of floats, as whole numbers, rise with them once those
# of negative ones are turned over; adding wraps NaN of both signs to one end, the one that is not
# chosen. Alike are only bits that are equal, so a value never has another's index.
_VALUE = {
    ElementType.U32: ("const {word}_value = {word};",),
    ElementType.I32: ("const {word}_value = @bitcast(i32, {word});",),
    ElementType.F32: (
        "const {word}_signs = @bitcast(u32, @bitcast(i32, {word}) >> @as(u16, 31));",
        "const {word}_value = ({word} ^ ({word}_signs | @as(u32, 0x80000000))) {beyond}"
        " @as(u32, 0x7fffff);",
    ),
}
_RISING = "// integers in the order of the floats, -0.0 below 0.0; NaN where it is not chosen"
_BEYOND = {"max": "+", "min": "-"}
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
    return (_SPELLED[operation].body,)


def _of_pairs(operation: Operation, value: ElementType) -> tuple[str, ...]:
    """The lines of the function that combines two words of pairs."""
    beyond = _BEYOND[operation.facts.chooses]
    values = "\n".join(
        line.format(word=word, beyond=beyond)
        for word in ("own", "received")
        for line in _VALUE[value]
    )
    if value is ElementType.F32:
        values = f"{_RISING}\n{values}"
    first = comparison_of(operation)
    return tuple(_OF_PAIRS.format(values=values, first=first).split("\n")[1:-1])


def comparison_of(operation: Operation) -> str:
    """The sign between the received value and the own one where the received is chosen."""
    return {"max": ">", "min": "<"}[operation.facts.chooses]


def _move(element: ElementType) -> str:
    """The builtin that copies a vector."""
    if element in _FLOAT_SUFFIX:
        return f"@fmov{_FLOAT_SUFFIX[element]}"
    return f"@mov{8 * element.bytes}"


def _vector_builtin(element: ElementType, operation: Operation | OwnOperation) -> str:
    """The builtin that combines two vectors; of integers only 16-bit ones have any."""
    assert isinstance(operation, Operation)
    if element in _FLOAT_SUFFIX:
        return f"@{_SPELLED[operation].floats}{_FLOAT_SUFFIX[element]}"
    return _SPELLED[operation].integers


CALL_STREAMS = ("collectives", "beside")  # then beside_2, ...


def call_stream_name(index: int) -> str:
    """What the kernel calls the library of a call stream."""
    return CALL_STREAMS[index] if index < len(CALL_STREAMS) else f"{CALL_STREAMS[-1]}_{index}"
