"""What an instruction takes of the fabric at once, operations have and the machine takes."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Action, Phase, Plan
from collc.spec.simd import PAIR, by_call_back, can_be_wide, goes_in_pairs, may_go_backward


def paired(plan: Plan) -> Iterator[Diagnostic]:
    """C337: a phase in pairs, or a wide one, that cannot be."""
    contract = plan.collective.contract
    for phase in plan.phases:
        if phase.backward and not may_go_backward(paired=phase.paired, wide=phase.wide):
            yield Diagnostic(
                "C337",
                f"`{phase.name}` passes four elements by one instruction from the last to the "
                f"first, of which {plan.target.name} takes two",
                phase.span,
                help="leave `in simd` out",
            )
        # of a whole vector that is only moved an instruction takes what there is
        limited = phase.combines or phase.slicing.count > 1
        if phase.wide and limited and not can_be_wide(phase, contract, plan.target):
            yield Diagnostic(
                "C337",
                f"`{phase.name}` takes two wavelets by one instruction, which "
                f"{plan.target.name} cannot do with its operation or its slices",
                phase.span,
                help="leave `in simd` out",
            )
        if phase.paired and not _can_be_paired(plan, phase):
            yield Diagnostic(
                "C337",
                f"the {contract.element.value} of `{phase.name}` travel two to a wavelet, which "
                f"{plan.target.name} cannot do with {contract.length} of them and their operation",
                contract.span,
                help="compile for this machine",
            )


def _can_be_paired(plan: Plan, phase: Phase) -> bool:
    """Whether all slices have an even number of elements, and operations take two at once; of a
    call-back those do that take what has been staged."""
    contract = plan.collective.contract
    ops = [op for role in phase.roles for op in role.ops if op.action is Action.COMBINE]
    if by_call_back(contract):
        ops = [op for op in ops if op.receives_on]
    even = not (phase.slicing.bounds % PAIR).any()
    return even and goes_in_pairs(contract, plan.target, combines=bool(ops))
