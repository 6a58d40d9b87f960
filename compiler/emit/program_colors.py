"""The colors of a program as the templates see them, and the routers that phases set on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from collc.emit.registers import of_color
from collc.lowering.configuration import setters, torn_down_by
from collc.lowering.resources import switched_colors
from collc.placement import received_colors, sent_colors
from collc.plan import Phase
from collc.program import ProgramPlan, Use


@dataclass(frozen=True)
class ColorModel:
    """A color of the program: the conditions that this PE receives on it, and sends, and that its
    switch moves here in some phase; the register that sends control wavelets, where colors have
    one."""

    index: int
    number: int
    torn_down: bool
    receives: str
    sends: str
    moves: str
    control: str


def color_models(plan: ProgramPlan) -> Iterator[ColorModel]:
    """The colors of a program, in order."""
    for index, color in enumerate(plan.colors):
        receives: list[str] = []
        sends: list[str] = []
        for use in plan.uses:
            names = {name for name, k in use.positions if k == index}
            if names:
                phase = plan.phase(use)
                module = plan.plans[use.collective].collective.name
                receives += _conditions(phase, module, "in", names, index)
                sends += _conditions(phase, module, "out", names, index)
        moves = [f"({r}.moves_rx or {r}.moves_tx)" for r in moving_routers(plan, index)]
        conditions = (_any(receives), _any(sends), _any(moves))
        control = of_color("dsr_dest", "", [index])
        yield ColorModel(index, color.number, color.torn_down, *conditions, control)


def _conditions(phase: Phase, module: str, way: str, names: set[str], index: int) -> Iterator[str]:
    """That a PE receives (or sends) on a color of the program in one phase."""
    colors_of_role = received_colors if way == "in" else sent_colors
    if not any(names & set(colors_of_role(role)) for role in phase.roles):
        return
    verb = "receives" if way == "in" else "sends"
    for lane in phase.exchange.lanes if phase.exchange else ("",):
        of = f"{module}.{phase.name}.{lane}_" if lane else f"{module}.{phase.name}."
        yield f"({of}{verb} and ({of}queue_{way} == {index}))"


def _any(conditions: list[str]) -> str:
    return " or ".join(conditions) or "false"


def routers_of(plan: ProgramPlan) -> Iterator[str]:
    """What phases set of a PE, as values of its parameters: for every color that is torn down of
    every use, but for those that do as another one does."""
    for use in _setting(plan):
        yield from _routers(plan, use, torn_down_by(plan, use))


def moving_routers(plan: ProgramPlan, color: int | None = None) -> Iterator[str]:
    """Those of them whose switch moves on some PE; of one color, or of all."""
    for use in _setting(plan):
        position, switched = dict(use.positions), switched_colors([plan.phase(use)])
        yield from _routers(
            plan,
            use,
            (
                name
                for name in torn_down_by(plan, use)
                if name in switched and color in {None, position[name]}
            ),
        )


def _setting(plan: ProgramPlan) -> Iterator[Use]:
    return (plan.uses[i] for i in dict.fromkeys(setters(plan)))


def _routers(plan: ProgramPlan, use: Use, names: Iterable[str]) -> Iterator[str]:
    module = plan.plans[use.collective].collective.name
    yield from (f"params.{module}.{plan.phase(use).name}_routers.{name}" for name in names)
