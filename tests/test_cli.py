"""The command line as a user meets it: output, files, exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from commands import collc

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
BROKEN = """target wse2
param P = 4 where 1 <= P <= 8
grid row = P x 1
collective total = reduce(x: f32[16], add) on row {
    order west_to_east
    reduce no_such_tree to 0
}
program { total }
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.coll"
    path.write_text(BROKEN)
    return path


def test_check_says_fine_and_writes_nothing(tmp_path: Path) -> None:
    result = collc("check", EXAMPLES / "chain.coll", cwd=tmp_path)
    assert result.returncode == 0
    assert "fine" in result.stdout
    assert not list(tmp_path.iterdir())


def test_a_program_at_fault_is_status_1_with_the_place(broken: Path) -> None:
    result = collc("check", broken)
    assert result.returncode == 1
    assert f"{broken}:6:" in result.stderr
    assert "no_such_tree" in result.stderr
    assert "Traceback" not in result.stderr


def test_messages_as_data_carry_the_same(broken: Path) -> None:
    result = collc("check", broken, "--json")
    assert result.returncode == 1
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["code"].startswith("C1")
    assert diagnostic["at"]["line"] == 6


def test_a_failed_build_writes_nothing(broken: Path, tmp_path: Path) -> None:
    result = collc("build", broken, "-o", tmp_path / "out")
    assert result.returncode == 1
    assert not (tmp_path / "out").exists()


def test_build_writes_the_whole_bundle(tmp_path: Path) -> None:
    result = collc("build", EXAMPLES / "chain.coll", "-D", "P=5", "-o", tmp_path / "out")
    assert result.returncode == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "chain_layout.csl",
        "chain_pe.csl",
        "commands_wse2.sh",
        "commands_wse3.sh",
        "layout.csl",
        "manifest.json",
        "op_add_f32.csl",
        "ops.csl",
        "pe_program.csl",
        "queues.csl",
        "run.py",
    ]
    assert os.access(tmp_path / "out" / "commands_wse2.sh", os.X_OK)


def test_a_build_where_another_was_leaves_nothing_of_it(tmp_path: Path) -> None:
    collc("build", EXAMPLES / "select.coll", "-o", tmp_path)
    collc("build", EXAMPLES / "chain.coll", "-D", "P=4", "-o", tmp_path)
    listed = json.loads((tmp_path / "manifest.json").read_text())["sha256"]
    assert {path.name for path in tmp_path.iterdir()} == {*listed, "manifest.json"}


