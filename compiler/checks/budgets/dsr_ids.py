"""There are enough DSRs for the operands of all phases, memcpy's are left alone, and no PE has one
for two operands that are loaded before the program begins.

What a phase takes is counted here by its operations, independently of the planner: a number serves
the destination and the first source of one operation, so each operation to the fabric takes one,
all operations to the vector in memory take one together, and each operand from the fabric, and each
vector or control wavelet that is sent, takes a number of `dsr_src1`. Where several vectors are
stored by one operation, that has no numbers: its operands are DSDs. In a one-word collective
(`collc.plan.one_word`) each operation that stores takes a number of both.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from collc.base.diagnostics import Diagnostic
from collc.checks.counted import lane_sides_of
from collc.checks.resource_report import by_phase, shortage
from collc.plan import Action, Phase, Plan, Role
from collc.plan.form import Form, form_of
from collc.plan.one_word import is_one_word
from collc.plan.operands import controls, sends, stores
from collc.plan.slots import clashes, slots_of
from collc.plan.streams import STAGE

MEMCPY = 0  # the number that memcpy's code takes of each file [study]


def dsr_ids(plan: Plan) -> Iterator[Diagnostic]:
    """C307: too few DSR ids, one used twice by a PE, or memcpy's."""
    used, available = plan.dsr_ids, plan.target.dsr_ids
    one_word = is_one_word(plan)
    each = (
        by_phase(plan, partial(pairs, one_word=one_word)),
        by_phase(plan, partial(sources, one_word=one_word)),
    )
    counts = max(each, key=lambda by: sum(by.values()))
    alone = max(_in_common(plan) + sum(each[0].values()), sum(each[1].values()))
    alone += _empties_stage(plan)
    needed = alone if plan.registers is None else len(used)
    if needed > len(available):
        what, time_multiplexed = "DSRs of one file", in_turn([plan])
        yield shortage(
            "C307",
            plan,
            what,
            counts,
            len(available),
            "dsr_ids",
            total=needed,
            time_multiplexed=time_multiplexed,
        )
    elif (
        len(used) < needed
        or len(set(used)) < len(used)
        or not set(used) <= set(available) - {MEMCPY}
        or _clash(plan)
    ):
        yield Diagnostic(
            "C307",
            f"`{plan.collective.name}` has the DSRs {', '.join(map(str, used))}, which are no "
            f"{needed} of those of {plan.target.name} beside memcpy",
            plan.collective.span,
            help="give each operand a DSR of its own",
        )


def pairs(phase: Phase, *, one_word: bool = False) -> int:
    """Numbers for destinations: in the fabric a vector, a control wavelet behind it, what a lane
    sends; in memory what a lane receives, and a word that others are combined with."""
    if form_of(phase).is_cut:
        return lane_sides_of(phase)
    return _any(phase, sends) + _any(phase, controls) + (one_word and _any(phase, stores))


def sources(phase: Phase, *, one_word: bool = False) -> int:
    """Numbers of `dsr_src1`: for vectors that are stored one by one, for the operation that sends
    or copies one, for the control wavelet; for what a lane receives, and for what it sends."""
    if form_of(phase).is_cut:
        return lane_sides_of(phase)
    by_number = _any(phase, stores) and (one_word or not _any(phase, _stores_several))
    return by_number + _any(phase, _moves) + _any(phase, controls)


def in_turn(plans: Iterable[Plan]) -> int:
    """Numbers of phases that have them in turn: as many as any of them takes. A tree's control
    wavelet has those of its vector, which is sent before."""
    return max((_alone(phase) for plan in plans for phase in plan.phases), default=0)


def _alone(phase: Phase) -> int:
    if form_of(phase).is_cut:
        return lane_sides_of(phase)
    return max(1 + _any(phase, sends), sources(phase) - _any(phase, controls))


def _in_common(plan: Plan) -> int:
    """One number for the vector in memory, where operations of trees go to it."""
    return int(any(not form_of(phase).is_cut for phase in plan.phases))


def _empties_stage(plan: Plan) -> bool:
    """Whether the operation that moves a stage has registers, too: in a plan of one phase, with as
    many destinations as sources."""
    ops = [op for phase in plan.phases for role in phase.roles for op in role.ops]
    moves = any(op.receive == STAGE and op.action is Action.COPY for op in ops)
    return len(plan.phases) == 1 and form_of(plan.phases[0]) is Form.STREAM and moves


def _any(phase: Phase, has: Callable[[Role], bool]) -> int:
    return int(any(map(has, phase.roles)))


def _stores_several(role: Role) -> bool:
    return any(op.stores and op.vectors > 1 for op in role.ops)


def _moves(role: Role) -> bool:
    return any(not op.stores for op in role.ops)


def _clash(plan: Plan) -> bool:
    """Whether registers that phases share are not there, or two of one PE."""
    if plan.registers is None:
        return False
    slots, shared, common = slots_of(plan), plan.registers, _in_common(plan)
    of_all, of_phases = shared.pairs[:common], shared.pairs[common:]
    files = ((slots.pairs, of_phases), (slots.sources, shared.sources))
    return bool(set(of_all) & set(of_phases)) or any(
        len(numbers) != len(having)
        or not set(numbers) <= set(range(len(plan.dsr_ids)))
        or any(clashes(having, numbers))
        for having, numbers in files
    )
