"""The vendor's client, unmodified, against an appliance on this computer with fabsim behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from collc.backends import CompileError, Job, Settings, UnavailableError, opened
from collc.base.files import write_files
from collc.driver.pipeline import compile_text
from collc.probe.decide import Verdict, decide
from collc.probe.program import programs
from collc.probe.tools import Tools
from collc.target import WSE2
from collc.target.fabric import Wanted, fabric_of

from .conftest import Loopback

EXAMPLES = Path(__file__).parents[2] / "examples"
OPTIONS = fabric_of((4, 1), WSE2).options("wse2")

Start = Callable[..., Loopback]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A small program that is right."""
    text = (EXAMPLES / "chain.coll").read_text()
    write_files(tmp_path / "job", compile_text(text, "chain.coll", {"P": 4, "B": 3}).files)
    (tmp_path / "job" / "note.csl").write_text(f"// {tmp_path}\n")  # so each test compiles anew
    return Job(tmp_path / "job", OPTIONS)


@pytest.fixture
def use(client_python: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    """The settings with which a server is used."""

    def settings(server: Loopback, *, machine: bool = False) -> Settings:
        monkeypatch.setenv("CSCONFIG_PATH", server.environment["CSCONFIG_PATH"])
        return Settings(client_python=client_python, machine=machine)

    return settings


def test_a_program_runs_on_fabsim_and_an_appliance_with_one_command(
    client_python: str, loopback: Start, tmp_path: Path
) -> None:
    server = loopback()
    words = ["run", str(EXAMPLES / "two_phase.coll"), "--json", "-D", "P=12", "-D", "B=8"]
    words += ["--on", "appliance", "--on", "fabsim", "--client-python", client_python]
    done = subprocess.run(
        [sys.executable, "-m", "collc", *words],
        cwd=tmp_path,
        env=server.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    on_appliance, on_fabsim = json.loads(done.stdout)["back_ends"]
    assert on_appliance["result"] == on_fabsim["result"] == "right"
    assert on_appliance["cycles"] == on_fabsim["cycles"] > 0
    assert {call["status"] for call in server.calls("end")} == {"JOB_STATUS_SUCCEEDED"}
    assert [call["kind"] for call in server.calls("job")] == ["compile", "compile"]
    assert not list(tmp_path.iterdir())  # the client leaves files where it works


def test_a_machine_is_asked_for_with_its_fabric_and_its_address_is_given(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    server = loopback()
    options = fabric_of((4, 1), WSE2, Wanted(machine="cs2", channels=2)).options("wse2")
    with opened("appliance", use(server, machine=True)) as tools:
        assert tools.run(tools.compile(Job(job.folder, options)), "run.py").status == 0
    sent = server.calls("compile")[0]["options"]
    assert {"--fabric-dims=757,996", "--channels=2"} <= set(sent)
    assert [call["kind"] for call in server.calls("job")] == ["compile", "execute"]
    assert server.calls("run")[0]["command"].endswith("--cmaddr %CMADDR%")


def test_the_compilers_text_comes_with_a_refusal(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    server = loopback()
    (job.folder / "pe_program.csl").write_text("comptime { nowhere(); }\n")
    with opened("appliance", use(server)) as tools, pytest.raises(CompileError) as caught:
        tools.compile(job)
    assert "nowhere" in str(caught.value)
    (end,) = server.calls("end")
    assert end["status"] == "JOB_STATUS_FAILED"
    assert "failed" in end["message"]  # the client alone says None


def test_a_script_that_fails_says_why(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    server = loopback()
    (job.folder / "run.py").write_text("raise SystemExit('no luck')\n")
    with opened("appliance", use(server)) as tools:
        outcome = tools.run(tools.compile(job), "run.py")
    assert outcome.status != 0
    assert "no luck" in outcome.errors


def test_jobs_that_are_refused_are_no_appliance(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    with (
        opened("appliance", use(loopback("init"))) as tools,
        pytest.raises(UnavailableError, match="no node is free"),
    ):
        tools.compile(job)


def test_a_connection_that_breaks_is_told_and_ends_the_job(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    server = loopback("break")
    with opened("appliance", use(server)) as tools:
        compiled = tools.compile(job)
        with pytest.raises(UnavailableError, match="the connection broke"):
            tools.run(compiled, "run.py")
    assert server.calls("end")[-1]["status"] == "JOB_STATUS_FAILED"


def test_large_files_come_in_pieces(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    """The client alone refuses every file of more than one piece: total size conflict."""
    server = loopback()
    (job.folder / "run.py").write_text("open('sim.log', 'w').write('line\\n' * 300_000)\n")
    with opened("appliance", use(server)) as tools:
        compiled = tools.compile(job)
        assert tools.run(compiled, "run.py").status == 0
        assert (compiled.directory / "sim.log").stat().st_size == 1_500_000
    assert server.calls("download")[-1]["pieces"] > 20


def test_a_file_that_is_renamed_is_compiled_anew(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    """The client asks by the contents of files alone whether a program was compiled before."""
    server = loopback()
    with opened("appliance", use(server)) as tools:
        tools.compile(job)
        (job.folder / "pe_program.csl").rename(job.folder / "renamed.csl")
        with pytest.raises(CompileError, match=r"pe_program\.csl"):
            tools.compile(job)


def test_a_script_with_the_name_of_the_tool_within_its_own_is_found(
    job: Job, loopback: Start, use: Callable[..., Settings]
) -> None:
    (job.folder / "run.py").rename(job.folder / "for_cs_python.py")
    with opened("appliance", use(loopback())) as tools:
        assert tools.run(tools.compile(job), "for_cs_python.py").status == 0


def test_a_python_without_the_package_is_told() -> None:
    with (
        pytest.raises(UnavailableError, match="has no cerebras_sdk"),
        opened("appliance", Settings(client_python=sys.executable)),
    ):
        pass


def test_fabsim_runs_beside_the_clients_packages_and_hides_none_of_them(
    client_python: str, tmp_path: Path
) -> None:
    """With its NumPy, 1.25, and with `cerebras.sdk.client` under `fabsim python`."""
    package = Path(str(files("fabsim")))
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "fabsim").symlink_to(package)
    script = tmp_path / "both.py"
    script.write_text(
        "import numpy\n"
        "import cerebras.sdk.client, cerebras.appliance\n"
        "from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime\n"
        "print(numpy.__version__, SdkRuntime.__init__.__globals__['__name__'])\n"
    )
    text = (EXAMPLES / "chain.coll").read_text()
    write_files(tmp_path / "job", compile_text(text, "chain.coll", {"P": 4, "B": 3}).files)
    environment = {"PYTHONPATH": str(tmp_path / "alone"), "PATH": "/usr/bin:/bin"}

    def fabsim(*words: str) -> str:
        done = subprocess.run(
            [client_python, "-m", "fabsim", *words],
            cwd=tmp_path / "job",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert fabsim("python", str(script)).startswith("1.25.0 ")
    fabsim("cslc", "layout.csl", *OPTIONS, "-o", "out")
    assert "SUCCESS!" in fabsim("python", "run.py", "--name", "out")


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("dsd/halves_over_the_fabric", 2),  # what a program computes: compiled, then run
        ("values/bitcast_needs_equal_widths", 2),  # that a line is refused, and nothing without it
    ],
)
def test_a_probe_is_decided_on_an_appliance(
    name: str, jobs: int, loopback: Start, use: Callable[..., Settings]
) -> None:
    server = loopback()
    program = next(one for one in programs() if one.name == name)
    with opened("appliance", use(server)) as back_end:
        finding = decide(program, "wse2", Tools(back_end, None), None)
    assert finding.verdict is Verdict.CONFIRMED, finding.seen
    assert len(server.calls("job")) == jobs
