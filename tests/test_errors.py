"""Every wrong program of tests/errors is refused with exactly the messages of its .expect file.

The first line of a program may give its command line: `// args: -D P=0 --target wse3`.
`pytest --update-expect` renews the expectations.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import read_source
from collc.language.render import render
from tests.conftest import Golden

ERRORS = Path(__file__).parent / "errors"
CASES = sorted(ERRORS.rglob("*.coll"))


def definitions_and_target(path: Path) -> tuple[dict[str, int], str | None]:
    first = path.read_bytes().partition(b"\n")[0].decode("utf-8", "replace")
    words = shlex.split(first.removeprefix("// args:")) if first.startswith("// args:") else []
    options = list(zip(words[::2], words[1::2], strict=True))
    pairs = (value.partition("=") for option, value in options if option == "-D")
    targets = [value for option, value in options if option == "--target"]
    return {name: int(value) for name, _, value in pairs}, targets[0] if targets else None


def messages(path: Path) -> str:
    definitions, target = definitions_and_target(path)
    text = path.read_text(encoding="utf-8", errors="replace")
    sources = {path.name: text, str(path): text}
    try:
        read_source(path)
        compile_text(text, path.name, definitions, target)
    except CollcError as error:
        shown = "\n".join(render(diagnostic, sources) for diagnostic in error.diagnostics)
        return shown.replace(f"{path.parent}/", "")
    return ""


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_wrong_program_is_refused_with_located_messages(path: Path, golden: Golden) -> None:
    shown = messages(path)
    assert shown, "the compiler finds nothing wrong with this program"
    golden(path.with_suffix(".expect"), shown)


def test_every_expectation_has_its_program() -> None:
    assert {p.with_suffix("") for p in ERRORS.rglob("*.expect")} == {
        p.with_suffix("") for p in CASES
    }
