"""The language server: the protocol's words on one side, `document` and `checking` on the other."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import ServerTextPosition, ServerTextRange, TextDocument

from collc.base.diagnostics import CollcError, Diagnostic, Edit, Span
from collc.base.values import dataclass
from collc.base.version import __version__
from collc.format import format_text
from collc.language.kinds import BY_WORD, KINDS
from collc.language.problems import MOST_DIAGNOSTICS
from collc.language.render import severity
from collc.lsp.document import Document
from collc.lsp.names import Name

_STANDARD_INPUT = "<stdin>"  # what the compiler, asked beside, calls a text
_FIRST_SECONDS = 0.02  # in which an editor that has sent a keystroke asks for completions
PAUSE_SECONDS = 0.4  # without a keystroke, before the whole compiler is asked
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_ICONS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "function": lsp.CompletionItemKind.Function,
    "local": lsp.CompletionItemKind.Variable,
    **{kind.word: lsp.CompletionItemKind[kind.icon] for kind in KINDS},
}


class CollcServer(LanguageServer):
    """A server, with what each text was told last, what the compiler said of it, and what it is
    looking at now."""

    def __init__(self) -> None:
        super().__init__("collc", __version__)
        self.told: dict[str, _Told] = {}
        self.checked: dict[str, _Checked] = {}
        self.checking: dict[str, asyncio.Task[None]] = {}

    def document(self, uri: str) -> tuple[TextDocument, Document]:
        """A text as the protocol has it, and as `document` asks for it."""
        text = self.workspace.get_text_document(uri)
        return text, Document(Path(to_fs_path(uri) or "untitled.coll"), text.source)

    def look_at(self, uri: str) -> None:
        """Tell what is wrong with a text: what its language says as soon as nothing else is asked,
        what the compiler finds after a while."""
        before = self.checking.pop(uri, None)
        if before is not None:
            before.cancel()
        self.checking[uri] = asyncio.ensure_future(self._look_at(uri))

    async def _look_at(self, uri: str) -> None:
        await asyncio.sleep(_FIRST_SECONDS)
        text, document = self.document(uri)
        self._publish(text, document, document.problems, str(document.file))
        if document.problems or not any(one.kind == "program" for one in document.names.declared):
            return
        await asyncio.sleep(PAUSE_SECONDS)
        checked = await check(document.file, document.text)  # cancelled if the text changes
        if checked is not None:
            self.checked[uri] = checked
            self._publish(text, document, checked.diagnostics, _STANDARD_INPUT)

    def _publish(
        self, text: TextDocument, document: Document, found: Iterable[Diagnostic], own: str
    ) -> None:
        """Tell what is wrong with a text that problems call `own`; those of other files are told
        where these are open."""
        here = [one for one in found if one.at is None or one.at.file == own]
        told = [(_diagnostic(text, one, own), quick_fix(text, one)) for one in here]
        self.told[text.uri] = _Told(text.version, told)
        diagnostics = [diagnostic for diagnostic, _ in told] or _unused(text, document)
        params = lsp.PublishDiagnosticsParams(text.uri, diagnostics, version=text.version)
        self.text_document_publish_diagnostics(params)

    @property
    def takes_versions(self) -> bool:
        """Whether the client takes edits that say of which version of a text they are."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace else None
        return bool(edits and edits.document_changes)


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
    server.told.pop(uri, None)
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
        lsp.CompletionItem(label=word, kind=_ICONS[kind], detail=about or kind)
        for word, kind, about in document.completions(_offset(text, params.position))
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


