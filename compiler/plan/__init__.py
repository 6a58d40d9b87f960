"""Plan: what every PE class does and how its routers are set, ready to be printed."""

from collc.plan.model import (
    AREA_BITS,
    CopyVector,
    Exchange,
    Lane,
    Loop,
    Phase,
    Plan,
    Registers,
    Role,
    Row,
    RowKind,
    SendVector,
    Step,
    StoreVectors,
    Way,
)
from collc.plan.numbers import Number
from collc.plan.regions import Region, Strided
from collc.plan.routers import BY_WAVELET, Advance, ColorUse, Direction, Route

__all__ = [
    "AREA_BITS",
    "BY_WAVELET",
    "Advance",
    "ColorUse",
    "CopyVector",
    "Direction",
    "Exchange",
    "Lane",
    "Loop",
    "Number",
    "Phase",
    "Plan",
    "Region",
    "Registers",
    "Role",
    "Route",
    "Row",
    "RowKind",
    "SendVector",
    "Step",
    "StoreVectors",
    "Strided",
    "Way",
]
