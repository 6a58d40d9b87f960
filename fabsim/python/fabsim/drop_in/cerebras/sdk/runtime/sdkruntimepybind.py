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

from fabsim import SimulationError, Simulator, artefacts, core, last_run, options
from fabsim.cslc import fabric_offsets, load


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
# Column-major items run down the columns of PEs first, then along the rows.
_NUMPY_ORDERS: dict[MemcpyOrder, Literal["C", "F"]] = {
    MemcpyOrder.ROW_MAJOR: "C",
    MemcpyOrder.COL_MAJOR: "F",
}
_DTYPES = {MemcpyDataType.MEMCPY_32BIT: np.uint32, MemcpyDataType.MEMCPY_16BIT: np.uint16}


class Task:
    """A finished command.

    fabsim runs every command when it is given, whether the script waits for it or not: commands
    take effect in that order anyway, and a result may be there before it is asked for.
    """

    def wait(self) -> None:
        """Nothing to wait for."""

    def done(self) -> bool:
        """Always."""
        return True


# Keywords of the constructor that only concern how the vendor's simulator runs.
_WITHOUT_EFFECT = ("msg_level", "memcpy_required")

# Where a trace goes that the host script itself asks for.
_TRACE = Path("simfab_traces", "fabsim.trace")


class SdkRuntime:
    """Loads the program of an output directory and carries out host commands on fabsim."""

    def __init__(
        self,
        name: str,
        cmaddr: str | None = None,
        *,
        simfab_numthreads: int | None = None,
        suppress_simfab_trace: bool = True,
        **keywords: Any,
    ) -> None:
        if cmaddr:
            raise ValueError("fabsim is a simulator: it has no system to connect to (cmaddr)")
        for keyword, value in keywords.items():
            if value and keyword not in _WITHOUT_EFFECT:
                raise TypeError(f"fabsim's SdkRuntime does not support {keyword}={value!r} yet")
        self._name = name
        self._threads = simfab_numthreads or None
        self._program = load(name)
        self._simulator: Simulator | None = None
        self._wants_trace = not suppress_simfab_trace
        self._options = options.current()
        self._clock = artefacts.Clock()
        self._number = 0
        self._state = "made"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"fabsim's SdkRuntime does not support {name} yet")

    def get_id(self, name: str) -> int:
        """The id of an exported symbol."""
        if name not in self._program.exports:
            raise ValueError(f"there is no exported symbol {name!r}")
        return self._program.exports.index(name)

    def load(self) -> None:
        """Put the program on the simulated machine."""
        self._enter("loaded", after="made", call="load()")
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
            threads=wanted.threads or self._threads,
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
        self._enter("running", after="loaded", call="run()")

    def stop(self) -> None:
        """End the run; wavelets left anywhere are an error.

        What PEs printed goes to sim.log, figures of the run to sim_stats.json.
        """
        with self._command() as simulator:
            self._state = "stopped"
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
        words = _words(src)
        if streaming:
            area = (px, py, w, h, l)
            with self._command() as simulator:
                simulator.stream_h2d(dest, words, *area, order=_ORDERS[order])
            return Task()
        data = words.astype(_DTYPES[data_type])
        name = self._name_of(dest)
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
            _store(dest, words)
            return Task()
        name = self._name_of(src)
        dtype = _DTYPES[data_type]
        with self._command() as simulator:
            found = simulator.memcpy_d2h(name, dtype, px, py, w, h, l, order=_ORDERS[order])
        _store(dest, found.astype(np.uint32))
        return Task()

    def memcpy_h2d_rowbcast(
        self,
        dest: int,
        src: npt.NDArray[Any],
        px: int,
        py: int,
        w: int,
        h: int,
        l: int,
        *,
        order: MemcpyOrder,
        **keywords: Any,
    ) -> Task:
        """Like `memcpy_h2d` with the data of one column of PEs, which every column gets."""
        column = _blocks(src, (h, 1, l), order)
        data = _flat(np.broadcast_to(column, (h, w, l)), order)
        return self.memcpy_h2d(dest, data, px, py, w, h, l, order=order, **keywords)

    def memcpy_h2d_colbcast(
        self,
        dest: int,
        src: npt.NDArray[Any],
        px: int,
        py: int,
        w: int,
        h: int,
        l: int,
        *,
        order: MemcpyOrder,
        **keywords: Any,
    ) -> Task:
        """Like `memcpy_h2d` with the data of one row of PEs, which every row gets."""
        row = _blocks(src, (1, w, l), order)
        data = _flat(np.broadcast_to(row, (h, w, l)), order)
        return self.memcpy_h2d(dest, data, px, py, w, h, l, order=order, **keywords)

    def memcpy_h2d_stride(
        self,
        dest: int,
        src: npt.NDArray[Any],
        px: int,
        py: int,
        w: int,
        h: int,
        l: int,
        row_stride: int,
        col_stride: int,
        *,
        order: MemcpyOrder,
        **keywords: Any,
    ) -> Task:
        """Like `memcpy_h2d`; rows and columns of PEs lie so many items apart in the source."""
        if order is not MemcpyOrder.ROW_MAJOR:
            raise ValueError("fabsim's memcpy_h2d_stride supports no order but ROW_MAJOR yet")
        if row_stride <= 0 or col_stride <= 0:
            raise ValueError(f"strides are positive, not {row_stride} and {col_stride}")
        words = _words(src)
        needed = (h - 1) * row_stride + (w - 1) * col_stride + l
        if words.size < needed:
            raise ValueError(f"these strides need {needed} items, the source has {words.size}")
        y, x, i = np.ogrid[:h, :w, :l]
        data = words[y * row_stride + x * col_stride + i].reshape(-1)
        return self.memcpy_h2d(dest, data, px, py, w, h, l, order=order, **keywords)

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
        task.wait()

    def is_task_done(self, task: Task) -> bool:
        """Always."""
        return task.done()

    def read_symbol(
        self, x: int, y: int, name: str, dtype: npt.DTypeLike = np.uint8
    ) -> npt.NDArray[Any]:
        """What a variable of the PE at (x, y) of the program holds."""
        return np.frombuffer(self._loaded().read_variable(name, x, y), dtype=dtype)

    def dump_core(self, path: str) -> None:
        """Write what all PEs hold to a file, for `debug_util` in another process."""
        program = self._program
        core.write(path, self._loaded(), (program.width, program.height))

    def coord_logical_to_physical(self, place: tuple[int, int]) -> tuple[int, int]:
        """Coordinates in the program's rectangle as coordinates of the fabric."""
        x, y = fabric_offsets(self._name)
        return place[0] + x, place[1] + y

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

    def _enter(self, state: str, *, after: str, call: str) -> None:
        if self._state != after:
            raise RuntimeError(f"{call} is called once, in the order load(), run(), stop()")
        self._state = state

    def _running(self) -> Simulator:
        simulator = self._loaded()
        if self._state != "running":
            raise RuntimeError("commands are given between run() and stop()")
        return simulator

    def _loaded(self) -> Simulator:
        if self._simulator is None:
            raise RuntimeError("load() comes first")
        return self._simulator

    def _name_of(self, symbol: int) -> str:
        if not 0 <= symbol < len(self._program.exports):
            raise ValueError(f"there is no exported symbol with the id {symbol}")
        return self._program.exports[symbol]


