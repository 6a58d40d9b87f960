"""The kernel of a program, changed so that a launch makes some of its calls.

The library is the one that is shipped, to the byte; what differs is which calls the kernel around
it makes. So what each call leaves can be compared before the next one overwrites it.
"""

from __future__ import annotations

import re

FIRST, END = "first_turn", "end_turn"  # of a round: those from one to before the other

_DECLARED = re.compile(r"^(var call: u16 = 0;.*\n)", re.MULTILINE)
_BEGINS = re.compile(r"\bcall = 0;")
_ENDS = re.compile(r"\bif \(call < (\d+)\) {")


def by_turns(kernel: str) -> str:
    """`pe_program.csl` with two variables that say which turns of a round a launch makes, all to
    begin with. Raises ValueError for a kernel that makes one call."""
    ends = _ENDS.search(kernel)
    if ends is None or not _DECLARED.search(kernel):
        raise ValueError("a kernel of one call has no turns")
    added = f"var {FIRST}: u16 = 0;\nvar {END}: u16 = {ends[1]};\n"
    text = _ENDS.sub(f"if (call < {END}) {{", _BEGINS.sub(f"call = {FIRST};", kernel))
    return _DECLARED.sub(rf"\g<1>{added}", text)
