"""The colors of a program as the templates see them."""

from collections.abc import Iterator

from collc.base.values import dataclass
from collc.emit.multiplexed import color_mask
from collc.emit.registers import of_color
from collc.plan import Phase
from collc.plan.configuration import is_switched
from collc.plan.form import Form, form_of
from collc.plan.placement import received_colors, sent_colors
from collc.plan.plan import ProgramPlan
from collc.plan.stream_ends import streams_of


@dataclass(frozen=True)
class ColorModel:
    """A color of the program: its bit among those of the program, the conditions that this PE
    receives on it, and sends, each true if one of them is, and whether some phase changes switch
    positions on it; conditions on (x, y) that position 1 changes the sending side; the register
    that sends control wavelets, where colors have one. `ended` is the task that is blocked until
    the color is torn down, where phases end so."""

    index: int
    number: int
    torn_down: bool
    mask: str
    receives: tuple[str, ...]
    sends: tuple[str, ...]
    switched: str
    turns_output: tuple[str, ...]
    control: str
    ended: str


def color_models(plan: ProgramPlan) -> Iterator[ColorModel]:
    """The colors of a program, in order."""
    first = min((k for k, color in enumerate(plan.colors) if color.torn_down), default=0)
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
        yield ColorModel(
            index=index,
            number=color.number,
            torn_down=color.torn_down,
            mask=color_mask(index),
            receives=tuple(receives) or ("false",),
            sends=tuple(sends) or ("false",),
            switched="true" if is_switched(plan, index) else "false",
            turns_output=tuple(_turning_outputs(plan, index)) if color.torn_down else (),
            control=of_color("dsr_dest", "", [index]),
            ended=f"color_{index}_ended" if index > first else "phase_done",
        )


def _turning_outputs(plan: ProgramPlan, index: int) -> Iterator[str]:
    """For each phase in which routers change the side they send to on a color, that one does."""
    for use in plan.uses:
        phase, module = plan.phase(use), plan.plans[use.collective].collective.name
        for name, k in use.positions:
            uses = (of for role in phase.roles for of in role.colors if of.color == name)
            if k == index and any(of.turns_output for of in uses):
                yield f"{module}.{phase.name}_routers(x, y).{name}.pos1_changes_tx"


def _conditions(phase: Phase, module: str, way: str, names: set[str], index: int) -> Iterator[str]:
    """That a PE receives (or sends) on a color of the program in one phase."""
    colors_of_role = received_colors if way == "in" else sent_colors
    if not any(names & set(colors_of_role(role)) for role in phase.roles):
        return
    verb = "receives" if way == "in" else "sends"
    for lane in phase.lanes if form_of(phase).is_cut else ("",):
        of = f"{module}.{phase.name}.{lane}_" if lane else f"{module}.{phase.name}."
        does = f"{of}{verb}"
        if way == "in" and _combines_on_the_way(phase, lane):
            does = f"({does} or {of}through)"
        yield f"({does} and ({of}queue_{way} == {index}))"


def _combines_on_the_way(phase: Phase, lane: str) -> bool:
    """Whether some PE combines what arrives on a lane as it leaves, and keeps none of it."""
    found = (
        (streams_of(role).get(lane) for role in phase.roles)
        if form_of(phase) is Form.STREAM
        else ()
    )
    streams = (stream for stream in found if stream is not None)
    return any(stream.through and stream.receives is None for stream in streams)
