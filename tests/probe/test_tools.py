"""Probes by commands, as a local SDK has them: fabsim's do what it does in a process."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from collc.backends import Compiled, Outcome, Settings, opened
from collc.cli import commands
from collc.probe.decide import Verdict, decide
from collc.probe.fabsim import Fabsim
from collc.probe.job import Status, job_of
from collc.probe.model import measure
from collc.probe.program import programs
from collc.probe.tools import Tools

NAMES = ("dsd/halves_over_the_fabric", "hang/nobody_sends", "values/bitcast_needs_equal_widths")


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.setenv("FABSIM_TIMING", "simfabric")
    with opened("fabsim", Settings(timeout_seconds=100)) as back_end:
        yield Tools(back_end, None)


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_show_what_fabsim_does(tools, name):
    program = next(one for one in programs() if one.name == name)
    for arch in program.archs[:1]:
        by_commands = decide(program, arch, tools, None)
        assert by_commands.verdict is decide(program, arch, Fabsim(), None).verdict
        assert by_commands.verdict is Verdict.CONFIRMED


def test_a_rule_that_is_off_is_off_by_commands_too(tools, monkeypatch):
    monkeypatch.setenv("FABSIM_RULES", "M6.1-5=off")
    program = next(one for one in programs() if one.name == NAMES[2])
    assert decide(program, "wse2", tools, None).verdict is Verdict.REFUTED


def test_a_program_that_stands_still_is_ended_and_said_to(monkeypatch):
    program = next(one for one in programs() if one.name == NAMES[0])
    with opened("fabsim", Settings(timeout_seconds=0.01)) as back_end:
        back_end.run = _ended
        back_end.compile = _compiled
        assert Tools(back_end, None).do(job_of(program, "wse2")).status is Status.STOOD


def _compiled(job):
    return Compiled(job.folder, "out", "")


def _ended(compiled, script, arguments=()):
    return Outcome(124, "", "ended after 1 s", 1.0)


def test_readings_are_the_same_by_commands(tools, tmp_path, monkeypatch):
    table = tmp_path / "table.json"
    runner = CliRunner()
    options = ["probe", "--on", "fabsim", "--arch", "wse3", "--rules", "M1-1"]
    done = runner.invoke(commands, [*options, "--timing", str(table), "-o", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    constants = json.loads(table.read_text())["wse3"]["constants"]
    table.write_text(
        json.dumps({"wse3": {"rates": "simfabric", "constants": constants | {"hop_cycles": 1}}})
    )
    monkeypatch.setenv("FABSIM_TIMING", str(table))
    changed = Fabsim({"wse3": {"hop_cycles": 1}})
    assert measure(tools, "wse3").readings == measure(changed, "wse3").readings


def test_the_report_is_the_same_twice(tmp_path):
    texts = []
    for name in ("a", "b"):
        path = tmp_path / name
        options = [
            "probe",
            "--on",
            "fabsim",
            "--arch",
            "wse2",
            "--rules",
            "M2.3-*",
            "-o",
            str(path),
        ]
        assert CliRunner().invoke(commands, options).exit_code == 0
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    report = json.loads(texts[0])
    assert report["schema"] == 1
    assert report["rules"]["M2.3-1"]["verdict"] == "confirmed"
    assert report["rules"]["M2.3-9"] == {
        "verdict": "not decided",
        "states": report["rules"]["M2.3-9"]["states"],
        "probes": [],
    }
    assert report["timing"]["wse2"]["fit"]["determined"]["hop_cycles"]["cycles"] == 1
