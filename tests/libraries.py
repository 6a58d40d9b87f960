"""The files of a bundle's library: its code, its layout, and what operations it is made of; and
what a library takes and lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from collc.cost.predict import unprinted
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.plan.plan import ProgramPlan

CODES = {"local_task_ids": "C306", "dsr_ids": "C307"}  # of what a library may lack


def name_of(files: Mapping[str, str], part: str = "pe") -> str:
    """The library's file with the code of a PE, or with the layout."""
    own = f"_{part}.csl"
    (name,) = (name for name in files if name.endswith(own) and not name.startswith("clock_"))
    return name


def library_of(files: Mapping[str, str], part: str = "pe") -> str:
    """The text of the same."""
    return files[name_of(files, part)]


def with_operations(files: Mapping[str, str], before: str, after: str) -> dict[str, str]:
    """The files with something else in the text of every operation that has it; some has."""
    own = {name: text for name, text in files.items() if name.startswith(("op_", "table_"))}
    changed = {name: text.replace(before, after) for name, text in own.items()}
    assert changed != own
    return {**files, **changed}


def has_simd(files: Mapping[str, str], mode: str) -> bool:
    """Whether some operation has a SIMD mode."""
    return any(f".{mode} = true" in text for text in files.values())


def taken(files: Mapping[str, str]) -> tuple[list[int], list[int]]:
    """The task ids and the DSRs that the libraries of a bundle take."""
    had = json.loads(files["manifest.json"])["resources"]
    return had["local_task_ids"], had.get("dsr_ids", had.get("dsr_dest", []))


def lacking(plan: Plan | ProgramPlan, **fields: int) -> list[str]:
    """The codes of what is said of the library of a plan where the target has the first so many
    numbers of some kinds only."""
    program = of_one_call(plan) if isinstance(plan, Plan) else plan
    few = {field: getattr(program.target, field)[:count] for field, count in fields.items()}
    return [problem.code for problem in unprinted(on(program, **few))]


def on(program: ProgramPlan, **fields: tuple[int, ...]) -> ProgramPlan:
    """A program on a target with other numbers."""
    return replace(program, target=replace(program.target, **fields))


def needed(program: ProgramPlan, field: str) -> int:
    """How many numbers of a kind are said to be needed where there are none; 0 if none are."""
    found = unprinted(on(program, **{field: ()}))
    if not found:
        return 0
    (problem,) = found
    assert problem.code == ("C334" if program.call_streams else CODES[field])
    if program.call_streams:
        return sum(map(int, re.findall(r"(\d+) for `", problem.message)))
    figure = re.search(r" at once than there are: (\d+) ", problem.message)
    assert figure, problem.message
    return int(figure[1])
