"""What a program's code does to routers between phases, and when, is what its plan says.

The functions of router.csl and of the library are run as they are printed; neither the emitter nor
fabsim takes part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from types import SimpleNamespace

import pytest
from interpreted import Module
from test_router_settings import CASE, CONFIG, FUNCTION, bundle_of, library, printed

FIELD = re.compile(r"\.(\w+) = (\[\d\]direction\{[^}]*\}|\w+)")
ROUTER = re.compile(
    r'const (\w+)_router = @import_module\("router\.csl", \.\{\n  (.*?),\n\}\);', re.DOTALL
)
EXAMPLES = ("program_mixed", "program_grid")
SIDES = {name: name for name in ("NORTH", "EAST", "SOUTH", "WEST", "RAMP")}
WORDS = SIDES | {"back": "WEST", "onward": "EAST"}


# A router, and what is done to it.


@dataclass
class Router:
    """A torn-down color at a router, that was last at position 1 of something else."""

    torn_down: bool = True
    rx: str = "?"
    tx: frozenset[str] = frozenset("?")
    position: int = 1
    pos1: tuple[str, str] = ("rx", "?")
    done: list[str] = field(default_factory=list)

    def act(self, what: str) -> None:
        assert self.torn_down, f"{what} of a color that is in use"
        self.done.append(what)

    def reset_routes(self, _: str, routes: dict[str, object]) -> None:
        self.act("reset_routes")
        tx = routes["tx"]
        self.rx = str(routes["rx"])
        self.tx = frozenset(tx if isinstance(tx, list) else [tx])

    def clear_current_position(self, _: str) -> None:
        self.act("clear_current_position")
        self.position = 0

    def set_invalid_for_all_switch_positions(self, _: str) -> None:
        self.act("set_invalid_for_all_switch_positions")
        self.pos1 = ("", "")

    def set_rx_switch_pos1(self, _: str, side: str) -> None:
        self.act("set_rx_switch_pos1")
        self.pos1 = ("rx", side)

    def set_tx_switch_pos1(self, _: str, side: str) -> None:
        self.act("set_tx_switch_pos1")
        self.pos1 = ("tx", side)

    def set_rxtx_switch_pos1(self, _: str, rx: str, tx: str) -> None:
        self.act("set_rxtx_switch_pos1")
        assert rx == self.rx, "the position changes the receiving side, too"
        self.pos1 = ("tx", tx)

    def exit(self, _: str) -> None:
        self.act("exit")
        self.torn_down = False


def configured(text: str, config: SimpleNamespace, switched: bool, arch: str) -> Router:
    """What router.csl makes of a router of a machine."""
    router = Router()
    if not switched:
        router.position, router.pos1 = 0, ("", "")  # no phase has positions on the color
    library = SimpleNamespace(teardown=router)
    module = Module(
        text,
        config=config,
        switched=switched,
        color_config=router,
        switch_config=router,
        tile_config=library,
        is_arch=lambda name: name == arch,
    )
    module.names["set"]()
    return router


def configs(text: str) -> Iterator[tuple[str, int, str, SimpleNamespace]]:
    """The RouterConfigs of a layout that are used, by phase, class and color."""
    for function in FUNCTION.finditer(text):
        for case in CASE.finditer(function[2]):
            for number in re.findall(r"role == (\d+)", case[1]):
                for color, fields in CONFIG.findall(case[2]):
                    config = config_of(fields)
                    if config.used:
                        yield function[1], int(number), color, config


def config_of(fields: str) -> SimpleNamespace:
    values: dict[str, object] = {}
    for name, value in FIELD.findall(fields):
        if value.startswith("["):
            words = value.partition("{")[2].strip(" }").split(", ")
            values[name] = [WORDS[word] for word in words]
        else:
            known = {"true": True, "false": False} | WORDS
            values[name] = known.get(value, int(value) if value.isdigit() else value)
    return SimpleNamespace(**values)


def switched_colors(text: str) -> dict[str, bool]:
    """Of the colors of phases, whether they are imported as `switched`."""
    return {name: ".switched = true" in given for name, given in ROUTER.findall(text)}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_router_is_set_as_the_layout_says_and_leaves_the_teardown_last(example: str) -> None:
    """What the layout says is what the plan has, by test_router_settings.py."""
    files, compared = bundle_of(example).files, 0
    layout = library(files, "layout")
    due, switched = printed(layout), switched_colors(library(files, "pe"))
    for phase, of, color, config in configs(layout):
        for arch in ("wse2", "wse3"):
            router = configured(files["router.csl"], config, switched[f"{phase}_{color}"], arch)
            rx, tx, changes, side = due[phase][of][color]
            assert (router.rx, router.tx) == (rx, tx), (phase, of, color)
            assert router.position == 0
            assert router.pos1 == (changes, side)
            assert router.done[-1] == "exit" and router.done.count("exit") == 1
            assert not router.torn_down
            compared += 1
    assert compared > 50


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".rx = config.rx, .tx = config.tx[0]", ".rx = config.tx[0], .tx = config.rx"),
        ("set_rx_switch_pos1(config.id", "set_tx_switch_pos1(config.id"),
        (
            "set_rxtx_switch_pos1(config.id, config.rx",
            "set_rxtx_switch_pos1(config.id, config.pos1",
        ),
        ("    switch_config.clear_current_position(config.id);\n", ""),
        ("    switch_config.set_invalid_for_all_switch_positions(config.id);\n", ""),
        ("  tile_config.teardown.exit(config.id);\n", ""),
        ("config.outputs == 2", "config.outputs == 3"),
    ],
)
def test_a_setting_that_is_left_out_or_another_is_found(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bundle_of("program_mixed")
    assert old in bundle.files["router.csl"]
    files = dict(bundle.files) | {"router.csl": bundle.files["router.csl"].replace(old, new, 1)}
    changed = SimpleNamespace(files=files, program=bundle.program)
    monkeypatch.setitem(globals(), "bundle_of", lambda _: changed)
    with pytest.raises(AssertionError):
        test_a_router_is_set_as_the_layout_says_and_leaves_the_teardown_last("program_mixed")


# When a phase begins.


def phases_of(text: str) -> list[tuple[str, str]]:
    """The phases that wait for colors, with the constants that have these."""
    return re.findall(r"fn open_(\w+)\(\) void \{\n  const missing = in_use & (\w+_colors);", text)


def program_of(text: str, phase: str, colors: int, in_use: int) -> tuple[Module, list[str]]:
    """The shared code of a program, with a phase about to begin and colors in use."""
    started: list[str] = []
    constants = dict(phases_of(text))
    state = SimpleNamespace(in_use=in_use, awaited=0, opened=None)
    module = Module(
        text,
        **{"state": state, "task_ids": [None] * 100, constants[phase]: colors},
        **{f"opened_{phase}": lambda: started.append(phase)},
    )
    module.names["activate"] = lambda _: module.names["start_phase"]()
    module.names[f"open_{phase}"]()
    return module, started


def problems_of_handlers(text: str, colors: int) -> Iterator[str]:
    """Phases that begin before all of their colors are torn down, or not when they are."""
    for phase, _ in phases_of(text):
        for needed in range(1, 1 << colors):
            for in_use in range(1 << colors):
                torn_down = [k for k in range(colors) if in_use >> k & 1]
                for order in permutations(torn_down):
                    yield from _problem(text, phase, needed, in_use, order)


def _problem(
    text: str, phase: str, needed: int, in_use: int, order: tuple[int, ...]
) -> Iterator[str]:
    program, started = program_of(text, phase, needed, in_use)
    missing = needed & in_use
    for k in order:
        if bool(started) != (not missing):
            yield f"{phase} of {needed:b} with {in_use:b} in use: {started} before {k}"
            return
        program.names[f"torn_down_{k}"]()
        missing &= ~(1 << k)
    if len(started) != 1 or program.names["state"].in_use:
        yield f"{phase} of {needed:b} with {in_use:b} in use: {started} in the end"


def shared_code(text: str) -> str:
    """Of a library what is run here, which is little."""
    found = re.findall(
        r"^(?:fn|task) (?:torn_down|start_phase|open_)\w*\([^)]*\) \w+ \{"
        r"(?:.*\}\n|\n(?s:.*?)^\}\n)",
        text,
        re.MULTILINE,
    )
    return "".join(found)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_phase_begins_when_the_last_of_its_colors_is_torn_down_and_once(example: str) -> None:
    bundle = bundle_of(example)
    text = shared_code(library(bundle.files, "pe"))
    count = min(sum(color.torn_down for color in bundle.program.colors), 3)
    assert phases_of(text)
    assert not list(problems_of_handlers(text, count))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torn_down(0x0002);", "torn_down(0x0001);"),
        ("  in_use &= ~mask;\n", ""),
        ("if (missing == mask)", "if (missing != 0)"),
        ("  awaited = missing & ~mask;\n", ""),
        ("    awaited = missing;\n", ""),
        ("if (missing == 0) {", "if (missing != 0) {"),
    ],
)
def test_a_handler_that_notes_another_color_or_begins_too_early_is_found(
    old: str, new: str
) -> None:
    text = shared_code(library(bundle_of("program_mixed").files, "pe"))
    assert old in text
    assert list(problems_of_handlers(text.replace(old, new), 3))
