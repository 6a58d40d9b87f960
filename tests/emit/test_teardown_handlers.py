"""What a program's code does to routers between phases, and when, is what its plan says.

The functions of router.csl and collectives_pe.csl are run as they are printed, by an interpreter of
the few statements that they have; neither the emitter nor fabsim takes part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from types import SimpleNamespace

import pytest
from test_router_settings import CASE, FUNCTION, bundle_of, planned

FIELD = re.compile(r"\.(\w+) = (\[\d\]direction\{[^}]*\}|\w+)")
CONFIG = re.compile(r"^      \.(\w+) = RouterConfig\{\n(.*?)^      \},\n", re.DOTALL | re.M)
CODE = re.compile(r"^(?:fn|task) (\w+)\(([^)]*)\) \w+ \{\n(.*?)^\}\n", re.DOTALL | re.M)
ROUTER = re.compile(
    r'const (\w+)_router = @import_module\("router\.csl", \.\{\n  (.*?),\n\}\);', re.DOTALL
)
EXAMPLES = ("program_mixed", "program_grid")
SIDES = {name: name for name in ("NORTH", "EAST", "SOUTH", "WEST", "RAMP")}
WORDS = SIDES | {"back": "WEST", "onward": "EAST"}


# An interpreter: CSL's statements become Python's.


@cache
def functions(text: str) -> dict[str, tuple[list[str], object]]:
    """The functions and tasks of a module: names of arguments, and Python code for each."""
    found = {}
    for name, parameters, body in CODE.findall(re.sub(r"//.*", "", text)):
        arguments = [one.split(":")[0].strip() for one in parameters.split(",") if one.strip()]
        source = "\n".join(["def it():", *statements(body, 1), "    pass"])
        found[name] = (arguments, compile(source, name, "exec"))
    return found


def statements(text: str, depth: int) -> Iterator[str]:
    """Statements, line by line; names are those of `it`'s globals."""
    indent, rest = "    " * depth, text.strip()
    while rest:
        if rest.startswith("if "):
            end = closing(rest, rest.index("("))
            yield f"{indent}if {expression(rest[3 : end + 1])}:"
            rest = rest[end + 1 :].strip()
            rest = yield from block(rest, depth)
        elif rest.startswith("else if "):
            end = closing(rest, rest.index("("))
            yield f"{indent}elif {expression(rest[8 : end + 1])}:"
            rest = yield from block(rest[end + 1 :].strip(), depth)
        elif rest.startswith("else {"):
            yield f"{indent}else:"
            rest = yield from block(rest[4:].strip(), depth)
        else:
            one, rest = first_statement(rest)
            yield indent + statement(one)


def block(text: str, depth: int) -> Iterator[str]:
    assert text.startswith("{"), text[:40]
    end = closing(text, 0)
    yield from statements(text[1:end], depth + 1)
    yield "    " * (depth + 1) + "pass"
    return text[end + 1 :].strip()


def closing(text: str, start: int) -> int:
    """Where the bracket at `start` is closed."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "({[") - (text[at] in ")}]")
        if not depth:
            return at
    raise AssertionError("a bracket is open")


def first_statement(text: str) -> tuple[str, str]:
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({[") - (sign in ")}]")
        if sign == ";" and not depth:
            return text[:at], text[at + 1 :].strip()
    raise AssertionError(f"no statement: {text[:60]}")


def statement(text: str) -> str:
    assigned = re.fullmatch(r"(\w+) ([&|]?=) (.*)", text, re.DOTALL)
    if assigned:
        name, how, value = assigned.groups()
        old = f"state.{name} {how[0]} " if len(how) > 1 else ""
        return f"state.{name} = {old}({expression(value)})"
    return expression(text)


def expression(text: str) -> str:
    text = re.sub(r"@(activate|is_arch)\b", r"\1", " ".join(text.split()))
    text = re.sub(r"\[\d\]direction\{ ([^}]*) \}", r"[\1]", text)
    while ".{" in text:
        start = text.index(".{")
        end = closing(text, start + 1)
        inner = re.sub(r"\.(\w+) = ", r"\1=", text[start + 2 : end].strip().rstrip(","))
        text = f"{text[:start]}dict({inner}){text[end + 1 :]}"
    text = re.sub(r"!(?!=)", "not ", text)
    return re.sub(r"\b(in_use|awaited|phase)\b(?!\()", r"state.\1", text)


class Module:
    """The functions of a text on names given."""

    def __init__(self, text: str, **names: object) -> None:
        self.names: dict[str, object] = dict(names)
        for name, (arguments, code) in functions(text).items():
            if name not in names:
                self.names[name] = self._callable(arguments, code)

    def _callable(self, arguments: list[str], code: object) -> Callable[..., None]:
        def called(*values: object) -> None:
            names = self.names | dict(zip(arguments, values, strict=True))
            exec(code, names)  # our own text
            names["it"]()

        return called


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
    module.names["configure"]()
    return router


def configs(text: str) -> Iterator[tuple[str, int, str, SimpleNamespace]]:
    """The RouterConfigs of a layout, by phase, role and color."""
    for function in FUNCTION.finditer(text):
        for case in CASE.finditer(function[2]):
            for number in re.findall(r"role == (\d+)", case[1]):
                for color, fields in CONFIG.findall(case[2]):
                    yield function[1], int(number), color, config_of(fields)


def config_of(fields: str) -> SimpleNamespace:
    values: dict[str, object] = {"outputs": 1}
    for name, value in FIELD.findall(fields):
        if value.startswith("["):
            words = value.partition("{")[2].strip(" }").split(", ")
            values[name] = [WORDS[word] for word in words]
        else:
            known = {"true": True, "false": False} | WORDS
            values[name] = known.get(value, int(value) if value.isdigit() else value)
    return SimpleNamespace(**values)


def switched_colors(text: str) -> dict[str, bool]:
    """Of the colors of a collective's module, whether they are imported as `switched`."""
    return {name: ".switched = true" in given for name, given in ROUTER.findall(text)}


