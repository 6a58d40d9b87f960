"""Plan: what every PE class does and how its routers are set, ready to be printed."""

from collc.plan.entries import AREA_BITS, RowKind
from collc.plan.plan import (
    BY_WAVELET,
    OF_OWN_ROUTER,
    ONE,
    VECTOR,
    WHOLE,
    ZERO,
    Action,
    Advance,
    Buffer,
    ColorUse,
    Detour,
    Direction,
    Entry,
    Filter,
    Lane,
    Loop,
    Memory,
    Number,
    Once,
    Op,
    Phase,
    Plan,
    Region,
    Role,
    Route,
    Slices,
    Strided,
    closing,
    lanes_of,
    once,
)
from collc.plan.stream_ends import (
    Sides,
    leaders_of,
    sides_of,
    streams_of,
)
from collc.plan.streams import Stream, filters_of, lane_of, sieves_of, stream_of
