"""What a program's text sets routers to, and which handlers it has, is what its plan says.

Read from the emitted text by patterns of its own, and compared with the routes of the plan's roles:
neither the planner's settings nor the emitter's take part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from collc.driver.pipeline import compile_text

ROOT = Path(__file__).parents[2]
EXAMPLES = ("program_mixed", "program_grid", "program_together")
WORDS = {"back": "WEST", "onward": "EAST"}  # sides of a path
FUNCTION = re.compile(r"^fn (\w+)_routers\(x: u16, y: u16\) \w+ \{\n(.*?)^\}\n", re.DOTALL | re.M)
CASE = re.compile(
    r"^  if \(([^\n]*role[^\n]*)\) \{\n    return \w+\{\n(.*?)^    \};\n", re.DOTALL | re.M
)
CONFIG = re.compile(r"^      \.(\w+) = RouterConfig\{\n(.*?)^      \},\n", re.DOTALL | re.M)
HANDLER = re.compile(r"@set_teardown_handler\(torn_down_(\d+), colors\[(\d+)\]\);")

Setting = tuple[str, frozenset[str], str, str]  # input, outputs, what position 1 changes, to what


@cache
def bundle_of(example: str):
    return compile_text((ROOT / "examples" / f"{example}.coll").read_text(), example, {}, "wse3")


def printed(text: str) -> dict[tuple[str, int, str], Setting]:
    """The settings in a layout file, by phase, role and color."""
    found = {}
    for function in FUNCTION.finditer(text):
        for case in CASE.finditer(function[2]):
            for number in re.findall(r"role == (\d+)", case[1]):
                for color, fields in CONFIG.findall(case[2]):
                    if ".used = true" in fields:
                        found[function[1], int(number), color] = setting(fields)
    return found


def setting(fields: str) -> Setting:
    """The fields of a RouterConfig."""
    rx = side(re.search(r"\.rx = (\w+)", fields)[1])
    count = re.search(r"\.outputs = (\d+)", fields)
    tx = re.search(r"\.tx = (?:\[\d\]direction\{ ([^}]*) \}|(\w+))", fields)
    sides = (tx[1] or tx[2]).split(", ")[: int(count[1]) if count else 1]
    changes = "".join(s for s in ("rx", "tx") if f".pos1_changes_{s} = true" in fields)
    pos1 = side(re.search(r"\.pos1 = (\w+)", fields)[1]) if changes else ""
    return rx, frozenset(map(side, sides)), changes, pos1


def side(word: str) -> str:
    return WORDS.get(word, word)


def planned(plan) -> dict[tuple[str, int, str], Setting]:
    """The settings of all roles of a collective, as its routes have them."""
    found = {}
    for phase in plan.phases:
        for number, role in enumerate(phase.roles):
            for use in role.colors:
                first, last = use.positions[0], use.positions[-1]
                outputs = frozenset(one.value for one in first.send)
                changes, pos1 = "", ""
                if last.receive is not first.receive:
                    changes, pos1 = "rx", last.receive.value
                if set(last.send) != set(first.send):
                    changes, (pos1,) = changes + "tx", [one.value for one in last.send]
                found[phase.name, number, use.color] = (first.receive.value, outputs, changes, pos1)
    return found


def differences(files: Mapping[str, str], plan) -> Iterator[str]:
    """Settings other than the plan's, roles without any, and colors without a handler."""
    torn_down = {name for use in plan.uses for name, k in use.positions if plan.colors[k].torn_down}
    for one in plan.plans:
        name = one.collective.name
        there, due = printed(files[f"{name}_layout.csl"]), planned(one)
        phases = {phase for phase, _, _ in there}
        wanted = {at: due[at] for at in due if at[0] in phases and at[2] in torn_down}
        for at in sorted(wanted.keys() | there.keys()):
            if wanted.get(at) != there.get(at):
                yield f"{name}, {at}: {there.get(at)}, the plan has {wanted.get(at)}"
    handled = dict(HANDLER.findall(files["collectives_pe.csl"]))
    for index, color in enumerate(plan.colors):
        if color.torn_down and handled.get(str(index)) != str(index):
            yield f"color {index} has no handler of its own"


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_text_sets_routers_as_the_plan_has_them(example: str) -> None:
    bundle = bundle_of(example)
    files = dict(bundle.files)
    assert not list(differences(files, bundle.program))


def test_many_settings_are_compared() -> None:
    bundle = bundle_of("program_mixed")
    names = [one.collective.name for one in bundle.program.plans]
    assert sum(len(printed(bundle.files[f"{name}_layout.csl"])) for name in names) > 50


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("along_layout.csl", ".rx = EAST", ".rx = WEST"),
        ("along_layout.csl", "direction{ WEST, RAMP }", "direction{ EAST, RAMP }"),
        ("along_layout.csl", ".used = true", ".used = false"),
        ("in_groups_layout.csl", ".pos1_changes_rx = true", ".pos1_changes_rx = false"),
        ("spread_layout.csl", ".outputs = 2", ".outputs = 1"),
        ("collectives_pe.csl", "(torn_down_1, colors[1])", "(torn_down_1, colors[0])"),
    ],
)
def test_one_side_switch_output_or_handler_that_is_another_is_found(
    file: str, old: str, new: str
) -> None:
    bundle = bundle_of("program_mixed")
    assert old in bundle.files[file]
    changed = {**bundle.files, file: bundle.files[file].replace(old, new, 1)}
    assert list(differences(changed, bundle.program))


def test_what_a_comment_or_an_unused_router_says_makes_no_difference() -> None:
    bundle = bundle_of("program_mixed")
    text = bundle.files["along_layout.csl"]
    unused = re.sub(r"(\.used = false, [^\n]*\n *)\.rx = RAMP", r"\1.rx = WEST", text)
    assert unused != text
    changed = {**bundle.files, "along_layout.csl": f"// .rx = NORTH\n{unused}"}
    assert not list(differences(changed, bundle.program))
