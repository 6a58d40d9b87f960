"""What a manifest says of forms that no public program shows, and `within unattested`."""

from __future__ import annotations

import json
import re

import pytest

from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec

TEXT = """target {target}
grid row = 8 x 1
collective total = {contract} on row {{ {steps} }}
program {{ {program} }}
"""
ADVANCE = ".advance_switch of an asynchronous operation"
SCATTER = ("scatter(x: f32[64])", "run linear_scatter")
BEYOND = ("scatter(x: f32[64])", "run linear_scatter within unattested")


def bundle_of(target: str, contract: str, steps: str, program: str = "total"):
    text = TEXT.format(target=target, contract=contract, steps=steps, program=program)
    return compile_text(text, "test.coll", {})


def forms_in(bundle) -> dict[str, list[str]]:
    return json.loads(bundle.files["manifest.json"]).get("forms", {})


@pytest.mark.parametrize(
    ("target", "steps", "pages"),
    [
        ("wse2", "reduce chain to 0", []),
        ("wse3", "reduce chain to 0", []),
        ("wse2", "reduce binomial to 0", [ADVANCE]),
        ("wse3", "reduce binomial to 0", [f"{ADVANCE} on WSE-3", "SWITCH_RST on WSE-3"]),
    ],
)
def test_a_manifest_names_what_rests_on_pages_alone(target, steps, pages):
    bundle = bundle_of(target, "reduce(x: f32[8], add)", steps)
    assert forms_in(bundle) == ({"by_pages_alone": pages} if pages else {})
    text = bundle.files["total_pe.csl"]
    assert bool(pages) == ("advance_switch" in text) == ("SWITCH_RST" in text)


def test_a_call_back_on_the_fabric_rests_on_a_page():
    bundle = bundle_of("wse2", "reduce(x: u32[8], max)", "reduce chain to 0")
    assert forms_in(bundle) == {"by_pages_alone": ["@map with operands of the fabric"]}


def test_colors_that_phases_share_over_time_name_the_setter_that_no_program_has():
    program = "repeat 2 { total } within colors <= 2"
    several = bundle_of("wse2", "reduce(x: f32[8], add)", "reduce binomial to 0", program)
    sets = re.search(r"\.pos1_changes_tx = true", "".join(several.files.values()))
    assert ("set_tx_switch_pos1" in forms_in(several).get("by_pages_alone", [])) == bool(sets)


def test_filters_on_wse3_are_emitted_only_within_unattested():
    plain, beyond = bundle_of("wse3", *SCATTER), bundle_of("wse3", *BEYOND)
    assert not plain.plan.streams
    assert "unattested" not in forms_in(plain)
    assert beyond.plan.streams
    assert forms_in(beyond)["unattested"] == ["counter filters on wse3"]
    assert beyond.prediction.cycles < plain.prediction.cycles
    report = beyond.run(seed=1, repeats=3)
    assert report.verified, report.problem


def test_where_programs_have_filters_the_limit_changes_nothing():
    plain, beyond = bundle_of("wse2", *SCATTER), bundle_of("wse2", *BEYOND)
    assert plain.plan.phases == beyond.plan.phases
    assert forms_in(plain) == forms_in(beyond) == {}


def test_a_program_has_the_limit_for_all_its_collectives():
    program = "repeat 2 { total } within unattested"
    bundle = bundle_of("wse3", *SCATTER, program)
    assert forms_in(bundle)["unattested"] == ["counter filters on wse3"]
    assert bundle.run(seed=1).verified


def test_a_plan_for_wse2_is_none_for_wse3_without_the_limit():
    text = TEXT.format(target="wse2", contract=SCATTER[0], steps="{steps}", program="total")
    for steps, files in ((SCATTER[1], 1), (BEYOND[1], 2)):
        bundle = compile_text(text.replace("{steps}", steps), "test.coll", {})
        assert sum(name.startswith("commands_") for name in bundle.files) == files


@pytest.mark.parametrize("clauses", ["", "within colors <= 4", "reserve colors 3, tasks 8"])
def test_what_is_shown_reads_as_the_same(clauses):
    steps = f"{BEYOND[1]} {clauses}"
    text = TEXT.format(target="wse3", contract=BEYOND[0], steps=steps, program="total")
    spec = parse_source(text, {}, None, file="test.coll")
    again = parse_source(show_spec(spec), {}, None, file="test.coll")
    assert "within unattested" in show_spec(spec)
    limits = again.collectives[0].limits
    assert limits.reserved.unattested
    assert limits.colors == spec.collectives[0].limits.colors
    assert limits.reserved.tasks == spec.collectives[0].limits.reserved.tasks
