"""What the machine and call-backs of pairs take, measured on fabsim: `make constants`.

Writes compiler/target/constants.json, and says of each number that has changed what it was.

    python tests/constants.py [--timing TABLE] [--check]

The table is one of fabsim's; those of other tables stay as they are in the file. With `--check`
nothing is written, and the status is 1 if something has changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping

from measuring.engine import measured_engine
from measuring.pairs import measured_pairs

from collc.target import TARGETS
from collc.target.constants import FILE, TIMING

Values = dict[str, int]


def measured(target: str, timing: str) -> Values:
    """All that is in the file of a target."""
    return measured_engine(target, timing) | measured_pairs(target, timing)


def differences(old: Mapping[str, int], new: Mapping[str, int], where: str) -> Iterable[str]:
    """What has changed, a line for each number."""
    for name, value in new.items():
        if old.get(name) != value:
            yield f"{where} {name}: {value}, was {old.get(name)}"


def main() -> int:
    """Measure, compare, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--timing", default=TIMING, help="one of fabsim's timing tables")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    there = FILE.read_text(encoding="utf-8")
    tables = json.loads(there)
    table = tables.setdefault(options.timing, {})
    for target in sorted(TARGETS):
        values = measured(target, options.timing)
        print("\n".join(differences(table.get(target, {}), values, target)))
        table[target] = values
    text = json.dumps(tables, indent=1, sort_keys=True) + "\n"
    if not options.check:
        FILE.write_text(text, encoding="utf-8")
    return int(options.check and text != there)


if __name__ == "__main__":
    sys.exit(main())
