"""Files: a bundle is written whole or not at all, and nothing of the one before stays beside it; so
is a single file (`put`).

What a bundle consists of is listed in its manifest.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from collc.base.reading import json_of, read_regular, resolved

MANIFEST = "manifest.json"
# Where files are written first, what waits there for the new ones to come, and what says so.
_STAGING = ".collc-"
_REPLACED, _JOURNAL = "replaced", "moving"
_MOST_LISTED = 1 << 22  # bytes of a manifest or a journal; ours have some hundred files at most
_MOST_OLD = 1 << 28  # bytes of a file that an old manifest lists; what is larger is none of ours


def write_files(directory: Path, contents: Mapping[str, str | bytes]) -> tuple[str, ...]:
    """Write files into `directory`, which is made if absent; texts as UTF-8.

    Every file is first written beside its place; only when all are there are they moved into it,
    and whatever goes wrong then puts the old files back, so that a full disk or an interrupt
    leaves everything as it was. Who is killed while files are moved leaves no manifest, and the
    next who writes puts the old files back first. One writes at a time. Scripts are executable.

    Where a manifest takes the place of another, the files of that one that are not written again
    are taken away, since they would not fit to the new ones. Those that somebody has changed stay;
    their names are given back. Files that are there as they would be written are left alone with
    their times, so that what a build makes of them need not be made again. Raises OSError when the
    directory cannot be written.
    """
    with _made(directory), _alone_in(directory):
        for left in directory.glob(f"{_STAGING}*"):
            if left.is_dir() and not left.is_symlink():
                _put_back(left, directory)
                shutil.rmtree(left, ignore_errors=True)
        stale, changed = _left_over(directory, contents)
        fresh = [name for name in contents if not _is_there(directory / name, name, contents[name])]
        if not (fresh or stale):
            return changed
        with _staging(directory) as staging:
            # the manifest goes and comes with whatever moves
            for name in {*fresh, *({MANIFEST} & contents.keys())}:
                _stage(staging / name, directory / name, contents[name])
            _move(sorted(path.name for path in staging.iterdir()), stale, staging, directory)
    return changed


def _stage(path: Path, place: Path, content: str | bytes) -> None:
    """Write a file beside its place, with the times of one that is there and the same."""
    path.write_bytes(_bytes(content))
    path.chmod(_mode(path.name))
    if _is_there(place, path.name, content):
        old = place.stat()
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def _mode(name: str) -> int:
    return 0o755 if name.endswith(".sh") else 0o644


def _is_there(place: Path, name: str, content: str | bytes) -> bool:
    """Whether a file is what would be written there: no link, the same bytes and rights."""
    try:
        status = place.lstat()
        return (
            stat.S_ISREG(status.st_mode)
            and stat.S_IMODE(status.st_mode) == _mode(name)
            and status.st_size == len(_bytes(content))
            and read_regular(place, status.st_size) == _bytes(content)
        )
    except OSError:
        return False


def put(file: Path, content: str | bytes) -> None:
    """Put a text, as UTF-8, or bytes into a file, all of it or none; one that is there keeps its
    rights, folders are made. A pipe or a device is written to. Raises OSError with the file's name.
    """
    try:
        place = resolved(file)  # what a link leads to
        if place.exists() and not place.is_file():
            place.write_bytes(_bytes(content))
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        _replace(place, _bytes(content))
    except OSError as error:
        error.filename = str(file)
        raise


def _replace(place: Path, content: bytes) -> None:
    handle, beside = tempfile.mkstemp(prefix=_STAGING, dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as written:
            written.write(content)
        os.chmod(beside, place.stat().st_mode & 0o777 if place.exists() else 0o644)
        os.replace(beside, place)
    except BaseException:
        os.unlink(beside)
        raise


def _left_over(
    directory: Path, contents: Mapping[str, str | bytes]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of the bundle that is replaced and not of the new one: as they were written, and
    changed since."""
    listed = _listed(directory / MANIFEST) if MANIFEST in contents else {}
    found: dict[bool, list[str]] = {True: [], False: []}
    for name, digest in sorted(listed.items()):
        path = directory / name
        inside = _is_plain(name) and not name.startswith(_STAGING)
        if inside and name not in contents and path.is_file() and not path.is_symlink():
            found[_hash_of(path) == digest].append(name)
    return tuple(found[True]), tuple(found[False])


def _hash_of(file: Path) -> str:
    """The hash of a file; empty where it cannot be one of ours."""
    try:
        return hashlib.sha256(read_regular(file, _MOST_OLD)).hexdigest()
    except OSError:
        return ""


def _is_plain(name: object) -> bool:
    """Whether something names a file within a directory, and not elsewhere."""
    return isinstance(name, str) and name not in {"", ".."} and Path(name).name == name


def _listed(manifest: Path) -> dict[str, str]:
    """The files that a manifest lists, with their hashes; none where it is not one of ours."""
    try:
        listed = json_of(read_regular(manifest, _MOST_LISTED))["sha256"]
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
def _alone_in(directory: Path) -> Iterator[None]:
    """Keep other writers out of a directory; its lock ends with the process that holds it."""
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Who waited for one that failed may hold a directory that is no longer there.
            if os.fstat(handle).st_nlink:
                yield
                return
        finally:
            os.close(handle)


@contextlib.contextmanager
def _staging(directory: Path) -> Iterator[Path]:
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=directory))
    try:
        yield staging
    finally:
        # Unless putting back was interrupted: then the old files are there still.
        if not (staging / _JOURNAL).exists():
            shutil.rmtree(staging, ignore_errors=True)


def _move(names: Iterable[str], stale: Iterable[str], staging: Path, directory: Path) -> None:
    """Move files into place and the stale ones away, all or none; the old ones wait in `staging`
    until all are moved, and a journal there says that moving has begun. The manifest is the first
    to go and the last to come."""
    for name in names:
        if (directory / name).is_dir():
            raise IsADirectoryError(f"{directory / name} is a directory")
    kept = staging / _REPLACED
    kept.mkdir()
    ordered = sorted(names, key=lambda name: name == MANIFEST)
    old = [name for name in (*stale, *ordered) if os.path.lexists(directory / name)]
    journal = staging / _JOURNAL
    try:
        journal.write_text(json.dumps([name for name in ordered if name not in old]))
        for name in reversed(old):
            os.replace(directory / name, kept / name)
        for name in ordered:
            os.replace(staging / name, directory / name)
        journal.unlink()
    except BaseException:
        _put_back(staging, directory)
        raise


def _put_back(staging: Path, directory: Path) -> None:
    """Undo what was moved from a folder in which moving has begun and did not come to its end. It
    may be interrupted and done again."""
    journal = staging / _JOURNAL
    try:
        added = json_of(read_regular(journal, _MOST_LISTED))
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        added = None  # killed while the journal was written, before anything was moved; or not ours
    for name in filter(_is_plain, added if isinstance(added, list) else ()):
        if not (staging / name).exists():
            (directory / name).unlink(missing_ok=True)
    kept = staging / _REPLACED
    for path in kept.iterdir() if kept.is_dir() and not kept.is_symlink() else ():
        os.replace(path, directory / path.name)
    with contextlib.suppress(IsADirectoryError):
        journal.unlink()
