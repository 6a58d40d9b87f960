"""What there is on a PE only because colors are torn down, in bytes of code and data, estimated.

Instructions were counted in programs that fabsim compiled both ways, with colors torn down and with
colors of their own; the estimate is a little above the difference (docs/program-costs.md,
"Memory").
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.lowering.memory import INSTRUCTION_BYTES
from collc.plan import Role, Route, Strided
from collc.plan.configuration import is_switched, setters, torn_down_by
from collc.plan.plan import ProgramPlan, Use


@dataclass(frozen=True)
class TeardownCode:
    """Instructions for every program, time-multiplexed color, phase, setting of routers that one or
    several phases have, router that is set on a PE, and route of these that differs from the
    others; for the library's code where a route has several outputs, where switch positions change
    on a color, and for every router that is set there. Bytes that are kept for every program."""

    program: int = 37
    color: int = 2
    phase: int = 19
    setting: int = 2
    router: int = 5
    route: int = 13
    outputs: int = 10
    switch: int = 35
    switched: int = 3
    program_bytes: int = 8


CODE = TeardownCode()


@dataclass(frozen=True)
class _Setting:
    """A router that a phase sets: its route, and whether it is on a color on which switch positions
    change."""

    route: Route
    switched: bool


@memoized
def reconfiguration_bytes(plan: ProgramPlan) -> int:
    """The estimate for the PE that needs most, of all call streams together; 0 if nothing is torn
    down."""
    return sum(_of_call_stream(call_stream) for call_stream in plan.call_streams or (plan,))


def _of_call_stream(plan: ProgramPlan) -> int:
    torn = [use for use in plan.uses if torn_down_by(plan, use)]
    if not torn:
        return 0
    setting = [plan.uses[i] for i in dict.fromkeys(setters(plan)) if plan.uses[i] in torn]
    instructions = CODE.program + CODE.phase * len(torn)
    instructions += CODE.color * sum(color.torn_down for color in plan.colors)
    instructions += CODE.setting * len(setting) + _on_a_pe(plan, setting)
    return INSTRUCTION_BYTES * instructions + CODE.program_bytes


def _on_a_pe(plan: ProgramPlan, setting: Sequence[Use]) -> int:
    """Instructions for routers and switches, of the PE that has most of them. Where the phases lie
    on several rectangles, or along paths, there need be no such PE."""
    lying: dict[tuple[object, ...], list[Use]] = {}
    for use in setting:
        one = plan.plans[use.collective].collective
        lying.setdefault((one.grid, one.path), []).append(use)
    return sum(max(map(_instructions, _on_pes(plan, uses)), default=0) for uses in lying.values())


def _instructions(settings: Sequence[_Setting]) -> int:
    routes = {one.route for one in settings}
    several = {len(route.send) for route in routes} - {1}
    switched = sum(one.switched for one in settings)
    routers = CODE.router * len(settings) + CODE.route * len(routes) + CODE.switched * switched
    return routers + CODE.outputs * len(several) + CODE.switch * bool(switched)


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
        _Setting(one.positions[0], is_switched(plan, position[one.color]))
        for one in role.colors
        if plan.colors[position[one.color]].torn_down
    ]
