"""Roots that are given when the program runs, of what goes by one side of the root after the other:
`reduce chain to r < P`, and scatters and gathers by algorithms of one's own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from programs.test_root_of_call import refused

from collc.base.diagnostics import CollcError
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.driver.planning import roots_of_call
from collc.language import parse_source
from collc.language.show import show_spec

HEAD = """target wse2
param P = 5
param B = 12
grid row = {grid}
algorithm scatter_behind(n, root) slices n {{
    step {{ each r, q where r == root and q > root : slice q  r -> q }}
}}
algorithm scatter_before(n, root) slices n {{
    step {{ each r, q where r == root and q < root : slice q  r -> q }}
}}
algorithm gather_behind(n, root) slices n {{
    step {{ each r where r > root : slice r  r -> root }}
}}
algorithm gather_before(n, root) slices n {{
    step {{ each r where r < root : slice r  r -> root }}
}}
"""
REDUCE = "reduce chain to r < P"
SCATTER = "run scatter_behind(root = r) then run scatter_before(root = r) from r < P"
GATHER = "run gather_behind(root = r) then run gather_before(root = r) to r < P"
KINDS = {
    "reduce": ("reduce(x: {element}[{length}], add)", REDUCE),
    "scatter": ("scatter(x: {element}[{length}])", SCATTER),
    "gather": ("gather(x: {element}[{length}])", GATHER),
}


def text(
    kind: str,
    grid: str = "P x 1",
    place: str = "row",
    order: str = "",
    element: str = "f32",
    length: str = "B",
    steps: str = "",
    calls: str = "repeat P { one }",
    other: str = "",
) -> str:
    contract, usual = KINDS[kind]
    said = contract.format(element=element, length=length)
    one = f"collective one = {said} on {place} {{ {order} {steps or usual} }}"
    return f"{HEAD.format(grid=grid)}{one}\n{other}\nprogram {{ {calls} }}\n"


def compiled(written: str, target: str = "wse2", skew: int = 0, **numbers: int) -> Bundle:
    return compile_text(written, "test.coll", numbers, target, skew)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_every_rank_in_turn_is_the_root(kind: str, ranks: int, target: str) -> None:
    bundle = compiled(text(kind), target, P=ranks)
    report = bundle.run(lengths={"r": tuple(range(ranks))}, repeats=2)
    assert report.verified, report.problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("grid", "place", "order"),
    [
        ("P x 1", "row", "order east_to_west"),
        ("P x 3", "each row of row", ""),
        ("3 x P", "each column of row", "order south_to_north"),
    ],
)
def test_lines_of_any_direction(kind: str, grid: str, place: str, order: str) -> None:
    bundle = compiled(text(kind, grid, place, order))
    assert bundle.run(lengths={"r": (4, 0, 2, 1, 3)}).verified


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("element", ["f32", "i16"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_length_may_be_given_as_well(kind: str, element: str, target: str) -> None:
    bundle = compiled(text(kind, element=element, length="n <= B"), target)
    given = {"r": (0, 4, 2, 1, 3), "n": (12, 1, 7, 3, 12)}  # some slices are empty
    report = bundle.run(lengths=given, repeats=2)
    assert report.verified, report.problem
    assert bundle.run(seed=9, repeats=4).verified


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_vector(kind: str) -> None:
    for length in ("B", "n <= B"):
        bundle = compiled(text(kind, length=length), B=600)
        lengths = {"r": (3, 0, 4, 1, 2)} | ({"n": 600} if "n" in length else {})
        given = {name: of if isinstance(of, tuple) else (of,) * 5 for name, of in lengths.items()}
        assert bundle.run(lengths=given).verified


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_pes_may_begin_late_and_two_colors_suffice_for_all(target: str) -> None:
    others = "".join(
        f"collective {kind} = {contract.format(element='f32', length='n <= B')}"
        f" on row {{ {steps} }}\n".replace("(x:", f"({kind[0]}:")
        for kind, (contract, steps) in KINDS.items()
        if kind != "reduce"
    )
    spread = "collective spread = broadcast(y: f32[n <= B]) on row { broadcast from r < P }\n"
    calls = "repeat P { one spread gather scatter one } within colors <= 2"
    written = text("reduce", length="n <= B", other=others + spread, calls=calls)
    bundle = compiled(written, target, skew=60)
    assert len(bundle.program.colors) == 2
    assert bundle.run(repeats=4).verified
    assert compiled(written, target).run(repeats=4, seed=5).verified


def test_rotating_a_long_reduction_costs_little_more_than_its_two_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FABSIM_TIMING", "simfabric")
    rotating = compiled(text("reduce", calls="repeat 16 { one }"), P=16, B=512)
    fixed = compiled(
        text("reduce", calls="repeat 16 { one }", steps="reduce chain to 7"), P=16, B=512
    )
    turning = rotating.run(lengths={"r": tuple(range(16))})
    assert turning.verified
    assert turning.cycles <= 1.2 * fixed.run().cycles


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (text("reduce", steps="reduce two_phase(S = 2) to r < P"), "C346"),
        (text("reduce", steps="reduce chain to r < P + 1"), "C174"),
        (text("reduce", steps="reduce two_phase(S = auto) to r < P"), "C106"),
        (text("gather", steps="run gather_behind(root = r) to r < P"), "C208"),
        (text("gather", steps="run linear_gather to r < P"), "C214"),
        (text("reduce", "P x 3", steps="reduce columns by chain to r < P"), "C106"),
    ],
)
def test_what_differs_from_root_to_root_is_refused(written: str, code: str) -> None:
    assert set(refused(written)) == {code}


def test_a_tree_that_goes_to_neighbours_is_a_chain_whatever_it_is_called() -> None:
    written = text("reduce", steps="reduce mine to r < P")  # a near miss
    tree = "tree mine(n) = n == 1 ? leaf : join(leaf, mine(n - 1))\n"
    assert compiled(written + tree).run().verified


def test_a_spec_is_read_as_it_is_shown() -> None:
    for kind in KINDS:
        shown = show_spec(parse_source(text(kind)))
        assert "r < 5" in shown
        assert show_spec(parse_source(shown)) == shown


@pytest.mark.parametrize("kind", KINDS)
def test_what_pes_choose_is_held_against_the_plan_of_each_root(kind: str) -> None:
    plan = compiled(text(kind)).program
    assert not list(roots_of_call(plan))
    (choice,) = plan.program.rooted
    behind, own, before = choice.names
    turned = replace(choice, names=(before, own, behind))
    changed = replace(plan, program=replace(plan.program, rooted=(turned,)))
    assert {one.code for one in roots_of_call(changed)} == {"C346"}


def test_what_is_alike_for_all_roots_has_one_color_for_all() -> None:
    plan = compiled(text("reduce")).program
    (use, *_) = plan.uses
    (one, first), (other, second) = use.positions
    exchanged = replace(use, positions=((one, second), (other, first)))
    changed = replace(plan, uses=(exchanged, *plan.uses[1:]))
    assert [one.code for one in roots_of_call(changed)] == ["C345"]


def test_a_rank_beyond_those_that_may_be_the_root_is_refused() -> None:
    bundle = compiled(text("reduce", steps="reduce chain to r < P - 1"))
    assert bundle.run(lengths={"r": (3, 0, 1, 2, 3)}).verified
    with pytest.raises(CollcError, match="0 to 3"):
        bundle.run(lengths={"r": (4, 0, 0, 0, 0)})