def plans_of(bundle):
    return bundle.program.plans


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_router_is_set_as_the_plan_has_it_and_leaves_the_teardown_last(example: str) -> None:
    bundle, compared = bundle_of(example), 0
    for plan in plans_of(bundle):
        name, due = plan.collective.name, planned(plan)
        switched = switched_colors(bundle.files[f"{name}_pe.csl"])
        for phase, role, color, config in configs(bundle.files[f"{name}_layout.csl"]):
            if not config.used:
                continue
            for arch in ("wse2", "wse3"):
                router = configured(bundle.files["router.csl"], config, switched[color], arch)
                rx, tx, changes, side = due[phase, role, color]
                assert (router.rx, router.tx) == (rx, tx), (name, phase, role, color)
                assert router.position == 0
                assert router.pos1 == (changes, side)
                assert router.done[-1] == "exit" and router.done.count("exit") == 1
                assert not router.torn_down
                compared += 1
    assert compared > 10


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
        test_a_router_is_set_as_the_plan_has_it_and_leaves_the_teardown_last("program_mixed")


# When a phase begins.


def phases_of(text: str) -> list[tuple[int, str, str]]:
    """(number, module, phase) whose colors a phase waits for."""
    found = re.findall(
        r"fn begin_(\d+)\(\) void \{\n  awaited = in_use & (\w+)\.(\w+)_colors;", text
    )
    return [(int(number), module, phase) for number, module, phase in found]


def program_of(text: str, number: int, colors: int, in_use: int) -> tuple[Module, list[str]]:
    """The shared code of a program, with a phase about to begin and colors in use."""
    started: list[str] = []
    _, module, phase = phases_of(text)[number]
    state = SimpleNamespace(in_use=in_use, awaited=0, phase=number)
    names = {
        "state": state,
        "start_id": "start_id",
        "activate": lambda _: started.append("activated"),
        module: SimpleNamespace(**{f"{phase}_colors": colors}),
        f"start_{number}": lambda: started.append("at once"),
    }
    program = Module(text, **names)
    program.names[f"begin_{number}"]()
    return program, started


def problems_of_handlers(text: str, colors: int) -> Iterator[str]:
    """Phases that begin before all of their colors are torn down, or not when they are."""
    for number, *_ in phases_of(text):
        for needed in range(1, 1 << colors):
            for in_use in range(1 << colors):
                torn_down = [k for k in range(colors) if in_use >> k & 1]
                for order in permutations(torn_down):
                    yield from _problem(text, number, needed, in_use, order)


def _problem(
    text: str, number: int, needed: int, in_use: int, order: tuple[int, ...]
) -> Iterator[str]:
    program, started = program_of(text, number, needed, in_use)
    missing = needed & in_use
    for k in order:
        if bool(started) != (not missing):
            yield f"phase {number} of {needed:b} with {in_use:b} in use: {started} before {k}"
            return
        program.names[f"torn_down_{k}"]()
        missing &= ~(1 << k)
    if len(started) != 1 or program.names["state"].in_use:
        yield f"phase {number} of {needed:b} with {in_use:b} in use: {started} in the end"


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_phase_begins_when_the_last_of_its_colors_is_torn_down_and_once(example: str) -> None:
    bundle = bundle_of(example)
    text = bundle.files["collectives_pe.csl"]
    count = min(sum(color.torn_down for color in bundle.program.colors), 3)
    assert phases_of(text)
    assert not list(problems_of_handlers(text, count))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torn_down(0x0002);", "torn_down(0x0001);"),
        ("  in_use &= ~mask;\n", ""),
        ("if (awaited == mask)", "if (awaited != 0)"),
        ("  awaited &= ~mask;\n", ""),
        ("if (awaited == 0) { start_0(); }", "if (awaited != 0) { start_0(); }"),
    ],
)
def test_a_handler_that_notes_another_color_or_begins_too_early_is_found(
    old: str, new: str
) -> None:
    text = bundle_of("program_mixed").files["collectives_pe.csl"]
    assert old in text
    assert list(problems_of_handlers(text.replace(old, new), 3))
