"""Standard streams that are closed or full, disks that are full, files that are none: one line and
a status, and never half a file."""

from __future__ import annotations

import ast
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from collc.base.files import put
from collc.view import Page
from commands import collc

ROOT = Path(__file__).parents[1]
CHAIN = ROOT / "examples" / "chain.coll"
SMALL = (CHAIN, "-D", "P=4", "-D", "B=8")
FULL = Path("/dev/full")


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which `collc` is the command."""
    start = f'collc() {{ "{sys.executable}" -m collc "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", start], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("collc check - <&-", 2, "standard input is closed"),
        ("collc lsp <&-", 2, "standard input is closed"),
        ("collc --help >&-", 1, "collc: cannot print: Bad file descriptor\n"),
        ("collc check a.coll >&-", 1, "collc: cannot print: Bad file descriptor\n"),
        ("collc check a.coll --json >&- <&-", 1, "collc: cannot print: Bad file descriptor\n"),
        ("collc check bad.coll --json >/dev/full", 1, "collc: cannot print: No space left"),
        ("collc check bad.coll 2>/dev/full", 1, ""),
        ("collc check none.coll 2>/dev/full", 2, ""),
        ("collc check a.coll <&- >&- 2>&-", 1, ""),
        ("collc build a.coll -o o >&- 2>&-; cmp a.coll o/../a.coll && ls o/run.py", 0, ""),
    ],
)
def test_a_stream_that_is_closed_or_full_is_a_line_and_a_status(
    command: str, status: int, said: str, tmp_path: Path
) -> None:
    if "/dev/full" in command and not FULL.exists():
        pytest.skip("there is no /dev/full")
    shutil.copy(CHAIN, tmp_path / "a.coll")
    (tmp_path / "bad.coll").write_text("bad")
    done = shell(command, tmp_path)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == bool(said)


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """No file may be larger: writing more is an error, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_does_not_fit_is_left_as_it_was_and_the_error_has_its_name(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    page.chmod(0o600)
    for write in (lambda: put(page, "x" * 9000), lambda: Page("x" * 9000).write(page)):
        with disk_of(4096), pytest.raises(OSError, match=r"page\.html"):
            write()
        assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
        assert page.read_text() == "old"
    put(page, b"new")
    assert (page.read_text(), page.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    put(tmp_path / "pipe", "text")
    assert (os.read(reader, 9), (tmp_path / "pipe").is_fifo()) == (b"text", True)
    os.close(reader)
    put(Path(os.devnull), "text")
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    "command",
    [
        ("view", *SMALL, "--no-run", "-o", "FILE"),
        ("build", *SMALL, "--stamp", "s", "--depfile", "FILE"),
        ("probe", "--on", "fabsim", "--arch", "wse2", "--rules", "M3.9-4", "-o", "FILE"),
        ("probe", "--on", "fabsim", "--arch", "wse2", "--rules", "M3.9-4", "--timing", "FILE"),
    ],
)
def test_a_full_disk_is_a_line_with_the_name_of_the_file(
    command: tuple[str | Path, ...], tmp_path: Path
) -> None:
    if not FULL.exists():
        pytest.skip("there is no /dev/full")
    (tmp_path / "full").symlink_to(FULL)
    done = collc(*("full" if word == "FILE" else word for word in command), cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot write full: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder of 40 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=40k", "none", str(folder)]
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", *options], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_page_that_does_not_fit_on_a_disk_leaves_the_old_one(small_disk: Path) -> None:
    page = small_disk / "page.html"
    page.write_text("old")
    done = collc("view", *SMALL, "--no-run", "-o", page)
    assert (done.returncode, f"cannot write {page}: No space left" in done.stderr) == (1, True)
    left = [(path.name, path.read_text()) for path in small_disk.iterdir()]
    assert left == [("page.html", "old")]


def npy(header: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + f"{header}\n".encode()


ARRAYS = {
    "a shape that no memory holds": npy("{'descr':'<f4','fortran_order':False,'shape':(9**15,8)}"),
    "terabytes": npy("{'descr':'<f4','fortran_order':False,'shape':(1000000000000,8)}"),
    "less than its shape": npy("{'descr':'<f4','fortran_order':False,'shape':(4,8)}") + b"1234",
    "objects": npy("{'descr':'|O','fortran_order':False,'shape':(4,8)}") + bytes(99),
    "a header that is none": npy("[" * 9000),
    "a header that runs": npy("__import__('os').system('touch ran')"),
    "an archive": b"PK\x03\x04" + bytes(99),
    "nothing": b"",
    "text": b"1 2 3",
}


@pytest.mark.parametrize("what", ARRAYS)
def test_input_that_holds_no_array_is_wrong_usage(what: str, tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(ARRAYS[what])
    done = collc("run", *SMALL, "--input", "x.npy", cwd=tmp_path)
    assert (done.returncode, "x.npy cannot be read as a NumPy array: " in done.stderr) == (2, True)
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def test_input_of_archives_is_told_from_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.ones((4, 8), np.float32))
    done = collc("run", *SMALL, "--input", "x.npz", cwd=tmp_path)
    assert (done.returncode, "does not begin like a .npy file" in done.stderr) == (2, True)


# Which modules may write a file where it is to stay: the one that does it whole or not at all; and
# those that write to a folder of their own, or of tools.
WRITERS = {
    *("base/files.py", "base/cache.py", "base/reading.py"),
    *("backends/work.py", "backends/appliance.py", "backends/appliance_client.py"),
    "probe/fabsim.py",
    "emit/templates.py",  # when collc is installed
}
READ_ONLY = {"r", "rb"}


def test_files_of_users_are_written_by_one_function() -> None:
    found = set()
    for path in sorted((ROOT / "compiler").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _writes(node):
                found.add(str(path.relative_to(ROOT / "compiler")))
    assert found <= WRITERS


def _writes(call: ast.Call) -> bool:
    """Whether it is `write_text`, `write_bytes`, or `open` for more than reading."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name != "open":
        return name in {"write_text", "write_bytes"}
    modes = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return any(isinstance(mode, str) and mode not in READ_ONLY for mode in modes)
