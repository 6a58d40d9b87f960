"""Functions of emitted text, run as they are printed: CSL's statements become Python's.

Those few statements that the functions of routers, teardowns and classes have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

CODE = re.compile(r"^(?:fn|task) (\w+)\(([^)]*)\) \w+ \{\n(.*?)^\}\n", re.DOTALL | re.MULTILINE)
ONE_LINE = re.compile(r"^((?:fn|task) \w+\([^)]*\) \w+ \{) (.*) \}$", re.MULTILINE)
TABLE = re.compile(r"^const (\w+) = \[\d+\]\w+\{(.*?)\};", re.DOTALL | re.MULTILINE)
VARIABLES = ("in_use", "awaited", "opened")


@cache
def functions(text: str) -> dict[str, tuple[list[str], object]]:
    """The functions and tasks of a module: names of arguments, and Python code for each."""
    found = {}
    text = ONE_LINE.sub(r"\1\n\2\n}", re.sub(r" *//.*", "", text))
    for name, parameters, body in CODE.findall(text):
        arguments = [one.split(":")[0].strip() for one in parameters.split(",") if one.strip()]
        try:
            source = "\n".join(["def it():", *statements(body, 1), "    pass"])
            found[name] = (arguments, compile(source, name, "exec"))
        except (AssertionError, SyntaxError, ValueError):
            continue  # it has statements of other kinds, and is missed when it is called
    return found


def tables(text: str) -> dict[str, list[int]]:
    """The tables of whole numbers in a module."""
    found = {name: re.findall(r"\w+", numbers) for name, numbers in TABLE.findall(text)}
    return {
        name: list(map(int, numbers))
        for name, numbers in found.items()
        if all(number.isdigit() for number in numbers)
    }


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
    return expression(re.sub(r"^const (\w+)", r"\1", text))


def expression(text: str) -> str:
    text = re.sub(r"@(activate|unblock|is_arch)\b", r"\1", " ".join(text.split()))
    text = re.sub(r"@as\(\w+, ", "(", text)
    text = re.sub(r"\[\d\]direction\{ ([^}]*) \}", r"[\1]", text)
    while ".{" in text:
        start = text.index(".{")
        end = closing(text, start + 1)
        inner = re.sub(r"\.(\w+) = ", r"\1=", text[start + 2 : end].strip().rstrip(","))
        text = f"{text[:start]}dict({inner}){text[end + 1 :]}"
    text = re.sub(r"(^|[(,=] ?)&(?=\w)", r"\1", text).replace(" / ", " // ")
    text = re.sub(r"!(?!=)", "not ", text)
    return re.sub(rf"\b({'|'.join(VARIABLES)})\b", r"state.\1", text)


class Module:
    """The functions of a text on names given."""

    def __init__(self, text: str, **names: object) -> None:
        self.names: dict[str, object] = tables(text) | {"true": True, "false": False} | names
        for name, (arguments, code) in functions(text).items():
            if name not in names:
                self.names[name] = self._callable(arguments, code)

    def _callable(self, arguments: list[str], code: object) -> Callable[..., object]:
        def called(*values: object) -> object:
            names = self.names | dict(zip(arguments, values, strict=True))
            exec(code, names)  # our own text
            return names["it"]()

        return called

    def constant(self, name: str, text: str, **given: object) -> object:
        """What a constant of a function's text is, given the function's arguments."""
        value = re.search(rf"^  const {name} = (.*?);$", text, re.DOTALL | re.MULTILINE)
        assert value is not None, name
        said = " ".join(value[1].split())
        if said.startswith("if ("):
            end = closing(said, 3)
            first, _, second = said[end + 1 :].rpartition(" else ")
            said = f"({first}) if {said[3 : end + 1]} else ({second})"
        return eval(expression(said), self.names | given)  # our own text
