"""What a kernel or a host may hand to a call: buffers of its length, lengths and roots in range."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from libraries import library_of, name_of

import fabsim
from collc.driver.pipeline import compile_text
from collc.run import compiled

FORMS = {
    "trees": "allreduce(x: f32[n <= 16], add) on row { reduce star to 0 then broadcast from 0 }",
    "steps": "allreduce(x: f32[n <= 16], add) on row { order ring run ring_allreduce }",
    "slices": "gather(x: f16[n <= 16] by 3) on row { run auto }",
    "pairs": "reduce(x: (f32, u32)[n <= 16], argmax) on row { reduce chain to 0 }",
    "selected": "reduce(x: i32[n <= 16], add) on row "
    "{ select by n { n <= 4: reduce star to 0 else: reduce chain to 0 } }",
    "each column": "broadcast(x: u16[n <= 16]) on each column of grid_ { broadcast from 1 }",
    "grid": "broadcast(x: f32[n <= 16]) on grid_ { broadcast from (1, 1) }",
    "part": "allreduce(x: f32[n <= 16], add) on part { run auto }",
    "root": "broadcast(x: f32[n <= 16]) on row { broadcast from r < 4 }",
    "chain to a root": "reduce(x: f32[16], add) on row { reduce chain to r < 4 }",
}
TEXT = """
grid grid_ = 5 x 3
grid row = grid_[0 .. 4, 1]
grid part = grid_[1 .. 3, 0 .. 1]
collective c = {}
program {{ {} }}
"""
GIVEN = {"n": (1, 16), "r": (0, 3)}


def checked(form: str, target: str, calls: str = "c") -> tuple[dict[str, str], dict[str, int]]:
    """The emitted files with checks switched on, and what a run is given, as much as may be."""
    bundle = compile_text(TEXT.format(FORMS[form], calls), "c.coll", {}, target)
    texts = dict(bundle.files)
    library, off = library_of(texts), "check_arguments: bool = false"
    assert off in library
    texts[name_of(texts)] = library.replace(off, off.replace("false", "true"))
    program = bundle.spec.program
    assert program is not None
    return texts, {name: most for name, _, most in program.given}


def run(texts: Mapping[str, str], target: str, given: Mapping[str, int]) -> None:
    program = compiled(fabsim, texts, target)
    simulator = fabsim.opened(program).simulator
    for name, value in given.items():
        simulator.memcpy_h2d(name, np.full(15, value, np.uint16), 0, 0, 5, 3, 1)
    simulator.launch("run")
    simulator.stop()


@pytest.mark.parametrize("form", FORMS)
def test_a_simulator_stops_at_the_check_of_a_number_out_of_range(form: str) -> None:
    target = ("wse2", "wse3")[len(form) % 2]
    texts, most = checked(form, target)
    run(texts, target, most)
    run(texts, target, {name: GIVEN[name][0] for name in most})
    for name in most:
        least, longest = GIVEN[name]
        for wrong in (least - 1, longest + 1):
            with pytest.raises(
                fabsim.SimulationError, match="an assertion does not hold"
            ) as caught:
                run(texts, target, most | {name: wrong % 65536})
            place = str(caught.value).split(": ")[0].rpartition(":")
            line = library_of(texts).splitlines()[int(place[2]) - 1]
            assert Path(place[0]).name == name_of(texts)
            assert re.search(rf"@assert\(+{name} ", line)


def test_without_the_parameter_a_call_has_no_check() -> None:
    """A check that is off takes no cycle."""
    bundle = compile_text(TEXT.format(FORMS["steps"], "c"), "c.coll", {}, "wse2")
    library = library_of(bundle.files)
    without = "\n".join(line for line in library.splitlines() if "@assert(" not in line)
    assert len(without) < len(library) - 1
    plain = dict(bundle.files) | {name_of(bundle.files): without}
    cycles = []
    for texts in (plain, bundle.files):
        simulator = fabsim.opened(compiled(fabsim, texts, "wse2")).simulator
        simulator.memcpy_h2d("n", np.full(15, 7, np.uint16), 0, 0, 5, 3, 1)
        cycles.append(simulator.launch("run").cycles)
        simulator.stop()
    assert cycles[0] == cycles[1]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "run.py"


@pytest.mark.parametrize(
    ("form", "option", "range_"),
    [
        ("steps", "--n=0", "--n 0: it is 1 to 16"),
        ("steps", "--n=17", "--n 17: it is 1 to 16"),
        ("selected", "--n=-1", "--n -1: it is 1 to 16"),
        ("root", "--r=4", "--r 4: it is 0 to 3"),
        ("chain to a root", "--r=-1", "--r -1: it is 0 to 3"),
    ],
)
def test_the_emitted_host_script_refuses_it_before_it_loads_anything(
    form: str,
    option: str,
    range_: str,
    host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    compile_text(TEXT.format(FORMS[form], "repeat 3 { c }"), "c.coll", {}, "wse2").write(
        host.parent
    )
    monkeypatch.setattr(sys, "argv", ["run.py", "--name=nowhere", option])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(host), run_name="__main__")
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"{range_}\n"


BUFFERS = {
    "one word": ("reduce(x: f32[1], add) on row { reduce star to 0 }", "x", 1, "f32"),
    "plain": ("reduce(x: f32[16], add) on row { reduce chain to 0 }", "x", 16, "f32"),
    "apart": ("broadcast(x: f16[16] by 3) on row { broadcast from 0 }", "x", 46, "f16"),
    "pairs": ("allreduce(x: (i32, u32)[5], argmin) on row { run auto }", "x", 10, "u32"),
    "input": ("allreduce(x: f32[16] by 2, add) into y on row { run auto }", "x", 31, "f32"),
    "results": ("allreduce(x: f32[16], add) into y by 2 on row { run auto }", "y", 31, "f32"),
    "part": ("allreduce(x: f32[16], add) on part { run auto }", "x", 16, "f32"),
    "dynamic": ("allreduce(x: f32[n <= 16], add) on row { run auto }", "x", 16, "f32"),
    "root": ("broadcast(x: f32[16]) on row { broadcast from r < 4 }", "x", 16, "f32"),
    "selected": (FORMS["selected"], "x", 16, "i32"),
}


@pytest.mark.parametrize("calls", ["c", "c c"])
@pytest.mark.parametrize("form", BUFFERS)
def test_a_buffer_of_another_length_or_type_does_not_compile(form: str, calls: str) -> None:
    written, name, length, element = BUFFERS[form]
    target = ("wse2", "wse3")[len(form) % 2]
    texts = dict(compile_text(TEXT.format(written, calls), "c.coll", {}, target).files)
    kernel = texts["pe_program.csl"]
    declared = f"var {name} = @zeros([{length}]{element});"
    assert declared in kernel
    compiled(fabsim, texts, target)
    others = [(length - 1, element), (length + 1, element), (16 * length + 16, element)]
    others += [(length, {"f32": "u32", "i32": "u32", "u32": "f32", "f16": "i16"}[element])]
    for count, of in others if length > 1 else others[1:]:
        wrong = f"var {name} = @zeros([{count}]{of});"
        text = kernel.replace(declared, wrong).replace(
            f"var {name}_ptr: [*]{element}", f"var {name}_ptr: [*]{of}"
        )
        with pytest.raises(fabsim.CslError) as caught:
            compiled(fabsim, texts | {"pe_program.csl": text}, target)
        assert f"*[{length}]{element}" in str(caught.value)
        assert f"*[{count}]{of}" in str(caught.value)
        assert "pe_program.csl" in str(caught.value)
