"""What a PE's program takes of its memory, estimated, never too low.

The vendor's compiler decides, this only refuses what cannot fit. The numbers are instructions of
the emitted text as fabsim compiles it, over all examples on both targets, times the bytes of an
instruction; `python tests/memory.py` compares. 2 KB are for the run-time library with memcpy.
"""

from collections.abc import Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.plan import (
    BY_WAVELET,
    ONE,
    VECTOR,
    Action,
    Advance,
    Lane,
    Loop,
    Once,
    Op,
    Phase,
    Plan,
    Role,
)
from collc.plan.entries import values_of
from collc.plan.step_tables import tables_by_role
from collc.plan.streams import stage_of
from collc.spec import Contract, ElementType, OwnOperation
from collc.spec.arithmetic import arithmetic_of
from collc.spec.exchange import Slicing

RUNTIME_BYTES = 2048  # library start-up and memcpy command handling
KERNEL_BYTES = 100  # what a launch calls, and what calls back
PHASE_BYTES = 40  # choosing what a PE does in a phase
OPERATION_BYTES = 60  # an operation with its loads and its task, or a command
SHARING_BYTES = 90  # one of a stream or a program, with registers that others have in turn
STEP_BYTES = 100  # the same, with the loads of its slices
LOOP_BYTES = 240  # a loop of turns that are alike
TABLE_BYTES = 800  # a lane that goes through a step table
CALL_BACK_BYTES = 60  # of one instruction, in an operation that combines
NODE_BYTES = 12  # of a formula
PAIR_BYTES = 200  # a call-back that chooses between pairs
ROW_NUMBERS = 5
LOOP_HEADER = 3  # numbers in front of the rows of a loop
TURN_BYTES = 120  # letting a phase of a program begin, and handing tasks on to it
ROUTER_BYTES = 100  # setting a router on one color
SMALL_DATA_BYTES = 64  # descriptors, pointers, counters
LANE_DATA_BYTES = 48  # the same of a lane with steps

FEWEST_TURNS = 3  # that a loop is worth
MOST_ACTS = 48  # operations of a lane with steps, one behind the other
INSTRUCTION_BYTES = 4  # with a constant of 16 bits in it [guess]


def code_bytes(contract: Contract, phases: Sequence[Phase], room: int) -> int:
    """Code of the largest PE class, in bytes: the run-time, and for each phase its operations.
    Those of steps are one behind the other if there is `room`, in bytes, for all that; else lanes
    go through step tables."""
    by_operations = _code_bytes(contract, phases, tables=False)
    if by_operations <= room:
        return by_operations
    return min(by_operations, _code_bytes(contract, phases, tables=True))


def _code_bytes(contract: Contract, phases: Sequence[Phase], *, tables: bool) -> int:
    own = sum(_of_phase(contract, phase, tables=tables) for phase in phases)
    return RUNTIME_BYTES + KERNEL_BYTES + PHASE_BYTES * len(phases) + own


def _of_phase(contract: Contract, phase: Phase, *, tables: bool, alone: bool = True) -> int:
    if phase.has_loops:
        return steps_bytes(contract, phase, tables=tables)
    each = OPERATION_BYTES if phase.whole and alone else SHARING_BYTES
    return max(_of_role(contract, role, each) for role in phase.roles)


def _of_role(contract: Contract, role: Role, each: int) -> int:
    operations = sum(1 + (op.advance in BY_WAVELET) for op in role.ops)
    combining = sum(op.action is Action.COMBINE for op in role.ops)
    return each * operations + combining * _call_back_bytes(contract)


def steps_bytes(contract: Contract, phase: Phase, *, tables: bool) -> int:
    """Code of a phase made of steps, operation by operation or by step tables."""
    by_tables = len(phase.lanes) * (TABLE_BYTES + _call_back_bytes(contract))
    if tables:
        return by_tables
    found = [_of_steps(contract, phase, index) for index in range(len(phase.roles))]
    return by_tables if None in found else max(one for one in found if one is not None)


