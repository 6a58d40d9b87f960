"""`collc cost FILE --network NET` as a user meets it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import prove_text
from collc_research.networks import cost_on, read_network, show_cost
from commands import collc
from tests.test_cli import EXAMPLES, ROOT

NETWORKS = sorted((EXAMPLES / "networks").glob("*.toml"))
PROGRAMS = [
    path
    for path in sorted(EXAMPLES.glob("*.coll"))
    if not path.stem.startswith(("program_", "select", "rotating_root"))
]  # those of several collectives, or with a root of the run, are refused


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_every_example_program_can_be_followed_on_every_example_network(program):
    _, schedule = prove_text(program.read_text(), program.name, {})
    for path in NETWORKS:
        try:
            assert show_cost(cost_on(schedule, read_network(path)))
        except CollcError as error:  # eight accelerators are fully connected, no more
            assert path.stem == "full" and "fully connected" in str(error)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
def test_the_command_in_an_example_network_works(network):
    (line,) = [line for line in network.read_text().splitlines() if "collc cost" in line]
    words = shlex.split(line.removeprefix("#"))
    found = collc(*words[1:], cwd=ROOT)
    assert found.returncode == 0, found.stderr
    assert words[-1].endswith(network.name)


def test_the_same_as_data():
    command = ("cost", EXAMPLES / "chain.coll", "-D", "P=8", "--json")
    found = collc(*command, "--network", EXAMPLES / "networks" / "uniform.toml")
    data = json.loads(found.stdout)
    assert data["cost"]["rounds"] == 7
    assert data["params"]["P"] == 8


def test_a_wrong_description_is_quoted(tmp_path: Path):
    network = tmp_path / "net.toml"
    network.write_text('kind = "two-tier"\nnodes = -1\n')
    found = collc("cost", EXAMPLES / "chain.coll", "--network", network)
    assert found.returncode == 1
    assert f"{network}:2:1: error[C603]" in found.stderr
    assert "    nodes = -1\n    ^^^^^" in found.stderr


def test_a_description_that_is_not_there_is_wrong_usage(tmp_path: Path):
    found = collc("cost", EXAMPLES / "chain.coll", "--network", tmp_path / "none.toml")
    assert found.returncode == 2
