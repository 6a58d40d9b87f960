"""The kernel of a program, changed so that a launch makes some of its calls.

The library is the one that is shipped, to the byte; what differs is which calls the kernel around
it makes. So what each call leaves can be compared before the next one overwrites it.
"""

from __future__ import annotations

import re

_DECLARED = re.compile(r"^(var call: u16 = 0;.*\n)", re.MULTILINE)
_BEGINS = re.compile(r"\bcall = 0;")
_ENDS = re.compile(r"\bif \(call < (\d+)\) {")


def by_turns(kernel: str) -> tuple[str, str, str]:
    """`pe_program.csl` with two variables that say which turns of a round a launch makes, from one
    to before the other, all to begin with; and their names, which are those of nothing else. Raises
    ValueError for a kernel that makes one call."""
    ends = _ENDS.search(kernel)
    if ends is None or not _DECLARED.search(kernel):
        raise ValueError("a kernel of one call has no turns")
    first, end = (_unused(name, kernel) for name in ("first_turn", "end_turn"))
    added = f"var {first}: u16 = 0;\nvar {end}: u16 = {ends[1]};\n"
    text = _ENDS.sub(f"if (call < {end}) {{", _BEGINS.sub(f"call = {first};", kernel))
    return _DECLARED.sub(rf"\g<1>{added}", text), first, end


def _unused(name: str, text: str) -> str:
    while name in text:
        name += "_"
    return name
