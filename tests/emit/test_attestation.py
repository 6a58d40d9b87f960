"""What a manifest says of forms that no public program shows."""

from __future__ import annotations

import json

import pytest

from collc.driver.pipeline import compile_text
from collc.emit.attestation import forms_of
from collc.plan.form import Form, form_of
from collc.target import SDK_RELEASES
from emitting import EXAMPLES, example_bundle

TEXT = """target {target}
grid row = 8 x 1
collective total = {contract} on row {{ {steps} }}
collective also = reduce(y: f32[8], add) on row {{ reduce star to 0 }}
program {{ {program} }}
"""
ADVANCE, RESET, TEARDOWN = ".advance_switch", "SWITCH_RST", "TEARDOWN"
LOADED = "registers of fabric operands loaded by calls, with what ends them"
ENCODED, FABRIC_MAP = "control.encode_payload", "@map with operands of the fabric"
SHARED = "repeat 2 { total also } within colors <= 2 reconfigure teardown"
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
    code = {"a.csl": "x &= 3;\nsend.advances = true;\n"}
    said = {"a.csl": "// .advances = true\n", "run.py": ".advances = true"}
    assert ADVANCE in forms_of(code, "wse3")["forms"]["by_pages_alone"]
    assert forms_of(said, "wse3") == {}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("steps", "pages"),
    [("reduce chain to 0", set()), ("reduce binomial to 0", {ADVANCE, RESET})],
)
def test_a_manifest_names_what_rests_on_pages_alone(target, steps, pages):
    """Both have the modules with the forms in them, and one of them PEs that use these."""
    bundle = bundle_of(target, "reduce(x: f32[8], add)", steps)
    assert {ADVANCE, RESET, TEARDOWN, ENCODED} & by_pages(bundle) == pages
    text = bundle.files["op_add_f32.csl"]
    assert "advance_switch" in text and "SWITCH_RST" in text


def test_turns_that_are_handed_over_have_commands_of_two():
    handed_over = example_bundle(EXAMPLES / "direct_allgather.coll", "wse2")
    assert ENCODED in by_pages(handed_over)
    assert ENCODED not in by_pages(bundle_of("wse2", *SCATTER))


@pytest.mark.parametrize("length", ["32", "n <= 32"])
def test_lengths_of_calls_are_given_to_operands_of_the_fabric(length):
    bundle = bundle_of("wse2", f"reduce(x: f32[{length}], add)", "reduce chain to 0")
    given = {"a length given to a fabric operand", LOADED}
    assert (given & by_pages(bundle)) == (given if "n" in length else set())


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_call_back_on_the_fabric_rests_on_a_page(target):
    calls_back = bundle_of(target, "reduce(x: u32[8], max)", "reduce chain to 0")
    assert FABRIC_MAP in by_pages(calls_back)
    staged = bundle_of(target, "all_to_all(x: u32[64])", "run linear_all_to_all")
    moved = bundle_of(target, "reduce(x: f32[8], add)", "reduce chain to 0")
    assert not {FABRIC_MAP, "@map of vectors in memory"} & (by_pages(staged) | by_pages(moved))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_colors_that_phases_share_over_time_name_what_sets_routers(target):
    apart, several = (
        bundle_of(target, "reduce(x: f32[8], add)", "reduce binomial to 0", program)
        for program in ("repeat 2 { total } within colors <= 2", SHARED)
    )
    setter = "set_tx_switch_pos1" if target == "wse2" else "set_rxtx_switch_pos1"
    assert [{TEARDOWN, setter} & by_pages(one) for one in (apart, several)] == [
        set(),
        {TEARDOWN, setter},
    ]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_filters_are_shown_by_programs_for_both_targets(target):
    bundle = bundle_of(target, *SCATTER)
    assert form_of(bundle.plan.phases[0]) is Form.STREAM
    assert not {one for one in by_pages(bundle) if "filter" in one}
    report = bundle.run(seed=1, repeats=3)
    assert report.verified, report.problem
    both = ("commands_wse2.sh", "commands_wse3.sh")
    assert [name for name in bundle.files if name.startswith("commands_")] == list(both)
