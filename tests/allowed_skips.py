"""Which tests may be skipped where a skipped test must not pass for a green one."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("allowed_skips.txt")


def allowed() -> list[tuple[str, str]]:
    """The files and folders that may skip, each with how its reason begins."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    found = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return [(file, reason) for file, _, reason in found]


def forbidden(path: str, line: int, reason: str) -> str:
    """What is wrong with a skip at a line of a file; nothing if it is allowed."""
    place = Path(path).resolve()
    file = place.relative_to(ROOT).as_posix() if place.is_relative_to(ROOT) else path
    said = reason.removeprefix("Skipped: ")
    places = {file, f"{Path(file).parent.as_posix()}/"}  # a fixture skips where it is used
    if any(one in places and said.startswith(start) for one, start in allowed()):
        return ""
    return f"{file}:{line} skips ({said}), and {LIST.name} does not have it"
