"""What the commands print for programs is as the schemas in the package say."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

import collc
from collc.cli import COMMANDS, commands

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CHAIN = EXAMPLES / "chain.coll"
SMALL = ("-D", "P=4", "-D", "B=8")
NETWORK = EXAMPLES / "networks" / "mesh.toml"


def schema(name: str) -> dict[str, Any]:
    read = json.loads(files("collc.schemas").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(read, dict)
    return read


def validator(name: str) -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    return jsonschema.Draft202012Validator(schema(name))


DOCUMENTS: dict[str, tuple[str | Path, ...]] = {
    "check": ("check", CHAIN, *SMALL, "--json"),
    "check several": ("check", CHAIN, EXAMPLES / "auto.coll", "--json", "-D", "P=8"),
    "check refused": ("check", CHAIN, "-D", "P=0", "--json"),
    "check a choice": ("check", EXAMPLES / "auto.coll", *SMALL, "--json"),
    "build": ("build", CHAIN, *SMALL, "-o", "out", "--no-verify-text", "--json"),
    "build listed": ("build", CHAIN, *SMALL, "--list-outputs", "--json"),
    "build dumped": ("build", CHAIN, *SMALL, "--dump", "schedule", "--json"),
    "build several": ("build", CHAIN, CHAIN, *SMALL, "-o", "out", "--no-verify-text", "--json"),
    "cost": ("cost", CHAIN, *SMALL, "--json"),
    "cost of a program": ("cost", EXAMPLES / "program_mixed.coll", "-D", "P=8", "--json"),
    "cost by length": ("cost", EXAMPLES / "select.coll", "--json"),
    "cost by colors": ("cost", CHAIN, *SMALL, "--colors", "1..2", "--json"),
    "cost on a network": ("cost", CHAIN, *SMALL, "--network", NETWORK, "--json"),
    "run": ("run", CHAIN, *SMALL, "--json"),
    "view": ("view", CHAIN, *SMALL, "--json"),
    "tune": ("tune", CHAIN, "-D", "P=4", "--over", "B=1..8", "--json"),
    "sweep": ("sweep", CHAIN, "-D", "P=4", "--over", "B=1,4", "--jobs", "1", "--json"),
    "sweep without a file": ("sweep", CHAIN, "--over", "P=0,4", "--jobs", "1", "--json"),
    "explain a code": ("explain", "C101", "--json"),
    "explain a plan": ("explain", "plan", CHAIN, *SMALL, "--json"),
    "list": ("list", "chain", "snake", "--json"),
    "plot": ("plot", "cycles", "chain", "--over", "B=1..4", "--json"),
    "export": ("export", CHAIN, *SMALL, "--chakra", "out", "--json"),
}


@pytest.mark.parametrize("words", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_as_its_schema_says(
    words: tuple[str | Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(commands, [str(word) for word in words], prog_name="collc")
    document = json.loads(result.stdout)
    assert document["schema"] == f"collc/{words[0]}/1"
    validator("commands-1").validate(document)


def test_every_command_that_prints_a_document_has_a_schema() -> None:
    without = {"probe", "fmt", "lsp", "new", "example"}  # the survey's report has its own
    assert set(schema("commands-1")["$defs"]) >= set(COMMANDS) - without


@pytest.mark.parametrize(
    "change", [{"severity": "bad"}, {"line": 0}, {"code": None}, {"added": 1}], ids=str
)
def test_a_document_that_differs_is_refused(change: dict[str, Any]) -> None:
    at = {"file": "a", "line": 1, "column": 1, "end_line": 1, "end_column": 2}
    good = {"code": "C101", "severity": "error", "message": "", "at": at, "also": [], "help": ""}
    good["fix"] = [{"at": at, "text": "chain"}]
    document = {"schema": "collc/check/1", "diagnostics": [good]}
    validator("commands-1").validate(document)
    bad = good | change if "line" not in change else good | {"at": at | change}
    assert not validator("commands-1").is_valid(document | {"diagnostics": [bad]})


@pytest.mark.parametrize("file", ["chain.coll", "auto.coll", "program_mixed.coll"])
def test_manifests_are_as_their_schema_says(file: str) -> None:
    bundle = collc.compile(EXAMPLES / file, verify_text=False, P=8)
    manifest = json.loads(bundle.files["manifest.json"])
    validator("manifest-1").validate(manifest)
    assert not validator("manifest-1").is_valid(manifest | {"target": 3})


def test_sarif_is_as_the_standard_says(tmp_path: Path) -> None:
    """Against the standard's own words on what a log has, in tests/schemas/sarif-2.1.0.json."""
    file = tmp_path / "bad one.coll"
    file.write_text("target wse9\nprogram { a }\nparam a = 1\nparam a = 2\n")
    result = CliRunner().invoke(commands, ["check", str(file), "--format", "sarif"])
    log = json.loads(result.stdout)
    assert result.exit_code == 1
    sarif = json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(sarif).validate(log)
    results = log["runs"][0]["results"]
    assert {one["level"] for one in results} == {"error"}
    uri = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("file:///")
    assert uri.endswith("bad%20one.coll")
    twice = next(one for one in results if "relatedLocations" in one)
    assert twice["relatedLocations"]
    del log["runs"][0]["tool"]["driver"]["name"]
    assert not jsonschema.Draft202012Validator(sarif).is_valid(log)
