"""What a release consists of: the version's places, the changelog in order, the site."""

from __future__ import annotations

import configparser
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from collc.base.version import __version__

ROOT = Path(__file__).parents[1]


def script(name: str) -> ModuleType:
    """A script of .ci as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHANGES = """# Changelog

## 0.1.0 (unreleased)

- One thing
  on two lines.
- Fixed: a fault.
- Changed: a habit.
- Another thing.
"""


def test_the_unreleased_section_is_put_in_order_under_the_version() -> None:
    wanted = """# Changelog

## 0.2.0

### Added

- One thing
  on two lines.
- Another thing.

### Changed

- a habit.

### Fixed

- a fault.
"""
    released = script("set_version").released
    assert released(CHANGES, "0.2.0") == wanted
    with pytest.raises(SystemExit, match="nothing unreleased"):
        released(wanted, "0.3.0")


def test_an_entry_that_a_merge_left_twice_is_there_once() -> None:
    words = "A sum over a line of PEs takes fewer cycles than before"
    entries = [f"- {words}.\n", f"- Changed: {words} it did.\n", "- A sum of nothing.\n"]
    assert script("set_version")._once(entries) == [
        ("Changed", f"- {words} it did."),
        ("Added", "- A sum of nothing."),
    ]


def test_the_version_is_where_the_script_looks_for_it() -> None:
    module = script("set_version")
    for name, pattern in module.PLACES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "9.8.7" in module.with_version(text, pattern, "9.8.7")
    for name in module.LOCKS:
        text = (ROOT / name).read_text(encoding="utf-8")
        there = len(re.findall(r'name = "(?:fabsim|collc)', text))
        said = len(re.findall(module.LOCKED, text))
        assert 0 < said == there, name
    with pytest.raises(SystemExit, match="MAJOR"):
        module.main("0.2")


def test_one_version_is_everywhere() -> None:
    module = script("set_version")
    for name, pattern in [*module.PLACES, *((name, module.LOCKED) for name in module.LOCKS)]:
        text = (ROOT / name).read_text(encoding="utf-8")
        count = 0 if name in module.LOCKS else 1
        same = re.sub(pattern, rf"\g<1>{__version__}\g<2>", text, count=count, flags=re.M)
        assert text == same, name


def test_a_wheel_has_every_package_that_there_is() -> None:
    """Installed in place, a package that is missing from the list is found all the same."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = settings["options"]["packages"].split()
    there = {
        ".".join((name, *path.parent.relative_to(ROOT / folder).parts))
        for name, folder in (("collc", "compiler"), ("collc_research", "research"))
        for path in (ROOT / folder).rglob("*.py")
    }
    assert sorted(listed) == sorted({*there, "collc.examples", "collc.grammar", "collc.templates"})


def test_the_site_is_built_without_a_dead_link_and_has_every_page(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("there is no mkdocs here")
    build = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",  # which counts no warnings where none are shown
        "-d",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    built = {path.parent.name for path in (tmp_path / "site").glob("*/index.html")} | {"index"}
    assert pages <= built
    shutil.rmtree(tmp_path / "site")


def test_a_link_to_a_file_that_is_not_there_ends_the_site() -> None:
    hook = script("site_links").on_page_markdown
    page = page_of("a.md")
    assert hook("[`LICENSE`](../LICENSE)", page=page, files=None) == "`LICENSE`"
    assert hook("see [this](../LICENSE)", page=page, files=None) == "see this (`LICENSE`)"
    with pytest.raises(SystemExit, match=r"there is no nothing\.md"):
        hook("[a](../nothing.md)", page=page, files=None)


def page_of(path: str) -> SimpleNamespace:
    """A page as mkdocs gives it to a hook."""
    return SimpleNamespace(file=SimpleNamespace(src_path=path))


def test_the_site_carries_what_was_built_and_links_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    structure = pytest.importorskip("mkdocs.structure.files", reason="there is no mkdocs here")
    config = importlib.import_module("mkdocs.config").load_config(str(ROOT / "mkdocs.yml"))
    monkeypatch.setattr(config.plugins, "_current_plugin", "site_links", raising=False)  # in a hook
    hook = script("site_links")
    (tmp_path / "pyodide").mkdir()
    for name in ("chain.html", "pyodide/lock.json"):
        (tmp_path / name).write_text(name)
    built = {"teaching": tmp_path, "playground/app": tmp_path / "not_built"}
    monkeypatch.setattr(hook, "CARRIED", built)
    files = hook.on_files(structure.Files([]), config=config)
    assert files.src_uris.keys() == {"teaching/chain.html", "teaching/pyodide/lock.json"}
    structure.set_exclusions(files, config)
    assert all(file.inclusion.is_included() for file in files)
    page = page_of("teaching/README.md")
    said = hook.on_page_markdown("`chain.html`, `ring.html`", page=page, files=files)
    assert said == "[`chain.html`](chain.html), `ring.html`"
