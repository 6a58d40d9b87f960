"""Programs run on inputs salted with NaN, infinities, zeros of both signs, subnormals and the
largest floats.

    python tests/salted.py [--runs 20000] [--programs 800] [--first 0] [--verbose]

Each program is drawn: contract, operation (built in or of one's own), type, steps, target, length,
called alone or in a program, of a fixed length or one of the run. It is compiled once and run on
many inputs. A run has to be called right, all ranks that are promised the same have to end with the
same bits, and every element has to be what the table in docs/language.md says; that is told by
`oracle` below, which shares nothing with the reference of `collc run`.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from collc.base.columns import Array, Bools
from collc.base.diagnostics import CollcError
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.spec import ElementType
from collc.spec.arrays import DTYPE

Oracle = Callable[[Array, Array], Bools]  # operands [rank, element] and a result: whether it may be

ALLREDUCE = (
    "reduce chain to 0 then broadcast from 0",
    "reduce binomial to {root} then broadcast from {root}",
    "reduce star to 0 then broadcast from 0",
    "order ring run ring_allreduce",
    "run recursive_doubling",
    "run halving_doubling",
    "run direct_allreduce",
    "run pipelined_allreduce(c = 2)",
    "run dual_root_allreduce(c = 1)",
    "run binary_tree_allreduce(c = 2)",
    "run butterfly(G = 2)",
    "run auto",
)
IN_ORDER = (
    "reduce chain to 0 then broadcast from 0",
    "reduce binomial to 0 then broadcast from 0",
    "run pipelined_allreduce(c = 1)",
    "run binary_tree_allreduce(c = 1)",
    "run auto",
)
REDUCE = ("reduce chain to {root}", "reduce two_phase(S = 2) to 0", "reduce binomial to {root}")
STEPS = {
    "allreduce": ALLREDUCE,
    "reduce": REDUCE,
    "reduce_scatter": (
        "run ring_reduce_scatter",
        "run chain_reduce_scatter",
        "run direct_reduce_scatter",
        "run pairwise_reduce_scatter",
    ),
    "broadcast": ("broadcast from {root}", "run pipelined_broadcast(c = 2)"),
    "allgather": ("run ring_allgather", "run direct_allgather"),
    "gather": ("run linear_gather", "run binomial_gather"),
    "scatter": ("run linear_scatter", "run binomial_scatter"),
}
GRID_STEPS = (
    "reduce columns by chain to 0 then reduce row by chain to 0 then broadcast from (0, 0)",
    "run rows by recursive_doubling then run columns by recursive_doubling",
    "order ring run rows by ring_allreduce then run columns by direct_allreduce",
)
FLOATS, INTEGERS = ("f32", "f16"), ("i32", "u32", "i16", "u16")


# What may come out.


def alike(one: Array, other: Array) -> Bools:
    """Equal bit by bit, or both NaN."""
    if one.dtype.names:
        return np.asarray(alike(one["value"], other["value"]) & (one["index"] == other["index"]))
    found = one == other
    if one.dtype.kind == "f":
        found &= np.signbit(one) == np.signbit(other)
        found |= np.isnan(one) & np.isnan(other)
    return np.asarray(found)


def _rank_of(value: Any) -> tuple[float, int]:
    """A number of floats or integers where -0.0 is below 0.0."""
    return float(value), 0 if math.copysign(1, value) < 0 else 1


def _extreme(operands: Array, result: Array, pick: Callable[..., Any]) -> Bools:
    wanted = []
    for column in operands.T:
        numbers = [value for value in column if not np.isnan(value)]
        wanted.append(pick(numbers, key=_rank_of) if numbers else column[0])
    return alike(np.array(wanted, operands.dtype), result)


def largest(operands: Array, result: Array) -> Bools:
    """The largest number."""
    return _extreme(operands, result, max)


def smallest(operands: Array, result: Array) -> Bools:
    """The smallest number."""
    return _extreme(operands, result, min)


def _pair(operands: Array, result: Array, sign: int) -> Bools:
    found = []
    for column, one in zip(operands.T, result, strict=True):
        numbers = [pair for pair in column.tolist() if not math.isnan(pair[0])]
        if not numbers:
            found.append(any(alike(column, np.full_like(column, one))))
            continue
        best = max(tuple(sign * x for x in _rank_of(pair[0])) for pair in numbers)
        ties = [p for p in numbers if tuple(sign * x for x in _rank_of(p[0])) == best]
        wanted = np.array(min(ties, key=lambda pair: pair[1]), one.dtype)
        found.append(bool(alike(wanted, one)))
    return np.array(found)


def total(operands: Array, result: Array) -> Bools:
    """A sum in some order: what no order rounds is exact."""
    return _rounded(operands, result, product=False)


def product(operands: Array, result: Array) -> Bools:
    """A product in some order."""
    return _rounded(operands, result, product=True)


def _rounded(operands: Array, result: Array, *, product: bool) -> Bools:
    info = np.finfo(operands.dtype)
    columns = zip(operands.T.tolist(), result.tolist(), strict=True)
    return np.array([_may_be(list(c), one, info, product=product) for c, one in columns])


def _may_be(column: list[float], one: float, info: Any, *, product: bool) -> bool:
    """What a sum or product says of infinities and NaN, and of numbers that stay in range."""
    largest, tiny = float(info.max), float(info.tiny)
    finite = [value for value in column if math.isfinite(value)]
    near = len(column) * float(info.eps)
    plain = math.prod(column) if product else sum(column)
    if any(math.isnan(value) for value in column):
        return math.isnan(one)
    if product:
        large = math.prod(abs(v) for v in finite if abs(v) > 1)
        small = math.prod(abs(v) for v in finite if 0 < abs(v) < 1)
        if large * (1 + near) > largest or small * (1 - near) < tiny:
            return True  # it may pass through infinity or zero
        large = abs(plain)
    else:
        large = sum(abs(value) for value in finite)
        if large * (1 + near) > largest:
            return True
    if math.isfinite(plain):
        return abs(one - plain) <= near * large
    return math.isnan(one) if math.isnan(plain) else one == plain


def wrapped(combine: Callable[[Any, Any], Any]) -> Oracle:
    """Integers, combined one after the other at their width."""

    def judged(operands: Array, result: Array) -> Bools:
        found = operands[0]
        for received in operands[1:]:
            found = combine(found, received)
        return np.asarray(found == result)

    return judged


def anything(operands: Array, result: Array) -> Bools:
    """What depends on the order in a way that the plan fixes: only that ranks agree is known."""
    return np.ones(result.shape, np.bool_)


def first_number(operands: Array, result: Array) -> Bools:
    """The first operand that is a number."""
    wanted = [next((v for v in column if not np.isnan(v)), column[0]) for column in operands.T]
    return alike(np.array(wanted, operands.dtype), result)


def farthest(operands: Array, result: Array) -> Bools:
    """The largest of the values without their signs."""
    return largest(np.abs(operands), result)


def no_less(operands: Array, result: Array) -> Bools:
    """The largest, but 3 at least."""
    return largest(np.vstack([operands, np.full_like(operands[:1], 3)]), result)


@dataclass(frozen=True)
class Operation:
    """An operation, as it is declared if it is no built-in one, and what may come out."""

    name: str
    oracle: Oracle
    types: tuple[str, ...]
    declared: str = ""
    ordered: bool = False


BUILT_IN = (
    Operation("max", largest, (*FLOATS, *INTEGERS)),
    Operation("min", smallest, (*FLOATS, *INTEGERS)),
    Operation("add", total, FLOATS),
    Operation("mul", product, FLOATS),
    Operation("add", wrapped(np.add), INTEGERS),
    Operation("xor", wrapped(np.bitwise_xor), INTEGERS),
    Operation("argmax", lambda a, b: _pair(a, b, 1), ("(f32, u32)", "(i32, u32)", "(u32, u32)")),
    Operation("argmin", lambda a, b: _pair(a, b, -1), ("(f32, u32)", "(i32, u32)", "(u32, u32)")),
)


def _own(
    formula: str, oracle: Oracle, types: tuple[str, ...], how: str = "commutative"
) -> Operation:
    return Operation("own", oracle, types, f"{how} = {formula}", "commutative" not in how)


OWN = (
    _own("max(a, b)", largest, (*FLOATS, *INTEGERS)),
    _own("min(a, b)", smallest, (*FLOATS, *INTEGERS)),
    _own("max(max(a, b), 3)", no_less, FLOATS),
    _own("max(max(a, -a), max(b, -b))", farthest, FLOATS),
    _own("-min(min(a, -a), min(b, -b))", farthest, FLOATS),
    _own("a + b", total, FLOATS),
    _own("a * b", product, FLOATS),
    _own("min(max(a, b), 3)", anything, FLOATS, "commutative assume associative"),
    _own("a > b ? a : b", anything, FLOATS),
    _own("a <= b ? a : b", anything, FLOATS),
    _own("max(a, 0) + max(b, 0)", anything, FLOATS, "commutative assume associative"),
    _own("min(0, a) + min(b, -0.0)", anything, FLOATS, "commutative assume associative"),
    _own("a + b - a * b", anything, FLOATS),
    _own("(a * 3 + b) - a * 2", anything, FLOATS),
    _own("f32(f16(a)) + f32(f16(b))", anything, ("f32",), "commutative assume associative"),
    _own("f16(f32(a) * f32(b))", anything, ("f16",)),
    _own("not (a < b) and b == b ? a : b", anything, FLOATS, "commutative assume associative"),
    _own("a != a ? b : a", first_number, FLOATS, ""),
    _own("b == b ? b : a", anything, FLOATS, ""),
    _own("bit_or(a, b)", wrapped(np.bitwise_or), INTEGERS),
)


@dataclass(frozen=True)
class Drawn:
    """A program, and what it does."""

    text: str
    kind: str
    element: str
    operation: Operation | None
    size: tuple[int, int]
    length: int
    root: int
    most: int  # of the run, or 0
    calls: int


def drawn(number: int) -> Drawn:
    """The program of a number."""
    dice = np.random.default_rng(number)

    def one_of(of: tuple[Any, ...]) -> Any:
        return of[int(dice.integers(len(of)))]

    kind = one_of(("allreduce",) * 8 + tuple(STEPS))
    combines = kind in ("allreduce", "reduce", "reduce_scatter")
    operation = one_of(BUILT_IN + OWN) if combines else None
    if operation and operation.ordered and kind == "reduce_scatter":
        kind = "allreduce"
    element = one_of(operation.types if operation else ("f32", "f16", "(f32, u32)"))
    width, length = int(dice.integers(2, 10)), int(dice.integers(1, 25))
    height = int(dice.integers(2, 4)) if kind == "allreduce" and not dice.integers(6) else 1
    root = int(dice.integers(width))
    ordered = operation is not None and operation.ordered
    steps = STEPS[kind] if height == 1 else GRID_STEPS
    if ordered:
        root = 0
        height = 1
        steps = IN_ORDER if kind == "allreduce" else ("reduce chain to 0", "reduce binomial to 0")
    step = one_of(steps)
    if "{root}" not in step and kind in ("reduce", "broadcast"):
        root = 0
    if height > 1:
        width = min(width, 4)
    most = length if kind in ("allreduce", "reduce", "broadcast") and not dice.integers(6) else 0
    calls = int(dice.integers(2, 4)) if not dice.integers(6) else 1
    what = [f"x: {element}[{f'n <= {most}' if most else length}]"]
    what += [operation.name] if operation else []
    declared = (
        f"operation own(a, b: {element}) {operation.declared}\n"
        if operation and operation.declared
        else ""
    )
    text = (
        f"target {one_of(('wse2', 'wse3'))}\n{declared}grid pes = {width} x {height}\n"
        f"collective c = {kind}({', '.join(what)}) on pes {{ {step.format(root=root)} }}\n"
        f"program {{ {f'repeat {calls} {{ c }}' if calls > 1 else 'c'} }}\n"
    )
    return Drawn(text, kind, element, operation, (height, width), length, root, most, calls)


def salted(dice: np.random.Generator, element: str, shape: tuple[int, ...]) -> Array:
    """Elements of which some are what floats hold beside numbers, more of them in some columns."""
    dtype = DTYPE[ElementType(element)]
    if dtype.names:
        found = np.zeros(shape, dtype)
        found["value"] = salted(
            dice, {"f": "f32", "i": "i32", "u": "u32"}[dtype["value"].kind], shape
        )
        found["index"] = dice.choice([*range(4), 2**31, 2**32 - 1], shape)
        return found
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        found = dice.integers(info.min, info.max, shape, dtype, endpoint=True)
        return np.where(dice.random(shape) < 0.5, dice.integers(0, 3, shape).astype(dtype), found)
    word = np.dtype(f"u{dtype.itemsize}")
    info = np.finfo(dtype)
    sign = np.array(1, word) << np.array(8 * dtype.itemsize - 1, word)
    endless = np.array(np.inf, dtype).view(word)
    nan = endless | dice.integers(1, 1 << info.nmant, shape).astype(word)
    subnormal = dice.integers(1, 1 << info.nmant, shape).astype(word)
    plain = (dice.normal(size=shape) * dice.choice([0.01, 1.0, 100.0], shape)).astype(dtype)
    small = dice.integers(-2, 3, shape).astype(dtype)
    large = (float(info.max) * dice.uniform(0.3, 1, shape)).astype(dtype)
    zeros = np.zeros(shape, dtype)
    kinds = np.stack(
        [
            *(of.view(word) for of in (plain, small, zeros)),
            *(nan, subnormal, large.view(word)),
            np.broadcast_to(endless, shape),
        ]
    )
    weights = [0.25, 0.2, 0.2, 0.12, 0.05, 0.08, 0.1]
    often = dice.choice(len(kinds), shape, p=weights)
    by_column = dice.choice(len(kinds), shape[-1:], p=weights)
    often = np.where(dice.random(shape[-1:]) < 0.4, by_column, often)  # of one kind but for signs
    bits = np.take_along_axis(kinds, often[None], 0)[0]
    turned = np.where(dice.random(shape) < 0.4, sign, np.array(0, word))
    return np.ascontiguousarray(bits ^ turned).view(dtype)


def wrong_with(case: Drawn, given: Array, found: Array) -> str:
    """What is not as the table says, of vectors [rank, element] of one call."""
    ranks, length = given.shape
    bounds = [r * length // ranks for r in range(ranks + 1)]
    parts = [slice(*ends) for ends in itertools.pairwise(bounds)]
    if case.kind in ("allreduce", "broadcast", "allgather"):
        differ = ~alike(found, np.broadcast_to(found[0], found.shape))
        if differ.any():
            rank, at = (int(i) for i in np.argwhere(differ)[0])
            return f"rank {rank} has {found[rank, at]!r} in {at}, rank 0 {found[0, at]!r}"
    if case.kind in ("allreduce", "reduce", "reduce_scatter"):
        assert case.operation is not None
        result = found[case.root]
        if case.kind == "reduce_scatter":
            result = np.concatenate([found[r, part] for r, part in enumerate(parts)])
        right = case.operation.oracle(given, result)
        wanted = "what may come out"
    else:
        wanted_is = {
            "broadcast": lambda: (given[case.root], found[0]),
            "allgather": lambda: (_of(given, parts), found[0]),
            "gather": lambda: (_of(given, parts), found[0]),
            "scatter": lambda: (given[0], _of(found, parts)),
        }
        wanted, result = wanted_is[case.kind]()
        right = alike(np.asarray(wanted), result)
    if right.all():
        return ""
    at = int(np.argmin(right))
    return f"element {at} of {given[:, at].tolist()} is {result[at]!r}, not {wanted}"


def _of(vectors: Array, parts: list[slice]) -> Array:
    return np.concatenate([vectors[r, part] for r, part in enumerate(parts)])


def run_of(case: Drawn, bundle: Bundle, seed: int) -> str:
    """What is wrong with a run, or nothing."""
    dice = np.random.default_rng(seed)
    height, width = case.size
    given = salted(dice, case.element, (case.calls, height, width, case.length))
    alone = case.calls == 1
    n = int(dice.integers(1, case.most + 1)) if case.most else case.length
    lengths = {"n": [n] * case.calls} if case.most else None
    report = bundle.run(seed=seed, inputs={"x": given[0] if alone else given}, lengths=lengths)
    if not report.verified:
        return f"called WRONG: {report.problem}"
    found = report.results["x"]
    for round_ in range(case.calls):
        vectors = (given[round_], found if alone else found[round_])
        flat = [of.reshape(height * width, case.length)[:, :n] for of in vectors]
        wrong = wrong_with(case, *flat)
        if wrong:
            return wrong
    return ""


def faults(programs: Iterator[int], runs: int, done: Counter[str]) -> Iterator[str]:
    """What goes wrong in so many runs of each program."""
    for number in programs:
        case = drawn(number)
        try:
            bundle = compile_text(case.text, "salted.coll", {})
        except CollcError as error:
            done["refused"] += 1
            done[f"refused {error.diagnostics[0].code} {case.kind}"] += 1
            continue
        done["programs"] += 1
        done[f"{case.kind} {case.operation.name if case.operation else ''}"] += runs
        for run in range(runs):
            done["runs"] += 1
            done["elements"] += case.calls * case.length * math.prod(case.size)
            wrong = run_of(case, bundle, 1_000_003 * number + run)
            if wrong:
                yield f"program {number}, run {run}: {wrong}\n{case.text}"
                break


@click.command()
@click.option("--runs", default=20_000, help="Of all programs together.")
@click.option("--programs", default=800)
@click.option("--first", default=0, help="The number of the first program.")
@click.option("--verbose", is_flag=True, help="Say what was run.")
def main(runs: int, programs: int, first: int, verbose: bool) -> None:
    """Run programs on salted input; the status is 1 if one goes wrong."""
    done, began, wrong = Counter[str](), time.monotonic(), 0
    each = -(-runs // programs)
    numbers = itertools.takewhile(lambda _: done["runs"] < runs, itertools.count(first))
    for fault in faults(numbers, each, done):
        wrong += 1
        click.echo(fault)
    took = time.monotonic() - began
    click.echo(
        f"{done['runs']} runs of {done['programs']} programs, {done['elements']} elements, "
        f"{done['refused']} programs refused, {wrong} wrong, {took:.0f} s"
    )
    if verbose:
        for what, count in sorted(done.items()):
            click.echo(f"  {what}: {count}")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
