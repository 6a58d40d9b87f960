"""Answers that are kept between runs, so that interrupted work goes on where it was.

Each question has a file in the user's cache folder, with a line for each answer. Its name is a hash
of the question, of the compiler and of the simulator, so no answer is stale.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

Work = TypeVar("Work")
Answer = TypeVar("Answer")


class Kept:
    """The answers to a question, by key. Question, keys and answers are plain data, as JSON has
    them; `what` is the name of the folder for questions of this kind."""

    def __init__(self, what: str, question: object, folder: Path | None = None) -> None:
        key = hashlib.sha256(f"{tools()} {json.dumps(question)}".encode()).hexdigest()
        self._file = (folder or cache_folder()) / what / f"{key[:32]}.jsonl"
        self._answers: dict[str, Any] = {}
        self._read()

    def get(self, key: object) -> Any:  # noqa: ANN401 - whatever was kept
        """The answer; None where there is none."""
        return self._answers.get(json.dumps(key))

    def keep(self, key: object, answer: object) -> None:
        """Keep an answer; a folder that cannot be written keeps none beyond this run."""
        self._answers[json.dumps(key)] = answer
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                # a line of its own, also behind one that was cut short
                file.write("\n" + json.dumps([key, answer]))
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
                key, answer = json.loads(line)
            except (ValueError, TypeError):
                continue
            self._answers[json.dumps(key)] = answer


def on_all_cores(
    find: Callable[[Work], Answer],
    work: Sequence[Work],
    known: Callable[[Work], Answer | None],
    keep: Callable[[Work, Answer], None],
    jobs: int | None = None,
) -> Iterator[Answer]:
    """The answers in order, found on all cores, or by so many processes; those that are `known` are
    not looked for again, the others are given to `keep` as soon as all before them have been."""
    from multiprocessing import Pool  # noqa: PLC0415 - start-up imports little

    answers = [known(one) for one in work]
    missing = [one for one, answer in zip(work, answers, strict=True) if answer is None]
    with Pool(max(1, min(len(missing), jobs or os.cpu_count() or 1)), one_thread) as pool:
        running = pool.imap(find, missing)
        for one, answer in zip(work, answers, strict=True):
            if answer is None:
                found = next(running)
                keep(one, found)
                yield found
            else:
                yield answer


def cache_folder() -> Path:
    """The user's folder for what can be found out again."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "collc"


@lru_cache(maxsize=1)
def tools() -> str:
    """A hash of all that answers follow from: compiler, language, templates, evaluator,
    simulator."""
    digest = hashlib.sha256()
    for file in _parts():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _parts() -> Iterator[Path]:
    for package in ("collc", "collc_research"):
        yield from sorted(Path(str(files(package))).rglob("*.py"))
    for package in ("collc.grammar", "collc.templates"):
        yield from (file for file in sorted(Path(str(files(package))).iterdir()) if file.is_file())
    extensions = (find_spec("collc_evaluator"), find_spec("fabsim"))
    folders = [
        folder for one in extensions if one for folder in one.submodule_search_locations or ()
    ]
    for folder in sorted(folders):
        yield from (file for file in sorted(Path(folder).glob("*")) if file.is_file())


def one_thread() -> None:
    """What a worker begins with: its simulator leaves the other cores to the other workers."""
    os.environ.setdefault("FABSIM_THREADS", "1")
