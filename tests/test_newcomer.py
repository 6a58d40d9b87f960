"""What a newcomer types wrong on the command line is answered with what to type instead; the wrong
programs of the same list are in tests/errors/newcomer."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.cli import commands

CHAIN = str(Path(__file__).parents[1] / "examples" / "chain.coll")


@pytest.mark.parametrize(
    ("words", "status", "answer"),
    [
        (("chek", CHAIN), 2, "Did you mean 'check'?"),
        (("check", "nothere.coll"), 2, "there is no file nothere.coll"),
        (("check", "/tmp"), 2, "/tmp is a directory; name a .coll file"),
        (("build", CHAIN, "-o", "/proc/x"), 1, "help: name a directory that can be written"),
        (("build", CHAIN, "--dump", "plan", "-o", "out"), 2, "--dump writes no files; leave out"),
        (("tune", CHAIN, "--over", "B=8..1"), 2, "ends before it begins: write B=1..8"),
        (("tune", CHAIN, "--over", "B=0..8"), 2, "is not NAME=FIRST..LAST, such as B=1..8192"),
    ],
)
def test_a_wrong_command_says_what_is_meant(
    words: tuple[str, ...], status: int, answer: str
) -> None:
    outcome = CliRunner().invoke(commands, words)
    assert outcome.exit_code == status
    assert answer in outcome.output + outcome.stderr
    assert "Traceback" not in outcome.output
