"""Phases made of steps: from transfers of slices to lanes and rows.

In reading order: `traffic` (all transfers as arrays), `wiring` (how lanes reach their receivers),
`ways` (the same where an order is not contiguous), `hazards` (what has to be staged), `parts` (what
each lane has to do, in which order), `rows` (what it does at a time), `loops` and `numbers` (the
same in few words), `phase` (roles and regions).
"""

from collc.lowering.steps.phase import steps_phase
from collc.lowering.steps.routes import (
    noncontiguous_circuits,
    noncontiguous_relays,
    noncontiguous_tree,
)
from collc.lowering.steps.traffic import Traffic, traffic_of
from collc.lowering.steps.wiring import Wiring, circuits, relays
