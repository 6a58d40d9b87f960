"""A cycle-level simulator of the Cerebras WSE fabric that compiles and runs CSL."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

class Diagnostic(TypedDict):
    """One complaint about a program."""

    file: str
    line: int
    column: int
    message: str

class CslError(Exception):
    """The program does not compile."""

    diagnostics: list[Diagnostic]

class SimulationError(Exception):
    """The run went wrong; the text says how and where, the attributes as far as it is known.

    `code` is finer than `kind`; `pe` is (column, row), `place` (file, line, column) in the source.
    """

    kind: Literal["undefined", "stuck", "limit", "leftover", "host", "unsupported", "interrupted"]
    code: str
    pe: tuple[int, int] | None
    color: int | None
    cycle: int | None
    place: tuple[str, int, int] | None

class Program:
    """A compiled program."""

    @property
    def arch(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def exports(self) -> list[str]: ...
    @property
    def sources(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def printed(self) -> list[str]: ...
    @property
    def sdk(self) -> str: ...
    @property
    def since(self) -> str: ...
    @property
    def constructs(self) -> list[tuple[str, str, int]]: ...
    @property
    def assumed(self) -> str | None: ...
    def functions(self, x: int, y: int) -> list[tuple[str, int]]: ...
    def inlined(self, x: int, y: int) -> list[tuple[str, int, int]]: ...
    def routes(self, x: int, y: int) -> list[tuple[int, int, str, str]]: ...
    def data_bytes(self, x: int, y: int) -> int: ...

class LaunchReport:
    """What a launch took, in cycles."""

    @property
    def start_cycle(self) -> int: ...
    @property
    def end_cycle(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def tile_cycles(self) -> int: ...

def compile(
    path: str | PathLike[str],
    arch: str = "wse2",
    params: Mapping[str, int] = ...,
    colors: Mapping[str, int] = ...,
    fabric_dims: tuple[int, int] | None = None,
    fabric_offsets: tuple[int, int] | None = None,
    import_paths: Sequence[str | PathLike[str]] = ...,
    memcpy: bool = True,
    max_inlined_iterations: int = 50,
    fp16_format: str = "f16",
    max_comptime_steps: int = ...,
    timing: str | None = ...,
    strict: bool | None = None,
    colors_by_number: bool = ...,
    comptime_func_depth_limit: int | None = None,
    sdk: str | None = None,
    constructs: bool = False,
    rules_off: Sequence[str] = ...,
    max_seconds: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Program: ...
def timing_numbers(timing: str, arch: str) -> list[tuple[str, int]]: ...
def switchable_rules() -> list[tuple[str, str | None]]: ...
def fixed_rule(rule: str) -> str | None: ...
def convert_trace(
    source: str | PathLike[str],
    destination: str | PathLike[str],
    *,
    region: tuple[int, int, int, int] | None = None,
    window: tuple[int, int] | None = None,
) -> None: ...

class Simulator:
    """A program on a simulated machine."""

    def __init__(
        self,
        program: Program,
        max_cycles: int = 1_000_000_000,
        lenient: bool = False,
        visit_seed: int | None = None,
        threads: int | None = None,
        *,
        max_memory_bytes: int = 16_000_000_000,
        check_uninitialized: bool = False,
        usage: bool = False,
        trace: str | PathLike[str] | None = None,
        trace_form: Literal["text", "binary"] = "text",
        trace_region: tuple[int, int, int, int] | None = None,
        trace_window: tuple[int, int] | None = None,
        constants: Mapping[str, int] = ...,
        late_starts: tuple[int, int] | None = None,
        max_seconds: int | None = None,
        reference: bool | None = None,
        trace_limit: int | None = None,
    ) -> None: ...
    def set_progress(self, progress: Callable[[int], None] | None) -> None: ...
    def memcpy_h2d(
        self,
        symbol: str,
        data: npt.NDArray[Any],
        x: int,
        y: int,
        width: int,
        height: int,
        per_pe: int,
        *,
        order: Literal["row_major", "col_major"] = "row_major",
    ) -> None: ...
    def memcpy_d2h(
        self,
        symbol: str,
        dtype: npt.DTypeLike,
        x: int,
        y: int,
        width: int,
        height: int,
        per_pe: int,
        *,
        order: Literal["row_major", "col_major"] = "row_major",
    ) -> npt.NDArray[Any]: ...
    def stream_h2d(
        self,
        color: int,
        data: npt.NDArray[np.uint32],
        x: int,
        y: int,
        width: int,
        height: int,
        per_pe: int,
        *,
        order: Literal["row_major", "col_major"] = "row_major",
    ) -> None: ...
    def stream_d2h(
        self,
        color: int,
        x: int,
        y: int,
        width: int,
        height: int,
        per_pe: int,
        *,
        order: Literal["row_major", "col_major"] = "row_major",
    ) -> npt.NDArray[np.uint32]: ...
    def begin_send(self, x: int, y: int, color: int, data: npt.NDArray[np.uint32]) -> int: ...
    def begin_receive(self, x: int, y: int, color: int, count: int) -> int: ...
    def finish_transfer(self, transfer: int) -> npt.NDArray[np.uint32]: ...
    def is_transfer_done(self, transfer: int) -> bool: ...
    def poll_transfer(self, transfer: int) -> bool: ...
    def launch(
        self,
        name: str,
        *args: int | float | np.number[Any],
        progress: Callable[[int], object] | None = None,
    ) -> LaunchReport: ...
    def call(self, name: str, words: Sequence[int]) -> LaunchReport: ...
    def variables(self, x: int, y: int) -> list[tuple[str, int, int]]: ...
    def read_variable(self, name: str, x: int, y: int) -> bytes: ...
    def write_variable(self, name: str, x: int, y: int, data: bytes) -> None: ...
    def stop(self) -> None: ...
    def usage_json(self) -> str | None: ...
    def usage_table(self) -> str | None: ...
    @property
    def cycle(self) -> int: ...
    @property
    def tile_cycles(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def wavelet_count(self) -> int: ...
    @property
    def log(self) -> list[tuple[int, str]]: ...
    @property
    def warnings(self) -> list[str]: ...
