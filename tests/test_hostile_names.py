"""Names of files are bytes that somebody else may have chosen: whatever they hold, they are shown
in one line of text, and nothing that is made from them runs, breaks or forges anything."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from collc.base.diagnostics import CollcError, Diagnostic, shown
from collc.commands.build import _rule
from commands import collc

SMALL = """target wse2
param P = 4
param B = 8
grid row = P x 1
collective total = allreduce(x: f32[B], add) on row {
    reduce chain to 0
    then broadcast from 0
}
program { total }
"""
FORGED = "::warning::forged"  # what would be a line of its own, and a command of a workflow
NAME = f"a\x1b]0;x\x07\n{FORGED}\n$(touch ran)`touch ran`;touch ran;\u202e\"'*\\%<b>*#]]>\udce9"
COMMANDS = {
    "check": ("check", "FILE"),
    "check as data": ("check", "FILE", "--json"),
    "check as SARIF": ("check", "FILE", "--format", "sarif"),
    "check in short": ("check", "FILE", "BAD", "--format", "short"),
    "check what is not there": ("check", "no" + NAME),
    "check with a definition": ("check", "FILE", "-D", f"{NAME}=1"),
    "build": ("build", "FILE"),
    "build as data": ("build", "FILE", "--json"),
    "build with a depfile": ("build", "FILE", "--depfile", "d", "--stamp", "s"),
    "build timed": ("build", "FILE", "--timed", "-o", "-x" + NAME),
    "dump": ("build", "FILE", "--dump", "spec"),
    "run": ("run", "FILE", "-o", "out" + NAME),
    "run with input": ("run", "FILE", "--input", "BAD"),
    "run with output": ("run", "FILE", "--output", "x" + NAME),
    "cost": ("cost", "FILE"),
    "cost as data": ("cost", "FILE", "--json"),
    "cost on a network": ("cost", "FILE", "--network", "BAD"),
    "explain": ("explain", "plan", "FILE", "--json"),
    "explain no code": ("explain", NAME),
    "export a graph": ("export", "FILE", "--dot"),
    "export XML": ("export", "FILE", "--graphml"),
    "export traces": ("export", "FILE", "--chakra", "traces" + NAME),
    "fmt": ("fmt", "--check", "FILE", "BAD"),
    "fmt as differences": ("fmt", "--diff", "UGLY"),
    "list": ("list", NAME),
    "example": ("example", NAME),
    "new": ("new", "new" + NAME),
    "plot": ("plot", "cycles", "FILE", "--over", "B=1..4", "--csv", "-"),
    "sweep": ("sweep", "FILE", "--over", "B=1..2", "--json", "--jobs", "1"),
    "tune": ("tune", "FILE", "--over", "B=1..2", "--json", "--jobs", "1"),
    "view": ("view", "FILE", "--no-run", "--json"),
    "view with a lesson": ("view", "FILE", "--lesson", "BAD", "-o", "v" + NAME),
    "no command": (NAME,),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / f"{NAME}.coll").write_text(SMALL)
    (tmp_path / f"b{NAME}.coll").write_bytes(b"bad\xff")
    (tmp_path / f"u{NAME}.coll").write_text(SMALL.replace("    reduce", "  reduce"))
    return tmp_path


def lines_of(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        assert line.replace("\t", "").isprintable(), ascii(line)
        assert not line.lstrip("/# ").startswith(FORGED), line
        yield line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hostile_name_is_text_in_one_line_wherever_it_is_printed_or_written(
    command: str, folder: Path
) -> None:
    places = {"FILE": f"{NAME}.coll", "BAD": f"b{NAME}.coll", "UGLY": f"u{NAME}.coll"}
    before = set(folder.iterdir())
    done = collc(*(places.get(word, word) for word in COMMANDS[command]), cwd=folder)
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 1, 2}, done.stderr
    printed = [*lines_of(done.stdout), *lines_of(done.stderr)]
    assert any(printed)
    if "--json" in COMMANDS[command] or "sarif" in COMMANDS[command]:
        json.loads(done.stdout).keys()
        done.stdout.encode("ascii")
    if "--graphml" in COMMANDS[command]:
        ElementTree.fromstring(done.stdout)
    made = {path for top in {*folder.iterdir()} - before for path in (top, *top.rglob("*"))}
    for path in (path for path in made if path.is_file() and path.suffix != ".et"):
        text = path.read_text(encoding="utf-8")
        assert [*lines_of(text)] or path.name == "s"
        if path.name == "run.py":
            ast.parse(text)
        if path.suffix == ".json":
            json.loads(text)
    assert not list(folder.rglob("ran"))


def test_a_name_is_shown_with_escapes_for_what_is_no_text_and_else_as_it_is() -> None:
    assert shown("käse (1) $x.coll") == "käse (1) $x.coll"
    assert shown(os.fsdecode(b"caf\xe9\n\x1b.coll")) == r"caf\xe9\n\x1b.coll"
    assert shown("\u202e") == r"\u202e"


def test_texts_of_a_diagnostic_are_printable_and_keep_their_lines() -> None:
    found = Diagnostic("C502", "a\x1b\nb", None, help="\udce9")
    assert (found.message, found.help) == ("a\\x1b\nb", "\\xe9")
    assert found == Diagnostic("C502", found.message, None, help=found.help)


# Of names that both can read, in depfiles; then of those that only make can.
FOR_BOTH = (
    *("a b", "a$b", "$", "$$x", "a#b", "#a", "a:b", ":a", "a%b", "%", "a=b", "a(b", "(a", "a~"),
    *("a!b", "a@b", "a+b,c", "{a}", "-a", "a\\b", "\\a", "a]b", "ä", "\udce9", " a"),
)
FOR_MAKE = (
    *("a*b", "a?b", "a[1]b", "[", "a|b", "|", 'a"b', "a'b", "a`b", "a&b", "a<b>", "a^b", "a:"),
)
FOR_NONE = (
    *("a\nb", "a\n\tb", "a\rb", "a\tb", "a;b", "a\\", "a\\ b", "a\\#b", "a\\:b", "a\\*b", "a "),
    *("a(b)", "*\\a", "\x7f", ".PHONY", "a&", "~", "~a", "=", "+=a"),
    "x\nall:;touch${IFS}PWNED\nz:",
)
OLD, NEWER, NEWEST = (10**9 + number for number in range(3))  # seconds


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed compiler is older than whatever is built."""
    monkeypatch.setattr("collc.base.version.__file__", str(tmp_path / "version"))
    (tmp_path / "version").touch()
    os.utime(tmp_path / "version", (OLD, OLD))


