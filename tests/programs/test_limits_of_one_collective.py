"""A limit within a collective is the program's where that runs nothing else: with a dynamic
length, a root of the call, or several times, as where it is called once."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.language.show import show_spec

TEXT = """
target {target}
grid row = 8 x 1
collective total = reduce(x: f32[{length}], add) on row {{ reduce chain to {root} {limits} }}
program {{ {program} }}
"""
FORMS = {
    "repeated": ("16", "0", "repeat 2 { total }"),
    "called_twice": ("16", "0", "total total"),
    "dynamic_length": ("n <= 16", "0", "total"),
    "root_of_the_call": ("16", "r < 8", "total"),
}


def text(form: str, limits: str, target: str = "wse2") -> str:
    """A program of one collective in a form, with limits inside."""
    length, root, program = FORMS[form]
    return TEXT.format(target=target, length=length, root=root, program=program, limits=limits)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("form", FORMS)
def test_limits_inside_are_those_of_the_program(form: str, target: str) -> None:
    limits = "within colors <= 4 reserve colors 0 .. 2, tasks 9"
    inside = text(form, limits, target)
    program = FORMS[form][2]
    behind = text(form, "", target).replace(f"{{ {program} }}", f"{{ {program} {limits} }}")
    assert show_spec(parse_source(inside)) == show_spec(parse_source(behind))
    files = compile_text(inside, "inside.coll", {}).files
    layout = next(one for name, one in files.items() if name.endswith("layout.csl"))
    assert "@get_color(3)" in layout
    assert not any(f"@get_color({color})" in layout for color in range(3))


@pytest.mark.parametrize("form", FORMS)
def test_a_limit_inside_that_is_not_kept_is_told_where_it_stands(form: str) -> None:
    with pytest.raises(CollcError) as refused:
        compile_text(text(form, "within colors <= 1"), "inside.coll", {})
    (found,) = refused.value.diagnostics
    assert found.at is not None
    assert (found.code, found.at.line) == ("C302", 4)


def test_where_the_program_runs_two_collectives_a_limit_is_said_behind_their_calls() -> None:
    two = text("repeated", "within colors <= 3").replace("total }", "total total_2 }")
    two += "collective total_2 = reduce(x: f32[16], add) on row { reduce chain to 0 }"
    with pytest.raises(CollcError) as refused:
        parse_source(two)
    (found,) = refused.value.diagnostics
    assert found.code == "C107"
    assert "total and total_2" in found.message


@pytest.mark.parametrize("form", FORMS)
def test_all_limits_are_printed(form: str) -> None:
    limits = "within colors <= 4 reserve colors 0, input_queues 2, dsrs 1, tasks 9, memory 1000"
    spec = parse_source(text(form, limits))
    assert "memory 1000" in show_spec(spec)
    again = parse_source(show_spec(spec))
    assert again.program is not None
    assert again.program.reserved.kept_bytes == 1000
    assert show_spec(again) == show_spec(spec)
