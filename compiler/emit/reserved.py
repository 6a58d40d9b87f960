"""Names of the user's that emitted CSL cannot carry: the language's own words, and ours."""

from __future__ import annotations

from collections.abc import Iterator

from collc.diagnostics import Diagnostic, Span
from collc.spec import Collective

# Keywords and type names of CSL (docs/csl-constructs.md, "Names").
_KEYWORDS = frozenset(
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
_PROGRAM = frozenset(
    [
        "sys",
        "memcpy",
        "memcpy_params",
        "run",
        "finished",
        "finished_id",
        "x_coordinate",
        "y_coordinate",
    ]
)


def unusable_names(collective: Collective) -> Iterator[Diagnostic]:
    """One diagnostic for each name that emitted CSL would declare twice or could not declare."""
    buffer = collective.contract.buffer
    for name, at in ((collective.name, collective.span), (buffer, collective.contract.span)):
        if name in _KEYWORDS:
            yield _refused(name, "is a word of CSL", at)
        elif name in _PROGRAM:
            yield _refused(name, "is declared by every emitted program", at)
    taken = {collective.name: "the collective", f"{collective.name}_params": "its parameters"}
    for name in (buffer, f"{buffer}_ptr"):
        if name in taken:
            yield _refused(name, f"would be {taken[name]} and the buffer", collective.contract.span)


def _refused(name: str, why: str, at: Span) -> Diagnostic:
    return Diagnostic(
        "C402",
        f"`{name}` cannot be a name in the emitted CSL: it {why}",
        at,
        help="choose another name",
    )
