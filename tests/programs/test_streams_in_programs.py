"""Which collectives of a program stream: those that do the same share filters, and calls beside
each other are on PEs apart."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import read
from collc.driver.planning import planned_spec
from collc.plan.form import Form, form_of
from collc.plan.plan import ProgramPlan


def planned(target: str, grids: str, calls: str, *collectives: str) -> ProgramPlan:
    lines = [f"target {target}", grids, *collectives, f"program {{ {calls} }}"]
    return planned_spec(read("\n".join(lines) + "\n", "t.coll", {})).plan


def all_to_all(name: str, length: int, site: str = "g") -> str:
    return f"collective {name} = all_to_all(x_{name}: f32[{length}]) on {site} {{ run auto }}"


def forms(plan: ProgramPlan) -> list[Form]:
    return [form_of(phase) for one in plan.plans for phase in one.phases]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_collectives_that_do_the_same_share_their_filters(target: str) -> None:
    made = [all_to_all(name, 4) for name in "abc"]
    plan = planned(target, "grid g = 4 x 1", "a b c", *made)
    assert set(forms(plan)) == {Form.STREAM}
    assert len({use.positions for use in plan.uses}) == 1


def test_filters_that_count_other_slices_are_not_shared() -> None:
    made = [all_to_all("a", 4), all_to_all("b", 8)]
    plan = planned("wse3", "grid g = 4 x 1", "a b", *made)
    assert Form.STEPS in forms(plan)


def test_calls_beside_each_other_on_pes_apart_stream() -> None:
    grids = "grid g = 8 x 1\ngrid p = g[0 .. 3, 0]\ngrid o = g[4 .. 7, 0]"
    made = all_to_all("a", 4, "p"), all_to_all("b", 4, "o")
    assert set(forms(planned("wse2", grids, "a and b", *made))) == {Form.STREAM}