def _of_steps(contract: Contract, phase: Phase, index: int) -> int | None:
    """Code of a role's operations with steps, at the place with most of them; None if a lane has
    too many."""
    role, places = phase.roles[index], tables_by_role(phase)[index].places
    if not len(places):
        return 0
    alone = sum(bool(lane.table) for lane in role.lanes) == 1
    call_back = _call_back_bytes(contract)
    most = np.zeros(len(places), np.int64)
    for lane in role.lanes:
        acts = np.zeros(len(places), np.int64)
        for loop in lane.table:
            ops = [op for entry in loop.entries for op in entry.ops]
            if not ops:
                continue
            turns = values_of([loop.turns], places)[0]
            does = values_of([op.where for op in ops], places) != 0
            weights = np.array([1 + (op.advance in BY_WAVELET) for op in ops])
            combined = np.array([op.action is Action.COMBINE for op in ops])
            if alone and sent_and_received(loop, phase.slicing):
                loops = (turns >= FEWEST_TURNS) & does.all(axis=0)
                most += np.where(loops, LOOP_BYTES + call_back, 0)
                turns = np.where(loops, 0, turns)
            acts += turns * (weights @ does)
            most += turns * (combined @ does) * call_back
        if acts.max() > MOST_ACTS:
            return None
        most += acts * STEP_BYTES
    return int(most.max())


def sent_and_received(loop: Loop | Once, slicing: Slicing) -> tuple[Op, Op] | None:
    """What a turn of a loop sends and receives, if it sends a slice of the vector and receives
    another into the vector, and nothing else: such turns are alike."""
    if len(loop.entries) != 1 or len(loop.entries[0].ops) != 2:
        return None
    sent, received = sorted(loop.entries[0].ops, key=lambda op: not isinstance(op.send, str))
    plain = all(
        op.advance is Advance.NOTHING
        and op.slices.count == ONE
        and not op.slices.backward
        and op.elements is None
        and not op.filter
        for op in (sent, received)
    )
    ways = (sent.receive, received.send) == (VECTOR, VECTOR) and sent.action is Action.COPY
    cuts_all = slicing.length // slicing.grain >= slicing.count or slicing.dynamic
    if not plain or not ways or not cuts_all or not isinstance(received.receive, str):
        return None
    return sent, received


def _call_back_bytes(contract: Contract) -> int:
    """What an operation has beside to combine, where the vector unit does not."""
    operation = contract.operation
    if operation is None or arithmetic_of(contract.element, operation).kind != "map":
        return 0
    if isinstance(operation, OwnOperation):
        return CALL_BACK_BYTES + NODE_BYTES * len(operation.formula)
    return PAIR_BYTES if contract.element.words > 1 else CALL_BACK_BYTES


def data_bytes(contract: Contract, phases: Sequence[Phase]) -> int:
    """The vector, rounded up to 32-bit words, what exchanges need, and small data, in bytes."""
    exchanges = sum(_exchange_bytes(phase, contract.element) for phase in phases if not phase.whole)
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
    stage = _vector_bytes(element, stage_of(phase))
    own = LANE_DATA_BYTES if phase.has_loops else 0
    return stage + len(phase.lanes) * (2 * row_numbers(phase) + own) + cuts


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


def program_code_bytes(plans: Sequence[Plan], room: int) -> int:
    """Code of a program of several collectives: that of each, the run-time once, and for each phase
    what lets it begin and sets its routers; with `room` as for one."""
    by_operations, by_tables = (_of_program(plans, tables=tables) for tables in (False, True))
    return by_operations if by_operations <= room else min(by_operations, by_tables)


def _of_program(plans: Sequence[Plan], *, tables: bool) -> int:
    phases = [(plan.collective.contract, phase) for plan in plans for phase in plan.phases]
    routers = sum(max(len(role.colors) for role in phase.roles) for _, phase in phases)
    own = sum(_of_phase(of, phase, tables=tables, alone=False) for of, phase in phases)
    turns = (PHASE_BYTES + TURN_BYTES) * len(phases) + ROUTER_BYTES * routers
    return RUNTIME_BYTES + KERNEL_BYTES + turns + own


def program_data_bytes(plans: Sequence[Plan], rounds: int) -> int:
    """The buffers of all rounds, each once, and what each collective needs beside."""
    contracts = [plan.collective.contract for plan in plans]
    sizes = [sum(_buffer_bytes(one, one.length) for one in c.in_memory) for c in contracts]
    held = [one for contract in contracts for one in contract.in_memory]
    buffers = {one.buffer: _buffer_bytes(one, one.held) for one in held}
    beside = sum(plan.data_bytes - size for plan, size in zip(plans, sizes, strict=True))
    return rounds * sum(buffers.values()) + beside
