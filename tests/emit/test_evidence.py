"""Forms of emitted text that the vendor's pages and programs ask for, in every cell that has them.

Accept, reject and near miss are texts of the compiler's own: what each rests on is said where it is
decided.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from collc.driver.pipeline import compile_text
from collc.plan.dynamic_lengths import lengths_of_run
from collc.plan.pe_masks import turning, union_by_key

TARGETS = ("wse2", "wse3")
ROOTED = """target {target} grid row = 5 x 1
collective spread = broadcast(x: {vector}) on row {{ order west_to_east broadcast from r < 5 }}
program {{ repeat 2 {{ spread }} }}"""
EXCHANGE = """target {target} grid row = 5 x 1
collective total = allreduce(x: {vector}, add) on row {{ order ring run ring_allreduce in simd }}
program {{ total }}"""
# What each form of a collective reads from queues: trees, one word, steps, streams, a program.
FORMS = {
    "tree": "collective a = reduce(x: f32[8], add) on row { reduce binomial to 0 }",
    "multicast": "collective a = broadcast(x: f32[8]) on row { broadcast from (2, 0) }",
    "word": "collective a = barrier() on row { reduce chain to 0 then broadcast from (0, 0) }",
    "steps": "collective a = allreduce(x: f32[8], max) on row { order ring run ring_allreduce }",
    "stream": "collective a = scatter(x: f32[12]) on row { run linear_scatter }",
    "program": "collective a = reduce(x: f32[8], add) on row { reduce chain to 0 }\n"
    "collective b = broadcast(x: f32[8]) on row { broadcast from (0, 0) }\n"
    "program { repeat 2 { a b } within colors <= 2 }",
    "torn down": "collective a = reduce(x: f32[8], add) on row { reduce binomial to 0 }\n"
    "collective b = allreduce(y: f32[8], add) on row { order ring run ring_allreduce }\n"
    "program { repeat 2 { a b } within colors <= 3 reconfigure teardown }",
}


def csl_of(bundle) -> str:
    return "".join(text for name, text in bundle.files.items() if name.endswith(".csl"))


def modes(text: str) -> set[str]:
    return set(re.findall(r"\.simd_mode = \.\{ \.(\w+) = true \}", text))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("vector", "mode"),
    [
        ("f32[12]", "simd_64"),
        ("f32[13]", "simd_32_or_64"),
        ("f32[n <= 12]", "simd_32_or_64"),
        ("u32[1]", "simd_32_or_64"),
    ],
)
def test_a_vector_that_may_have_an_odd_word_waits_for_no_second_one(target, vector, mode):
    bundle = compile_text(ROOTED.format(target=target, vector=vector), "test.coll", {})
    assert modes(csl_of(bundle)) == {mode}
    report = bundle.run(lengths=lengths_of_run(bundle.program.program, {}, seed=3))
    assert report.verified, report.problem


@pytest.mark.parametrize("target", TARGETS)
def test_slices_that_go_two_wavelets_at_once_are_made_of_pairs_of_them(target):
    bundle = compile_text(EXCHANGE.format(target=target, vector="f32[22]"), "test.coll", {})
    phase = bundle.program.plans[0].phases[0]
    assert modes(csl_of(bundle)) == {"simd_64"}
    assert phase.slicing.grain % 2 == 0


def text_of(form: str, target: str) -> str:
    text = f"target {target} grid row = 6 x 1\n{FORMS[form]}"
    return text if "program" in text else f"{text}\nprogram {{ a }}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_what_operations_read_activates_no_task(form, target):
    bundle = compile_text(text_of(form, target), "test.coll", {})
    lines = [line.strip() for line in csl_of(bundle).splitlines()]
    inputs = 0
    for line, following in pairwise(lines):
        found = re.fullmatch(r"@initialize_queue\((\w+), \.\{ \.color = (.*) \}\);", line)
        if found:  # of an input queue, by its name
            queue, color = found.groups()
            blocks = f'if (@is_arch("wse3")) {{ @block({queue}); }} else {{ @block({color}); }}'
            assert following == blocks
            inputs += 1
    assert inputs
    assert bundle.run(repeats=2).verified


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_an_output_queue_is_initialised_only_where_its_descriptor_has_no_color(form, target):
    text = csl_of(compile_text(text_of(form, target), "test.coll", {}))
    outputs = [
        before
        for before, line in pairwise(text.splitlines())
        if "@initialize_queue(@get_output_queue" in line
    ]
    assert outputs
    assert all('@is_arch("wse3")) {' in before for before in outputs)


def test_a_module_is_given_a_library_by_a_parameter_without_a_type():
    """One import serves all colors: a second one would bring its functions once more."""
    text = csl_of(compile_text(text_of("torn down", "wse2"), "test.coll", {}))
    assert text.count('@import_module("<tile_config>")') == 1
    assert "param tile_config;" in text
    assert "imported_module" not in text


SWITCHED = """target {target} grid row = {ranks} x 1
collective one = reduce(x: f32[6], add) on row {{ order west_to_east reduce {one} to {root} }}
collective two = reduce(y: f32[6], add) on row {{ order west_to_east reduce {two} to 0 }}
program {{ one two one within colors <= 2 }}"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("ranks", "one", "two", "root"),
    [(9, "binomial", "star", 0), (12, "optimal", "star", 0), (12, "binomial", "binomial", 2)],
)
def test_phases_take_colors_on_which_a_router_changes_one_side(target, ranks, one, two, root):
    text = SWITCHED.format(target=target, ranks=ranks, one=one, two=two, root=root)
    bundle = compile_text(text, "test.coll", {})
    plan = bundle.program
    masks = union_by_key(
        ((dict(use.positions)[color], side), mask)
        for use in plan.uses
        for (color, side), mask in turning(
            plan.plans[use.collective].collective, plan.phase(use)
        ).items()
    )
    for (color, side), mask in masks.items():
        if side == "input" and (color, "output") in masks:
            assert not (mask & masks[color, "output"]).any()
    layout = bundle.files["test_layout.csl"]
    assert ".pos1 = .{ .tx = RAMP }" in layout
    assert ".pos1 = .{ .rx = RAMP }" in layout
    assert bundle.run(repeats=2).verified


def test_a_position_names_both_sides_on_wse3_and_one_on_wse2():
    text = SWITCHED.format(target="wse3", ranks=9, one="binomial", two="star", root=0)
    router = compile_text(text, "test.coll", {}).files["router.csl"]
    both = "set_rxtx_switch_pos1(config.id, config.rx, config.pos1)"
    assert re.search(rf'if \(@is_arch\("wse3"\)\) \{{\s+switch_config\.{re.escape(both)};', router)
    assert router.count("set_tx_switch_pos1") == 1
