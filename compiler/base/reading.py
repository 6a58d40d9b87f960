"""Reading what somebody else may have left: files of caches and of output folders, JSON in them.

Whatever is there, it is read within limits of time and memory, or refused by an exception that the
reader expects.
"""

import contextlib
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any


def read_regular(file: Path, most: int, *, private: bool = False) -> bytes:
    """What is in a file. Raises OSError where it is a link, a pipe, a device or a directory, has
    more than `most` bytes or, if it is to be `private`, is another user's or can be read by one;
    never waits."""
    with open(file, "rb", opener=_at_once) as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise OSError(errno.EINVAL, f"no file of at most {most} bytes", str(file))
        if private and (status.st_uid != os.geteuid() or status.st_mode & 0o077):
            raise OSError(errno.EPERM, "not this user's alone", str(file))
        return opened.read(most)


def _at_once(file: str, flags: int) -> int:
    return os.open(file, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def resolved(file: Path) -> Path:
    """Where a file is, links followed. Links that lead in a circle stay: to open the file is the
    OSError that its reader expects, where `Path.resolve` raises RuntimeError."""
    return Path(os.path.realpath(file))


def json_of(text: str | bytes) -> Any:  # noqa: ANN401 - whatever is there
    """JSON as data; whatever is wrong with it is a ValueError."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def append(file: Path, data: bytes) -> None:
    """Put bytes at the end of a file, which is made if absent. Raises OSError where it is a link, a
    pipe or a device; never waits."""
    how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(file, how, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "no file", str(file))
        os.write(handle, data)
    finally:
        os.close(handle)


def take_away(file: Path) -> None:
    """Remove what is at a place, if that can be done; a directory stays."""
    with contextlib.suppress(OSError):
        file.unlink()
