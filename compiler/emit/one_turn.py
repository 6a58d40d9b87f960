"""The kernel of a program, changed so that a launch makes some of its calls.

The library is the one that is shipped, to the byte; what differs is which calls the kernel around
it makes. So what each call leaves can be compared before the next one overwrites it.
"""

from __future__ import annotations

import re

_DECLARED = re.compile(r"^(var call: u16 = 0;.*\n)", re.MULTILINE)
_BEGINS = re.compile(r"\bcall = 0;")
_LAUNCHED = re.compile(r"(\n  call = 0;\n(?:  round = 0;\n)?)(.*?)(?=\n}\n)", re.DOTALL)
_PROCEEDS = re.compile(r"@activate\(next_id\);|proceed\(\);")
_ENDS = re.compile(r"\bif \(call < (\d+)\) {")


def by_turns(kernel: str) -> tuple[str, str, str]:
    """`pe_program.csl` with two variables that say which turns of a round a launch makes, from one
    to before the other, all to begin with; and their names, which are those of nothing else. Raises
    ValueError for a kernel that makes one call."""
    ends, proceeds = _ENDS.search(kernel), _PROCEEDS.search(kernel)
    if ends is None or proceeds is None or not _DECLARED.search(kernel):
        raise ValueError("a kernel of one call has no turns")
    first, end = (_unused(name, kernel) for name in ("first_turn", "end_turn"))
    added = f"var {first}: u16 = 0;\nvar {end}: u16 = {ends[1]};\n"
    launched = rf"\g<1>  if ({first} > 0) {{ {proceeds[0]} return; }}\n\g<2>"
    kernel = _LAUNCHED.sub(launched, kernel, count=1)
    text = _ENDS.sub(f"if (call < {end}) {{", _BEGINS.sub(f"call = {first};", kernel))
    return _DECLARED.sub(rf"\g<1>{added}", text), first, end


def _unused(name: str, text: str) -> str:
    while name in text:
        name += "_"
    return name
