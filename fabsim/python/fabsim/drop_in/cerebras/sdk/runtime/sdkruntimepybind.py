"""`SdkRuntime` on fabsim: the part of the vendor's host interface that copies and launches.

A member that fabsim does not have yet is refused by name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fabsim import SimulationError, Simulator, artefacts, last_run, options
from fabsim.cslc import load


class MemcpyDataType(Enum):
    """Width of the elements of a copy."""

    MEMCPY_32BIT = 0
    MEMCPY_16BIT = 1


class MemcpyOrder(Enum):
    """Layout of the host's array: elements of a PE together, or rows fastest."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


_ORDERS: dict[MemcpyOrder, Literal["row_major", "col_major"]] = {
    MemcpyOrder.ROW_MAJOR: "row_major",
    MemcpyOrder.COL_MAJOR: "col_major",
}
_DTYPES = {MemcpyDataType.MEMCPY_32BIT: np.uint32, MemcpyDataType.MEMCPY_16BIT: np.uint16}


class Task:
    """A finished command: fabsim runs commands one after the other, when they are given."""


# Keywords of the constructor that only concern how the vendor's simulator runs.
_WITHOUT_EFFECT = ("simfab_numthreads", "msg_level", "memcpy_required")

# Where a trace goes that the host script itself asks for.
_TRACE = Path("simfab_traces", "fabsim.trace")


class SdkRuntime:
    """Loads the program of an output directory and carries out host commands on fabsim."""

    def __init__(
        self,
        name: str,
        cmaddr: str | None = None,
        *,
        suppress_simfab_trace: bool = True,
        **keywords: Any,
    ) -> None:
        if cmaddr:
            raise ValueError("fabsim is a simulator: it has no system to connect to (cmaddr)")
        for keyword, value in keywords.items():
            if value and keyword not in _WITHOUT_EFFECT:
                raise TypeError(f"fabsim's SdkRuntime does not support {keyword}={value!r} yet")
        self._name = name
        self._program = load(name)
        self._simulator: Simulator | None = None
        self._wants_trace = not suppress_simfab_trace
        self._options = options.current()
        self._clock = artefacts.Clock()
        self._number = 0

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"fabsim's SdkRuntime does not support {name} yet")

    def get_id(self, name: str) -> int:
        """The id of an exported symbol."""
        if name not in self._program.exports:
            raise ValueError(f"there is no exported symbol {name!r}")
        return self._program.exports.index(name)

    def load(self) -> None:
        """Put the program on the simulated machine."""
        started = time.monotonic()
        wanted = self._options
        self._number = last_run.next_number()
        trace, form = wanted.trace, wanted.trace_form
        if trace is None and self._wants_trace:
            _TRACE.parent.mkdir(exist_ok=True)
            trace, form = str(_TRACE), "binary"
        self._simulator = Simulator(
            self._program,
            max_cycles=wanted.max_cycles,
            lenient=wanted.lenient,
            check_uninitialized=wanted.check_uninitialized,
            max_memory_bytes=int(wanted.max_memory * 1e9),
            usage=wanted.counts,
            trace=options.numbered(trace, self._number) if trace else None,
            trace_form=form,
            trace_region=wanted.trace_region,
            trace_window=wanted.trace_window,
        )
        last_run.remember(self._name, self._simulator)
        self._clock = artefacts.Clock(init=time.monotonic() - started)

    def run(self) -> None:
        """Start it; the PEs wait for commands."""
        self._running()

    def stop(self) -> None:
        """End the run; wavelets left anywhere are an error.

        What PEs printed goes to sim.log, figures of the run to sim_stats.json.
        """
        with self._command() as simulator:
            simulator.stop()
        self._write_files(simulator)

    def memcpy_h2d(
        self,
        dest: int,
        src: npt.NDArray[Any],
        px: int,
        py: int,
        w: int,
        h: int,
        l: int,
        *,
        streaming: bool,
        order: MemcpyOrder,
        data_type: MemcpyDataType,
        nonblock: bool,
    ) -> Task:
        """Copy to a symbol; the host's items are 32 bits wide, 16-bit elements their low halves.

        Streaming: send every PE its words on the color `dest`.
        """
        del nonblock
        words = np.ascontiguousarray(src).reshape(-1).view(np.uint32)
        if streaming:
            area = (px, py, w, h, l)
            with self._command() as simulator:
                simulator.stream_h2d(dest, words, *area, order=_ORDERS[order])
            return Task()
        data = words.astype(_DTYPES[data_type])
        name = self._program.exports[dest]
        with self._command() as simulator:
            simulator.memcpy_h2d(name, data, px, py, w, h, l, order=_ORDERS[order])
        return Task()

    def memcpy_d2h(
        self,
        dest: npt.NDArray[Any],
        src: int,
        px: int,
        py: int,
        w: int,
        h: int,
        l: int,
        *,
        streaming: bool,
        order: MemcpyOrder,
        data_type: MemcpyDataType,
        nonblock: bool,
    ) -> Task:
        """Copy from a symbol into `dest`, an array of 32-bit items.

        Streaming: receive words from every PE on the color `src`.
        """
        del nonblock
        if streaming:
            with self._command() as simulator:
                words = simulator.stream_d2h(src, px, py, w, h, l, order=_ORDERS[order])
            dest.reshape(-1).view(np.uint32)[:] = words
            return Task()
        name = self._program.exports[src]
        dtype = _DTYPES[data_type]
        with self._command() as simulator:
            found = simulator.memcpy_d2h(name, dtype, px, py, w, h, l, order=_ORDERS[order])
        dest.reshape(-1).view(np.uint32)[:] = found.astype(np.uint32)
        return Task()

    def launch(self, name: str, *args: Any, nonblock: bool) -> Task:
        """Call an exported function on every PE and wait for all of them."""
        del nonblock
        with self._command() as simulator:
            simulator.launch(name, *args)
        return Task()

    def call(self, name: str, words: Sequence[int], *, nonblock: bool) -> Task:
        """Like `launch`, with the arguments as 32-bit words."""
        del nonblock
        with self._command() as simulator:
            simulator.call(name, [int(word) for word in words])
        return Task()

    def task_wait(self, task: Task) -> None:
        """Nothing to wait for."""

    def is_task_done(self, task: Task) -> bool:
        """Always."""
        del task
        return True

    def is_simulator(self) -> bool:
        """Always."""
        return True

    @contextmanager
    def _command(self) -> Iterator[Simulator]:
        """The simulator, for one command. A run that fails leaves its files behind, too."""
        simulator = self._running()
        try:
            yield simulator
        except SimulationError:
            self._write_files(simulator)
            raise

    def _write_files(self, simulator: Simulator) -> None:
        artefacts.write_all(self._program, simulator, self._clock, self._options, self._number)

    def _running(self) -> Simulator:
        if self._simulator is None:
            raise RuntimeError("load() comes first")
        return self._simulator