def is_stale(rule: str, target: str, folder: Path) -> bool:
    """Whether make would make the target anew, as this rule has it, which it must not complain
    about."""
    (folder / "rule").write_bytes(os.fsencode(rule) + b"\t@touch ran\n")
    words = ["make", "-rRqf", "rule", "--", target]
    # the tests may themselves be run by make
    outside = {name: value for name, value in os.environ.items() if not name.endswith("FLAGS")}
    done = subprocess.run(words, cwd=folder, env=outside, capture_output=True, check=False)
    assert (done.returncode in {0, 1}, done.stderr) == (True, b"")
    return done.returncode == 1


@pytest.mark.usefixtures("version")
@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("name", [*FOR_BOTH, *FOR_MAKE])
def test_make_reads_in_a_depfile_the_name_that_was_meant(name: str, tmp_path: Path) -> None:
    for other in ("a", "b", "a1b", "ab", "axb"):  # what a pattern, or half a name, would mean
        (tmp_path / other).touch()
    source = tmp_path / name
    source.touch()
    (tmp_path / "stamp").touch()
    for path in tmp_path.iterdir():
        os.utime(path, (OLD, OLD))
    os.utime(tmp_path / "stamp", (NEWER, NEWER))
    rule = _rule(Path("stamp"), [Path(name)])
    assert not is_stale(rule, "stamp", tmp_path)
    os.utime(source, (NEWEST, NEWEST))
    assert is_stale(rule, "stamp", tmp_path)


@pytest.mark.usefixtures("version")
@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("name", [one for one in (*FOR_BOTH, *FOR_MAKE) if "=" not in one])
def test_make_reads_the_target_that_was_meant(name: str, tmp_path: Path) -> None:
    (tmp_path / "source").touch()
    (tmp_path / name).touch()
    os.utime(tmp_path / "source", (OLD, OLD))
    os.utime(tmp_path / name, (NEWER, NEWER))
    rule = _rule(Path(name), [Path("source")])
    assert not is_stale(rule, name, tmp_path)
    os.utime(tmp_path / "source", (NEWEST, NEWEST))
    assert is_stale(rule, name, tmp_path)


@pytest.mark.usefixtures("version")
@pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not installed")
@pytest.mark.parametrize("name", FOR_BOTH)
def test_ninja_reads_in_a_depfile_the_name_that_was_meant(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    (tmp_path / "rule").write_bytes(os.fsencode(_rule(Path("stamp"), [Path(name)])))
    plan = "rule r\n command = touch stamp && cp rule d\n depfile = d\nbuild stamp: r\n"
    (tmp_path / "build.ninja").write_text(plan)

    def made() -> int:
        done = subprocess.run(["ninja"], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout
        return (tmp_path / "stamp").stat().st_mtime_ns

    first = made()
    assert made() == first
    os.utime(tmp_path / name, (4 * 10**9, 4 * 10**9))
    assert made() > first


@pytest.mark.parametrize("name", FOR_NONE)
def test_a_name_that_make_cannot_express_is_refused(name: str) -> None:
    for target, source in (("stamp", name), (name, "source")):
        with pytest.raises(CollcError) as refused:
            _rule(Path(target), [Path(source)])
        (diagnostic,) = refused.value.diagnostics
        assert diagnostic.code == "C502"
        assert shown(name) in diagnostic.message
    with pytest.raises(CollcError):
        _rule(Path("a=b"), [])


def test_a_refused_name_leaves_nothing_written(tmp_path: Path) -> None:
    (tmp_path / "a;b.coll").write_text(SMALL)
    done = collc("build", "a;b.coll", "-o", "o", "--depfile", "d", "--stamp", "s", cwd=tmp_path)
    assert (done.returncode, "it contains `;`" in done.stderr) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["a;b.coll"]


def test_build_systems_are_told_a_folder_by_its_own_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.coll").write_text(SMALL)
    words = ["collc", "build", "a.coll", "--list-outputs", "-o", os.fsdecode(b"caf\xe9")]
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert all(line.startswith(b"caf\xe9/") for line in done.stdout.splitlines())


def test_the_same_is_emitted_whatever_the_locale(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    (tmp_path / "é.coll").write_text(SMALL)
    command = [sys.executable, "-m", "collc", "build", "é.coll", "--depfile", "d"]
    texts = []
    for number, locale in enumerate(({}, ascii_only)):
        words = [*command, "-o", f"o{number}"]
        told = os.environ | locale
        subprocess.run(words, cwd=tmp_path, env=told, capture_output=True, check=True)
        texts.append({p.name: p.read_bytes() for p in (tmp_path / f"o{number}").iterdir()})
        assert "é.coll".encode() in (tmp_path / "d").read_bytes()
    assert texts[0] == texts[1]