def test_the_same_input_gives_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    seen = set()
    for seed in ("0", "1"):
        out = tmp_path / seed
        subprocess.run(
            [sys.executable, "-m", "collc", "build", EXAMPLES / "allreduce_2d.coll", "-o", out],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        seen.add(tuple(path.read_bytes() for path in sorted(out.iterdir())))
    assert len(seen) == 1


@pytest.mark.parametrize("stage", ["spec", "schedule", "plan"])
def test_a_dump_prints_the_stage_and_writes_nothing(stage: str, tmp_path: Path) -> None:
    result = collc("build", EXAMPLES / "two_phase.coll", "--dump", stage, cwd=tmp_path)
    assert result.returncode == 0
    assert "total" in result.stdout
    assert not list(tmp_path.iterdir())


def test_run_prints_one_object_with_what_is_promised() -> None:
    result = collc("run", EXAMPLES / "chain.coll", "-D", "P=7", "-D", "B=17", "--json")
    assert result.returncode == 0
    facts = json.loads(result.stdout)
    assert facts["verified"] is True
    assert facts["params"] == {"P": 7, "B": 17}
    for key in ("file", "target", "cycles", "predicted_cycles", "colors", "memory_bytes"):
        assert key in facts
    assert facts["tile_cycles"] > 0
    assert facts["wall_seconds"] > 0


def test_target_overrides_the_file() -> None:
    result = collc("run", EXAMPLES / "chain.coll", "-D", "P=3", "--target", "wse3", "--json")
    assert json.loads(result.stdout)["target"] == "wse3"


@pytest.mark.parametrize(
    "arguments",
    [
        ["build"],
        ["check", "no/such/file.coll"],
        ["check", str(EXAMPLES)],
        ["check", str(EXAMPLES / "chain.coll"), "-D", "P"],
        ["check", str(EXAMPLES / "chain.coll"), "-D", "P=x"],
        ["check", str(EXAMPLES / "chain.coll"), "-D", "P=2", "-D", "P=3"],
        ["check", str(EXAMPLES / "chain.coll"), "--target", "wse9"],
        ["explain", "C000"],
        ["no-such-command"],
    ],
)
def test_wrong_usage_is_status_2_and_one_clear_message(arguments: list[str]) -> None:
    result = collc(*arguments)
    assert result.returncode == 2
    assert "Error" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("run", ["--seed", "-1"]),
        ("run", ["--repeat", "0"]),
        ("run", ["--skew", "-1"]),
        ("run", ["--skew", "60001"]),
        ("run", ["--length", "-1"]),
        ("run", ["--length", "9999999"]),
        ("cost", ["--colors", "0"]),
        ("cost", ["--colors", "3..1"]),
        ("tune", ["--over", "B=0..3"]),
        ("tune", ["--over", "B=9..3"]),
        ("tune", ["--over", "B=1..3", "--jobs", "0"]),
        ("tune", ["--over", "B=1..3", "--jobs", "65"]),
    ],
)
def test_a_number_out_of_range_is_wrong_usage(command: str, options: list[str]) -> None:
    result = collc(command, EXAMPLES / "chain.coll", *options)
    assert result.returncode == 2
    assert f"'{options[-2]}'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("over", ["B=0..3", "B=3..1", "B=1..9:0", "B=1..999999999:1"])
def test_a_range_of_a_plot_that_is_none_is_wrong_usage(over: str) -> None:
    result = collc("plot", "cycles", "chain", "--json", "--over", over)
    assert result.returncode == 2
    assert "'--over'" in result.stderr


@pytest.mark.parametrize("size", ["P=-5", "B=-5"])
def test_a_plot_at_a_size_below_0_is_refused(size: str) -> None:
    over = "P=2..4" if size.startswith("B") else "B=1..8"
    result = collc("plot", "cycles", "chain", "--json", "--over", over, "-D", size)
    assert result.returncode == 1
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["code"] == "C702"
    assert size.replace("=", " = ") in diagnostic["message"]


@pytest.mark.parametrize("length", [1, 37, 200])
def test_the_bound_of_a_run_is_that_of_its_length(length: int) -> None:
    result = collc("run", EXAMPLES / "select.coll", "--length", str(length), "--json")
    found = json.loads(result.stdout)
    assert found["bound_cycles"] <= found["cycles"]
    assert found["bound_cycles"] <= found["predicted_cycles"]


def test_a_run_with_waits_says_that_the_prediction_has_none() -> None:
    arguments = ["run", EXAMPLES / "chain.coll", "-D", "P=4", "-D", "B=4"]
    said = "(PEs that start together)"
    assert said in collc(*arguments, "--skew", "100").stdout
    assert said not in collc(*arguments).stdout


def test_a_file_in_the_place_of_a_code_is_told_which_command_is_about_files() -> None:
    for file in (str(EXAMPLES / "chain.coll"), "not_there.coll"):
        result = collc("explain", file)
        assert result.returncode == 2
        assert f"collc explain plan {file}" in result.stderr
    assert "explain plan" not in collc("explain", "C000").stderr


def test_an_unknown_parameter_is_the_programs_fault() -> None:
    result = collc("check", EXAMPLES / "chain.coll", "-D", "Q=2")
    assert result.returncode == 1
    assert "Q" in result.stderr


def test_explain_prints_a_page_for_a_code() -> None:
    result = collc("explain", "c101")
    assert result.returncode == 0
    assert "C101" in result.stdout


