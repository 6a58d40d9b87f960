"""The projects of examples/builds: from clean, again, with the imported file touched and changed,
and with the file itself changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

BUILDS = Path(__file__).parents[2] / "examples" / "builds"
TOOLS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def ran(*command: str, cwd: Path) -> str:
    """What a command prints, standard error too; it has to succeed."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | {"PATH": TOOLS},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@dataclass(frozen=True)
class Project:
    """A copy of an example, how it is built, and what its log shows of each step."""

    folder: Path
    build: Callable[[], str]
    compiles: str
    goes_on: str
    program: Path
    by_content: bool = False  # a file that is touched and the same is no change

    def steps(self) -> tuple[bool, bool]:
        """Build; whether collc ran, and cslc behind it."""
        log = self.build()
        return self.compiles in log, self.goes_on in log

    @property
    def source(self) -> Path:
        return self.folder.parent / "total.coll"

    @property
    def imported(self) -> Path:
        return self.folder.parent / "trees.coll"


def make_project(tmp_path: Path) -> Project:
    folder = tmp_path / "builds" / "make"
    shutil.copytree(BUILDS, tmp_path / "builds")
    program = folder / "build" / "program" / "out.json"
    return Project(folder, lambda: ran("make", cwd=folder), "collc build", "fabsim cslc", program)


def cmake_project(tmp_path: Path, generator: str) -> Project:
    folder = tmp_path / "builds" / "cmake"
    shutil.copytree(BUILDS, tmp_path / "builds")
    ran("cmake", "-B", "build", "-G", generator, cwd=folder)
    program = folder / "build" / "program" / "out.json"
    build = ("cmake", "--build", "build")
    return Project(folder, lambda: ran(*build, cwd=folder), "collc total", "cslc layout", program)


def bazel_project(tmp_path: Path) -> Project:
    folder = tmp_path / "builds" / "bazel"
    shutil.copytree(BUILDS, tmp_path / "builds", symlinks=True)
    program = folder / "bazel-bin" / "program" / "out.json"
    server = ("bazel", f"--output_user_root={tmp_path / 'root'}", "--max_idle_secs=5")
    build = (*server, "build", "--subcommands", f"--action_env=PATH={TOOLS}", "//:program")
    collc, cslc = "'collc //:total'", "'Executing genrule //:program'"
    return Project(folder, lambda: ran(*build, cwd=folder), collc, cslc, program, by_content=True)


PROJECTS: dict[str, tuple[str, Callable[[Path], Project]]] = {
    "make": ("make", make_project),
    "ninja": ("ninja", lambda path: cmake_project(path, "Ninja")),
    "makefiles": ("cmake", lambda path: cmake_project(path, "Unix Makefiles")),
    "bazel": ("bazel", bazel_project),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_build_does_what_is_to_be_done_and_no_more(name: str, tmp_path: Path) -> None:
    tool, project_in = PROJECTS[name]
    if not shutil.which(tool):
        pytest.skip(f"there is no {tool} here")
    project = project_in(tmp_path)
    assert project.steps() == (True, True)
    assert project.program.is_file()
    assert project.steps() == (False, False)
    time.sleep(0.02)
    project.imported.touch()
    assert project.steps() == (not project.by_content, False)
    assert project.steps() == (False, False)
    time.sleep(0.02)
    project.imported.write_text("tree mine(n) = star(n)\n")
    assert project.steps() == (True, True)
    assert project.steps() == (False, False)
    time.sleep(0.02)
    project.source.write_text(project.source.read_text().replace("reduce mine", "reduce chain"))
    assert project.steps() == (True, True)
    assert project.steps() == (False, False)


def test_cmake_refuses_a_file_that_collc_refuses(tmp_path: Path) -> None:
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake here")
    shutil.copytree(BUILDS, tmp_path / "builds")
    (tmp_path / "builds" / "total.coll").write_text("target wse9\n")
    with pytest.raises(AssertionError, match=r"error\[C150\]"):
        ran("cmake", "-B", "build", cwd=tmp_path / "builds" / "cmake")


def test_builds_at_once_into_one_folder_leave_one_of_them_whole(tmp_path: Path) -> None:
    """Each bundle's manifest has the hashes of its files."""
    command = [sys.executable, "-m", "collc", "build", str(BUILDS / "total.coll"), "-o", "out"]
    sizes = ("B=64", "B=128", "B=64")
    running = [subprocess.Popen([*command, "-D", size], cwd=tmp_path) for size in sizes]
    assert [one.wait() for one in running] == [0] * len(sizes)
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    alone = tmp_path / "alone"
    for size in sorted(set(sizes)):
        subprocess.run([*command[:-1], str(alone), "-D", size], check=True, cwd=tmp_path)
        if written == {path.name: path.read_bytes() for path in alone.iterdir()}:
            return
    pytest.fail("the files are a mixture")
