"""Random files and host calls for the Python side of fabsim: whatever is given, the answer is a
result or an error in words.

    python tests/fuzz_fabsim.py [--target traces|timings|cores|programs|scripts] [--seconds N]

`traces` are binary traces that are made text of and shown; `timings` tables of cycle costs, with
which a program is compiled and run; `cores` core files; `programs` the files that `fabsim cslc`
leaves in its output directory; `scripts` calls of `SdkRuntime` with any values, in any order. What
ends in anything but an error in words, or takes longer than `PATIENCE` seconds, goes to
.cache/fuzz-fabsim/faults, and the status is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

import fabsim
from fabsim import core_file, timing_table
from fabsim.cslc import compile_command, load
from fabsim.mistakes import UserError
from fabsim.view import _read as read_trace
from fabsim.view_page import page_of_traces

ROOT = Path(__file__).parents[1]
FAULTS = ROOT / ".cache" / "fuzz-fabsim" / "faults"
PATIENCE = 20
CYCLES = 20_000  # of a launch
LAYOUT = ROOT / "fabsim" / "fuzz" / "fuzz_targets"
IN_WORDS = (OSError, ValueError, UserError, fabsim.CslError, fabsim.SimulationError)
# What a host script may get from SdkRuntime besides: as Python says of wrong arguments, of what is
# out of order, and of members that there are not yet.
OF_CALLS = (TypeError, RuntimeError, OverflowError)
NUMBERS = (0, 1, -1, 2, 3, 7, 255, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, -(2**63))
BYTES = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"[", b'"')
WORDS = ("null", "true", "[]", "{}", "-1", "1e999", "NaN", '""', '"\\ud800"', "9" * 30, "[" * 9999)


class Workplace:
    """A folder with a compiled program, a trace of it, a core, and what is made of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, source in (("layout", "host_calls_layout"), ("pe", "host_calls_pe")):
            shutil.copy(LAYOUT / f"{source}.csl", folder / f"{name}.csl")
        self.layout = str(folder / "layout.csl")
        self.program = folder / "out"
        options = ("--arch=wse3", "--fabric-dims=10,4", "--fabric-offsets=4,1", "--memcpy")
        compile_command([self.layout, *options, "--channels=1", "-o", str(self.program)])
        trace, core = folder / "seed.trace", folder / "seed.core"
        simulator = fabsim.Simulator(
            load(str(self.program)), max_cycles=CYCLES, trace=str(trace), trace_form="binary"
        )
        simulator.launch("add", 1, 2)
        core_file.write(core, simulator, (3, 2))
        simulator.stop()
        self.files = sorted(self.program.glob("*.json"))
        self.seeds = {
            "traces": [trace.read_bytes()],
            "cores": [core.read_bytes()],
            "timings": [
                timing_table.text(timing_table.table(name)).encode()
                for name in timing_table.TIMINGS
            ],
            "programs": [path.read_bytes() for path in self.files],
        }


def changed(data: bytes, choose: random.Random) -> bytes:
    """Bytes of a file with some of them changed: by themselves, or as words of JSON."""
    found = bytearray(data)
    for _ in range(choose.choice((1, 1, 2, 4, 16))):
        at = choose.randrange(len(found) + 1)
        match choose.randrange(6):
            case 0:
                found[at : at + choose.choice((1, 4, 64))] = b""
            case 1:
                piece = choose.choice(BYTES)
                found[at : at + len(piece)] = piece
            case 2:
                found[at:at] = found[at : at + choose.randint(1, 40)]
            case 3:
                del found[at:]
            case 4 if at < len(found):
                found[at] ^= 1 << choose.randrange(8)
            case _:
                digits = [i for i, byte in enumerate(found) if chr(byte) in "0123456789"]
                if digits:
                    place = choose.choice(digits)
                    found[place : place + 1] = choose.choice(WORDS).encode()
    return bytes(found)


def try_trace(place: Workplace, data: bytes) -> None:
    """Make text and a page of a trace."""
    path = place.folder / "a.trace"
    path.write_bytes(data)
    for how in ({}, {"region": (0, 0, 2, 1)}, {"window": (3, 40)}):
        try:
            fabsim.convert_trace(path, place.folder / "a.text", **how)
        except IN_WORDS:
            continue
    page_of_traces([("a.trace", read_trace(path))])


def try_timing(place: Workplace, data: bytes) -> None:
    """Compile with a table, and run."""
    path = place.folder / "timing.json"
    path.write_bytes(data)
    for arch in ("wse2", "wse3"):
        try:
            program = fabsim.compile(place.layout, arch=arch, timing=str(path))
        except IN_WORDS:
            continue
        simulator = fabsim.Simulator(program, max_cycles=CYCLES)
        simulator.launch("sum")


def try_core(place: Workplace, data: bytes) -> None:
    """Read a core file."""
    path = place.folder / "a.core"
    path.write_bytes(data)
    core_file.read(path)


def try_program(place: Workplace, data: bytes) -> None:
    """Load a program one of whose files is this."""
    folder = place.folder / "other"
    for file in place.files:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(place.program, folder)
        (folder / file.name).write_bytes(data)
        try:
            load(str(folder))
            runtime().SdkRuntime(str(folder))
        except IN_WORDS:
            continue


def runtime() -> Any:
    """The module that host scripts import."""
    drop_in = str(Path(fabsim.__file__).parent / "drop_in")
    if drop_in not in sys.path:
        sys.path.insert(0, drop_in)
    return importlib.import_module("cerebras.sdk.runtime.sdkruntimepybind")


