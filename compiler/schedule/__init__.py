"""Schedule: what each collective sends, in which order, before colors and routes are known."""

from collc.schedule.model import (
    Action,
    BroadcastPhase,
    Phase,
    ReducePhase,
    Schedule,
    Transfer,
    build_schedule,
    number_of_step,
    step_of,
)
from collc.schedule.pes import corner_of, home_pe, pes_of_ranks, unfolded
from collc.spec.steps import ascending, axis_of
