"""The files a run leaves in the working directory: sim.log, sim_stats.json, reports."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabsim import session
from fabsim._native import Program, Simulator
from fabsim.options import RunOptions
from fabsim.simfabric import Asked, as_text

LOG, STATISTICS = "sim.log", "sim_stats.json"


@dataclass(frozen=True)
class Clock:
    """When a simulator was made, in seconds of real, user and system time."""

    real: float = field(default_factory=time.monotonic)
    process: os.times_result = field(default_factory=os.times)
    init: float = 0.0

    def spent(self) -> tuple[float, float, float]:
        """Real, user and system seconds since then."""
        now = os.times()
        user, system = now.user - self.process.user, now.system - self.process.system
        return time.monotonic() - self.real, user, system


@dataclass(frozen=True)
class DebugLog:
    """What SIMFABRIC_DEBUG asks for, the trace it is taken from, and where the program is."""

    asked: Asked
    trace: str
    form: str
    #: The trace is nobody else's.
    scratch: bool
    offsets: tuple[int, int]
    fabric: tuple[int, int]

    def write(self, simulator: Simulator, last: str) -> None:
        """Write sim.log; `last` is its last line."""
        text = as_text(self.trace, self.form)
        printed = [(cycle, f" {line}") for cycle, line in simulator.log]
        width, height = self.fabric
        with Path(LOG).open("w") as log:
            log.write(f"@0 Create from size nx={width} ny={height}\n")
            log.write(f"@0 dimX={width}, dimY={height}\n")
            for line in self.asked.lines(Path(text), self.offsets, printed):
                log.write(f"{line}\n")
            log.write(f"{last}\n")
        for path in {text if text != self.trace else "", self.trace if self.scratch else ""}:
            if path:
                Path(path).unlink(missing_ok=True)


def write_all(
    program: Program,
    simulator: Simulator,
    clock: Clock,
    asked: tuple[RunOptions, DebugLog | None],
    number: int,
) -> None:
    """Write the files of a run that has ended, well or not, as its options ask for."""
    options, debug = asked
    spent = clock.spent()
    usage = simulator.usage_json()
    stalls = _stalls(json.loads(usage)) if usage else None
    figures = statistics(program, simulator, clock.init, spent, stalls)
    Path(STATISTICS).write_text(json.dumps(figures, sort_keys=True) + "\n")
    lines = log_lines(program, simulator, figures)
    if debug:
        debug.write(simulator, lines[-1])
    else:
        Path(LOG).write_text("".join(f"{line}\n" for line in lines))
    session.report(simulator, options, number)


def statistics(
    program: Program,
    simulator: Simulator,
    init: float,
    spent: tuple[float, float, float],
    stalls: int | None,
) -> dict[str, float | int | None]:
    """The figures of sim_stats.json; `stalls` is None where nobody has counted."""
    real, user, system = spent
    cycles, tiles = simulator.cycle, program.width * program.height
    wavelets = simulator.wavelet_count
    seconds = max(real, 1e-9)
    active = simulator.tile_cycles / seconds
    threads = simulator.threads

    def each_cycle(count: int | None) -> float | None:
        return None if count is None else count / max(cycles, 1)

    stalls_each, wavelets_each = each_cycle(stalls), each_cycle(wavelets) or 0.0
    return {
        "active_tile_cycles_per_second": active,
        "active_tile_cycles_per_second_per_thread": active / threads,
        "cycle_count": cycles,
        "cycles_per_second": cycles / seconds,
        "fabric_x": program.width,
        "fabric_y": program.height,
        "hwtile_count": tiles,
        "init_time": init,
        "othertile_count": 0,
        "real_time": real,
        "routetile_count": 0,
        "spc_per_tile": None if stalls_each is None else stalls_each / tiles,
        "stall_count": stalls,
        "stalls_per_cycle": stalls_each,
        "sys_time": system,
        "tile_cycles_per_second": cycles * tiles / seconds,
        "tile_cycles_per_second_per_thread": cycles * tiles / seconds / threads,
        "user_time": user,
        "wavelet_count": wavelets,
        "wavelets_per_cycle": wavelets_each,
        "wpc_per_tile": wavelets_each / tiles,
    }


def log_lines(program: Program, simulator: Simulator, figures: dict[str, Any]) -> list[str]:
    """sim.log: the rectangle, what was printed and reported, and how fast it went."""
    head = [
        f"@0 Create from size nx={program.width} ny={program.height}",
        f"@0 dimX={program.width}, dimY={program.height}",
    ]
    printed = [f"@{cycle} {line}" for cycle, line in simulator.log]
    speed = (
        "Simulation used {real_time:.3f} real seconds, {user_time:.3f} user seconds, "
        "{sys_time:.3f} system seconds, and ran at {cycles_per_second:.0f} cyc/sec "
        "{tile_cycles_per_second:.0f} tile-cyc/sec with {threads} threads, at "
        "{tile_cycles_per_second_per_thread:.0f} tile-cyc/sec/thread"
    ).format(threads=simulator.threads, **figures)
    return [*head, *printed, f"@{simulator.cycle} {speed}"]


def _stalls(usage: dict[str, Any]) -> int:
    """Cycles of PEs that had an operation and could not go on with it."""
    waits = ("waits_for_input", "waits_for_output", "waits_for_fifo", "blocked")
    return sum(int(usage["totals"][kind]) for kind in waits)
