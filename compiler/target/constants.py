"""What the machine takes, and a call-back whose branches go by values, in cycles of a PE.

All of it is measured. `make constants` makes `constants.json`: each number is what lies between two
events in the trace of an emitted program on fabsim, or a difference of two such stretches; which
they are stands in `tests/measuring`. The file has the numbers of each timing table of fabsim, by
target; predictions are made with those of `TIMING`. What else code takes is counted where it is
made (`collc.emit.actions`).
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
    first_task: int  # no task but the launch begins sooner, since that may follow the reset


@dataclass(frozen=True)
class Code:
    """What the call-backs of pairs take, from one call to the next."""

    pair_value: int  # the call-back of a pair's value
    pair_float: int  # by how much that takes longer where values are floats
    pair_kept: int  # that of its index, where the own pair is kept


@dataclass(frozen=True)
class Constants:
    """All of a target."""

    engine: Engine
    code: Code

    @property
    def behind_others(self) -> Constants:
        """What all takes in a launch that does not follow the reset."""
        return replace(self, engine=replace(self.engine, first_task=0))


@lru_cache
def constants_of(target: str, timing: str = TIMING) -> Constants:
    """The constants of a target under one of fabsim's timing tables."""
    values: dict[str, Any] = read(FILE)[timing][target]
    engine, code = (
        {field.name: values[field.name] for field in fields(kind)} for kind in (Engine, Code)
    )
    return Constants(Engine(**engine), Code(**code))


def read(file: Path) -> Any:  # noqa: ANN401 - JSON
    """What is in the file."""
    return json.loads(file.read_text(encoding="utf-8"))
