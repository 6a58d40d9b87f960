"""Every pattern over many sizes, on both targets: verified on fabsim, or refused with a limit.

    python tests/sweep.py [--quick] [--up-to PES] [--pes P ...] [--lengths B ...] [--jobs N]
        [--seconds S] [--fresh]

Patterns are those of `collc list`. Progress is kept in build/sweep.jsonl, one line for each
combination, so that a sweep may be interrupted and goes on where it was. At the end, and when
interrupted, docs/sweep.csv, the table of all verdicts, and docs/sweep.md, what it comes to, are
written from what is there. When the compiler or its data have changed, everything is compiled anew,
and what is emitted as before need not be simulated again; so it is from one clone to the next, as
the table says which text was run. What has never been run comes first, and then the rest in no
order, so that what has been compiled anew so far is a random part of it; the page says how much
that is. Exits with 1 if a combination is neither verified nor refused.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from time import monotonic

import fingerprint

import collc
from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.patterns import Kind, Pattern, all_patterns, instance
from collc.patterns.facts import contracts_of

ROOT = Path(__file__).parents[1]
PROGRESS = ROOT / "build" / "sweep.jsonl"
TABLE, PAGE = ROOT / "docs" / "sweep.csv", ROOT / "docs" / "sweep.md"
TARGETS = ("wse2", "wse3")
PES = (*range(1, 18), 31, 32, 33, 64, 100, 512)
LENGTHS = (1, 2, 3, 17, 64, 1000)
QUICK_PES, QUICK_LENGTHS = (1, 2, 3, 5, 8), (1, 17)
START_UP = 90  # cycles that a prediction may be off besides its 2 %
VERIFIED, REFUSED, FAILED, UNDECIDED = "verified", "refused", "failed", "no verdict"

INTRODUCTION = """\
Made by `make sweep` (`python tests/sweep.py`), which goes on where it was interrupted;
[sweep.csv](sweep.csv) has every verdict. Every pattern of [patterns.md](patterns.md) on P PEs
(grids: as many or a few fewer) with B elements of f32 (in an all_to_all: from each to each), on
WSE-2 and WSE-3. Algorithms run in the orders `west_to_east` and `ring` in turn. Verified means: run
on fabsim twice on one load, every element that the contract promises equal to NumPy's bit by bit.
All but what has the digest dcf40d1744e1 was compiled by fabsim's strict rules. With that digest and
with 2f98bf8afecb cycles are those of the timing table `streams`, else of `simfabric`.
`collc explain CODE` says what a refusal means."""


CAUSE = """\
All are algorithms in which the ways of several senders lie over the same links. Who is put off by
how much there depends on every queue on the way; the prediction gives the links to elements in the
order in which they are sent. The longest, of millions of cycles, are followed for some seconds of
computing; the rest is taken to go on as it went. [accuracy.md](accuracy.md) says more."""
SHARE_LINKS = (
    "binary_tree", "bruck_", "butterfly", "direct_", "halving_", "linear_", "pairwise_",
    "recursive_",
)  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """What is tried: `length` elements on `pes` PEs."""

    pattern: str
    target: str
    pes: int
    length: int


@dataclass(frozen=True)
class Outcome:
    """What came of it: `use` and `order` say what was run, `code` and `words` why it was not."""

    combination: Combination
    verdict: str
    use: str = ""
    order: str = ""
    code: str = ""
    words: str = ""
    cycles: int = 0
    predicted: int = 0
    text: str = ""  # digest of what was simulated, and by what
    made: str = ""  # digest of compiler and simulator

    @property
    def off(self) -> bool:
        """Whether the prediction misses by more than 2 % and the start-up."""
        error = abs(self.predicted - self.cycles)
        return self.verdict == VERIFIED and error > 0.02 * self.cycles + START_UP


@lru_cache(maxsize=1)
def patterns() -> dict[str, Pattern]:
    return {pattern.name: pattern for pattern in all_patterns()}


def combinations(sizes: Iterable[int], lengths: Iterable[int]) -> Iterator[Combination]:
    """Small sizes first, so that what has been done is a whole part of the sweep. An example of one
    number of PEs is tried on these alone."""
    for pes, length, name, target in product(sizes, lengths, patterns(), TARGETS):
        pattern = patterns()[name]
        if pattern.kind is not Kind.EXAMPLE or pattern.requires in ("", f"P == {pes}"):
            yield Combination(name, target, pes, length)


def order_of(pattern: Pattern, combination: Combination) -> str:
    """Algorithms are run in both orders in turn, along the line and as a ring."""
    if pattern.kind is not Kind.ALGORITHM:
        return ""
    turn = PES.index(combination.pes) + LENGTHS.index(combination.length)
    return ("west_to_east", "ring")[turn % 2]


@lru_cache
def contract_of(name: str) -> collc.spec.ContractKind:
    return contracts_of(patterns()[name])[0]


def measure(work: tuple[Combination, Outcome | None], mark: str, seconds: int) -> Outcome:
    """Compile, run and judge one combination, giving up after so many seconds.

    What came of it before is given, since the same text need not be run again.
    """
    combination, before = work
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(seconds)
    try:
        outcome = _measure(combination, before)
    except TimeoutError:
        outcome = Outcome(combination, UNDECIDED, words=f"more than {seconds} s")
    except Exception as error:  # a traceback is the worst of failures, and has to be listed
        outcome = Outcome(combination, FAILED, words=f"{type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
    return replace(outcome, made=mark)


def _too_long(*_: object) -> None:
    raise TimeoutError


def _measure(combination: Combination, before: Outcome | None) -> Outcome:
    pattern = patterns()[combination.pattern]
    contract, target = contract_of(pattern.name), combination.target
    order = order_of(pattern, combination)
    sizes = (combination.pes, combination.length)
    try:
        choice, _, _ = instance(pattern, contract, *sizes, order=order, target=target)
        bundle = compile_text(choice.text, choice.use, choice.parameters, target)
    except CollcError as error:
        first = error.diagnostics[0]
        return Outcome(combination, REFUSED, code=first.code, words=first.message)
    text = fingerprint.of_run(bundle.files, target, bundle.plan.collective.contract)
    predicted = bundle.prediction.cycles
    if before and before.verdict == VERIFIED and before.text == text:
        return replace(before, predicted=predicted)
    outcome = Outcome(combination, FAILED, choice.use, choice.order, predicted=predicted, text=text)
    try:
        report = bundle.run(repeats=2)
    except collc.RunError as error:
        return replace(outcome, words=str(error))
    verdict = VERIFIED if report.verified else FAILED
    return replace(outcome, verdict=verdict, words=report.problem, cycles=report.cycles)


def read_progress(path: Path) -> dict[Combination, Outcome]:
    """What has come of each combination; a last line that was cut off is left out."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    rows = (json.loads(line) for line in lines)
    found = (Outcome(**(row | {"combination": Combination(**row["combination"])})) for row in rows)
    return {outcome.combination: outcome for outcome in found}


