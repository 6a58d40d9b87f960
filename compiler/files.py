"""Writing a bundle: all files or none, and never half of one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path


def write_files(directory: Path, contents: Mapping[str, str | bytes]) -> None:
    """Write files into `directory`, which is made if absent; texts as UTF-8.

    Every file is first written beside its place; only when all are there are they moved into it,
    and whatever goes wrong then puts the old files back, so that a full disk or an interrupt
    leaves everything as it was. Scripts are executable.
    Raises OSError when the directory cannot be written.
    """
    with _made(directory), _staging(directory) as staging:
        for name, content in contents.items():
            path = staging / name
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            path.chmod(0o755 if name.endswith(".sh") else 0o644)
        _move(contents, staging, directory)


@contextlib.contextmanager
def _made(directory: Path) -> Iterator[None]:
    """Make a directory with its parents; take away again what was made if the body fails."""
    absent = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for path in absent:
                path.rmdir()
        raise


@contextlib.contextmanager
def _staging(directory: Path) -> Iterator[Path]:
    staging = Path(tempfile.mkdtemp(prefix=".collc-", dir=directory))
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _move(names: Iterable[str], staging: Path, directory: Path) -> None:
    """Move files into place, all or none; the old ones wait in `staging` until all are moved."""
    for name in names:
        if (directory / name).is_dir():
            raise IsADirectoryError(f"{directory / name} is a directory")
    kept = staging / "replaced"
    kept.mkdir()
    tried: list[str] = []
    try:
        for name in names:
            tried.append(name)
            with contextlib.suppress(FileNotFoundError):
                os.replace(directory / name, kept / name)
            os.replace(staging / name, directory / name)
    except BaseException:
        for name in tried:
            if not (staging / name).exists():
                (directory / name).unlink()
            if (kept / name).exists():
                os.replace(kept / name, directory / name)
        raise
