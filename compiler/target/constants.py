"""What the machine and the emitted code take, in cycles of a PE: `Engine` and `Code`.

Those of the machine, of the phases of trees and of rows are measured. `make constants` makes
`constants.json`: each is what lies between two events in the trace of an emitted program on fabsim,
or a difference of two such stretches; which they are stands in `tests/measuring`. The file has the
numbers of each timing table of fabsim, by target; predictions are made with those of `TIMING`.

Code is optimised before it runs, so pieces have no times of their own: those of rows and of
programs are what fits the tasks and programs that were measured best (`tests/measuring`).
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from collc.base.values import dataclass

FILE = Path(__file__).parent / "constants.json"
TIMING = "simfabric"  # the timing table that fabsim uses if it is told nothing


@dataclass(frozen=True)
class Engine:
    """What the machine takes, whatever it runs."""

    hop: int  # from a router to the next
    ramp_up: int  # from the cycle that executes an element until it is in the PE's own router
    send_start: int  # more of it where the operation receives nothing: its pipeline fills
    ramp_down: int  # from there to the cycle that can use it
    dsr_load: int  # a DSD is copied into a register
    op_issue: int  # from the cycle behind the last load to the issue of an operation
    task_start: int  # from the activation of a task to its first instruction
    between_tasks: int  # from the end of a task to the next one, at least
    scalar: int  # an instruction of a call-back
    jump: int  # a conditional jump that is taken
    no_jump: int  # and one that is not
    float_wait: int  # more of one whose result is a float that another one needs
    wide_product: int  # one that multiplies whole numbers of 32 bits
    map_element: int  # what else a call of a call-back takes
    negate_words: int  # 16-bit words of memory, not cycles: so many change their sign in one
    combine_words: int  # the same of a vector that is combined with another one


@dataclass(frozen=True)
class Code:
    """Pieces of the emitted code. Those that begin an operation end when it is issued, with its
    operands loaded."""

    # functions and tasks
    frame: int  # a task returns
    tell: int  # the task is activated that tells of the end
    done: int  # what that task does until a collective by itself is done

    # a collective by itself (`collective_pe.csl.j2`)
    launch: int  # from the launch to the call of the module's `run`
    returns: int  # from the issue of a task's last operation until that can have an element
    receives: int  # the same of an operation that receives, which does not wait for the task's end
    buffer: int  # `run` sets `base` and `vector`, and calls the first phase

    # phases of trees: in a function, from where it is entered
    store: int  # a vector is combined with the own one in memory
    store_passes: int  # more than that if one operation does so with several
    send: int  # the own vector is sent
    add: int  # what comes is combined with the own vector, whose register is loaded, and sent
    add_after_store: int  # the same, that register being loaded
    copy: int  # what is broadcast goes to memory
    control: int  # a control wavelet is sent
    negate: int  # the vector changes its sign
    store_by_map: int  # the same by `@map`, whose operands are descriptors
    add_by_map: int
    map_round: int  # from one round of a loop around `@map` to the next
    store_one: int  # the same with a dynamic length, an operation for each vector
    own_vector_read: int  # behind storing the own vector is read, its register loaded
    pair_value: int  # the call-back of a pair's value, to the next call
    pair_float: int  # by how much that takes longer where values are floats
    pair_kept: int  # that of its index, where the own pair is kept
    pair_taken: int  # and where the received one is
    next_round: int  # an operation of several that store is over: on to the next
    last_round: int  # or, more than that, there is none

    # from collective to collective (`collectives_pe.csl.j2`, `program_pe.csl.j2`): calls are
    # inlined, so functions take nothing beside what they do, but where their returns meet
    program_launch: int  # from the launch to the first call
    launch_round: int  # more where there are rounds
    next_call: int  # from the end of a part to the test which turn is next
    new_round: int  # the same behind the last turn, to the first call of the next round
    next_missing: int  # of calls in flight at the same time one less, and none is left
    missing: int  # or some are left, up to the end of the task
    finished: int  # from the end of the last part until the host may go on
    finished_round: int  # more where there are rounds
    turns_called: int  # more where what chooses the turn is too long to be inlined
    other_turn: int  # it is not this turn
    this_turn: int  # it is
    count_missing: int  # how many calls are in flight
    jump: int  # to where returns meet
    pointer: int  # to the buffer
    pointer_of_round: int
    pointer_of_next: int  # the same where the round has just been counted
    token: int  # a barrier's token is set instead, also by one that is alone
    set_buffer: int  # `prepare` sets `base` and `vector`
    begin_phases: int  # the phase is noted
    next_phase: int  # the same behind another one
    map_length: int  # a round of call-backs sets the length of what it takes
    phase_read: int  # a task that several phases have reads which is under way
    other_use: int  # it is not this phase
    this_use: int  # it is
    ends: int  # what ends a phase activates a task
    control_sent: int  # a control wavelet is issued, up to what follows

    # routers torn down and set (`shared_phase.csl.j2`)
    awaited: int  # whether a color of the phase is not torn down yet: none is
    waits: int  # or some is, up to the return
    opened: int  # the colors are noted
    opened_color: int  # for each color
    opened_array: int  # more for a color with several outputs
    opened_output: int  # and for each of them
    opened_switch: int  # for each color on which switch positions change in some phase
    opened_moving: int  # and where they change in this one
    told: int  # the handler of a teardown
    told_last: int  # the same where it was the last one that a phase waits for
    end_unblocked: int  # the handler of a teardown with which a phase ends
    end_blocked: int  # the task that is told of the end is blocked again


@dataclass(frozen=True)
class RowCode:
    """Pieces of the code that runs rows of an exchange (`exchange_pe.csl.j2`) between its jumps:
    what they add to the time of a task."""

    counter: int  # a variable is read, changed, written
    row_begun: int  # a row's kind is read, and noted
    operand: int  # a descriptor is read, and its register loaded
    operand_length: int  # the same of one that is known but for its length
    block: int  # a task is blocked
    activate: int  # a task is activated
    begun: int  # a phase's beginning
    lane_begun: int  # more for each lane
    first_send: int  # and for preparing its first row
    first_receive: int
    first_stage: int
    backward: int  # where slices go from their last element on
    cuts: int  # a vector of a dynamic length is cut into slices
    cut: int  # for each
    cut_in_loop: int  # the same where they are too many to be unrolled
    prepare: int  # a row is prepared
    prepare_send: int
    prepare_out_size: int  # more where rows differ in length
    prepare_receive: int
    prepare_in_size: int
    prepare_stage: int
    stage_area: int  # more where there are several areas
    bounds_out: int  # where what is sent begins and ends in a vector of a dynamic length
    bounds_into: int  # the same of what is received
    step_begun: int  # how many lanes it has
    step_over: int  # what ends the phase is called


@dataclass(frozen=True)
class StreamCode:
    """Pieces of the code of streams (`stream_pe.csl.j2`), up to the issue of a task's last
    operation. A task loads the registers of all its operations first."""

    loaded: int  # from a task's last load to its first operation
    joins: int  # for each task that is blocked
    backward: int  # some lane goes from the last element on
    sends: int  # an operation sends: its registers, and its issue
    through: int  # more where it combines what comes
    receives: int  # an operation receives
    combines: int  # more where it combines that with the own vector
    staged: int  # more, or less, where that is staged
    control: int  # a control wavelet is sent
    applied: int  # in the end, where something is staged: combined with the vector, or moved
    ready: int  # of a stream that is ready, to the first operation
    ready_loads: int  # there the registers of what is sent are loaded
    ready_issues: int  # an operation begins
    ready_moved: int  # behind the issues the registers of what is staged are loaded
    ready_applied: int  # what is staged is moved
    ready_blocks: int  # a task is blocked until the next call has ended
    turn_sends: int  # of lanes that run in turn the next one sends
    turn_control: int  # or sends its control wavelet
    turn_follows: int  # the next one sends in the same task behind that
    passed: int  # for each end before that one which is asked for


@dataclass(frozen=True)
class OneWordCode:
    """Pieces of the code of a one-word collective (`one_word_pe.csl.j2`): of an allreduce of an
    element, whose word is the caller's at first, or of a barrier. All registers are loaded, so
    those that begin an operation end when it is issued, or, if the code waits for it, with its one
    word."""

    begun: int  # from the launch to where a PE that is no leaf calls the first phase
    leaf: int  # from there to where a leaf has sent its word, perhaps less
    receive: int  # an operation receives, and combines what comes in memory or on its way
    send: int  # the own word is sent by a PE to which some have come
    control: int  # from the own word to the control wavelet behind it
    late: int  # to that wavelet from the task behind a word that was combined on its way
    copy: int  # from there, or where a word has been sent, what is broadcast is received
    first_task: int  # no task begins sooner, since a launch may follow the reset


@dataclass(frozen=True)
class Constants:
    """All of a target."""

    engine: Engine
    code: Code
    rows: RowCode
    streams: StreamCode
    own: OneWordCode
    token: OneWordCode

    @property
    def behind_others(self) -> Constants:
        """What all takes in a launch that does not follow the reset."""
        own, token = (replace(of, first_task=0) for of in (self.own, self.token))
        return replace(self, own=own, token=token)


@lru_cache
def constants_of(target: str, timing: str = TIMING) -> Constants:
    """The constants of a target under one of fabsim's timing tables."""
    values: dict[str, Any] = read(FILE)[timing][target]
    engine, code = (
        {field.name: values[field.name] for field in fields(kind)} for kind in (Engine, Code)
    )
    rows, streams = RowCode(**values["rows"]), StreamCode(**values["streams"])
    one_word = (OneWordCode(**values["one_word"][of]) for of in ("own", "token"))
    return Constants(Engine(**engine), Code(**code), rows, streams, *one_word)


def read(file: Path) -> Any:  # noqa: ANN401 - JSON
    """What is in the file."""
    return json.loads(file.read_text(encoding="utf-8"))
