"""What an editor sends may be wrong or large; the server goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest

from collc.language.parser import declarations_of
from collc.lsp.document import Document


def message(**fields: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


START = message(id=1, method="initialize", params={"capabilities": {}})
END = message(id=2, method="shutdown") + message(method="exit")


@pytest.mark.parametrize("body", [b"", b"{}\r\n", b"x" * 1000 + b"\r\n"])
def test_a_message_that_says_it_is_huge_does_not_end_the_server(body: bytes) -> None:
    huge = b"Content-Length: 99999999999\r\n\r\n" + body
    done = subprocess.run(
        (sys.executable, "-m", "collc", "lsp"),
        input=huge + START + END,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert b'"id": 1' in done.stdout.replace(b'"id":1', b'"id": 1')
    assert b"capabilities" in done.stdout


def test_completion_takes_no_longer_the_more_is_declared_before() -> None:
    tree = "tree t{}(n) = n <= 2 ? chain(n) : join(chain(n - 1), chain(1))\n"

    def seconds(count: int) -> float:
        text = "target wse2\n" + "".join(map(tree.format, range(count))) + "tree last(n) = "
        document = Document(Path("a.coll"), text)
        assert document.names.declared  # they are known from the text's last change on
        began = process_time()
        found = document.completions(len(text))
        assert ("n", "local", "") in found and sum(kind == "tree" for _, kind, _ in found) >= count
        return process_time() - began

    seconds(1)  # the grammar and the prelude are read
    assert seconds(400) < 1


def test_only_declarations_that_have_changed_or_moved_are_read_again() -> None:
    text = "target wse2\ntree a(n) = chain(n)\ntree b(n) = chain(n)\n"
    before = declarations_of("a.coll", text)
    after = declarations_of(
        "a.coll", text.replace("a(n)", "a(m)").replace("chain(n)", "chain(m)", 1)
    )
    assert [one is other for one, other in zip(before, after, strict=True)] == [True, False, True]
    moved = declarations_of("a.coll", text.replace("tree b", "\ntree b"))
    assert [one is other for one, other in zip(before, moved, strict=True)] == [True, True, False]
    assert moved[2].span.line == 4
    assert before[1] is not declarations_of("b.coll", text)[1]
