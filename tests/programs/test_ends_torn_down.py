"""Where a root is the call's, phases end with their teardowns, and multicasts take two wavelets by
one instruction (D370, D371)."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from libraries import has_simd, library_of

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.lowering.color_queues import as_wide_as_queues
from collc.target import TARGETS

TEXT = """
target {target}
grid row = 5 x 1
collective spread = broadcast(x: {element}[n <= 8]) on row {{
    order west_to_east
    broadcast from {root}
}}
collective total = reduce(y: f32[n <= 8], add) on row {{ order west_to_east reduce chain to 0 }}
program {{ repeat 2 {{ spread total }} within colors <= 3 }}
"""


def compiled(root: str, target: str = "wse2", element: str = "f32") -> Bundle:
    return compile_text(TEXT.format(root=root, target=target, element=element), "ends.coll", {})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("length", [1, 7, 8])
def test_an_odd_vector_arrives_two_wavelets_at_a_time(target: str, length: int) -> None:
    bundle = compiled("r < 5", target)
    report = bundle.run(lengths={"n": (length, length), "r": (1, 4)})
    assert report.verified, report.problem
    assert has_simd(bundle.files, "simd_32_or_64")


@pytest.mark.parametrize(("root", "element"), [("0", "f32"), ("r < 5", "f16")])
def test_a_fixed_root_and_halves_go_one_wavelet_at_a_time(root: str, element: str) -> None:
    files = compiled(root, element=element).files
    assert not any(has_simd(files, mode) for mode in ("simd_64", "simd_32_or_64"))


def test_a_wide_multicast_has_queues_with_room_or_is_none() -> None:
    plan = compiled("r < 5").program
    use = next(use for use in plan.uses if plan.phase(use).wide)
    color = plan.colors[use.positions[0][1]]
    words = plan.target.input_queue_words, plan.target.output_queue_words
    assert color.queues
    assert all(words[kind][queue] >= 4 for kind, queue in enumerate(color.queues))
    phase, places = plan.phase(use), {name: 0 for name, _ in use.positions}
    assert as_wide_as_queues(phase, places, [(2, 2)], TARGETS["wse2"]).wide
    assert not as_wide_as_queues(phase, places, [(4, 2)], TARGETS["wse2"]).wide
    assert not as_wide_as_queues(phase, places, [(2, 4)], TARGETS["wse2"]).wide
    assert not as_wide_as_queues(replace(phase, wide=False), places, [(2, 2)], plan.target).wide


def test_only_phases_for_a_root_of_the_call_wait_for_their_teardowns() -> None:
    of_call, fixed = (library_of(compiled(root).files) for root in ("r < 5", "0"))
    assert re.search(r"task closed_0\(\) void \{\n  @block\(", of_call)
    assert "task start_phase" not in of_call
    assert "task closed" not in fixed
