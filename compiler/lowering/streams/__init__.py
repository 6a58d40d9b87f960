"""Streams: exchanges whose slices the routers put in order (docs/streams.md)."""

from collc.lowering.streams.phase import stream_phase

__all__ = ["stream_phase"]
