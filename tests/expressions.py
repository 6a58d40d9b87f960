"""Random operations of the user's own, as text: every one the language has to take."""

from __future__ import annotations

from hypothesis import strategies as st

INTEGERS = ("i32", "u32", "i16", "u16")
FLOATS = ("f32", "f16")
RELATIONS = ("<", "<=", ">", ">=", "==", "!=")


@st.composite
def values(draw: st.DrawFn, type: str, depth: int) -> str:
    """An expression of a type, made of the elements `a` and `b` of that type."""
    if depth == 0:
        return draw(st.sampled_from(["a", "b", "a", "b", number(draw, type)]))
    inner = values(type, depth - 1)
    kind = draw(st.sampled_from(["+", "-", "*", "min", "max", "negate", "choose", "bits", "shift"]))
    x, y = draw(inner), draw(inner)
    if kind in ("+", "-", "*"):
        return f"({x} {kind} {y})"
    if kind == "choose" or (kind in ("bits", "shift") and type in FLOATS):
        return f"({draw(conditions(type, depth - 1))} ? {x} : {y})"
    bits = draw(st.sampled_from(["bit_and", "bit_or", "xor"]))
    side = draw(st.sampled_from(["shift_left", "shift_right"]))
    shifted = f"{side}({x}, {draw(st.integers(0, int(type[1:]) - 1)) if type in INTEGERS else 0})"
    texts = {"negate": f"(-{x})", "bits": f"{bits}({x}, {y})", "shift": shifted}
    return texts.get(kind, f"{kind}({x}, {y})")


def number(draw: st.DrawFn, type: str) -> str:
    if type in FLOATS:
        return draw(st.sampled_from(["0.5", "1", "2.25", "1e-3", "(-0.1)"]))
    return str(draw(st.integers(0, 2 ** (int(type[1:]) - 1) - 1)))


@st.composite
def conditions(draw: st.DrawFn, type: str, depth: int) -> str:
    def compared() -> str:
        relation = draw(st.sampled_from(RELATIONS))
        return f"({type}({draw(values(type, depth))}) {relation} {draw(values(type, depth))})"

    kind = draw(st.sampled_from(["one", "one", "and", "or", "not"]))
    if kind == "not":
        return f"(not {compared()})"
    return compared() if kind == "one" else f"({compared()} {kind} {compared()})"


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, str]:
    """An element type, and the declaration of an operation called `drawn` on it."""
    type = draw(st.sampled_from([*INTEGERS, *FLOATS]))
    body = draw(values(type, draw(st.integers(0, 3))))
    where = f" where t = {draw(values(type, 1))}" if draw(st.booleans()) else ""
    used = f"max({body}, t)" if where else body
    return type, f"operation drawn(a, b: {type}) assume associative = {used}{where}"
