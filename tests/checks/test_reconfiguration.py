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
from with_schedules import check_program, followed

from collc.base.diagnostics import Diagnostic
from collc.checks.color_hand_over import turns
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
        "in `c0.reduce` PE (0, 0) waits for ever: the router of PE (5, 0) is in position 0 of "
        "color 0, for words from its own PE, which sends nothing more there; `c0.reduce` and "
        "`c1.broadcast` set the router of PE (5, 0)",
        "",
    ),
    "no teardown behind the vector of a broadcast": (
        with_role(plan_of(*CHAIN, rounds=2), 1, "root", sending(Advance.NOTHING)),
        "C331",
        "in `c0.reduce` PE (0, 0) waits for ever: no teardown follows what PE (3, 0) sends on "
        "color 2 in its next call; each call of `c1.broadcast` sets the router of PE (3, 0)",
        "",
    ),
    "a teardown before the last vector": (
        with_role(
            plan_of(*GROUPS, limits="within colors <= 3"), 0, "leaf_1", sending(Advance.TEARDOWN)
        ),
        "C331",
        "in `c0.reduce` PE (3, 0) waits for ever: no teardown follows what PE (5, 0) sends on "
        "color 0; `c0.reduce` and `c1.exchange` set the router of PE (5, 0)",
        "",
    ),
    "a teardown of a color that stays": (
        staying(plan_of(*CHAIN, limits="within colors <= 2"), 0),
        "C313",
        "in `c0.reduce` the router of PE (1, 0) is set twice on color 0, and not alike",
        "",
    ),
    "a router that is set and never passed": (
        with_role(plan_of(*CHAIN), 0, "leaf", with_color("reduce_odd")),
        "C331",
        "in `c1.broadcast` PE (0, 0) waits for ever: the router of PE (5, 0) is in position 0 of "
        "color 1, for words from its own PE, which sends nothing more there; each call of "
        "`c0.reduce` sets the router of PE (5, 0)",
        "",
    ),
    "a teardown that goes another way": (
        with_role(
            plan_of(*GROUPS, limits="within colors <= 3"), 0, "leaf_1", first_going(Direction.EAST)
        ),
        "C331",
        "in `c0.reduce` PE (3, 0) waits for ever: no teardown follows what PE (2, 0) sends on "
        "color 0; `c0.reduce` and `c1.exchange` set the router of PE (2, 0)",
        "",
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
def test_a_fault_is_told_with_the_pe_and_what_happens(fault: str) -> None:
    plan, code, message, other = FAULTS[fault]
    problems = [*turns(plan), *(followed(plan) if "without" not in fault else ())]
    found = first_of(code, problems)
    assert found.message == message
    assert [words for _, words in found.also] == [other] * bool(other)
    assert "please report this" in found.help
    assert "within colors" not in found.help


@pytest.mark.parametrize("fault", FAULTS)
def test_none_of_these_plans_passes_the_checks(fault: str) -> None:
    if "without" not in fault:  # the plan has no number for what others look up
        assert check_program(FAULTS[fault][0])


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
    assert check_program(plan) == ()


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
    found = first_of("C331", followed(with_role(plan, 0, "leaf", sending(Advance.NOTHING))))
    assert found.message == (
        "in `two.broadcast` PE (2, 1) waits for ever: no teardown follows what PE (5, 1) sends on "
        "color 0; each call of `one.rows` sets the router of PE (5, 1)"
    )
    found = first_of("C331", followed(with_role(plan, 1, "root", sending(Advance.NOTHING))))
    assert "the router of PE (3, 2) is in position 0 of color 1" in found.message


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
    assert first_of("C317", followed(wrong)).message == (
        "`two.broadcast` gets stuck: PE (0, 0) waits for ever: the router of PE (0, 0) is in "
        "position 0 of color 0, for words from the south, where PE (0, 1) sends none"
    )
    kept = first_of("C333", turns(staying(plan, 0)))
    assert "along another path, such as at PE (0, 0): `one.reduce` ends" in kept.message


@pytest.mark.parametrize(
    ("advance", "codes"),
    [(Advance.TEARDOWN, ["C331"]), (Advance.RESET, []), (Advance.NOTHING, [])],
)
def test_a_collective_by_itself_tears_nothing_down(advance: Advance, codes: list[str]) -> None:
    plan = with_role(plan_of(*CHAIN, limits=""), 1, "root", sending(advance))
    found = list(followed(plan.plans[1]))
    assert [problem.code for problem in found] == codes
    for problem in found:
        assert "in `broadcast` PE (3, 0) tears down `broadcast` at PE" in problem.message


@pytest.mark.parametrize(
    ("order", "way", "pe"),
    [
        ("north_to_south", Direction.SOUTH, "(0, 2)"),
        ("south_to_north", Direction.NORTH, "(0, 3)"),
    ],
)
def test_whom_no_teardown_follows_along_a_column_is_named(
    order: str, way: Direction, pe: str
) -> None:
    text = f"""target wse2
        grid pes = 1 x 6
        collective one = reduce(x: f32[4], add) on pes {{
            order {order} reduce two_phase(S = 2) to 0 }}
        program {{ one reconfigure teardown }}
    """
    _, plan = planned(text)
    assert check_program(plan) == ()
    aside = first_of("C331", followed(with_role(plan, 0, "leaf_1", first_going(way))))
    assert f"no teardown follows what PE {pe} sends on `reduce_even`" in aside.message
