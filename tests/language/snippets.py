"""The `coll` blocks of a Markdown page, made into whole programs.

A page shows only what it talks about. `complete` adds what a program needs besides: the target,
parameters P and B, a grid, a collective around bare clauses, and `program`.
"""

from __future__ import annotations

import re

_CLAUSES = ("order", "reduce", "then", "broadcast", "run", "within", "reserve", "expect")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```coll\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def complete(snippet: str) -> str:
    declarations, clauses = _split(snippet.splitlines())
    first = [line for line in declarations if line.startswith("requires ")]
    declarations = [line for line in declarations if line not in first]
    words = {line.split()[0]: line for line in declarations if line.strip()}
    text = "\n".join(declarations)
    before = [] if "target" in words else ["target wse2"]
    before += [
        f"param {name} = 8"
        for name in "PB"
        if not re.search(rf"^param {name}\b", text, re.MULTILINE)
    ]
    before += [] if "grid" in words else ["grid row = P x 1"]
    behind = [] if "collective" in words else _collective(text, clauses)
    name = re.search(r"^collective (\w+)", "\n".join([text, *behind]), re.MULTILINE)
    assert name is not None
    behind += [] if "program" in words else [f"program {{ {name[1]} }}"]
    return "\n".join([*first, *before, text, *behind]) + "\n"


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    clauses = [
        line
        for line in lines
        if line.startswith(_CLAUSES) and not re.match(r"order \w+(\(.*?\))? [:=]", line)
    ]
    return [line for line in lines if line not in clauses], clauses


def _collective(declarations: str, clauses: list[str]) -> list[str]:
    grid = re.search(r"^grid (\w+)", declarations, re.MULTILINE)
    steps = [line for line in clauses if "reduce " in line]
    spreads = any("broadcast " in line for line in clauses)
    runs = any("run " in line for line in clauses)
    if not steps and not spreads and not runs:
        clauses, spreads = ["broadcast from 0", *clauses], True
    kind = "broadcast" if not steps else "allreduce" if spreads else "reduce"
    if runs:
        kind = "allreduce"
    operation = "" if kind == "broadcast" else ", add"
    name = grid[1] if grid else "row"
    return [f"collective total = {kind}(x: f32[B]{operation}) on {name} {{", *clauses, "}"]
