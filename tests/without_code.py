"""Machines whose code takes no time, for what holds of the model alone."""

from __future__ import annotations

from dataclasses import fields, replace

from collc.target.constants import Code, Constants, OneWordCode, RowCode, StreamCode


def without_code(constants: Constants) -> Constants:
    """The same machine where code takes no time, and registers and tasks do not either."""
    none = dict.fromkeys(("dsr_load", "op_issue", "task_start", "scalar", "jump", "no_jump"), 0)
    engine = replace(constants.engine, **none)
    code = Code(**{field.name: 0 for field in fields(Code)})
    rows = RowCode(**{field.name: 0 for field in fields(RowCode)})
    streams = StreamCode(**{field.name: 0 for field in fields(StreamCode)})
    one_word = OneWordCode(**{field.name: 0 for field in fields(OneWordCode)})
    return Constants(engine, code, rows, streams, one_word, one_word)
