"""Layouts in Python: code regions, routes, ports, streams, and their compilation.

Takes what a script has placed and painted, makes a plan of it (`layout_plan`), finds values for the
colors (`layout_colors`), writes a file with the layout block (`layout_text`) and compiles that like
`fabsim cslc` without memcpy. Regions and values are in `layout_region` and `layout_values`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from fabsim import layout_files
from fabsim.cslc import compile_command
from fabsim.layout_colors import allocate
from fabsim.layout_plan import Connection, PaintedStream, PortStream, Stream, make_plan
from fabsim.layout_region import CodeRegion, PortHandle
from fabsim.layout_text import layout_text
from fabsim.layout_values import Color, IntVector

# Names end up in names of files.
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


class SdkTarget(Enum):
    """The architecture."""

    WSE2 = 0
    WSE3 = 1

    @property
    def arch(self) -> str:
        """The architecture's name for the compiler."""
        return self.name.lower()


class FP16TYPE(Enum):
    """What 16-bit floating point numbers are."""

    F16 = 0
    BF16 = 1
    CB16 = 2


@dataclass(frozen=True)
class SimfabConfig:
    """How a simulation runs. The number of threads means nothing here: --threads has a say.

    A core file of all PEs is written when the run stops if `dump_core` is set, a trace if
    `suppress_trace` is given as False.
    """

    num_threads: int = 16
    suppress_trace: bool = True
    dump_core: bool = False
    core_path: str | Path | None = None


@dataclass(frozen=True)
class SdkExecutionPlatform:
    """What a program is compiled for and runs on: always fabsim."""

    config: SimfabConfig
    target: SdkTarget

    def is_simulation(self) -> bool:
        """Always."""
        return True

    def is_system(self) -> bool:
        """Never."""
        return False


def get_platform(
    addr: str | None = None,
    config: SimfabConfig | None = None,
    target: SdkTarget = SdkTarget.WSE3,
) -> SdkExecutionPlatform:
    """The simulator; an address of a system is refused."""
    if addr:
        get_system(addr)
    return get_simulator(config, target)


def get_simulator(
    config: SimfabConfig | None = None, target: SdkTarget = SdkTarget.WSE3
) -> SdkExecutionPlatform:
    """The simulator."""
    return SdkExecutionPlatform(config or SimfabConfig(), target)


def get_system(addr: str) -> SdkExecutionPlatform:
    """Refused."""
    raise ValueError(f"fabsim is a simulator: it has no system to connect to ({addr})")


@dataclass(frozen=True)
class SdkCompileArtifacts:
    """A directory that `SdkLayout.compile` has filled."""

    artifacts_path: str

    def add_port_mapping(self, file: str) -> SdkCompileArtifacts:
        """Refused: streams are part of the compiled layout."""
        raise ValueError(f"fabsim does not support port maps such as {file} yet")


