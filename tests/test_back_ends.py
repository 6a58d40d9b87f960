"""Back ends: what counts as the vendor's tools, and the table of what each makes of a program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collc.backends import CompileError, Job, Settings, UnavailableError, opened
from collc.backends.commands import find_tools, is_stand_in
from collc.cli import commands
from collc.emit.clock import STAMP

EXAMPLES = Path(__file__).parents[1] / "examples"
CHAIN = [str(EXAMPLES / "chain.coll"), "-D", "P=4", "-D", "B=16"]


@pytest.fixture
def no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tools but those that a test names."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("COLLC_SDK", raising=False)


def sdk(folder: Path, cslc: str = "true", cs_python: str = "echo SUCCESS!") -> Path:
    """An SDK whose commands are these lines of a shell."""
    folder.mkdir(parents=True)
    for name, line in (("cslc", cslc), ("cs_python", cs_python)):
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return folder


def run(*words: str) -> Result:
    return CliRunner().invoke(commands, ["run", *CHAIN, *words])


def rows(result: Result) -> dict[str, dict[str, object]]:
    return {row["on"]: row for row in json.loads(result.stdout)["back_ends"]}


@pytest.mark.usefixtures("no_sdk")
def test_tools_are_found_by_option_then_environment_then_path(tmp_path: Path) -> None:
    given, named, on_path = (sdk(tmp_path / name) for name in ("given", "named", "path"))
    everything = {"COLLC_SDK": str(named), "PATH": str(on_path)}
    assert find_tools(given, everything).cslc == (str(given / "cslc"),)
    assert find_tools(None, everything).cslc == (str(named / "cslc"),)
    assert find_tools(None, {"PATH": str(on_path)}).cs_python == (str(on_path / "cs_python"),)
    with pytest.raises(UnavailableError, match="no cslc and no cs_python on PATH"):
        find_tools(None, {"PATH": "/nowhere"})


def test_the_folder_of_an_sdk_may_have_its_commands_in_bin(tmp_path: Path) -> None:
    sdk(tmp_path / "sdk" / "bin")
    assert find_tools(tmp_path / "sdk", {}).cslc == (str(tmp_path / "sdk" / "bin" / "cslc"),)


@pytest.mark.parametrize("how", ["as it is", "linked", "copied"])
def test_fabsims_stand_ins_never_count_as_the_sdk(how: str, tmp_path: Path) -> None:
    shims, place = tmp_path / "shims", tmp_path / "sdk"
    subprocess.run([sys.executable, "-m", "fabsim", "shims", shims], check=True)
    place.mkdir()
    for path in shims.iterdir():
        if how == "linked":
            (place / path.name).symlink_to(path)
        else:
            shutil.copy(path, place / path.name)
    with pytest.raises(UnavailableError, match="fabsim's stand-in"):
        find_tools(shims if how == "as it is" else place, {})
    assert not is_stand_in(sdk(tmp_path / "other") / "cslc")


def test_both_commands_are_needed(tmp_path: Path) -> None:
    (sdk(tmp_path / "half") / "cs_python").unlink()
    with pytest.raises(UnavailableError, match=r"no cs_python in .*half"):
        find_tools(tmp_path / "half", {})


def test_a_job_is_compiled_and_run_in_a_copy_of_its_folder(tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    (job / "layout.csl").write_text("")
    tools = sdk(tmp_path / "sdk", 'echo "cslc $@"', 'echo "python $@"; touch sim.log')
    with opened("simfabric", Settings(sdk=tools)) as back_end:
        compiled = back_end.compile(Job(job, ("--arch=wse2",)))
        outcome = back_end.run(compiled, "run.py", ("--seed", "3"))
        assert compiled.log == "cslc layout.csl --arch=wse2 -o out"
        assert outcome.output == "python run.py --name out --seed 3\n"
        assert (compiled.directory / "sim.log").exists()
    assert [path.name for path in job.iterdir()] == ["layout.csl"]
    assert not compiled.directory.exists()


def test_what_is_kept_stays_with_the_logs(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    tools = sdk(tmp_path / "sdk", "echo fine")
    with opened("simfabric", Settings(sdk=tools, keep=tmp_path / "kept")) as back_end:
        back_end.run(back_end.compile(Job(tmp_path / "job", ())), "run.py")
    assert (tmp_path / "kept" / "simfabric" / "compile.log").read_text() == "fine\n"
    assert (tmp_path / "kept" / "simfabric" / "run.log").read_text() == "SUCCESS!\n"


def test_a_refusal_has_the_compilers_words(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    tools = sdk(tmp_path / "sdk", "echo layout.csl:1: no >&2; exit 1")
    with (
        opened("simfabric", Settings(sdk=tools)) as back_end,
        pytest.raises(CompileError, match=r"layout\.csl:1: no"),
    ):
        back_end.compile(Job(tmp_path / "job", ()))


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    tools = sdk(tmp_path / "sdk", "true", "sleep 60 & echo $! > child; wait")
    with opened("simfabric", Settings(sdk=tools, timeout_seconds=1)) as back_end:
        compiled = back_end.compile(Job(tmp_path / "job", ()))
        outcome = back_end.run(compiled, "run.py")
        assert (outcome.status, outcome.errors) == (124, "ended after 1 s\n")
        child = int((compiled.directory / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_a_command_that_is_ended_may_clean_up(tmp_path: Path) -> None:
    """A client of an appliance has a job to end."""
    (tmp_path / "job").mkdir()
    tools = sdk(tmp_path / "sdk", "true", "trap 'echo over; exit 1' INT; sleep 60 & wait")
    with opened("simfabric", Settings(sdk=tools, timeout_seconds=1)) as back_end:
        outcome = back_end.run(back_end.compile(Job(tmp_path / "job", ())), "run.py")
    assert (outcome.status, outcome.output) == (124, "over\n")


@pytest.mark.usefixtures("no_sdk")
def test_what_is_not_there_is_skipped_with_a_reason_and_the_rest_is_run() -> None:
    result = run("--on", "fabsim", "--on", "simfabric", "--on", "cs", "--json")
    assert result.exit_code == 0
    found = rows(result)
    assert found["fabsim"]["result"] == "right"
    assert found["simfabric"]["result"] == found["cs"]["result"] == "skipped"
    assert "no cslc" in str(found["simfabric"]["why"])
    assert "--cmaddr" in str(found["cs"]["why"])


@pytest.mark.usefixtures("no_sdk")
def test_where_nothing_could_be_run_the_status_is_1() -> None:
    result = run("--on", "simfabric")
    assert result.exit_code == 1
    assert "nothing was run" in result.stderr


def test_results_that_are_wrong_are_status_3(tmp_path: Path) -> None:
    tools = sdk(tmp_path / "sdk", "true", "echo Mismatched elements >&2; exit 1")
    result = run("--on", "simfabric", "--sdk", str(tools))
    assert result.exit_code == 3
    assert "collc: simfabric: Mismatched elements" in result.stderr


def test_a_script_that_says_nothing_has_not_succeeded(tmp_path: Path) -> None:
    tools = sdk(tmp_path / "sdk", "true", "true")
    assert run("--on", "simfabric", "--sdk", str(tools)).exit_code == 3


def test_cycles_beyond_the_tolerance_are_status_3(tmp_path: Path) -> None:
    lines = "echo 'cycles: 500, starts within 9'; echo SUCCESS!"
    tools = str(sdk(tmp_path / "sdk", "true", lines))
    result = run("--on", "simfabric", "--sdk", tools, "--json")
    assert result.exit_code == 3
    predicted = json.loads(result.stdout)["predicted_cycles"]
    row = rows(result)["simfabric"]
    assert (row["result"], row["cycles"], row["starts_within"]) == ("right", 500, 9)
    assert row["against"] == pytest.approx((500 - 9 - STAMP["wse2"] - predicted) / predicted)
    for beyond, status in ((-1, 0), (1, 3)):
        tolerance = str(100 * row["against"] - beyond)
        assert (
            run("--on", "simfabric", "--sdk", tools, "--tolerance", tolerance).exit_code == status
        )


def test_a_system_gets_the_fabric_of_its_machine_and_its_address(tmp_path: Path) -> None:
    tools = sdk(tmp_path / "sdk", 'echo "$@"', 'echo "$@"; echo SUCCESS!')
    kept = tmp_path / "kept"
    words = ("--on", "cs", "--cmaddr", "10.0.0.1:9000", "--sdk", str(tools), "--keep", str(kept))
    assert run(*words).exit_code == 0
    assert "--fabric-dims=757,996" in (kept / "cs" / "compile.log").read_text()
    assert "--cmaddr 10.0.0.1:9000" in (kept / "cs" / "run.log").read_text()
    assert run(*words, "--target", "wse3").exit_code == 0
    assert "--fabric-dims=762,1172" in (kept / "cs" / "compile.log").read_text()


def test_the_table_says_what_ran_where_and_with_what(tmp_path: Path) -> None:
    lines = "echo 'cycles: 92, starts within 9'; echo SUCCESS!"
    tools = sdk(tmp_path / "sdk", "true", lines)
    result = run("--on", "simfabric", "--sdk", str(tools), "--tolerance", "100")
    head, row, told = result.stdout.splitlines()[1:4]
    assert head.split() == [
        *("back", "end", "compiled", "result", "cycles"),
        *("of", "prediction", "starts", "within"),
    ]
    assert row.split()[:4] == ["simfabric", "yes", "right", "92"]
    assert os.fspath(tools / "cslc") in told
