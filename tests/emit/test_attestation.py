"""What a manifest says of forms that no public program shows."""

from __future__ import annotations

import json
import re

import pytest

from collc.driver.pipeline import compile_text

TEXT = """target {target}
grid row = 8 x 1
collective total = {contract} on row {{ {steps} }}
program {{ {program} }}
"""
ADVANCE = ".advance_switch of an asynchronous operation"
SCATTER = ("scatter(x: f32[64])", "run linear_scatter")


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


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_filters_are_shown_by_programs_for_both_targets(target):
    bundle = bundle_of(target, *SCATTER)
    assert bundle.plan.streams
    assert forms_in(bundle) == {}
    report = bundle.run(seed=1, repeats=3)
    assert report.verified, report.problem
    both = ("commands_wse2.sh", "commands_wse3.sh")
    assert [name for name in bundle.files if name.startswith("commands_")] == list(both)
