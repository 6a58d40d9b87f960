"""What a program's text sets routers to, and which handlers it has, is what its plan says.

Read from the emitted text, PE by PE, and compared with the routes of the plan's roles: neither the
planner's settings nor the emitter's take part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

import pytest
from interpreted import Module

from collc.driver.bundle import Bundle
from emitting import EXAMPLES as FOLDER
from emitting import example_bundle

EXAMPLES = ("program_mixed", "program_grid", "program_parts")
WORDS = {"back": "WEST", "onward": "EAST"}  # sides of a path
FUNCTION = re.compile(r"^fn (\w+)_routers\(x: u16, y: u16\) \w+ \{\n(.*?)^\}\n", re.DOTALL | re.M)
CASE = re.compile(
    r"^  if \(([^\n]*role[^\n]*)\) \{\n    return \w+\{\n(.*?)^    \};\n", re.DOTALL | re.M
)
CONFIG = re.compile(
    r"^      \.(\w+) = routers\.RouterConfig\{\n(.*?)^      \},\n", re.DOTALL | re.M
)
HANDLER = re.compile(r"@set_teardown_handler\(torn_down_(\d+), colors\[(\d+)\]\);")
# what a phase that begins sets, by its own name or by that of another one which sets the same
OPENING = re.compile(
    r"^fn open(?:ed)?_(\w+)\(\) void \{\n(?:(?!^\}).)*?^  (\w+)_set\(\);", re.DOTALL | re.M
)

Setting = tuple[str, frozenset[str], str, str]  # input, outputs, what position 1 changes, to what
Settings = dict[str, Setting]  # by color


@cache
def bundle_of(example: str) -> Bundle:
    return example_bundle(FOLDER / f"{example}.coll", "wse3")


def library(files: Mapping[str, str], kind: str) -> str:
    """The text of a bundle's library: its layout, or its PE's."""
    (name,) = (name for name in files if name.endswith(f"_{kind}.csl"))
    return files[name]


def printed(text: str) -> dict[str, dict[int, Settings]]:
    """The settings in a layout file, by phase and class of PEs."""
    found: dict[str, dict[int, Settings]] = {}
    for function in FUNCTION.finditer(text):
        classes = found.setdefault(function[1], {})
        for case in CASE.finditer(function[2]):
            of = {
                color: setting(fields)
                for color, fields in CONFIG.findall(case[2])
                if ".used = true" in fields
            }
            classes |= {int(number): of for number in re.findall(r"role == (\d+)", case[1])}
    return found


def setting(fields: str) -> Setting:
    """The fields of a RouterConfig."""
    rx = side(re.search(r"\.rx = (\w+)", fields)[1])
    count = int(re.search(r"\.outputs = (\d+)", fields)[1])
    sides = re.search(r"\.tx = \[4\]direction\{ ([^}]*) \}", fields)[1].split(", ")[:count]
    changes = "".join(s for s in ("rx", "tx") if f".pos1_changes_{s} = true" in fields)
    pos1 = side(re.search(r"\.pos1 = (\w+)", fields)[1]) if changes else ""
    return rx, frozenset(map(side, sides)), changes, pos1


def side(word: str) -> str:
    return WORDS.get(word, word)


def of_role(role, torn_down: set[str]) -> Settings:
    """The settings of a role on the colors that are torn down, as its routes have them."""
    found = {}
    for use in role.colors:
        if use.color not in torn_down:
            continue
        first, last = use.positions[0], use.positions[-1]
        outputs = frozenset(one.value for one in first.send)
        changes, pos1 = "", ""
        if last.receive is not first.receive:
            changes, pos1 = "rx", last.receive.value
        if set(last.send) != set(first.send):
            changes, (pos1,) = changes + "tx", [one.value for one in last.send]
        found[use.color] = (first.receive.value, outputs, changes, pos1)
    return found


def planned(plan) -> dict[str, dict[tuple[int, int], Settings]]:
    """The settings of a program's PEs by phase, where routers are set for it; of PEs along a path
    by their places on that."""
    found = {}
    for use in plan.uses:
        torn_down = {name for name, at in use.positions if plan.colors[at].torn_down}
        phase = plan.phase(use)
        if torn_down:
            found[_name(plan, use)] = {
                (x, y): of_role(phase.roles[index], torn_down)
                for region, index in phase.regions
                for x in region.x
                for y in region.y
            }
    return found


def _name(plan, use) -> str:
    return f"{plan.plans[use.collective].collective.name}_{plan.phase(use).name}"


def differences(files: Mapping[str, str], plan) -> Iterator[str]:
    """Settings other than the plan's, and colors without a handler."""
    layout, text = library(files, "layout"), library(files, "pe")
    there, module, sets = printed(layout), Module(layout), dict(OPENING.findall(text))
    functions = dict(FUNCTION.findall(layout))
    collectives = {_name(plan, use): plan.plans[use.collective].collective for use in plan.uses}
    for phase, pes in planned(plan).items():
        of, code, one = there[sets[phase]], functions[sets[phase]], collectives[phase]
        site, on_path = one.grid.site, "(p)" in code
        for place, due in pes.items():
            x, y = one.path.places[place[0]] if on_path else place
            at = {"x": x + site.x, "y": y + site.y} if site else {"x": x, "y": y}
            p = {"p": module.constant("p", code, **at)} if on_path else {}
            role = module.constant("role", code, **at, **p)
            found = list(of.get(role, {}).values())  # colors have names of their own
            if sorted(map(str, found)) != sorted(map(str, due.values())):
                yield f"{phase}, PE {at}: {found}, the plan has {due}"
    handled = dict(HANDLER.findall(text))
    for index, color in enumerate(plan.colors):
        if color.torn_down and handled.get(str(index)) != str(index):
            yield f"color {index} has no handler of its own"


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_text_sets_routers_as_the_plan_has_them(example: str) -> None:
    bundle = bundle_of(example)
    assert not list(differences(bundle.files, bundle.program))


def test_many_settings_are_compared() -> None:
    pes = planned(bundle_of("program_mixed").program)
    assert len(pes) == 8
    assert sum(len(settings) for of in pes.values() for settings in of.values()) == 804


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("layout", ".rx = EAST", ".rx = WEST"),
        ("layout", "direction{ WEST, RAMP", "direction{ EAST, RAMP"),
        ("layout", ".used = true", ".used = false"),
        ("layout", ".pos1_changes_rx = true", ".pos1_changes_rx = false"),
        ("layout", ".outputs = 2", ".outputs = 1"),
        ("pe", "(torn_down_1, colors[1])", "(torn_down_1, colors[0])"),
        ("pe", "  in_groups_reduce_set();", "  spread_broadcast_set();"),
    ],
)
def test_one_side_switch_output_or_handler_that_is_another_is_found(
    kind: str, old: str, new: str
) -> None:
    bundle = bundle_of("program_mixed")
    name = f"program_mixed_{kind}.csl"
    assert old in bundle.files[name]
    changed = {**bundle.files, name: bundle.files[name].replace(old, new, 1)}
    assert list(differences(changed, bundle.program))


def test_what_a_comment_or_an_unused_router_says_makes_no_difference() -> None:
    bundle = bundle_of("program_mixed")
    text = bundle.files["program_mixed_layout.csl"]
    unused = re.sub(r"(\.used = false, [^\n]*\n *)\.rx = RAMP", r"\1.rx = WEST", text)
    assert unused != text
    changed = {**bundle.files, "program_mixed_layout.csl": f"// .rx = NORTH\n{unused}"}
    assert not list(differences(changed, bundle.program))
