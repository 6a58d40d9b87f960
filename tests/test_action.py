"""The action for other repositories' workflows: what it runs, on files that are right and wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RIGHT = ROOT / "examples" / "chain.coll"
WRONG = ROOT / "tests" / "errors" / "unknown_tree.coll"


def checked(
    folder: Path, files: str, arguments: str = "", place: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = folder / "collc"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m collc "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    given = {"COLLC": str(command), "FILES": files, "ARGUMENTS": arguments}
    given |= {"LOG": str(folder / "log.sarif")}
    run = [str(ROOT / ".ci" / "check")]
    told = os.environ | given
    return subprocess.run(run, env=told, cwd=place, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("files", "arguments", "status", "found"),
    [
        (str(RIGHT), "-D P=4 --target wse3", 0, 0),
        (f"{RIGHT} {WRONG}", "", 1, 1),
        (str(RIGHT), "-D P=0", 1, 1),
    ],
)
def test_files_are_checked_into_a_sarif_log(
    tmp_path: Path, files: str, arguments: str, status: int, found: int
) -> None:
    done = checked(tmp_path, files, arguments)
    assert done.returncode == status, done.stderr
    log = json.loads((tmp_path / "log.sarif").read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) == found
    assert ("error[" in done.stderr) == bool(found)


def test_a_pattern_that_means_no_file_is_wrong_usage(tmp_path: Path) -> None:
    done = checked(tmp_path, str(tmp_path / "*.coll"))
    assert done.returncode == 2
    assert "no file is like" in done.stderr


def test_no_file_has_a_name_that_is_a_command_of_the_workflow(tmp_path: Path) -> None:
    for name in ("::warning::a.coll", " ::warning::b.coll", "c\n::warning::c.coll"):
        (tmp_path / name).write_text("bad")
    done = checked(tmp_path, "*.coll", place=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("error[") == 3
    assert not any(line.lstrip().startswith("::") for line in done.stderr.splitlines())


def test_the_action_gives_the_script_all_that_it_takes() -> None:
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name in ("COLLC", "FILES", "ARGUMENTS", "LOG"):
        assert f"        {name}: ${{{{ " in action
    assert '"$GITHUB_ACTION_PATH/.ci/check"' in action
