"""Names of the user's that emitted CSL cannot carry: the language's own words, and ours."""

import re
from collections.abc import Iterator, Sequence

from collc.base.diagnostics import Diagnostic, Span
from collc.spec import Collective, Program, RootChoice, Selection

# Keywords and type names of CSL (docs/csl-constructs.md, "Names").
KEYWORDS = frozenset(
    [
        "align",
        "and",
        "anytype",
        "asm",
        "bool",
        "break",
        "color",
        "comptime",
        "comptime_float",
        "comptime_int",
        "comptime_string",
        "comptime_struct",
        "const",
        "continue",
        "control_task_id",
        "data_task_id",
        "direction",
        "dsr_dest",
        "dsr_fifo_dest",
        "dsr_fifo_src1",
        "dsr_src0",
        "dsr_src1",
        "else",
        "enum",
        "export",
        "extern",
        "fabin_dsd",
        "fabout_dsd",
        "false",
        "fn",
        "for",
        "if",
        "imported_module",
        "inline",
        "input_queue",
        "layout",
        "linkname",
        "linksection",
        "local_task_id",
        "mem1d_dsd",
        "mem4d_dsd",
        "or",
        "output_queue",
        "packed",
        "param",
        "range",
        "return",
        "struct",
        "switch",
        "task",
        "true",
        "type",
        "union",
        "ut_id",
        "var",
        "void",
        "volatile",
        "while",
        "xdsr",
        "NORTH",
        "EAST",
        "SOUTH",
        "WEST",
        "RAMP",
        "bf16",
        "cb16",
        "f16",
        "f32",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
    ]
)

# What the standalone program declares beside the user's names.
IN_PROGRAM = frozenset(
    [
        "sys",
        "memcpy",
        "memcpy_params",
        "run",
        "finished",
        "finished_id",
        "begin_run",
        "end_run",
        "clock",
        "clock_params",
        "time_stamps",
        "time_stamps_ptr",
        "start_wait",
        "start_wait_ptr",
        "x_coordinate",
        "y_coordinate",
    ]
)


def unusable_names(collective: Collective) -> Iterator[Diagnostic]:
    """One diagnostic for each name that emitted CSL would declare twice or could not declare."""
    buffers = _buffers([collective])
    own = ((buffer, collective.contract.span) for buffer in buffers)
    for name, at in ((collective.name, collective.span), *own):
        if name in KEYWORDS:
            yield _refused(name, "is a word of CSL", at)
        elif name in IN_PROGRAM:
            yield _refused(name, "is declared by every emitted program", at)
    taken = {collective.name: "the collective", f"{collective.name}_params": "its parameters"}
    for name in (spelled for buffer in buffers for spelled in (buffer, f"{buffer}_ptr")):
        if name in taken:
            yield _refused(name, f"would be {taken[name]} and the buffer", collective.contract.span)


def _buffers(collectives: Sequence[Collective]) -> tuple[str, ...]:
    """The names of their buffers."""
    return tuple(one.buffer for c in collectives for one in c.contract.in_memory)


def _refused(name: str, why: str, at: Span) -> Diagnostic:
    return Diagnostic(
        "C402",
        f"`{name}` cannot be a name in the emitted CSL: it {why}",
        at,
        help="choose another name",
    )


# What the modules of a program of several collectives declare beside the collectives, and what its
# PE program declares beside the buffers; with numbers behind these come more.
_MODULE = frozenset(
    (
        "params",
        "done",
        "colors",
        "collectives",
        "beside",
        "width",
        "height",
        "input_queues",
        "output_queues",
        "task_ids",
        "dsr_ids",
        "check_arguments",
        "phase_done_id",
        "tile_config",
        "shared_ids",
        "phase",
        "in_use",
        "awaited",
        "start_id",
        "start_phase",
        "torn_down",
        "phase_done",
        "configure",
        "get_params",
    )
)
_HOST = frozenset(("name", "cmaddr", "seed", "help"))  # options of its host script
_NUMBERED = re.compile(r"(begin|start|after|shared|torn_down|beside)_[0-9]+")
_STANDALONE = frozenset(
    (
        "memcpy_params",
        "collectives_params",
        "collectives",
        "beside",
        "beside_params",
        "sys",
        "call",
        "round",
        "dice",
        "dice_ptr",
        "idle",
        "linger",
        "run",
        "next",
        "called",
        "called_turn",
        "missing",
    )
)


def unusable_lengths(program: Program, collectives: Sequence[Collective]) -> Iterator[Diagnostic]:
    """The same for the names of choices by length or by root, and of these, which are arrays."""
    buffers = _buffers(collectives)
    names = {collective.name for collective in collectives}
    for one, what, name, at in _given(program):
        if one.name in KEYWORDS:
            yield _refused(one.name, "is a word of CSL", one.span)
        elif one.name in _MODULE or _NUMBERED.fullmatch(one.name) or one.name in IN_PROGRAM:
            yield _refused(one.name, "is declared by the modules of every program", one.span)
        if name in KEYWORDS:
            yield _refused(name, "is a word of CSL", at)
        elif name in _STANDALONE | _HOST or name.removesuffix("_ptr") in _STANDALONE:
            yield _refused(name, "is declared by every program", at)
        elif name in buffers or name in names or name.removesuffix("_ptr") in buffers:
            yield _refused(name, f"would be a {what} and a buffer or a collective", at)


def _given(program: Program) -> Iterator[tuple[Selection | RootChoice, str, str, Span]]:
    """Every choice with each number that is given when the program runs: what it is, its name."""
    for one in program.choices:
        if one.length is not None:
            yield one, "length", one.length.name, one.length.span
        if isinstance(one, RootChoice):
            yield one, "root", one.root, one.span


def unusable_in_program(collectives: Sequence[Collective]) -> Iterator[Diagnostic]:
    """The same for names that a program of several collectives declares once for all of them."""
    names = {collective.name for collective in collectives}
    for collective in collectives:
        name = collective.name
        called = name.removesuffix("_run") in names - {name}
        if called or name in _MODULE or _NUMBERED.fullmatch(name):
            yield _refused(name, "is declared by the modules of every program", collective.span)
        for buffer in _buffers([collective]):
            if buffer in _STANDALONE or buffer.removesuffix("_ptr") in _STANDALONE:
                yield _refused(buffer, "is declared by every program", collective.contract.span)
    others = _buffers(collectives)
    for contract in (one for c in collectives for one in c.contract.in_memory):
        buffer = contract.buffer
        if buffer.endswith("_ptr") and buffer.removesuffix("_ptr") in others:
            yield _refused(buffer, "is the pointer to another buffer", contract.span)
