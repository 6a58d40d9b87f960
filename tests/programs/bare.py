"""Programs compiled for one target and run, without what only a user's bundle has: a prediction,
and whether the other target would do. For tests and measurements of many programs."""

from __future__ import annotations

from with_schedules import check_program, render, run_program

from collc.cost.choice import build_program_plan
from collc.driver.pipeline import prove_program
from collc.driver.planning import with_remedies
from collc.driver.proving import refuse_if_any
from collc.machine.prediction import Prediction
from collc.plan.plan import ProgramPlan
from collc.run import RunReport
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Spec
from collc.target import TARGETS


def planned(text: str, parameters: dict[str, int] | None = None) -> tuple[Spec, ProgramPlan]:
    """What a text says, and a plan for it that passes all checks; raises CollcError."""
    spec, schedules = prove_program(text, "test.coll", parameters or {})
    assert spec.program is not None
    tokens = tuple(map(with_tokens, schedules))
    plan = build_program_plan(tokens, spec.program, TARGETS[spec.target])
    refuse_if_any(with_remedies(check_program(plan), plan, tokens))
    return spec, plan


def run_planned(spec: Spec, plan: ProgramPlan, skew: int = 0, seed: int = 1) -> RunReport:
    """Emit a plan and run it; raises as `collc.run.run_texts`."""
    nothing = Prediction(0, 0, {})  # nobody reads it
    files = render(spec, plan, nothing, ())
    return run_program(files, plan, spec.target, seed=seed, most_idle=skew)
