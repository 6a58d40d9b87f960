"""The programs by which `tests/laws.py` measures the laws of plans, law by law.

A law compares what programs take: a cell is a program, others that it is held against, and what it
may take more than they do. Every law is about all contracts on both targets. `fixed` is the part
that never changes, `drawn` one that a seed chooses, and `cliffs` the examples of the past at which
a change of form or scope cost a multiple.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import log2
from pathlib import Path

from cells import AROUND, COMBINING, CONTRACTS, GIVEN, ROOTED, SITES, TARGETS
from cells import Cell as Scope
from cells import cells as scopes

from collc.patterns import Kind, all_patterns
from collc.patterns.facts import contracts_of

EXAMPLES = Path(__file__).parents[1] / "examples"
LAWS = {
    0: "every contract compiles in every scope, or the refusal names a limit of the machine",
    1: "a call in a program takes what it takes alone",
    2: "a length or a root given at run time takes what a fixed one takes",
    3: "a collective on a grid takes at most what its two halves take",
    4: "on a part of a grid, on each row, beside another: as on a grid of that size",
    5: "`run auto` is as good as the best of all plans, by prediction",
    6: "what is built is right in a kernel that waits before each call, launch after launch",
    7: "predictions are those of the simulator",
}
# Cycles that a law allows.
OF_A_CALL, OF_A_DOUBLING = 60, 20
OF_A_LENGTH, OF_A_LENGTH_BY_STEPS, OF_A_ROOT = 60, 120, 90
OF_A_SCOPE = 60
OF_A_PREDICTION, PART_OF_A_PREDICTION = 60, 0.02
PART_OF_A_CHOICE = 0.01
COPIES = 2  # of a vector in memory, between the halves of a collective that moves slices
WHOLE = ("broadcast", "reduce", "allreduce", "barrier")  # contracts about whole vectors


@dataclass(frozen=True, order=True)
class Run:
    """A program to be measured: lengths and roots are `given` at each launch. One that `waits` is
    launched three times from a kernel that waits before each call; one that is not `simulated` is
    only predicted, and one not even `predicted` only compiled."""

    text: str
    target: str
    given: tuple[tuple[str, int], ...] = ()
    waits: bool = False
    simulated: bool = True


@dataclass(frozen=True)
class Cell:
    """One case of a law: `run` may take `factor` times what those `against` it take, which is the
    sum, the largest or the least, and `more` cycles; `by_steps` of them only where the plan has
    phases by steps."""

    law: int
    about: str
    run: Run
    against: tuple[Run, ...] = ()
    how: str = "sum"
    more: int = 0
    by_steps: int = 0
    factor: float = 1.0


@dataclass(frozen=True)
class Shape:
    """A contract on a grid, with a length that all its slices divide."""

    contract: str
    width: int
    height: int
    length: int
    target: str

    @property
    def line(self) -> bool:
        """Whether it is on one line of PEs."""
        return 1 in (self.width, self.height)

    @property
    def vector(self) -> str:
        """Its length, in words."""
        return "" if self.contract == "barrier" else f", {self.length} elements"

    def __str__(self) -> str:
        return f"{self.target} {self.contract} {self.width} x {self.height}{self.vector}"


def of_contract(contract: str, buffer: str, length: object) -> str:
    """The contract as the language says it, with a sum where elements are combined."""
    if contract == "barrier":
        return "barrier()"
    return f"{contract}({buffer}: f32[{length}]{', add' * (contract in COMBINING)})"


def steps(contract: str, root: object = 0) -> str:
    """`run auto`, with the root of a contract that has one."""
    return f"run auto {ROOTED[contract]} {root}" if contract in ROOTED else "run auto"


def collective(name: str, contract: str, length: object, site: str, body: str = "") -> str:
    """A collective with a buffer of its own."""
    what = of_contract(contract, f"x_{name}", length)
    return f"collective {name} = {what} on {site} {{ {body or steps(contract)} }}"


def program(target: str, grids: str, calls: str, *collectives: str) -> Run:
    """A program of these collectives."""
    lines = (f"target {target}", grids, *collectives, f"program {{ {calls} }}")
    return Run("\n".join(lines) + "\n", target)


def alone(shape: Shape, body: str = "", length: object = None) -> Run:
    """The one collective on a grid of its own."""
    made = collective("c", shape.contract, length or shape.length, "g", body)
    return program(shape.target, f"grid g = {shape.width} x {shape.height}", "c", made)


# Law 0


def law_0(every: int, first: int = 0) -> Iterator[Cell]:
    """One in so many of all scopes of `tests/cells.py`."""
    for scope in list(scopes())[first::every]:
        yield of_scope(scope)


def of_scope(scope: Scope) -> Cell:
    """A scope, which has to compile."""
    run = Run(scope.text, scope.target, simulated=False)
    return Cell(0, str(scope), run)


# Law 1


def law_1(shape: Shape, count: int) -> Iterator[Cell]:
    """A collective so many times; the same call repeated; and as one of as many different
    collectives."""
    yield many(shape, count)
    grid = f"grid g = {shape.width} x {shape.height}"
    names = [f"c{n}" for n in range(count)]
    same = [collective(name, shape.contract, shape.length, "g") for name in names]
    one = alone(shape)
    repeated = program(shape.target, grid, f"repeat {count} {{ c0 }}", same[0])
    yield Cell(1, f"{shape}, {count} rounds", repeated, (one,) * count, more=count * _more(1, 1))
    others = [kind for kind in CONTRACTS if kind != shape.contract][: count - 1]
    mixed = [shape, *(replace(shape, contract=kind) for kind in others)]
    made = [collective(f"c{n}", one.contract, one.length, "g") for n, one in enumerate(mixed)]
    run = program(shape.target, grid, " ".join(names[: len(made)]), *made)
    about = f"{shape}, before {' and '.join(others)}"
    yield Cell(1, about, run, tuple(map(alone, mixed)), more=_more(len(mixed), len(mixed)))


def many(shape: Shape, count: int, body: str = "") -> Cell:
    """So many collectives, each with a buffer of its own, beside one of them alone."""
    names = [f"c{n}" for n in range(count)]
    made = [collective(name, shape.contract, shape.length, "g", body) for name in names]
    grid = f"grid g = {shape.width} x {shape.height}"
    run = program(shape.target, grid, " ".join(names), *made)
    against = (alone(shape, body),) * count
    return Cell(1, f"{shape}, {count} of them", run, against, more=_more(count, count))


def _more(calls: int, collectives: int) -> int:
    """What calls may take more than by themselves, in a program of so many collectives."""
    return round(calls * (OF_A_CALL + OF_A_DOUBLING * log2(collectives)))


# Law 2


def law_2(shape: Shape) -> Iterator[Cell]:
    """A length and a root that are given at run time, beside the fixed ones."""
    if shape.contract == "barrier":
        return
    fixed = alone(shape)
    given = replace(alone(shape, length=f"n <= {shape.length}"), given=(("n", shape.length),))
    more = {"more": OF_A_LENGTH, "by_steps": OF_A_LENGTH_BY_STEPS - OF_A_LENGTH}
    yield Cell(2, f"{shape}, length given", given, (fixed,), **more)  # type: ignore[arg-type]
    if shape.contract in ROOTED and shape.line:
        ranks = shape.width * shape.height
        for root in (0, ranks - 1):
            body = steps(shape.contract, f"q < {ranks}")
            of_call = replace(alone(shape, body), given=(("q", root),))
            there = alone(shape, steps(shape.contract, root))
            yield Cell(2, f"{shape}, root {root} given", of_call, (there,), more=OF_A_ROOT)


# What a length is given to beside `run auto`, which may choose otherwise for it.
BY_NAME = {
    "reduce": ("reduce chain to 0", "reduce two_phase(S = 3) to 0", "run pipelined_reduce(c = 2)"),
    "allreduce": (
        "reduce binomial to 0 then broadcast from 0",
        "order ring run ring_allreduce",
        "run recursive_doubling",
    ),
    "broadcast": ("broadcast from 0", "run pipelined_broadcast(c = 2)"),
    "scatter": ("run linear_scatter", "run binomial_scatter"),
    "gather": ("run linear_gather", "run binomial_gather"),
    "allgather": ("run direct_allgather", "order ring run ring_allgather"),
    "reduce_scatter": ("run direct_reduce_scatter", "order ring run ring_reduce_scatter"),
}


def law_2_by_name(shape: Shape) -> Iterator[Cell]:
    """The same for plans that are named."""
    for body in BY_NAME.get(shape.contract, ()):
        fixed = alone(shape, body)
        given = replace(alone(shape, body, f"n <= {shape.length}"), given=(("n", shape.length),))
        more = {"more": OF_A_LENGTH, "by_steps": OF_A_LENGTH_BY_STEPS - OF_A_LENGTH}
        about = f"{shape}, `{body}`, length given"
        yield Cell(2, about, given, (fixed,), **more)  # type: ignore[arg-type]


# Law 3


def halves(shape: Shape) -> Run:
    """The two halves of a collective on a grid, as two collectives in a program."""
    length, rows = shape.length, shape.length // shape.height
    first, on_rows, on_columns = f"grid first = g[0, 0 .. {shape.height - 1}]", length, length
    of_rows, of_columns, order = "each row of g", "each column of g", "rows columns"
    match shape.contract:
        case "reduce":
            of_columns = "first"
        case "gather":
            of_columns, on_rows = "first", rows
        case "broadcast":
            of_columns, order = "first", "columns rows"
        case "scatter":
            of_columns, order, on_rows = "first", "columns rows", rows
        case "allgather":
            on_rows = rows
        case "reduce_scatter":
            on_columns = length // shape.width
        case "all_to_all":
            order = "columns rows"
    return program(
        shape.target,
        f"grid g = {shape.width} x {shape.height}\n{first}",
        order,
        collective("rows", shape.contract, on_rows, of_rows),
        collective("columns", shape.contract, on_columns, of_columns),
    )


def law_3(shape: Shape) -> Iterator[Cell]:
    """A collective on a grid beside its halves."""
    copies = 0 if shape.contract in WHOLE else COPIES * shape.length
    yield Cell(3, str(shape), alone(shape), (halves(shape),), more=copies + OF_A_SCOPE)


# Law 4


def law_4(shape: Shape) -> Iterator[Cell]:
    """On a part of a larger grid, and beside a collective on another part; a line on each row and
    on each column of a grid."""
    made, one = collective("c", shape.contract, shape.length, "p"), alone(shape)
    w, h = shape.width, shape.height
    part = f"grid g = {w + 2} x {h + 2}\ngrid p = g[1 .. {w}, 1 .. {h}]"
    run = program(shape.target, part, "c", made)
    yield Cell(4, f"{shape}, on a part", run, (one,), more=OF_A_SCOPE)
    other = replace(shape, contract="allreduce")
    parts = f"grid g = {2 * w} x {h}\ngrid p = g[0 .. {w - 1}, 0 .. {h - 1}]"
    parts += f"\ngrid o = g[{w} .. {2 * w - 1}, 0 .. {h - 1}]"
    beside = collective("d", other.contract, other.length, "o")
    run = program(shape.target, parts, "c and d", made, beside)
    both = (one, alone(other))
    yield Cell(4, f"{shape}, beside another", run, both, how="most", more=OF_A_SCOPE)
    if shape.height == 1:
        line = collective("c", shape.contract, shape.length, "each row of g")
        run = program(shape.target, f"grid g = {w} x 3", "c", line)
        yield Cell(4, f"{shape}, on each row", run, (one,), more=OF_A_SCOPE)
        line = collective("c", shape.contract, shape.length, "each column of g")
        run = program(shape.target, f"grid g = 3 x {w}", "c", line)
        yield Cell(4, f"{shape}, on each column", run, (one,), more=OF_A_SCOPE)


# Law 5

_TREES = ("chain", "star", "binomial", "optimal")
_NUMBERS = {"c": (1, 2, 4, 8), "G": (2, 3, 4)}
_FEW_NUMBERS = {"c": (2,), "G": (2,)}


@lru_cache
def _algorithms(contract: str, roots: tuple[int, ...], few: bool = False) -> tuple[str, ...]:
    """All algorithms of the prelude for a contract, with the numbers that are tried."""
    found, tried = [], _FEW_NUMBERS if few else _NUMBERS
    for pattern in all_patterns():
        if pattern.kind is not Kind.ALGORITHM or contracts_of(pattern)[0].value != contract:
            continue
        names = pattern.parameters
        values = [roots if name == "root" else tried[name] for name in names]
        for numbers in product(*values):
            given = ", ".join(f"{n} = {v}" for n, v in zip(names, numbers, strict=True))
            found.append(f"{pattern.name}({given})" if given else pattern.name)
    return tuple(found)


def _trees(ranks: int) -> Iterator[str]:
    yield from _TREES
    for size in range(2, ranks):
        yield f"two_phase(S = {size})"
        yield f"chain_star(S = {size})"


def bodies_of_line(contract: str, ranks: int) -> Iterator[str]:
    """Every plan of a collective on a line: all trees, groups and roots, all algorithms."""
    every = tuple(range(ranks))
    if contract == "broadcast":
        yield "broadcast from 0"
    if contract == "reduce":
        yield from (f"reduce {tree} to 0" for tree in _trees(ranks))
    if contract in ("allreduce", "barrier"):
        for tree, root in product(_trees(ranks), every):
            yield f"reduce {tree} to {root} then broadcast from {root}"
    roots = (0,) if contract in ROOTED else every
    # an order says which slice is whose, so it is the compiler's where none belongs to a rank
    orders = ("", "order ring ") if contract in WHOLE else ("",)
    for order, name in product(orders, _algorithms(contract, roots)):
        yield f"{order}run {name}"
        if contract == "allreduce":
            yield f"{order}run {name} in simd"


def bodies_of_grid(contract: str, width: int, height: int) -> Iterator[str]:
    """Every plan of a collective on a small grid: either axis first, each with its own tree or
    algorithm, and along one path."""
    if contract == "broadcast":
        yield "broadcast from (0, 0)"
    if contract in ("reduce", "allreduce", "barrier"):
        back = " then broadcast from (0, 0)" if contract != "reduce" else ""
        for row, column in product(_trees(width), _trees(height)):
            yield f"reduce columns by {column} to 0 then reduce row by {row} to 0{back}"
            yield f"reduce rows by {row} to 0 then reduce column by {column} to 0{back}"
    names = _algorithms(contract, (0,), few=True)
    orders = ("", "order ring ") if contract in WHOLE else ("",)
    for order, row, column in product(orders, names, names):
        if contract in ROOTED:
            yield f"{order}run column by {column} then run rows by {row}"
            yield f"{order}run row by {row} then run columns by {column}"
            yield f"{order}run columns by {column} then run row by {row}"
            yield f"{order}run rows by {row} then run column by {column}"
        else:
            yield f"{order}run columns by {column} then run rows by {row}"
            yield f"{order}run rows by {row} then run columns by {column}"
    for name in names if contract in WHOLE else ():
        yield f"order snake run {name}"


def law_5(shape: Shape) -> Iterator[Cell]:
    """`run auto` beside all plans, by prediction."""
    of = bodies_of_line(shape.contract, shape.width * shape.height)
    bodies = of if shape.line else bodies_of_grid(shape.contract, shape.width, shape.height)
    runs = tuple(replace(alone(shape, body), simulated=False) for body in dict.fromkeys(bodies))
    auto = replace(alone(shape), simulated=False)
    yield Cell(5, str(shape), auto, runs, how="least", factor=1 + PART_OF_A_CHOICE)


# Law 6


def law_6(shape: Shape) -> Iterator[Cell]:
    """What is built, called late: alone, in a program of rounds, and with what is given then."""

    def waiting(about: str, run: Run, *given: tuple[str, int]) -> Cell:
        return Cell(6, f"{shape}, {about}", replace(run, waits=True, given=given))

    yield waiting("alone", alone(shape))
    grid = f"grid g = {shape.width} x {shape.height}"
    one = collective("c", shape.contract, shape.length, "g")
    other = collective("d", "allreduce", shape.length, "g")
    yield waiting("in rounds", program(shape.target, grid, "repeat 2 { c d c }", one, other))
    if shape.contract == "barrier":
        return
    for length in (1, shape.length):
        run = alone(shape, length=f"n <= {shape.length}")
        yield waiting(f"length {length} given", run, ("n", length))
    if shape.contract in ROOTED and shape.line:
        ranks = shape.width * shape.height
        run = alone(shape, steps(shape.contract, f"q < {ranks}"))
        yield waiting("root given", run, ("q", ranks // 2))


# Which cells


def _shapes(sizes: tuple[tuple[int, int, int], ...]) -> Iterator[Shape]:
    """Each contract on each target; sizes are widths, heights and elements of a slice."""
    for number, (contract, target) in enumerate(product(CONTRACTS, TARGETS)):
        width, height, each = sizes[number % len(sizes)]
        yield Shape(contract, width, height, each * width * height, target)


def fixed() -> Iterator[Cell]:
    """The cells of every run, but for those of law 5."""
    yield from law_0(every=31)
    for shape in _shapes(((8, 1, 4), (4, 3, 2), (14, 1, 1))):
        yield from law_1(shape, 3)
    for contract, target in product(("allreduce", "broadcast", "allgather"), TARGETS):
        yield many(Shape(contract, 16, 1, 32, target), 16, BY_NAME[contract][0])
    for shape in _shapes(((14, 1, 4),)):
        yield from law_2(shape)
        yield from law_2_by_name(shape)
    for shape in _shapes(((4, 3, 2),)):
        yield from law_2(shape)
    for shape in (*_shapes(((4, 3, 2),)), *_shapes(((8, 8, 1),)), *_shapes(((6, 4, 8),))):
        yield from law_3(shape)
    for shape in (*_shapes(((8, 1, 4),)), *_shapes(((4, 3, 3),))):
        yield from law_4(shape)
    for shape in (*_shapes(((7, 1, 2),)), *_shapes(((4, 3, 1),))):
        yield from law_6(shape)


def choices(seed: int) -> Iterator[Cell]:
    """Those of law 5, which take long to enumerate: a line of each contract and a small grid, and
    two that a seed chooses."""
    pick = random.Random(f"choices {seed}")
    yield from law_5(_drawn_shape(pick, line=True, most=7))
    yield from law_5(_drawn_shape(pick, line=False, most=6))
    for contract, target in zip(CONTRACTS, TARGETS * len(CONTRACTS), strict=False):
        yield from law_5(Shape(contract, 5, 1, 20, target))
        if contract not in ("reduce", "barrier"):
            yield from law_5(Shape(contract, 3, 2, 12, target))


def drawn(seed: int, count: int) -> Iterator[Cell]:
    """So many cells that a seed chooses, of all laws but 5 (`choices`) and 7 (all runs)."""
    pick = random.Random(f"laws {seed}")
    families = (
        lambda shape: law_1(shape, pick.randint(2, 6)),
        law_2,
        law_2_by_name,
        law_3,
        law_4,
        law_6,
    )
    made = 0
    while made < count:
        if pick.random() < 0.15:
            yield of_scope(_drawn_scope(pick))
            made += 1
            continue
        of = pick.choice(families)
        line = of is law_2_by_name or (of is not law_3 and pick.random() < 0.5)
        cells = list(of(_drawn_shape(pick, line=line, most=40)))
        if cells:
            yield pick.choice(cells)
            made += 1


def _drawn_shape(pick: random.Random, *, line: bool, most: int) -> Shape:
    """A contract on at most so many PEs, with slices of up to 16 elements."""
    width = pick.randint(2, most) if line else pick.randint(2, max(2, int(most**0.5) + 1))
    height = 1 if line else pick.randint(2, max(2, most // width))
    if line and pick.random() < 0.3:
        width, height = height, width
    each = pick.choice((1, 1, 2, 3, 4, 8, 16))
    length = each * width * height
    return Shape(pick.choice(CONTRACTS), width, height, length, pick.choice(TARGETS))


def _drawn_scope(pick: random.Random) -> Scope:
    """One of all scopes."""
    contract, target = pick.choice(CONTRACTS), pick.choice(TARGETS)
    given = [one for one in GIVEN if "root" not in one or contract in ROOTED]
    if contract == "barrier":
        given = ["fixed"]
    chosen = pick.choice(given)
    sites = [name for name, (_, _, ranks) in SITES.items() if ranks or "root" not in chosen]
    return Scope(contract, pick.choice(sites), chosen, pick.choice(AROUND), target=target)


# Cliffs


@dataclass(frozen=True)
class Cliff:
    """Where the same thing cost a multiple in another form or scope: what it takes `here`, and what
    it is held against, each with a word for it. `law` is the one that says so."""

    law: int
    about: str
    here: tuple[str, tuple[Run, ...]]
    there: tuple[str, Run]


def example(name: str, target: str = "wse2", **numbers: int) -> Run:
    """A program of examples/, with these parameters."""
    text = (EXAMPLES / f"{name}.coll").read_text(encoding="utf-8")
    for one, value in numbers.items():
        line = next(line for line in text.splitlines() if line.startswith(f"param {one} "))
        text = text.replace(line, f"param {one} = {value}")
    return Run(text, target)


def cliffs() -> Iterator[Cliff]:
    """All of them."""
    yield _behind_a_barrier()
    for size in (8, 16):
        shape = Shape("all_to_all", size, size, size * size, "wse2")
        yield Cliff(
            3,
            f"all_to_all {size} x {size}, one word a pair",
            ("columns, then rows as two collectives", (halves(shape),)),
            ("as one collective", alone(shape)),
        )
    yield from _two_axes_of_reduce_scatter()
    for contract in ("reduce_scatter", "allgather"):
        shape = Shape(contract, 14, 1, 64, "wse2")
        given = replace(alone(shape, length="n <= 64"), given=(("n", 64),))
        about = f"{contract} 14 x 1, 64 words"
        yield Cliff(2, about, ("fixed length", (alone(shape),)), ("length given", given))
    yield _twenty_allreduces()
    yield Cliff(
        3,
        "transposition, 16 elements a block",
        ("6 x 6", (example("gallery/transpose", N=6),)),
        ("7 x 7", example("gallery/transpose", N=7)),
    )
    yield from _by_hand()
    yield from _roots_of_scatter_and_gather()
    yield _two_trees_joined()


def _behind_a_barrier() -> Cliff:
    text = (EXAMPLES / "allreduce_slices.coll").read_text(encoding="utf-8")
    steps = "run rows by linear_barrier then run columns by linear_barrier"
    barrier = f"collective go = barrier() on wafer {{ {steps} }}\n"
    text = text.replace("program { total }", barrier + "program { CALLS }")
    both, first, second = (
        Run(text.replace("CALLS", calls), "wse2") for calls in ("go total", "go", "total")
    )
    alone = ("a barrier and the allreduce, each alone", (first, second))
    return Cliff(1, "allreduce_slices 12 x 8 behind a barrier", alone, ("as a program", both))


def _two_axes_of_reduce_scatter() -> Iterator[Cliff]:
    shape = Shape("reduce_scatter", 8, 8, 1024, "wse2")
    two = ("rows, then columns as two collectives", (halves(shape),))
    about = "reduce_scatter 8 x 8, 1024 elements"
    yield Cliff(3, about, two, ("as one collective", alone(shape)))
    best = "run columns by chain_reduce_scatter then run rows by chain_reduce_scatter"
    yield Cliff(3, about, two, ("the same phases in one collective", alone(shape, best)))


def _twenty_allreduces() -> Cliff:
    body = "reduce optimal to 0 then broadcast from 0"
    shape = Shape("allreduce", 64, 1, 64, "wse2")
    cell = many(shape, 20, body)
    here = ("twenty times what it takes alone", cell.against)
    return Cliff(1, "allreduce 64 x 1, 64 elements, 20 of them", here, ("as a program", cell.run))


def _by_hand() -> Iterator[Cliff]:
    """What hand-written programs were measured at; see the page."""
    yield Cliff(
        3,
        "prefix sum 64 x 1, 16 elements",
        ("the lower bound", (replace(example("prefix_sum", P=64, B=16, c=4), simulated=False),)),
        ("examples/prefix_sum.coll", example("prefix_sum", P=64, B=16, c=4)),
    )
    halo = example("gallery/halo", W=8, H=8, E=16)
    yield Cliff(
        3,
        "halo 8 x 8, 16 elements an edge",
        ("the lower bound", (replace(halo, simulated=False),)),
        ("examples/gallery/halo.coll", halo),
    )


def _roots_of_scatter_and_gather() -> Iterator[Cliff]:
    for contract in ("scatter", "gather"):
        shape = Shape(contract, 16, 1, 512, "wse2")
        given = replace(alone(shape, steps(contract, "q < 16")), given=(("q", 15),))
        fixed = alone(shape, steps(contract, 15))
        about = f"{contract} 16 x 1, 512 elements, root 15"
        yield Cliff(7, about, ("fixed root", (fixed,)), ("root given", given))


def _two_trees_joined() -> Cliff:
    made = [collective(n, "reduce", 2048, "g", "reduce chain to 0") for n in ("a", "b")]
    turn, both = (program("wse2", "grid g = 512 x 1", calls, *made) for calls in ("a b", "a and b"))
    about = "two chains of 2,048 elements, 512 x 1"
    return Cliff(7, about, ("one after the other", (turn,)), ("joined", both))
