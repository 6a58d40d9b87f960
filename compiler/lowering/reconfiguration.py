"""What there is on a PE only because colors are torn down, in bytes of code and data, estimated.

Instructions were counted in programs that fabsim compiled both ways, with colors torn down and with
colors of their own; the estimate is a little above the difference (docs/programs.md, "Memory").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from collc.identity import remembered
from collc.lowering.configuration import setters, torn_down_by
from collc.lowering.memory import INSTRUCTION_BYTES
from collc.lowering.resources import switched_colors
from collc.plan import ColorUse, Direction, Role, Strided
from collc.program import ProgramPlan, Use

WORD_BYTES = 2


@dataclass(frozen=True)
class TeardownCode:
    """Instructions for every program, phase, phase made of steps besides, setting of routers that
    one or several phases have, router that is set on a PE, and register of a switch that is written
    there; where the library is asked, once if a switch moves on the PE, and for every way that one
    moves. Bytes that are kept for every program, and for every router of a setting and its switch.
    """

    program: int
    phase: int
    steps: int
    setting: int
    router: int
    switch: int
    some_switch: int = 0
    way: int = 0
    program_bytes: int = 4
    router_bytes: int = 0
    switch_bytes: int = 0


BY_REGISTERS = TeardownCode(program=28, phase=9, steps=20, setting=6, router=9, switch=1)
BY_LIBRARY = TeardownCode(
    program=81,
    phase=10,
    steps=20,
    setting=7,
    router=4,
    switch=4,
    some_switch=25,
    way=5,
    program_bytes=26,
    router_bytes=WORD_BYTES,
    switch_bytes=WORD_BYTES,
)


@dataclass(frozen=True)
class _Setting:
    """A router that a phase sets: its color's position, and how its switch moves."""

    color: int
    way: tuple[str, Direction] | None


@remembered
def reconfiguration_bytes(plan: ProgramPlan) -> int:
    """The estimate for the PE that needs most, of all strands together; 0 if nothing is torn
    down."""
    return sum(_of_strand(strand) for strand in plan.strands or (plan,))


def _of_strand(plan: ProgramPlan) -> int:
    torn = [use for use in plan.uses if torn_down_by(plan, use)]
    if not torn:
        return 0
    code = BY_REGISTERS if plan.target.registers_known else BY_LIBRARY
    made_of_steps = sum(plan.phase(use).exchange is not None for use in torn)
    setting = [plan.uses[i] for i in dict.fromkeys(setters(plan)) if plan.uses[i] in torn]
    instructions = code.program + code.phase * len(torn) + code.steps * made_of_steps
    # what chooses by length has a copy of the code that sets routers
    times = 2 if plan.program.selections else 1
    instructions += times * code.setting * len(setting) + _on_a_pe(plan, setting, code, times)
    routers = [(use, name) for use in setting for name in torn_down_by(plan, use)]
    switched = any(name in switched_colors([plan.phase(use)]) for use, name in routers)
    data = len(routers) * (code.router_bytes + code.switch_bytes * switched)
    return INSTRUCTION_BYTES * instructions + code.program_bytes + data


def _on_a_pe(plan: ProgramPlan, setting: Sequence[Use], code: TeardownCode, times: int) -> int:
    """Instructions for routers and switches, of the PE that has most of them. Where the phases lie
    on several rectangles, or along paths, there need be no such PE."""
    lying: dict[tuple[object, ...], list[Use]] = {}
    for use in setting:
        one = plan.plans[use.collective].collective
        lying.setdefault((one.grid, one.path), []).append(use)
    return sum(
        max(_instructions(settings, code, times) for settings in _on_pes(plan, uses))
        for uses in lying.values()
    )


def _instructions(settings: Sequence[_Setting], code: TeardownCode, times: int) -> int:
    moving = {one.color for one in settings if one.way}
    ways = {one.way for one in settings if one.way}
    written = sum(one.color in moving for one in settings)
    instructions = code.router * len(settings) + code.switch * written
    return times * instructions + code.some_switch * bool(ways) + code.way * len(ways)


def _on_pes(plan: ProgramPlan, uses: Sequence[Use]) -> Iterator[list[_Setting]]:
    """What these phases set on each PE of their rectangle, of PEs that are alike once."""
    regions = [
        (region.x, region.y, _settings(plan, use, plan.phase(use).roles[index]))
        for use in uses
        for region, index in plan.phase(use).regions
    ]
    columns, rows = _alike(x for x, _, _ in regions), _alike(y for _, y, _ in regions)
    settings_in: dict[Strided, list[tuple[Strided, list[_Setting]]]] = {}
    for x, y, settings in regions:
        settings_in.setdefault(x, []).append((y, settings))
    for column, row in product(columns, rows):
        yield [
            one for x in column for y, settings in settings_in[x] if y in row for one in settings
        ]


def _alike(runs: Iterable[Strided]) -> set[frozenset[Strided]]:
    """The distinct sets of runs that coordinates are in."""
    having: dict[int, list[Strided]] = {}
    for run in dict.fromkeys(runs):
        for place in run:
            having.setdefault(place, []).append(run)
    return set(map(frozenset, having.values()))


def _settings(plan: ProgramPlan, use: Use, role: Role) -> list[_Setting]:
    """What a PE of a role sets."""
    position = dict(use.positions)
    return [
        _Setting(position[one.color], _way(one))
        for one in role.colors
        if plan.colors[position[one.color]].torn_down
    ]


def _way(use: ColorUse) -> tuple[str, Direction] | None:
    """How a switch moves: the way that changes, and to which side; None if it does not."""
    first, last = use.positions[0], use.positions[-1]
    if len(use.positions) == 1:
        return None
    if first.receive is not last.receive:
        return "rx", last.receive
    return "tx", last.send[0]
