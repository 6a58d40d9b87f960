"""`collc build` as build systems call it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commands import collc

TOTAL = Path(__file__).parents[2] / "examples" / "builds" / "total.coll"
TEXT = TOTAL.read_text().replace("reduce mine", "reduce chain").replace('import "trees.coll"', "")


def test_outputs_are_listed_and_not_written_then_written_as_listed(tmp_path: Path) -> None:
    listed = collc("build", TOTAL, "-o", "out", "--list-outputs", cwd=tmp_path).stdout.splitlines()
    assert not list(tmp_path.iterdir())
    assert collc("build", TOTAL, "-o", "out", cwd=tmp_path).returncode == 0
    assert listed == sorted(f"out/{path.name}" for path in (tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("example", "given"),
    [("chain", ()), ("program_parts", ("-D", "W=4", "-D", "H=4")), ("program_together", ())],
)
def test_a_name_is_that_of_the_library_whatever_the_file_is_called(
    example: str, given: tuple[str, ...], tmp_path: Path
) -> None:
    made = []
    for source in (
        "total.coll",
        "other.coll",
    ):  # of one length: lines are folded
        shutil.copy(TOTAL.parents[1] / f"{example}.coll", tmp_path / source)
        options = ("--name", "total", "-o", source[:-5], *given)
        done = collc("build", source, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        texts = {path.name: path.read_text() for path in (tmp_path / source[:-5]).glob("*.csl")}
        made.append({name: text.replace(f"from {source}", "") for name, text in texts.items()})
    assert made[0] == made[1]
    assert made[0].keys() >= {"total_layout.csl", "total_pe.csl"}


def test_a_library_of_standard_input_is_called_so(tmp_path: Path) -> None:
    assert collc("build", "-", cwd=tmp_path, stdin=TEXT).returncode == 0
    assert (tmp_path / "out" / "stdin" / "stdin_pe.csl").exists()


def test_a_name_that_is_none_is_wrong_usage_and_one_that_the_kernel_has_is_refused(
    tmp_path: Path,
) -> None:
    assert collc("build", TOTAL, "--name", "a b", cwd=tmp_path).returncode == 2
    for taken in ("x", "memcpy_params", "while"):
        refused = collc("build", TOTAL, "--name", taken, "-o", "out", cwd=tmp_path)
        assert (refused.returncode, "error[C107]" in refused.stderr) == (1, True)
        assert not list(tmp_path.iterdir())


def test_standard_input_is_quoted_in_messages(tmp_path: Path) -> None:
    refused = collc("check", "-", cwd=tmp_path, stdin="target wse2\nprogram { total }}\n")
    assert refused.returncode == 1
    assert "<stdin>:2:18: error[C105]" in refused.stderr
    assert "program { total }}" in refused.stderr


def test_several_files_go_into_folders_of_their_own_and_one_refused_keeps_none_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.coll").write_text("target wse2\n")
    (tmp_path / "good.coll").write_text(TEXT)
    done = collc("build", "bad.coll", "good.coll", TOTAL, "-o", "made", cwd=tmp_path)
    assert done.returncode == 1
    assert "bad.coll:1:1: error[C150]" in done.stderr
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["good", "total"]
    data = json.loads(collc("check", "bad.coll", "good.coll", "--json", cwd=tmp_path).stdout)
    assert [one["file"] for one in data["files"]] == ["bad.coll", "good.coll"]
    assert data["files"][0]["diagnostics"][0]["code"] == "C150"
    assert data["files"][1]["predicted_cycles"] > 0


def test_a_depfile_is_about_the_stamp_and_names_the_source_and_the_compiler(tmp_path: Path) -> None:
    source = tmp_path / "a total$.coll"
    source.write_text(TOTAL.read_text())
    (tmp_path / "trees.coll").write_text((TOTAL.parent / "trees.coll").read_text())
    words = ("build", source.name, "-o", "out", "--stamp", "s", "--depfile", "d/s.d")
    assert collc(*words, cwd=tmp_path).returncode == 0
    target, _, needed = (tmp_path / "d" / "s.d").read_text().partition(": ")
    assert target == "s"
    assert needed.endswith(" a\\ total$$.coll trees.coll\n")
    assert needed.partition(" ")[0].endswith("base/version.py")
    assert (tmp_path / "s").read_text() == ""


def test_a_program_at_fault_leaves_the_stamp_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "bad.coll").write_text("target wse2\n")
    assert collc("build", "bad.coll", "--stamp", "s", cwd=tmp_path).returncode == 1
    assert not (tmp_path / "s").exists()


def test_a_line_for_each_problem_in_the_short_form(tmp_path: Path) -> None:
    (tmp_path / "bad.coll").write_text("target wse9\nprogram { a }\n")
    done = collc("check", "bad.coll", "--format", "short", cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines
    assert all(line.startswith("bad.coll:") and ": error[C" in line for line in lines)


def test_the_cmake_package_is_where_collc_says(tmp_path: Path) -> None:
    folder = Path(collc("--cmake-dir", cwd=tmp_path).stdout.strip())
    assert (folder / "collcConfig.cmake").is_file()
