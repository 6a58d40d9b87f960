"""Answers that are kept between runs, so that interrupted work goes on where it was, and the
processes that find them.

Each question has a file in the user's cache folder, with a line for each answer. Its name is a hash
of the question, of the compiler and of the simulator, so no answer is stale.

What is kept there is sealed with a key that only the user can read: nothing is believed that is
damaged, that some other program has put there, or that somebody has forged who can write the folder
and not read the key. What is not ours is found out anew, and where it is no file of ours at all,
taken away. Nothing is kept where there can be no key.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from collc.base.reading import append, json_of, read_regular, take_away

if TYPE_CHECKING:
    from multiprocessing.pool import Pool

_MOST_BYTES = 1 << 26  # of a file of answers: a hundred thousand points of a sweep are 25 MB
_KEY, _KEY_BYTES = "key", 32
_SEAL = 64  # hexadecimal digits of SHA-256

Work = TypeVar("Work")
Answer = TypeVar("Answer")


class Kept:
    """The answers to a question, by key. Question, keys and answers are plain data, as JSON has
    them; `what` is the name of the folder for questions of this kind."""

    def __init__(self, what: str, question: object, folder: Path | None = None) -> None:
        self._asked = hashlib.sha256(f"{tools()} {json.dumps(question)}".encode()).hexdigest()
        self._folder = folder or cache_folder()
        self._file = self._folder / what / f"{self._asked[:32]}.jsonl"
        self._answers: dict[str, Any] = {}
        self._read()

    def get(self, key: object) -> Any:  # noqa: ANN401 - whatever was kept
        """The answer; None where there is none."""
        return self._answers.get(json.dumps(key))

    def keep(self, key: object, answer: object) -> None:
        """Keep an answer; a folder that cannot be written keeps none beyond this run."""
        self._answers[json.dumps(key)] = answer
        line = json.dumps([key, answer])
        try:
            seal = sealed(self._folder, self._asked, line)
            self._file.parent.mkdir(parents=True, exist_ok=True)
            # a line of its own, also behind one that was cut short
            append(self._file, f"\n{seal} {line}".encode())
        except OSError:
            return

    def _read(self) -> None:
        """What the file holds; a line that was cut short, or is none of ours, is left out."""
        text = read_kept(self._file, _MOST_BYTES)
        for line in text.split("\n"):
            seal, _, kept = line.partition(" ")
            if is_sealed(self._folder, self._asked, kept, seal):
                key, answer = json_of(kept)
                self._answers[json.dumps(key)] = answer


def read_kept(file: Path, most: int) -> str:
    """The text of a file in the cache folder, of at most so many bytes; empty where there is none.
    What is there and no such file is taken away."""
    try:
        return read_regular(file, most).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError:
        take_away(file)
        return ""


def sealed(folder: Path, about: str, text: str) -> str:
    """The seal of a text that is kept in a cache folder, and of what it is about. Raises OSError
    where the folder has no key and can be given none."""
    told = f"{about}\n{text}".encode("utf-8", "replace")
    return hmac.digest(_key(folder), told, "sha256").hex()


def is_sealed(folder: Path, about: str, text: str, seal: str) -> bool:
    """Whether a text has its seal."""
    try:
        return len(seal) == _SEAL and hmac.compare_digest(
            sealed(folder, about, text).encode(), seal.encode("utf-8", "replace")
        )
    except OSError:
        return False


@lru_cache(maxsize=8)
def _key(folder: Path) -> bytes:
    """The key of a cache folder, made if there is none. Raises OSError."""
    file = folder / _KEY
    key = _present_key(file)
    if key is None:
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f"{_KEY}.{os.getpid()}"
        take_away(beside)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as made:
            made.write(os.urandom(_KEY_BYTES))
        beside.replace(file)
        key = _present_key(file)
    if key is None:
        raise OSError(errno.EPERM, "cannot keep a key", str(file))
    return key


def _present_key(file: Path) -> bytes | None:
    """The key that is there; None, and nothing is there any more, where it is none of this user's
    alone."""
    try:
        key = read_regular(file, _KEY_BYTES, private=True)
    except FileNotFoundError:
        return None
    except OSError:
        key = b""
    if len(key) == _KEY_BYTES:
        return key
    take_away(file)
    return None


def on_all_cores(
    find: Callable[[Work], Answer],
    work: Sequence[Work],
    known: Callable[[Work], Answer | None],
    keep: Callable[[Work, Answer], None],
    jobs: int | None = None,
) -> Iterator[Answer]:
    """The answers in order, found on all cores, or by so many processes; those that are `known` are
    not looked for again, the others are given to `keep` as soon as all before them have been."""
    answers = [known(one) for one in work]
    missing = [one for one, answer in zip(work, answers, strict=True) if answer is None]
    with workers(min(len(missing), jobs or os.cpu_count() or 1)) as pool:
        running = pool.imap(find, missing)
        for one, answer in zip(work, answers, strict=True):
            if answer is None:
                found = next(running)
                keep(one, found)
                yield found
            else:
                yield answer


@contextmanager
def workers(count: int) -> Iterator[Pool]:
    """So many processes, at least one, for as long as this lasts. Ctrl-C is not for them."""
    from multiprocessing import Pool  # noqa: PLC0415 - start-up imports little

    pool = None
    try:
        with interrupts_held():
            pool = Pool(max(1, count), one_thread)
        yield pool
    finally:
        if pool is not None:
            pool.terminate()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Interrupts wait; processes that are started meanwhile never get one, so that they neither say
    anything nor end by themselves. Interrupts are raised in the main thread alone, and where a
    program around this one answers them, not in Python, that is left to it."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    came: list[object] = []
    # blocked for the processes; a thread of some library may take one for this process all the same
    handler = signal.signal(signal.SIGINT, lambda *_: came.append(None))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


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
        for kind in ("*.py", "*.json"):  # the numbers of the machine are data
            yield from sorted(Path(str(files(package))).rglob(kind))
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
