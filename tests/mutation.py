"""The mutation score: plans with one thing changed, and who finds out.

    python tests/mutation.py [--every N] [--unchecked N]

Every mutant of `mutants.judging.all_subjects` goes to the checks; what they let pass is run on
fabsim and has to be right. Of those refused, one in `--unchecked` is written and run with all
checks off: then fabsim has to name the fault. Takes a few minutes on an idle machine, and writes
docs/mutants.md unless `--every` leaves some out. Exits with 1 if a mutant passes the checks and is
wrong.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

from mutants.judging import RIGHT, SAME, Subject, all_subjects, judge, without_checks
from mutants.kinds import Kind, Mutant

PAGE = Path(__file__).parents[1] / "docs" / "mutants.md"
SECONDS = 60  # for one mutant that no check has seen
ENDLESS = "still running after a minute"

INTRODUCTION = """\
Made by `make mutants` (`python tests/mutation.py`). A mutant is a valid plan with one thing
changed. Plans of trees, multicasts, exchanges by steps, streams and programs of several
collectives, or with a root of the call, are changed in every way that `tests/mutants` knows. A
mutant is refused by a check, or its program runs on fabsim, where everything has to be right, twice
on one load (of streams what is promised, three times): there are changes that change nothing that
matters, such as a switch position that is never reached."""

UNCHECKED = """\
About one in {every} of the refused mutants was written and run with all checks off. `right` are
those where the checks are stricter than this one run: they prove a plan for all timings, all inputs
and any depth of queues, and keep numbers free that the vendor's libraries use."""


@dataclass(frozen=True)
class Judged:
    """A mutant: by which codes it was refused, or what fabsim made of it; and of some refused ones
    what fabsim makes of them without checks."""

    subject: str
    kind: Kind
    what: str
    codes: tuple[str, ...]
    outcome: str
    unchecked: str

    @property
    def hole(self) -> bool:
        """Whether it passes the checks and is wrong."""
        return not self.codes and self.outcome not in {SAME, RIGHT}


def judged(subject: Subject, every: int, unchecked: int) -> Iterator[Judged]:
    """All mutants of a plan."""
    refused = 0
    for mutant in islice(subject.mutants(subject.plan), 0, None, every):
        codes, outcome = judge(subject, mutant)
        alone = ""
        if codes:
            chosen = refused % unchecked == 0 or mutant.kind is Kind.QUEUE_DEPTH  # there are few
            alone = _in_time(subject, mutant) if chosen else ""
            refused += 1
        yield Judged(subject.name, mutant.kind, mutant.what, codes, outcome, alone)


def _in_time(subject: Subject, mutant: Mutant[Any]) -> str:
    """What becomes of a mutant without checks, within `SECONDS`."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        return without_checks(subject, mutant)
    except TimeoutError:
        return ENDLESS
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError


def page(found: list[Judged]) -> str:
    """docs/mutants.md."""
    holes = [one for one in found if one.hole]
    refused = [one for one in found if one.codes]
    share = 100 * len(refused) / len(found)
    lines = [
        "# The mutation score",
        "",
        INTRODUCTION,
        "",
        f"**{len(found)} mutants of {len({one.subject for one in found})} plans: {len(refused)} "
        f"refused ({share:.1f} %), {len(found) - len(refused) - len(holes)} right on fabsim, "
        f"{len(holes)} wrong.**",
        "",
        *_table("change", ((kind.value, _of(found, kind)) for kind in Kind)),
        "",
        *_table("plan", _by_subject(found)),
        "",
        *_without_checks(refused),
        *_by_code(refused),
        *(f"- {one.subject}: {one.what}: {one.outcome}" for one in holes),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _of(found: list[Judged], kind: Kind) -> list[Judged]:
    return [one for one in found if one.kind is kind]


def _by_subject(found: list[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    for name in dict.fromkeys(one.subject for one in found):
        yield f"`{name}`", [one for one in found if one.subject == name]


def _table(title: str, groups: Iterable[tuple[str, list[Judged]]]) -> Iterator[str]:
    yield f"| {title} | mutants | refused | same program | right on fabsim | wrong |"
    yield "|---|---|---|---|---|---|"
    for name, some in groups:
        outcomes = Counter(one.outcome for one in some if not one.codes)
        wrong = sum(one.hole for one in some)
        refused = sum(bool(one.codes) for one in some)
        cells = (name, len(some), refused, outcomes[SAME], outcomes[RIGHT], wrong)
        yield f"| {' | '.join(map(str, cells))} |"


def _without_checks(refused: list[Judged]) -> Iterator[str]:
    """What fabsim says of those that were run without checks, by the kind of change."""
    tried = [one for one in refused if one.unchecked]
    if not tried:
        return
    ends = sorted({_end(one) for one in tried})
    yield from (
        "## With all checks off",
        "",
        UNCHECKED.format(every=round(len(refused) / len(tried))),
    )
    yield from ("", f"| change | run | {' | '.join(ends)} |", "|---" * (len(ends) + 2) + "|")
    for kind in Kind:
        some = _of(tried, kind)
        counts = Counter(_end(one) for one in some)
        yield f"| {kind.value} | {len(some)} | {' | '.join(str(counts[end]) for end in ends)} |"
    yield ""


def _end(one: Judged) -> str:
    return one.unchecked.partition(":")[0]


def _by_code(refused: list[Judged]) -> Iterator[str]:
    """How many mutants each code refuses, and how many it alone does."""
    yield from ("## By which code", "", "| code | mutants | it alone |", "|---|---|---|")
    all_codes = Counter(code for one in refused for code in one.codes)
    alone = Counter(one.codes[0] for one in refused if len(one.codes) == 1)
    for code in sorted(all_codes):
        yield f"| {code} | {all_codes[code]} | {alone[code]} |"
    yield ""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="look at one mutant in so many")
    parser.add_argument("--unchecked", type=int, default=8, help="run one in so many refused")
    return parser.parse_args()


def main() -> int:
    """Judge all mutants, write the page."""
    options = arguments()
    began = monotonic()
    found: list[Judged] = []
    for subject in all_subjects():
        some = list(judged(subject, options.every, options.unchecked))
        found += some
        refused, holes = sum(bool(one.codes) for one in some), [one for one in some if one.hole]
        spent = monotonic() - began
        print(f"{subject.name}: {refused} of {len(some)} refused, {spent:.0f} s", flush=True)
        for one in holes:
            print(f"  passes the checks: {one.what}: {one.outcome}", flush=True)
    if options.every == 1:
        PAGE.write_text(page(found), encoding="utf-8")
    else:
        print(page(found))
    return int(any(one.hole for one in found))


if __name__ == "__main__":
    sys.exit(main())
