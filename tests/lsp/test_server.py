"""The language server, driven as an editor drives it: by a client, over its standard input."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from collc.base.diagnostics import Diagnostic, Edit, Span

lsp = pytest.importorskip("lsprotocol.types")
client_module = pytest.importorskip("pygls.lsp.client")
workspace = pytest.importorskip("pygls.workspace")
quick_fix = pytest.importorskip("collc.lsp.server").quick_fix

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.coll"))
LARGEST = max(EXAMPLES, key=lambda file: file.stat().st_size)
TEXT = """// Summe über é\U0001d7d8
target wse2
param P = 8 where P >= 1
grid row = P x 1
// A tree of one's own.
tree mine(n, S) = n <= S ? chain(n) : join(mine(n - g, S = S), chain(g))
    where g = min(S, n - 1)
collective total = reduce(x: f32[4], add) on row {
    reduce mine(S = 2) to 0
}
program { total }
"""


class Editor:
    """A client with one text open."""

    def __init__(self, uri: str, *, versions: bool = True) -> None:
        self.client = client_module.LanguageClient("tests", "1")
        self.versions = versions  # whether it takes edits of a version of a text
        self.uri, self.version, self.text = uri, 0, ""
        self.published: asyncio.Queue[Any] = asyncio.Queue()

        def published(told: Any) -> None:
            self.published.put_nowait(told)

        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)

    async def open(self, text: str) -> None:
        await self.client.start_io(sys.executable, "-m", "collc", "lsp")
        edits = lsp.WorkspaceEditClientCapabilities(document_changes=self.versions)
        workspace = lsp.WorkspaceClientCapabilities(workspace_edit=edits)
        capabilities = lsp.ClientCapabilities(workspace=workspace)
        await self.client.initialize_async(lsp.InitializeParams(capabilities=capabilities))
        self.client.initialized(lsp.InitializedParams())
        self.text = text
        item = lsp.TextDocumentItem(self.uri, "coll", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def type(self, text: str) -> None:
        """Replace the text, as an editor does after a keystroke."""
        self.version, self.text = self.version + 1, text
        named = lsp.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [change]))

    async def diagnostics(self, seconds: float = 60) -> Any:
        """What is told of the text as it is now."""
        while True:
            told = await asyncio.wait_for(self.published.get(), seconds)
            if told.version == self.version:
                return list(told.diagnostics)

    def at(self, before: str, behind: str = "") -> dict[str, Any]:
        """The place in the text between two words, in UTF-16 units as editors count."""
        offset = self.text.index(before + behind) + len(before)
        line = self.text.count("\n", 0, offset)
        column = self.text[self.text.rfind("\n", 0, offset) + 1 : offset]
        character = len(column.encode("utf-16-le")) // 2
        named = lsp.TextDocumentIdentifier(self.uri)
        return {"text_document": named, "position": lsp.Position(line, character)}

    async def quick_fixes(
        self, before: str, at: str, *, only: Any = None, behind: Any = None
    ) -> list[Any]:
        """What is offered at a place of the text, or from there to another place."""
        place = self.at(before, at)
        asked = lsp.Range(place["position"], behind or place["position"])
        context = lsp.CodeActionContext([], only=only)
        params = lsp.CodeActionParams(place["text_document"], asked, context)
        return list(await self.client.text_document_code_action_async(params) or ())

    def applied(self, edits: Any) -> str:
        """The text after edits within lines."""
        lines = self.text.split("\n")
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character))[
            ::-1
        ]:
            line, first, last = edit.range.start.line, edit.range.start.character, edit.range.end
            assert last.line == line
            lines[line] = lines[line][:first] + edit.new_text + lines[line][last.character :]
        return "\n".join(lines)

    async def close(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def session(
    script: Callable[[Editor], Awaitable[None]], text: str, folder: Path, *, versions: bool = True
) -> None:
    """Open a text, follow a script, close."""

    async def run() -> None:
        editor = Editor((folder / "input.coll").as_uri(), versions=versions)
        await editor.open(text)
        try:
            await script(editor)
        finally:
            await editor.close()

    asyncio.run(asyncio.wait_for(run(), 240))


def test_problems_are_told_while_typing_with_their_places(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        assert await editor.diagnostics() == []
        editor.type(TEXT.replace("on row", "on rows"))
        (told,) = await editor.diagnostics()
        assert (told.code, told.severity) == ("C110", lsp.DiagnosticSeverity.Error)
        assert (told.range.start.line, told.source) == (7, "collc")
        editor.type(TEXT + "\N{GREEK SMALL LETTER MU}")
        (told,) = await editor.diagnostics()
        assert told.range.start.line == 11
        editor.type(TEXT)
        assert await editor.diagnostics() == []

    session(script, TEXT, tmp_path)


def test_what_only_the_compiler_finds_comes_after_a_pause_and_the_prediction_on_hover(
    tmp_path: Path,
) -> None:
    async def script(editor: Editor) -> None:
        assert await editor.diagnostics() == []
        await editor.diagnostics()  # the compiler's
        hover = await editor.client.text_document_hover_async(
            lsp.HoverParams(**editor.at("program { ", "total"))
        )
        assert "cycles**" in hover.contents.value
        assert "collective total = reduce" in hover.contents.value
        editor.type(TEXT.replace("    reduce mine", "    within colors <= 1\n    reduce mine"))
        assert await editor.diagnostics() == []
        told = await editor.diagnostics()
        assert {one.code for one in told} == {"C302"}

    session(script, TEXT, tmp_path)


def test_names_are_followed_shown_and_renamed(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        ask = editor.client
        place = lsp.DefinitionParams(**editor.at("reduce ", "mine"))
        found = await ask.text_document_definition_async(place)
        assert (found.uri, found.range.start) == (editor.uri, lsp.Position(5, 5))
        place = lsp.DefinitionParams(**editor.at("? ", "chain"))
        found = await ask.text_document_definition_async(place)
        assert found.uri.endswith("prelude.coll")
        hover = await ask.text_document_hover_async(lsp.HoverParams(**editor.at("? ", "chain")))
        assert "tree chain(n)" in hover.contents.value
        assert "A line of messengers" in hover.contents.value
        new = lsp.RenameParams(**editor.at("n <= ", "S"), new_name="groups")
        edit = await ask.text_document_rename_async(new)
        (change,) = edit.document_changes
        assert change.text_document.version == editor.version
        renamed = editor.applied(change.edits)
        assert renamed == TEXT.replace("S", "groups").replace("groupsumme", "Summe").replace(
            "// groupsumme", "// Summe"
        ).replace("// groups", "// S")
        with pytest.raises(Exception, match="word of the language"):
            await ask.text_document_rename_async(
                lsp.RenameParams(**editor.at("reduce ", "mine"), new_name="program")
            )

    session(script, TEXT, tmp_path)


def test_completion_offers_what_may_come(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        async def offered(before: str, behind: str) -> set[str]:
            place = lsp.CompletionParams(**editor.at(before, behind))
            listed = await editor.client.text_document_completion_async(place)
            return {item.label for item in listed.items}

        trees = await offered("    reduce ", "mine")
        assert {"mine", "chain", "two_phase"} <= trees
        assert not trees & {"row", "ring_allreduce", "P"}
        assert await offered(" on ", "row") == {"row", "each"}
        assert "param" in await offered("", "target")

    session(script, TEXT, tmp_path)


def test_formatting_is_that_of_fmt_and_leaves_alone_what_does_not_parse(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
        asked = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(editor.uri), options)
        (edit,) = await editor.client.text_document_formatting_async(asked)
        assert edit.new_text == "program { total }\n"
        editor.type("program { total ")
        assert not await editor.client.text_document_formatting_async(asked)

    session(script, "program   {total}", tmp_path)


def test_a_session_over_all_examples_ends_without_an_error(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        await editor.diagnostics()
        for file in EXAMPLES:
            editor.type(
                file.read_text().replace('import "trees.coll"\n', "").replace("mine", "chain")
            )
            told = await editor.diagnostics()
            wrong = [one for one in told if one.severity == lsp.DiagnosticSeverity.Error]
            assert not [one for one in wrong if "chain" not in one.message], file.name

    session(script, TEXT, tmp_path)


def test_diagnostics_come_within_150_milliseconds_of_a_keystroke(tmp_path: Path) -> None:
    """95 of 100 keystrokes on the largest example, typed at the end of a comment and in a name; in
    the better of three sessions, since other processes may have the processor in one."""
    text = LARGEST.read_text()

    async def script(editor: Editor) -> None:
        await editor.diagnostics()
        for stroke in range(100):
            at = text.index("param ") + 6 if stroke % 2 else text.index("\n")
            begin = time.perf_counter()
            editor.type(text[:at] + "x" * (1 + stroke % 5) + text[at:])
            await editor.diagnostics()
            took.append(time.perf_counter() - begin)

    worst = []
    for _ in range(3):
        took: list[float] = []
        session(script, text, tmp_path)
        worst.append(statistics.quantiles(took, n=20)[-1])
        if worst[-1] < 0.150:
            return
    pytest.fail(f"seconds that 95 of 100 keystrokes took at most: {worst}")


def test_a_help_that_says_what_to_write_is_a_quick_fix(tmp_path: Path) -> None:
    wrong = TEXT.replace("f32", "f33").replace("reduce mine", "reduce mien")

    async def script(editor: Editor) -> None:
        type_, tree = await editor.diagnostics()
        (action,) = await editor.quick_fixes("x: ", "f33")
        assert (action.title, action.kind) == ("did you mean `f32`?", "quickfix")
        assert list(action.diagnostics) == [type_] and action.is_preferred
        (change,) = action.edit.document_changes
        assert change.text_document.uri == editor.uri
        assert change.text_document.version == editor.version
        assert editor.applied(change.edits) == wrong.replace("f33", "f32")
        both = await editor.quick_fixes("collective total", "", behind=tree.range.end)
        assert [list(one.diagnostics) for one in both] == [[type_], [tree]]
        assert not any(one.is_preferred for one in both)

    session(script, wrong, tmp_path)


def test_there_is_no_quick_fix_elsewhere_for_another_kind_or_of_an_older_text(
    tmp_path: Path,
) -> None:
    wrong = TEXT.replace("on row", "on rwo")

    async def script(editor: Editor) -> None:
        await editor.diagnostics()
        assert not await editor.quick_fixes("target ", "wse2")
        assert not await editor.quick_fixes("on ", "rwo", only=["refactor"])
        assert await editor.quick_fixes("on ", "rwo", only=["quickfix"])
        editor.type(TEXT)
        assert not await editor.quick_fixes("on ", "row")

    session(script, wrong, tmp_path)


def test_what_only_the_compiler_finds_has_quick_fixes_too(tmp_path: Path) -> None:
    wrong = TEXT.replace("    reduce mine", "    within colors <= 1\n    reduce mine")

    async def script(editor: Editor) -> None:
        assert await editor.diagnostics() == []
        (told,) = await editor.diagnostics()
        (action,) = await editor.quick_fixes("colors <= ", "1")
        assert action.title.startswith("allow ") and list(action.diagnostics) == [told]
        (edits,) = action.edit.changes.values()  # what a client takes that knows no versions
        editor.type(editor.applied(edits))
        assert await editor.diagnostics() == []
        assert await editor.diagnostics() == []  # the compiler's

    session(script, wrong, tmp_path, versions=False)


def test_a_quick_fix_is_called_by_the_way_that_it_takes() -> None:
    text = workspace.TextDocument("file:///a.coll", "abc")
    at = Span("a.coll", 1, 1, 1, 2)
    for help, title in (
        ("did you mean `add`? Known here: add, max", "did you mean `add`?"),
        ("allow 2 colors, or take other steps", "allow 2 colors"),
        ("write `a or b` or `c`, which are alike", "write `a or b`"),
        ("equality is written `==`", "equality is written `==`"),
    ):
        fix = quick_fix(text, Diagnostic("C999", "", at, help=help, fix=(Edit(at, "x"),)))
        assert fix is not None and fix.title == title
    assert quick_fix(text, Diagnostic("C999", "", at, help="read on")) is None


def test_completion_comes_within_a_second_of_a_change_in_a_text_of_2200_declarations(
    tmp_path: Path,
) -> None:
    """A line more above all of them, and a letter of the name that is begun; the better of three,
    since other processes may have the processor in one."""
    trees = (f"tree t{i}(n) = join(chain(n - 1), chain(1))\n" for i in range(2200))
    text = TEXT.replace("tree mine", f"{''.join(trees)}tree mine")

    async def script(editor: Editor) -> None:
        await editor.diagnostics()
        for stroke in range(3):
            begun = text.replace("reduce mine", f"reduce t2{stroke}")
            begin = time.perf_counter()
            editor.type("\n" * stroke + begun)
            place = lsp.CompletionParams(**editor.at("    reduce ", "t2"))
            listed = await editor.client.text_document_completion_async(place)
            took.append(time.perf_counter() - begin)
            assert len([one for one in listed.items if one.label.startswith("t")]) >= 2200
            await editor.diagnostics()

    took: list[float] = []
    session(script, text, tmp_path)
    assert min(took) < 1, took
