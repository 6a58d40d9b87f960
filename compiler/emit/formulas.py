"""A formula as text: the body of a call-back in CSL, and the same in NumPy.

Both print the nodes of `collc.spec.formula` and nothing else; no text of the user's gets here.
Names are given to what is used more than once, to choices, and to what a minimum or maximum
compares.
"""

from collections.abc import Mapping

from collc.spec.formula import CHOICES, COMPARISONS, FLOATS, LOGIC, Formula, Node, named_nodes

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "bit_and": "&",
    "bit_or": "|",
    "xor": "^",
    **{sign: sign for sign in (*COMPARISONS, *LOGIC)},
}
_CSL = {
    **{kind: f"({{0}} {sign} {{1}})" for kind, sign in _SIGNS.items()},
    "own": "own",
    "received": "received",
    "constant": "@as({type}, {number})",
    "negate": "(@as({type}, 0) - {0})",
    "not": "(!{0})",
    "cast": "@as({type}, {0})",
    "shift_left": "({0} << @as(u16, {number}))",
    "shift_right": "({0} >> @as(u16, {number}))",
    **{kind: "if {condition} {chosen} else {otherwise}" for kind in CHOICES},
}
_NUMPY = {
    **_CSL,
    "and": "({0} & {1})",
    "or": "({0} | {1})",
    "constant": "np.{numpy}({number})",
    "negate": "np.negative({0})",
    "not": "(~{0})",
    "cast": "np.asarray({0}).astype(np.{numpy})",
    "shift_left": "({0} << {number})",
    "shift_right": "({0} >> {number})",
    **{kind: "np.where({condition}, {chosen}, {otherwise})" for kind in CHOICES},
}


def csl_body(formula: Formula) -> tuple[str, ...]:
    """The lines of a function of `own` and `received` that returns the formula."""
    lines, result = _lines(formula, _CSL, "const {name}: {type} = {text};")
    if len(result) == 3:
        condition, chosen, otherwise = result
        return (
            *lines,
            f"const result = if {condition} {chosen} else {otherwise};",
            "return result;",
        )
    return (*lines, f"return {result[0]};")


def numpy_body(formula: Formula) -> tuple[str, ...]:
    """The same as lines of a Python function on arrays."""
    lines, result = _lines(formula, _NUMPY, "{name} = {text}")
    if len(result) == 3:
        return (*lines, f"return np.where({', '.join(result)})")
    return (*lines, f"return {result[0]}")


def _lines(
    formula: Formula, spelling: Mapping[str, str], line: str
) -> tuple[list[str], tuple[str, ...]]:
    """The definitions of what has a name, and the result: one text, or three for a choice."""
    named, texts, lines = named_nodes(formula), list[str](), list[str]()
    for index, node in enumerate(formula):
        of = [texts[i] for i in node.of]
        if index == len(formula) - 1 and node.kind in CHOICES:
            return lines, _choice(node, of)
        texts.append(_text(node, of, spelling))
        if index in named:
            name = f"part_{len(lines)}"
            lines.append(line.format(name=name, type=node.type, text=texts[index]))
            texts[index] = name
    return lines, (texts[-1],)


def _text(node: Node, of: list[str], spelling: Mapping[str, str]) -> str:
    pattern = spelling[node.kind]
    if node.kind == "negate" and node.type in FLOATS and spelling is _CSL:
        pattern = "(-{0})"
    condition, chosen, otherwise = _choice(node, of) if node.kind in CHOICES else ("", "", "")
    return pattern.format(
        *of,
        type=node.type,
        numpy=_numpy_type(node.type),
        number=_number(node),
        condition=condition,
        chosen=chosen,
        otherwise=otherwise,
    )


def _choice(node: Node, of: list[str]) -> tuple[str, str, str]:
    """Condition, in parentheses, what it chooses, what else."""
    if node.kind == "choose":
        return of[0] if of[0].startswith("(") else f"({of[0]})", of[1], of[2]
    sign = "<" if node.kind == "min" else ">"
    return f"({of[1]} {sign} {of[0]})", of[1], of[0]


def _numpy_type(type: str) -> str:
    return {"f": "float", "i": "int", "u": "uint", "b": "bool"}[type[0]] + type[1:]


def _number(node: Node) -> str:
    """A constant, with a point if its type has one."""
    if node.type not in FLOATS:
        return str(int(node.value))
    text = repr(float(node.value))
    mantissa, e, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{e}{exponent}"
