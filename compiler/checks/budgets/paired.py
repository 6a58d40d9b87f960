"""What an instruction takes of the fabric at once, operations have and the machine takes."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Plan
from collc.plan.form import form_of
from collc.spec.simd import can_be_wide, goes_in_pairs, may_go_backward, slices_go_in_pairs


def paired(plan: Plan) -> Iterator[Diagnostic]:
    """C337: a phase in pairs, or a wide one, that cannot be."""
    contract = plan.collective.contract
    for phase in plan.phases:
        if form_of(phase).is_cut:
            able = slices_go_in_pairs(phase, contract, plan.target)
            turns = may_go_backward(paired=phase.paired, wide=phase.wide)
            if phase.backward and not turns:
                yield Diagnostic(
                    "C337",
                    f"`{phase.name}` passes four elements by one instruction from the last to the "
                    f"first, of which {plan.target.name} takes two",
                    phase.span,
                    help="leave `in simd` out",
                )
            if phase.wide and not can_be_wide(phase, contract, plan.target):
                yield Diagnostic(
                    "C337",
                    f"`{phase.name}` takes two wavelets by one instruction, which "
                    f"{plan.target.name} cannot do with its operation or its slices",
                    phase.span,
                    help="leave `in simd` out",
                )
        else:
            able = goes_in_pairs(contract, plan.target, combines=phase.combines)
        if phase.paired and not able:
            yield Diagnostic(
                "C337",
                f"the {contract.element.value} of `{phase.name}` travel two to a wavelet, which "
                f"{plan.target.name} cannot do with {contract.length} of them and their operation",
                contract.span,
                help="compile for this machine",
            )
