"""Names of the user's that emitted CSL cannot carry: the language's own words, and ours."""

from collections.abc import Iterator, Sequence

from collc.base.diagnostics import Diagnostic, Span
from collc.spec import Collective, Program, RootChoice

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
    """One diagnostic for each name of the file that emitted CSL would declare twice. Names that it
    has itself are no problem: those of the file are spelled in another way there."""
    buffers = _buffers([collective])
    taken = {collective.name: "the collective", f"{collective.name}_params": "its parameters"}
    for name in (declared for buffer in buffers for declared in (buffer, f"{buffer}_ptr")):
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


def unusable_lengths(program: Program, collectives: Sequence[Collective]) -> Iterator[Diagnostic]:
    """The same for lengths and roots that are given when the program runs, which are arrays."""
    buffers = _buffers(collectives)
    names = {collective.name for collective in collectives}
    for what, name, at in _given(program):
        if name in buffers or name in names or name.removesuffix("_ptr") in buffers:
            yield _refused(name, f"would be a {what} and a buffer or a collective", at)


def _given(program: Program) -> Iterator[tuple[str, str, Span]]:
    """Every number that is given when the program runs: what it is, its name."""
    for one in program.choices:
        if one.length is not None:
            yield "length", one.length.name, one.length.span
        if isinstance(one, RootChoice):
            yield "root", one.root, one.span


def unusable_in_program(collectives: Sequence[Collective]) -> Iterator[Diagnostic]:
    """The same for the buffers of several collectives."""
    others = _buffers(collectives)
    for contract in (one for c in collectives for one in c.contract.in_memory):
        buffer = contract.buffer
        if buffer.endswith("_ptr") and buffer.removesuffix("_ptr") in others:
            yield _refused(buffer, "is the pointer to another buffer", contract.span)
