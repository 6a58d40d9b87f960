"""collc from Python: input and results as arrays, values that print themselves, errors in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

import collc

EXAMPLES = Path(__file__).parents[1] / "examples"
CHAIN, TOGETHER = EXAMPLES / "chain.coll", EXAMPLES / "program_together.coll"


def chain() -> collc.Bundle:
    bundle = collc.compile(CHAIN, P=4, B=8, verify_text=False)
    assert isinstance(bundle, collc.Bundle)
    return bundle


def test_input_of_ones_own_gives_its_result() -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    report = chain().run(inputs={"x": x})
    assert report.verified
    assert report.results["x"].shape == (1, 4, 8)
    np.testing.assert_array_equal(report.results["x"][0, 0], x.sum(axis=0))
    assert "results" not in repr(report)


@pytest.mark.parametrize(
    ("inputs", "error", "said"),
    [
        ({"x": np.zeros((3, 8))}, ValueError, r"input x has shape \(3, 8\), .* \(1, 4, 8\)"),
        ({"y": np.zeros((4, 8))}, ValueError, "no buffer called y; it has x"),
        ({"x": np.array(["a"] * 32).reshape(4, 8)}, TypeError, "has to be numbers"),
    ],
)
def test_input_that_does_not_fit_is_refused(
    inputs: dict[str, np.ndarray], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        chain().run(inputs=inputs)


def test_whole_numbers_have_to_be_what_the_element_type_holds() -> None:
    bundle = collc.compile(EXAMPLES / "min_u32.coll", verify_text=False)
    shape = bundle.run().results["x"].shape
    with pytest.raises(ValueError, match="numbers that uint32 cannot hold"):
        bundle.run(inputs={"x": np.full(shape, -1)})
    given = np.full(shape, 7)
    assert bundle.run(inputs={"x": given}).verified


def test_results_of_a_program_have_an_axis_for_its_rounds() -> None:
    report = collc.compile(TOGETHER, verify_text=False, W=3, H=2, B=4).run()
    assert {name: held.shape for name, held in report.results.items()} == {
        name: (3, 2, 3, 4) if name != "y" else (3, 2, 3, report.results["y"].shape[3])
        for name in ("x", "y", "z")
    }


def test_results_of_one_round_have_none_however_many_calls_there_are() -> None:
    text = "target wse2 grid g = 3 x 1 collective c = allreduce(x: f32[4], add) on g { run auto }"
    for calls, axes in (("c", ()), ("c c", ()), ("repeat 2 { c }", (2,))):
        report = collc.compile(text=f"{text} program {{ {calls} }}", verify_text=False).run()
        assert report.results["x"].shape == (*axes, 1, 3, 4)


def test_values_print_themselves_in_a_line_and_in_notebooks() -> None:
    bundle = chain()
    assert repr(bundle).startswith("<Bundle total on wse2, P=4, B=8: ")
    assert len(repr(bundle)) < 120
    shown = bundle._repr_html_()
    for part in shown.replace("</table>", "</table>\n").splitlines():
        ElementTree.fromstring(part)
    assert f"{bundle.prediction.cycles} cycles" in shown
    assert shown.count("<path") == bundle.graph().number_of_edges() == 3
    spread = collc.compile(EXAMPLES / "broadcast.coll", verify_text=False, P=5, B=8)
    assert spread._repr_html_().count(" to ") == spread.graph().number_of_edges() == 4


def test_errors_say_where_and_what_to_do() -> None:
    with pytest.raises(collc.CollcError) as caught:
        collc.compile(CHAIN, P=0)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith(f"{CHAIN}:")
    assert ": C122: P = 0" in first
    assert rest[0].startswith("  help: ")


def test_transfers_are_a_graph() -> None:
    graph = chain().graph()
    assert list(nx.topological_sort(graph)) == ["3,0", "2,0", "1,0", "0,0"]
    assert graph.edges["3,0", "2,0", 0]["action"] == "combine"
    ring = collc.compile(EXAMPLES / "ring_allreduce.coll", P=4, B=8, verify_text=False).graph()
    assert ring.number_of_edges() == 2 * 3 * 4
    both = collc.compile(EXAMPLES / "allreduce_2d.coll", verify_text=False, W=3, H=2, B=4).graph()
    assert sum(about["action"] == "multicast" for *_, about in both.edges(data=True)) == 5
    assert nx.has_path(both, "2,1", "0,0")


def test_the_graph_is_exported(tmp_path: Path) -> None:
    def exported(form: str) -> str:
        command = [sys.executable, "-m", "collc", "export", str(CHAIN), "-D", "P=4", form]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    (tmp_path / "a.graphml").write_text(exported("--graphml"))
    assert nx.read_graphml(tmp_path / "a.graphml").number_of_edges() == 3
    assert '"3,0" -> "2,0" [label="reduce 0: combine"]' in exported("--dot")


def test_only_public_names_are_listed_and_importing_takes_no_compiler() -> None:
    assert set(dir(collc)) == set(collc.__all__)
    code = "import collc, sys; print(sorted(n for n in sys.modules if n.startswith('collc')))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "collc.driver" not in loaded.stdout
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        collc.nothing  # noqa: B018


def test_a_text_compiles_as_a_file_does_and_takes_parameters_the_same_way(tmp_path: Path) -> None:
    text = CHAIN.read_text(encoding="utf-8")
    from_file = collc.compile(CHAIN, P=4, B=8, verify_text=False)
    from_text = collc.compile(CHAIN, text=text, P=4, B=8, verify_text=False)
    assert dict(from_text.files) == dict(from_file.files)
    assert collc.compile(text=text, P=4, B=8, verify_text=False).spec.file == "input.coll"
    (tmp_path / "trees.coll").write_text("tree mine(n) = chain(n)", encoding="utf-8")
    importing = 'import "trees.coll"\n' + text.replace("reduce chain", "reduce mine")
    beside = tmp_path / "not_there.coll"
    assert collc.compile(beside, text=importing, P=4, B=8, verify_text=False).spec.imports


def test_neither_a_path_nor_a_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="a path, or a text"):
        collc.compile()
    with pytest.raises(TypeError, match="parameter P is an integer"):
        collc.compile(CHAIN, P="4")  # type: ignore[arg-type]


def test_the_old_form_of_the_call_says_what_to_write() -> None:
    with pytest.warns(DeprecationWarning, match=r"collc\.compile\(text=\.\.\., P=4\)"):
        old = collc.compile_text  # type: ignore[attr-defined]
    assert old(CHAIN.read_text(encoding="utf-8"), "chain.coll", {"P": 4, "B": 8}).files
    assert "compile_text" not in collc.__all__
