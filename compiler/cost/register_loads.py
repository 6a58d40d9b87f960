"""What phases load into registers when they begin, by PE."""

from functools import partial

from collc.cost.phase_entry import by_role
from collc.cost.predict import Times
from collc.lowering.shared_phases import SharedPhase, is_quick, loads_at_start
from collc.plan import BY_WAVELET, Role
from collc.plan.form import form_of
from collc.plan.plan import ProgramPlan, Use
from collc.spec.simd import by_call_back


def loads(plan: ProgramPlan, shared: list[SharedPhase]) -> list[Times]:
    """By use and PE: the cycles in which registers are loaded when the phase begins; those of most
    phases have been since the program was loaded."""
    return [
        by_role(plan, use, partial(_load, plan, use, given))
        for use, given in zip(plan.uses, shared, strict=True)
    ]


def _load(plan: ProgramPlan, use: Use, given: SharedPhase, role: Role) -> int:
    """Cycles in which a PE of a role loads the registers of a phase when that begins: for the
    fabric operand of each operation, for both where two vectors are combined, and two for a control
    wavelet, unless these are loaded behind the vector. Operations by call-back have none. Where a
    phase does not wait for its control wavelets, their registers are those of colors, and one of
    them is loaded anyway."""
    phase, maps = plan.phase(use), _maps(plan, use)
    engine = plan.target.cycles.engine
    ops = () if form_of(phase).is_cut else role.ops
    stored = sum(op.stores for op in ops)
    sent = [op for op in ops if op.sends]
    both = sum(op.combines_from is not None for op in sent)
    control = sum(op.advance in BY_WAVELET for op in sent)
    if is_quick(plan, use, given):
        always, control = control * engine.dsr_load, 0
    else:
        always = 0
    if not loads_at_start(phase, given):
        return always
    vectors = len(ops) - stored * maps + both * (not maps)
    control *= 0 if given.late else 2
    registers = vectors + control
    lengths = engine.scalar * vectors if given.dynamic_length else 0
    return always + registers * engine.dsr_load + lengths


def _maps(plan: ProgramPlan, use: Use) -> bool:
    """Whether elements are combined by a call-back."""
    contract = plan.plans[use.collective].collective.contract
    return by_call_back(contract)
