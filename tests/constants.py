"""What the machine and the emitted code take, measured on fabsim: `make constants`.

Writes compiler/target/constants.json, and says of each number that has changed what it was, and how
well what is fitted to tasks fits.

    python tests/constants.py [--timing TABLE] [--only PART] [--check] [--jobs N]

The parts are trees, streams, rows, programs and one-word collectives. The table is one of fabsim's;
those of other tables stay as they are in the file. With `--check` nothing is written, and the
status is 1 if something has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any

from measuring.engine import measured_engine
from measuring.fitting import Fit, trimmed
from measuring.one_word import measured_one_word
from measuring.pairs import measured_pairs
from measuring.probes import Probe, probes
from measuring.programs import measured_programs
from measuring.rows import measured_cuts, tasks_of
from measuring.streams import measured_streams
from measuring.trees import measured_trees

from collc.target import TARGETS
from collc.target.constants import FILE, TIMING, Code, Constants, Engine, constants_of

Values = dict[str, Any]
PARTS = ("trees", "streams", "rows", "programs", "one_word")


def measured(target: str, timing: str, parts: Iterable[str], jobs: int) -> Values:
    """All that is in the file of a target, with these parts measured anew."""
    known, values = before(target, timing), Values()
    if "trees" in parts:
        engine = measured_engine(target, timing)
        values |= engine | measured_trees(target, timing, engine) | measured_pairs(target, timing)
        known = with_values(known, values)
    if "rows" in parts:
        known = replace(known, rows=replace(known.rows, **measured_cuts(target, timing)))
        fit = rows_of(target, known, jobs)
        print(f"{target} tasks of rows: off by {fit.error:.1f} cycles, at most {fit.worst}")
        known = replace(known, rows=replace(known.rows, **fit.cycles))
    if "programs" in parts:
        known = with_values(known, measured_programs(target, timing, values_of(known)))
    streams = asdict(known.streams)
    if "streams" in parts:
        fit = measured_streams(target, timing, known)
        print(f"{target} streams: off by {fit.error:.1f} cycles, at most {fit.worst}")
        streams |= fit.cycles
    one_word = {"own": asdict(known.own), "token": asdict(known.token)}
    if "one_word" in parts:
        one_word = measured_one_word(target, timing)
    found = values_of(known) | {"streams": streams, "one_word": one_word}
    return dict(sorted(found.items())) | {"rows": asdict(known.rows)}


def rows_of(target: str, known: Constants, jobs: int) -> Fit:
    """The pieces of rows."""
    of_probe = partial(tasks_of, target=target, timing=TIMING, constants=known)
    with ProcessPoolExecutor(jobs) as pool:
        found = [one for some in pool.map(of_probe, list[Probe](probes())) for one in some]
    return trimmed([task.pieces for task in found])


def before(target: str, timing: str) -> Constants:
    """What is in the file, or else what there is for the usual table."""
    there = json.loads(FILE.read_text(encoding="utf-8"))
    return constants_of(target, timing if timing in there else TIMING)


def values_of(constants: Constants) -> Values:
    """The numbers of the machine and of code by name."""
    return asdict(constants.engine) | asdict(constants.code)


def with_values(constants: Constants, values: Mapping[str, int]) -> Constants:
    """The constants with some of them changed."""
    engine, code = (
        {field.name: values[field.name] for field in fields(kind) if field.name in values}
        for kind in (Engine, Code)
    )
    return replace(
        constants,
        engine=replace(constants.engine, **engine),
        code=replace(constants.code, **code),
    )


def differences(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterable[str]:
    """What has changed, a line for each number."""
    for name, value in new.items():
        if isinstance(value, dict):
            yield from differences(old.get(name, {}), value, f"{where} {name}")
        elif old.get(name) != value:
            yield f"{where} {name}: {value}, was {old.get(name)}"


def main() -> int:
    """Measure, compare, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--timing", default=TIMING, help="one of fabsim's timing tables")
    parser.add_argument("--only", choices=PARTS, help="leave the other parts as they are")
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    there = FILE.read_text(encoding="utf-8")
    tables = json.loads(there)
    table = tables.setdefault(options.timing, {})
    for target in sorted(TARGETS):
        parts = (options.only,) if options.only else PARTS
        values = measured(target, options.timing, parts, options.jobs)
        print("\n".join(differences(table.get(target, {}), values, target)))
        table[target] = values
    text = json.dumps(tables, indent=1, sort_keys=True) + "\n"
    if not options.check:
        FILE.write_text(text, encoding="utf-8")
    return int(options.check and text != there)


if __name__ == "__main__":
    sys.exit(main())
