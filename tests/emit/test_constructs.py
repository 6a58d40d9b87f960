"""Emitted CSL uses only constructs that docs/csl-constructs.md lists with their source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collc.emit.render import source_name
from emitting import every_kind_of_bundle

DOCUMENT = Path(__file__).parents[2] / "docs" / "csl-constructs.md"


def documented() -> set[str]:
    """Everything the document puts in back-ticks."""
    return set(re.findall(r"`([^`]+)`", DOCUMENT.read_text()))


@pytest.mark.parametrize(("name", "files"), every_kind_of_bundle())
def test_every_builtin_is_documented(name: str, files: dict[str, str]) -> None:
    for file, text in files.items():
        if file.endswith(".csl"):
            used = set(re.findall(r"@\w+", code_of(text)))
            assert used <= documented(), f"{name}/{file}"


@pytest.mark.parametrize(("name", "files"), every_kind_of_bundle())
def test_every_library_module_is_documented(name: str, files: dict[str, str]) -> None:
    for file, text in files.items():
        if file.endswith(".csl"):
            used = set(re.findall(r'"(<[^"]+>)"', code_of(text)))
            assert used <= documented(), f"{name}/{file}"


@pytest.mark.parametrize(("name", "files"), every_kind_of_bundle())
def test_every_operator_is_documented(name: str, files: dict[str, str]) -> None:
    comparisons = {"==", "!=", "<", ">", "<=", ">="}
    for file, text in files.items():
        if file.endswith(".csl"):
            plain = re.sub(r'"[^"]*"', "", code_of(text))
            used = set(re.findall(r"(?<![-+*/%<>&|^~!=])[-+*/%<>&|^~!=]+(?= )", plain))
            used = {one for one in used if not re.fullmatch(r"->|=>|-|&|~|!", one)} - comparisons
            assert used <= documented(), f"{name}/{file}"


@pytest.mark.parametrize(("name", "files"), every_kind_of_bundle())
def test_every_struct_field_is_documented_or_our_own(name: str, files: dict[str, str]) -> None:
    csl = {file: code_of(text) for file, text in files.items() if file.endswith(".csl")}
    own = {"width", "height"}  # of <memcpy/get_params>
    for text in csl.values():
        own |= set(re.findall(r"^param (\w+)", text, re.MULTILINE))
        own |= set(re.findall(r"(?:^  |, )(\w+): ", text, re.MULTILINE))
        own |= set(re.findall(r"\bparams\.(\w+)", text))  # of a struct without a type
    for file, text in csl.items():
        used = set(re.findall(r"\.(\w+) = ", text))
        assert used <= documented() | own, f"{name}/{file}"


def test_the_worked_examples_use_documented_constructs() -> None:
    kernels = sorted(DOCUMENT.parents[1].glob("examples/*/**/*.csl"))
    assert len(kernels) == 9
    for path in kernels:
        text = code_of(path.read_text())
        used = set(re.findall(r"@\w+", text)) | set(re.findall(r'"(<[^"]+>)"', text))
        assert used <= documented(), path


def test_a_construct_that_is_not_listed_is_found() -> None:
    assert "@dfilt" not in documented()


def code_of(text: str) -> str:
    """`text` without its comments."""
    return re.sub(r"//.*", "", text)


def test_a_source_is_named_without_its_folders_and_without_what_breaks_a_comment():
    assert source_name("/somewhere/else/two_phase.coll") == "two_phase.coll"
    assert source_name('a\nlayout {} """.coll') == "a_layout __ ___.coll"
