"""Checks beside fabsim, the machine among them: who refuses what, and who is right.

    python tests/machine_gate.py [--every N] [--points N] [--jobs N] [--only PART ...] [--up-to PES]

In three parts, each of which can be run alone:

right     plans that were verified: examples, patterns over sizes, random programs. The machine
          refuses none of them, and neither its order nor a second call changes what PEs hold.
mutants   plans with one thing changed (tests/mutants): what checks say of them. What they let pass,
          and what the machine alone refuses, is written and run on fabsim without checks, with PEs
          that begin at once and with some that begin late.
times     what the machine takes for large plans.

Of the mutants every N-th is looked at, of the right plans every N-th point. Exits with 1 if a right
plan is refused, an order decides, a check raises an exception, or what passes is wrong on fabsim.
What the machine refuses may be right on fabsim: it shows a plan for all orders.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice, product
from multiprocessing import Pool
from pathlib import Path
from time import perf_counter
from typing import Any

import sweep
from accuracy_programs import text_point
from programs import test_random_parts, test_random_programs
from programs.bare import planned
from sweep import Combination
from with_schedules import schedules_of

from collc.base.diagnostics import CollcError, Diagnostic
from collc.checks.follow import OF_KIND, called, follow
from collc.driver.pipeline import compile_text
from collc.machine import cuts, run
from collc.machine.due import begin
from collc.patterns import Kind, instance
from collc.plan.plan import ProgramPlan
from mutants import judging
from mutants.judging import RIGHT, SAME, Subject

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("*.coll"))
TARGETS = ("wse2", "wse3")
OF_MACHINE = frozenset(code for codes in OF_KIND.values() for code in codes)
SECONDS = 60  # for one plan
ORDERS = 8
LATE = ((20, 1), (200, 2), (200, 3), (2000, 4))  # most cycles, and a seed
PROGRAMS = 60  # random programs of each kind

FORM, MACHINE, PASSES = "refused for its form or a budget", "by the machine", "passes"


@dataclass(frozen=True)
class Row:
    """A plan: what checks say of it, and what fabsim makes of it if no form or budget is wrong;
    `error` is an exception of a check's."""

    part: str
    subject: str
    kind: str
    what: str
    codes: tuple[str, ...] = ()
    says: str = ""
    fabsim: str = ""
    error: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """Who refuses it."""
        if set(self.codes) - OF_MACHINE:
            return FORM
        return MACHINE if self.codes else PASSES

    @property
    def is_wrong(self) -> bool:
        """Whether the gate stays shut."""
        if self.error:
            return True
        if self.part == "right":
            return bool(self.codes)
        return self.verdict == PASSES and self.fabsim not in (RIGHT, SAME, "")


# What checks say.


def judged(row: Row, check: Callable[[], Iterable[Diagnostic]]) -> Row:
    """The row with what a check finds, within `SECONDS`."""
    began, codes, says, error = perf_counter(), (), "", ""
    try:
        with _limited():
            found = list(check())
        codes = tuple(sorted({problem.code for problem in found}))
        says = found[0].message if found else ""
    except Exception as problem:  # whatever it is, it is told with the plan
        error = _told(problem)
    spent = perf_counter() - began
    return replace(row, codes=codes, says=says, error=error, seconds=spent)


