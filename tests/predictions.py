"""What the compiler predicts and emits for a sample, kept in a file or compared with one.

    python tests/predictions.py keep FILE [--quick]
    python tests/predictions.py compare FILE

For a change that must not change anything: every example, every pattern on few and on many PEs with
short and long vectors, lengths that are given at run time, programs, on both targets; of each the
cycles by phase and a digest of the emitted files, or why it is refused. FILE belongs to the
constants that it was made with. `compare` prints what differs, and exits with 1 if anything does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sweep

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.patterns import Kind, instance

ROOT = Path(__file__).parents[1]
PES, LENGTHS = (2, 3, 7, 8, 33), (1, 17, 1000)
QUICK_PES, QUICK_LENGTHS = (3, 8), (17,)


def points(quick: bool) -> Iterator[tuple[str, str, Mapping[str, int], str, int]]:
    """A name, a text, its parameters, the target and the skew of each point."""
    for path in sorted((ROOT / "examples").rglob("*.coll")):
        for target in sweep.TARGETS:
            name = str(path.relative_to(ROOT))
            yield f"{name} {target}", path.read_text(encoding="utf-8"), {}, target, 0
    sizes = (QUICK_PES, QUICK_LENGTHS) if quick else (PES, LENGTHS)
    for one in sweep.combinations(*sizes):
        name = f"{one.pattern} {one.pes} x {one.length} {one.target}"
        pattern = sweep.patterns()[one.pattern]
        algorithm = pattern.kind is Kind.ALGORITHM
        order = ("west_to_east" if one.length == 17 else "ring") if algorithm else ""
        contract = sweep.contract_of(pattern.name)
        try:
            choice, _, _ = instance(
                pattern, contract, one.pes, one.length, order=order, target=one.target
            )
        except CollcError:
            continue
        yield name, choice.text, choice.parameters, one.target, 0
        if one.length == 17:
            yield f"{name} program", choice.text, choice.parameters, one.target, 50
        given = re.sub(r"\[(\w+)\]", r"[n <= \1]", choice.text, count=1)
        yield f"{name} n", given, choice.parameters, one.target, 0


def outcome(text: str, parameters: Mapping[str, int], target: str, skew: int) -> Any:
    """Cycles by phase and a digest of the files, or why there are none."""
    try:
        bundle = compile_text(text, "sample.coll", parameters, target, skew)
    except CollcError as error:
        return [error.diagnostics[0].code, error.diagnostics[0].message]
    digest = hashlib.sha256(repr(sorted(bundle.files.items())).encode()).hexdigest()[:16]
    return [bundle.prediction.cycles, dict(bundle.prediction.breakdown), digest]


def outcomes(quick: bool) -> Iterator[tuple[str, Any]]:
    """Of every point."""
    for name, *given in points(quick):
        yield name, outcome(*given)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("keep", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.what == "keep":
        found = {name: one for name, one in outcomes(options.quick)}
        options.file.write_text(json.dumps(found, indent=0), encoding="utf-8")
        print(f"{len(found)} points")
        return 0
    known, other, count = json.loads(options.file.read_text(encoding="utf-8")), 0, 0
    for name, one in outcomes(options.quick):
        count += 1
        if json.loads(json.dumps(one)) != known.get(name):
            other += 1
            print(f"{name}: {known.get(name)}, now {one}", flush=True)
    print(f"{other} of {count} points differ")
    return int(other > 0)


if __name__ == "__main__":
    sys.exit(main())