def a_value(choose: random.Random, sdk: Any) -> Any:  # noqa: PLR0911 - a table of cases
    """Something that a script may hand over, mostly what is right somewhere."""
    types = (np.uint32, np.float32, np.uint16, np.int64, np.float64, np.bool_)
    match choose.randrange(9):
        case 0 | 1 | 2:
            return choose.choice(NUMBERS[:6])
        case 3:
            return choose.choice(NUMBERS)
        case 4:
            shape = choose.choice(((0,), (1,), (6,), (24,), (6, 4), (2, 3, 4), ()))
            return np.ones(shape, choose.choice(types))
        case 5:
            return choose.choice([*sdk.MemcpyOrder, *sdk.MemcpyDataType])
        case 6:
            return choose.choice(("sum", "add", "buffer", "nothing", "", "\udc80", "a\x00b"))
        case 7:
            return np.ones((6, 4), np.uint32)[:, :: choose.choice((1, 2, -1))]
        case _:
            return choose.choice((None, True, 1.5, float("nan"), [], {}, [1, 2], b"x", (1, 2)))


CALLS = (
    *("load", "run", "stop", "get_id", "get_port_id", "read_symbol", "dump_core"),
    *("memcpy_h2d", "memcpy_d2h", "memcpy_h2d_rowbcast", "memcpy_h2d_colbcast"),
    *("memcpy_h2d_stride", "launch", "call", "send", "receive", "task_wait", "is_task_done"),
    *("report_port_infos", "coord_logical_to_physical"),
)


def a_call(choose: random.Random, sdk: Any) -> tuple[str, list[Any], dict[str, Any]]:
    """The name of a call, and its arguments: as they are written, some exchanged."""
    name = choose.choice(CALLS)
    order, words = sdk.MemcpyOrder.ROW_MAJOR, np.ones(24, np.uint32)
    given: list[Any] = []
    named: dict[str, Any] = {}
    if name.startswith("memcpy"):
        given = [0, words] if name.startswith("memcpy_h2d") else [words, 0]
        given += choose.choice(([0, 0, 3, 2, 4], [1, 1, 2, 1, 12], [0, 0, 1, 1, 24]))
        given += [4, 4] if name.endswith("stride") else []
        named = {"streaming": choose.random() < 0.2, "order": order, "nonblock": False}
        named["data_type"] = choose.choice(list(sdk.MemcpyDataType))
    elif name in {"launch", "call"}:
        given, named = [choose.choice(("sum", "add", "never", "forward"))], {"nonblock": False}
        given += [[1, 2]] if name == "call" else choose.choice(([], [1, 2]))
    elif name not in {"load", "run", "stop", "report_port_infos"}:
        given = [a_value(choose, sdk) for _ in range(choose.randint(1, 3))]
    for _ in range(choose.choice((0, 0, 1, 1, 2))):
        if given and choose.random() < 0.8:
            given[choose.randrange(len(given))] = a_value(choose, sdk)
        elif named:
            named[choose.choice(sorted(named))] = a_value(choose, sdk)
    return name, given, named


def try_script(place: Workplace, data: bytes) -> None:
    """Carry out calls that a seed stands for. What is tried is told by the seed alone."""
    choose, sdk = random.Random(data), runtime()
    host = sdk.SdkRuntime(str(place.program))
    if choose.random() < 0.9:
        host.load()
        host.run()
    for _ in range(choose.randint(1, 12)):
        name, given, named = a_call(choose, sdk)
        try:
            getattr(host, name)(*given, **named)
        except (*IN_WORDS, *OF_CALLS):
            continue
        except Exception as error:
            raise AssertionError(f"{name}(*{given!r}, **{named!r})") from error


TARGETS: dict[str, Callable[[Workplace, bytes], None]] = {
    "traces": try_trace,
    "timings": try_timing,
    "cores": try_core,
    "programs": try_program,
    "scripts": try_script,
}


def tried(
    attempt: Callable[[Workplace, bytes], None], place: Workplace, data: bytes
) -> tuple[str, str]:
    """Where an answer goes wrong, and how, if it does."""
    signal.alarm(PATIENCE)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            attempt(place, data)
    except IN_WORDS:
        return "", ""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of Rust is no Exception
        said, cause = traceback.format_exc(), error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        frame = traceback.extract_tb(cause.__traceback__)[-1]
        return f"{frame.filename}:{frame.lineno} {type(cause).__name__}", said
    finally:
        signal.alarm(0)
    return "", ""


def _too_long(*_: object) -> None:
    raise AssertionError(f"more than {PATIENCE} s")


def hunt(target: str, seconds: float, seed: int) -> int:
    """Try inputs for so long; the number of faults."""
    choose, attempt = random.Random(seed), TARGETS[target]
    FAULTS.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGALRM, _too_long)
    os.environ["FABSIM_OPTIONS"] = f"--max-cycles {CYCLES}"
    faults: set[str] = set()
    count, end, home = 0, monotonic() + seconds, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where a run leaves its files
        try:
            place = Workplace(Path(folder))
            seeds = place.seeds.get(target, [])
            while monotonic() < end:
                data = changed(choose.choice(seeds), choose) if seeds else choose.randbytes(8)
                where, fault = tried(attempt, place, data)
                count += 1
                if where and where not in faults:  # the same place is the same fault
                    faults.add(where)
                    name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
                    (FAULTS / name).write_bytes(data)
                    print(f"{FAULTS / name}:\n{fault}", file=sys.stderr)
        finally:
            os.chdir(home)
    print(f"{target}: {count} inputs, seed {seed}: {len(faults)} faults")
    return len(faults)


def main() -> int:
    """Try inputs; 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="0 for another one each time")
    options = parser.parse_args()
    seed = options.seed or random.SystemRandom().getrandbits(32)
    targets = options.target or [*TARGETS]
    return int(sum(hunt(target, options.seconds, seed) for target in targets) > 0)


if __name__ == "__main__":
    sys.exit(main())
