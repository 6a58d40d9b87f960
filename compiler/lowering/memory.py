"""What a PE's program takes of its memory, estimated.

The estimate is generous on purpose: the vendor's compiler decides, this only refuses what cannot
fit. It was made by counting instructions of hand-written kernels of this kind (an asynchronous
DSD operation with its descriptor load, task and branch is 40 to 60 bytes) and taking 2 KB for the
run-time library with memcpy.
"""

from collections.abc import Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.plan import BY_WAVELET, Lane, Phase, Plan, stream_of
from collc.plan.entries import values_of
from collc.plan.form import Form, form_of
from collc.plan.step_tables import tables_by_role
from collc.plan.streams import asides_of
from collc.spec import Contract, ElementType

RUNTIME_BYTES = 2048  # library start-up and memcpy command handling
STEP_BYTES = 60  # one asynchronous DSD operation with its task
PHASE_BYTES = 40  # choosing what a PE does in a phase
LANE_BYTES = 400  # what reads the rows of a lane and starts its operations
ROW_NUMBERS = 5
LOOP_HEADER = 3  # numbers in front of the rows of a loop
TURN_BYTES = 80  # letting a phase of a program begin, and handing tasks on to it
ROUTER_BYTES = 60  # setting a router on one color
SMALL_DATA_BYTES = 64  # descriptors, pointers, counters

INSTRUCTION_BYTES = 4  # with a constant of 16 bits in it [guess]


def code_bytes(phases: Sequence[Phase]) -> int:
    """Code of the largest PE class, in bytes: the run-time, and 60 for each operation of each
    phase (a control wavelet is an operation of its own) and 40 for each phase, or 400 for each lane
    of an exchange.
    """
    largest = (max(_operations(phase)) for phase in phases)
    lanes = sum(len(phase.lanes) for phase in phases if form_of(phase).is_cut)
    own = STEP_BYTES * sum(largest) + LANE_BYTES * lanes
    return RUNTIME_BYTES + PHASE_BYTES * len(phases) + own


def _operations(phase: Phase) -> list[int]:
    """DSD operations of each role."""
    if form_of(phase).is_cut:
        return [0]  # they are the lane's
    return [sum(1 + (op.advance in BY_WAVELET) for op in role.ops) for role in phase.roles]


def data_bytes(contract: Contract, phases: Sequence[Phase]) -> int:
    """The vector, rounded up to 32-bit words, what exchanges need, and small data, in bytes."""
    exchanges = sum(
        _exchange_bytes(phase, contract.element) for phase in phases if form_of(phase).is_cut
    )
    buffers = sum(_buffer_bytes(one, one.length) for one in contract.in_memory)
    return buffers + exchanges + SMALL_DATA_BYTES


def _buffer_bytes(contract: Contract, elements: int) -> int:
    """So many elements of a buffer, with what is between them."""
    return _vector_bytes(contract.element, contract.span_of(elements))


def _vector_bytes(element: ElementType, length: int) -> int:
    return (element.bytes * length + 3) // 4 * 4


def _exchange_bytes(phase: Phase, element: ElementType) -> int:
    """The stage, and the rows of all lanes."""
    cuts = 2 * (phase.slicing.count + 1) if phase.slicing.dynamic else 0
    cuts += _vector_bytes(element, stage_of(phase))
    areas = phase.areas if form_of(phase) is Form.STEPS else 0  # a stream stages slices
    stage = areas * _vector_bytes(element, phase.slicing.length)
    return stage + 2 * len(phase.lanes) * row_numbers(phase) + cuts


def stage_of(phase: Phase) -> int:
    """Elements that a stream stages: a slice, or the vector where PEs stage several."""
    if form_of(phase) is not Form.STREAM:
        return 0
    streams = (stream_of(lane) for role in phase.roles for lane in role.lanes)
    staged = [stream for stream in streams if stream is not None and stream.staged]
    if not staged:
        return 0
    slicing = phase.slicing
    if asides := asides_of(phase):
        return max(part.stop for part in asides.values()) * slicing.size(0)
    one = all(stream.combines for stream in staged)
    return int(np.diff(slicing.bounds).max()) if one else slicing.length


def lane_numbers(lane: Lane) -> int:
    """Numbers of a lane's program."""
    return sum(LOOP_HEADER + ROW_NUMBERS * len(loop.entries) for loop in lane.table)


@memoized
def row_numbers(phase: Phase) -> int:
    """Numbers of 16 bits that the rows of a lane take in a PE at most: five a row and turn,
    and one behind the last that says that it was."""
    longest = 0
    for role, found in zip(phase.roles, tables_by_role(phase), strict=True):
        for lane, table in zip(role.lanes, found.tables, strict=True):
            longest = max(longest, int(_rows(lane, found.places, table).max(initial=0)))
    return ROW_NUMBERS * (longest + 1)


def _rows(lane: Lane, places: Ints, table: Ints) -> Ints:
    """Rows that a lane takes at places; where one does nothing it takes none."""
    loops = lane.table
    does = table[:, 0] != 0
    before = np.concatenate((np.zeros((1, len(places)), np.int64), np.cumsum(does, axis=0)))
    end = np.cumsum([len(loop.entries) for loop in loops], dtype=np.int64)
    begin = np.concatenate(([0], end))[:-1]
    turns = values_of([loop.turns for loop in loops], places)
    rows: Ints = ((before[end] - before[begin]) * turns).sum(axis=0)
    return rows


def program_code_bytes(plans: Sequence[Plan]) -> int:
    """Code of a program of several collectives: that of each, the run-time once, and for each phase
    what lets it begin and sets its routers."""
    phases = [phase for plan in plans for phase in plan.phases]
    routers = sum(max(len(role.colors) for role in phase.roles) for phase in phases)
    return code_bytes(phases) + TURN_BYTES * len(phases) + ROUTER_BYTES * routers


def program_data_bytes(plans: Sequence[Plan], rounds: int) -> int:
    """The buffers of all rounds, each once, and what each collective needs beside."""
    contracts = [plan.collective.contract for plan in plans]
    sizes = [sum(_buffer_bytes(one, one.length) for one in c.in_memory) for c in contracts]
    held = [one for contract in contracts for one in contract.in_memory]
    buffers = {one.buffer: _buffer_bytes(one, one.held) for one in held}
    beside = sum(plan.data_bytes - size for plan, size in zip(plans, sizes, strict=True))
    return rounds * sum(buffers.values()) + beside
