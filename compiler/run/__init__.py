"""Running a bundle on fabsim, with an account of each run, and what its result has to be.

fabsim gets the emitted text and nothing else. It is an optional part: without it a bundle can be
built and carried to the vendor's tools, and asking for a run says what to install.
"""

import importlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from collc.base.columns import Array
from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.files import write_files
from collc.base.memoize import Latest
from collc.base.values import dataclass

Progress = Callable[[int], None]


class RunError(Exception):
    """The emitted program did not compile on fabsim, got stuck, or did what is undefined."""


@dataclass(frozen=True)
class OfCall:
    """A call of a round, and how many of the elements that were compared are its results, or made
    of them."""

    name: str
    elements: int


@dataclass(frozen=True)
class RunReport:
    """One verified or refuted run.

    `cycles` counts from the common start to the last PE's completion; `tile_cycles` is the sum
    over PEs of the cycles in which they were active; `wall_seconds` is compiling and simulating.
    `problem` is empty exactly when `verified`. `lengths` are those that were given when the program
    ran, by name, for each round; `compared` is how many elements of the buffers, those that the
    contracts promise, and `of_calls` how many of them are of each call of a round that leaves
    something in a buffer. Where nothing would be of some call, each turn was run by itself as well
    (`by_turns`): `of_calls` counts those runs, `compared` all. `start_cycle` is the simulator's
    cycle at the common start. `results` are the buffers of all PEs after the last launch, by name:
    arrays [height, width, length], or [round, height, width, length] of a program.
    """

    verified: bool
    problem: str
    cycles: int
    tile_cycles: int
    wall_seconds: float
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    compared: int = 0
    of_calls: tuple[OfCall, ...] = ()
    by_turns: bool = False
    start_cycle: int = 0
    results: Mapping[str, Array] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Outcome:
    """What came of one launch: fabsim's account of it, what is wrong in words (empty if nothing
    is), the lengths it was given, how many elements were compared, and of which calls; and what the
    buffers hold."""

    launch: Any
    problem: str
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    compared: int = 0
    of_calls: tuple[OfCall, ...] = ()
    results: Mapping[str, Array] = field(default_factory=dict)


def run_texts(  # noqa: PLR0913, PLR0917 - what to run, then how
    texts: Mapping[str, str],
    arch: str,
    size: str,
    turns: int,
    turn: Callable[[Any, int], Outcome],
    params: Mapping[str, int] = MappingProxyType({}),
) -> RunReport:
    """Compile `texts` with fabsim, load them once, and take all turns, from number 0 on, on one
    simulator, which has the options of FABSIM_OPTIONS. `params` are those of the layout.

    All have to be right, and the report is on the slowest. Raises CollcError when fabsim is not
    installed, RunError when a run does not end; `size` is what memory may be too small for.
    """
    fabsim = fabsim_module()
    began = time.perf_counter()
    try:
        program = compiled(fabsim, texts, arch, params)
        session = fabsim.opened(program)
        simulator = session.simulator
        outcomes = [turn(simulator, number) for number in range(turns)]
        simulator.stop()
        session.report()
    except (fabsim.CslError, fabsim.SimulationError) as error:
        raise RunError(str(error)) from error
    except MemoryError as error:
        raise RunError(f"this computer's memory is too small for {size}") from error
    problem = next((one.problem for one in outcomes if one.problem), "")
    slowest = max(outcomes, key=lambda one: int(one.launch.cycles))
    return RunReport(
        verified=not problem,
        problem=problem,
        cycles=slowest.launch.cycles,
        tile_cycles=slowest.launch.tile_cycles,
        wall_seconds=time.perf_counter() - began,
        lengths=slowest.lengths,
        compared=slowest.compared,
        of_calls=slowest.of_calls,
        start_cycle=slowest.launch.start_cycle,
        results=outcomes[-1].results,
    )


def compiled(
    fabsim: Any,  # noqa: ANN401 - see `fabsim_module`
    texts: Mapping[str, str],
    arch: str,
    params: Mapping[str, int] = MappingProxyType({}),
    **limits: int,
) -> Any:  # noqa: ANN401
    """The program that fabsim compiles of `texts` with `params` of the layout and `limits` of its
    own, or the one it has compiled of them lately: what is read back is often run next. Raises
    fabsim.CslError."""
    csl = tuple(sorted(item for item in texts.items() if item[0].endswith(".csl")))
    options = tuple(sorted(item for item in os.environ.items() if item[0].startswith("FABSIM_")))
    given = tuple(sorted(params.items()))
    key = (fabsim.compile, arch, csl, given, options)  # what compiles within limits does without
    return _compiled.find(key, lambda: _newly_compiled(fabsim, dict(csl), arch, params, limits))


def _pes(program: Any) -> int:  # noqa: ANN401
    return int(program.width * program.height)


# One for each target, and none that takes much memory.
_compiled = Latest[tuple[Any, ...], Any](most=2, room=20_000, weigh=_pes)


def _newly_compiled(
    fabsim: Any,  # noqa: ANN401 - see `fabsim_module`
    texts: Mapping[str, str],
    arch: str,
    params: Mapping[str, int],
    limits: Mapping[str, int],
) -> Any:  # noqa: ANN401
    with tempfile.TemporaryDirectory(prefix="collc-run-") as directory:
        write_files(Path(directory), texts)
        layout = str(Path(directory) / "layout.csl")
        try:
            return fabsim.compile(layout, arch=arch, strict=True, params=dict(params), **limits)
        except fabsim.CslError as error:
            error.args = (str(error).replace(f"{directory}/", ""),)
            raise


def tokens_of(simulator: Any, name: str, given: Array) -> Array:  # noqa: ANN401 - see `fabsim_module`
    """The tokens of all PEs, [height, width, 1], after a barrier, which has no buffer to copy."""
    found = np.empty_like(given)
    for y, x in np.ndindex(given.shape[:2]):
        held = simulator.read_variable(name, x, y)
        found[y, x] = np.frombuffer(held, given.dtype)
    return found


def fabsim_module() -> Any:  # noqa: ANN401 - an optional module; fabsim.pyi types it where installed
    """The simulator; raises CollcError where it is not installed."""
    try:
        return importlib.import_module("fabsim")
    except ImportError as error:
        raise CollcError(
            [
                Diagnostic(
                    "C501",
                    f"running needs fabsim, which is not installed ({error})",
                    None,
                    help="install it from the project's folder: pip install ./fabsim "
                    "(needs a Rust toolchain)",
                )
            ]
        ) from error
