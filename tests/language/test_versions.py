"""A file may say which compiler it needs."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.base.version import __version__
from collc.language import parse_source
from collc.language.parser import numbers_of, parse_text

REST = """target wse2
grid row = 4 x 1
collective total = reduce(x: f32[4], add) on row { reduce chain to 0 }
program { total }
"""


def diagnostics(text: str) -> list[tuple[str, str]]:
    with pytest.raises(CollcError) as caught:
        parse_source(text)
    return [(one.code, one.message) for one in caught.value.diagnostics]


@pytest.mark.parametrize("version", ["0", "0.1", "0.0.9", __version__])
def test_a_file_for_this_compiler_or_an_earlier_one_is_read(version: str) -> None:
    assert parse_source(f"// first\nrequires collc >= {version}\n{REST}").target == "wse2"


@pytest.mark.parametrize("version", ["1", "0.99", "0.99.1", "99999999999999.0"])
def test_a_file_for_a_later_one_is_refused_by_that_alone(version: str) -> None:
    later = f"requires collc >= {version}\nchannel tomorrow <~ {{}}\n{REST}"
    message = f"this file needs collc {version}, and this is {__version__}"
    assert diagnostics(later) == [("C119", message)]


def test_versions_are_compared_number_by_number() -> None:
    assert numbers_of("0.2") == numbers_of("0.2.0") < numbers_of("0.10") < numbers_of("1")


@pytest.mark.parametrize("line", ["requires collc > 0.1", "requires fabsim >= 0.1"])
def test_other_requirements_are_refused(line: str) -> None:
    assert [code for code, _ in diagnostics(f"{line}\n{REST}")] == ["C105"]


def test_a_requirement_behind_a_declaration_is_refused() -> None:
    assert [
        code for code, _ in diagnostics(f"target wse2\nrequires collc >= 0.1\n{REST[11:]}")
    ] == ["C105"]


def test_an_algorithm_requires_what_it_did() -> None:
    text = "algorithm a(collc) requires collc >= 2 { step { each r : r => 0 } }"
    assert len(parse_text("input.coll", text)) == 1
