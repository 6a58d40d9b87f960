"""What the simulator must not let its caller do, and what it must not depend on itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import collc
import fabsim
from collc.run.expected import make_input

EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.coll"))
    if "\n    run " not in path.read_text()  # algorithms: not run from here yet
    and not path.stem.startswith(("program_", "select"))  # of several collectives
    and path.stem != "rotating_root"  # its roots are given with the launch by collc.run
    and "= barrier(" not in path.read_text()  # nothing comes out of them
]


def outcome(program: Any, bundle: Any, seed: int | None) -> tuple[int, int, bytes]:
    """Cycles, tile-cycles and result of a run that visits the PEs in the order of `seed`."""
    collective = bundle.schedule.collective
    grid, contract = collective.grid, collective.contract
    given = make_input(collective, 1)
    area = (0, 0, grid.width, grid.height, contract.words)
    simulator = fabsim.Simulator(program, visit_seed=seed)
    words = np.uint32 if contract.element.words > 1 else given.dtype
    simulator.memcpy_h2d(contract.buffer, given.reshape(-1).view(words), *area)
    launch = simulator.launch("run")
    found = simulator.memcpy_d2h(contract.buffer, words, *area)
    simulator.stop()
    return launch.cycles, launch.tile_cycles, found.tobytes()


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_visiting_order_changes_nothing(path: Path, target: str, tmp_path: Path) -> None:
    bundle = collc.compile(path, target=target)
    bundle.write(tmp_path)
    program = fabsim.compile(tmp_path / "layout.csl", arch=target, strict=True)
    expected = outcome(program, bundle, None)
    for seed in range(3):
        assert outcome(program, bundle, seed) == expected, seed


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (np.zeros(64, ">f4"), TypeError, "byte order"),
        ([1.0] * 64, TypeError, "a NumPy array is copied, not list"),
        (np.zeros(64), TypeError, "16 or 32 bits"),
        (np.array(["a"] * 64), TypeError, "16 or 32 bits"),
        (np.zeros((8, 8), np.float32), ValueError, "one dimension"),
        (np.zeros(63, np.float32), fabsim.SimulationError, "63 elements for 1 x 1 PEs of 64"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    data: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    collc.compile(EXAMPLES[-1], P=4, B=64, S=2).write(tmp_path)
    simulator = fabsim.Simulator(fabsim.compile(tmp_path / "layout.csl"))
    with pytest.raises(error, match=words):
        simulator.memcpy_h2d("x", data, 0, 0, 1, 1, 64)


def test_every_second_element_and_no_absurd_count_is_copied(tmp_path: Path) -> None:
    collc.compile(EXAMPLES[-1], P=4, B=64, S=2).write(tmp_path)
    simulator = fabsim.Simulator(fabsim.compile(tmp_path / "layout.csl"))
    data = np.arange(128, dtype=np.float32)
    simulator.memcpy_h2d("x", data[::2], 0, 0, 1, 1, 64)
    assert (simulator.memcpy_d2h("x", np.float32, 0, 0, 1, 1, 64) == data[::2]).all()
    with pytest.raises(fabsim.SimulationError, match="do not fit"):
        simulator.memcpy_d2h("x", np.float32, 0, 0, 1, 1, 2**62)


DIVIDES = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
var zero: i16 = 0;
fn run() void {
  zero = 7 / zero;
  sys.unblock_cmd_stream();
}
comptime { @export_symbol(run); }
"""
ONE_PE = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("run", fn()void);
}
"""


def test_errors_say_as_data_what_went_wrong_and_where(tmp_path: Path) -> None:
    (tmp_path / "layout.csl").write_text(ONE_PE)
    (tmp_path / "pe.csl").write_text(DIVIDES)
    simulator = fabsim.Simulator(fabsim.compile(tmp_path / "layout.csl"))
    with pytest.raises(fabsim.SimulationError) as raised:
        simulator.launch("run")
    error = raised.value
    assert (error.kind, error.code, error.pe) == ("undefined", "division-by-zero", (0, 0))
    assert error.cycle is not None and f"cycle {error.cycle}: " in str(error)
    assert error.place is not None
    file, line, _ = error.place
    assert (Path(file).name, line) == ("pe.csl", 6)
    with pytest.raises(fabsim.SimulationError) as refused:
        simulator.launch("run")
    assert (refused.value.kind, refused.value.pe, refused.value.place) == ("host", None, None)
