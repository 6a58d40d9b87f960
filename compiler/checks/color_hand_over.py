"""What messages about colors that are handed over have to name: the PE, the color, and who is next.

A proof of reconfiguration that fails is about two collectives, one after the other on a color.
`InProgram` is one phase as the program sees it; it names its PEs, as the whole grid counts them,
its colors, by symbol and number, and the phase that has a color after it.
"""

from collections import Counter
from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic, Span
from collc.base.values import dataclass
from collc.plan import Direction, Phase, Role
from collc.plan.configuration import differing
from collc.plan.placement import colors_of
from collc.plan.plan import ProgramPlan, Use
from collc.spec import Collective

HELP = "the compiler decides how colors are handed over, not the program; please report this"


def pe_of(collective: Collective, phase: Phase, x: int, y: int) -> str:
    """The PE at (x, y) of a phase, which on a path is the place x, as the whole grid counts it."""
    if phase.path is not None:
        if not 0 <= x < len(phase.path):
            return "a place beyond the end of the path"
        x, y = phase.path.places[x]
    site = collective.grid.site
    dx, dy = (site.x, site.y) if site else (0, 0)
    return f"PE ({x + dx}, {y + dy})"


def played(phase: Phase) -> Iterator[tuple[Role, int, int]]:
    """The roles that PEs of a phase have, each with the coordinates of the first of these PEs, row
    by row."""
    first: dict[int, tuple[int, int]] = {}
    for region, role in phase.regions:
        here = region.y.first, region.x.first
        first[role] = min(here, first.get(role, here))
    for role, (y, x) in sorted(first.items()):
        yield phase.roles[role], x, y


@dataclass(frozen=True)
class InProgram:
    """A phase of a collective of a program."""

    plan: ProgramPlan
    use: Use

    @property
    def phase(self) -> Phase:
        """What its PEs do."""
        return self.plan.phase(self.use)

    @property
    def span(self) -> Span:
        """What they are to do."""
        return self.plan.phase(self.use).span

    @property
    def name(self) -> str:
        """`c0.reduce`, quoted."""
        return f"`{self.plan.label(self.use)}`"

    def pe(self, x: int, y: int) -> str:
        """The PE at (x, y) of the phase."""
        return pe_of(self.plan.plans[self.use.collective].collective, self.phase, x, y)

    def neighbor(self, x: int, y: int, way: Direction) -> str:
        """The PE next to the one at (x, y), on one side of it."""
        dx, dy = way.step
        return self.pe(x + dx, y + dy)

    def color(self, symbol: str) -> str:
        """`color 4 (`reduce_even`)`."""
        return f"color {self.number(symbol)} (`{symbol}`)"

    def number(self, symbol: str) -> int:
        """The number of a symbolic color that it has."""
        return self.plan.colors[dict(self.use.positions)[symbol]].number

    def following(self, color: int | None) -> Use | None:
        """The use that comes after this one, of a color of the program if one is given; None if
        that is the last."""
        ahead = (u for u in self._ahead() if color in (None, *dict(u.positions).values()))
        return next(ahead, None)

    def _ahead(self) -> Iterator[Use]:
        """The uses after this one, in the order of calls, up to its own in the next round."""
        program = self.plan.program
        own = self.plan.plans[self.use.collective].collective.name
        alternatives = program.alternatives
        called = [
            self.use.collective if own in alternatives.get(call, (call,)) else longest
            for call, longest in zip(program.calls, self.plan.calls, strict=True)
        ]
        one_round = [use for index in called for _, use in self.plan.uses_of(index)]
        place = one_round.index(self.use)
        yield from one_round[place + 1 :]
        yield from one_round[: place + 1] if program.rounds > 1 else ()

    def next_on(self, color: int | None) -> str:
        """Who comes next, on a color if one is given, as the subject of a sentence about it."""
        use, on = self.following(color), "" if color is None else " on this color"
        if use is None:
            return f"whatever is called next{on}"
        again = " in its next call" if use == self.use else ""
        return f"`{self.plan.label(use)}`{again}, the next{on},"

    def diagnostic(self, code: str, message: str, other: Use | None, role: str) -> Diagnostic:
        """A problem of this phase and another one, if there is one, whose `role` is said at it."""
        if other is None or self.plan.phase(other).span == self.span:
            return Diagnostic(code, message, self.span, help=HELP)
        also = ((self.plan.phase(other).span, f"`{self.plan.label(other)}` {role}"),)
        return Diagnostic(code, message, self.span, also, HELP)

    def after_it(self, code: str, message: str, color: int) -> Diagnostic:
        """A problem of this phase and the next one on a color."""
        words = f"has color {self.plan.colors[color].number} after it"
        return self.diagnostic(code, message, self.following(color), words)


def turns(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C333: colors of a phase that are not distinct, or uses of a color that set its routers
    differently, with nothing between."""
    for use in plan.uses:
        one = InProgram(plan, use)
        found = next(_without_color(one), None) or next(_on_one_color(one), None)
        if found:
            yield found
    for k, color in enumerate(plan.colors):
        if not color.torn_down:
            yield from _set_differently(plan, k)


def _without_color(one: InProgram) -> Iterator[Diagnostic]:
    """Symbolic colors that the program has no color for."""
    known = range(len(one.plan.colors))
    lacking = {name for name, k in one.use.positions if k not in known}
    lacking |= {*colors_of([one.phase])} - {name for name, _ in one.use.positions}
    for color in sorted(lacking):
        pe = _first_pe(one, color)
        message = f"{one.name} has no color of the program for its `{color}`: {pe} begins it, has "
        message += f"no router to set for `{color}`, waits for ever, and {one.next_on(None)} is "
        message += f"not begun at {pe}"
        yield one.diagnostic("C333", message, one.following(None), "would come after it")


def _on_one_color(one: InProgram) -> Iterator[Diagnostic]:
    """Two symbolic colors that have one color of the program."""
    times = Counter(k for _, k in one.use.positions)
    for k in (k for k, count in times.items() if count > 1):
        first, second = [name for name, at in one.use.positions if at == k][:2]
        message = f"{one.name} has `{first}` and `{second}` on color {one.plan.colors[k].number}: "
        message += f"{_first_pe(one, second)} sets its router for `{second}`, a vector on "
        message += f"`{first}` comes through it and takes the route of the other, and "
        message += f"{one.next_on(k)} begins with vectors where none is due"
        yield one.after_it("C333", message, k)


def _first_pe(one: InProgram, color: str) -> str:
    """The first PE that sets its router for a symbolic color."""
    places = (
        one.pe(x, y)
        for role, x, y in played(one.phase)
        if color in {used.color for used in role.colors}
    )
    return next(places, "a PE")


def _set_differently(plan: ProgramPlan, color: int) -> Iterator[Diagnostic]:
    """Two uses of a color that stays as it is."""
    found = differing(plan, color)
    if found is None:
        return
    before, after, how = found
    one, label, number = InProgram(plan, before), plan.label(after), plan.colors[color].number
    message = f"{one.name} and `{label}` both use color {number}, which stays as it is, but "
    message += f"{how}: {one.name} ends, its routers stay as it has set "
    message += f"them, `{label}` begins there, and its vectors follow the routes of {one.name}"
    yield one.diagnostic("C333", message, after, f"has color {number} as well")
