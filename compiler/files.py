"""Writing a bundle: all files or none, never half of one, and nothing of the one before beside it.

What a bundle consists of is listed in its manifest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

MANIFEST = "manifest.json"


def write_files(directory: Path, contents: Mapping[str, str | bytes]) -> tuple[str, ...]:
    """Write files into `directory`, which is made if absent; texts as UTF-8.

    Every file is first written beside its place; only when all are there are they moved into it,
    and whatever goes wrong then puts the old files back, so that a full disk or an interrupt
    leaves everything as it was. Scripts are executable.

    Where a manifest takes the place of another, the files of that one that are not written again
    are taken away, since they would not fit to the new ones. Those that somebody has changed stay;
    their names are given back. Raises OSError when the directory cannot be written.
    """
    with _made(directory), _staging(directory) as staging:
        for name, content in contents.items():
            path = staging / name
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            path.chmod(0o755 if name.endswith(".sh") else 0o644)
        stale, changed = _left_over(directory, contents)
        _move(contents, stale, staging, directory)
    return changed


def _left_over(
    directory: Path, contents: Mapping[str, str | bytes]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of the bundle that is replaced and not of the new one: as they were written, and
    changed since."""
    listed = _listed(directory / MANIFEST) if MANIFEST in contents else {}
    found: dict[bool, list[str]] = {True: [], False: []}
    for name, digest in sorted(listed.items()):
        path = directory / name
        inside = Path(name).name == name
        if inside and name not in contents and path.is_file() and not path.is_symlink():
            found[hashlib.sha256(path.read_bytes()).hexdigest() == digest].append(name)
    return tuple(found[True]), tuple(found[False])


def _listed(manifest: Path) -> dict[str, str]:
    """The files that a manifest lists, with their hashes; none where it is not one of ours."""
    try:
        listed = json.loads(manifest.read_bytes())["sha256"]
        return {str(name): str(digest) for name, digest in listed.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


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


def _move(names: Iterable[str], stale: Iterable[str], staging: Path, directory: Path) -> None:
    """Move files into place and the stale ones away, all or none; the old ones wait in `staging`
    until all are moved."""
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
        for name in stale:
            os.replace(directory / name, kept / name)
    except BaseException:
        for name in tried:
            if not (staging / name).exists():
                (directory / name).unlink()
        for path in kept.iterdir():
            os.replace(path, directory / path.name)
        raise
