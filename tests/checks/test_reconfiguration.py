"""Colors that are handed over: which plans of a program are refused, with which words, and which
not.

No program leads to these refusals, so plans are changed by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from changing import advancing_by
from programs.bare import planned
from programs.texts import program_of

from collc.base.diagnostics import Diagnostic
from collc.checks.color_hand_over import turns
from collc.checks.program import check_program
from collc.checks.teardown import teardown
from collc.checks.traffic.nothing_torn_down import nothing_torn_down
from collc.plan import Advance, ColorUse, Direction, Phase, Role
from collc.plan.plan import ProgramPlan

CHAIN = ("chain", "broadcast from the middle")
GROUPS = ("two_phase", "ring")


@cache
def plan_of(*patterns: str, limits: str = "reconfigure teardown", rounds: int = 1) -> ProgramPlan:
    """A plan for six PEs in a row, which passes all checks."""
    return planned(program_of(patterns, limits, rounds), {"P": 6, "B": 4})[1]


def with_role(
    plan: ProgramPlan, collective: int, name: str, change: Callable[[Role], Role]
) -> ProgramPlan:
    """The plan with another role in the first phase of a collective."""

    def changed(phase: Phase) -> Phase:
        assert name in {role.name for role in phase.roles}
        roles = (change(role) if role.name == name else role for role in phase.roles)
        return replace(phase, roles=tuple(roles))

    one = plan.plans[collective]
    other = replace(one, phases=(changed(one.phases[0]), *one.phases[1:]))
    before, after = plan.plans[:collective], plan.plans[collective + 1 :]
    return replace(plan, plans=(*before, other, *after))


def sending(advance: Advance) -> Callable[[Role], Role]:
    """The role with something else behind its vectors."""
    return advancing_by(lambda _: advance)


def first_going(*way: Direction) -> Callable[[Role], Role]:
    """The role with a first position of its first color that sends that way."""

    def changed(role: Role) -> Role:
        use, *others = role.colors
        positions = (replace(use.positions[0], send=way), *use.positions[1:])
        return replace(role, colors=(replace(use, positions=positions), *others))

    return changed


def with_color(color: str) -> Callable[[Role], Role]:
    """The role with its first router's setting for another color besides."""

    def changed(role: Role) -> Role:
        return replace(role, colors=(*role.colors, ColorUse(color, role.colors[0].positions)))

    return changed


def staying(plan: ProgramPlan, *indices: int) -> ProgramPlan:
    """The plan with colors that are said to stay as they are."""
    colors = (
        replace(color, torn_down=color.torn_down and k not in indices)
        for k, color in enumerate(plan.colors)
    )
    return replace(plan, colors=tuple(colors))


def on(plan: ProgramPlan, *places: int) -> ProgramPlan:
    """The plan with other colors of the program for the first phase."""
    use, *others = plan.uses
    names = [name for name, _ in use.positions][: len(places)]
    moved = replace(use, positions=tuple(zip(names, places, strict=True)))
    return replace(plan, uses=(moved, *others))


def first_of(code: str, problems: object) -> Diagnostic:
    return next(problem for problem in problems if problem.code == code)


