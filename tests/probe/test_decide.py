"""What a probe decides: each way for a tool to answer, and what it counts for."""

from __future__ import annotations

import pytest

from collc.probe.decide import Verdict, decide
from collc.probe.fabsim import Fabsim
from collc.probe.job import Seen, Status
from collc.probe.program import programs, read

RESULT = read("p", "// M1-1: a test\n// out: 3 -1\nfn run() void { done(); }\n")
FAILS = read("p", "// M1-1: a test\n// fails: stuck: nothing\nfn run() void { }\n")
UNDEFINED = read("p", "// M1-1: a test\n// fails: undefined: two\nfn run() void { }\n")
REFUSED = read(
    "p", "// M1-1: a test\nfn bad() void { x(); } //~ error: no\nfn run() void { bad(); done(); }\n"
)
RIGHT = {"out": [[[3, 0xFFFFFFFF]]]}


class Tool:
    """Says the same to every job, or to the compiler's the one and to the run the other."""

    told, release = "a tool", "2.10"

    def __init__(self, *answers):
        self.answers = list(answers)

    def do(self, job):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Fitted:
    """Shows one thing, whatever the job."""

    def __init__(self, shown):
        self.shown = shown

    def shows(self, job, seen):
        return seen == self.shown


def verdict(program, *answers, fitted=None):
    return decide(program, "wse2", Tool(*answers), fitted).verdict


def test_results_as_stated_confirm_and_others_refute():
    assert verdict(RESULT, Seen(Status.RAN, words=RIGHT)) is Verdict.CONFIRMED
    assert verdict(RESULT, Seen(Status.RAN, words={"out": [[[3, 1]]]})) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.REFUSED, Verdict.OPEN),
        (Status.FAILED, Verdict.REFUTED),
        (Status.STOOD, Verdict.REFUTED),
        (Status.UNABLE, Verdict.OPEN),
    ],
)
def test_a_program_without_its_results(status, expected):
    assert verdict(RESULT, Seen(status, "why")) is expected


def test_what_fabsim_shows_with_the_fitted_cycles_refutes_nothing():
    other = Seen(Status.RAN, words={"out": [[[3, 1]]]})
    assert verdict(RESULT, other, fitted=Fitted(other)) is Verdict.OPEN


def test_silence_never_confirms_that_a_program_stands_still():
    assert verdict(FAILS, Seen(Status.STOOD)) is Verdict.OPEN
    assert verdict(FAILS, Seen(Status.FAILED, "an error")) is Verdict.OPEN
    assert verdict(FAILS, Seen(Status.FAILED, "nothing moves", "stuck")) is Verdict.CONFIRMED
    assert verdict(FAILS, Seen(Status.RAN)) is Verdict.REFUTED


def test_what_is_undefined_is_confirmed_by_an_error_of_the_tool_alone():
    assert verdict(UNDEFINED, Seen(Status.FAILED, "two arrivals")) is Verdict.CONFIRMED
    assert verdict(UNDEFINED, Seen(Status.STOOD)) is Verdict.OPEN
    assert verdict(UNDEFINED, Seen(Status.RAN)) is Verdict.REFUTED


def test_a_refusal_counts_only_beside_a_counterpart_that_is_accepted():
    refused, ran = Seen(Status.REFUSED, "no"), Seen(Status.RAN)
    assert verdict(REFUSED, ran, refused) is Verdict.CONFIRMED
    assert verdict(REFUSED, ran, ran) is Verdict.REFUTED
    assert verdict(REFUSED, refused) is Verdict.OPEN


def test_a_program_of_another_release_decides_nothing():
    older = read("p", "// M1-1: a test\n// sdk: 1.0\n// out: 3\nfn run() void { done(); }\n")
    assert verdict(older, Seen(Status.RAN, words=RIGHT)) is Verdict.OPEN


def test_lines_to_be_refused_have_a_counterpart():
    """All but those whose line is the whole program."""
    tool = Fabsim()
    without = {
        program.name
        for program in programs()
        for arch in program.archs
        if program.is_refused(arch)
        and decide(program, arch, tool, None).verdict is not Verdict.CONFIRMED
    }
    assert without == {
        "comptime/calls_are_of_run_time",
        "dialect/a_launch_color_is_of_sdk_1_0",
        "dialect/wse3_came_with_sdk_1_1",
        "layout/code_is_inside_the_rectangle",
        "layout/one_layout_block",
        "layout/one_rectangle_and_code_for_each_pe",
        "layout/the_rectangle_comes_first",
    }
