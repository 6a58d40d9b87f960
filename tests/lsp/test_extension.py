"""The VS Code extension: its grammar knows every word of the language, and it can be packed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from collc.language.expressions import FUNCTIONS
from collc.language.parser import keywords

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
GRAMMAR = json.loads((EXTENSION / "syntaxes" / "coll.tmLanguage.json").read_text())
PACKAGE = json.loads((EXTENSION / "package.json").read_text())


def words(rule: str) -> set[str]:
    """The words that a rule of the grammar lists."""
    listed = (
        re.search(r"\\b\((.*?)\)\\b", p["match"]) for p in GRAMMAR["repository"][rule]["patterns"]
    )
    return {word for one in listed if one for word in one[1].split("|")}


def test_every_word_of_the_language_is_highlighted() -> None:
    assert words("keywords") == keywords()
    assert words("functions") == set(FUNCTIONS) | {"leaf", "join"}


def test_the_patterns_of_the_grammar_are_patterns_and_each_is_used() -> None:
    used = {one["include"].removeprefix("#") for one in GRAMMAR["patterns"]}
    assert used == set(GRAMMAR["repository"])
    for rule in GRAMMAR["repository"].values():
        for pattern in rule["patterns"]:
            re.compile(pattern["match"])


def test_what_the_package_names_is_there() -> None:
    language, grammar = (
        PACKAGE["contributes"]["languages"][0],
        PACKAGE["contributes"]["grammars"][0],
    )
    for path in (
        PACKAGE["main"],
        language["configuration"],
        grammar["path"],
        "README.md",
        "LICENSE",
    ):
        assert (EXTENSION / path).is_file()
    assert grammar["scopeName"] == GRAMMAR["scopeName"]


def test_the_extension_is_packed_with_what_it_needs_and_no_more(tmp_path: Path) -> None:
    if not os.environ.get("NEWEST"):
        pytest.skip("packed in the nightly run, which sets NEWEST")
    if not shutil.which("npm"):
        pytest.skip("there is no npm here")
    folder = shutil.copytree(
        EXTENSION, tmp_path / "vscode", ignore=shutil.ignore_patterns("node_*")
    )
    install = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--omit=dev")
    packer = ("--omit=optional", "--ignore-scripts", "--prefix", str(tmp_path), "@vscode/vsce")
    for command in (install, (*install, *packer)):
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            pytest.skip("npm cannot install the client or vsce here")
    vsce = str(tmp_path / "node_modules" / ".bin" / "vsce")
    pack = (vsce, "package", "--allow-missing-repository", "--skip-license", "-o", "a.vsix")
    done = subprocess.run(pack, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    names = set(zipfile.ZipFile(folder / "a.vsix").namelist())
    assert {"extension/extension.js", "extension/syntaxes/coll.tmLanguage.json"} <= names
    assert any("vscode-languageclient" in name for name in names)
    assert not any("vsce" in name for name in names)
