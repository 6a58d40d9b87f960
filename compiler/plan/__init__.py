"""Plan: what every PE class does and how its routers are set, ready to be printed."""

from collc.plan.entries import AREA_BITS, RowKind
from collc.plan.model import Detour, Exchange, Phase, Plan, Registers
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
    Op,
    Role,
    Slices,
    closing,
    once,
)
from collc.plan.regions import Region, Strided
from collc.plan.routers import BY_WAVELET, Advance, ColorUse, Direction, Route
from collc.plan.streams import Stream, filters_of, lane_of, stream_of

__all__ = [
    "AREA_BITS",
    "BY_WAVELET",
    "ONE",
    "VECTOR",
    "WHOLE",
    "ZERO",
    "Action",
    "Advance",
    "Buffer",
    "ColorUse",
    "Detour",
    "Direction",
    "Entry",
    "Exchange",
    "Filter",
    "Lane",
    "Loop",
    "Memory",
    "Number",
    "Op",
    "Phase",
    "Plan",
    "Region",
    "Registers",
    "Role",
    "Route",
    "RowKind",
    "Slices",
    "Stream",
    "Strided",
    "closing",
    "filters_of",
    "lane_of",
    "once",
    "stream_of",
]
