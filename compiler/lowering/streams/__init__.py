"""Streams: exchanges whose slices the routers put in order (docs/streams.md)."""

from collc.lowering.streams.phase import stream_phases
from collc.lowering.streams.reasons import why_not
from collc.lowering.streams.recognition import blocks_of, recognised
