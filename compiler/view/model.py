"""What the viewer shows of a program, as plain data: plan, prediction, and the account of a run.

All coordinates are those of the whole grid; the form is described in docs/viewer.md.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from collc.base.diagnostics import Span, shown
from collc.base.grids import Grid, Lines
from collc.base.paths import Path, Pe
from collc.base.values import dataclass
from collc.base.version import __version__
from collc.cost.show import wait_words
from collc.machine.prediction import Prediction
from collc.plan import ColorUse, Direction, Phase, Plan, Region, Role, Route, Strided
from collc.plan.one_call import called_once
from collc.plan.plan import ProgramPlan
from collc.plan.show import show_lane
from collc.run import RunReport
from collc.schedule import Schedule
from collc.spec import Spec
from collc.target import TARGETS
from collc.tuning.cost_terms import terms_of

ViewData = dict[str, Any]
VERSION = 1
_ONCE = ("once", "1 times, 0 slices on")  # how a plan says that something is no loop


class Viewed(Protocol):
    """What a page shows of a program; every bundle is one."""

    @property
    def spec(self) -> Spec:
        """What its file says."""

    @property
    def program(self) -> ProgramPlan:
        """How it is done."""

    @property
    def plans(self) -> tuple[Plan, ...]:
        """How each collective is done."""

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """What each collective does."""

    @property
    def prediction(self) -> Prediction:
        """What it is to take."""

    @property
    def files(self) -> Mapping[str, str]:
        """What is emitted."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of PEs."""

    @property
    def memory_bytes(self) -> int:
        """Memory of the largest PE class."""

    def run(self, *, seed: int) -> RunReport:
        """Run the emitted text on fabsim."""


@dataclass(frozen=True)
class Observed:
    """A run as the viewer shows it: its report, or the `problem` that kept it from coming to an
    end, and its binary trace. Where there was no run, `note` may say why."""

    report: RunReport | None = None
    problem: str = ""
    trace: bytes = b""
    note: str = ""


def view_data(bundle: Viewed, source: str, seen: Observed) -> ViewData:
    """One program for the viewer; `source` is the text of its file."""
    width, height = bundle.size
    phases = [_phase(plan, phase) for plan in bundle.plans for phase in plan.phases]
    return {
        "version": VERSION,
        "generator": f"collc {__version__}",
        "name": shown(bundle.spec.file),
        "target": bundle.spec.target,
        "parameters": {p.name: p.value for p in bundle.spec.parameters},
        "grid": [width, height],
        "sources": _sources(bundle, source),
        "phases": phases,
        "calls": _calls(bundle),
        "colors": _colors(bundle),
        "memory_bytes": bundle.memory_bytes,
        "prediction": _prediction(bundle),
        "run": _run(seen),
        "note": seen.note,
    }


def _sources(bundle: Viewed, source: str) -> dict[str, str]:
    """The texts that places are in: the file, and the emitted CSL."""
    emitted = {name: text for name, text in bundle.files.items() if name.endswith(".csl")}
    return {shown(bundle.spec.file): source, **emitted}


def _calls(bundle: Viewed) -> list[int]:
    """The phases of a round, in order, as indices."""
    firsts, count = [], 0
    for plan in bundle.plans:
        firsts.append(range(count, count + len(plan.phases)))
        count += len(plan.phases)
    return [phase for call in bundle.program.calls for phase in firsts[call]]


def _colors(bundle: Viewed) -> list[dict[str, Any]]:
    """Every color by number, with the names it has in the plans."""
    names: dict[int, list[str]] = {}
    for plan in bundle.plans:
        for name, number in plan.colors:
            names.setdefault(number, []).append(f"{plan.collective.name}.{name}")
    return [{"number": number, "names": found} for number, found in sorted(names.items())]


def _phase(plan: Plan, phase: Phase) -> dict[str, Any]:
    numbers, span = dict(plan.colors), phase.span
    grid = plan.collective.grid
    placed = (
        _placed_on_path(phase, phase.path)
        if phase.path is not None
        else [_Placed(role, phase.roles[role].colors, region) for region, role in phase.regions]
    )
    classes: dict[tuple[int, tuple[ColorUse, ...]], int] = {}
    regions = [
        {
            "class": classes.setdefault((one.role, one.colors), len(classes)),
            **_region(one.region, grid),
        }
        for one in placed
    ]
    return {
        "name": phase.name,
        "collective": plan.collective.name,
        "about": phase.about,
        "at": _lines_of(span),
        "classes": [_class(phase.roles[role], uses, numbers) for role, uses in classes],
        "regions": regions,
    }


def _class(role: Role, uses: tuple[ColorUse, ...], numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "name": role.name,
        "about": role.about,
        "text": _text(role),
        "colors": [
            {
                "color": numbers[use.color],
                "name": use.color,
                "positions": [
                    {"receive": route.receive.value, "send": [side.value for side in route.send]}
                    for route in use.positions
                ],
            }
            for use in uses
        ],
    }


