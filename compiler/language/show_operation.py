"""An operation of the user's own as a declaration of the language."""

from collections.abc import Iterator

from collc.spec import OwnOperation
from collc.spec.formula import ARITHMETIC, BITS, COMPARISONS, FLOATS, LOGIC, SHIFTS, Node, uses

_LEAVES = ("own", "received", "constant")
_SIGNS = {**dict(zip(ARITHMETIC, "+-*", strict=True)), **{s: s for s in (*COMPARISONS, *LOGIC)}}
_SPELLING = {
    **{kind: f"({{0}} {sign} {{1}})" for kind, sign in _SIGNS.items()},
    **{kind: f"{kind}({{0}}, {{1}})" for kind in (*BITS, "min", "max")},
    **{kind: f"{kind}({{0}}, {{number}})" for kind in SHIFTS},
    "own": "{own}",
    "received": "{received}",
    "constant": "{type}({number})",
    "negate": "(-{0})",
    "not": "(not {0})",
    "choose": "({0} ? {1} : {2})",
    "cast": "{type}({0})",
}


def show_operation(operation: OwnOperation) -> str:
    """The declaration; parts that are used more than once have names."""
    own, received = operation.operands
    promise = " commutative" * operation.commutative
    promise += " assume associative" * operation.assumed_associative
    head = f"operation {operation.value}({own}, {received}: {operation.element.value}){promise}"
    named, texts = list[str](), list[str]()
    counts, names = uses(operation.formula), _free_names(operation)
    for index, node in enumerate(operation.formula):
        text = _text(node, [texts[i] for i in node.of], operation)
        if counts[index] > 1 and node.kind not in _LEAVES:
            named.append(f"{next(names)} = {text}")
            text = named[-1].partition(" ")[0]
        texts.append(text)
    where = f" where {', '.join(named)}" if named else ""
    return f"{head} = {texts[-1]}{where}"


def _free_names(operation: OwnOperation) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"part_{number}" not in operation.operands:
            yield f"part_{number}"


def _text(node: Node, of: list[str], operation: OwnOperation) -> str:
    own, received = operation.operands
    return _SPELLING[node.kind].format(
        *of, own=own, received=received, type=node.type, number=_number(node)
    )


def _number(node: Node) -> str:
    if node.type not in FLOATS:
        return str(int(node.value))
    text = repr(float(node.value))
    return str(int(node.value)) if text.endswith(".0") else text
