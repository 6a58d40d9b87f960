"""Answers that are kept between runs: a file of lines, one for each, so that an interrupted run
loses none that it had. Its name is a hash of the question and of the compiler."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from collc.spec import Considered
from collc.tuning.lengths import Question


class Remembered:
    """The plans that have been chosen for a question, by length, and the cycles of what has been
    run, by plan and length."""

    def __init__(self, question: Question, folder: Path | None = None) -> None:
        given = json.dumps([question.text, sorted(question.definitions.items()), question.target])
        key = hashlib.sha256(f"{_compiler()} {question.name} {given}".encode()).hexdigest()
        self._file = (folder or _folder()) / f"{key[:32]}.jsonl"
        self.known: dict[int, Considered] = {}
        self.cycles: dict[tuple[str, int], int] = {}
        self._read()

    def keep(self, length: int, plan: Considered) -> None:
        """Keep an answer; a folder that cannot be written keeps none."""
        self.known[length] = plan
        self._write([length, asdict(plan)])

    def keep_cycles(self, plan: str, length: int, cycles: int) -> None:
        """Keep what a plan took on the simulator."""
        self.cycles[plan, length] = cycles
        self._write([length, plan, cycles])

    def _write(self, line: list[object]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError:
            return

    def _read(self) -> None:
        """What the file holds; a line that was cut short, or is none of ours, is left out."""
        try:
            lines = self._file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return
        for line in lines:
            try:
                length, plan, *cycles = json.loads(line)
                if cycles:
                    self.cycles[str(plan), int(length)] = int(cycles[0])
                    continue
                plan["terms"] = tuple((name, part) for name, part in plan["terms"])
                self.known[int(length)] = Considered(**plan)
            except (ValueError, TypeError, KeyError):
                continue


def _folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "collc" / "tune"


@lru_cache(maxsize=1)
def _compiler() -> str:
    """A hash of the compiler's own text and of the prelude."""
    digest = hashlib.sha256()
    package = Path(str(files("collc")))
    prelude = Path(str(files("collc.grammar"))) / "prelude.coll"
    for file in (*sorted(package.rglob("*.py")), prelude):
        digest.update(file.read_bytes())
    return digest.hexdigest()
