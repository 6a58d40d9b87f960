"""The docs: every page is of one kind, and no link leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.cli import commands

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.glob("*.md"), *DOCS.glob("teaching/*.md")))
TEXTS = (*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")))
KINDS = ("Tutorial", "How to", "Reference", "Explanation", "Status")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def kinds() -> dict[str, str]:
    """The kind of each page, by its name, as the site's navigation has it."""
    found, kind = {}, ""
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    for line in nav.split("\nvalidation:")[0].splitlines():
        if title := re.match(r"  - ([^:]+):$", line):
            kind = title[1]
        elif page := re.search(r": (\S+\.md)$", line):
            assert page[1] not in found, f"{page[1]} is listed twice"
            found[page[1]] = kind
    return found


def anchors(path: Path) -> set[str]:
    """What links can lead to within a page: its headings, as the site and GitHub name them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", path.read_text(encoding="utf-8")), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def dead(path: Path, text: str) -> Iterator[str]:
    """Links of a text that lead to no file, or to no heading of a page."""
    for link in _LINK.findall(_FENCE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        there = (path.parent / name).resolve() if name else path
        if not there.exists() or (
            anchor and there.suffix == ".md" and anchor not in anchors(there)
        ):
            yield link


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_is_dead(path: Path) -> None:
    assert list(dead(path, path.read_text(encoding="utf-8"))) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here it is\n", encoding="utf-8")
    text = "[a](page.md#here-it-is) [b](page.md#there) [c](other.md) [d](https://e.f) [e](#gone)"
    assert list(dead(page, text)) == ["page.md#there", "other.md", "#gone"]


def test_every_page_is_of_one_kind() -> None:
    pages = {str(path.relative_to(DOCS)) for path in PAGES} - {"index.md"}
    listed = {name: kind for name, kind in kinds().items() if name != "index.md"}
    in_folders = {str(path.relative_to(DOCS)) for path in DOCS.glob("teaching/*.md")}
    assert set(listed) == pages - (in_folders - set(listed))
    assert set(listed.values()) == set(KINDS)


def test_the_first_page_lists_all_by_kind() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"**{kind}**" in index, kind
    links = {link.partition("#")[0] for link in _LINK.findall(index)}
    missing = {name for name, kind in kinds().items() if kind != "Status"} - links
    assert missing == {"index.md"}


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_output_that_is_shown_is_what_the_command_prints(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = (ROOT / page).read_text(encoding="utf-8")
    monkeypatch.chdir(ROOT)
    sizes = ["-D", "P=64", "-D", "B=256", "-D", "S=8", "-o", str(tmp_path)]
    words = ["run", "examples/two_phase.coll", *sizes]
    printed = CliRunner().invoke(commands, words).output
    figures = re.findall(r"^  (?:cycles|predicted|bound|colors) .*$", printed, re.M)
    assert len(figures) == 4
    assert [line for line in figures if line not in shown] == []


def test_the_benchmarks_that_are_shown_are_points_of_their_page() -> None:
    def rows(name: str) -> list[list[str]]:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        return [[c.strip() for c in line.split("|")] for line in lines if line.startswith("| ")]

    points = (line for line in rows("docs/versus.md") if len(line) > 7)
    measured = {(*line[3:6], ours) for line in points for ours in line[6:]}
    shown = [line for line in rows("README.md") if len(line) == 9 and line[2][0].isdigit()]
    assert len(shown) >= 5
    for _, _, shape, length, _, theirs, ours, ratio, _ in shown:
        assert (shape, length, theirs, f"{ours} ({ratio})") in measured


def decisions() -> dict[int, str]:
    """The text of each decision by its number, in the order of the page."""
    page = (DOCS / "decisions.md").read_text(encoding="utf-8")
    return {
        int(n): text
        for n, text in re.findall(r"^\*\*D(\d+)\.(.*?)(?=^\*\*D|\Z)", page, re.M | re.S)
    }


def test_decisions_are_in_order() -> None:
    assert list(decisions()) == sorted(decisions())


def test_a_decision_holds_in_files_that_exist() -> None:
    named = ((n, re.findall(r"^Holds in (.*)\.$", text, re.M)) for n, text in decisions().items())
    files = [(n, file) for n, lines in named for line in lines for file in line.split(", ")]
    assert len(files) > 100
    assert [(n, file) for n, file in files if not (ROOT / file.strip("`")).exists()] == []


def test_a_decision_that_is_cited_is_there_and_not_replaced() -> None:
    known = {n for n, text in decisions().items() if not text.startswith("** Replaced by D")}
    folders = ("compiler", "research", "templates", "grammar", "evaluator/src", "docs")
    texts = [path for name in folders for path in (ROOT / name).rglob("*") if path.is_file()]
    endings = {".py", ".md", ".j2", ".coll", ".rs"}
    texts = [path for path in texts if path.suffix in endings and path.name != "decisions.md"]
    cited = [
        (path.name, int(n))
        for path in texts
        for n in re.findall(r"\bD(\d{1,3})\b", path.read_text(encoding="utf-8"))
    ]
    assert len(cited) > 25
    assert [(name, n) for name, n in cited if n not in known] == []
