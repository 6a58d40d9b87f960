"""No files of a crate of the simulator need each other in a circle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

FABSIM = Path(__file__).parents[1] / "fabsim"
CRATES = ["binding", "engine", "frontend", "host", "lowering", "program"]
COMMENT = re.compile(r"//.*")
# Tests inside a file name what the file has: `super` is the file there.
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
START = r"\b(crate|self|super)((?:::super)*)::"
PATH = re.compile(START + r"((?:\w+::)*\w+)")
LIST = re.compile(START + r"((?:\w+::)*)\{([^;]*?)\}\s*;")


def named(text: str) -> Iterator[tuple[str, int, str]]:
    """Where the paths begin that a text names, how many levels further up, and how they go on."""
    text = COMMENT.sub("", TESTS.sub("", text))
    for start, above, name in PATH.findall(text):
        yield start, above.count("super"), name
    for start, above, prefix, names in LIST.findall(text):
        for name in re.findall(r"\w+(?:::\w+)*", names):
            yield start, above.count("super"), prefix + name


def needs(crate: Path) -> nx.DiGraph:
    """The modules of a crate that have a file, with those that each one names."""
    modules = {}
    for path in sorted(crate.rglob("*.rs")):
        inside = path.relative_to(crate).with_suffix("").parts
        modules[inside[:-1] if inside[-1] == "mod" else inside] = path
    graph = nx.DiGraph()
    for module, path in modules.items():
        bases = {"crate": (), "self": module, "super": module[:-1]}
        for start, above, name in named(path.read_text(encoding="utf-8")):
            base = bases[start]
            whole = base[: len(base) - above] + tuple(name.split("::"))
            prefixes = (whole[:length] for length in range(len(whole), 0, -1))
            found = next((prefix for prefix in prefixes if prefix in modules), module)
            if found != module:
                graph.add_edge("::".join(module), "::".join(found))
    return graph


@pytest.mark.parametrize("crate", CRATES)
def test_no_circle_of_files(crate: str) -> None:
    folder = FABSIM / crate
    found = nx.strongly_connected_components(needs(folder / "src"))
    assert [sorted(circle) for circle in found if len(circle) > 1] == []


def test_the_machine_names_little_of_what_makes_it_fast() -> None:
    # A compute element is read without it: it keeps what is pending, and asks for memory.
    graph = needs(FABSIM / "engine" / "src")
    named = {(a, b) for a, b in graph.edges if b.startswith("fast") and a.startswith("pe")}
    assert named == {("pe::element", "fast::pending"), ("pe::memory", "fast::prefetch")}


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mod.rs").write_text("use super::b::{B, C}; // crate::d::D\n")
    (tmp_path / "b.rs").write_text("fn f() { crate::a::deep::g() }\n")
    (tmp_path / "a" / "deep.rs").write_text("use crate::{b::B, d};\n")
    (tmp_path / "d.rs").write_text("struct D;\n")
    found = {frozenset(circle) for circle in nx.strongly_connected_components(needs(tmp_path))}
    assert frozenset({"a", "b"}) not in found
    assert frozenset({"b", "a::deep"}) in found


def test_a_circle_through_a_parent_is_found_and_tests_inside_a_file_make_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a.rs").write_text("mod b;\nuse self::b::B;\nstruct A;\n")
    (tmp_path / "a" / "b.rs").write_text("use super::A;\n")
    (tmp_path / "c").mkdir()
    (tmp_path / "c.rs").write_text("use self::d::D;\n")
    (tmp_path / "c" / "d.rs").write_text("#[cfg(test)]\nmod tests {\n    use super::D;\n}\n")
    (tmp_path / "c" / "e.rs").write_text("use super::super::a::{\n    A,\n};\n")
    graph = needs(tmp_path)
    circles = [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    assert circles == [["a", "a::b"]]
    assert ("c::e", "a") in graph.edges


@pytest.mark.parametrize("place", ["binding", "frontend", "host", "lowering", "program", "."])
def test_unsafe_code_is_forbidden_outside_the_engine(place: str) -> None:
    assert "#![forbid(unsafe_code)]" in (FABSIM / place / "src" / "lib.rs").read_text()


def test_unsafe_code_is_forbidden_in_the_evaluator() -> None:
    library = FABSIM.parent / "evaluator" / "src" / "lib.rs"
    assert "#![forbid(unsafe_code)]" in library.read_text()
