"""Writing a bundle: all files or none, and never half of one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_files(directory: Path, texts: Mapping[str, str]) -> None:
    """Write `texts` into `directory`, which is made if absent.

    Every file is first written beside its place; only when all are there are they moved into it,
    so that a full disk or an interrupt leaves the old files as they were. Scripts are executable.
    Raises OSError when the directory cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".collc-", dir=directory))
    try:
        for name, text in texts.items():
            path = staging / name
            path.write_text(text, encoding="utf-8", newline="\n")
            path.chmod(0o755 if name.endswith(".sh") else 0o644)
        for name in texts:
            os.replace(staging / name, directory / name)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(staging)
