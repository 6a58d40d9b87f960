"""The warning about links that transfers share, true on fabsim, and silent where it were idle."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collc.base.diagnostics import Diagnostic
from collc.cost.steps_model import follow_steps, step_begins
from collc.driver.bundle import Bundle
from collc.language.render import render
from collc.target import TARGETS
from collc.tuning import other_plans, warnings
from collc.tuning.link_load import CrowdedLink, crowded_link, most_lost
from tests.tuning.warned import codes_of, compiled, plans_told, usage_of

ROW = "8 x 1"
BEGINS = step_begins(TARGETS["wse2"])
ALLREDUCE = "allreduce(x: f32[64], add)"
SHARING = [
    (ALLREDUCE, "run recursive_doubling"),
    (ALLREDUCE, "order ring run recursive_doubling"),
    ("allreduce(x: f32[1024], add)", "run binary_tree_allreduce(c = 4)"),
    ("reduce_scatter(x: f32[128], add)", "run pairwise_reduce_scatter"),
    ("all_to_all(x: f32[256])", "run bruck_all_to_all"),
]


def the_warning(bundle: Bundle) -> Diagnostic:
    (warning,) = bundle.warnings
    assert warning.code == "C802"
    return warning


def the_link(bundle: Bundle) -> CrowdedLink:
    (pattern,), (phase,) = bundle.schedule.phases, bundle.plan.phases
    link = crowded_link(bundle.schedule, pattern, phase, bundle.plan.target)
    assert link is not None
    return link


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("contract", "steps"), SHARING)
def test_what_is_said_is_what_the_simulator_sees(
    contract: str, steps: str, target: str, tmp_path: Path
) -> None:
    """As many elements on that link, at least so many cycles for others, and the plan wins."""
    bundle = compiled(contract, steps, ROW, target)
    warning, link = the_warning(bundle), the_link(bundle)
    assert f"from PE {link.source} to PE {link.target} in step {link.step}" in warning.message
    lost, own = map(int, re.search(r"about (\d+) of (\d+) cycles", warning.message).groups())
    assert (lost, own) == (link.lost, bundle.prediction.cycles)
    usage = usage_of(bundle, tmp_path)
    side = "east" if link.target > link.source else "west"
    assert usage["links"][side][link.source[0]] == link.total
    busy = usage["pes"]["operation"]
    assert busy[link.by[0]] - min(busy) >= lost
    for text, cycles in plans_told(warning.help):
        pasted = compiled(contract, text, ROW, target)
        assert pasted.prediction.cycles == cycles
        gain = bundle.run().cycles - pasted.run().cycles
        assert gain == pytest.approx(own - cycles, abs=0.02 * own)


@pytest.mark.parametrize("suffix", ["", " in simd"])
@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize(
    ("contract", "steps"),
    [*SHARING, (ALLREDUCE, "run ring_allreduce"), (ALLREDUCE, "run pipelined_allreduce(c = 4)")],
)
def test_no_link_loses_more_than_is_said_without_looking_at_each(
    contract: str, steps: str, element: str, suffix: str
) -> None:
    bundle = compiled(contract.replace("f32", element), steps + suffix, "16 x 1", "wse2")
    for pattern, phase in zip(bundle.schedule.phases, bundle.plan.phases, strict=True):
        link = crowded_link(bundle.schedule, pattern, phase, bundle.plan.target)
        assert link is not None
        assert link.lost <= most_lost(bundle.schedule, pattern, phase)


@pytest.mark.parametrize(
    ("contract", "steps", "grid"),
    [
        (ALLREDUCE, "run ring_allreduce", ROW),  # nobody's way is over another's
        (ALLREDUCE, "run pipelined_allreduce(c = 4)", ROW),
        (ALLREDUCE, "run recursive_doubling", "2 x 1"),
        ("all_to_all(x: f32[64])", "run pairwise_all_to_all", ROW),  # shared, and the best there is
        ("allreduce(x: f32[1], add)", "run recursive_doubling", "6 x 1"),  # too few elements share
        ("allreduce(x: f32[64], add)", "run auto", ROW),
    ],
)
def test_nothing_is_said_without_a_loss_or_a_gain(contract: str, steps: str, grid: str) -> None:
    assert not codes_of(compiled(contract, steps, grid))


def test_where_nothing_is_shared_nothing_is_tried_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a plan was tried")

    monkeypatch.setattr(other_plans, "predicted", refused)
    monkeypatch.setattr(warnings, "_less_than_half", lambda *_: ())
    assert compiled(ALLREDUCE, "run ring_allreduce", ROW).warnings == ()
    with pytest.raises(AssertionError, match="a plan was tried"):
        _ = compiled(ALLREDUCE, "run recursive_doubling", ROW).warnings


def test_the_same_steps_in_another_order_come_first() -> None:
    warning = the_warning(compiled(ALLREDUCE, "order ring run recursive_doubling", ROW))
    (same, _), (other, _) = plans_told(warning.help)
    assert same == "order west_to_east run recursive_doubling"
    assert other.startswith("reduce ")
    shown = render(warning, {})
    assert shown.startswith("f.coll:3:64: warning[C802]: `recursive_doubling` sends ")


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ("16 x 1", "8 to 0, 9 to 1, 10 to 2, 11 to 3, 12 to 4, 13 to 5, 14 to 6"),
        ("32 x 1", "16 to 0, 17 to 1, 18 to 2, 19 to 3, 20 to 4, 21 to 5 and 8 more"),
    ],
)
def test_transfers_that_are_left_out_stand_behind_the_others(grid: str, told: str) -> None:
    warning = the_warning(compiled(ALLREDUCE, "run recursive_doubling", grid))
    assert f", those of rank {told}, and PE (" in warning.message


def test_an_order_that_says_whose_slices_are_whose_is_kept() -> None:
    contract, steps = "reduce_scatter(x: f32[128], add)", "order ring run pairwise_reduce_scatter"
    ((text, _),) = plans_told(the_warning(compiled(contract, steps, ROW)).help)
    assert text == "order ring run ring_reduce_scatter"


def test_a_root_stays_where_it_is() -> None:
    contract = "broadcast(x: f32[2048])"
    steps = "order east_to_west run binary_tree_broadcast(c = 8)"
    told = plans_told(the_warning(compiled(contract, steps, "16 x 1")).help)
    assert told[-1][0] == "broadcast from (15, 0)"


def test_long_lines_are_tried_with_trees_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_plans, "MOST_RANKS", 7)
    bundle = compiled(ALLREDUCE, "order ring run recursive_doubling", ROW)
    ((text, _),) = plans_told(the_warning(bundle).help)
    assert text.startswith("reduce ")
    contract = "reduce_scatter(x: f32[128], add)"
    assert not codes_of(compiled(contract, "run pairwise_reduce_scatter", ROW))


def test_no_more_hops_are_tried_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """All plans together; those for which there is no room are left out."""
    sharing = compiled("reduce_scatter(x: f32[64], add)", "run pairwise_reduce_scatter", ROW)
    halves = 4 + 2 * 2 + 4  # hops of a binomial scatter, which are fewer than others
    for most, told in (
        (10_000, ["run chain_reduce_scatter"]),
        (halves, ["reduce optimal to 0 then run binomial_scatter"]),
        (halves - 1, []),
    ):
        monkeypatch.setattr(other_plans, "MOST_HOPS", most)
        trials = other_plans.Trials(sharing.schedule, sharing.plan.target)
        found = other_plans.other_plans(trials, sharing.prediction.cycles)
        assert [plan.text for plan in found] == told


@pytest.mark.parametrize("steps", ["run butterfly(G = 4)", "run butterfly(G = 4) in simd"])
def test_circuits_that_share_a_link_lose_what_it_carries_beyond_a_pe(steps: str) -> None:
    """Groups at a distance of 4 send a quarter each, 4 of them over a link: a whole vector."""
    link = the_link(compiled("allreduce(x: f32[256], add)", steps, "16 x 1"))
    assert (link.elements, len(link.transfers), link.passed) == (256, 4, 0)
    own = 64 if steps.endswith("simd") else 128
    assert link.lost == 6 * (256 - own - BEGINS)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_what_shared_circuits_lose_is_what_a_vector_takes_beyond_a_pe_being_busy(
    target: str,
) -> None:
    """To begin steps takes the same for a vector twice as long; what else is not an element that a
    PE sends or takes is one that waits for a link."""
    cycles, busy, lost = [], [], []
    for length in (256, 512):
        bundle = compiled(
            f"allreduce(x: f32[{length}], add)", "run butterfly(G = 4)", "16 x 1", target
        )
        (phase,), contract = bundle.schedule.phases, bundle.schedule.collective.contract
        cycles.append(bundle.run().cycles)
        busy.append(int(follow_steps(phase, contract, bundle.plan.target).busy.max()))
        lost.append(the_link(bundle).lost)
    assert cycles[1] - cycles[0] == busy[1] - busy[0] + lost[1] - lost[0]
    assert lost[1] - lost[0] > 0.25 * (cycles[1] - cycles[0])
