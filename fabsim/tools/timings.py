"""Run public programs whose cycles are published, and set those beside fabsim's.

    python fabsim/tools/timings.py FOLDER... [--timing NAME] [--constant NAME=CYCLES]
                                             [--only TEXT] [--details] [--page FILE]

The points, with the file each number was published in, are in `timings_points.csv` beside this
file. The programs are other people's and stay outside; FOLDER is a checkout of one of them, or a
folder of checkouts:

    tiled-stencil, untiled-stencil    github.com/Jorineg/cerebras
    scalar-kernels                    github.com/luozoupi/FABRICA-CUDA2CSL-Optmization-Benchmark-...
    systolic-gemm                     github.com/da-luce/cs5220_hw4
    star2d, 1r-star2d, box2d          github.com/Elia-Belli/stencil-cerebras
    spmm-coo, -csc, -csr, -gemm       github.com/pr0f3ss/SpMM_Cerebras
    solvers                           github.com/Cerebras/sdk-examples, tag v1.4.0
    columns, strip-sums, scalar-loops  of our own, beside this file in timed/

The last ones were written anew for points whose programs are no repository that can be had whole:
what happens in them is what the published ones do.

Each program is measured as its author did it: between its own time stamps, by the log of a link, or
by the last busy cycle of PE (1, 1) in runs of four iterations and of two. Error is
simulated / published - 1; the overall figures take its amount. A program that fabsim refuses or
cannot finish is named with the reason, and then the status is 1. With --page the points go into
FILE between the marks `timings: begin` and `timings: end`, by the clock `streams` and by the one
asked for. What the clock is worth for other programs is a question of families: see
fit_timings.py.
"""

from __future__ import annotations

import argparse
import csv
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fabsim

# No point is published with a fifth of it.
MOST_CYCLES = 1_000_000

POINTS = Path(__file__).with_name("timings_points.csv")


@dataclass(frozen=True)
class Point:
    """A published number of cycles and the parameters of the run it is of."""

    program: str
    name: str
    target: str
    published: float
    parameters: Mapping[str, int]
    source: str


@dataclass(frozen=True)
class Clock:
    """What a run counts by: a table, and constants that differ from it."""

    timing: str
    constants: Mapping[str, int]


@dataclass(frozen=True)
class Measured:
    """What fabsim makes of a point; `reason` says why, where there is no number."""

    point: Point
    cycles: float | None
    reason: str = ""

    @property
    def error(self) -> float | None:
        """Simulated / published - 1."""
        return None if self.cycles is None else self.cycles / self.point.published - 1


def read_points(path: Path = POINTS) -> list[Point]:
    """The published points."""
    with path.open(newline="") as file:
        return [_point(row) for row in csv.DictReader(file)]


def _point(row: Mapping[str, str]) -> Point:
    pairs = (pair.split("=") for pair in row["parameters"].split())
    return Point(
        row["program"],
        row["point"],
        row["target"],
        float(row["published"]),
        {name: int(value) for name, value in pairs},
        row["source"],
    )


# Runs.


@dataclass(frozen=True)
class Extra:
    """What few programs need: the compiler's limit of inlined iterations, a trace of PE (1, 1)."""

    inlined: int = 50
    trace: str | None = None


def _load(
    layout: Path,
    point: Point,
    clock: Clock,
    parameters: Mapping[str, int],
    extra: Extra = Extra(),
) -> fabsim.Simulator:
    program = fabsim.compile(
        layout,
        arch=point.target,
        params=parameters,
        max_inlined_iterations=extra.inlined,
        timing=clock.timing,
    )
    # A published program begins operations on microthreads in use, and the machine lets it wait.
    return fabsim.Simulator(
        program,
        lenient=True,
        max_cycles=MOST_CYCLES,
        constants=clock.constants,
        trace=extra.trace,
        trace_region=(1, 1, 1, 1) if extra.trace else None,
    )


