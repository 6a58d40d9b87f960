"""What the machine and the emitted code take, measured on fabsim: `make constants`.

Writes compiler/target/constants.json, and says of each number that has changed what it was; of a
piece of rows also by how much the differences that tell it disagree, if they do.

    python tests/constants.py [--timing TABLE] [--check] [--jobs N]

The table is one of fabsim's; those of other tables stay as they are in the file. With `--check`
nothing is written, and the status is 1 if something has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from functools import partial

os.environ["NUMBA_DISABLE_JIT"] = "1"  # tasks of rows are looked at while they are written down

from measuring.differences import Piece, isolated
from measuring.engine import measured_engine
from measuring.probes import Probe, probes
from measuring.rows import PIECES, Stretch, stretches
from measuring.trees import measured_trees

from collc.target import TARGETS
from collc.target.constants import FILE, TIMING, Code, Constants, Engine, constants_of

Values = dict[str, int]
COUNTED = {"cuts", "cut", "bounds"}  # of rows, for lengths of the run


def measured(target: str, timing: str, jobs: int) -> tuple[Values, list[Piece]]:
    """All that is measured of a target, and the pieces of rows with what tells them."""
    engine = measured_engine(target, timing)
    values = engine | measured_trees(target, timing, engine)
    pieces = rows_of(target, timing, with_values(before(target, timing), values), probes(), jobs)
    found = {piece.name: piece.cycles for piece in pieces}
    missing = set(PIECES) - COUNTED - set(found)
    assert not missing, f"no probe tells apart: {', '.join(sorted(missing))}"
    return dict(sorted((values | found).items())), pieces


def rows_of(
    target: str, timing: str, known: Constants, of: Iterable[Probe], jobs: int
) -> list[Piece]:
    """The pieces of rows that some probes tell."""
    stretch = partial(stretches, target=target, timing=timing, constants=known)
    with ProcessPoolExecutor(jobs, initializer=_quiet) as pool:
        found: list[Stretch] = [one for some in pool.map(stretch, of) for one in some]
    return isolated((one.where, one.cycles, dict(one.counts)) for one in found)


def _quiet() -> None:
    """What Numba does with unsigned integers, NumPy warns of."""
    warnings.simplefilter("ignore", RuntimeWarning)


def before(target: str, timing: str) -> Constants:
    """What is in the file, or else what there is for the usual table: a first guess of which way
    is the longest."""
    there = json.loads(FILE.read_text(encoding="utf-8"))
    return constants_of(target, timing if timing in there else TIMING)


def with_values(constants: Constants, values: Mapping[str, int]) -> Constants:
    """The constants with some of them changed."""
    engine, code = (
        {field.name: values[field.name] for field in fields(kind) if field.name in values}
        for kind in (Engine, Code)
    )
    changed = replace(constants.engine, **engine), replace(constants.code, **code)
    return Constants(*changed)


def text_of(tables: Mapping[str, Mapping[str, Values]]) -> str:
    """The file."""
    return json.dumps(tables, indent=1, sort_keys=True) + "\n"


def main() -> int:
    """Measure, compare, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--timing", default=TIMING, help="one of fabsim's timing tables")
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    there = FILE.read_text(encoding="utf-8")
    tables = json.loads(there)
    table = tables.setdefault(options.timing, {})
    for target in sorted(TARGETS):
        values, pieces = measured(target, options.timing, options.jobs)
        old = table.get(target, {})
        for name, value in values.items():
            if old.get(name) != value:
                print(f"{target} {name}: {value}, was {old.get(name)}")
        for piece in pieces:
            if piece.spread:
                print(f"{target} {piece.name}: {len(piece.found)} differ by {piece.spread}")
        table[target] = values
    text = text_of(tables)
    if not options.check:
        FILE.write_text(text, encoding="utf-8")
    return int(options.check and text != there)


if __name__ == "__main__":
    sys.exit(main())
