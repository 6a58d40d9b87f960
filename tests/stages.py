"""Which tests belong to which stage: marks for pytest, and the stages that a change touches.

`pytest -m proof` runs the tests of a stage. `python tests/stages.py` prints the marks for what has
changed since `main` (or `HEAD`, on main itself), for `make quick`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Folders and files of tests, and the stage whose behavior they pin down.
STAGES = {
    "appliance": "run",
    "checks": "checks",
    "cost": "cost",
    "emit": "emit",
    "end_to_end": "run",
    "errors": "language",
    "language": "language",
    "lowering": "lowering",
    "machine": "checks",
    "mutants": "checks",
    "networks": "research",
    "patterns": "driver",
    "plot": "research",
    "probe": "run",
    "programs": "driver",
    "proof": "proof",
    "reproduce": "research",
    "schedule": "schedule",
    "streams": "lowering",
    "tuning": "tuning",
    "view": "view",
    "test_any_order.py": "run",
    "test_back_ends.py": "run",
    "test_fabric.py": "target",
    "test_files.py": "base",
    "test_memoize.py": "base",
    "test_rewrite.py": "base",
    "test_optimum.py": "language",
    "test_paths.py": "lowering",
    "test_reserve.py": "checks",
    "test_run.py": "run",
    "test_show.py": "language",
    "test_errors.py": "language",
    "test_reading.py": "driver",
}
OTHERWISE = "commands"

# Rooms of the compiler that have no folder of tests of their own name.
TESTED_AS = {
    "backends": "run",
    "base": "language",
    "explanations": "commands",
    "machine": "checks",
    "patterns": "driver",
    "plan": "lowering",
    "probe": "run",
    "spec": "language",
    "target": "cost",
}


def stage_of(path: Path) -> str:
    """The stage that a test file belongs to."""
    first = path.resolve().relative_to(ROOT / "tests").parts[0]
    return STAGES.get(first, OTHERWISE)


def touched(paths: list[str]) -> set[str]:
    """The stages whose tests look at these files, given from the root of the repository."""
    found = set()
    for path in map(Path, paths):
        match path.parts:
            case ("compiler", room, _, *_):
                found.add(TESTED_AS.get(room, room))
            case ("compiler", _) | ("examples", *_):
                found.add("commands")
            case ("tests", *_) if path.suffix == ".py" and (ROOT / path).is_file():
                found.add(stage_of(ROOT / path))
            case ("templates", *_):
                found.add("emit")
            case ("grammar", *_):
                found.add("language")
            case ("viewer", *_):
                found.add("view")
            case ("research", *_):
                found.add("research")
    return found


def _changed() -> list[str]:
    def git(*arguments: str) -> list[str]:
        result = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return result.stdout.splitlines()

    since = git("merge-base", "HEAD", "main") or ["HEAD"]
    return git("diff", "--name-only", since[0]) + git("ls-files", "-o", "--exclude-standard")


if __name__ == "__main__":
    stages = {sys.argv[1]} if sys.argv[1:] else touched(_changed())
    print(" or ".join(sorted(stages)) or "base")