@contextmanager
def _limited() -> Iterator[None]:
    """What takes longer than `SECONDS` raises TimeoutError."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def _told(problem: BaseException) -> str:
    """An exception and where it was raised."""
    at = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__}: {problem} ({Path(at.filename).name}:{at.lineno})"


# Plans that are right.


def right_plans(points: int, up_to: int) -> list[tuple[str, Callable[[], ProgramPlan]]]:
    """Plans by name, each to be made when it is asked for; those of the sweep every `points`-th."""
    found: list[tuple[str, Callable[[], ProgramPlan]]] = []
    for path, target in product(EXAMPLES, (None, *TARGETS)):
        found.append((f"{path.relative_to(ROOT)} {target}", partial(_example, path, target)))
    known = sweep.read_table(sweep.TABLE)
    verified = [
        one
        for one in sweep.combinations(sweep.PES, sweep.LENGTHS)
        if one in known
        and known[one].verdict == sweep.VERIFIED
        and one.pes <= up_to
        and sweep.patterns()[one.pattern].kind is not Kind.EXAMPLE
    ]
    random.Random(0).shuffle(verified)
    for one in verified[::points]:
        name = f"{one.pattern} {one.target} P={one.pes} B={one.length}"
        found.append((name, partial(_point, one)))
    for number in range(0, 40 * PROGRAMS, max(points // 4, 1) * 10):
        found.append((f"random program {number}", partial(_random, number)))
        found.append((f"random program on parts {number}", partial(_on_parts, number)))
        found.append((f"text point {number}", partial(_text_point, number)))
    return found


def _example(path: Path, target: str | None) -> ProgramPlan:
    return compile_text(path.read_text(encoding="utf-8"), path.name, {}, target).program


def _point(one: Combination) -> ProgramPlan:
    pattern = sweep.patterns()[one.pattern]
    order = sweep.order_of(pattern, one)
    contract = sweep.contract_of(one.pattern)
    choice, _, _ = instance(pattern, contract, one.pes, one.length, order=order, target=one.target)
    return compile_text(choice.text, choice.use, choice.parameters, one.target).program


def _random(number: int) -> ProgramPlan:
    return planned(test_random_programs.random_program(random.Random(number)))[1]


def _on_parts(number: int) -> ProgramPlan:
    text = test_random_parts.random_program(random.Random(number))
    return compile_text(text, "random.coll", {}).program


def _text_point(number: int) -> ProgramPlan:
    return compile_text(text_point(number).text, "random.coll", {}).program


def right(given: tuple[str, Callable[[], ProgramPlan]]) -> list[Row]:
    """What the machine says of a plan that is right."""
    name, make = given
    row = Row("right", name, "right", "")
    try:
        plan = make()
    except CollcError:
        return []
    told = judged(row, partial(follow, plan, schedules_of(plan)))
    if told.codes or told.error:
        return [told]
    try:
        with _limited():
            problem = order_decides(plan)
    except Exception as error:
        return [replace(told, error=_told(error))]
    return [replace(told, codes=("order",), says=problem) if problem else told]


def order_decides(plan: ProgramPlan) -> str:
    """What depends on the order in which the machine goes on, in words; empty if nothing does."""
    calls = called(plan)
    due = schedules_of(plan)
    first = [begin(due[k], cuts(plan.plans[k]), n) for n, k in enumerate(calls)]
    wanted = run(plan, first, calls=calls)
    for order in range(ORDERS):
        found = run(plan, first, order=order, calls=calls)
        for call, (one, other) in enumerate(zip(wanted.held, found.held, strict=True)):
            if (one != other).any():
                return f"order {order} leaves something else behind call {call}"
        if found.faults:
            return f"order {order}: {found.faults[0].text}"
    return ""


# Mutants.


@cache
def _subject(number: int) -> Subject:
    return list(judging.makers())[number]()


def mutants(given: tuple[int, int, int, int]) -> list[Row]:
    """Every `every`-th mutant of a plan from `first` on, of which every `parts`-th."""
    number, every, first, parts = given
    subject = _subject(number)
    chosen = islice(subject.mutants(subject.plan), first * every, None, every * parts)
    rows = []
    for mutant in chosen:
        row = Row("mutants", subject.name, mutant.kind.value, mutant.what)
        row = judged(row, partial(subject.check, mutant.changed))
        if row.verdict != FORM:
            row = replace(row, fabsim=on_fabsim(subject, mutant))
        rows.append(row)
    return rows


def on_fabsim(subject: Subject, mutant: Any) -> str:
    """What fabsim makes of a mutant that no check has seen, with PEs that begin at once and, if
    that is right, with some that begin late."""
    if _same_text(subject, mutant):
        return SAME
    found = ""
    for late in ("", *(f"--late-starts {cycles}:{seed}" for cycles, seed in LATE)):
        os.environ["FABSIM_OPTIONS"] = late
        try:
            with _limited():
                found = judging.without_checks(subject, mutant)
        except TimeoutError:
            found = "still running after a minute"
        finally:
            del os.environ["FABSIM_OPTIONS"]
        if found != RIGHT:
            return f"{found} ({late})" if late else found
    return found


def _same_text(subject: Subject, mutant: Any) -> bool:
    """Whether the change is in nothing that is written."""
    try:
        both = [subject.texts(plan) for plan in (subject.plan, mutant.changed)]
    except Exception:  # as judging.without_checks
        return False
    return judging.without_comments(both[0]) == judging.without_comments(both[1])


# Times.

LARGE = {
    "snake of 65,280 PEs": "grid g = 256 x 255 collective c = reduce(x: f32[4], add) on g "
    "{ order snake reduce two_phase(S = 256) to 0 } program { c }",
    "ring on 750 PEs": "grid g = 750 x 1 collective c = allreduce(x: f32[1500], add) on g "
    "{ order ring run ring_allreduce } program { c }",
    "all_to_all on 512 PEs": "grid g = 512 x 1 collective c = all_to_all(x: f32[512]) on g "
    "{ run linear_all_to_all } program { c }",
}


def times(name: str) -> list[Row]:
    """Seconds for two calls of a large plan, without the check around them."""
    plan = compile_text(f"target wse2 {LARGE[name]}\n", "large.coll", {}).plans[0]
    bounds = cuts(plan)
    (due,) = schedules_of(plan)
    first = [begin(due, bounds, call) for call in (0, 1)]
    began = perf_counter()
    found = run(plan, first)
    spent = perf_counter() - began
    row = judged(Row("times", name, "", f"{found.events} events"), partial(follow, plan, [due]))
    return [replace(row, says=f"run {spent:.2f} s, check {row.seconds:.2f} s; {row.says}")]


# The table.


def table(rows: Sequence[Row]) -> Iterator[str]:
    """What the rows come to."""
    of_right = [row for row in rows if row.part == "right"]
    if of_right:
        wrong = [row for row in of_right if row.is_wrong]
        yield f"right plans: {len(of_right)}, refused or with an order that decides: {len(wrong)}"
    some = [row for row in rows if row.part == "mutants"]
    if some:
        yield from ("", f"mutants: {len(some)}", "")
        yield from _counted(some)
    for row in (row for row in rows if row.part == "times"):
        yield f"{row.subject}: {row.what}, {row.says}"


def _counted(rows: Sequence[Row]) -> Iterator[str]:
    heads = (FORM, MACHINE, PASSES)
    yield f"| change | {' | '.join(heads)} | of the machine's right on fabsim | wrong |"
    yield "|---" * (len(heads) + 3) + "|"
    for name in [*dict.fromkeys(row.kind for row in rows), "all"]:
        some = [row for row in rows if name in ("all", row.kind)]
        counts = Counter(row.verdict for row in some)
        fits = sum(row.verdict == MACHINE and row.fabsim in (RIGHT, SAME) for row in some)
        cells = (*(counts[head] for head in heads), fits, sum(row.is_wrong for row in some))
        yield f"| {name} | {' | '.join(map(str, cells))} |"


def differences(rows: Sequence[Row]) -> Iterator[str]:
    """What is wrong, or refused by the machine and right on fabsim, one by one."""
    for row in rows:
        strict = row.verdict == MACHINE and row.fabsim == RIGHT
        if row.is_wrong or strict:
            yield (
                f"{'WRONG' if row.is_wrong else 'strict'}: {row.part}: {row.subject}: "
                f"{_short(row.what)}: {' '.join(row.codes) or row.error or '-'} "
                f"({_short(row.says, 300)}){f', fabsim: {row.fabsim}' if row.fabsim else ''}"
            )


def _short(text: str, most: int = 160) -> str:
    """A text without the numbers of a plan that are as they nearly always are."""
    text = re.sub(r", (modulus|every|divisor|slope|table)=(0|1|\(\))", "", text)
    return text if len(text) <= most else f"{text[:most]} ..."


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="look at one mutant in so many")
    parser.add_argument("--points", type=int, default=20, help="and at one point in so many")
    parser.add_argument("--up-to", type=int, default=64, help="the most PEs of a point")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    every_plan = range(len(list(judging.makers())))
    parser.add_argument(
        "--plans", type=int, nargs="+", default=every_plan, help="numbers of the plans changed"
    )
    parts = ("right", "mutants", "times")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="which parts")
    return parser.parse_args()


def main() -> int:
    """Run all parts, print the tables and what differs."""
    options, rows = arguments(), list[Row]()
    parts: dict[str, tuple[Callable[[Any], list[Row]], list[Any]]] = {
        "right": (right, right_plans(options.points, options.up_to)),
        "mutants": (
            mutants,
            [
                (number, options.every, first, 4)
                for number, first in product(options.plans, range(4))
            ],
        ),
        "times": (times, list(LARGE)),
    }
    for name in options.only:
        work, given = parts[name]
        began = perf_counter()
        with Pool(1 if name == "times" else options.jobs) as pool:
            for number, some in enumerate(pool.imap_unordered(work, given), 1):
                rows += some
                for line in differences(some):
                    print(line, flush=True)
                if number % 50 == 0:
                    print(f"{name}: {number} of {len(given)}", flush=True)
        print(f"{name}: {perf_counter() - began:.0f} s", flush=True)
    print("\n".join(table(rows)))
    return int(any(row.is_wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
