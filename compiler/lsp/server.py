"""The language server: the protocol's words on one side, `document` and `checking` on the other."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import ServerTextPosition, ServerTextRange, TextDocument

from collc.base.diagnostics import CollcError, Diagnostic, Span
from collc.base.values import dataclass
from collc.base.version import __version__
from collc.format import format_text
from collc.language.show import severity
from collc.lsp.document import Document
from collc.lsp.names import Name

PAUSE_SECONDS = 0.4  # without a keystroke, before the whole compiler is asked
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_ICONS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "function": lsp.CompletionItemKind.Function,
    "param": lsp.CompletionItemKind.Constant,
    "local": lsp.CompletionItemKind.Variable,
}


class CollcServer(LanguageServer):
    """A server, with what the compiler said last of each text and what it is looking at now."""

    def __init__(self) -> None:
        super().__init__("collc", __version__)
        self.checked: dict[str, _Checked] = {}
        self.checking: dict[str, asyncio.Task[None]] = {}

    def document(self, uri: str) -> tuple[TextDocument, Document]:
        """A text as the protocol has it, and as `document` asks for it."""
        text = self.workspace.get_text_document(uri)
        return text, Document(Path(to_fs_path(uri) or "untitled.coll"), text.source)

    def look_at(self, uri: str) -> None:
        """Tell what is wrong with a text at once; if nothing is, ask the compiler in a while."""
        text, document = self.document(uri)
        before = self.checking.pop(uri, None)
        if before is not None:
            before.cancel()
        own = str(document.file)
        here = [one for one in document.problems if one.at is None or one.at.file == own]
        self._publish(text, [_told(text, one) for one in here])
        if not document.problems:
            self.checking[uri] = asyncio.ensure_future(self._check(uri, text.version))

    async def _check(self, uri: str, version: int | None) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        text, document = self.document(uri)
        if not any(one.kind == "program" for one in document.names.declared):
            return
        checked = await check(document.file, text.source)
        if checked is None or text.version != version:
            return
        self.checked[uri] = checked
        self._publish(text, [_told_as_data(text, one) for one in checked.diagnostics])

    def _publish(self, text: TextDocument, diagnostics: list[lsp.Diagnostic]) -> None:
        params = lsp.PublishDiagnosticsParams(text.uri, diagnostics, version=text.version)
        self.text_document_publish_diagnostics(params)


def make_server() -> CollcServer:
    """A server that answers everything; `start_io` runs it on standard input and output."""
    server = CollcServer()
    for method, answer in _ANSWERS.items():
        options = _OPTIONS.get(method)
        server.feature(method, options)(_bound(server, answer))
    return server


def _bound(server: CollcServer, answer: Any) -> Any:  # noqa: ANN401 - as pygls has them
    def answered(params: Any) -> Any:  # noqa: ANN401
        return answer(server, params)

    return answered


def _changed(server: CollcServer, params: lsp.DidChangeTextDocumentParams) -> None:
    server.look_at(params.text_document.uri)


def _closed(server: CollcServer, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    server.checked.pop(uri, None)
    task = server.checking.pop(uri, None)
    if task is not None:
        task.cancel()
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _hover(server: CollcServer, params: lsp.HoverParams) -> lsp.Hover | None:
    text, document = server.document(params.text_document.uri)
    found = document.hover(_offset(text, params.position))
    if found is None:
        return None
    written, name = found
    declared = document.names.declaration(name.text)
    checked = server.checked.get(text.uri)
    if checked is not None and declared is not None and declared.kind == "collective":
        written = f"{checked.prediction}\n\n{written}".strip()
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, written)
    return lsp.Hover(content, _range(text, name.start, name.end))


def _definition(server: CollcServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    text, document = server.document(params.text_document.uri)
    found = document.definition(_offset(text, params.position))
    if found is None:
        return None
    file, other, start, end = found
    if file == document.file:
        return lsp.Location(text.uri, _range(text, start, end))
    uri = from_fs_path(str(file.resolve()))
    assert uri is not None
    return lsp.Location(uri, _range(TextDocument(uri, other), start, end))


def _completion(server: CollcServer, params: lsp.CompletionParams) -> lsp.CompletionList:
    text, document = server.document(params.text_document.uri)
    items = [
        lsp.CompletionItem(
            label=word, kind=_ICONS.get(kind, lsp.CompletionItemKind.Class), detail=about or kind
        )
        for word, kind, about in document.completions(_offset(text, params.position))
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


def _rename(server: CollcServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    text, document = server.document(params.text_document.uri)
    try:
        names = document.renamed(_offset(text, params.position), params.new_name)
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from None
    edits = [lsp.TextEdit(_range(text, one.start, one.end), params.new_name) for one in names]
    return lsp.WorkspaceEdit(changes={text.uri: edits})


def _references(server: CollcServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    text, document = server.document(params.text_document.uri)
    name: Name | None = document.names.at(_offset(text, params.position))
    same = document.names.same(name) if name else ()
    return [lsp.Location(text.uri, _range(text, one.start, one.end)) for one in same]


def _formatting(
    server: CollcServer, params: lsp.DocumentFormattingParams
) -> list[lsp.TextEdit] | None:
    text, document = server.document(params.text_document.uri)
    try:
        formatted = format_text(str(document.file), text.source)
    except CollcError:
        return None  # what is wrong has been told
    if formatted == text.source:
        return []
    return [lsp.TextEdit(_range(text, 0, len(text.source)), formatted)]


_ANSWERS = {
    lsp.TEXT_DOCUMENT_DID_OPEN: _changed,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: _changed,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _closed,
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
    lsp.TEXT_DOCUMENT_COMPLETION: _completion,
    lsp.TEXT_DOCUMENT_RENAME: _rename,
    lsp.TEXT_DOCUMENT_REFERENCES: _references,
    lsp.TEXT_DOCUMENT_FORMATTING: _formatting,
}
_OPTIONS = {lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=[" ", "("])}


def _offset(text: TextDocument, position: lsp.Position) -> int:
    """A place of the protocol's as characters from the beginning."""
    here = text.position_from_client_units(position)
    return sum(map(len, text.lines[: here.line])) + here.character


