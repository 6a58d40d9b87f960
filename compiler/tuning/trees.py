"""Where a program leaves a tree to the compiler: the candidate that is predicted to be the fastest.

Each side of each reduction is a choice of its own: the candidates reduce one line, as long as the
side, to its first rank, and are planned and predicted like any other program. A candidate that
takes at least as long as another is predicted to take is not planned, which takes longer by far.
"""

from dataclasses import replace
from functools import lru_cache

from collc.base.grids import Grid
from collc.base.progress import Tell, under_way
from collc.cost.choice import build_plan
from collc.cost.predict import cycles_or_never
from collc.schedule import build_schedule
from collc.spec import (
    Collective,
    Contract,
    ContractKind,
    Limits,
    Operation,
    Order,
    ReduceStep,
    Tree,
)
from collc.target import Target
from collc.tuning.cost_terms import least_terms


def with_chosen_trees(collective: Collective, target: Target) -> Collective:
    """The collective with one tree in place of each choice."""
    steps = tuple(
        _chosen_step(step, collective, target) if isinstance(step, ReduceStep) else step
        for step in collective.steps
    )
    return collective if steps == collective.steps else replace(collective, steps=steps)


def _chosen_step(step: ReduceStep, collective: Collective, target: Target) -> ReduceStep:
    tree = _chosen(step.tree, collective.contract, target)
    far = step.far and _chosen(step.far, collective.contract, target)
    return replace(step, tree=tree, far=far)


@lru_cache(maxsize=256)
def _chosen(tree: Tree, contract: Contract, target: Target) -> Tree:
    """The fastest candidate; of equals the first of those with the lowest bound."""
    if not tree.candidates:
        return tree
    with under_way("choosing a tree") as tell:
        return _fastest(tree, contract, target, tell)


def _fastest(tree: Tree, contract: Contract, target: Target, tell: Tell) -> Tree:
    lines = [_line(candidate, contract) for candidate in tree.candidates]
    least = [least_terms(build_schedule(line), target).cycles for line in lines]
    best, fewest = tree.candidates[0], None
    for place, index in enumerate(sorted(range(len(lines)), key=lambda index: least[index])):
        tell(f"{place} of {len(lines)} candidates")
        if fewest is not None and least[index] >= fewest:
            break
        schedule = build_schedule(lines[index])
        cycles = cycles_or_never(build_plan(schedule, target))
        if fewest is None or cycles < fewest:
            best, fewest = tree.candidates[index], cycles
    text = tree.text if best.text == tree.text else f"{best.text}, the {tree.text} choice"
    return Tree(text, best.children, tree.span)


def _line(tree: Tree, contract: Contract) -> Collective:
    """One line reduced by a tree."""
    operation = contract.operation or Operation.ADD
    length = contract.length or 1  # the token of a barrier
    reduce = replace(contract, kind=ContractKind.REDUCE, operation=operation, length=length)
    grid = Grid("line", len(tree.children), 1, tree.span)
    step = ReduceStep(Order.WEST_TO_EAST, tree, tree.span)
    return Collective("line", reduce, grid, (step,), Limits(None, None), (), tree.span)
