"""Where a program leaves a tree to the compiler: the candidate that is predicted to be the fastest.

Each side of each reduction is a choice of its own: the candidates reduce one line, as long as the
side, to its first rank, and are planned and predicted like any other program. The cost model says
which are worth that: planning takes longer than the model by far.
"""

from __future__ import annotations

from dataclasses import replace

from collc.cost import predict
from collc.cost.row_model import cycles
from collc.lowering import build_plan
from collc.schedule import build_schedule
from collc.spec import (
    Collective,
    Contract,
    ContractKind,
    Grid,
    Limits,
    Operation,
    Order,
    ReduceStep,
    Tree,
)
from collc.target import Target

PLANNED = 3  # candidates that are planned, the best by the model


def with_chosen_trees(collective: Collective, target: Target) -> Collective:
    """The collective with one tree in place of each choice."""
    steps = tuple(
        _chosen_step(step, collective, target) if isinstance(step, ReduceStep) else step
        for step in collective.steps
    )
    return collective if steps == collective.steps else replace(collective, steps=steps)


def _chosen_step(step: ReduceStep, collective: Collective, target: Target) -> ReduceStep:
    tree = _chosen(step.tree, collective, target)
    return replace(step, tree=tree, far=step.far and _chosen(step.far, collective, target))


def _chosen(tree: Tree, collective: Collective, target: Target) -> Tree:
    """The fastest candidate; of equals the first."""
    if not tree.candidates:
        return tree
    length = collective.contract.length
    promising = sorted(
        tree.candidates, key=lambda one: cycles(one.children, length, ramp=target.ramp)
    )
    best = min(promising[:PLANNED], key=lambda one: _cycles(one, collective, target))
    text = tree.text if best.text == tree.text else f"{best.text}, the {tree.text} choice"
    return Tree(text, best.children, tree.span)


def _cycles(tree: Tree, collective: Collective, target: Target) -> int:
    """Predicted cycles of reducing one line by a tree."""
    given = collective.contract
    operation = given.operation or Operation.ADD
    contract = Contract(
        ContractKind.REDUCE, given.buffer, given.element, given.length, operation, tree.span
    )
    alone = replace(
        collective,
        contract=contract,
        grid=Grid("line", len(tree.children), 1, tree.span),
        steps=(ReduceStep(Order.WEST_TO_EAST, tree, tree.span),),
        limits=Limits(None, None),
        expectations=(),
    )
    schedule = build_schedule(alone)
    return predict(schedule, build_plan(schedule, target)).cycles
