"""Whoever reads of a program finds the names of the file, also where emitted text has others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from collc.driver.pipeline import compile_text
from commands import collc as command

# All names are words of CSL, or the kernel's own.
PROGRAM = """target wse2
param P = 6
grid row = P x 1
collective color = allreduce(round: f32[call <= 40], add) on row {
    reduce chain to 0 then broadcast from 0
}
collective while = broadcast(sys: f32[8]) on row { broadcast from fn < P }
collective task = barrier() on row { reduce chain to 0 then broadcast from 0 }
program { color while task }
"""
ALONE = """target wse2
grid row = 6 x 1
collective finish = reduce(round: f32[600], add) on row { reduce chain to 0 }
program { finish }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "p.coll"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("build", "FILE", "-o", "out"),
        ("build", "FILE", "--dump", "plan"),
        ("cost", "FILE", "-v"),
        ("check", "FILE", "--json"),
        ("run", "FILE", "--length", "call=5", "--json"),
    ],
)
def test_commands_show_the_names_of_the_file(words: tuple[str, ...], file: Path) -> None:
    done = command(*(str(file) if word == "FILE" else word for word in words), cwd=file.parent)
    assert done.returncode == 0, done.stderr
    assert "my_" not in done.stdout + done.stderr
    if "out" in words:
        assert "fn my_color(" in (file.parent / "out" / "p_pe.csl").read_text()


def test_a_message_about_a_plan_has_the_names_of_the_file(file: Path) -> None:
    text = (Path(__file__).parent / "errors" / "program_in_flight_too_much.coll").read_text()
    file.write_text(text.replace("more", "task"))
    done = command("check", file)
    assert (done.returncode, "for `task`" in done.stderr, "my_" in done.stderr) == (1, True, False)


def test_buffers_and_results_have_the_names_of_the_file() -> None:
    given = np.arange(6 * 600, dtype=np.float32).reshape(1, 6, 600)
    bundle = compile_text(ALONE, "p.coll", {})
    found = bundle.run(inputs={"round": given})
    assert found.verified
    assert np.array_equal(found.results["round"][0, 0], given.sum(axis=1)[0])
    manifest = json.loads(bundle.files["manifest.json"])
    assert manifest["collective"]["name"] == "my_finish"  # what a kernel calls
