"""Changes of programs whose roots are given when they run: of the plans for the first rank, for one
within the line and for the last, from which PEs choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from programs.test_root_of_call_by_sides import text

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.plan.form import form_of
from collc.plan.plan import ProgramPlan
from mutants import exchanges, programs, trees
from mutants.kinds import Mutant

RANKS = 4
TEXTS = {
    "broadcast": f"""target wse2
grid row = {RANKS} x 1
collective one = broadcast(x: f32[40]) on row {{ broadcast from r < {RANKS} }}
program {{ repeat {RANKS} {{ one }} }}
""",
    **{kind: text(kind) for kind in ("reduce", "scatter", "gather")},
}
RUNS = [
    *((kind, target) for kind in ("broadcast", "reduce") for target in ("wse2", "wse3")),
    ("gather", "wse2"),
    ("scatter", "wse3"),
]


def bundle_of(kind: str, target: str) -> Bundle:
    """A program to change, of a vector that queues between two PEs do not hold."""
    numbers = {} if kind == "broadcast" else {"P": RANKS, "B": 40}
    return compile_text(TEXTS[kind], "test.coll", numbers, target)


def mutants(plan: ProgramPlan) -> Iterator[Mutant[ProgramPlan]]:
    """Every plan that differs from `plan` in one thing, which its collectives share or one has; the
    numbers that a collective would have by itself are not the program's."""
    yield from programs.mutants(plan)
    for at, own in enumerate(plan.plans):
        steps = any(form_of(phase).is_cut for phase in own.phases)
        for one in exchanges.mutants(own) if steps else trees.mutants(own):
            if one.changed.phases == own.phases:
                continue
            plans = (*plan.plans[:at], one.changed, *plan.plans[at + 1 :])
            what = f"{own.collective.name}: {one.what}"
            yield Mutant(one.kind, what, replace(plan, plans=plans))
