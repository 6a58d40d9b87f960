"""The sweep: what it tries, how it goes on, and what its page says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import sweep
from sweep import Combination, Outcome


def test_all_patterns_on_both_targets_small_sizes_first() -> None:
    found = list(sweep.combinations(sweep.PES, sweep.LENGTHS))
    assert len(found) == len(set(found))
    assert {one.pattern for one in found} == set(sweep.patterns())
    assert {one.target for one in found} == {"wse2", "wse3"}
    assert [one.pes for one in found] == sorted(one.pes for one in found)


def test_algorithms_run_in_both_orders() -> None:
    ring = sweep.patterns()["ring_allreduce"]
    orders = {sweep.order_of(ring, Combination(ring.name, "wse2", 5, length)) for length in (1, 2)}
    assert orders == {"west_to_east", "ring"}


def test_a_combination_is_verified() -> None:
    outcome = sweep.measure((Combination("chain", "wse2", 3, 17), None), "mark", 60)
    assert outcome.verdict == sweep.VERIFIED
    assert outcome.cycles > 0
    assert not outcome.off


def test_the_same_text_is_not_run_again() -> None:
    one = Combination("chain", "wse2", 3, 17)
    first = sweep.measure((one, None), "mark", 60)
    marked = replace(first, cycles=first.cycles + 1, predicted=0)
    again = sweep.measure((one, marked), "other", 60)
    assert again == replace(first, cycles=first.cycles + 1, made="other")
    assert sweep.measure((one, replace(marked, text="another")), "mark", 60) == first
    assert sweep.measure((one, replace(marked, verdict=sweep.FAILED)), "mark", 60) == first


def test_a_combination_is_refused_with_the_limit() -> None:
    outcome = sweep.measure((Combination("direct_allreduce", "wse3", 12, 1000), None), "mark", 60)
    assert outcome.verdict == sweep.REFUSED
    assert outcome.code
    assert outcome.words


def test_an_example_is_tried_with_no_other_length_than_said() -> None:
    odd = sweep.measure((Combination("two_pes", "wse2", 2, 17), None), "mark", 60)
    assert (odd.verdict, odd.code) == (sweep.REFUSED, "C122")
    assert odd.words.startswith("B = 17 ")
    even = sweep.measure((Combination("two_pes", "wse2", 2, 18), None), "mark", 60)
    assert even.verdict == sweep.VERIFIED


def test_progress_is_read_back_but_for_a_line_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    assert sweep.read_progress(path) == {}
    one = Combination("chain", "wse2", 3, 17)
    outcome = Outcome(one, sweep.VERIFIED, cycles=5, predicted=6, made="mark")
    sweep.write_progress(path, [outcome])
    with path.open("a") as file:
        file.write('{"combination": {"patt')
    assert sweep.read_progress(path) == {one: outcome}


def test_what_has_never_been_run_comes_first() -> None:
    ones = list(sweep.combinations((2,), (17,)))
    known = {one: Outcome(one, sweep.VERIFIED, made="mark") for one in ones[1:]}
    assert sweep.to_run(ones, known, "mark") == ones[:1]
    again = sweep.to_run(ones, known, "other")
    assert again[0] == ones[0]
    assert again != ones
    assert set(again) == set(ones)


def test_the_table_of_verdicts_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    assert sweep.read_table(path) == {}
    ones = list(sweep.combinations((2, 3), (17,)))[:2]
    outcomes = [
        Outcome(ones[0], sweep.VERIFIED, "chain()", "ring", cycles=5, predicted=6, text="t"),
        Outcome(ones[1], sweep.REFUSED, code="C302", words='needs "3", or\nmore', made="mark"),
    ]
    sweep.write_table(path, reversed(outcomes))
    assert list(sweep.read_table(path).values()) == outcomes


def test_the_page_counts_verdicts_and_lists_what_misses() -> None:
    chain = [Combination("chain", target, 2, 17) for target in ("wse2", "wse3")]
    outcomes = [
        Outcome(chain[0], sweep.VERIFIED, cycles=1000, predicted=1200),
        Outcome(chain[1], sweep.REFUSED, code="C302", words="needs 3 colors"),
        Outcome(Combination("star", "wse2", 2, 17), sweep.FAILED, words="1 element is wrong"),
    ]
    text = sweep.page(outcomes, "0123456789abcdef")
    assert "| `chain` | 2 | 1 | 1 C302 | 0 | +200 of 1000 (+20.0 %) at wse2, P=2, B=17 |" in text
    assert "| `star` | 1 | 0 | 0 | 1 failed |  |" in text
    assert "1 element is wrong" in text
    assert "Predictions beyond 2 % and 90 cycles: 1" in text
    assert "3 of " in text
    assert "in 0 of them; of the others" in text


def test_the_cause_is_told_where_it_is_known() -> None:
    tree = Outcome(Combination("binary_tree_reduce", "wse2", 2, 17), sweep.VERIFIED, cycles=1000)
    assert sweep.CAUSE in sweep.page([tree], "mark")
    other = replace(tree, combination=Combination("chain", "wse2", 2, 17))
    assert sweep.CAUSE not in sweep.page([tree, other], "mark")


def test_a_prediction_may_be_off_by_the_start_up() -> None:
    one = Combination("chain", "wse2", 2, 17)
    assert not Outcome(one, sweep.VERIFIED, cycles=1000, predicted=1110).off
    assert Outcome(one, sweep.VERIFIED, cycles=1000, predicted=1111).off
    assert not Outcome(one, sweep.REFUSED).off