def _text(role: Role) -> list[str]:
    """What a role does, line by line; the name of a lane where there are several."""
    found = []
    for lane in role.lanes:
        found += [f"lane {lane.name}"] if len(role.lanes) > 1 else []
        lines = show_lane(lane).splitlines()
        found += [line.strip() for line in lines if line not in _ONCE]
    return found


def _lines_of(span: Span) -> dict[str, Any]:
    """The lines of a file that something is from."""
    return {"file": shown(span.file), "line": span.line, "end_line": span.end_line}


def _region(region: Region, grid: Grid) -> dict[str, list[int]]:
    """A region on the whole grid; of a collective on each line, on all of them."""
    x, y, site = region.x, region.y, grid.site
    if site is not None:
        x, y = x.shifted(site.x), y.shifted(site.y)
    if site is not None and site.area is not None:
        if site.lines is Lines.ROW:
            y = Strided(site.y, site.y + site.area.height - 1)
        else:
            x = Strided(site.x, site.x + site.area.width - 1)
    return {"x": _strided(x), "y": _strided(y)}


def _strided(run: Strided) -> list[int]:
    return [run.first, run.last, run.step, run.period, run.repeats]


def _prediction(bundle: Viewed) -> dict[str, Any]:
    found: Prediction = bundle.prediction
    return {
        "cycles": found.cycles,
        "bound": found.bound,
        "gap": found.gap,
        "breakdown": list(found.breakdown.items()),
        "terms": _terms(bundle),
        "path": [
            {
                "phase": path.phase,
                "at": _lines_of(path.at),
                "waits": [
                    {"rank": wait.rank, "what": wait.what, "text": wait_words(wait)}
                    for wait in path.waits
                ],
            }
            for path in found.critical_path
        ],
    }


def _terms(bundle: Viewed) -> list[tuple[str, int]]:
    """What predicted cycles go into; of several calls the model does not say."""
    if called_once(bundle.program) is None or not bundle.schedules[0].phases:
        return []
    target = TARGETS[bundle.spec.target]
    return list(terms_of(bundle.schedules[0], bundle.prediction.cycles, target).named())


def _run(seen: Observed) -> dict[str, Any] | None:
    """The account of a run; none where there was no run."""
    if seen.report is None and not seen.problem:
        return None
    report = seen.report
    return {
        "cycles": report.cycles if report else None,
        "start_cycle": report.start_cycle if report else 0,
        "verified": bool(report and report.verified),
        "problem": report.problem if report else seen.problem,
    }


_SIDES = {
    (1, 0): Direction.EAST,
    (-1, 0): Direction.WEST,
    (0, 1): Direction.SOUTH,
    (0, -1): Direction.NORTH,
}


@dataclass(frozen=True)
class _Placed:
    """PEs of one role whose routers are set alike: the role's index, the settings, the PEs."""

    role: int
    colors: tuple[ColorUse, ...]
    region: Region


def _placed_on_path(phase: Phase, path: Path) -> list[_Placed]:
    """Every PE of a path, place by place, with the settings that it has on the grid."""
    through = _through(phase)
    roles = [(place, role) for region, role in phase.regions for place in region.x if 0 in region.y]
    return [
        _Placed(role, _route_colors(phase, role, path, place, through), _alone(path.places[place]))
        for place, role in sorted(roles)
    ]


def _alone(pe: Pe) -> Region:
    return Region(Strided(pe[0], pe[0]), Strided(pe[1], pe[1]))


def _through(phase: Phase) -> dict[Pe, dict[str, Route]]:
    """What is set for the detours of a path that is not contiguous, by PE and color."""
    found: dict[Pe, dict[str, Route]] = {}
    for detour in phase.detours:
        for pe, route in detour.routes:
            found.setdefault(pe, {})[detour.color] = route
    return found


def _route_colors(
    phase: Phase, role: int, path: Path, place: int, through: dict[Pe, dict[str, Route]]
) -> tuple[ColorUse, ...]:
    sides = {
        Direction.WEST: _side(path, place, place - 1),
        Direction.EAST: _side(path, place, place + 1),
    }
    # colors that gap are set by the routes between places alone
    noncontiguous = {detour.color for detour in phase.detours}
    uses = {
        use.color: ColorUse(use.color, tuple(_turned(one, sides) for one in use.positions))
        for use in phase.roles[role].colors
        if use.color not in noncontiguous
    }
    here = through.get(path.places[place], {})
    uses |= {color: ColorUse(color, (route,)) for color, route in here.items()}
    return tuple(uses[name] for name in sorted(uses))


def _turned(route: Route, sides: dict[Direction, Direction]) -> Route:
    receive = sides.get(route.receive, route.receive)
    return Route(receive, tuple(sides.get(side, side) for side in route.send))


def _side(path: Path, place: int, other: int) -> Direction:
    """The side on which the way from a place to another leaves it; beyond an end it does not."""
    if not 0 <= other < len(path):
        return Direction.WEST if other < place else Direction.EAST
    here, there = path.way(place, other)[:2]
    return _SIDES[there[0] - here[0], there[1] - here[1]]
