"""What phases set routers to: whether two uses of a color do so alike, at every PE, or have no
router in common."""

from collections.abc import Iterator, Sequence

import numpy as np

from collc.base.columns import Bools
from collc.base.grids import Grid
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.plan import ColorUse, Phase, Route, filters_of
from collc.plan.pe_masks import routing
from collc.plan.placement import switched_colors
from collc.plan.plan import ProgramPlan, Use
from collc.spec import Collective


@dataclass(frozen=True)
class Configuration:
    """The routers of a color in one phase: the distinct settings, and for each PE, row by row,
    which of them it has, 0 for none. Of a grid that lies on another one `place` says where, and
    `corner` where its first PE is; with a `path` PEs are places on it. `filters` are those of
    streams, with the slices that they count."""

    place: tuple[object, ...]
    corner: tuple[int, int]
    path: Path | None
    width: int
    settings: tuple[tuple[Route | str, ...], ...]
    of_pes: bytes
    filters: tuple[object, ...] = ()

    def at(self, pe: int) -> tuple[Route | str, ...]:
        """The positions of one PE's router, and whether they are a ring."""
        number = self.of_pes[pe]
        return self.settings[number - 1] if number else ()

    def name_of(self, pe: int) -> str:
        """`PE (3, 0)`, as the whole grid counts it; of lines that are alike, on the first one."""
        x, y = self.path.places[pe] if self.path else (pe % self.width, pe // self.width)
        return f"PE ({x + self.corner[0]}, {y + self.corner[1]})"


def configuration(collective: Collective, phase: Phase, color: str) -> Configuration:
    """How a phase sets the routers of one of its symbolic colors."""
    settings = tuple(sorted(set(_settings(phase, color)), key=str))
    lined = collective.lined if phase.path else collective.grid
    of_pes = np.zeros((lined.height, lined.width), dtype=np.uint8)
    for region, index in phase.regions:
        for used in phase.roles[index].colors:
            if used.color == color:
                number = settings.index(_set(used)) + 1
                of_pes[np.ix_(list(region.y), list(region.x))] = number
    place, site = _place(collective.grid), collective.grid.site
    corner = (site.x, site.y) if site else (0, 0)
    contract = collective.contract
    of = (contract.element, contract.run_length, phase.slicing, phase.blocks)
    found = (filters_of(role).get(color) for role in phase.roles)
    filters = tuple((*of, counter) for counter in found if counter)
    return Configuration(
        place, corner, phase.path, lined.width, settings, of_pes.tobytes(), filters
    )


def _settings(phase: Phase, color: str) -> Iterator[tuple[Route | str, ...]]:
    for role in phase.roles:
        yield from (_set(use) for use in role.colors if use.color == color)


def _set(use: ColorUse) -> tuple[Route | str, ...]:
    """All that is set at a router of a color."""
    return (*use.positions, *("ring" for _ in range(use.ring)))


def _place(grid: Grid) -> tuple[object, ...]:
    """Where a grid lies, whatever it is called."""
    site = grid.site
    if site is None:
        return grid.width, grid.height
    return grid.width, grid.height, site.x, site.y, site.lines, site.copies


def configurations(plan: ProgramPlan, color: int) -> list[tuple[Use, Configuration]]:
    """The uses of a color of the program, each with what it sets."""
    return [
        (use, configuration(plan.plans[use.collective].collective, plan.phase(use), name))
        for use in plan.uses
        for name, k in use.positions
        if k == color
    ]


Setting = tuple[Collective, Phase, str]  # a phase of a collective, and one of its colors


def differing(plan: ProgramPlan, color: int) -> tuple[Use, Use, str] | None:
    """Two uses of a color that have routers in common and do not set all of theirs alike, and what
    they do instead, in words; None if there are none."""
    uses = [(use, name) for use in plan.uses for name, k in use.positions if k == color]
    settings = [
        (plan.plans[use.collective].collective, plan.phase(use), name) for use, name in uses
    ]
    found = first_differing(settings)
    if found is None:
        return None
    one, other = (configuration(*settings[i]) for i in found)
    first, second = (uses[i][0] for i in found)
    return first, second, _unlike((plan.label(first), one), (plan.label(second), other))


def first_differing(settings: Sequence[Setting]) -> tuple[int, int] | None:
    """The first two of these that have routers in common and do not set all of theirs alike."""
    distinct: dict[Configuration, tuple[int, Bools]] = {}
    for index, (collective, phase, name) in enumerate(settings):
        own = configuration(collective, phase, name)
        if own in distinct:
            continue
        routers = routing(collective, phase)[name]
        for before, others in distinct.values():
            if bool((routers & others).any()):
                return before, index
        distinct[own] = index, routers
    return None


def _unlike(first: tuple[str, Configuration], second: tuple[str, Configuration]) -> str:
    """What two uses, each with its label, do not do alike: at the first PE whose router both set,
    and otherwise; else at the first one whose router only one of them sets. PEs are those of the
    whole grid."""
    (label, one), (_, other) = first, second
    if (one.place, one.path) != (other.place, other.path):
        how = (
            "on other PEs, such as"
            if one.place != other.place
            else "along another path, such as at"
        )
        there = other.name_of(next(pe for pe, has in enumerate(other.of_pes) if has))
        return f"set its routers differently {how} {there}"
    unlike = [pe for pe in range(len(one.of_pes)) if one.at(pe) != other.at(pe)]
    both = next((pe for pe in unlike if one.at(pe) and other.at(pe)), None)
    if both is not None:
        return f"set its routers differently at {one.name_of(both)}"
    if not unlike:
        return "set its filters differently"
    only = label if one.at(unlike[0]) else second[0]
    return f"do not set the same routers: only {only} sets that of {one.name_of(unlike[0])}"


def torn_down_by(plan: ProgramPlan, use: Use) -> tuple[str, ...]:
    """The symbolic colors of a use that are torn down, in order."""
    return tuple(sorted(name for name, k in use.positions if plan.colors[k].torn_down))


def is_switched(plan: ProgramPlan, color: int) -> bool:
    """Whether some phase changes switch positions on a color of the program."""
    return any(
        k == color and name in switched_colors([plan.phase(use)])
        for use in plan.uses
        for name, k in use.positions
    )


def setters(plan: ProgramPlan) -> tuple[int, ...]:
    """For each use the first one that sets routers as it does, which may be itself: one piece of
    code for both. The order of symbolic colors is that of registers, so it has to be the same."""
    first: dict[tuple[object, ...], int] = {}
    found = []
    for index, use in enumerate(plan.uses):
        torn = torn_down_by(plan, use)
        found.append(first.setdefault(_sets(plan, use, torn), index) if torn else index)
    return tuple(found)


def _sets(plan: ProgramPlan, use: Use, names: Sequence[str]) -> tuple[object, ...]:
    collective, position = plan.plans[use.collective].collective, dict(use.positions)
    phase = plan.phase(use)
    return tuple((position[name], configuration(collective, phase, name)) for name in names)


def set_before(plan: ProgramPlan) -> tuple[frozenset[str], ...]:
    """For each use its colors that are not torn down and that an earlier use has set alike."""
    found, stay = [], set[tuple[int, Configuration]]()
    for use in plan.uses:
        collective, phase = plan.plans[use.collective].collective, plan.phase(use)
        for_good = {
            name: (k, configuration(collective, phase, name))
            for name, k in use.positions
            if not plan.colors[k].torn_down
        }
        found.append(frozenset(name for name, setting in for_good.items() if setting in stay))
        stay |= set(for_good.values())
    return tuple(found)
