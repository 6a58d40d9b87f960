"""`collc cost FILE --network NET` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.test_cli import EXAMPLES, collc

NETWORKS = EXAMPLES / "networks"


def test_every_example_network_takes_an_example():
    for network in sorted(NETWORKS.glob("*.toml")):
        found = collc("cost", EXAMPLES / "chain.coll", "-D", "P=8", "--network", network)
        assert found.returncode == 0, found.stderr


def test_the_same_as_data():
    command = ("cost", EXAMPLES / "chain.coll", "-D", "P=8", "--json")
    found = collc(*command, "--network", NETWORKS / "uniform.toml")
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
