"""Tables of cycles in files: every number by its name, unknown and missing ones refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import fabsim
from collc.probe.survey import rules

LAYOUT = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); }\n'


@pytest.fixture
def program(tmp_path):
    (tmp_path / "layout.csl").write_text(LAYOUT)
    (tmp_path / "pe.csl").write_text("const a: i16 = 0;\n")
    return str(tmp_path / "layout.csl")


@pytest.fixture
def table(tmp_path):
    """Writes the table of simfabric with a change."""

    def write(change):
        part = {"rates": "simfabric", "constants": dict(fabsim.timing_numbers("simfabric", "wse3"))}
        change(part)
        path = tmp_path / "table.json"
        path.write_text(json.dumps({"wse3": part}))
        return str(path)

    return write


def test_a_whole_table_is_taken(program, table):
    fabsim.compile(program, arch="wse3", timing=table(lambda part: None))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["constants"].pop("hop_cycles"), "it lacks hop_cycles"),
        (lambda p: p["constants"].update(hops=1), "there is no constant hops"),
        (lambda p: p["constants"].update(hop_cycles=3), "a hop takes 1 or 2 cycles"),
        (lambda p: p["constants"].update(hop_cycles=-1), "hop_cycles is -1, not a number"),
        (lambda p: p.update(rates="fast"), "rates is 'fast'"),
        (lambda p: p.update(rate="simfabric"), "there is no 'rate'"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_by_name(program, table, change, message):
    with pytest.raises(ValueError, match=message):
        fabsim.compile(program, arch="wse3", timing=table(change))


def test_a_table_for_another_architecture_is_none(program, table):
    with pytest.raises(ValueError, match="has no table for wse2"):
        fabsim.compile(program, arch="wse2", timing=table(lambda part: None))


def test_no_name_and_no_file(program):
    with pytest.raises(
        ValueError, match="unknown timing 'nothing'; there are simfabric, silicon, streams"
    ):
        fabsim.compile(program, timing="nothing")


def test_a_rule_that_cannot_be_switched_off_says_why(program):
    with pytest.raises(ValueError, match="M2-2 cannot be switched off: the way of a router"):
        fabsim.compile(program, rules_off=["M2-2"])
    with pytest.raises(ValueError, match=r"docs/machine.md has no such rule"):
        fabsim.compile(program, rules_off=["M9-1"])


def test_every_rule_is_switched_or_has_a_reason():
    numbers = [rule.number for rule in rules()]
    switched = {rule for rule, _ in fabsim.switchable_rules()}
    assert switched <= set(numbers)
    assert all((number in switched) != bool(fabsim.fixed_rule(number)) for number in numbers)


def test_cslc_keeps_a_copy_of_the_table(program, table, tmp_path):
    path = table(lambda part: None)
    options = ["--arch=wse3", "--fabric-dims=8,3", "--fabric-offsets=4,1"]
    words = [sys.executable, "-m", "fabsim", "cslc", program, *options, "-o", str(tmp_path / "out")]
    done = subprocess.run([*words, "--timing", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    recipe = json.loads((tmp_path / "out" / "fabsim.json").read_text())
    assert recipe["timing"] == str(tmp_path / "out" / "timing.json")
    done = subprocess.run(
        [*words, "--timing", "nowhere"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "'nowhere' is no file" in done.stderr
