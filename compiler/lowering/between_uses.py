"""What happens to each color of a program between two uses, and why: as values, text and data."""

from collections.abc import Iterator
from typing import Any

from collc.base.values import dataclass
from collc.plan.configuration import configurations, differing
from collc.plan.plan import ProgramPlan, SharedColor, Use
from collc.spec import Reconfigure


@dataclass(frozen=True)
class BetweenUses:
    """A color of a program, the labels of its uses, and `why` it is torn down behind each of them
    or stays as it is. `switches_back` says that it has switches, which are set back behind the last
    vector of a use."""

    color: SharedColor
    why: str
    switches_back: bool
    used_by: tuple[str, ...]

    def show(self) -> str:
        """A line on the color."""
        color = self.color
        how = "torn down behind each use" if color.torn_down else "stays as it is"
        back = ", and its switches are set back behind the last vector"
        through = " (queues {} and {})".format(*color.queues) if color.queues else ""
        return (
            f"color {color.number}{through}: {how}, "
            f"since {self.why}{back * self.switches_back}: {', '.join(self.used_by)}"
        )

    def as_data(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "number": self.color.number,
            **(dict(zip(("input_queue", "output_queue"), self.color.queues or (), strict=False))),
            "torn_down": self.color.torn_down,
            "switches_back": self.switches_back,
            "why": self.why,
            "used_by": list(self.used_by),
        }


def between_uses(plan: ProgramPlan) -> Iterator[BetweenUses]:
    """Every color of a program."""
    for index, color in enumerate(plan.colors):
        sets = configurations(plan, index)
        uses = [use for use, _ in sets]
        alike = len({one for _, one in sets}) == 1
        why = _torn_down(plan, index, uses) if color.torn_down else _stays(plan, uses, alike)
        moves = any(len(routes) > 1 for _, one in sets for routes in one.settings)
        labels = tuple(map(plan.label, uses))
        yield BetweenUses(color, why, moves and not color.torn_down, labels)


def _torn_down(plan: ProgramPlan, color: int, uses: list[Use]) -> str:
    if plan.program.reconfigure is Reconfigure.TEARDOWN:
        return "the program says so"
    found = differing(plan, color)
    if found is not None:
        one, other, how = found
        who = f"{plan.label(one)} and {plan.label(other)}"
        return f"{who} {how}"
    beside, number = next(
        (use, plan.colors[k].number)
        for use in uses
        for _, k in use.positions
        if k != color and plan.colors[k].torn_down
    )
    return f"{plan.label(beside)} has color {number} torn down, too"


def _stays(plan: ProgramPlan, uses: list[Use], alike: bool) -> str:
    if len(uses) > 1:
        apart = "" if alike else ", or have none in common"
        return f"its {len(uses)} uses set its routers alike{apart}"
    calls = _calls(plan, uses[0])
    if calls == 1:
        return "it has one use, which is called once"
    return f"it has one use, whose {calls} calls set its routers alike"


def _calls(plan: ProgramPlan, use: Use) -> int:
    """How often a use is called in a run, at most: a choice by length may always take another."""
    program, name = plan.program, plan.plans[use.collective].collective.name
    called = next((call for call, names in program.alternatives.items() if name in names), name)
    return program.rounds * program.calls.count(called)
