"""`SdkRuntime` on fabsim: the part of the vendor's host interface that copies and launches.

A member that fabsim does not have yet is refused by name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fabsim import (
    SimulationError,
    Simulator,
    artefacts,
    core_file,
    last_run,
    options,
    progress,
    session,
    simfabric,
)
from fabsim.cslc import fabric_dims, fabric_offsets, load
from fabsim.host_arrays import (
    DTYPES,
    ORDERS,
    MemcpyDataType,
    MemcpyOrder,
    blocks_of,
    flat,
    meaning,
    store,
    words_of,
)
from fabsim.host_streams import HostStreams, Task
from fabsim.layout import (
    FP16TYPE,
    SdkCompileArtifacts,
    SdkExecutionPlatform,
    SdkLayout,
    SdkTarget,
    SimfabConfig,
    get_platform,
    get_simulator,
    get_system,
)
from fabsim.layout_region import CodeRegion, PortHandle
from fabsim.layout_values import (
    Color,
    Edge,
    EdgeRouteInfo,
    Route,
    RoutingPosition,
    get_edge_routing,
)
from fabsim.mistakes import RunInterruptedError

__all__ = [
    "FP16TYPE",
    "CodeRegion",
    "Color",
    "Edge",
    "EdgeRouteInfo",
    "MemcpyDataType",
    "MemcpyOrder",
    "PortHandle",
    "Route",
    "RoutingPosition",
    "SdkCompileArtifacts",
    "SdkExecutionPlatform",
    "SdkLayout",
    "SdkRuntime",
    "SdkTarget",
    "SimfabConfig",
    "Task",
    "get_edge_routing",
    "get_platform",
    "get_simulator",
    "get_system",
]


# Keywords of the constructor that only concern how the vendor's simulator runs.
_WITHOUT_EFFECT = ("msg_level",)

# Where a trace goes that the host script itself asks for.
_TRACE = Path("simfab_traces", "fabsim.trace")

# Where a core goes that the platform asks for without a path.
DUMPED_CORE = "out.core"


class SdkRuntime:
    """Loads the program of an output directory and carries out host commands on fabsim."""

    def __init__(
        self,
        name: str | SdkCompileArtifacts,
        platform: SdkExecutionPlatform | None = None,
        *,
        cmaddr: str | None = None,
        memcpy_required: bool = True,
        simfab_numthreads: int | None = None,
        suppress_simfab_trace: bool = True,
        **keywords: Any,
    ) -> None:
        if cmaddr:
            raise ValueError("fabsim is a simulator: it has no system to connect to (cmaddr)")
        for keyword, value in keywords.items():
            if value and keyword not in _WITHOUT_EFFECT:
                raise TypeError(f"fabsim's SdkRuntime does not support {keyword}={value!r} yet")
        self._name = name.artifacts_path if isinstance(name, SdkCompileArtifacts) else name
        self._program = load(self._name)
        self._platform = platform or get_simulator(target=SdkTarget[self._program.arch.upper()])
        self._streams = HostStreams(self._name)
        if self._platform.target.arch != self._program.arch:
            raise ValueError(f"the program is compiled for {self._program.arch}")
        if memcpy_required and self._streams.without_memcpy:
            raise ValueError("layouts in Python have no memcpy: memcpy_required=False")
        self._threads = simfab_numthreads or None
        self._simulator: Simulator | None = None
        config = self._platform.config
        self._wants_trace = not (suppress_simfab_trace and config.suppress_trace)
        self._options = options.current()
        self._progress = progress.reporter(self._options.progress)
        self._debug: artefacts.DebugLog | None = None
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
        trace, form = self._trace()
        threads = wanted.threads or self._threads
        self._simulator = session.make(self._program, wanted, threads, (trace, form))
        self._simulator.set_progress(self._progress.told)
        self._streams.load(self._simulator)
        last_run.remember(self._name, self._simulator)
        self._clock = artefacts.Clock(init=time.monotonic() - started)

    def _trace(self) -> tuple[str | None, str]:
        """The trace to be written and its form; what SIMFABRIC_DEBUG asks for is taken from it."""
        wanted, debug = self._options, simfabric.asked()
        trace, form = wanted.trace, str(wanted.trace_form)
        if trace is None and self._wants_trace:
            _TRACE.parent.mkdir(exist_ok=True)
            trace, form = str(_TRACE), "binary"
        path = options.numbered(trace, self._number) if trace else None
        if debug is None:
            return path, form
        scratch = path is None
        path, form = (simfabric.scratch(), "text") if path is None else (path, form)
        places = fabric_offsets(self._name), fabric_dims(self._name)
        self._debug = artefacts.DebugLog(debug, path, form, scratch, *places)
        return path, form

    def run(self) -> None:
        """Start it; the PEs wait for commands."""
        self._enter("running", after="loaded", call="run()")

    def stop(self) -> None:
        """End the run, when all streams are done.

        Wavelets left anywhere are a warning, as the vendor's tools let programs end with some, and
        an error under the option --strict.
        What PEs printed goes to sim.log, figures of the run to sim_stats.json.
        """
        with self._command("stop()") as simulator:
            self._streams.finish()
            self._state = "stopped"
            self._end(simulator)
        self._write_files(simulator)
        config = self._platform.config
        if config.dump_core:
            self.dump_core(str(config.core_path or DUMPED_CORE))

    def _end(self, simulator: Simulator) -> None:
        try:
            simulator.stop()
        except SimulationError as error:
            if error.kind != "leftover" or self._options.strict:
                raise
            print(f"fabsim: warning: {error}", file=sys.stderr)
        for warning in simulator.warnings:
            print(f"fabsim: warning: {warning}", file=sys.stderr)

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
        words = words_of(src)
        if streaming:
            area = (px, py, w, h, l)
            with self._command("memcpy_h2d") as simulator:
                simulator.stream_h2d(dest, words, *area, order=meaning(ORDERS, order))
            return Task()
        data = words.astype(meaning(DTYPES, data_type))
        name = self._name_of(dest)
        with self._command("memcpy_h2d") as simulator:
            simulator.memcpy_h2d(name, data, px, py, w, h, l, order=meaning(ORDERS, order))
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
            with self._command("memcpy_d2h") as simulator:
                words = simulator.stream_d2h(src, px, py, w, h, l, order=meaning(ORDERS, order))
            store(dest, words)
            return Task()
        name = self._name_of(src)
        dtype = meaning(DTYPES, data_type)
        with self._command("memcpy_d2h") as simulator:
            found = simulator.memcpy_d2h(name, dtype, px, py, w, h, l, order=meaning(ORDERS, order))
        store(dest, found.astype(np.uint32))
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
        self._refuse_outside(px, py, w, h, l)
        column = blocks_of(src, (h, 1, l), order)
        data = flat(np.broadcast_to(column, (h, w, l)), order)
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
        self._refuse_outside(px, py, w, h, l)
        row = blocks_of(src, (1, w, l), order)
        data = flat(np.broadcast_to(row, (h, w, l)), order)
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
        self._refuse_outside(px, py, w, h, l, row_stride, col_stride)
        if row_stride <= 0 or col_stride <= 0:
            raise ValueError(f"strides are positive, not {row_stride} and {col_stride}")
        words = words_of(src)
        needed = (h - 1) * row_stride + (w - 1) * col_stride + l
        if words.size < needed:
            raise ValueError(f"these strides need {needed} items, the source has {words.size}")
        y, x, i = np.ogrid[:h, :w, :l]
        data = words[y * row_stride + x * col_stride + i].reshape(-1)
        return self.memcpy_h2d(dest, data, px, py, w, h, l, order=order, **keywords)

    def launch(self, name: str, *args: Any, nonblock: bool) -> Task:
        """Call an exported function on every PE and wait for all of them."""
        del nonblock
        with self._command(f"the launch of {name!r}") as simulator:
            simulator.launch(name, *args)
        return Task()

    def call(self, name: str, words: Sequence[int], *, nonblock: bool) -> Task:
        """Like `launch`, with the arguments as 32-bit words."""
        del nonblock
        with self._command(f"the call of {name!r}") as simulator:
            simulator.call(name, [int(word) for word in words])
        return Task()

    def get_port_id(self, name: str) -> int | None:
        """The id of a stream of a layout in Python."""
        return self._streams.id_of(name)

    def report_port_infos(self) -> None:
        """Print where the streams of a layout in Python meet the fabric."""
        for line in self._streams.lines():
            print(line)

    def send(
        self,
        port: int | str,
        src: npt.NDArray[Any],
        n_wavelets: int | None = None,
        *,
        nonblock: bool = False,
    ) -> Task:
        """Send items of 32 bits to the fabric on a stream, all of them if no number is given."""
        with self._command("send"):
            task = self._streams.send(port, words_of(src), n_wavelets)
            return task if nonblock else self._waited_for(task)

    def receive(
        self, port: int | str, dest: npt.NDArray[Any], n_wavelets: int, *, nonblock: bool = False
    ) -> Task:
        """Receive items of 32 bits on a stream; they are there when the task is done."""
        with self._command("receive"):
            task = self._streams.receive(port, dest, n_wavelets)
            return task if nonblock else self._waited_for(task)

    def task_wait(self, task: Task) -> None:
        """Wait for a stream; everything else is done already."""
        with self._command("task_wait"):
            self._waited_for(task)

    def _waited_for(self, task: Task) -> Task:
        _is_task(task)
        task.wait()
        self._streams.collect()
        return task

    def is_task_done(self, task: Task) -> bool:
        """Whether a stream is done, a little later; everything else is done already."""
        with self._command("is_task_done"):
            _is_task(task)
            done = task.done()
            self._streams.collect()
            return done

    def read_symbol(
        self, x: int, y: int, name: str, dtype: npt.DTypeLike = np.uint8
    ) -> npt.NDArray[Any]:
        """What a variable of the PE at (x, y) of the program holds."""
        return np.frombuffer(self._loaded().read_variable(name, x, y), dtype=dtype)

    def dump_core(self, path: str) -> None:
        """Write what all PEs hold to a file, for `debug_util` in another process."""
        program = self._program
        core_file.write(path, self._loaded(), (program.width, program.height))

    def coord_logical_to_physical(self, place: tuple[int, int]) -> tuple[int, int]:
        """Coordinates in the program's rectangle as coordinates of the fabric."""
        (column, row), (x, y) = place, fabric_offsets(self._name)
        return column + x, row + y

    def is_simulator(self) -> bool:
        """Always."""
        return True

    @contextmanager
    def _command(self, what: str) -> Iterator[Simulator]:
        """The simulator, for one command. A run that fails or is interrupted leaves its files
        behind, too."""
        simulator = self._running()
        self._progress.begin(what)
        try:
            yield simulator
        except SimulationError:
            self._progress.end()
            self._write_files(simulator)
            raise
        except KeyboardInterrupt as error:
            self._progress.end()
            self._write_files(simulator)
            raise RunInterruptedError(
                f"interrupted at cycle {simulator.cycle}, in {what}"
            ) from error
        self._progress.end()

    def _write_files(self, simulator: Simulator) -> None:
        asked = self._options, self._debug
        artefacts.write_all(self._program, simulator, self._clock, asked, self._number)

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

    def _refuse_outside(self, px: int, py: int, w: int, h: int, *numbers: int) -> None:
        """An array is made for this area: it has to be one, of the program's PEs."""
        for number in (px, py, w, h, *numbers):
            index(number)  # raises TypeError
        width, height = self._program.width, self._program.height
        if min(px, py, w, h) < 0 or px + w > width or py + h > height:
            area = f"{w} x {h} PEs from ({px}, {py}) on"
            raise ValueError(f"{area} are not within the program's {width} x {height}")

    def _name_of(self, symbol: int) -> str:
        if not 0 <= symbol < len(self._program.exports):
            raise ValueError(f"there is no exported symbol with the id {symbol}")
        return self._program.exports[symbol]


def _is_task(task: Task) -> None:
    if not isinstance(task, Task):
        raise TypeError(f"a task is what a command gave, not {task!r}")
