"""The forms in a bundle that no public program shows for its target, for the manifest.

They rest on the vendor's pages; nothing is emitted that nobody attests. docs/csl-constructs.md has
all forms and who attests them.
"""

from collections.abc import Iterator

from collc.plan import Action, Advance, Plan
from collc.plan.program import ProgramPlan
from collc.spec.simd import by_call_back

Forms = dict[str, list[str]]


def forms_of(program: ProgramPlan) -> dict[str, Forms]:
    """The manifest's entry about the plan of a bundle; none if programs show all that is
    emitted."""
    by_pages = {form for plan in program.plans for form in _by_pages(plan)}
    pages = sorted(by_pages | set(_settings(program)))
    return {"forms": {"by_pages_alone": pages}} if pages else {}


def _by_pages(plan: Plan) -> Iterator[str]:
    advances = {op.advance for phase in plan.phases for role in phase.roles for op in role.ops}
    wse3 = plan.target.name == "wse3"
    if Advance.OWN_ROUTER in advances:
        yield f".advance_switch of an asynchronous operation{' on WSE-3' if wse3 else ''}"
    if Advance.RESET in advances and wse3:
        yield "SWITCH_RST on WSE-3"
    trees = [phase for phase in plan.phases if phase.exchange is None]
    combining = {op.action for phase in trees for role in phase.roles for op in role.ops}
    if by_call_back(plan.collective.contract) and Action.COMBINE in combining:
        yield "@map with operands of the fabric"


def _settings(program: ProgramPlan) -> Iterator[str]:
    """Those of colors that several phases share over time."""
    for use in program.uses:
        torn_down = {name for name, k in use.positions if program.colors[k].torn_down}
        settings = (color for role in program.phase(use).roles for color in role.colors)
        for one in settings:
            if one.color in torn_down and one.positions[0].send != one.positions[-1].send:
                yield "set_tx_switch_pos1"