def _words(src: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """The items of the host's array, 32 bits each."""
    if np.asarray(src).dtype.itemsize != 4:
        raise ValueError(f"host arrays have items of 32 bits, not {np.asarray(src).dtype}")
    return np.ascontiguousarray(src).reshape(-1).view(np.uint32)


def _store(dest: npt.NDArray[Any], words: npt.NDArray[np.uint32]) -> None:
    """Write the items of the host's array."""
    if dest.dtype.itemsize != 4 or not dest.flags.c_contiguous:
        raise ValueError(f"results go to a contiguous array of 32-bit items, not {dest.dtype}")
    dest.reshape(-1).view(np.uint32)[:] = words


def _blocks(
    src: npt.NDArray[Any], shape: tuple[int, int, int], order: MemcpyOrder
) -> npt.NDArray[np.uint32]:
    """The items by row, column and element of a PE."""
    words = _words(src)
    if words.size != np.prod(shape):
        height, width, count = shape
        raise ValueError(f"{words.size} items for {width} x {height} PEs of {count} each")
    return words.reshape(shape, order=_NUMPY_ORDERS[order])


def _flat(blocks: npt.NDArray[np.uint32], order: MemcpyOrder) -> npt.NDArray[np.uint32]:
    return blocks.reshape(-1, order=_NUMPY_ORDERS[order])
