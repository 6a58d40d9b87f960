"""Set the version wherever it is written, and close the changelog's unreleased section.

An entry that begins with `Fixed:` or `Changed:` goes under that heading, without the word; all
others are additions. Nothing else of the text changes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = (
    ("compiler/base/version.py", r'(__version__ = ")[^"]+(")'),
    ("editors/vscode/package.json", r'("version": ")[^"]+(")'),
    ("evaluator/Cargo.toml", r'(^version = ")[^"]+(")'),
    ("fabsim/Cargo.toml", r'(^version = ")[^"]+(")'),
    ("fabsim/fuzz/Cargo.toml", r'(^version = ")[^"]+(")'),
)
# The same version any number of times: of our crates in a lock file, and in recorded emitted text.
LOCKS = ("evaluator/Cargo.lock", "fabsim/Cargo.lock", "fabsim/fuzz/Cargo.lock")
LOCKED = r'(name = "(?:fabsim|fabsim-\w+|collc-evaluator|collc_evaluator)"\nversion = ")[^"]+(")'
RECORDED = ROOT / "tests" / "emit" / "golden"
IN_TEXT = r"(\bcollc )\d+\.\d+\.\d+()"
HEADINGS = ("Added", "Changed", "Fixed")
SAME = 50  # characters in which two entries are one


def with_version(text: str, pattern: str, version: str) -> str:
    """The text with another version in the one place where the pattern is."""
    changed, count = re.subn(pattern, rf"\g<1>{version}\g<2>", text, count=1, flags=re.M)
    if not count:
        raise SystemExit(f"set_version: nothing is like {pattern}")
    return changed


def released(changelog: str, version: str) -> str:
    """The changelog with its first section, the unreleased one, in order under the version."""
    found = re.search(
        r"^## [^\n]*unreleased[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.M | re.S | re.I
    )
    if found is None:
        raise SystemExit("set_version: the changelog has nothing unreleased")
    entries = re.findall(r"^- .*?(?=^- |^#|\Z)", found[1], re.M | re.S)
    kinds: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    for kind, entry in _once(entries):
        kinds[kind].append(entry)
    parts = [f"### {kind}\n\n" + "\n".join(kinds[kind]) for kind in HEADINGS if kinds[kind]]
    section = f"## {version}\n\n" + "\n\n".join(parts) + "\n\n"
    before, after = changelog[: found.start()], changelog[found.end() :]
    return (before + section + after).rstrip("\n") + "\n"


def _once(entries: list[str]) -> list[tuple[str, str]]:
    """Entries with their kinds. Of those that begin alike, as merges leave them when one side has
    changed a line, there is one: the longest, of the kind that any of them says."""
    found: dict[str, tuple[str, str]] = {}
    for entry in entries:
        kind = next((h for h in HEADINGS if entry.startswith(f"- {h}: ")), "Added")
        text = entry.replace(f"- {kind}: ", "- ", 1).rstrip("\n")
        before = found.get(text[:SAME], ("Added", ""))
        said = before[0] if kind == "Added" else kind
        found[text[:SAME]] = (said, max(before[1], text, key=len))
    return list(found.values())


def main(version: str) -> None:
    """Write all of it."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"set_version: {version} is not MAJOR.MINOR.PATCH")
    for name, pattern in PLACES:
        path = ROOT / name
        path.write_text(with_version(path.read_text(encoding="utf-8"), pattern, version))
    recorded = (path for path in RECORDED.rglob("*") if path.is_file())
    everywhere = [(ROOT / name, LOCKED) for name in LOCKS] + [(path, IN_TEXT) for path in recorded]
    for path, pattern in everywhere:
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(pattern, rf"\g<1>{version}\g<2>", text), encoding="utf-8")
    changelog = ROOT / "CHANGELOG.md"
    changelog.write_text(released(changelog.read_text(encoding="utf-8"), version))


if __name__ == "__main__":
    main(sys.argv[1])
