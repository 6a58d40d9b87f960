"""What is made of the templates once fills them in as they are, and only as long as they are."""

from pathlib import Path

import jinja2

from collc.emit.templates import compile_all, environment

FOLDER = Path(__file__).parents[2] / "templates"


def test_compiled_templates_give_the_same_text(tmp_path: Path) -> None:
    compile_all(FOLDER, tmp_path)
    compiled, read = environment(FOLDER, tmp_path), environment(FOLDER, tmp_path / "not there")
    assert isinstance(compiled.loader, jinja2.ModuleLoader)
    assert isinstance(read.loader, jinja2.FileSystemLoader)
    fabric = {"dims": (15, 3), "offsets": (4, 1), "channels": 1}
    given = {"arch": "wse2", "fabric": fabric, "told": " --hop 1"}
    name = "commands.sh.j2"
    assert compiled.get_template(name).render(given) == read.get_template(name).render(given)


def test_what_was_compiled_of_other_templates_is_left_aside(tmp_path: Path) -> None:
    compile_all(FOLDER, tmp_path)
    (tmp_path / "digest").write_text("0" * 64, encoding="ascii")
    assert isinstance(environment(FOLDER, tmp_path).loader, jinja2.FileSystemLoader)


def test_half_of_the_templates_are_left_aside(tmp_path: Path) -> None:
    compile_all(FOLDER, tmp_path)
    (tmp_path / "digest").unlink()
    assert isinstance(environment(FOLDER, tmp_path).loader, jinja2.FileSystemLoader)