FIELDS = (
    "pattern", "target", "pes", "length", "verdict", "cycles", "predicted", "code", "words", "use",
    "order", "text", "made",
)  # fmt: skip


def read_table(path: Path) -> dict[Combination, Outcome]:
    """The verdicts of docs/sweep.csv."""
    if not path.exists():
        return {}
    found = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            own = {name: int(row.pop(name)) for name in ("pes", "length")}
            one = Combination(row.pop("pattern"), row.pop("target"), **own)
            figures = {name: int(row.pop(name)) for name in ("cycles", "predicted")}
            found[one] = Outcome(one, **row, **figures)
    return found


def write_table(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Write docs/sweep.csv, in the order of the sweep."""
    known = {outcome.combination: outcome for outcome in outcomes}
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for one in combinations(PES, LENGTHS):
            if one in known:
                row = asdict(known[one])
                table.writerow(row.pop("combination") | row)


def write_progress(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Begin a file of progress with what is known."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps(asdict(outcome)) + "\n" for outcome in outcomes)
    path.write_text("".join(rows), encoding="utf-8")


def sweep(
    wanted: list[Combination],
    known: dict[Combination, Outcome],
    mark: str,
    options: argparse.Namespace,
) -> None:
    """Measure what is wanted and not known, adding to `known` and to the file of progress."""
    missing = [(one, known.get(one)) for one in to_run(wanted, known, mark)]
    began = monotonic()
    try:
        with PROGRESS.open("a", encoding="utf-8") as file, Pool(options.jobs) as pool:
            one_of = partial(measure, mark=mark, seconds=options.seconds)
            for count, outcome in enumerate(pool.imap_unordered(one_of, missing), 1):
                before = known.get(outcome.combination)
                if before and before.text != outcome.text:
                    print(f"another text than before: {_line(outcome)}", flush=True)
                known[outcome.combination] = outcome
                file.write(json.dumps(asdict(outcome)) + "\n")
                file.flush()
                if outcome.verdict not in (VERIFIED, REFUSED) or outcome.off:
                    print(_line(outcome), flush=True)
                if count % 100 == 0:
                    spent = monotonic() - began
                    print(f"{count} of {len(missing)} in {spent:.0f} s", flush=True)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the page is being written
        print("interrupted; the same command goes on from here")


def to_run(
    wanted: list[Combination], known: dict[Combination, Outcome], mark: str
) -> list[Combination]:
    """What is not known by these tools: first what has never been run, then the rest shuffled."""
    never = [one for one in wanted if one not in known]
    again = [one for one in wanted if one in known and known[one].made != mark]
    random.Random(mark).shuffle(again)
    return never + again


def _line(outcome: Outcome) -> str:
    one = outcome.combination
    told = outcome.words.partition("\n")[0][:200]
    figures = f"{outcome.cycles} cycles, {outcome.predicted} predicted"
    where = f"{one.pattern} {one.target} P={one.pes} B={one.length} {outcome.order}"
    return f"{where}: {outcome.verdict}: {told or figures}"


def page(outcomes: Iterable[Outcome], mark: str) -> str:
    """docs/sweep.md; `mark` is the digest of what was run."""
    wanted = set(combinations(PES, LENGTHS))
    held = sorted(
        (o for o in outcomes if o.combination in wanted),
        key=lambda o: (o.combination.pes, o.combination.length, o.combination.pattern),
    )
    lines = [
        "# The sweep over all patterns",
        "",
        INTRODUCTION,
        "",
        *_part_run(held, mark),
        "",
        "| pattern | run | verified | refused | other | worst prediction |",
        "|---|---|---|---|---|---|",
        *(_row(name, [o for o in held if o.combination.pattern == name]) for name in patterns()),
        "",
        *_refusals(held),
        *_exceptions(held),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _part_run(held: list[Outcome], mark: str) -> Iterator[str]:
    sizes = Counter(one.pes for one in combinations(PES, LENGTHS))
    counts = Counter(o.combination.pes for o in held)
    whole = [pes for pes in PES if counts[pes] == sizes[pes]]
    parts = [
        f"{counts[pes]} of {sizes[pes]} at P = {pes}" for pes in PES if 0 < counts[pes] < sizes[pes]
    ]
    none = [pes for pes in PES if not counts[pes]]
    now = sum(o.made == mark for o in held)
    others = f" in {now} of them; of the others [sweep.csv](sweep.csv) says it"
    yield f"Run: {len(held)} of {sizes.total()} combinations, with B in {_listed(LENGTHS)}."
    yield f"Compiler and simulator had the digest {mark}{others if now < len(held) else ''}."
    if whole:
        yield f"All of P = {_listed(whole)}."
    if parts:
        yield f"Of these only some: {'; '.join(parts)}."
    if none:
        yield f"Not run yet: P = {_listed(none)}."


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _row(name: str, held: list[Outcome]) -> str:
    verdicts = Counter(o.verdict for o in held)
    codes = Counter(o.code for o in held if o.verdict == REFUSED)
    refused = ", ".join(f"{count} {code}" for code, count in sorted(codes.items())) or "0"
    others = (f"{verdicts[kind]} {kind}" for kind in (FAILED, UNDECIDED) if verdicts[kind])
    verified = [o for o in held if o.verdict == VERIFIED]
    worst = max(verified, key=lambda o: abs(o.predicted - o.cycles), default=None)
    cells = (f"`{name}`", len(held), verdicts[VERIFIED], refused, ", ".join(others) or "0")
    return f"| {' | '.join(map(str, cells))} | {_error(worst)} |"


def _error(outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    off = outcome.predicted - outcome.cycles
    if not off:
        return "exact"
    one = outcome.combination
    share = 100 * off / outcome.cycles
    return (
        f"{off:+} of {outcome.cycles} ({share:+.1f} %) at {one.target}, P={one.pes}, B={one.length}"
    )


def _refusals(held: list[Outcome]) -> Iterator[str]:
    """For each code, how often and one of its messages, which names the limit."""
    refused = [o for o in held if o.verdict == REFUSED]
    if not refused:
        return
    yield from ("## Refused by which limit", "", "| code | times | for example |", "|---|---|---|")
    for code in sorted({o.code for o in refused}):
        same = [o for o in refused if o.code == code]
        one = same[0].combination
        where = f"`{one.pattern}`, {one.target}, P={one.pes}, B={one.length}"
        yield f"| {code} | {len(same)} | {where}: {same[0].words.replace('|', '/')} |"
    yield ""


def _exceptions(held: list[Outcome]) -> Iterator[str]:
    """What the reader has to know: failures, what took too long, and predictions that miss."""
    for verdict in (FAILED, UNDECIDED):
        found = [o for o in held if o.verdict == verdict]
        if found:
            yield from (f"## {verdict.capitalize()}: {len(found)}", "")
            yield from (f"- {_line(o)}".replace("|", "/") for o in _first_of_each(found))
            yield ""
    off = [o for o in held if o.off]
    yield from (f"## Predictions beyond 2 % and {START_UP} cycles: {len(off)}", "")
    if off and all(o.combination.pattern.startswith(SHARE_LINKS) for o in off):
        yield from (CAUSE, "")
    yield from (f"- {_line(o)}, {_error(o).partition(' at ')[0]}" for o in off)


def _first_of_each(found: list[Outcome]) -> Iterator[Outcome]:
    """The smallest of each pattern."""
    yield from {o.combination.pattern: o for o in reversed(found)}.values()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few sizes; no page is written")
    parser.add_argument("--up-to", type=int, default=max(PES), help="the most PEs")
    parser.add_argument("--pes", type=int, nargs="+", default=[], help="only these numbers of PEs")
    parser.add_argument("--lengths", type=int, nargs="+", default=[], help="only these lengths")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seconds", type=int, default=600, help="for one combination")
    parser.add_argument("--fresh", action="store_true", help="forget what has been done")
    return parser.parse_args()


def main() -> int:
    """Go on with the sweep, then write the page."""
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    mark = fingerprint.of_tools()
    known = {} if options.fresh else read_table(TABLE) | read_progress(PROGRESS)
    write_progress(PROGRESS, known.values())
    sizes, lengths = (QUICK_PES, QUICK_LENGTHS) if options.quick else (PES, LENGTHS)
    asked = [pes for pes in sizes if pes <= options.up_to and pes in (options.pes or sizes)]
    long = [length for length in lengths if length in (options.lengths or lengths)]
    wanted = list(combinations(asked, long))
    sweep(wanted, known, mark, options)
    if not options.quick:
        write_table(TABLE, known.values())
        PAGE.write_text(page(known.values(), mark), encoding="utf-8")
    verdicts = Counter(known[one].verdict if one in known else "not run" for one in wanted)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    return 1 if verdicts[FAILED] else 0


if __name__ == "__main__":
    sys.exit(main())
