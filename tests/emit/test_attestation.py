"""What a manifest says of forms that no public program shows."""

from __future__ import annotations

import json
import re

import pytest

from collc.driver.pipeline import compile_text
from collc.emit.attestation import forms_of
from collc.plan.form import Form, form_of
from collc.target import SDK_RELEASES

TEXT = """target {target}
grid row = 8 x 1
collective total = {contract} on row {{ {steps} }}
program {{ {program} }}
"""
ADVANCE, RESET = ".advance_switch", "SWITCH_RST"
SCATTER = ("scatter(x: f32[64])", "run linear_scatter")


def bundle_of(target: str, contract: str, steps: str, program: str = "total"):
    text = TEXT.format(target=target, contract=contract, steps=steps, program=program)
    return compile_text(text, "test.coll", {})


def by_pages(bundle) -> set[str]:
    return set(json.loads(bundle.files["manifest.json"]).get("forms", {}).get("by_pages_alone", []))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_manifest_says_which_releases_the_text_is_for(target):
    bundle = bundle_of(target, "reduce(x: f32[8], add)", "reduce chain to 0")
    assert json.loads(bundle.files["manifest.json"])["sdk"] == list(SDK_RELEASES[target])


def test_a_form_is_found_in_code_and_not_in_comments():
    code = {"a.csl": "x &= 3;\nconst d = @get_dsd(fabout_dsd, .{ .advance_switch = true });\n"}
    said = {"a.csl": "// .advance_switch = true\n", "run.py": ".advance_switch = true"}
    assert ADVANCE in forms_of(code, "wse3")["forms"]["by_pages_alone"]
    assert forms_of(said, "wse3") == {}


@pytest.mark.parametrize(
    ("target", "steps", "pages"),
    [
        ("wse2", "reduce chain to 0", set()),
        ("wse3", "reduce chain to 0", set()),
        ("wse2", "reduce binomial to 0", {ADVANCE, RESET}),
        ("wse3", "reduce binomial to 0", {ADVANCE, RESET}),
    ],
)
def test_a_manifest_names_what_rests_on_pages_alone(target, steps, pages):
    bundle = bundle_of(target, "reduce(x: f32[8], add)", steps)
    assert {ADVANCE, RESET} & by_pages(bundle) == pages
    text = bundle.files["total_pe.csl"]
    assert bool(pages) == ("advance_switch" in text) == ("SWITCH_RST" in text)


def test_a_call_back_on_the_fabric_rests_on_a_page():
    bundle = bundle_of("wse2", "reduce(x: u32[8], max)", "reduce chain to 0")
    assert "@map with operands of the fabric" in by_pages(bundle)
    moved = bundle_of("wse2", "reduce(x: f32[8], add)", "reduce chain to 0")
    assert "@map with operands of the fabric" not in by_pages(moved)


def test_colors_that_phases_share_over_time_name_the_setter_that_no_program_has():
    program = "repeat 2 { total } within colors <= 2"
    several = bundle_of("wse2", "reduce(x: f32[8], add)", "reduce binomial to 0", program)
    sets = re.search(r"\.pos1_changes_tx = true", "".join(several.files.values()))
    assert ("set_tx_switch_pos1" in by_pages(several)) >= bool(sets)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_filters_are_shown_by_programs_for_both_targets(target):
    bundle = bundle_of(target, *SCATTER)
    assert form_of(bundle.plan.phases[0]) is Form.STREAM
    assert not {one for one in by_pages(bundle) if "filter" in one}
    report = bundle.run(seed=1, repeats=3)
    assert report.verified, report.problem
    both = ("commands_wse2.sh", "commands_wse3.sh")
    assert [name for name in bundle.files if name.startswith("commands_")] == list(both)
