"""A formula as text: the body of a call-back in CSL, and the same in NumPy.

Both print the nodes of `collc.spec.formula` and nothing else; no text of the user's gets here.
Names are given to what is used more than once, to choices, and to what a minimum or maximum
compares. Of two floats CSL has no minimum or maximum: the larger is the one that compares so; if it
is a NaN, the other; and of equal ones, which may be zeros of both signs, what has no sign unless
both have.
"""

from collections.abc import Callable, Mapping

from collc.base.values import dataclass
from collc.spec.formula import (
    CHOICES,
    COMPARISONS,
    FLOATS,
    LOGIC,
    Formula,
    Node,
    limit_of,
    named_nodes,
)

_Choice = tuple[str, str, str]  # condition, in parentheses, what it chooses, what else
_Named = Callable[[str, str], str]  # gives a value of a type, which a text has, a name

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
    "bits": "@bitcast({type}, {0})",
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
    "bits": "{0}.view(np.{numpy})",
    "shift_left": "({0} << {number})",
    "shift_right": "({0} >> {number})",
    **{kind: "np.where({condition}, {chosen}, {otherwise})" for kind in CHOICES},
}


@dataclass(frozen=True)
class _Language:
    """How a language spells nodes, and the line that gives a value a name."""

    spelled: Mapping[str, str]
    line: str
    larger: Callable[[Node, list[str], _Named], _Choice]  # of two floats


def csl_body(formula: Formula) -> tuple[str, ...]:
    """The lines of a function of `own` and `received` that returns the formula."""
    lines, result = _lines(formula, _IN_CSL)
    if isinstance(result, str):
        return (*lines, f"return {result};")
    condition, chosen, otherwise = result
    choice = f"const result = if {condition} {chosen} else {otherwise};"
    return (*lines, choice, "return result;")


def numpy_body(formula: Formula) -> tuple[str, ...]:
    """The same as lines of a Python function on arrays."""
    lines, result = _lines(formula, _IN_NUMPY)
    if isinstance(result, str):
        return (*lines, f"return {result}")
    return (*lines, f"return np.where({', '.join(result)})")


def _lines(formula: Formula, language: _Language) -> tuple[list[str], str | _Choice]:
    """The definitions of what has a name, and the result: one text, or a choice."""
    in_need, texts, lines = named_nodes(formula), list[str](), list[str]()

    def named(type: str, text: str) -> str:
        name = f"part_{len(lines)}"
        lines.append(language.line.format(name=name, type=type, text=text))
        return name

    for index, node in enumerate(formula):
        of = [texts[i] for i in node.of]
        choice = None
        if node.kind == "choose":
            choice = of[0] if of[0].startswith("(") else f"({of[0]})", of[1], of[2]
        elif node.kind in CHOICES:
            choice = _compared(formula, node, of) or language.larger(node, of, named)
        if choice and index == len(formula) - 1:
            return lines, choice
        text = _text(node, of, language.spelled, choice or ("", "", ""))
        texts.append(named(node.type, text) if index in in_need else text)
    return lines, texts[-1]


def _text(node: Node, of: list[str], spelled: Mapping[str, str], choice: _Choice) -> str:
    pattern = spelled[node.kind]
    if node.kind == "negate" and node.type in FLOATS and spelled is _CSL:
        pattern = "(-{0})"
    condition, chosen, otherwise = choice
    return pattern.format(
        *of,
        type=node.type,
        numpy=_numpy_type(node.type),
        number=_number(node),
        condition=condition,
        chosen=chosen,
        otherwise=otherwise,
    )


def _compared(formula: Formula, node: Node, of: list[str]) -> _Choice | None:
    """The smaller or larger of two where one comparison tells: of integers, and of a float and a
    number, which is chosen where nothing compares, as a NaN does not."""
    own, received = of
    sign = "<" if node.kind == "min" else ">"
    if node.type not in FLOATS:
        return f"({received} {sign} {own})", received, own
    limit = limit_of(formula, node)
    if limit is None:
        return None
    number, other = of if formula[node.of[0]] is limit else (received, own)
    if node.kind == "min" and not limit.value:
        sign = "<="  # -0.0 is the smaller one
    return f"({other} {sign} {number})", other, number


def _larger_in_csl(node: Node, of: list[str], named: _Named) -> _Choice:
    own, received = of
    sign, bits = ("<", "|") if node.kind == "min" else (">", "&")
    further = named(node.type, f"if ({received} {sign} {own}) {received} else {own}")
    number = named(node.type, f"if ({further} == {further}) {further} else {received}")
    word = f"u{node.type[1:]}"
    both = f"(@bitcast({word}, {own}) {bits} @bitcast({word}, {received}))"
    return f"({own} == {received})", f"@bitcast({node.type}, {both})", number


def _larger_in_numpy(node: Node, of: list[str], _: _Named) -> _Choice:
    own, received = of
    return takes_in_numpy(node.kind, own, received), received, own


def takes_in_numpy(kind: str, own: str, received: str) -> str:
    """Where the received one of two floats is to be taken as the smaller or larger, as
    `collc.spec.formula.takes` says."""
    sign, upper = ("<", received) if kind == "min" else (">", own)
    alike = f"({received} == {own}) & np.signbit({upper})"
    return f"({received} {sign} {own}) | np.isnan({own}) | {alike}"


_IN_CSL = _Language(_CSL, "const {name}: {type} = {text};", _larger_in_csl)
_IN_NUMPY = _Language(_NUMPY, "{name} = {text}", _larger_in_numpy)


def _numpy_type(type: str) -> str:
    return {"f": "float", "i": "int", "u": "uint", "b": "bool"}[type[0]] + type[1:]


def _number(node: Node) -> str:
    """A constant, with a point if its type has one."""
    if node.type not in FLOATS:
        return str(int(node.value))
    text = repr(float(node.value))
    mantissa, e, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{e}{exponent}"