def _numbers(count: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(1).random(count, dtype=np.float32)


def _between(stamps: npt.NDArray[np.uint16]) -> int:
    """Cycles from one 48-bit stamp to another one behind it."""
    words = [int(word) for word in stamps]
    start, end = (sum(word << 16 * n for n, word in enumerate(words[k : k + 3])) for k in (0, 3))
    return end - start


def _last_busy_cycle(trace: Path) -> int:
    """The last cycle in which PE (1, 1) was busy, by a trace of it alone."""
    last = 0
    with trace.open() as file:
        for line in file:
            busy = re.match(r"@(\d+) P1\.1: ", line)
            if busy and not re.search("IDLE|NOP", line):
                last = int(busy[1])
    return last


def _by_iterations(run: Callable[[str, int], fabsim.Simulator]) -> float:
    """A half of what PE (1, 1) is busy longer in four iterations than in two."""
    ends = []
    for iterations in (2, 4):
        with tempfile.TemporaryDirectory() as scratch:
            trace = Path(scratch, "trace")
            simulator = run(str(trace), iterations)
            try:
                simulator.stop()
            except fabsim.SimulationError as error:
                if error.kind != "leftover":  # the authors' programs end with wavelets underway
                    raise
            ends.append(_last_busy_cycle(trace))
    return (ends[1] - ends[0]) / 2


def tiled_stencil(folder: Path, point: Point, clock: Clock) -> float:
    """By runs of 2 and 4 iterations, as benchmark_single.sh does it."""
    size = point.parameters
    radius, tile = size["radius"], (size["tile_width"], size["tile_height"])
    padded = {
        side: size[side] + -(size[side] - 2 * radius) % length
        for side, length in zip("wh", tile, strict=True)
    }
    across = (padded["w"] - 2 * radius) // tile[0] + 2
    down = (padded["h"] - 2 * radius) // tile[1] + 2
    parameters = {**size, **padded}

    def run(trace: str, iterations: int) -> fabsim.Simulator:
        simulator = _load(folder / "layout.csl", point, clock, parameters, Extra(trace=trace))
        weights = np.tile([0.5**n for n in range(radius + 1)], across * down).astype(np.float32)
        simulator.memcpy_h2d("weights", weights, 0, 0, across, down, radius + 1)
        values = (tile[0] + 2 * radius + 1) * (tile[1] + 2 * radius)
        buffer = _numbers(across * down * values)
        simulator.memcpy_h2d("buffer", buffer, 0, 0, across, down, values)
        simulator.launch("start", iterations)
        return simulator

    return _by_iterations(run)


def untiled_stencil(folder: Path, point: Point, clock: Clock) -> float:
    """The same for the program that is compiled for its iterations."""
    width, height = point.parameters["w"], point.parameters["h"]

    def run(trace: str, steps: int) -> fabsim.Simulator:
        parameters = {**point.parameters, "steps": steps}
        simulator = _load(folder / "layout.csl", point, clock, parameters, Extra(1_000_000, trace))
        simulator.memcpy_h2d("matrix", _numbers(width * height), 0, 0, width, height, 1)
        simulator.launch("compute")
        return simulator

    return _by_iterations(run)


def scalar_kernel(folder: Path, point: Point, clock: Clock) -> float:
    """From stamp to stamp around one function, on PE (0, 0)."""
    layout = folder / "kernels" / point.name / "CSL" / "layout.csl"
    size = point.parameters
    simulator = _load(layout, point, clock, size)
    width, height = size.get("width", 1), size.get("height", 1)
    for name, count in KERNEL_INPUTS[point.name].items():
        length = int(np.prod([size.get(part, 0) or int(part) for part in count.split("*")]))
        if name == "input":
            values = np.random.default_rng(1).integers(0, 4096, length).astype(np.uint32)
        else:
            values = _numbers(length).view(np.uint32)
        simulator.memcpy_h2d(name, np.tile(values, width * height), 0, 0, width, height, length)
    simulator.launch("compute")
    stamps = simulator.memcpy_d2h("maxmin_time", np.float32, 0, 0, 1, 1, 3)
    return _between(stamps.view(np.uint16))


# What the host copies in, by symbol, and how many words of it.
KERNEL_INPUTS = {
    "Dot-Product-1PE": {"x": "n", "y": "n"},
    "Histogram-1PE": {"input": "n"},
    "MSE-Loss-1PE": {"pred": "n", "target": "n"},
    "Prefix-Sum-1PE": {"x": "n"},
    "SAXPY-1PE": {"x": "n", "y": "n", "alpha": "1"},
    "Stencil7pt-1PE": {"x": "Nx*Ny*Nz"},
    "Tensor-Transpose-021": {"A": "ax1*ax2*ax3"},
}


def systolic_gemm(folder: Path, point: Point, clock: Clock) -> float:
    """From own stamp to own stamp, the mean of all PEs."""
    size = point.parameters
    # Left over from the handout: it wants the parameters and does nothing with them.
    unused = {"MEMCPYH2D_DATA_1_ID": 2, "MEMCPYH2D_DATA_2_ID": 3, "MEMCPYD2H_DATA_1_ID": 4}
    simulator = _load(folder / "layout.csl", point, clock, {**size, **unused}, Extra(150))
    width, height = size["kernel_x_dim"], size["kernel_y_dim"]
    for name, rows, columns in (("A", "M", "H"), ("B", "H", "N")):
        each = size[rows] * size[columns] // (width * height)
        simulator.memcpy_h2d(name, _numbers(width * height * each), 0, 0, width, height, each)
    simulator.launch("broadcast_pe")
    stamps = simulator.memcpy_d2h("time_buf_u16", np.uint16, 0, 0, width, height, 6)
    return statistics.mean(_between(stamp) for stamp in stamps.reshape(-1, 6))


def star_or_box(folder: Path, point: Point, clock: Clock) -> float:
    """From own stamp to own stamp, the most of all PEs."""
    size = point.parameters
    layout = folder / "src" / "wse" / point.program / "layout.csl"
    simulator = _load(layout, point, clock, size)
    width, height, radius = size["kernel_dim_x"], size["kernel_dim_y"], size.get("radius", 1)
    each = (size["M"] // height + 2 * radius) * (size["N"] // width + 2 * radius)
    simulator.memcpy_h2d("A", _numbers(width * height * each), 0, 0, width, height, each)
    star = 4 * radius + 1
    count = (2 * radius + 1) ** 2 if point.program == "box2d" else star
    coefficients = _numbers(width * height * count)
    simulator.memcpy_h2d("c", coefficients, 0, 0, width, height, count)
    simulator.launch("compute")
    stamps = simulator.memcpy_d2h("maxmin_time", np.float32, 0, 0, width, height, 3)
    return max(_between(stamp) for stamp in stamps.view(np.uint16).reshape(-1, 6))


def _stamps(simulator: fabsim.Simulator, name: str, width: int, height: int) -> list[int]:
    """What lies between the two stamps of each PE, packed in three words, row by row."""
    packed = simulator.memcpy_d2h(name, np.float32, 0, 0, width, height, 3)
    return [_between(stamp) for stamp in packed.view(np.uint16).reshape(-1, 6)]


def scalar_loop(folder: Path, point: Point, clock: Clock) -> float:
    """From stamp to stamp around one loop, on the only PE."""
    simulator = _load(folder / "timed" / "scalar_loops.csl", point, clock, point.parameters)
    for name in ("a", "b"):
        simulator.memcpy_h2d(name, _numbers(256), 0, 0, 1, 1, 256)
    simulator.launch("compute")
    return _stamps(simulator, "stamps", 1, 1)[0]


def strip_sum(folder: Path, point: Point, clock: Clock) -> float:
    """From stamp to stamp on each of four PEs, the most of them."""
    simulator = _load(folder / "timed" / "strip_sums.csl", point, clock, point.parameters)
    for name in ("x", "y"):
        simulator.memcpy_h2d(name, _numbers(4 * 128), 0, 0, 4, 1, 128)
    simulator.launch("compute")
    return max(_stamps(simulator, "stamps", 4, 1))


# The folder of each sparse product, and what the host copies in: the names of values, of the first
# and of the second array of indexes.
SPARSE = {
    "spmm-coo": ("grid_coo", "A_val", "A_x", "A_y"),
    "spmm-csc": ("grid_csc", "A_val", "A_row_idx", "A_col_ptr"),
    "spmm-csr": ("grid_csr", "A_val", "A_col_idx", "A_row_ptr"),
    "spmm-gemm": ("gemm", "A", "", ""),
}


def sparse_product(folder: Path, point: Point, clock: Clock) -> float:
    """From own stamp to own stamp, the mean of all PEs.

    Columns have nothing to do with each other in between, so two of the published ones are run.
    A point has the size of a PE's part, Nt by Kt by M, and the entries a PE has: all the same by
    coordinates, which the authors pad to the most of any PE; the mean by rows or columns.
    """
    size = point.parameters
    name, values, first, second = SPARSE[point.program]
    width, height, count = size["width"], size["height"], size.get("entries", 0)
    lengths = {
        "spmm-coo": {"A_len": count},
        "spmm-csc": dict.fromkeys(("A_val_len", "A_rowidx_len"), count)
        | {"A_colptr_len": size["Kt"] + 1},
        "spmm-csr": dict.fromkeys(("A_val_len", "A_colidx_len"), count)
        | {"A_rowptr_len": size["Nt"] + 1},
        "spmm-gemm": {},
    }[point.program]
    own = {key: size[key] for key in ("width", "height", "Nt", "Kt", "M")}
    layout = folder / "src" / name / "layout.csl"
    simulator = _load(layout, point, clock, own | lengths | {"LAUNCH_ID": 4})
    padded = size["M"] if first == "" else -(-(size["M"] + 1) // 4) * 4
    arrays: dict[str, npt.NDArray[np.int32] | npt.NDArray[np.float32]]
    arrays = {values: _numbers(count or size["Nt"] * size["Kt"])}
    if first:
        arrays |= _entries(point.program, first, second, size)
    for symbol, each in arrays.items():
        copies = np.tile(each.view(np.float32), width * height)
        simulator.memcpy_h2d(symbol, copies, 0, 0, width, height, len(each))
    numbers = _numbers(width * size["Kt"] * padded)
    simulator.memcpy_h2d("B", numbers, 0, 0, width, 1, size["Kt"] * padded)
    simulator.launch("bcast_B")
    return statistics.mean(_stamps(simulator, "time_memcpy", width, height))


def _entries(
    program: str, first: str, second: str, size: Mapping[str, int]
) -> dict[str, npt.NDArray[np.int32]]:
    """The indexes of a PE's entries, spread over its part at random."""
    count, shape = size["entries"], (size["Nt"], size["Kt"])
    places = np.sort(np.random.default_rng(1).choice(shape[0] * shape[1], count, replace=False))
    rows, columns = places // shape[1], places % shape[1]
    if program == "spmm-coo":
        return {first: columns.astype(np.int32), second: rows.astype(np.int32)}
    major, minor, lines = (
        (columns, rows, shape[1]) if program == "spmm-csc" else (rows, columns, shape[0])
    )
    order = np.lexsort((minor, major))
    starts = np.searchsorted(major[order], np.arange(lines + 1))
    return {first: minor[order].astype(np.int32), second: starts.astype(np.int32)}


# The layout of each solver, its entry, and what the host fills besides the coefficients.
SOLVERS = {
    "power-method": ("layout_power.csl", "f_power", ("x",)),
    "conjugate-gradient": ("layout_cg.csl", "f_cg", ("b", "x")),
    "preconditioned-conjugate-gradient": ("layout_pcg.csl", "f_pcg", ("b", "x")),
    "bicgstab": ("layout_bicgstab.csl", "f_bicgstab", ("b", "x")),
}


def solver(folder: Path, point: Point, clock: Clock) -> float:
    """From the first stamp of any PE to the last one, by the clocks that a reduction aligns."""
    file, entry, vectors = SOLVERS[point.name]
    layout = folder / "benchmarks" / point.name / "src" / file
    sizes = {"width": 5, "height": 5, "MAX_ZDIM": 5, "BLOCK_SIZE": 2}
    simulator = _load(layout, point, clock, sizes | {f"C{n}_ID": n for n in range(9)})
    # How many turns the last one takes depends on the values, so they are the author's.
    values = np.arange(1, 126, dtype=np.float32)
    for name in vectors:
        simulator.memcpy_h2d(
            name, 0 * values if name == "x" and "b" in vectors else values, 0, 0, 5, 5, 5
        )
    coefficients = np.tile(np.array([-1, -1, -1, -1, -1, -1, 6], np.float32), (5, 5, 1))
    if entry == "f_bicgstab":
        coefficients[:, :, 6] += np.arange(5, dtype=np.float32)
    simulator.memcpy_h2d("stencil_coeff", coefficients.ravel(), 0, 0, 5, 5, 7)
    for name in ("f_enable_timer", "f_sync", "f_reference_timestamps", "f_tic"):
        simulator.launch(name)
    tolerance = () if entry == "f_power" else (np.float32(1e-3 * np.linalg.norm(values)),)
    simulator.launch(entry, np.int16(5), *tolerance, np.int16(point.parameters["turns"]))
    for name in ("f_toc", "f_memcpy_timestamps"):
        simulator.launch(name)
    stamps = simulator.memcpy_d2h("time_buf_u16", np.uint16, 0, 0, 5, 5, 6).reshape(25, 2, 3)
    zero = simulator.memcpy_d2h("time_ref", np.uint16, 0, 0, 5, 5, 3).reshape(25, 3)
    scale = 1 << np.arange(0, 48, 16)
    # The reference reaches a PE as many cycles late as it is hops away.
    away = np.array([8 - x - y for y in range(5) for x in range(5)])
    start, end = ((stamps.astype(np.int64) @ scale) - ((zero @ scale) - away)[:, None]).T
    return int(end.max() - start.min())


def columns(folder: Path, point: Point, clock: Clock) -> float:
    """From stamp to stamp around the product of two tiles, column by column."""
    simulator = _load(folder / "timed" / "columns.csl", point, clock, point.parameters)
    for name in ("a", "b"):
        simulator.memcpy_h2d(name, _numbers(196), 0, 0, 1, 1, 196)
    simulator.launch("compute")
    return _stamps(simulator, "stamps", 1, 1)[0]


@dataclass(frozen=True)
class Program:
    """How a program is known in a checkout, and how it is measured.

    A family is what one author wrote for one purpose: its programs tell little of each other that
    is true of programs at large.
    """

    family: str
    mark: str
    measure: Callable[[Path, Point, Clock], float]


PROGRAMS = {
    "tiled-stencil": Program("tiled stencils", "tiled-stencil/pe_program_r1.csl", tiled_stencil),
    "untiled-stencil": Program(
        "tiled stencils", "non-tiled-tencil/pe_program.csl", untiled_stencil
    ),
    "scalar-kernels": Program("scalar loops", "kernels/SAXPY-1PE/CSL/pe.csl", scalar_kernel),
    "scalar-loops": Program("scalar loops", "timed/scalar_loops.csl", scalar_loop),
    "systolic-gemm": Program("systolic product", "leaderboard_output.txt", systolic_gemm),
    "star2d": Program("stencils by columns", "src/wse/star2d/pe_program.csl", star_or_box),
    "1r-star2d": Program("stencils by columns", "src/wse/1r-star2d/pe_program.csl", star_or_box),
    "box2d": Program("stencils by columns", "src/wse/box2d/pe_program.csl", star_or_box),
    "spmm-coo": Program("sparse products", "src/grid_coo/spmm_coo_memcpy.csl", sparse_product),
    "spmm-csc": Program("sparse products", "src/grid_csc/spmm_csc_memcpy.csl", sparse_product),
    "spmm-csr": Program("sparse products", "src/grid_csr/spmm_csr_memcpy.csl", sparse_product),
    "spmm-gemm": Program("sparse products", "src/gemm/spmm_gemm_memcpy.csl", sparse_product),
    "solvers": Program("solvers", "benchmarks/power-method/src/kernel_power.csl", solver),
    "columns": Program("SUMMA", "timed/columns.csl", columns),
    "strip-sums": Program("sums over a strip", "timed/strip_sums.csl", strip_sum),
}
# Their layout is beside the mark; that of the others is found from the top of the checkout.
BESIDE = ("tiled-stencil", "untiled-stencil", "systolic-gemm")
# Where the programs of our own are.
OWN = Path(__file__).parent


def find(folders: Iterable[Path]) -> dict[str, Path]:
    """The folder of each program there is a checkout of, here or one step below."""
    found: dict[str, Path] = {}
    for folder in [*folders, OWN]:
        for top in [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]:
            for name, program in PROGRAMS.items():
                if (top / program.mark).is_file():
                    place = (top / program.mark).parent if name in BESIDE else top
                    found.setdefault(name, place)
    return found


def measure(folder: Path, point: Point, clock: Clock) -> Measured:
    """One point; what fabsim has to say against it becomes the reason."""
    try:
        return Measured(point, PROGRAMS[point.program].measure(folder, point, clock))
    except (fabsim.CslError, fabsim.SimulationError) as error:
        return Measured(point, None, str(error).splitlines()[0])


def measure_all(
    points: Iterable[Point], found: Mapping[str, Path], clock: Clock, jobs: int = 1
) -> list[Measured]:
    """Every point whose program was found."""
    known = [point for point in points if point.program in found]
    folders = [found[point.program] for point in known]
    clocks = [clock] * len(known)
    if jobs == 1:
        return list(map(measure, folders, known, clocks))
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(measure, folders, known, clocks))


# What is said.


def summary(measured: Iterable[Measured]) -> str:
    """Median and worst error by program and target, and over all points."""
    groups: dict[tuple[str, str], list[float]] = {}
    for one in measured:
        if one.error is not None:
            groups.setdefault((one.point.program, one.point.target), []).append(one.error)
            groups.setdefault(("all", one.point.target), []).append(one.error)
            groups.setdefault(("all", "both"), []).append(one.error)
    lines = ["| program | target | points | median | worst |", "|---|---|---|---|---|"]
    for (program, target), errors in sorted(groups.items()):
        worst = max(errors, key=abs)
        median = statistics.median(map(abs, errors))
        lines.append(f"| {program} | {target} | {len(errors)} | {median:.1%} | {worst:+.1%} |")
    return "\n".join(lines)


def details(measured: Iterable[Measured]) -> str:
    """A line for each point."""
    lines = [
        "| program | point | target | published | simulated | error | published in |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in measured:
        point = one.point
        shown = one.reason if one.cycles is None else f"{one.cycles:g}"
        error = "" if one.error is None else f"{one.error:+.1%}"
        lines.append(
            f"| {point.program} | {point.name} | {point.target} | {point.published:g} "
            f"| {shown} | {error} | {point.source} |"
        )
    return "\n".join(lines)


def page(before: Sequence[Measured], after: Sequence[Measured]) -> str:
    """The points by two clocks, as a table."""
    lines = [
        "| program | point | target | published | streams | error | simfabric | error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for old, new in zip(before, after, strict=True):
        point = new.point
        cells = [point.program, point.name, point.target, f"{point.published:g}"]
        for one in (old, new):
            shown = (
                ("refused", "") if one.error is None else (f"{one.cycles:g}", f"{one.error:+.1%}")
            )
            cells.extend(shown)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", summary(after)])


def write_page(path: Path, name: str, text: str) -> None:
    """Puts a table between the marks of a page. Raises ValueError where there are none."""
    before, begin, rest = path.read_text().partition(f"<!-- {name}: begin -->\n")
    _, end, after = rest.partition(f"<!-- {name}: end -->")
    if not end:
        raise ValueError(f"{path} has no marks for the table of {name}")
    path.write_text(f"{before}{begin}\n{text}\n\n{end}{after}")


def main() -> int:
    """Measure, print, and say with the status whether every point gave a number."""
    options = _parser().parse_args()
    found = find(Path(folder).resolve() for folder in options.folders)
    for name in sorted(PROGRAMS.keys() - found.keys()):
        print(f"no checkout of {name}", file=sys.stderr)
    points = [point for point in read_points() if options.only in f"{point.program} {point.name}"]
    clock = Clock(options.timing, dict(options.constant))
    measured = measure_all(points, found, clock, options.jobs)
    if options.page:
        old = measure_all(points, found, Clock("streams", {}), options.jobs)
        write_page(Path(options.page), "timings", page(old, measured))
    if options.details:
        print(details(measured))
    print(summary(measured))
    for one in measured:
        if one.cycles is None:
            print(f"{one.point.program} {one.point.name}: {one.reason}", file=sys.stderr)
    return int(any(one.cycles is None for one in measured))


def _constant(text: str) -> tuple[str, int]:
    name, _, cycles = text.partition("=")
    return name, int(cycles)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Published cycles beside fabsim's.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--timing", default="simfabric")
    parser.add_argument("--constant", type=_constant, action="append", default=[])
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--page", metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
