"""More colors never cost cycles, and the table says what each number of them gives."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.base.diagnostics import CollcError
from collc.cli import commands
from collc.driver.cycles_by_colors import by_colors
from collc.patterns import Pattern, all_patterns, instance
from collc.patterns.facts import contracts_of
from collc.target import TARGETS

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = ((5, 3), (12, 40))
# They take turns over patterns and targets, so that each pattern has both, and each target; the
# nightly run takes all.
ALL = bool(os.environ.get("COLLC_ALL_SIZES"))


@pytest.mark.parametrize(
    ("number", "pattern"),
    [pytest.param(n, one, id=one.name) for n, one in enumerate(all_patterns())],
)
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_never_more_cycles_with_more_colors(number: int, pattern: Pattern, target: str) -> None:
    contract = contracts_of(pattern)[0]
    for pes, length in SIZES if ALL else (SIZES[(number + (target == "wse3")) % 2],):
        try:
            _, spec, _ = instance(pattern, contract, pes, length, target=target)
        except CollcError:
            continue  # not made for so many PEs
        rows = list(by_colors(spec.collectives[0], TARGETS[target], range(1, 9)))
        assert any(not row.refused for row in rows)
        for fewer, more in pairwise(rows):
            if fewer.cycles is not None:
                assert more.cycles is not None
                assert more.cycles <= fewer.cycles
        for row in rows:
            assert row.colors is None or row.colors <= row.allowed


def cost(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(commands, ["cost", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_table_and_the_data_say_the_same() -> None:
    file = EXAMPLES / "ring_allreduce.coll"
    status, text = cost(file, "--colors", "2..4")
    assert status == 0
    _, data = cost(file, "--colors", "2..4", "--json")
    rows = json.loads(data)["by_colors"]
    assert [row["allowed"] for row in rows] == [2, 3, 4]
    assert "needs 3 colors" in rows[0]["refused"]
    assert rows[1]["colors"] == 3
    assert str(rows[1]["cycles"]) in text


def test_one_number_will_do_and_nonsense_will_not() -> None:
    file = EXAMPLES / "chain.coll"
    assert cost(file, "--colors", "2")[0] == 0
    for wrong in ("0..3", "3..2", "1..", "many", "1.."):
        assert cost(file, "--colors", wrong)[0] == 2
