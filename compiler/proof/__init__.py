"""Proof that a schedule keeps its contract, by moving symbolic contributions through it.

Reading order: `trees` (one tree on a line), `contributions` and `steps` (algorithms that go by
steps), `due` (what contracts promise), `line` (a whole collective on a line), `grid` (phases that
follow each other on a grid), `blocks` (slices on a grid, along one axis and then along the other),
`lengths` (which lengths stand for all that a run may have), `other_root` (the contract kept, but
from another rank), `fixed_order` (operands one by one in the order of ranks), `keeping_order` (what
messages advise).
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.proof.blocks import prove_blocks, prove_on_slices
from collc.proof.fixed_order import prove_fixed_order
from collc.proof.grid import prove_contract
from collc.proof.lengths import at_other_lengths
from collc.proof.line import prove_line
from collc.proof.other_root import of_other_root
from collc.proof.steps import combining_nothing
from collc.proof.trees import follow, prove_phase, show_vector
from collc.schedule import Schedule, unfolded
from collc.schedule.own_slices import works_on_blocks
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase

__all__ = ["follow", "prove", "show_vector"]

_OF_WHOLE_VECTORS = (
    ContractKind.BROADCAST,
    ContractKind.REDUCE,
    ContractKind.ALLREDUCE,
    ContractKind.BARRIER,
)


def prove(schedule: Schedule) -> Iterator[Diagnostic]:
    """Every way in which the schedule breaks its contract, at any dynamic length; nothing if it
    keeps it."""
    found = list(_wrong(schedule))
    yield from found or at_other_lengths(schedule, _wrong)


def _wrong(schedule: Schedule) -> Iterator[Diagnostic]:
    """The same for vectors of the length that the contract says."""
    flat = unfolded(schedule)
    found = [d for phase in flat.phases for d in prove_phase(flat, phase)]
    found += combining_nothing(flat)
    if not found:
        found = list(_broken(flat))
        broken = bool(found)
        found = found or list(prove_fixed_order(flat))
        other = of_other_root(schedule, lambda one: not any(_broken(one))) if broken else None
        found = [other] if other else found
    yield from found


def _broken(schedule: Schedule) -> Iterator[Diagnostic]:
    """In which ways phases that are right by themselves break the contract together."""
    grid = schedule.collective.grid
    by_steps = bool(schedule.by_steps)
    whole = schedule.collective.contract.kind in _OF_WHOLE_VECTORS
    own = schedule.collective.contract.own
    if own is not None:
        yield from prove_line(schedule, own.axis)
    elif grid.is_line and (by_steps or not whole):
        yield from prove_line(schedule, grid.axis)
    elif not whole:
        yield from prove_blocks(schedule)
    elif any(map(works_on_blocks, schedule.phases)):
        yield from prove_on_slices(schedule)
    else:
        yield from prove_contract(schedule)
