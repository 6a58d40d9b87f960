"""What happens to each color between two uses, and why: said by `collc cost`, `--dump plan` and
`manifest.json` alike, and for every limit of colors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from programs.bare import planned
from programs.texts import program_of

from collc.base.diagnostics import CollcError
from collc.cli import commands
from collc.driver.cycles_by_colors import program_by_colors
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.lowering.between_uses import BetweenUses, between_uses

SIZES = {"P": 5, "B": 4}
WAYS = ["broadcast from the west", "chain", "broadcast from the east"]
SELECT = Path(__file__).parents[2] / "examples" / "select.coll"


def colors(text: str) -> list[BetweenUses]:
    _, plan = planned(text, SIZES)
    return list(between_uses(plan))


def asked(tmp_path: Path, text: str, *arguments: str) -> Any:
    """What a command prints about a program; its data where `--json` is asked for."""
    file = tmp_path / "several.coll"
    file.write_text(text, encoding="utf-8")
    sizes = [word for name, value in SIZES.items() for word in ("-D", f"{name}={value}")]
    result = CliRunner().invoke(commands, [*arguments, str(file), *sizes], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in arguments else result.stdout


@pytest.mark.parametrize(
    ("calls", "rounds", "why"),
    [
        (["chain", "ring"], 1, "it has one use, which is called once"),
        (["chain", "ring", "chain"], 1, "it has one use, whose 2 calls set its routers alike"),
        (["chain", "ring", "chain"], 3, "it has one use, whose 6 calls set its routers alike"),
    ],
)
def test_one_use_may_have_many_calls(calls: list[str], rounds: int, why: str) -> None:
    first = colors(program_of(calls, "", rounds))[0]
    assert first.used_by == ("c0.reduce",)
    assert first.why == why and not first.switches_back


def test_switches_that_move_are_said_to_be_set_back() -> None:
    found = colors(program_of(["two_phase"], "within colors <= 2", rounds=2))
    moving = [color for color in found if color.switches_back]
    assert moving and len(moving) == sum("set back" in color.show() for color in found)


def test_a_color_may_be_torn_down_only_since_its_neighbor_is() -> None:
    """Three colors of the ring lie on those of the two others, of which one is used differently."""
    found = colors(program_of(["ring", "broadcast from the west"], "within colors <= 3"))
    assert [color.color.torn_down for color in found] == [True] * 3
    assert sum("set its routers differently" in color.why for color in found) == 1
    assert sum(color.why.endswith("torn down, too") for color in found) == 2


def test_an_alternative_of_a_choice_has_the_calls_of_the_choice() -> None:
    text = SELECT.read_text(encoding="utf-8").replace("within colors <= 2", "within colors <= 9")
    text = text.replace("    total\n", "    repeat 5 { total total }\n")
    first = next(between_uses(compile_text(text, "select.coll", {}).program))
    assert first.why == "it has one use, whose 10 calls set its routers alike"


def test_the_command_the_dump_and_the_manifest_say_the_same(tmp_path: Path) -> None:
    text = program_of(WAYS, "within colors <= 2")
    bundle = compile_text(text, "several.coll", SIZES)
    lines = [color.show() for color in between_uses(bundle.program)]
    data = [color.as_data() for color in between_uses(bundle.program)]
    assert any("torn down behind each use, since" in line for line in lines)
    cost, dump = (
        asked(tmp_path, text, *words) for words in (["cost", "-v"], ["build", "--dump", "plan"])
    )
    assert all(line in cost.splitlines() for line in lines)
    assert all(f"  # {line}" in dump.splitlines() for line in lines)
    assert asked(tmp_path, text, "cost", "--json")["between_uses"] == data
    assert json.loads(bundle.files["manifest.json"])["resources"]["colors"] == data
    assert all(color["why"] for color in data)


def test_every_limit_has_its_cycles_and_what_is_torn_down(tmp_path: Path) -> None:
    text = program_of(WAYS, "within colors <= 2")
    rows = asked(tmp_path, text, "cost", "--colors", "1..4", "--json")["by_colors"]
    assert rows[0]["refused"].startswith("C302: ") and rows[0]["torn_down"] is None
    for row in rows[1:]:
        limited = program_of(WAYS, f"within colors <= {row['allowed']}")
        bundle = compile_text(limited, "limited.coll", SIZES)
        torn = [color.number for color in bundle.program.colors if color.torn_down]
        assert row["cycles"] == bundle.prediction.cycles
        assert row["colors"] == bundle.color_count and row["torn_down"] == sorted(torn)
    assert rows[1]["torn_down"] and rows[1]["reconfiguration_bytes"]
    assert rows[-1]["torn_down"] == [] and rows[-1]["reconfiguration_bytes"] == 0
    table = asked(tmp_path, text, "cost", "--colors", "1..4").splitlines()
    assert table[1].split() == ["1", "-", *rows[0]["refused"].split()]
    assert table[4].split() == ["4", "4", str(rows[3]["cycles"]), "0", "none"]


def test_limits_of_a_choice_by_length_are_found_for_each_number_of_colors() -> None:
    spec = parse_source(SELECT.read_text(encoding="utf-8"))
    assert spec.program is not None
    few, many = program_by_colors(spec, spec.program, (1, 2))
    assert few.refused.startswith("C302")
    assert many.cycles == compile_text(SELECT.read_text(), "select.coll", {}).prediction.cycles


def test_what_is_wrong_at_any_limit_is_said_once() -> None:
    text = program_of(["ring"], "", rounds=2).replace("ring_allreduce", "linear_scatter")
    spec = parse_source(text)
    assert spec.program is not None
    with pytest.raises(CollcError) as caught:
        list(program_by_colors(spec, spec.program, (1, 2)))
    assert {problem.code for problem in caught.value.diagnostics} == {"C201"}


def test_plans_are_explained_for_each_collective_of_a_program(tmp_path: Path) -> None:
    text = program_of(["chain", "broadcast from the west"], "")
    data = asked(tmp_path, text, "explain", "plan", "--json")["collectives"]
    assert list(data) == ["c0", "c1"]
    printed = asked(tmp_path, text, "explain", "plan")
    for name, plans in data.items():
        assert f"{name}\n" in printed and plans["chosen"]["plan"] in printed
    best = asked(tmp_path, text, "explain", "plan", "--pareto", "--json")["collectives"]
    assert best["c1"]["pareto"][0]["cycles"] == data["c1"]["chosen"]["cycles"]


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ("binomial", "do not set the same routers: only c0.reduce sets that of PE (0, 0)"),
        ("two_phase", "set its routers differently at PE (3, 0)"),
    ],
)
def test_where_one_use_sets_no_router_it_is_not_said_to_set_it_differently(
    second: str, why: str
) -> None:
    _, plan = planned(program_of(["chain", second], "within colors <= 3"), {"P": 6, "B": 4})
    assert f"c0.reduce and c1.reduce {why}" in [color.why for color in between_uses(plan)]
