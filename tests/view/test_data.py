"""What a page is told: every PE has the class and the routes that its plan gives it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

import collc
from collc.plan import Direction
from collc.view import Observed, view_data

EXAMPLES = Path(__file__).parents[2] / "examples"


@functools.cache
def data_of(name: str, **params: int) -> tuple[Any, dict[str, Any]]:
    """A bundle and its data, as a page reads them."""
    file = EXAMPLES / f"{name}.coll"
    bundle = collc.compile(file, **params)
    return bundle, json.loads(json.dumps(view_data(bundle, file.read_text(), Observed())))


def members(run: list[int]) -> list[int]:
    first, last, step, period, repeats = run
    return [at + turn * period for turn in range(repeats) for at in range(first, last + 1, step)]


def classes_of(phase: dict[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """The class of each PE; no PE may have two."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for region in phase["regions"]:
        for x in members(region["x"]):
            for y in members(region["y"]):
                assert (x, y) not in found
                found[x, y] = phase["classes"][region["class"]]
    return found


STEPS = {"WEST": (-1, 0), "EAST": (1, 0), "NORTH": (0, -1), "SOUTH": (0, 1)}
NAMES = ["two_phase", "ring_allreduce", "allreduce_2d", "program_mixed", "program_parts"]
PATHS = ["snake", "hilbert", "row_major", "order_by_formula", "rotation"]


@pytest.mark.parametrize("name", [*NAMES, *PATHS, "all_to_all", "group_sums", "barrier"])
def test_every_wavelet_that_a_router_sends_is_received_on_the_other_side(name: str) -> None:
    """Switch positions pair up in time only, so that any position of the neighbor will do."""
    _, data = data_of(name)
    width, height = data["grid"]
    for phase in data["phases"]:
        classes = classes_of(phase)
        assert all(0 <= x < width and 0 <= y < height for x, y in classes)
        for (x, y), one in classes.items():
            for use in one["colors"]:
                for position in use["positions"]:
                    for side in position["send"]:
                        if side != "RAMP":
                            received(classes, (x, y), side, use["color"])


def received(
    classes: dict[tuple[int, int], dict[str, Any]], pe: tuple[int, int], side: str, color: int
) -> None:
    dx, dy = STEPS[side]
    there = classes.get((pe[0] + dx, pe[1] + dy))
    assert there is not None, f"PE {pe} sends color {color} {side}, where no PE takes part"
    back = Direction(side).opposite.value
    sides = [
        p["receive"] for use in there["colors"] if use["color"] == color for p in use["positions"]
    ]
    assert back in sides, f"PE {pe} sends color {color} {side}, and there it comes from {sides}"


def test_a_class_says_what_the_plan_says_of_its_role() -> None:
    bundle, data = data_of("two_phase", P=64)
    (phase,) = bundle.plan.phases
    for region, number in phase.regions:
        for x in region.x:
            role, one = phase.roles[number], classes_of(data["phases"][0])[x, 0]
            assert (one["name"], one["about"]) == (role.name, role.about)
            assert [use["name"] for use in one["colors"]] == [use.color for use in role.colors]


def test_a_phase_has_the_line_of_its_step() -> None:
    bundle, data = data_of("allreduce_2d")
    lines = data["sources"][bundle.spec.file].splitlines()
    words = [lines[phase["at"]["line"] - 1].split()[:2] for phase in data["phases"]]
    assert words == [["reduce", "columns"], ["then", "reduce"], ["then", "broadcast"]]


def test_calls_of_a_program_are_in_the_order_of_the_program() -> None:
    bundle, data = data_of("program_mixed")
    names = [data["phases"][n]["collective"] for n in data["calls"]]
    called = [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]
    assert called == list(bundle.program.program.calls)


def test_a_part_of_the_grid_is_where_it_lies_on_the_whole() -> None:
    bundle, data = data_of("program_parts")
    for plan in bundle.plans:
        site = plan.collective.grid.site
        if site is None or site.area is not None:
            continue
        for phase in (one for one in data["phases"] if one["collective"] == plan.collective.name):
            xs = {x for x, _ in classes_of(phase)}
            assert min(xs) >= site.x
            assert max(xs) < site.x + plan.collective.grid.width


def test_the_data_do_not_grow_with_the_grid() -> None:
    small, large = (
        len(json.dumps(data_of("allreduce_2d", W=w, H=h)[1])) for w, h in ((64, 64), (750, 994))
    )
    assert large < small * 1.5


def test_what_is_predicted_is_the_bundle_s_prediction() -> None:
    bundle, data = data_of("two_phase")
    prediction = data["prediction"]
    assert prediction["cycles"] == bundle.prediction.cycles
    assert sum(cycles for _, cycles in prediction["breakdown"]) == prediction["cycles"]
    assert sum(cycles for _, cycles in prediction["terms"]) == prediction["cycles"]
