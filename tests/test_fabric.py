"""Where on which fabric a program is, and the commands files that say so."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collc.base.diagnostics import CollcError
from collc.cli import commands
from collc.target import WSE2, WSE3
from collc.target.fabric import Fabric, Wanted, fabric_of

EXAMPLES = Path(__file__).parents[1] / "examples"


def build(directory: Path, *words: str, example: str = "allreduce_2d") -> Result:
    file = str(EXAMPLES / f"{example}.coll")
    return CliRunner().invoke(commands, ["build", file, "-o", str(directory), *words])


def test_a_simulated_fabric_is_as_small_as_memcpy_lets_it_be() -> None:
    assert fabric_of((4, 1), WSE2) == Fabric((11, 3), (4, 1), 1)
    assert fabric_of((4, 1), WSE2, Wanted(offsets=(10, 7))) == Fabric((17, 9), (10, 7), 1)


@pytest.mark.parametrize(
    ("size", "target", "machine", "dims"),
    [((750, 994), WSE2, "cs2", (757, 996)), ((755, 1170), WSE3, "cs3", (762, 1172))],
)
def test_the_largest_program_just_fits_its_machine(size, target, machine, dims) -> None:
    assert fabric_of(size, target, Wanted(machine)) == Fabric(dims, (4, 1), 1)
    for more in ((1, 0), (0, 1)):
        with pytest.raises(CollcError, match="does not fit"):
            fabric_of((size[0] + more[0], size[1] + more[1]), target, Wanted(machine))


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (Wanted(offsets=(3, 1)), "memcpy keeps 4 columns"),
        (Wanted(offsets=(4, 0)), "and 1 row to the north"),
        (Wanted(dims=(10, 3)), "a program of 4 x 1 PEs at 4,1 does not fit a fabric of 10,3"),
        (Wanted("cs3"), "--machine cs3 is a wse3, not a wse2"),
        (Wanted(channels=17), "1 to 16 channels, not 17"),
    ],
)
def test_what_has_no_place_is_refused(wanted, why) -> None:
    with pytest.raises(CollcError) as caught:
        fabric_of((4, 1), WSE2, wanted)
    (problem,) = caught.value.diagnostics
    assert problem.code == "C504"
    assert why in problem.message


def test_offsets_within_a_machine_leave_its_size(tmp_path: Path) -> None:
    fabric = fabric_of((4, 1), WSE2, Wanted("cs2", offsets=(100, 200), channels=16))
    assert fabric.options("wse2")[1:] == (
        "--fabric-dims=757,996",
        "--fabric-offsets=100,200",
        "--memcpy",
        "--channels=16",
    )


def test_a_build_for_a_machine_has_its_commands_and_no_others(tmp_path: Path) -> None:
    assert build(tmp_path, "-D", "W=6", "-D", "H=4", "--machine", "cs3").exit_code == 0
    assert not (tmp_path / "commands_wse2.sh").exists()
    text = (tmp_path / "commands_wse3.sh").read_text()
    assert "cslc --arch=wse3 ./layout.csl --fabric-dims=762,1172 --fabric-offsets=4,1" in text
    hashes = json.loads((tmp_path / "manifest.json").read_text())["sha256"]
    assert "commands_wse2.sh" not in hashes
    assert hashes["commands_wse3.sh"] == hashlib.sha256(text.encode()).hexdigest()


def test_dims_by_hand_are_those_of_both_targets(tmp_path: Path) -> None:
    words = ("-D", "W=6", "-D", "H=4", "--fabric-dims", "30,20", "--fabric-offsets", "9,8")
    assert build(tmp_path, *words).exit_code == 0
    for arch in ("wse2", "wse3"):
        text = (tmp_path / f"commands_{arch}.sh").read_text()
        assert "--fabric-dims=30,20 --fabric-offsets=9,8" in text


def test_a_machine_of_another_target_is_refused(tmp_path: Path) -> None:
    result = build(tmp_path, "--machine", "cs2", "--target", "wse3")
    assert result.exit_code == 1
    assert "C504" in result.stderr


def test_a_pair_that_is_none_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not a pair such as 757,996"):
        commands.main(
            ["build", str(EXAMPLES / "chain.coll"), "--fabric-dims", "757x996"],
            standalone_mode=False,
        )


def test_the_largest_grid_of_the_example_is_built_for_its_machine(tmp_path: Path) -> None:
    assert build(tmp_path, "-D", "W=750", "-D", "H=994", "--machine", "cs2").exit_code == 0
    text = (tmp_path / "commands_wse2.sh").read_text()
    assert "--fabric-dims=757,996 --fabric-offsets=4,1" in text
    assert "--memcpy --channels=1" in text


def test_commands_of_timed_programs_know_the_hop_of_their_target(tmp_path: Path) -> None:
    assert build(tmp_path, "-D", "P=4", "--timed", example="chain").exit_code == 0
    for arch, hop in (("wse2", 1), ("wse3", 2)):
        assert f"run.py --name out --hop {hop} " in (tmp_path / f"commands_{arch}.sh").read_text()
