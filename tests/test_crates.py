"""No files of a crate of the simulator need each other in a circle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

FABSIM = Path(__file__).parents[1] / "fabsim"
COMMENT = re.compile(r"//.*")
PATH = re.compile(r"\b(crate|super)::((?:\w+::)*\w+)")
LIST = re.compile(r"\b(crate|super)::\{([^;]*)\};")


def named(text: str) -> Iterator[tuple[str, str]]:
    """Where the paths begin that a text names, and how they go on."""
    text = COMMENT.sub("", text)
    yield from PATH.findall(text)
    for start, names in LIST.findall(text):
        yield from ((start, name) for name in re.findall(r"\w+(?:::\w+)*", names))


def needs(crate: Path) -> nx.DiGraph:
    """The modules of a crate that have a file, with those that each one names."""
    modules = {}
    for path in sorted(crate.rglob("*.rs")):
        inside = path.relative_to(crate).with_suffix("").parts
        modules[inside[:-1] if inside[-1] == "mod" else inside] = path
    graph = nx.DiGraph()
    for module, path in modules.items():
        for start, name in named(path.read_text(encoding="utf-8")):
            whole = (module[:-1] if start == "super" else ()) + tuple(name.split("::"))
            prefixes = (whole[:length] for length in range(len(whole), 0, -1))
            found = next((prefix for prefix in prefixes if prefix in modules), module)
            if found != module:
                graph.add_edge("::".join(module), "::".join(found))
    return graph


@pytest.mark.parametrize("crate", ["binding", "frontend", "host", "lowering", "program"])
def test_no_circle_of_files(crate: str) -> None:
    folder = FABSIM / crate
    found = nx.strongly_connected_components(needs(folder / "src"))
    assert [sorted(circle) for circle in found if len(circle) > 1] == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mod.rs").write_text("use super::b::{B, C}; // crate::d::D\n")
    (tmp_path / "b.rs").write_text("fn f() { crate::a::deep::g() }\n")
    (tmp_path / "a" / "deep.rs").write_text("use crate::{b::B, d};\n")
    (tmp_path / "d.rs").write_text("struct D;\n")
    found = {frozenset(circle) for circle in nx.strongly_connected_components(needs(tmp_path))}
    assert frozenset({"a", "b"}) not in found
    assert frozenset({"b", "a::deep"}) in found


@pytest.mark.parametrize("place", ["binding", "frontend", "host", "lowering", "program", "."])
def test_unsafe_code_is_forbidden_outside_the_engine(place: str) -> None:
    assert "#![forbid(unsafe_code)]" in (FABSIM / place / "src" / "lib.rs").read_text()


def test_unsafe_code_is_forbidden_in_the_evaluator() -> None:
    library = FABSIM.parent / "evaluator" / "src" / "lib.rs"
    assert "#![forbid(unsafe_code)]" in library.read_text()
