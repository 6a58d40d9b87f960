"""Write constraints.txt: the versions of all that tests and the site install, as they are in the
environment that runs this. `make` keeps to them where CI=true, so that a new release of a
dependency breaks no change; the nightly run does not, and finds it."""

from __future__ import annotations

import sys
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = {"collc", "collc-evaluator", "collc_evaluator", "fabsim"}
LEFT_ALONE = {"pip", "setuptools", "wheel"}  # what brings the others
HEAD = """\
# Versions that continuous integration installs, by `make constraints`; Pythons that the marker
# leaves out have what pip finds. No hashes and no hosts: any index will do.
"""


def main() -> None:
    """Write the file."""
    found = {one.metadata["Name"]: one.version for one in distributions()}
    marker = f'python_version >= "{sys.version_info.major}.{sys.version_info.minor}"'
    lines = [
        f"{name}=={version}; {marker}"
        for name, version in sorted(found.items(), key=lambda one: one[0].lower())
        if name not in OURS | LEFT_ALONE
    ]
    (ROOT / "constraints.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
