"""Digests of emitted text: of every example, every kind of bundle and a sample of the sweep.

    python tests/digests.py [--check] [--jobs N]

Without `--check` tests/emit/digests.json is made anew; with it what differs is named, and the exit
status is 1 then. A change that is to leave the emitted text alone is behind this gate; one that is
to change it commits the new file, whose diff says how far it reaches. The manifest is left out: it
has predictions and estimates, and digests of the other files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import sweep
from sweep import TARGETS, Combination

from collc.base.diagnostics import CollcError
from collc.base.version import __version__
from collc.driver.pipeline import compile_text
from collc.patterns import Kind, instance
from emitting import every_kind_of_bundle, example_bundle

ROOT = Path(__file__).parents[1]
PATH = Path(__file__).parent / "emit" / "digests.json"
EXAMPLES = sorted((ROOT / "examples").rglob("*.coll"))
PES, LENGTH = (1, 2, 3, 7, 8, 33), 20
QUICK_PES = (3, 7)  # what continuous integration compiles of the sample, for one target
DIGITS = 16
RECORDED_AS = "collc 0.1.0"  # in place of the version, so that a release changes no digest

Files = Mapping[str, str]


def cases() -> dict[str, Callable[[], str]]:
    """What is compiled, by name, each to be made when it is asked for."""
    return {name: partial(_digest_or_refusal, make) for name, make in _makers()}


def quick() -> list[str]:
    """The names of the cases that take some seconds together."""
    sample = {f"{name}, P={pes}, wse2" for name, pes in product(_patterns(), QUICK_PES)}
    return [name for name in cases() if name in sample or not name.endswith((", wse2", ", wse3"))]


def recorded() -> dict[str, str]:
    """The digests as they were committed."""
    found: dict[str, str] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def _makers() -> Iterator[tuple[str, Callable[[], Files]]]:
    for path, target in product(EXAMPLES, (None, *TARGETS)):
        name = str(path.relative_to(ROOT))
        yield f"{name}, {target}" if target else name, partial(_example, path, target)
    for path in EXAMPLES:
        if path.stem in ("chain", "ring_allreduce", "program_mixed"):
            name = str(path.relative_to(ROOT))
            yield f"{name}, with time stamps", partial(_example, path, None, timed=True)
    for number, (name, files) in enumerate(every_kind_of_bundle()):
        yield f"bundle {number}, {name}", files
    for name, pes, target in product(_patterns(), PES, TARGETS):
        yield f"{name}, P={pes}, {target}", partial(_sample, name, pes, target)


def _patterns() -> list[str]:
    return [p.name for p in sweep.patterns().values() if p.kind is not Kind.EXAMPLE]


def _example(path: Path, target: str | None, *, timed: bool = False) -> Files:
    if not timed:
        return example_bundle(path, target).files
    text = path.read_text(encoding="utf-8")
    return compile_text(text, path.name, {}, target, timed=timed).files


def _sample(name: str, pes: int, target: str) -> Files:
    pattern = sweep.patterns()[name]
    order = sweep.order_of(pattern, Combination(name, target, _listed(pes), sweep.LENGTHS[1]))
    contract = sweep.contract_of(name)
    choice, _, _ = instance(pattern, contract, pes, LENGTH, order=order, target=target)
    return compile_text(choice.text, choice.use, choice.parameters, target).files


def _listed(pes: int) -> int:
    assert pes in sweep.PES, f"the sweep has no P = {pes}"
    return pes


def digest_of(files: Files) -> str:
    """The digest of all files but the manifest, whatever the version of the compiler."""
    digest = hashlib.sha256()
    for name, text in sorted(files.items()):
        if name != "manifest.json":
            recorded = text.replace(f"collc {__version__}", RECORDED_AS)
            digest.update(f"{name}\0{recorded}\0".encode())
    return digest.hexdigest()[:DIGITS]


def _digest_or_refusal(make: Callable[[], Files]) -> str:
    """The digest of what is emitted, or the code of the message that refuses to."""
    try:
        return digest_of(make())
    except CollcError as error:
        return error.diagnostics[0].code


def _one(name: str) -> tuple[str, str]:
    return name, cases()[name]()


def differences(found: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """A line for each case that is not as it was."""
    names = sorted({*found, *before})
    pairs = ((name, before.get(name, "none"), found.get(name, "none")) for name in names)
    return [f"{name}: {old} -> {new}" for name, old, new in pairs if old != new]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    with Pool(given.jobs) as pool:
        found = dict(pool.imap_unordered(_one, cases(), chunksize=4))
    told = differences(found, recorded() if PATH.exists() else {})
    print("\n".join([*told, f"{len(found)} cases, {len(told)} changed"]))
    if given.check:
        return int(bool(told))
    PATH.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
