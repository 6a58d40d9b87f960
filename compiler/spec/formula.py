"""What an operation of the user's own computes: a formula of two elements.

A formula is a list of nodes, each made from nodes before it; the last one is the result. There is
nothing in it but what `KINDS` lists, so text printed from it can hold nothing else. `evaluate`
computes it in NumPy; `collc.emit.formulas` prints it as CSL, `collc.language.show` as the
language has it. All three follow the same nodes, one by one.

Integers wrap around at their width. The smaller or larger of two floats is a number if one of them
is, and -0.0 is below 0.0 (docs/language.md, "NaN, infinities and zeros").
"""

from collections.abc import Callable, Mapping

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.values import dataclass

INTEGERS = ("i32", "u32", "i16", "u16")
FLOATS = ("f32", "f16")
BOOL = "bool"

DTYPE_OF_NUMBER = {
    "f32": np.float32,
    "f16": np.float16,
    "i32": np.int32,
    "u32": np.uint32,
    "i16": np.int16,
    "u16": np.uint16,
    BOOL: np.bool_,
}

ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
BITS = {"bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "xor": np.bitwise_xor}
SHIFTS = {"shift_left": np.left_shift, "shift_right": np.right_shift}
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
LOGIC = {"and": np.logical_and, "or": np.logical_or}
_BINARY: dict[str, np.ufunc] = {**ARITHMETIC, **BITS, **COMPARISONS, **LOGIC}
KINDS = (
    *_BINARY,
    *SHIFTS,
    *("own", "received", "constant"),
    *("negate", "not", "min", "max", "choose", "cast", "bits"),
)


def takes(kind: str, own: Array, received: Array) -> Bools:
    """Where the received one of two is to be taken as the larger ("max") or the smaller ("min");
    where they are alike it does not matter."""
    if kind == "min":
        found, upper = received < own, received
    else:
        found, upper = received > own, own
    if own.dtype.kind == "f":  # of two zeros the one with a sign is below the other
        found = found | np.isnan(own) | ((own == received) & np.signbit(upper))
    return np.asarray(found)


def _chosen(condition: Array, chosen: Array, otherwise: Array) -> Array:
    return np.asarray(np.where(condition, chosen, otherwise))


_OTHER: dict[str, Callable[..., Array]] = {
    "negate": np.negative,
    "not": np.logical_not,
    "min": lambda a, b: _chosen(takes("min", a, b), b, a),
    "max": lambda a, b: _chosen(takes("max", a, b), b, a),
    "choose": _chosen,
}


@dataclass(frozen=True)
class Node:
    """One value: `kind` is one of `KINDS`, `type` "bool" or an element type, `of` the positions of
    the nodes it is made from, `value` that of a constant, or by how many digits one is shifted."""

    kind: str
    type: str
    of: tuple[int, ...] = ()
    value: int | float = 0


Formula = tuple[Node, ...]


class Builder:
    """Makes a formula node by node; equal nodes are one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def add(self, kind: str, type: str, *of: int, value: int | float = 0) -> int:
        """The position of a node, which is new if there is none like it, nor one that is the
        same."""
        if kind in ("min", "max") and of[0] == of[1]:
            return of[0]
        if kind == "negate" and type in FLOATS and self.nodes[of[0]].kind == "constant":
            number = self.nodes[of[0]].value
            if number:  # constants compare as numbers, so -0.0 is none
                return self.add("constant", type, value=-number)
        node = Node(kind, type, of, value)
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def formula(self, result: int) -> Formula:
        """The nodes that the result needs, each behind what it is made from, in the one order that
        follows from what depends on what."""
        place: dict[int, int] = {}
        found: list[Node] = []
        pending = [result]
        while pending:
            here = pending[-1]
            missing = [] if here in place else [n for n in self.nodes[here].of if n not in place]
            if missing:
                pending.append(missing[0])
                continue
            pending.pop()
            if here not in place:
                node = self.nodes[here]
                place[here] = len(found)
                of = tuple(place[n] for n in node.of)
                found.append(Node(node.kind, node.type, of, node.value))
        return tuple(found)


_SYMMETRIC = frozenset({"add", "mul", "min", "max", "==", "!=", *BITS, *LOGIC})
_TURNED = {">": "<", ">=": "<="}


def is_symmetric(formula: Formula) -> bool:
    """Whether it can be seen that a formula gives the same bits if its operands change places,
    apart from those of a NaN."""
    known: dict[tuple[object, ...], int] = {}

    def named(swaps: Mapping[str, str]) -> int:
        names: list[int] = []
        for node in formula:
            kind, of = swaps.get(node.kind, node.kind), [names[i] for i in node.of]
            if kind in _TURNED:
                kind, of = _TURNED[kind], of[::-1]
            if kind in _SYMMETRIC:
                of.sort()
            key = (kind, node.type, repr(node.value), *of)
            names.append(known.setdefault(key, len(known)))
        return names[-1]

    return named({}) == named({"own": "received", "received": "own"})


def only_chooses(formula: Formula) -> bool:
    """Whether the result is one of the operands or of the constants, the same in every order."""
    return all(node.kind in (*LEAVES, "min", "max") for node in formula)


def with_sorted_operands(formula: Formula) -> Formula:
    """The formula of floats with its operands in the order of their values, NaN first and -0.0
    before 0.0, so that it gives the same bits if they change places."""
    builder = Builder()
    type = formula[-1].type
    own, received = (builder.add(kind, type) for kind in ("own", "received"))
    swaps = builder.add("<", BOOL, _rising(builder, received), _rising(builder, own))
    operands = {
        "own": builder.add("choose", type, swaps, received, own),
        "received": builder.add("choose", type, swaps, own, received),
    }
    place: list[int] = []
    for node in formula:
        made = operands.get(node.kind)
        if made is None:
            of = (place[i] for i in node.of)
            made = builder.add(node.kind, node.type, *of, value=node.value)
        place.append(made)
    return builder.formula(place[-1])


def _rising(builder: Builder, of: int) -> int:
    """An integer that rises with a float: its bits, those of a negative one turned over. What is
    added wraps the NaN that are at the upper end to those at the lower."""
    type = builder.nodes[of].type
    word = f"i{type[1:]}"
    info = np.finfo(DTYPE_OF_NUMBER[type])
    bits = builder.add("bits", word, of)
    signs = builder.add("shift_right", word, bits, value=info.bits - 1)
    digits = builder.add("constant", word, value=(1 << (info.bits - 1)) - 1)
    turned = builder.add("xor", word, bits, builder.add("bit_and", word, signs, digits))
    return builder.add(
        "add", word, turned, builder.add("constant", word, value=(1 << info.nmant) - 1)
    )


def uses(formula: Formula) -> list[int]:
    """How often each node is used by others."""
    counts = [0] * len(formula)
    for node in formula:
        for index in node.of:
            counts[index] += 1
    return counts


def evaluate(formula: Formula, own: Array, received: Array) -> Array:
    """The formula on all elements of two arrays of one shape."""
    return values_of_nodes(formula, own, received)[-1]


def values_of_nodes(formula: Formula, own: Array, received: Array) -> list[Array]:
    """What each node of the formula is, on all elements of two arrays of one shape."""
    values: list[Array] = []
    given = {"own": own, "received": received}
    for node in formula:
        if node.kind in given:
            values.append(given[node.kind])
        elif node.kind == "constant":
            values.append(np.full(own.shape, node.value, DTYPE_OF_NUMBER[node.type]))
        else:
            values.append(_computed(node, [values[index] for index in node.of]))
    return values


def _computed(node: Node, of: list[Array]) -> Array:
    dtype = DTYPE_OF_NUMBER[node.type]
    if node.kind == "cast":
        return of[0].astype(dtype)
    if node.kind == "bits":
        return of[0].view(dtype)
    if node.kind in SHIFTS:
        return np.asarray(SHIFTS[node.kind](of[0], dtype(node.value)))
    compute = _BINARY.get(node.kind) or _OTHER[node.kind]
    return np.asarray(compute(*of))


LEAVES = ("own", "received", "constant")
CHOICES = ("min", "max", "choose")


@dataclass(frozen=True)
class Work:
    """Instructions of the call-backs of an element: those of a cycle, how many of them another one
    waits for, as their result is a float, and products of whole numbers of 32 bits."""

    scalars: int = 0
    float_waits: int = 0
    wide_products: int = 0


_OF_FLOATS = 7  # three comparisons and choices, and the bits of equal ones


def limit_of(formula: Formula, node: Node) -> Node | None:
    """The constant that a minimum or maximum compares something with: it is a number, so what no
    comparison holds for is chosen at once."""
    return next((formula[i] for i in node.of if formula[i].kind == "constant"), None)


def _instructions(formula: Formula, node: Node) -> int:
    if node.kind not in {"min", "max"}:
        return 1
    return 2 if node.type not in FLOATS or limit_of(formula, node) else _OF_FLOATS


def work_of(formula: Formula) -> Work:
    """One instruction for each node that computes; a minimum or maximum has to compare its operands
    before it chooses, and of floats to look for NaN and zeros. A choice takes no jump, and to
    read bits as another type nothing. The instruction behind one that computes a float waits for it
    if it needs it."""
    scalars = waits = wide = 0
    computed = [at for at in _in_turn(formula) if formula[at].kind not in (*LEAVES, "bits")]
    for at, behind in zip(computed, [*computed, None][1:], strict=True):
        node = formula[at]
        if node.kind == "mul" and node.type in {"i32", "u32"}:
            wide += 1
            continue
        scalars += _instructions(formula, node)
        needed = behind is not None and at in formula[behind].of
        waits += needed and node.type in FLOATS and node.kind not in CHOICES
    return Work(scalars, waits, wide)


def _in_turn(formula: Formula) -> list[int]:
    """Nodes as they are computed: each that has a name, behind those that it alone is made of."""
    named = named_nodes(formula)
    found: list[int] = []
    for root in (*sorted(named), len(formula) - 1):
        pending = [(root, iter(formula[root].of))]
        while pending:
            here, parts = pending[-1]
            part = next((i for i in parts if i not in named), None)
            if part is None:
                found.append(here)
                pending.pop()
            else:
                pending.append((part, iter(formula[part].of)))
    return found


def named_nodes(formula: Formula) -> set[int]:
    """Nodes that get a name: what is used more than once, choices, and what a minimum or maximum
    compares."""
    counts = uses(formula)
    named = {i for i, node in enumerate(formula) if counts[i] > 1 and node.kind not in LEAVES}
    for index, node in enumerate(formula[:-1]):
        if node.kind in CHOICES:
            named.add(index)
    for node in formula:
        if node.kind in ("min", "max"):
            named.update(i for i in node.of if formula[i].kind not in LEAVES)
    return named
