"""Schedule: what each collective sends, in which order, before colors and routes are known."""

from collc.schedule.model import (
    JUMP,
    Action,
    BroadcastPhase,
    Phase,
    ReducePhase,
    Schedule,
    Transfer,
    ascending,
    axis_of,
    build_schedule,
    corner_of,
    home_pe,
    pes_of_ranks,
    step_of,
    unfolded,
)

__all__ = [
    "JUMP",
    "Action",
    "BroadcastPhase",
    "Phase",
    "ReducePhase",
    "Schedule",
    "Transfer",
    "ascending",
    "axis_of",
    "build_schedule",
    "corner_of",
    "home_pe",
    "pes_of_ranks",
    "step_of",
    "unfolded",
]
