"""Operations on elements that keep the laws of reductions, and others that break one: by a
constant, a sign, a threshold, an exponent or a condition.

Those that break a law come with numbers among which some operands show it: a family whose own claim
is wrong is found out before the compiler is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Numbers = tuple[float, ...]

TYPES = ("i32", "u32", "i16", "u16", "f32", "f16")
SIGNED = ("i32", "i16")
FLOATS = ("f32", "f16")


@dataclass(frozen=True)
class Case:
    """The declaration of an operation `f`; some operands among `witness` and small numbers break a
    law of it. Without them it keeps all that it promises."""

    family: str
    element: str
    body: str
    commutative: bool = False
    witness: Numbers = ()

    @property
    def text(self) -> str:
        """The declaration."""
        word = "commutative " if self.commutative else ""
        return f"operation f(a, b: {self.element}) {word}= {self.body}"


def unlawful() -> list[Case]:
    """Operations that break a law."""
    return [
        *_saturating(),
        *_reset_beyond_a_threshold(),
        *_single_pairs(),
        *_signs(),
        *_digits(),
        *_near_each_other(),
        *_arithmetic_that_is_wrong(),
        *_conditions_on_results(),
        *_preferences(),
        *_casts(),
        *_two_conditions(),
        *_only_the_sides(),
    ]


def lawful() -> list[Case]:
    """Operations that keep all laws that they promise."""
    return [
        *_plain(),
        *_moved(),
        *_bounded(),
        *_selected(),
        *_first_and_last(),
        *_classes(),
        *_of_digits(),
        *_packed(),
        *_rounded(),
    ]


def _number(value: float, element: str) -> str:
    text = repr(float(value)) if element in FLOATS else str(int(value))
    return f"({text})" if value < 0 else text


_LIMITS = {
    "f32": (100.0, 1e6, 1e-6, 3.5e30, 0.75, 16777216.0),
    "f16": (100.0, 0.001, 30000.0),
    "i32": (100, 77777, 1_000_000_000),
    "i16": (100, 9999),
}


def _saturating() -> Iterator[Case]:
    for element, limits in _LIMITS.items():
        for most in limits:
            near = most * 0.875 if element in FLOATS else most - most // 8
            k = _number(most, element)
            shown = (near, near, -near)
            yield Case("saturates", element, f"min(a + b, {k})", True, shown)
            back = tuple(-x for x in shown)
            yield Case("saturates below", element, f"max(a + b, -{k})", True, back)
            body = f"a + b > {k} ? {k} : a + b < -{k} ? -{k} : a + b"
            yield Case("clamped", element, body, True, shown)
    for most in (32767, 30000, 500):
        body = f"i16(min(max(i32(a) + i32(b), -{most}), {most}))"
        yield Case("saturates as i16", "i16", body, True, (most, most, -most))
    yield Case("reflected", "f32", "max(a + b, 0.0)", True, (-5, 3, 3))
    yield Case("reflected", "i32", "max(a + b, 12345)", True, (-5, 20000, -100))


def _reset_beyond_a_threshold() -> Iterator[Case]:
    for element, limits in _LIMITS.items():
        for most in limits:
            k = _number(most, element)
            large = most * 1.5 if element in FLOATS else most + most // 2
            part = most * 0.5 if element in FLOATS else most // 2 + 1
            body = f"a > {k} or b > {k} ? 0 : a + b"
            yield Case("reset", element, body, True, (large, -part, -part))
            body = f"a + b > {k} ? 0 : a + b"
            yield Case("reset of the sum", element, body, True, (large, 0, -part))
    yield Case("reset", "u32", "a > 3000000000 ? b : a + b", False, (3000000001, 5, 7))
    yield Case("reset", "f32", "a * b > 1e20 ? 1.0 : a * b", True, (1e15, 1e15, 1e-5))
    yield Case("reset", "i32", "a * b > 1000000 ? 1 : a * b", True, (2000, 2000, 0.0))
    yield Case(
        "small ones lost", "f32", "a < 1e-6 and a > -1e-6 ? b : a + b", False, (1.2e-6, -5e-7, 3e-6)
    )
    yield Case("forgets", "f32", "a > 1048576.0 ? b : a + b", False, (1048577, 1, 1))
    yield Case("forgets", "f32", "a > 3.5e30 ? b : a + b", False, (4e30, 1e30, 1e30))


def _single_pairs() -> Iterator[Case]:
    pairs = ((77, 78), (1, 1000000), (123456789, 3), (65536, 65537), (40, 41), (-5, 9999))
    for p, q in pairs:
        one, other = _number(p, "i32"), _number(q, "i32")
        both = f"a == {one} and b == {other} or a == {other} and b == {one}"
        yield Case("a pair", "i32", f"a + b + ({both} ? 1 : 0)", True, (p, q, 1))
        yield Case(
            "a pair in order", "i32", f"a == {one} and b == {other} ? 0 : a + b", witness=(p, q, 1)
        )
    for p, q in ((77.0, 78.0), (0.1, 0.2), (1e6, -1e6), (3.5e30, 1e30), (1e-6, 2e-6)):
        one, other = _number(p, "f32"), _number(q, "f32")
        both = f"a == {one} and b == {other} or a == {other} and b == {one}"
        yield Case("a pair", "f32", f"{both} ? 12.0 : max(a, b)", True, (p, q, 20))
        yield Case(
            "twice the same", "f32", f"a == {one} and b == {one} ? 0 : a + b", True, (p, 2 * p)
        )
    for p in (77, 12345, 250):
        yield Case("twice the same", "u16", f"a == {p} and b == {p} ? 0 : a + b", True, (p, p, p))
        yield Case("one number", "i16", f"a == {p} ? b : a + b", witness=(p - 1, 1, 7))
        yield Case("one number", "u32", f"xor(a, b) == {p} ? 0 : xor(a, b)", True, (p, 0, 5))


def _signs() -> Iterator[Case]:
    for element in (*SIGNED, *FLOATS):
        yield Case("signs", element, "a < 0 and b < 0 ? a + b - 1 : a + b", True, (-1, -2, 5))
        yield Case("signs", element, "a < 0 ? a - b : a + b", False, (-1, 1, 1))
        yield Case("signs", element, "a * b < 0 ? 0 : a + b", True, (5, -1, 3))
        yield Case("signs", element, "-a - b", True, (0, 0, 1))
    yield Case("signs", "f32", "a < 0.0 and b > 1e6 ? 3.0 : a + b", False, (-1, 2e6, 1))
    yield Case("signs", "i32", "a < 0 and b > 70000 ? b : a + b", False, (-1, 80000, 1))


def _digits() -> Iterator[Case]:
    for k in (0, 4, 16, 20, 27, 30):
        mask = 1 << k
        odd = f"bit_and(a, {mask}) != 0 and bit_and(b, {mask}) != 0"
        yield Case("a digit", "u32", f"{odd} ? 0 : a + b", True, (mask, mask, mask))
        if k:
            body = f"bit_and(a, {mask}) == 0 ? a + b : a"
            yield Case("a digit", "i32", body, False, (mask,))
    for k in (8, 12, 16, 20):
        body = f"a + b + shift_right(bit_and(a, b), {k})"
        yield Case("shifted", "u32", body, True, (1 << k, 2 << k))
        body = f"bit_and(a + b, {-(1 << k)})"
        yield Case(
            "digits cut off",
            "i32",
            body.replace(str(-(1 << k)), f"-{1 << k}"),
            True,
            (0, (1 << k) - 1, 1),
        )
    for k in (65536, 1 << 24, 100):
        yield Case("xor moved", "u32", f"xor(a, b) + {k}", True, (k, k, k))
    yield Case("parity", "i32", "bit_and(a + b, 1) == 1 ? a + b + 1 : a + b", True, (1, 0, 1))
    yield Case(
        "parity", "u16", "bit_and(a, 1) == 1 and bit_and(b, 1) == 1 ? 1 : a + b", True, (1, 1, 2)
    )
    yield Case("parity", "i16", "bit_and(a, b) == 1 ? 0 : a + b", True, (1, 1, 2))
    yield Case("mixed digits", "u32", "xor(a, shift_left(b, 17))", False, (0, 0, 1))
    yield Case("mixed digits", "u16", "xor(bit_and(a, b), 255)", True, (0, 0, 65535))


def _near_each_other() -> Iterator[Case]:
    for eps in (0.5, 1e-3, 1e-6, 1000.0):
        e = repr(eps)
        near = f"a - b < {e} and b - a < {e}"
        yield Case(
            "near each other", "f32", f"{near} ? a : a + b", False, (8 * eps, 8 * eps, 32 * eps)
        )
        body = f"a > b + {e} ? a : b"
        yield Case("within a margin", "f32", body, False, (1.25 * eps, 0.625 * eps, 0))
    for eps in (2, 50, 100000):
        near = f"a - b < {eps} and b - a < {eps}"
        yield Case(
            "near each other",
            "i32",
            f"{near} ? max(a, b) : a + b",
            True,
            (9 * eps, 9 * eps, 99 * eps),
        )
        body = f"a > b + {eps} ? a : b"
        yield Case("within a margin", "i32", body, False, (eps + 1, 1, 0))
    yield Case("in a circle", "u32", "i32(a - b) > 0 ? a : b", False, (0, 3000000000, 1500000000))
    yield Case("in a circle", "u16", "i16(a - b) > 0 ? a : b", False, (0, 44000, 22000))
    yield Case("equal ones", "i32", "a == b ? a : a + b", True, (5, 5, 7))
    yield Case("equal ones", "f32", "a == b ? 0.0 : max(a, b)", True, (5, 5, 3))


def _arithmetic_that_is_wrong() -> Iterator[Case]:
    for element in TYPES:
        yield Case("a power", element, "a * a + b", False, (2, 0, 0))
        yield Case("a product and one", element, "a * b + 1", True, (0, 0, 3))
        yield Case("the second twice", element, "a + 2 * b", False, (0, 0, 1))
    for k in (0.5, 0.999, 1e-4, 1000.0):
        yield Case("scaled", "f32", f"{k} * (a + b)", True, (1, 0, 0))
    yield Case("scaled", "f16", "f16(0.75 * (f32(a) + f32(b)))", True, (1, 0, 0))
    yield Case("an excess", "f32", "a + b + 0.001 * a * b * b", False, (10, 20, 30))
    yield Case("an excess", "f32", "a + b + 1e-20 * a * b * (a + b)", True, (1e15, 2e15, 5e15))
    yield Case("an excess", "i32", "a + b + a * b * 2 + 1", True, (1, 2, 3))
    yield Case("an excess", "u16", "a * b + 3 * (a + b) + 5", True, (0, 1, 7))
    yield Case("a step less", "i32", "min(a, b) + 1", True, (0, 0, 9))
    yield Case("a step less", "f32", "max(a, b) - 1e-3", True, (5, 0, 0))
    yield Case("a step less", "u32", "min(a, b + 1)", False, (9, 2, 0))
    yield Case("subtracted", "u32", "a > b ? a - b : b - a", True, (3, 2, 2))


def _conditions_on_results() -> Iterator[Case]:
    yield Case("the sum", "i32", "a + b == 155 ? 0 : a + b", True, (77, 78, 5))
    yield Case("the sum", "i32", "a + b == -987654321 ? 0 : a + b", True, (-987654320, -1, 5))
    yield Case("the sum", "f32", "a + b == 0.375 ? 9.0 : a + b", True, (0.25, 0.125, 1))
    yield Case(
        "the sum", "f16", "a + b > 900.0 and a + b < 1000.0 ? 0.0 : a + b", True, (900, 50, 100)
    )
    yield Case("the product", "i32", "a * b == 6006 ? 0 : a + b", True, (77, 78, 5))
    yield Case("the product", "f32", "a * b > 1e12 ? a : a + b", False, (2e6, 2e6, 1e6))
    yield Case("the product", "f32", "a * b == 6006.0 ? 0.0 : a * b", True, (77, 78, 2))
    yield Case(
        "sum and product", "i32", "a + b == 155 and a * b == 6006 ? 0 : a + b", True, (77, 78, 5)
    )
    yield Case("the difference", "i32", "a - b == 4711 ? 1 : a + b", False, (4711, 0, 5))
    yield Case("the difference", "f32", "a - b > 1e6 ? a : a + b", False, (2e6, 1e5, 1e5))
    yield Case("squares", "f32", "a * a + b * b > 10000.0 ? 0.0 : a + b", True, (99, 99, 7))
    yield Case("squares", "i32", "a * a == 49729 ? b : a + b", False, (223, 1, 4))
    yield Case(
        "squares", "f32", "a * a < 1e-10 and a != 0.0 ? b : a + b", False, (1.2e-5, -5e-6, 3e-5)
    )
    yield Case(
        "twice", "i32", "3 * a - 7 == 2 * b and a > 1000 ? 0 : max(a, b)", False, (1001, 1498, 1300)
    )
    yield Case("one of both", "f32", "max(a, b) > 2e5 ? max(a, b) : a + b", True, (1.5e5, 1e5, 1e5))
    yield Case(
        "one of both", "i16", "min(a, b) < -777 ? min(a, b) : a + b", True, (-500, -400, -300)
    )
    yield Case(
        "digits of the sum", "u32", "bit_and(a + b, 65535) == 4660 ? 0 : a + b", True, (4660, 0, 9)
    )


def _preferences() -> Iterator[Case]:
    yield Case("magnitude", "i32", "a * a < b * b ? b : a", True, (2, -2))
    yield Case("magnitude", "f32", "a * a < b * b ? b : a", True, (2, -2))
    yield Case("magnitude", "f16", "max(a, -a) < max(b, -b) ? b : a", True, (2, -2))
    for k in (5, 1000, 70000):
        one = f"max(a - {k}, {k} - a) < max(b - {k}, {k} - b)"
        yield Case("nearest", "i32", f"{one} ? a : b", True, (k - 2, k + 2))
        yield Case("farthest sum", "i32", f"{one} ? a + 1 : b", False, (k, k + 3, k + 9))
    yield Case("low digits", "u32", "bit_and(a, 255) < bit_and(b, 255) ? a : b", True, (257, 1))
    yield Case("low digits", "u16", "shift_right(a, 9) < shift_right(b, 9) ? a : b", True, (1, 2))
    yield Case("larger half", "f32", "a > 2.0 * b ? a : b", False, (5, 3, 2))


def _casts() -> Iterator[Case]:
    yield Case("narrow", "i32", "i32(i16(a)) + b", False, (32767, 1, 0))
    yield Case("narrow", "u32", "u32(u16(a)) + b", False, (65535, 1, 0))
    yield Case("narrow", "i32", "i32(i16(a)) == a ? a + b : a", False, (32767, 1, 1))
    yield Case("narrow", "i16", "i32(a) + i32(b) > 32767 ? 0 : a + b", True, (32767, 1, -5))
    yield Case("narrow", "i16", "i32(a) * i32(b) > 40000 ? 1 : a * b", True, (300, 300, 2))
    yield Case(
        "narrow",
        "u16",
        "u32(a) + u32(b) > 65535 ? 65535 : u16(u32(a) + u32(b)) + 1",
        True,
        (65534, 0, 0),
    )
    yield Case("as floats", "i32", "f32(a) * 0.5 > f32(b) ? a : b", False, (5, 3, 2))
    yield Case("as floats", "i16", "f32(a) + f32(b) > 1234.5 ? a : a + b", False, (1000, 300, 300))
    yield Case(
        "as signed",
        "u32",
        "i32(a) < 0 and i32(b) < 0 ? 0 : a + b",
        True,
        (1 << 31, 1 << 31, 1 << 31),
    )
    yield Case("as unsigned", "i32", "u32(a) + u32(b) > 4000000000 ? 0 : a + b", True, (-1, 0, 5))
    yield Case("halves", "u32", "a * b > 65535 ? u32(u16(a)) : a * b", False, (65536, 2, 3))


def _two_conditions() -> Iterator[Case]:
    yield Case(
        "ranges",
        "i32",
        "a > 12345 and a < 12350 and b > 777 and b < 780 ? 0 : a + b",
        False,
        (12346, 778, 5),
    )
    yield Case("ranges", "i32", "a > 1000 and b < -1000 ? 7 : a + b", False, (1001, -1001, 1))
    yield Case(
        "ranges", "f32", "a > 1e6 and b < 1e-6 and b > 0.0 ? 0.0 : a + b", False, (2e6, 5e-7, 1)
    )
    yield Case("ranges", "f32", "a > 3e5 and a < 3.1e5 ? b : max(a, b)", False, (1000, 305000, 7))
    yield Case("ranges", "u16", "60000 < a and a < 60010 ? b : max(a, b)", False, (5, 60001, 7))
    yield Case(
        "nested",
        "i32",
        "a > 500 ? (b < -500 ? (a + b == 17 ? 99 : a + b) : a + b) : a + b",
        False,
        (1017, -1000, 1),
    )
    yield Case("nested", "f32", "a > 10.0 ? (b > 20.0 ? a : a + b) : a + b", False, (11, 21, 1))
    yield Case("not", "i32", "not (a < 4000 or b < 4000) ? 0 : a + b", True, (4000, 4000, -3))
    yield Case("not", "u32", "a != 31337 and b != 31337 ? a + b : 31337", True, (31336, 1, 1))
    yield Case(
        "chains",
        "i32",
        "100000 <= a <= 100003 and 200000 <= b <= 200003 ? a : a + b",
        False,
        (100000, 200000, 1),
    )
    yield Case("products", "f32", "a * b < -1e15 ? 0.0 : a + b", True, (1e8, -2e8, 5e8))
    yield Case(
        "where",
        "i32",
        "s > 250000 and d < 10 and d > -10 ? 0 : s where s = a + b, d = a - b",
        True,
        (130000, 130001, 5),
    )
    yield Case(
        "where",
        "f32",
        "s * s > 4e10 ? d : s where s = a + b, d = a - b",
        False,
        (150000, 100000, 7),
    )


def _only_the_sides() -> Iterator[Case]:
    for element in TYPES:
        yield Case("the second", element, "b", True, (0, 1))
    yield Case("first that is none", "u32", "a == 0 ? b : a", True, (1, 2))
    yield Case("last that is none", "f32", "b == 1e6 ? a : b", True, (1, 2))
    yield Case("sides beyond", "f32", "a > 1e10 and b > 1e10 ? a : max(a, b)", True, (2e10, 3e10))
    yield Case(
        "sides beyond", "i32", "a > 987654 and b > 987654 ? b : max(a, b)", True, (987656, 987655)
    )
    yield Case(
        "sides of a digit",
        "u32",
        "bit_and(a, 1048576) != 0 ? a : max(a, b)",
        True,
        (1048576, 1048577),
    )
    yield Case("sides of one", "i32", "a == 4444 ? b : min(a, b)", True, (4444, 5555))
    yield Case("sides of one", "f32", "a == 0.1 ? a : min(a, b)", True, (0.1, 0.01))


def _plain() -> Iterator[Case]:
    for element in TYPES:
        for body in ("a + b", "a * b", "min(a, b)", "max(a, b)"):
            yield Case("plain", element, body, True)
        yield Case("plain", element, "a < b ? b : a", True)
        yield Case("plain", element, "a")
        yield Case("plain", element, "b")
        if element not in FLOATS:
            for body in ("bit_and(a, b)", "bit_or(a, b)", "xor(a, b)"):
                yield Case("plain", element, body, True)


def _moved() -> Iterator[Case]:
    """A lawful operation behind a change of numbers that can be undone."""
    for element in TYPES:
        yield Case("moved", element, "a + b + 5", True)
        yield Case("moved", element, "a + b + a * b", True)
        yield Case("moved", element, "a * b + 3 * (a + b) + 6", True)
        yield Case("moved", element, "3 * a * b", True)
    for element in (*SIGNED, *FLOATS):
        yield Case("moved", element, "a + b - a * b", True)
        yield Case("moved", element, "-max(-a, -b)", True)
        yield Case("moved", element, "-(-a * b)", True)
        yield Case("moved", element, "max(a, -a) * b" if element in FLOATS else "-a * -b * -1")
        yield Case("moved", element, "max(max(a, -a), max(b, -b))", True)
    for element in FLOATS:
        yield Case("moved", element, "max(a, -a) + max(b, -b)", True)
        yield Case("moved", element, "max(a, -a) * max(b, -b)", True)
    for k in (12345, 65536, 4000000000):
        yield Case("moved", "u32", f"xor(xor(a, {k}) + xor(b, {k}), {k})", True)
        yield Case("moved", "u32", f"xor(xor(a, b), {k})", True)
        yield Case("moved", "u32", f"xor(max(xor(a, {k}), xor(b, {k})), {k})", True)
    for k in (0.1, 0.3, 1e-6, 1e6, 123.456):
        yield Case("moved", "f32", f"a + b + {k}", True)
        yield Case("moved", "f32", f"a + b + {k} * a * b", True)
        yield Case("moved", "f32", f"{k} * a * b", True)
    yield Case("moved", "f32", "a * b + 0.3 * (a + b) - 0.21", True)
    yield Case("moved", "u16", "43691 * (3 * a + 3 * b)", True)


def _bounded() -> Iterator[Case]:
    """Clamps and sums that cannot come back from their limit."""
    for element, limits in _LIMITS.items():
        for most in limits:
            k = _number(most, element)
            yield Case("bounded", element, f"min(max(a, b), {k})", True)
            yield Case("bounded", element, f"max(min(a, b), -{k})", True)
            if element in FLOATS:
                yield Case("bounded", element, f"min(max(a, -a) + max(b, -b), {k})", True)
                yield Case("bounded", element, f"min(max(a, 0.0) + max(b, 0.0), {k})", True)
            yield Case("middle", element, f"max(min(a, b), min(max(a, b), {k}))", True)
    for most in (65535, 30000, 100):
        yield Case("bounded", "u16", f"u16(min(u32(a) + u32(b), {most}))", True)
        yield Case("bounded", "u16", f"u32(a) + u32(b) > {most} ? {most} : a + b", True)


def _selected() -> Iterator[Case]:
    """The best by a key; of equal ones the first, or the lower."""
    keys = {
        "i32": (
            "x * x",
            "bit_and(x, 255)",
            "xor(x, 12345)",
            "shift_right(x, 20)",
            "max(x - 7, 7 - x)",
        ),
        "u32": ("bit_and(x, 1048575)", "3 * x + 1", "xor(x, 2147483648)", "min(x, 1000000)"),
        "i16": ("x * x", "max(x, -x)", "bit_and(x, 1)"),
        "u16": ("shift_right(x, 8)", "x * x"),
        "f32": (
            "x * x",
            "max(x, -x)",
            "max(x - 1000.0, 1000.0 - x)",
            "min(x, 3.5e30)",
            "x * x * x - x",
        ),
        "f16": ("max(x, -x)", "x - 0.5"),
    }
    for element, texts in keys.items():
        for key in texts:
            mine, other = key.replace("x", "a"), key.replace("x", "b")
            mine, other = mine.replace("maa", "max"), other.replace("mab", "max")
            mine, other = mine.replace("aor(", "xor("), other.replace("bor(", "xor(")
            parts = f" where p = {mine}, q = {other}"
            yield Case("selected", element, f"p < q ? b : a{parts}")
            yield Case("selected", element, f"p < q or p == q and a < b ? b : a{parts}", True)


def _first_and_last() -> Iterator[Case]:
    for element, k in (
        ("i32", 4711),
        ("u32", 0),
        ("f32", 1e6),
        ("f16", 0.5),
        ("i16", -1),
        ("u16", 65535),
    ):
        n = _number(k, element)
        yield Case("first", element, f"a == {n} ? b : a")
        yield Case("last", element, f"b == {n} ? a : b")
        yield Case("first beyond", element, f"a > {n} ? a : b")
        yield Case("agreed", element, f"a == b ? a : {n}", True)
        yield Case("absorbed", element, f"a == {n} or b == {n} ? {n} : max(a, b)", True)
    yield Case("largest beyond", "i32", "a > 5000 and a > b ? a : b")
    yield Case("even ones", "i32", "bit_and(a, 1) == 0 ? a + b : a")
    for mask in (255, 65535, 4278190080):
        rest = (1 << 32) - 1 - mask
        yield Case("both ends", "u32", f"bit_or(bit_and(a, {mask}), bit_and(b, {rest}))")


def _classes() -> Iterator[Case]:
    """Results that depend on the class of each operand alone."""
    for element in (*SIGNED, *FLOATS):
        same = "a < 0 and b < 0 or a >= 0 and b >= 0"
        yield Case("sign", element, f"{same} ? 1 : -1", True)
    for element, k in (("i32", 77777), ("f32", 1e6), ("u16", 50000), ("f16", 100), ("f32", 1e-6)):
        n, beyond = _number(k, element), _number(k * 2 if k != 50000 else 60000, element)
        yield Case("all beyond", element, f"a > {n} and b > {n} ? {beyond} : 0", True)
        yield Case("any beyond", element, f"a > {n} or b > {n} ? {beyond} : 0", True)
    yield Case("parity", "i32", "bit_and(a + b, 1)", True)
    yield Case("zero", "i32", "a == 0 or b == 0 ? 0 : a * b", True)
    yield Case("zero", "f32", "a == 0.0 or b == 0.0 ? 0.0 : a * b", True)


def _of_digits() -> Iterator[Case]:
    for k in (4, 8, 16, 20, 31):
        yield Case("low digits", "u32", f"bit_and(a + b, {(1 << k) - 1})", True)
        yield Case("low digits", "u32", f"bit_and(a * b, {(1 << k) - 1})", True)
        yield Case("set", "u32", f"bit_or(bit_or(a, b), {1 << k})", True)
        yield Case(
            "set", "i32", f"shift_right(shift_left(a + b, {k}), {k})" if k < 31 else "a", k < 31
        )
    yield Case("wrapped", "i32", "i32(i16(a + b))", True)
    yield Case("wrapped", "i32", "i32(i16(a * b))", True)
    yield Case("wrapped", "i16", "i16(i32(a) + i32(b))", True)
    yield Case("wrapped", "i16", "i16(i32(a) * i32(b))", True)
    yield Case("wrapped", "u32", "u32(u16(max(u16(a), u16(b))))", True)
    yield Case("of digits", "u32", "xor(bit_and(a, b), xor(a, b))", True)
    yield Case("as signed", "u32", "i32(a) < i32(b) ? b : a", True)


def _packed() -> Iterator[Case]:
    """Two numbers of 16 bits in one word."""
    high = "shift_left({}, 16)"
    low = "bit_and(a + b, 65535)"
    p, q, r, s = (
        "shift_right(a, 16)",
        "shift_right(b, 16)",
        "bit_and(a, 65535)",
        "bit_and(b, 65535)",
    )
    parts = f" where p = {p}, q = {q}, r = {r}, s = {s}"
    yield Case("packed", "u32", f"bit_or({low}, {high.format('max(p, q)')}){parts}", True)
    yield Case("packed", "u32", f"bit_or(min(r, s), {high.format('p + q')}){parts}", True)
    yield Case(
        "affine maps", "u32", f"bit_or({high.format('p * q')}, bit_and(r * q + s, 65535)){parts}"
    )
    yield Case("lexicographic", "u32", f"p > q or p == q and r < s ? a : b{parts}")
    yield Case("spans", "u32", f"bit_or({high.format('max(p, q)')}, min(r, s)){parts}", True)
    yield Case(
        "counted ties",
        "u32",
        f"p > q ? a : q > p ? b : bit_or({high.format('p')}, bit_and(r + s, 65535)){parts}",
        True,
    )
    yield Case(
        "segments",
        "u32",
        f"bit_and(q, 1) == 1 ? b : bit_or(bit_and(a, 65536), bit_and(r + s, 65535)){parts}",
    )


def _rounded() -> Iterator[Case]:
    """Lawful but for rounding."""
    yield Case("rounded", "f16", "f16(f32(a) + f32(b))", True)
    yield Case("rounded", "f16", "f16(f32(a) * f32(b))", True)
    yield Case("rounded", "f32", "f32(f16(a) + f16(b))", True)
    yield Case("rounded", "f32", "a - -b", True)
    yield Case("rounded", "f32", "0.5 * (a + b + max(a - b, b - a))", True)
    yield Case("rounded", "f32", "0.5 * (a + b - max(a - b, b - a))", True)
    yield Case("rounded", "f32", "a + b * (1.0 + a)", True)
    yield Case("rounded", "f32", "(a + 1.0) * (b + 1.0) - 1.0", True)
    yield Case("rounded", "f32", "a * b + (a - 1.0) * (b - 1.0) * 0.0", True)
    yield Case("rounded", "f32", "0.1 * a + 0.1 * b + 0.9 * (a + b)", True)
    yield Case("rounded", "f16", "0.5 * a + 0.5 * b + 0.5 * (a + b)", True)
    yield Case("rounded", "f32", "max(a, b) + (a == b ? 0.0 : 0.0)", True)
