"""What operations of a phase of a program take, beside what they take in a collective by itself."""

from dataclasses import replace

from collc.base.columns import Bools
from collc.cost.dispatch import control_load
from collc.cost.operations import Costs, depth_of
from collc.cost.phase_entry import at_places
from collc.cost.predict import Times
from collc.cost.text_size import restores
from collc.lowering.shared_phases import SharedPhase, is_quick
from collc.plan.placement import received_colors, sent_colors
from collc.plan.plan import ProgramPlan, Use
from collc.spec.simd import PAIR, WIDE


def costs_of_use(  # noqa: PLR0913, PLR0917 - a phase, and what its tasks have to ask and call
    plan: ProgramPlan,
    use: Use,
    costs: Costs,
    given: SharedPhase,
    lanes: tuple[int, Times],
    prepares: Bools,
) -> Costs:
    """The costs with the queues of the phase's colors; tasks of an exchange take the cycles of
    `lanes` before what begins a row (`before_rows`), and call what prepares one where `prepares`
    holds, [x, y]."""
    phase, positions = plan.phase(use), dict(use.positions)
    received = {plan.colors[positions[c]] for role in phase.roles for c in received_colors(role)}
    sent = {plan.colors[positions[c]] for role in phase.roles for c in sent_colors(role)}
    words, (soonest, behind) = plan.target, lanes
    quick = is_quick(plan, use, given)
    return replace(
        costs,
        output_queue=min(depth_of(words.output_queue_words, c.output_queue) for c in sent),
        input_queue=min(depth_of(words.input_queue_words, c.input_queue) for c in received),
        task=costs.task + soonest,
        dispatch=soonest,
        length=costs.operands // PAIR if phase.paired else costs.operands,
        group=WIDE if phase.wide else 1,
        shared=True,
        control_load=control_load(given, costs, late=given.late and not quick),
        late=at_places(plan, use, behind),
        prepares=at_places(plan, use, prepares * 1),
        own_steps=quick and not restores(plan, use, costs),
    )
