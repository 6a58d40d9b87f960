"""`import "file.coll"`: what may be imported, from where, and what is said if it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError, Diagnostic
from collc.language import parse_file, read_source
from collc.spec import ReduceStep, Spec

MAIN = """import "trees.coll"
target wse2
grid row = 8 x 1
collective total = reduce(x: f32[4], add) on row {
    order  west_to_east
    reduce mine to 0
}
program { total }
"""
TREES = "tree mine(n) = n == 1 ? leaf : join(mine(n - 1), leaf)\n"


def spec_of(folder: Path, **files: str) -> Spec:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.coll"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return parse_file(folder / "main.coll", read_source(folder / "main.coll"), {})


def problem_of(folder: Path, **files: str) -> Diagnostic:
    with pytest.raises(CollcError) as caught:
        spec_of(folder, **files)
    (found,) = caught.value.diagnostics
    return found


def tree_of(spec: Spec) -> str:
    (step,) = spec.collectives[0].steps
    assert isinstance(step, ReduceStep)
    return step.tree.text


def test_an_imported_tree_is_used_like_one_of_the_file(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, main=MAIN, trees=TREES)
    assert tree_of(spec) == "mine"
    assert spec.imports == (str(tmp_path / "trees.coll"),)


def test_a_file_that_two_import_is_read_once(tmp_path: Path) -> None:
    main = 'import "trees.coll"\n' + MAIN.replace("trees.coll", "more/others.coll")
    others = 'import "common.coll"\n'
    trees = 'import "more/common.coll"\n'
    spec = spec_of(tmp_path, main=main, more__others=others, trees=trees, more__common=TREES)
    assert len(spec.imports) == 3


def test_files_may_import_each_other(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path,
        main=MAIN,
        trees=TREES + 'import "again.coll"\n',
        again='import "trees.coll"\nimport "main.coll"\n',
    )
    assert tree_of(spec) == "mine"


@pytest.mark.parametrize("name", ["../trees.coll", "/etc/hostname", "link.coll"])
def test_nothing_outside_of_the_folder_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "trees.coll").write_text(TREES)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.coll").symlink_to(tmp_path / "trees.coll")
    found = problem_of(inside, main=MAIN.replace("trees.coll", name))
    assert found.code == "C118"
    assert "outside of the folder" in found.message
    assert found.at is not None and found.at.line == 1


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "trees.coll").symlink_to(tmp_path / "real.coll")
    assert tree_of(spec_of(tmp_path, main=MAIN, real=TREES)) == "mine"


def test_a_program_and_its_imports_may_all_be_links_as_in_a_sandbox(tmp_path: Path) -> None:
    """Bazel's sandbox has a link for each input, to where the file really is."""
    real, sandbox, other = tmp_path / "real", tmp_path / "sandbox", tmp_path / "other"
    for folder in (real, sandbox, other):
        folder.mkdir()
    (real / "main.coll").write_text(MAIN)
    (real / "trees.coll").write_text(TREES)
    (other / "trees.coll").write_text(TREES)
    (sandbox / "main.coll").symlink_to(real / "main.coll")
    (sandbox / "trees.coll").symlink_to(real / "trees.coll")
    assert tree_of(spec_of(sandbox)) == "mine"
    (sandbox / "trees.coll").unlink()
    (sandbox / "trees.coll").symlink_to(other / "trees.coll")
    assert problem_of(sandbox).code == "C118"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert 'there is no file "trees.coll"' in problem_of(tmp_path, main=MAIN).message


def test_a_link_that_leads_in_a_circle_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "trees.coll").symlink_to("trees.coll")
    assert 'there is no file "trees.coll"' in problem_of(tmp_path, main=MAIN).message


@pytest.mark.parametrize("line", ["param N = 4", "target wse2", "grid other = 4 x 1"])
def test_what_belongs_to_a_program_is_not_imported(tmp_path: Path, line: str) -> None:
    found = problem_of(tmp_path, main=MAIN, trees=f"{TREES}{line}\n")
    assert found.code == "C118"
    assert found.at is not None and found.at.file == str(tmp_path / "trees.coll")
    assert [span.file for span, _ in found.also] == [str(tmp_path / "main.coll")]


def test_a_name_that_both_files_declare_is_refused_with_both_places(tmp_path: Path) -> None:
    found = problem_of(tmp_path, main=MAIN + TREES, trees=TREES)
    places = (found.at, *(span for span, _ in found.also))
    assert {place.file for place in places if place} == {
        str(tmp_path / "main.coll"),
        str(tmp_path / "trees.coll"),
    }


def test_a_mistake_in_an_imported_file_is_shown_there(tmp_path: Path) -> None:
    found = problem_of(tmp_path, main=MAIN, trees="tree mine(n) = leaf leaf\n")
    assert found.at is not None and found.at.file == str(tmp_path / "trees.coll")
