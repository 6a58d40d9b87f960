"""Emitted text is compiled with fabsim's front end before it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import collc
import fabsim
from collc.cli import commands
from collc.driver import read_back as reading
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

EXAMPLES = Path(__file__).parents[1] / "examples"
# A grid, a chain with strided roles, a path, one that gaps, parts of a grid, call streams.
SIZES = {
    "allreduce_2d": {"W": 60, "H": 72},
    "two_phase": {"P": 60, "S": 7},
    "hilbert": {},
    "row_major": {},
    "program_parts": {},
    "program_together": {},
}


def compiled(name: str) -> Bundle:
    given = SIZES[name]
    return compile_text((EXAMPLES / f"{name}.coll").read_text(), f"{name}.coll", given)


def roles(files: dict[str, str], into: Path, arch: str) -> set[tuple[tuple[str, int], ...]]:
    """What the PEs of a program have in common: their functions, with the size of each."""
    for name, text in files.items():
        (into / name).write_text(text)
    program = fabsim.compile(str(into / "layout.csl"), arch=arch)
    places = [(x, y) for x in range(program.width) for y in range(program.height)]
    return {tuple(program.functions(*place)) for place in places} - {()}


@pytest.mark.parametrize("name", SIZES)
def test_a_grid_that_is_cut_down_has_every_kind_of_pe(name: str, tmp_path: Path) -> None:
    bundle = compiled(name)
    files, arch = dict(bundle.files), bundle.spec.target
    everything = roles(files, tmp_path, arch)
    found = re.search(r"@set_rectangle\((\d+), (\d+)\);", files["layout.csl"])
    assert found is not None
    size = (int(found[1]), int(found[2]))
    places = reading.places_of(bundle.plans)
    files["layout.csl"] = reading.cut_down(files["layout.csl"], size, places)
    assert roles(files, tmp_path, arch) == everything
    if name == "allreduce_2d":
        assert len(places[0]) * len(places[1]) < size[0] * size[1]


def broken(bundle: Bundle, change: Callable[[str], str]) -> Bundle:
    name = "op_add_f32.csl"
    return replace(bundle, files={**bundle.files, name: change(bundle.files[name])})


@pytest.mark.parametrize("most", [reading.PES, 1])
def test_text_that_does_not_compile_is_collcs_fault(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PES", most)
    bundle = compiled("two_phase")
    reading.verify_text(bundle)
    with pytest.raises(collc.CollcError, match="collc is at fault") as refused:
        reading.verify_text(broken(bundle, lambda text: text.replace("@fadds(", "@fadd(")))
    (told,) = refused.value.diagnostics
    assert told.code == "C506"
    assert "does not know the builtin @fadd" in told.message
    assert "/tmp" not in told.message


def test_nothing_is_written_that_does_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compiled("two_phase")
    wrong = broken(plain, lambda text: text + "\nfn x( void {}\n")
    monkeypatch.setattr("collc.commands.source.compile_text", lambda *_, **__: wrong)
    arguments = ["build", str(EXAMPLES / "two_phase.coll"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(commands, arguments)
    assert result.exit_code == 1
    assert "C506" in result.stderr
    assert not (tmp_path / "out").exists()
    result = CliRunner().invoke(commands, [*arguments, "--no-verify-text"])
    assert result.exit_code == 0
    assert (tmp_path / "out" / "layout.csl").exists()


def test_without_fabsim_text_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    bundle = compiled("two_phase")
    monkeypatch.setattr("collc.driver.read_back.importlib.import_module", missing)
    reading.verify_text(broken(bundle, lambda _: "nonsense"))


def test_python_reads_its_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Bundle] = []
    monkeypatch.setattr("collc.driver.api.read_back", seen.append)
    collc.compile(EXAMPLES / "chain.coll", verify_text=False)
    assert not seen
    collc.compile(EXAMPLES / "chain.coll")
    assert len(seen) == 1
