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
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

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
    buffer: int  # `run` sets `base` and `vector`, and calls the first phase
    token_alone: int  # the same for a barrier, which has no buffer

    # phases of trees: in a function, from where it is entered
    store: int  # a vector is combined with the own one in memory
    store_passes: int  # more than that if one operation does so with several
    store_token: int  # the same in a barrier
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
    next_round: int  # an operation of several that store is over: on to the next
    last_round: int  # or, more than that, there is none

    # from collective to collective (`collectives_pe.csl.j2`, `program_pe.csl.j2`)
    program_launch: int  # from the launch to the test which turn is first
    launch_round: int  # the round set, too
    next_call: int  # from the end of a part to the test which turn is next
    next_missing: int  # of calls in flight at the same time one less
    new_round: int  # the last turn of a round was behind
    other_turn: int  # it is not this turn
    this_turn: int  # it is
    count_missing: int  # how many calls are in flight
    pointer: int  # to the buffer
    pointer_of_round: int
    token: int  # a barrier's token is set instead
    set_buffer: int  # `prepare` sets `base` and `vector`
    begin_phases: int  # `prepare` is left, the phase noted, what begins it called
    begin_nothing: int  # the same where one PE has nothing to do
    next_phase: int  # the phase noted, what begins it called
    start: int  # what starts the phase is called, and the first of its functions
    late_load: int  # registers are loaded in a function of their own
    length_set: int  # the length of what is loaded is set to that of the call
    begun_returns: int  # from the first function's return to that of what called the collective
    nothing_returns: int  # the same where one PE has nothing to do
    frames: int  # returns behind the first function of a phase
    frames_within: int  # the same behind another phase of the same collective
    frames_at_launch: int
    frames_of_nothing: int  # by how much fewer where one PE has nothing to do
    other_use: int  # a task finds that it is not this phase
    this_use: int  # that it is
    last_use: int  # behind all those that it is not
    own_task: int  # a task of one phase calls its function
    ends: int  # what ends a phase is called, and activates a task
    control_sent: int  # a control wavelet is issued, and what follows called
    closes: int  # a lane's teardown is issued
    restore_test: int  # whether a PE has the result, with call and return
    frames_of_lane: int  # returns behind the last row of a lane
    finished: int  # from the end of the last part until the host may go on

    # routers torn down and set (`shared_phase.csl.j2`)
    awaited: int  # whether a color of the phase is not torn down yet
    opened: int  # the colors are noted, what sets them is called, and returns
    opened_color: int  # for each color
    opened_array: int  # more for a color with several outputs
    opened_output: int  # and for each of them
    opened_switch: int  # for each color on which switch positions change in some phase
    opened_moving: int  # and where they change in this one
    told: int  # the handler of a teardown, from the first instruction of its task
    frames_of_start: int  # returns behind the first function where a handler has started the phase
    last_control: int  # of the task that sends the control wavelet that ends a part
    between: int  # of a task between two operations of a phase
    ended: int  # behind the end of a part, where that of another is missing


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
    prepare: int  # a row is prepared
    prepare_send: int
    prepare_out_size: int  # more where rows differ in length
    prepare_receive: int
    prepare_in_size: int
    prepare_stage: int
    stage_area: int  # more where there are several areas
    bounds: int  # where a slice begins and ends is looked up
    step_begun: int  # how many lanes it has
    step_over: int  # what ends the phase is called


@dataclass(frozen=True)
class Constants:
    """All of a target."""

    engine: Engine
    code: Code
    rows: RowCode


@lru_cache
def constants_of(target: str, timing: str = TIMING) -> Constants:
    """The constants of a target under one of fabsim's timing tables."""
    values: dict[str, Any] = read(FILE)[timing][target]
    engine, code = (
        {field.name: values[field.name] for field in fields(kind)} for kind in (Engine, Code)
    )
    return Constants(Engine(**engine), Code(**code), RowCode(**values["rows"]))


def read(file: Path) -> Any:  # noqa: ANN401 - JSON
    """What is in the file."""
    return json.loads(file.read_text(encoding="utf-8"))


def without_code(constants: Constants) -> Constants:
    """The same machine where code takes no time, and registers and tasks do not either."""
    none = dict.fromkeys(("dsr_load", "op_issue", "task_start", "scalar", "jump", "no_jump"), 0)
    engine = replace(constants.engine, **none)
    code = Code(**{field.name: 0 for field in fields(Code)})
    rows = RowCode(**{field.name: 0 for field in fields(RowCode)})
    return Constants(engine, code, rows)