class SdkLayout:
    """A layout under construction."""

    def __init__(
        self, platform: SdkExecutionPlatform | SdkTarget, *, msg_level: str = "WARNING"
    ) -> None:
        del msg_level
        if not isinstance(platform, (SdkExecutionPlatform, SdkTarget)):
            raise TypeError(f"fabsim's SdkLayout takes a platform or a target, not {platform!r}")
        target = platform if isinstance(platform, SdkTarget) else platform.target
        self._arch = target.arch
        self._regions: list[CodeRegion] = []
        self._connections: list[Connection] = []
        self._streams: list[Stream] = []
        self._used: set[PortHandle] = set()

    def create_code_region(self, source: str, name: str, width: int, height: int) -> CodeRegion:
        """A region of PEs that run `source`; it lies at (0, 0) unless it is placed."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a code region: letters, digits and _")
        if any(region.name == name for region in self._regions):
            raise ValueError(f"there is a code region {name!r} already")
        if width < 1 or height < 1:
            raise ValueError(f"code region {name!r}: a size of {width} x {height}")
        if not Path(source).is_file():
            raise FileNotFoundError(f"code region {name!r}: there is no file {source}")
        region = CodeRegion(str(Path(source).resolve()), name, width, height)
        self._regions.append(region)
        return region

    def hstack(self, children: Sequence[CodeRegion], origin: IntVector | None = None) -> int:
        """Place regions side by side, the first one where it is or at `origin`; their width."""
        return self._stack(children, origin, across=True)

    def vstack(self, children: Sequence[CodeRegion], origin: IntVector | None = None) -> int:
        """Like `hstack`, but below each other; their height."""
        return self._stack(children, origin, across=False)

    def _stack(
        self, children: Sequence[CodeRegion], origin: IntVector | None, *, across: bool
    ) -> int:
        if not children:
            raise ValueError("there is nothing to stack")
        start = origin or children[0].origin
        length = 0
        for region in children:
            dx, dy = (length, 0) if across else (0, length)
            region.place(start.x + dx, start.y + dy)
            length += region.width if across else region.height
        return length

    def connect(self, tx: PortHandle, rx: PortHandle) -> None:
        """Let everything that leaves an output port arrive at an input port."""
        if tx.is_input or not rx.is_input:
            raise ValueError(
                f"an output port is connected to an input port, in this order: not {tx.name!r} to "
                f"{rx.name!r}"
            )
        if tx.size != rx.size:
            raise ValueError(
                f"port {tx.name!r} sends {tx.size} wavelets, port {rx.name!r} takes {rx.size}"
            )
        if len(tx.places()) != len(rx.places()):
            raise ValueError(
                f"port {tx.name!r} has {len(tx.places())} PEs, port {rx.name!r} {len(rx.places())}"
            )
        self._use(tx)
        self._use(rx)
        self._connections.append(Connection(tx, rx))

    def create_input_stream(
        self, port: PortHandle, io_loc: IntVector | None = None, io_buffer_size: int = 1024
    ) -> str:
        """Let the host send to an input port of one PE; the name of the stream."""
        return self._stream(port, io_loc, io_buffer_size, is_input=True)

    def create_output_stream(
        self, port: PortHandle, io_loc: IntVector | None = None, io_buffer_size: int = 1024
    ) -> str:
        """Let the host receive from an output port of one PE; the name of the stream."""
        return self._stream(port, io_loc, io_buffer_size, is_input=False)

    def _stream(
        self, port: PortHandle, place: IntVector | None, buffer: int, *, is_input: bool
    ) -> str:
        del buffer  # The host waits for nobody, so it needs none on the fabric.
        if port.is_input is not is_input:
            kind = "an input" if is_input else "an output"
            raise ValueError(f"{port.name!r} is not {kind} port")
        if len(port.places()) != 1:
            raise ValueError(
                f"port {port.name!r} has {len(port.places())} PEs: a stream takes one; a code "
                f"region between them can spread or collect the wavelets"
            )
        self._use(port)
        return self._add(PortStream(port.name, port, _checked(place) if place else None))

    def create_input_stream_from_loc(self, loc: IntVector, color: Color, prefix: str = "") -> str:
        """Let the host send to a PE by a color that is painted there; the name of the stream."""
        return self._painted(loc, color, prefix, is_input=True)

    def create_output_stream_from_loc(self, loc: IntVector, color: Color, prefix: str = "") -> str:
        """Let the host receive from a PE by a color that is painted there; the stream's name."""
        return self._painted(loc, color, prefix, is_input=False)

    def _painted(self, place: IntVector, color: Color, prefix: str, *, is_input: bool) -> str:
        name = f"{prefix}{color.get_global_name()}"
        return self._add(PaintedStream(name, is_input, color, _checked(place)))

    def _add(self, stream: Stream) -> str:
        if any(other.name == stream.name for other in self._streams):
            raise ValueError(f"there is a stream {stream.name!r} already; give a prefix")
        self._streams.append(stream)
        return stream.name

    def _use(self, port: PortHandle) -> None:
        if port in self._used:
            raise ValueError(f"port {port.name!r} is connected twice")
        self._used.add(port)

    def compile(
        self,
        out_prefix: str,
        libs: Sequence[str] = (),
        cslc_prefix: str = "",
        save_port_map: bool = False,
        f16_type: FP16TYPE = FP16TYPE.F16,
    ) -> SdkCompileArtifacts:
        """Make a program of the layout, in the directory `out_prefix`.

        Raises ValueError if the layout is impossible, CslError if a program does not compile.
        There is no other compiler than fabsim's, and streams are always saved.
        """
        del cslc_prefix, save_port_map
        plan = make_plan(self._regions, self._connections, self._streams)
        values = allocate(plan.nets, plan.users(), plan.switched(), self._arch)
        text = layout_text(plan, values, self._arch)
        directory = Path(out_prefix)
        directory.mkdir(parents=True, exist_ok=True)
        source = directory / "layout.csl"
        source.write_text(text)
        layout_files.write(directory, plan, values)
        compile_command(
            [
                str(source.resolve()),
                f"--arch={self._arch}",
                f"--fabric-dims={plan.width},{plan.height}",
                "--fabric-offsets=0,0",
                f"--fp16-format={f16_type.name.lower()}",
                *(f"--import-path={path}" for path in libs),
                "--colors-by-number",
                *("-o", str(directory.resolve())),
            ]
        )
        return SdkCompileArtifacts(str(directory))


def _checked(place: IntVector) -> IntVector:
    if place.x < 0 or place.y < 0:
        raise ValueError(f"there is no PE ({place.x}, {place.y})")
    return place