def _range(text: TextDocument, start: int, end: int) -> lsp.Range:
    own = ServerTextRange(_position(text, start), _position(text, end))
    return text.range_to_client_units(own)


def _position(text: TextDocument, offset: int) -> ServerTextPosition:
    before = text.source[:offset]
    return ServerTextPosition(before.count("\n"), len(before) - (before.rfind("\n") + 1))


def _told(text: TextDocument, one: Diagnostic) -> lsp.Diagnostic:
    own = one.at.file if one.at else ""
    also = [(span, note) for span, note in one.also if span.file == own]
    return _diagnostic(text, (one.code, severity(one), one.message, one.help), one.at, also)


def _told_as_data(text: TextDocument, one: dict[str, Any]) -> lsp.Diagnostic:
    also = [
        (Span(**other["at"]), other["message"])
        for other in one["also"]
        if other["at"]["file"] == "<stdin>"
    ]
    words = (one["code"], one["severity"], one["message"], one["help"])
    return _diagnostic(text, words, Span(**one["at"]) if one["at"] else None, also)


def _diagnostic(
    text: TextDocument,
    words: tuple[str, str, str, str],
    at: Span | None,
    also: list[tuple[Span, str]],
) -> lsp.Diagnostic:
    code, how_bad, message, help = words
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(text.uri, _of_span(text, span)), note)
        for span, note in also
    ]
    return lsp.Diagnostic(
        range=_of_span(text, at),
        message=f"{message}\nhelp: {help}" if help else message,
        severity=_SEVERITIES[how_bad],
        code=code,
        source="collc",
        related_information=related or None,
    )


def _of_span(text: TextDocument, span: Span | None) -> lsp.Range:
    """A stretch of the text; what has no place is told of its first line."""
    if span is None:
        return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    first = ServerTextPosition(span.line - 1, span.column - 1)
    last = ServerTextPosition(span.end_line - 1, span.end_column - 1)
    return text.range_to_client_units(ServerTextRange(first, last))


@dataclass(frozen=True)
class _Checked:
    """What `collc check --json` said of a text."""

    facts: dict[str, Any]

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Problems, or warnings where there is none."""
        found = self.facts.get("diagnostics", self.facts.get("warnings", []))
        return [one for one in found if one["at"] is None or one["at"]["file"] == "<stdin>"]

    @property
    def prediction(self) -> str:
        """What the program takes, in a line of Markdown; empty where it is at fault."""
        if "predicted_cycles" not in self.facts:
            return ""
        given = ", ".join(f"{name} = {value}" for name, value in self.facts["params"].items())
        gap = f", {self.facts['gap']:.2f} times the bound" if self.facts["gap"] else ""
        return (
            f"{given or 'no parameters'} on {self.facts['target']}: predicted "
            f"**{self.facts['predicted_cycles']} cycles**{gap}; {self.facts['colors']} colors, "
            f"{self.facts['memory_bytes']} bytes a PE"
        )


async def check(file: Path, text: str) -> _Checked | None:
    """What the compiler says of a text that is to be in a file; None where it says nothing. Ends
    the process when it is cancelled."""
    command = (sys.executable, "-m", "collc", "check", "-", "--json")
    folder = file.parent if file.parent.is_dir() else None
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdin=pipe, stdout=pipe, stderr=nothing
    )
    try:
        printed, _ = await process.communicate(text.encode())
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    try:
        facts = json.loads(printed)
    except ValueError:
        return None
    return _Checked(facts)
