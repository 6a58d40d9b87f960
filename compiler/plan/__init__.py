"""Plan: what every PE class does and how its routers are set, ready to be printed."""

from collc.plan.entries import AREA_BITS, RowKind
from collc.plan.form import Form, form_of
from collc.plan.model import Detour, Phase, Plan, Registers
from collc.plan.numbers import ONE, ZERO, Number
from collc.plan.ops import (
    VECTOR,
    WHOLE,
    Action,
    Buffer,
    Entry,
    Filter,
    Lane,
    Loop,
    Memory,
    Once,
    Op,
    Role,
    Slices,
    closing,
    lanes_of,
    once,
)
from collc.plan.regions import Region, Strided
from collc.plan.routers import BY_WAVELET, Advance, ColorUse, Direction, Route
from collc.plan.stream_ends import (
    MOST_ENDS,
    Sides,
    StreamOp,
    Then,
    ends_of,
    goes_first,
    joins_of,
    leaders_of,
    leads_across,
    ops_with_tasks,
    sides_of,
    streams_of,
    task_of,
    thens_of,
)
from collc.plan.streams import Stream, filters_of, lane_of, stream_of
