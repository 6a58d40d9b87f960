"""Colors that are torn down: every router once in a phase, behind its last vector.

A router that is set for a phase lets nothing in before it is set and nothing after its teardown.
So vectors of two phases on one color never meet, whatever the timing, if

- a teardown comes to every router that a phase sets, behind its last vector of the phase. Then no
  vector of the phase is held up, and the router may be set for the next one;
- what a router sends towards a neighbour last goes everywhere it has sent before. Then whatever it
  sends in the next phase comes behind the teardown of this one on the same link, in order, so it
  finds the neighbour torn down, not open for vectors of this phase.

A PE sets a router only when it knows of its teardown, and begins a phase only then. It takes no
vector of the next phase out of a queue before its own part of this one is complete.
"""

from collections.abc import Callable, Iterable, Iterator, Set

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.checks.by_phase import due_tree
from collc.checks.color_hand_over import InProgram, played
from collc.checks.vector_order import Passage, passages
from collc.plan import Advance, Direction, Phase, Role
from collc.plan.form import Form, form_of
from collc.plan.geometry import Line, line_of
from collc.plan.placement import roles_of_ranks, sent_colors
from collc.plan.plan import ProgramPlan


@dataclass(frozen=True)
class _Fault:
    """What is wrong with a symbolic color of a phase, and what comes of it, in order of time, up to
    the next phase on the color; that one is named between the two parts of `ends`."""

    color: str
    wrong: str
    events: tuple[str, ...]
    ends: str


def teardown(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C331: a router that is not torn down behind its last vector of a phase, or too early; C332: a
    router whose earlier vectors go where its teardown does not."""
    for use in plan.uses:
        one = InProgram(plan, use)
        torn = {name for name, k in use.positions if plan.colors[k].torn_down}
        for code, faults in (("C331", _not_torn_down), ("C332", _gone_elsewhere)):
            fault = next(faults(one, torn), None)  # others of the phase would follow from it
            if fault:
                yield _diagnostic(code, one, fault)


def _diagnostic(code: str, one: InProgram, fault: _Fault) -> Diagnostic:
    color = dict(one.use.positions)[fault.color]
    events = ", ".join(fault.events)
    message = f"in {one.name} {fault.wrong}: {events}, and {one.next_on(color)} {fault.ends}"
    return one.after_it(code, message, color)


def _not_torn_down(one: InProgram, torn: Set[str]) -> Iterator[_Fault]:
    """What is wrong with the teardowns of a phase."""
    if form_of(one.phase) is Form.TREE:
        yield from _along_line(one, one.phase, torn)
        return
    # one way for each color of an exchange, and one for a broadcast: other checks see to that
    for role, x, y in played(one.phase):
        for color in sent_colors(role):
            if color in torn and not _tears_down(role, color):
                yield _left_open(one, one.pe(x, y), one.pe(x, y), color)
            if color not in torn and _tears_down(role, color, any):
                yield _closed_for_good(one, one.pe(x, y), color)


def _tears_down(role: Role, color: str, of: Callable[[Iterable[bool]], bool] = all) -> bool:
    """Whether a PE that sends on a color tears its way down at the end."""
    return of([color in lane.tears_down for lane in role.lanes if color in lane.sends])


def _along_line(one: InProgram, phase: Phase, torn: Set[str]) -> Iterator[_Fault]:
    roles, line = roles_of_ranks(phase), line_of(phase)
    tree = due_tree(one.plan.plans[one.use.collective], phase)
    if len(roles) != tree.ranks:
        return  # another check says so
    last: dict[str, dict[int, int]] = {}  # by color and router, both ranks: who sends last there
    for passage in passages(tree.children, roles):
        source, color = passage.source, passage.color
        behind = last.setdefault(color, {})
        ends = passage.op.advance is Advance.TEARDOWN
        if ends and color not in torn:
            yield _closed_for_good(one, _pe(one, line, source), color)
        elif ends and len(passage.last_at) <= source - passage.destination:
            yield _too_early(one, line, passage, behind)
        elif passage.last_at and color in torn and not ends:
            router = _pe(one, line, passage.last_at[0])
            yield _left_open(one, _pe(one, line, source), router, color)
        behind.update(dict.fromkeys(passage.last_at, source))
    for rank, role in enumerate(roles):
        for use in role.colors if role else ():
            if use.color in torn and rank not in last.get(use.color, ()):
                yield _never_passed(one, _pe(one, line, rank), use.color)


def _pe(one: InProgram, line: Line, rank: int) -> str:
    """The PE of a rank, of the first of the lines."""
    along, across = line.coordinate(rank), line.lines[0]
    return one.pe(*((along, across) if line.axis == "x" else (across, along)))


def _left_open(one: InProgram, source: str, router: str, color: str) -> _Fault:
    return _Fault(
        color,
        f"nothing tears down {one.color(color)} at {router} behind its last vector",
        (
            f"{source} sends the last vector there",
            "no teardown follows it",
            f"the router of {router} stays open as {one.name} has set it",
        ),
        f"waits there for ever, or its vectors follow routes of {one.name}",
    )


def _closed_for_good(one: InProgram, source: str, color: str) -> _Fault:
    return _Fault(
        color,
        f"{source} tears down {one.color(color)}, which is never set again",
        (
            f"{source} sends its vector",
            "a teardown behind it closes the routers on its route",
            "nothing opens them, since the color is to stay as it is",
        ),
        "waits there for ever",
    )


def _too_early(one: InProgram, line: Line, passage: Passage, behind: dict[int, int]) -> _Fault:
    way = range(passage.source, passage.destination - 1, -1)
    router = next(rank for rank in way if rank not in passage.last_at)
    source, at, late = (_pe(one, line, rank) for rank in (passage.source, router, behind[router]))
    color = passage.color
    return _Fault(
        color,
        f"{source} tears down {one.color(color)} at {at} before the last vector has passed",
        (
            f"{source} sends its vector and a teardown behind it",
            f"the router of {at} closes",
            f"the vector of {late}, which comes later, waits before it",
        ),
        "is never begun, or takes that vector for one of its own",
    )


def _never_passed(one: InProgram, pe: str, color: str) -> _Fault:
    return _Fault(
        color,
        f"no vector on {one.color(color)} passes the router of {pe}, which is set for it",
        (
            f"{pe} opens its router",
            "no vector comes, so no teardown behind one",
            "the router stays open",
        ),
        "waits there for ever",
    )


def _gone_elsewhere(one: InProgram, torn: Set[str]) -> Iterator[_Fault]:
    """A router that sends somewhere only before its last position."""
    for role, x, y in played(one.phase):
        for use in role.colors:
            last = {*use.positions[-1].send, Direction.RAMP}
            ways = (way for route in use.positions for way in route.send if way not in last)
            way = next(ways, None)
            if use.color in torn and way is not None:
                yield _passed_by(one, one.pe(x, y), one.neighbor(x, y, way), use.color)


def _passed_by(one: InProgram, source: str, target: str, color: str) -> _Fault:
    return _Fault(
        color,
        f"{source} sends on {one.color(color)} to {target}, where its teardown does not go",
        (
            f"the router of {source} lets vectors go to {target}",
            "it moves on to a position that goes elsewhere",
            "the teardown takes that one",
            f"nothing on the link to {target} tells that {one.name} is over",
        ),
        f"may send a vector there that {target} takes for one of {one.name}",
    )