FAULTS = {
    "no teardown behind the last vector": (
        with_role(
            plan_of(*CHAIN, limits="within colors <= 2"), 0, "leaf", sending(Advance.NOTHING)
        ),
        "C331",
        "in `c0.reduce` nothing tears down color 0 (`reduce_even`) at PE (5, 0) behind its last "
        "vector: PE (5, 0) sends the last vector there, no teardown follows it, the router of "
        "PE (5, 0) stays open as `c0.reduce` has set it, and `c1.broadcast`, the next on this "
        "color, waits there for ever, or its vectors follow routes of `c0.reduce`",
        "`c1.broadcast` has color 0 after it",
    ),
    "no teardown behind the vector of a broadcast": (
        with_role(plan_of(*CHAIN, rounds=2), 1, "root", sending(Advance.NOTHING)),
        "C331",
        "in `c1.broadcast` nothing tears down color 2 (`broadcast`) at PE (3, 0) behind its last "
        "vector: PE (3, 0) sends the last vector there, no teardown follows it, the router of "
        "PE (3, 0) stays open as `c1.broadcast` has set it, and `c1.broadcast` in its next call, "
        "the next on this color, waits there for ever, or its vectors follow routes of "
        "`c1.broadcast`",
        "",
    ),
    "a teardown before the last vector": (
        with_role(
            plan_of(*GROUPS, limits="within colors <= 3"), 0, "leaf_1", sending(Advance.TEARDOWN)
        ),
        "C331",
        "in `c0.reduce` PE (1, 0) tears down color 0 (`reduce_even`) at PE (1, 0) before the last "
        "vector has passed: PE (1, 0) sends its vector and a teardown behind it, the router of "
        "PE (1, 0) closes, the vector of PE (2, 0), which comes later, waits before it, and "
        "`c1.exchange`, the next on this color, is never begun, or takes that vector for one of "
        "its own",
        "`c1.exchange` has color 0 after it",
    ),
    "a teardown of a color that stays": (
        staying(plan_of(*CHAIN, limits="within colors <= 2"), 0),
        "C331",
        "in `c0.reduce` PE (5, 0) tears down color 0 (`reduce_even`), which is never set again: "
        "PE (5, 0) sends its vector, a teardown behind it closes the routers on its route, nothing "
        "opens them, since the color is to stay as it is, and `c1.broadcast`, the next on this "
        "color, waits there for ever",
        "`c1.broadcast` has color 0 after it",
    ),
    "a router that is set and never passed": (
        with_role(plan_of(*CHAIN), 0, "leaf", with_color("reduce_odd")),
        "C331",
        "in `c0.reduce` no vector on color 1 (`reduce_odd`) passes the router of PE (5, 0), which "
        "is set for it: PE (5, 0) opens its router, no vector comes, so no teardown behind one, "
        "the router stays open, and whatever is called next on this color waits there for ever",
        "",
    ),
    "a teardown that goes another way": (
        with_role(
            plan_of(*GROUPS, limits="within colors <= 3"), 0, "leaf_1", first_going(Direction.EAST)
        ),
        "C332",
        "in `c0.reduce` PE (1, 0) sends on color 0 (`reduce_even`) to PE (2, 0), where its "
        "teardown does not go: the router of PE (1, 0) lets vectors go to PE (2, 0), it moves on "
        "to a position that goes elsewhere, the teardown takes that one, nothing on the link to "
        "PE (2, 0) tells that `c0.reduce` is over, and `c1.exchange`, the next on this color, may "
        "send a vector there that PE (2, 0) takes for one of `c0.reduce`",
        "`c1.exchange` has color 0 after it",
    ),
    "a phase with one color for two": (
        on(plan_of(*CHAIN), 1, 1),
        "C333",
        "`c0.reduce` has `reduce_even` and `reduce_odd` on color 1: PE (1, 0) sets its router for "
        "`reduce_odd`, a vector on `reduce_even` comes through it and takes the route of the "
        "other, and whatever is called next on this color begins with vectors where none is due",
        "",
    ),
    "a phase without a color": (
        on(plan_of(*CHAIN), 1),
        "C333",
        "`c0.reduce` has no color of the program for its `reduce_odd`: PE (1, 0) begins it, has no "
        "router to set for `reduce_odd`, waits for ever, and `c1.broadcast`, the next, is not "
        "begun at PE (1, 0)",
        "`c1.broadcast` would come after it",
    ),
    "two settings of a color that stays": (
        staying(plan_of(*CHAIN, limits="within colors <= 2"), 0),
        "C333",
        "`c0.reduce` and `c1.broadcast` both use color 0, which stays as it is, but set its "
        "routers differently at PE (1, 0): `c0.reduce` ends, its routers stay as it has set them, "
        "`c1.broadcast` begins there, and its vectors follow the routes of `c0.reduce`",
        "`c1.broadcast` has color 0 as well",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_both_collectives_the_pe_and_what_happens(fault: str) -> None:
    plan, code, message, other = FAULTS[fault]
    problems = [*teardown(plan), *turns(plan)] if "without" not in fault else turns(plan)
    found = first_of(code, problems)
    assert found.message == message
    assert [words for _, words in found.also] == [other] * bool(other)
    assert "please report this" in found.help
    assert "within colors" not in found.help


@pytest.mark.parametrize("fault", FAULTS)
def test_none_of_these_plans_passes_the_checks(fault: str) -> None:
    plan, code, *_ = FAULTS[fault]
    if "without" not in fault:  # the plan has no number for what others look up
        assert code in {problem.code for problem in check_program(plan)}


NEAR_MISSES = {
    "what the compiler makes": plan_of(*GROUPS, limits="within colors <= 3"),
    "a vector that others follow, without a teardown": with_role(
        plan_of(*GROUPS, limits="within colors <= 3"), 0, "leaf_1", sending(Advance.OWN_ROUTER)
    ),
    "a first position that goes where the last goes": with_role(
        plan_of(*GROUPS, limits="within colors <= 3"), 0, "leaf_1", first_going(Direction.WEST)
    ),
    "colors of a phase exchanged": on(plan_of(*GROUPS, limits="within colors <= 3"), 1, 0),
    "the same setting twice": plan_of("chain", "chain", limits="within colors <= 2"),
    "nothing torn down where each has its own": plan_of(*CHAIN, limits=""),
}


@pytest.mark.parametrize("plan", NEAR_MISSES.values(), ids=list(NEAR_MISSES))
def test_what_is_nearly_a_fault_is_accepted(plan: ProgramPlan) -> None:
    assert [*teardown(plan), *turns(plan)] == []


def test_pes_of_a_part_are_counted_on_the_whole_grid() -> None:
    text = """target wse2
        grid pes = 6 x 3
        grid part = pes[2 .. 5, 1 .. 2]
        collective one = reduce(x: f32[4], add) on part {
            reduce rows by chain then reduce column by chain }
        collective two = broadcast(y: f32[4]) on part { broadcast from (1, 1) }
        program { one two within colors <= 2 }
    """
    _, plan = planned(text)
    assert check_program(plan) == ()
    found = first_of("C331", teardown(with_role(plan, 0, "leaf", sending(Advance.NOTHING))))
    assert "at PE (5, 1) behind its last vector" in found.message
    found = first_of("C331", teardown(with_role(plan, 1, "root", sending(Advance.NOTHING))))
    assert "at PE (3, 2) behind its last vector" in found.message
    assert "whatever is called next on this color waits" in found.message


def test_pes_of_a_path_are_those_of_the_grid() -> None:
    text = """target wse2
        grid pes = 3 x 2
        collective one = reduce(x: f32[4], add) on pes { order snake reduce chain to 0 }
        collective two = broadcast(y: f32[4]) on pes { broadcast from (1, 1) }
        program { one two within colors <= 2 }
    """
    _, plan = planned(text)
    assert check_program(plan) == ()
    wrong = with_role(plan, 0, "leaf", sending(Advance.NOTHING))
    assert "at PE (0, 1) behind its last vector" in first_of("C331", teardown(wrong)).message
    kept = first_of("C333", turns(staying(plan, 0)))
    assert "along another path, such as at PE (0, 0): `one.reduce` ends" in kept.message


@pytest.mark.parametrize(
    ("advance", "codes"),
    [(Advance.TEARDOWN, ["C331"]), (Advance.RESET, []), (Advance.NOTHING, [])],
)
def test_a_collective_by_itself_tears_nothing_down(advance: Advance, codes: list[str]) -> None:
    plan = with_role(plan_of(*CHAIN, limits=""), 1, "root", sending(advance))
    found = list(nothing_torn_down(plan.plans[1]))
    assert [problem.code for problem in found] == codes
    for problem in found:
        assert "in `broadcast` PE (3, 0) tears down color" in problem.message


@pytest.mark.parametrize(
    ("order", "way", "pes"),
    [
        ("north_to_south", Direction.SOUTH, ("(0, 1)", "(0, 2)")),
        ("south_to_north", Direction.NORTH, ("(0, 4)", "(0, 3)")),
    ],
)
def test_where_a_teardown_does_not_go_along_a_column_is_named(
    order: str, way: Direction, pes: tuple[str, str]
) -> None:
    text = f"""target wse2
        grid pes = 1 x 6
        collective one = reduce(x: f32[4], add) on pes {{
            order {order} reduce two_phase(S = 2) to 0 }}
        program {{ one reconfigure teardown }}
    """
    _, plan = planned(text)
    assert check_program(plan) == ()
    aside = first_of("C332", teardown(with_role(plan, 0, "leaf_1", first_going(way))))
    assert f"PE {pes[0]} sends on color" in aside.message
    assert f"to PE {pes[1]}, where its teardown does not go" in aside.message
