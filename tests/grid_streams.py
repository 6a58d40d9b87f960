"""Collectives with slices on grids, simulated: results, late starts, cycles.

    python tests/grid_streams.py [--quick]

Every contract with slices on grids of several shapes, alone and in other scopes: in place and
`into` another buffer, elements of every size, pairs, on parts of grids, in programs, several times,
on both targets. Each runs three calls on one load, and once more with PEs that begin late; results
are compared with NumPy. The status is 1 where a result is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click
from simulating import fabsim_options

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.run import RunError

TARGETS = ("wse2", "wse3")
SHAPES = ((2, 2), (3, 2), (2, 5), (4, 4), (5, 3), (3, 7), (8, 4), (8, 8))
WAYS = {
    "all_to_all": ("run columns by linear_all_to_all", "run rows by linear_all_to_all"),
    "allgather": ("run rows by direct_allgather", "run columns by direct_allgather"),
    "reduce_scatter": ("run columns by chain_reduce_scatter", "run rows by chain_reduce_scatter"),
    "gather": ("run rows by linear_gather", "run column by linear_gather"),
    "scatter": ("run column by linear_scatter", "run rows by linear_scatter"),
}
CALLS = 3


@dataclass(frozen=True)
class Case:
    """A program, and what tells it apart."""

    name: str
    text: str


def collective(
    contract: str,
    count: str,
    element: str = "f32",
    into: str = "",
    site: str = "wafer",
    name: str = "total",
) -> str:
    """One by the algorithms that the streams are recognised in."""
    operation = ", add" if contract == "reduce_scatter" else ""
    first, then = WAYS[contract]
    return (
        f"collective {name} = {contract}(x: {element}[{count}]{operation}){into} on {site} {{\n"
        f"    {first}\n    then {then}\n}}\n"
    )


def cases(*, quick: bool) -> Iterator[Case]:
    """All cases, or every fifth."""
    found = [*_alone(), *_scopes()]
    yield from found[::5] if quick else found


def _alone() -> Iterator[Case]:
    for contract in WAYS:
        for width, height in SHAPES:
            for extent in (1, 3, 8):
                grid = f"grid wafer = {width} x {height}\n"
                one = collective(contract, f"{width * height * extent}")
                name = f"{contract} {width} x {height}, {extent}"
                yield Case(name, f"{grid}{one}program {{ total }}\n")


def _scopes() -> Iterator[Case]:
    grid = "grid wafer = 5 x 4\n"
    for contract in WAYS:
        for element in ("f16", "i16", "u32", "f32", "(f32, u32)"):
            if contract == "reduce_scatter" and element.startswith("("):
                continue
            one = collective(contract, "80", element)
            yield Case(f"{contract} of {element}", f"{grid}{one}program {{ total }}\n")
        one = collective(contract, "60").replace("[60]", "[60] by 3")
        yield Case(f"{contract} of strided elements", f"{grid}{one}program {{ total }}\n")
        one = collective(contract, "60", into=" into y")
        yield Case(f"{contract} into another buffer", f"{grid}{one}program {{ total }}\n")
        one = collective(contract, "36", site="part")
        part = f"grid wafer = 6 x 5\ngrid part = wafer[1 .. 3, 1 .. 4]\n{one}"
        yield Case(f"{contract} on a part", f"{part}program {{ total }}\n")
        one = collective(contract, "40")
        twice = f"{grid}{one}program {{ total total }}\n"
        yield Case(f"{contract} twice in a program", twice)


def problem_of(case: Case, target: str) -> tuple[int, int, str]:
    """Cycles, those predicted, and what is wrong."""
    try:
        bundle = compile_text(f"target {target}\n{case.text}", "case.coll", {})
    except CollcError as error:
        return 0, 0, f"refused: {error.diagnostics[0].message}"
    try:
        run = bundle.run(repeats=CALLS)
        with fabsim_options("--late-starts 300:7"):
            late = bundle.run(repeats=CALLS)
    except RunError as error:
        return 0, 0, str(error).splitlines()[0]
    problem = next((one.problem for one in (run, late) if not one.verified), "")
    return run.cycles, bundle.prediction.cycles, problem


@click.command()
@click.option("--quick", is_flag=True, help="Every fifth case.")
@click.option("--target", "targets", multiple=True, default=TARGETS)
def main(quick: bool, targets: tuple[str, ...]) -> None:
    """Run all cases."""
    wrong = 0
    for case in cases(quick=quick):
        for target in targets:
            cycles, predicted, problem = problem_of(case, target)
            wrong += bool(problem)
            print(f"{case.name}, {target}: {cycles} ({predicted} predicted) {problem}", flush=True)
    print(f"{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
