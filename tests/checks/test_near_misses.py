"""Faults that are nearly none: at router 0, at the end of a detour, behind the last operation. Each
is what a check with one term less would let pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from changing import advancing_by, with_ops, with_runs
from with_schedules import check

import building as b
from collc.base.diagnostics import CollcError
from collc.checks.traffic import paths
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.plan import (
    VECTOR,
    Action,
    Advance,
    Buffer,
    ColorUse,
    Direction,
    Memory,
    Op,
    Plan,
    Region,
    Role,
    Route,
    Strided,
)
from collc.plan.form import Form, form_of
from collc.schedule import build_schedule
from collc.target import WSE2


def planned(collective):
    return build_plan(build_schedule(collective), WSE2)


def found(name: str, plan: Plan) -> list[str]:
    return [problem.message for problem in check(name, plan)]


def with_roles(plan: Plan, change: Callable[[Role], Role]) -> Plan:
    """The plan with the roles of its first phase changed."""
    first, *others = plan.phases
    return replace(plan, phases=(replace(first, roles=tuple(map(change, first.roles))), *others))


def with_positions(role: Role, positions: Callable[[tuple[Route, ...]], tuple[Route, ...]]) -> Role:
    uses = (replace(use, positions=positions(use.positions)) for use in role.colors)
    return replace(role, colors=tuple(uses))


STAR = planned(b.line_reduce(b.star(3)))  # ranks 1 and 2 send to rank 0, on one color


def test_the_switch_of_router_0_is_set_back_behind_its_last_vector():
    """Router 0 is the only one that is set back wrongly."""

    def moved_at_the_root(role: Role) -> Role:
        return with_positions(role, lambda of: of * 2 if role.name == "root" else of)

    plan = with_roles(STAR, moved_at_the_root)
    assert found("follow", plan) == []

    def behind_the_first(role: Role) -> Role:
        early = advancing_by(lambda _: Advance.RESET)
        return early(role) if role.name == "leaf_1" else role

    early = with_roles(plan, behind_the_first)
    never = with_roles(plan, advancing_by(lambda _: Advance.NOTHING))
    for wrong in (early, never):
        assert found("follow", wrong) == [
            "in `reduce` PE (0, 0) takes in call 0 words that PE (1, 0) sends in call 1"
        ]


def test_vectors_that_go_to_the_root_instead_of_another_rank_are_found():
    """Rank 2 is to send to rank 1, and sends to rank 0."""
    of_chain = replace(STAR, collective=b.line_reduce(b.chain(3)))
    assert found("follow", of_chain) == [
        "in `reduce` PE (0, 0) ends with other values in elements 0 to 15: the same contributions "
        "in another order, or from other elements"
    ]


def test_words_that_are_left_at_a_ramp_are_found():
    """The root has received all it waits for, and then sends what its router never takes."""
    sends = (Op(VECTOR, Action.COPY, "reduce_even"), 1)

    def talking(role: Role) -> Role:
        return with_runs(role, [*role.repeated, sends]) if role.name == "root" else role

    assert found("follow", with_roles(STAR, lambda role: with_runs(role, role.repeated))) == []
    assert found("follow", with_roles(STAR, talking)) == [
        "`reduce` gets stuck: PE (0, 0) waits for ever: the router of PE (0, 0) is set back on "
        "`reduce_even` before its last words"
    ]


@pytest.mark.parametrize("aside", [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)])
def test_neighbours_touch_on_every_side_and_pes_with_one_between_them_do_not(
    aside: tuple[int, int],
):
    plan = planned(b.line_allreduce(b.two_phase(12, 4)))
    numbers = {name: number for number, (name, _) in enumerate(plan.colors)} | {"broadcast": 0}
    shared = replace(plan, colors=tuple(numbers.items()))

    def at(distance: int) -> Plan:
        places = [(4, 4), tuple(4 + distance * step for step in aside)]
        phases = (
            replace(
                phase,
                regions=tuple(
                    (replace(region, x=Strided(x, x), y=Strided(y, y)), index)
                    for region, index in phase.regions
                ),
            )
            for phase, (x, y) in zip(plan.phases, places, strict=True)
        )
        return replace(shared, phases=tuple(phases))

    assert len(found("exclusive_receive", at(1))) == 1
    assert found("exclusive_receive", at(2)) == []


ROW_MAJOR = """target wse2
tree rows = 0 <- [1, 2, 3 <- [4 <- [5, 6, 7 <- [8 <- [9, 10, 11]]]]]
grid g = 4 x 3
collective c = reduce(x: f32[50], add) on g { order row_major reduce rows to 0 }
program { c }"""


def test_two_detours_of_a_color_that_end_at_one_pe_are_refused(monkeypatch):
    """Places 4 and 8 both send to place 3, on ways that have nothing but their end in common."""
    plan = compile_text(ROW_MAJOR, "test.coll", {}).plan
    (phase,) = plan.phases
    near, far = phase.detours
    sent = [(place, 3 if place == 8 else to, color) for place, to, color in paths._sent(phase)]
    monkeypatch.setattr(paths, "_sent", lambda _: sent)
    ways = (
        replace(near, pes=((0, 1), (0, 0), (1, 0), (2, 0), (3, 0))),
        replace(far, pes=((0, 2), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0))),
    )
    apart = replace(plan, phases=(replace(phase, detours=ways),))
    assert found("paths", apart) == []  # of two colors

    first, second = ways
    on_one_color = [(place, to, near.color) for place, to, _ in sent]
    monkeypatch.setattr(paths, "_sent", lambda _: on_one_color)
    of_one = replace(phase, detours=(first, replace(second, color=first.color)))
    assert found("paths", replace(apart, phases=(of_one,))) == [
        "in `reduce` two detours of `reduce_2` meet at PE (3, 0)"
    ]


def test_a_rank_that_receives_nothing_is_told_so():
    deaf = with_roles(STAR, lambda role: replace(role, lanes=()) if role.name == "root" else role)
    assert found("follow", deaf) == [
        "`reduce` gets stuck: PE (1, 0) waits for ever: words on `reduce_even` come to PE (0, 0), "
        "which receives no more of them"
    ]


@pytest.mark.parametrize("change", [{"send": Memory(Buffer.STAGE)}, {"advance": Advance.RESET}])
def test_a_tree_stores_in_the_vector_and_moves_no_router_behind_that(change: dict[str, object]):
    def elsewhere(op: Op) -> Op:
        return replace(op, **change) if op.stores else op

    assert found("steps", with_roles(STAR, lambda role: with_ops(role, lambda op: op))) == []
    (problem,) = found("steps", with_roles(STAR, lambda role: with_ops(role, elsewhere)))
    assert "does something else than to store vectors" in problem


BROADCAST = planned(b.broadcast(5, 4, 2, 1))


def root_role(plan: Plan) -> Role:
    (found,) = (role for role in plan.phases[0].roles if role.name == "root")
    return found


def test_only_the_root_of_a_multicast_sends_and_only_the_others_copy():
    sends = root_role(BROADCAST).lanes
    copies = next(role.lanes for role in BROADCAST.phases[0].roles if role.name != "root")
    assert found("follow", with_roles(BROADCAST, lambda role: role)) == []
    for root, others, problem in (
        (sends, sends, "words on `broadcast` come to PE (2, 0), which receives no more of them"),
        (
            copies,
            copies,
            "the router of PE (2, 1) is in position 0 of `broadcast`, for words from its own PE",
        ),
        (
            (),
            copies,
            "the router of PE (2, 1) is in position 0 of `broadcast`, for words from its own PE",
        ),
        (sends, (), "which receives no more of them"),
    ):
        changed = with_roles(
            BROADCAST,
            lambda role, root=root, others=others: replace(
                role, lanes=root if role.name == "root" else others
            ),
        )
        assert problem in found("follow", changed)[0]


def test_a_root_of_a_multicast_that_no_region_has_is_named():
    (phase,) = BROADCAST.phases
    at_root = phase.roles.index(root_role(BROADCAST))
    regions = tuple(one for one in phase.regions if one[1] != at_root)
    beside = replace(BROADCAST, phases=(replace(phase, regions=regions),))
    (problem,) = found("follow", beside)
    assert "from the east, where no router is set for it" in problem
    for x, y in ((9, 9), (2, 9), (9, 1)):
        elsewhere = ((Region(Strided(x, x), Strided(y, y)), regions[0][1]),)
        apart = replace(BROADCAST, phases=(replace(phase, regions=elsewhere),))
        assert found("one_role", apart) != []


@pytest.mark.parametrize("aside", [(5, 0), (-5, 0), (0, 4), (0, -4), (1, 0), (0, -1)])
def test_as_many_pes_as_the_grid_has_are_to_be_those_of_the_grid(aside: tuple[int, int]):
    (phase,) = BROADCAST.phases
    everywhere = Region(Strided(0, 4), Strided(0, 3))

    def with_region(region: Region) -> list[str]:
        return found(
            "one_role", replace(BROADCAST, phases=(replace(phase, regions=((region, 0),)),))
        )

    assert with_region(everywhere) == []
    moved = Region(everywhere.x.shifted(aside[0]), everywhere.y.shifted(aside[1]))
    assert with_region(moved) == ["in `broadcast` a role lies outside the grid"]


def test_a_rank_does_not_set_its_own_router_back_before_a_vector_from_beyond():
    """No other router of the line moves."""
    assert [role.name for role in STAR.phases[0].roles if len(role.colors[0].positions) > 1] == [
        "leaf_1"
    ]
    early = with_roles(STAR, advancing_by(lambda _: Advance.RESET))
    assert found("follow", early) == [
        "in `reduce` PE (0, 0) takes in call 0 words that PE (1, 0) sends in call 1"
    ]


def test_a_role_of_a_multicast_has_one_color_with_one_route():
    def twice(role: Role) -> Role:
        return with_positions(role, lambda of: of * 2)

    def two_colors(role: Role) -> Role:
        return replace(role, colors=role.colors * 2)

    assert found("steps", BROADCAST) == []
    for change in (twice, two_colors):
        assert (
            "does not have one color with one route"
            in found("steps", with_roles(BROADCAST, change))[0]
        )


def test_a_pe_within_runs_with_different_steps_is_followed_by_itself():
    """Every second PE of the first row hands the vector down; of those below, every third one takes
    it from above, which is wrong in one column only, where no run begins or ends."""
    color, (first,) = "broadcast", BROADCAST.phases
    sends, copies = (Op(VECTOR, Action.COPY, color), Op(color, Action.COPY, VECTOR))
    west, east, down = Direction.WEST, Direction.EAST, Direction.SOUTH

    def role(name: str, op: Op, receive: Direction, *send: Direction) -> Role:
        use = ColorUse(color, (Route(receive, send),))
        return with_runs(Role(name, "", (), (use,)), [(op, 1)])

    ramp = Direction.RAMP
    roles = (
        role("root", sends, ramp, east, down),
        role("on", copies, west, ramp, east),
        role("on and down", copies, west, ramp, east, down),
        role("last", copies, west, ramp),
        role("from above", copies, Direction.NORTH, ramp, east),
    )

    def plan(*below: tuple[Strided, int]) -> Plan:
        above = ((Strided(0, 0), 0), (Strided(1, 9, 2), 1), (Strided(2, 10, 2), 2))
        above = (*above, (Strided(11, 11), 3))
        regions = [
            (Region(x, Strided(y, y)), r) for y, of in enumerate((above, below)) for x, r in of
        ]
        phase = replace(first, roles=roles, regions=tuple(regions))
        (step,) = BROADCAST.collective.steps
        grid = replace(BROADCAST.collective.grid, width=12, height=2)
        collective = replace(BROADCAST.collective, grid=grid, steps=(replace(step, x=0, y=0),))
        return replace(BROADCAST, collective=collective, phases=(phase,))

    assert found("follow", plan((Strided(0, 10, 2), 4), (Strided(1, 11, 2), 3))) == []
    odd = ((Strided(1, 3, 2), 3), (Strided(7, 11, 2), 3))
    even = ((Strided(0, 0), 4), (Strided(4, 6, 2), 4), (Strided(10, 10), 4))
    assert found("follow", plan((Strided(2, 8, 3), 4), *odd, *even)) == [
        "`broadcast` gets stuck: PE (0, 0) waits for ever: the router of PE (5, 1) is in position "
        "0 of `broadcast`, for words from the north, where PE (5, 0) sends none"
    ]


BYPASS = """target wse2 grid row = 8 x 1
collective c = reduce(x: f32[64], add) on row { reduce root_bypass(chain) to 3 }
program { c }"""


@pytest.mark.parametrize("place", range(8))
def test_every_router_before_the_root_lets_the_sum_pass(place: int):
    """One behind it may, since no sum comes there."""
    plan = compile_text(BYPASS, "test.coll", {}).plan
    (phase,) = plan.phases
    color = "reduce_bypass"
    passes = ColorUse(color, (Route(Direction.WEST, (Direction.EAST,)),))
    own = phase.role_at((place, 0))
    assert own is not None
    without = tuple(use for use in own.colors if use.color != color)

    def with_colors(colors: tuple[ColorUse, ...]) -> list[str]:
        other = replace(own, name="other", colors=colors)
        apart = [
            (Region(Strided(x, x), region.y), index if x != place else len(phase.roles))
            for region, index in phase.regions
            for x in region.x
        ]
        changed = replace(phase, roles=(*phase.roles, other), regions=tuple(apart))
        return found("follow", replace(plan, phases=(changed,)))

    assert with_colors(own.colors) == []
    assert with_colors(without) == (
        [
            f"in `reduce` words of PE (0, 0) on `{color}` come to PE ({place}, 0), whose router "
            "has no route for them"
        ]
        if place <= 3
        else []
    )
    assert bool(with_colors((*without, passes))) is (place in (0, 3))


ALTERNATIVES = """target wse2 grid row = 5 x 1
collective c = {contract} on row {{
    select by n {{ n <= 2: {first} n <= 5: {first} else: {last} }}
}}
program {{ c }}"""


@pytest.mark.parametrize(
    ("contract", "first", "last", "verb"),
    [
        ("reduce(x: f32[n <= 8], add)", "reduce star to 3", "reduce chain to {}", "ends"),
        ("broadcast(x: f32[n <= 8])", "broadcast from 3", "broadcast from {}", "starts"),
    ],
)
def test_alternatives_have_one_root(contract: str, first: str, last: str, verb: str):
    def text(root: int) -> str:
        return ALTERNATIVES.format(contract=contract, first=first, last=last.format(root))

    compile_text(text(3), "test.coll", {})
    with pytest.raises(CollcError) as caught:
        compile_text(text(4), "test.coll", {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "C336"
    assert problem.message == (f"this alternative {verb} at PE (4, 0), the first one at PE (3, 0)")


SNAKE = """target wse2 grid g = 4 x 3
collective c = reduce(x: f32[50], add) on g { order snake reduce two_phase(S = 3) to 0 }
program { c }"""


def test_no_router_sends_to_a_side_that_is_not_of_the_path():
    plan = compile_text(SNAKE, "test.coll", {}).plan
    (phase,) = plan.phases
    assert found("paths", plan) == []
    assert len(phase.roles) > 2
    for role in phase.roles:
        for side in (Direction.NORTH, Direction.SOUTH):

            def aside(one: Role, role: Role = role, side: Direction = side) -> Role:
                if one is not role:
                    return one
                return with_positions(one, lambda of: (*of[:-1], replace(of[-1], send=(side,))))

            assert found("paths", with_roles(plan, aside)) == [
                f"in `reduce` role `{role.name}` leaves the path"
            ]


STEPS = """target wse2 grid g = 4 x 3
collective c = reduce(x: f32[50], add) on g { order row_major run pipelined_reduce(c = 2) to 0 }
program { c }"""


def test_every_gap_of_an_exchange_has_a_detour_and_nothing_else_has():
    plan = compile_text(STEPS, "test.coll", {}).plan
    (phase,) = plan.phases
    assert phase.detours and form_of(phase) is Form.STEPS
    assert found("paths", plan) == []
    for at, detour in enumerate(phase.detours):
        others = (*phase.detours[:at], *phase.detours[at + 1 :])
        (problem,) = found("paths", replace(plan, phases=(replace(phase, detours=others),)))
        ends = f"from PE {detour.pes[0]} to PE {detour.pes[-1]}"
        assert problem == f"in `{phase.name}` `{detour.color}` has no detour {ends}"
        twice = replace(plan, phases=(replace(phase, detours=(*phase.detours, detour)),))
        (problem,) = found("paths", twice)
        assert problem == f"in `{phase.name}` a detour of `{detour.color}` leads {ends}"
