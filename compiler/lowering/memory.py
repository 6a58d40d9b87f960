"""What a PE's program takes of its memory, estimated.

The estimate is generous on purpose: the vendor's compiler decides, this only refuses what cannot
fit. It was made by counting instructions of hand-written kernels of this kind (an asynchronous
DSD operation with its descriptor load, task and branch is 40 to 60 bytes) and taking 2 KB for the
run-time library with memcpy.
"""

from __future__ import annotations

from collections.abc import Sequence

from collc.plan import BY_WAVELET, Phase, SendVector
from collc.spec import ElementType

RUNTIME_BYTES = 2048  # library start-up and memcpy command handling
STEP_BYTES = 60  # one asynchronous DSD operation with its task
PHASE_BYTES = 40  # choosing what a PE does in a phase
SMALL_DATA_BYTES = 64  # descriptors, pointers, counters


def code_bytes(phases: Sequence[Phase]) -> int:
    """Code of the largest PE class, in bytes: the run-time, and 60 for each operation of each
    phase (a control wavelet is an operation of its own) and 40 for each phase.
    """
    largest = (max(_operations(phase)) for phase in phases)
    return RUNTIME_BYTES + PHASE_BYTES * len(phases) + STEP_BYTES * sum(largest)


def _operations(phase: Phase) -> list[int]:
    """DSD operations of each role."""
    return [
        sum(1 + (isinstance(s, SendVector) and s.advance in BY_WAVELET) for s in role.steps)
        for role in phase.roles
    ]


def data_bytes(element: ElementType, length: int) -> int:
    """The vector, rounded up to 32-bit words, and small data, in bytes."""
    return (element.bytes * length + 3) // 4 * 4 + SMALL_DATA_BYTES