def _symbols(server: CollcServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    text, document = server.document(params.text_document.uri)
    return [
        lsp.DocumentSymbol(
            name=name,
            detail=kind,
            kind=lsp.SymbolKind[BY_WORD[kind].icon],
            range=_range(text, declared.start, declared.end),
            selection_range=_range(text, *at),
        )
        for name, kind, declared, at in document.symbols
    ]


def _rename(server: CollcServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    text, document = server.document(params.text_document.uri)
    try:
        names = document.renamed(_offset(text, params.position), params.new_name)
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from None
    edits = [lsp.TextEdit(_range(text, one.start, one.end), params.new_name) for one in names]
    return _workspace_edit(server, text, edits)


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


def _code_action(server: CollcServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """What helps say to write, for the problems that a range touches."""
    uri, asked = params.text_document.uri, params.context.only
    told = server.told.get(uri)
    text = server.workspace.get_text_document(uri)
    if told is None or told.version != text.version:
        return []  # the edits are of a text that is no more
    if asked is not None and not {"", lsp.CodeActionKind.QuickFix} & set(asked):
        return []
    found = [
        (diagnostic, fix)
        for diagnostic, fix in told.problems
        if fix is not None and _touch(params.range, diagnostic, fix)
    ]
    return [
        lsp.CodeAction(
            title=fix.title,
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=len(found) == 1,
            edit=_workspace_edit(server, text, fix.edits),
        )
        for diagnostic, fix in found
    ]


def _touch(asked: lsp.Range, diagnostic: lsp.Diagnostic, fix: _QuickFix) -> bool:
    """Whether a range, which may be a place, touches that of a problem or of one of its edits."""
    ranges = (diagnostic.range, *(edit.range for edit in fix.edits))
    return any(asked.start <= one.end and one.start <= asked.end for one in ranges)


def _workspace_edit(
    server: CollcServer, text: TextDocument, edits: Sequence[lsp.TextEdit]
) -> lsp.WorkspaceEdit:
    if not server.takes_versions:
        return lsp.WorkspaceEdit(changes={text.uri: edits})
    named = lsp.OptionalVersionedTextDocumentIdentifier(uri=text.uri, version=text.version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(named, edits)])


_ANSWERS = {
    lsp.TEXT_DOCUMENT_DID_OPEN: _changed,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: _changed,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _closed,
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
    lsp.TEXT_DOCUMENT_COMPLETION: _completion,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _symbols,
    lsp.TEXT_DOCUMENT_RENAME: _rename,
    lsp.TEXT_DOCUMENT_REFERENCES: _references,
    lsp.TEXT_DOCUMENT_FORMATTING: _formatting,
    lsp.TEXT_DOCUMENT_CODE_ACTION: _code_action,
}
_OPTIONS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=[" ", "("]),
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(
        code_action_kinds=[lsp.CodeActionKind.QuickFix]
    ),
}


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


def _diagnostic(text: TextDocument, one: Diagnostic, own: str) -> lsp.Diagnostic:
    """A problem in the protocol's words, with those other places that are in the text."""
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(text.uri, _of_span(text, span)), note)
        for span, note in one.also
        if span.file == own
    ]
    return lsp.Diagnostic(
        range=_of_span(text, one.at),
        message=f"{one.message}\nhelp: {one.help}" if one.help else one.message,
        severity=_SEVERITIES[severity(one)],
        code=one.code,
        source="collc",
        related_information=related or None,
    )


def _unused(text: TextDocument, document: Document) -> list[lsp.Diagnostic]:
    """What nothing names, which editors show faintly: no problem, and of no consequence."""
    return [
        lsp.Diagnostic(
            range=_range(text, name.start, name.end),
            message=message,
            severity=lsp.DiagnosticSeverity.Hint,
            source="collc",
            tags=[lsp.DiagnosticTag.Unnecessary],
        )
        for message, name in islice(document.unused, MOST_DIAGNOSTICS)
    ]


# Behind these a help goes on with its other ways, or with all words that are known.
_FIRST_WAY = re.compile(r"(?<=\?) |[,;] or |(?<=`) or (?=`)")


def quick_fix(text: TextDocument, one: Diagnostic) -> _QuickFix | None:
    """What a help says as edits, if it does, called by the way of the help that they take."""
    if not one.fix:
        return None
    title = _FIRST_WAY.split(one.help.replace("\n", " "), maxsplit=1)[0]
    edits = [lsp.TextEdit(_of_span(text, edit.at), edit.text) for edit in one.fix]
    return _QuickFix(title, edits)


def _of_span(text: TextDocument, span: Span | None) -> lsp.Range:
    """A stretch of the text; what has no place is told of its first line."""
    if span is None:
        return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    first = ServerTextPosition(span.line - 1, span.column - 1)
    last = ServerTextPosition(span.end_line - 1, span.end_column - 1)
    return text.range_to_client_units(ServerTextRange(first, last))


@dataclass(frozen=True)
class _QuickFix:
    """Edits of a text, and what they do in a few words."""

    title: str
    edits: list[lsp.TextEdit]


@dataclass(frozen=True)
class _Told:
    """What is wrong with a version of a text, as its editor was told, each with its quick fix."""

    version: int | None
    problems: list[tuple[lsp.Diagnostic, _QuickFix | None]]


@dataclass(frozen=True)
class _Checked:
    """What `collc check --json` said of a text."""

    facts: dict[str, Any]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Problems, or warnings where there is none."""
        found = self.facts.get("diagnostics", self.facts.get("warnings", []))
        return tuple(map(_from_data, found))

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


def _from_data(data: dict[str, Any]) -> Diagnostic:
    """A problem as it was before it was printed as data."""
    also = tuple((Span(**other["at"]), other["message"]) for other in data["also"])
    fix = tuple(Edit(Span(**edit["at"]), edit["text"]) for edit in data.get("fix", ()))
    at = Span(**data["at"]) if data["at"] else None
    return Diagnostic(data["code"], data["message"], at, also, data["help"], fix)


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