def test_cost_adds_up() -> None:
    result = collc("cost", EXAMPLES / "binomial.coll", "-D", "P=64", "-D", "B=1", "--json")
    prediction = json.loads(result.stdout)["prediction"]
    assert sum(prediction["breakdown"].values()) == prediction["cycles"]
    assert prediction["bound"] <= prediction["cycles"]


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = collc("build", EXAMPLES / "chain.coll", "-o", tmp_path / "file" / "out")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "no/such/file.coll", "--json"],
        ["check", str(EXAMPLES / "chain.coll"), "--json", "-D", "P=x"],
        ["check", "--json"],
        ["explain", "C000", "--json"],
    ],
)
def test_wrong_usage_as_data_is_one_object(arguments: list[str]) -> None:
    result = collc(*arguments)
    assert result.returncode == 2
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["code"] == "usage"


def test_a_dump_as_data_is_one_object() -> None:
    result = collc("build", EXAMPLES / "chain.coll", "--dump", "plan", "--json")
    assert "\nplan total\n" in json.loads(result.stdout)["plan"]


def test_a_directory_that_cannot_be_made_is_a_diagnostic_as_data(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = collc("build", EXAMPLES / "chain.coll", "-o", tmp_path / "file", "--json")
    assert result.returncode == 1
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["code"] == "C502"


@pytest.mark.parametrize(
    "options",
    [["-o", ""], ["--dump", "plan", "-o", "out"], ["-D", "P=1_0"], ["-D", "P=" + "9" * 5000]],
)
def test_options_that_can_only_be_a_slip_are_wrong_usage(
    options: list[str], tmp_path: Path
) -> None:
    result = collc("build", EXAMPLES / "chain.coll", *options, cwd=tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_explain_lists_all_codes_and_gives_pages_as_data() -> None:
    listed = collc("explain").stdout.splitlines()
    assert listed[0].startswith("C101: ")
    pages = json.loads(collc("explain", "--json").stdout)
    assert ["schema", *(line.partition(":")[0] for line in listed)] == list(pages)
    one = json.loads(collc("explain", "c103", "--json").stdout)
    assert one == {"schema": pages["schema"], "C103": pages["C103"]}


@pytest.mark.parametrize(
    "arguments", [["check", str(EXAMPLES / "chain.coll")], ["explain"], ["explain", "C103"]]
)
def test_output_that_nobody_reads_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "collc", *arguments]
    result = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert result.returncode == 141
    assert result.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["check", str(EXAMPLES / "chain.coll")], ["explain"]])
def test_output_that_finds_no_room_is_one_line(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "collc", *arguments]
    with open("/dev/full", "wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 1
    assert result.stderr == b"collc: cannot print: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_an_endless_file_is_refused_like_a_large_one() -> None:
    result = collc("check", "/dev/zero")
    assert result.returncode == 1
    assert "C102" in result.stderr


def test_messages_about_piped_text_quote_it() -> None:
    command = [sys.executable, "-m", "collc", "check", "/dev/stdin"]
    result = subprocess.run(
        command, input=BROKEN, capture_output=True, text=True, check=False, timeout=60
    )
    assert "reduce no_such_tree to 0" in result.stderr


@pytest.mark.parametrize(
    "name", ["a\nconst q = 1;.coll", 'q"""\\.coll', os.fsdecode(b"\xff.coll"), "größe.coll"]
)
def test_a_file_may_be_called_anything(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes((EXAMPLES / "chain.coll").read_bytes())
    result = collc("build", name, "-o", "out", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    compile((tmp_path / "out" / "run.py").read_text(encoding="utf-8"), "run.py", "exec")
    for path in (tmp_path / "out").glob("*.csl"):
        assert "\nconst q = 1" not in path.read_text(encoding="utf-8")
    result = collc("check", name, cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_an_interrupted_run_is_status_130_and_one_line() -> None:
    command = [sys.executable, "-m", "collc", "run", str(EXAMPLES / "star.coll")]
    command += ["-D", "P=512", "-D", "B=4096", "--repeat", "50"]  # far longer than the wait
    # A shell's background job ignores interrupts, and so would its children.
    listens = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listens,  # noqa: PLW1509 - no threads here
    ) as process:
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "collc: interrupted"
