"""Which of four forms the lanes of a phase have.

A plan does not say so, and has no need to: a phase is lanes of operations, and so it is printed and
predicted. What is about one form alone, as budgets and rules of step tables are, asks here.
"""

from enum import Enum

from collc.plan.plan import WHOLE_LANES, Lane, Loop, Phase
from collc.spec import ContractKind


class Form(Enum):
    """What the lanes of a phase are."""

    TREE = "tree"  # whole vectors to one PE of each line
    MULTICAST = "multicast"  # one whole vector to all PEs
    STEPS = "steps"  # slices by a step table, whose lanes wait for each other at the end of a step
    STREAM = "stream"  # slices that routers put in order, on lanes that each go their own way

    @property
    def is_cut(self) -> bool:
        """Whether vectors are cut into slices."""
        return self in {Form.STEPS, Form.STREAM}


def form_of(phase: Phase) -> Form:
    """The form of a phase: vectors that are not cut are on one lane, a step table is loops over
    slices, and a stream does what it does once."""
    if phase.lanes == WHOLE_LANES:
        return Form.MULTICAST if phase.kind is ContractKind.BROADCAST else Form.TREE
    steps = any(map(_loops, (lane for role in phase.roles for lane in role.lanes)))
    return Form.STEPS if steps else Form.STREAM


def _loops(lane: Lane) -> bool:
    """Whether a lane has a step table."""
    return any(isinstance(part, Loop) for part in lane.loops)
