"""How far predictions are from the simulator, over random programs: `make accuracy`.

Every point is a program chosen by its number alone. One in three is a collective of trees: a
contract, random trees, orders, an element type, an operation, a length, a limit of colors, a
target. The others are the patterns of `collc list`, on up to 256 PEs with up to 2048 elements. For
four such points there is one more, a text: a program of several calls, calls that are joined, a
length that the call gives, an operation of one's own (`tests/accuracy_programs.py`). A point is
compiled, run on fabsim, checked against NumPy, and its cycles are compared with the prediction.
Exits with 1 if a point is off by more than 2 % and `START_UP` cycles, is below a bound, or gives a
wrong result.

    python tests/accuracy.py [points] [first] [--seconds S] [--jobs N]

2060 points, from number 0 on. What has been measured is kept in build/accuracy.jsonl: the same
command goes on where it was interrupted, as long as compiler and fabsim are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

import fingerprint
from accuracy_programs import KINDS as TEXT_KINDS
from accuracy_programs import TextPoint, text_point
from with_schedules import check_plan, render, run_program

import building as b
from collc.base.diagnostics import CollcError
from collc.cost import predict
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.machine.prediction import Prediction
from collc.patterns import Kind, Pattern, all_patterns, instance
from collc.patterns.facts import contracts_of
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.run import RunError, RunReport
from collc.run.program import NOTHING_KNOWN
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import (
    BroadcastStep,
    Collective,
    ContractKind,
    ElementType,
    Operation,
    Order,
    Spec,
)
from collc.spec.arithmetic import arithmetic_of
from collc.spec.exchange import StepsPhase
from collc.target import TARGETS

PROGRESS = Path(__file__).parents[1] / "build" / "accuracy.jsonl"
START_UP = 90  # cycles that a prediction may be off besides its 2 %
MOST_WORK = 400_000  # vector elements times ranks, so that no point takes many seconds
ROW_ORDERS = (Order.WEST_TO_EAST, Order.EAST_TO_WEST)
COLUMN_ORDERS = (Order.NORTH_TO_SOUTH, Order.SOUTH_TO_NORTH)
MOST_PES, MOST_LENGTH = 256, 2048  # of a pattern
MOST_SECONDS = 180  # for a point; one that takes longer is left out
KINDS = ("trees", "exchanges", *TEXT_KINDS)
WORST = 10  # points that are printed with what may explain them
TEXTS = 1_000_000  # from this number on points are texts; for so many others there is one:
OTHERS = 4


@dataclass(frozen=True)
class Point:
    """A program to be measured; `about` says what it is in a line."""

    about: str
    target: str
    collective: Collective


@dataclass(frozen=True)
class PatternPoint:
    """A pattern to be measured on `pes` PEs with `length` elements."""

    about: str
    target: str
    pattern: str
    pes: int
    length: int
    order: str


AnyPoint = Point | PatternPoint | TextPoint


@dataclass(frozen=True)
class Outcome:
    """What a point gave; `fault` is empty when the result is right and within the bounds. `why`
    says what the program is made of, for whoever looks for the reason of an error."""

    about: str
    cycles: int
    predicted: int
    fault: str
    kind: str = "trees"
    why: str = ""

    @property
    def off(self) -> int:
        """Predicted less simulated cycles."""
        return self.predicted - self.cycles

    @property
    def is_good(self) -> bool:
        """Whether result, bound and prediction are as they should be."""
        return not self.fault and abs(self.off) <= 0.02 * self.cycles + START_UP


def point(number: int) -> Point:
    """The program with this number."""
    pick = random.Random(number)
    target = pick.choice(sorted(TARGETS))
    shape = pick.choice(("line", "line", "line", "line allreduce", "grid", "broadcast"))
    element = pick.choice((*ElementType, ElementType.F32, ElementType.F32))
    able = [one for one in Operation if one.combines(element)]
    operation = pick.choice((*able, able[0]))
    colors = pick.choice((None, None, 2, 3))
    make = {"grid": _grid, "broadcast": _broadcast}.get(shape, _line)
    about, made = make(pick, shape)
    contract = replace(made.contract, element=element)
    if contract.operation is not None:
        contract = replace(contract, operation=operation)
    limits = replace(made.limits, colors=colors, colors_span=b.HERE if colors else None)
    if shape != "line":
        limits = made.limits
    if contract.length * element.bytes > 40_000:
        contract = replace(contract, length=40_000 // element.bytes)
    made = replace(made, contract=contract, limits=limits)
    words = f"{element.value} {operation.value} B={contract.length} colors={limits.colors}"
    return Point(f"{number} {target} {about} {words}", target, made)


def any_point(number: int) -> AnyPoint:
    """One of three collectives of trees, two of three patterns; texts from `TEXTS` on."""
    if number >= TEXTS:
        return text_point(number - TEXTS)
    return pattern_point(number) if number % 3 else point(number)


def pattern_point(number: int) -> PatternPoint:
    """The pattern with this number."""
    pick = random.Random(f"pattern {number}")
    target = pick.choice(sorted(TARGETS))
    pattern = pick.choice(sorted(patterns()))
    pes = round(2 * (MOST_PES / 2) ** pick.random())
    length = round(min(MOST_LENGTH, MOST_WORK / pes) ** pick.random())
    ordered = patterns()[pattern].kind is Kind.ALGORITHM
    order = pick.choice(("west_to_east", "ring")) if ordered else ""
    about = f"{number} {target} {pattern} {order} P={pes} B={length}"
    return PatternPoint(about, target, pattern, pes, length, order)


@lru_cache(maxsize=1)
def patterns() -> dict[str, Pattern]:
    return {pattern.name: pattern for pattern in all_patterns()}


@lru_cache
def contract_of(name: str) -> ContractKind:
    return contracts_of(patterns()[name])[0]


def _length(pick: random.Random, ranks: int) -> int:
    """Log-uniform from 1 to 3000, less for many ranks."""
    most = min(3000, MOST_WORK // ranks)
    return round(float(most) ** pick.random())


def _tree(pick: random.Random, ranks: int, seed: int) -> tuple[str, b.Children]:
    """A tree over `ranks` ranks, and its name."""
    kind = pick.choice(("random", "random", "chain", "star", "binomial", "two_phase"))
    if kind == "random":
        return f"random({ranks}, {seed})", b.random_tree(ranks, seed)
    if kind == "two_phase":
        group = min(ranks, round(float(ranks) ** pick.random()))
        return f"two_phase({ranks}, {group})", b.two_phase(ranks, group)
    named = {"chain": b.chain, "star": b.star, "binomial": b.binomial}
    return f"{kind}({ranks})", named[kind](ranks)


def _line(pick: random.Random, shape: str) -> tuple[str, Collective]:
    """A row or a column, reduced or also broadcast."""
    ranks = pick.randint(2, 60) if pick.random() < 0.7 else round(512 ** pick.uniform(0.5, 1))
    name, tree = _tree(pick, min(ranks, 512), pick.randrange(10**6))
    if name.startswith("random") and ranks > 60:
        name, tree = _tree(pick, 60, pick.randrange(10**6))
    ranks = len(tree)
    order = pick.choice((*ROW_ORDERS, *COLUMN_ORDERS))
    width, height = (ranks, 1) if order in ROW_ORDERS else (1, ranks)
    steps = [b.reduce_step(tree, order)]
    kind = ContractKind.REDUCE
    if shape == "line allreduce":
        kind = ContractKind.ALLREDUCE
        end = 0 if order in (Order.WEST_TO_EAST, Order.NORTH_TO_SOUTH) else ranks - 1
        steps.append(BroadcastStep(*((end, 0) if height == 1 else (0, end)), b.HERE))
    about = f"{kind.value} {name} {order.value}"
    return about, b.collective(width, height, steps, kind, _length(pick, ranks))


def _grid(pick: random.Random, shape: str) -> tuple[str, Collective]:
    """A grid, reduced by columns then the row or the other way round, half of them broadcast."""
    width, height = pick.randint(2, 24), pick.randint(2, 24)
    row_name, rows = _tree(pick, width, pick.randrange(10**6))
    column_name, columns = _tree(pick, height, pick.randrange(10**6))
    row_order, column_order = pick.choice(ROW_ORDERS), pick.choice(COLUMN_ORDERS)
    steps = [b.reduce_step(columns, column_order), b.reduce_step(rows, row_order)]
    names = [f"{column_name} {column_order.value}", f"{row_name} {row_order.value}"]
    if pick.random() < 0.3:
        steps.reverse()
        names.reverse()
    kind = ContractKind.REDUCE
    if pick.random() < 0.5:
        kind = ContractKind.ALLREDUCE
        x = 0 if row_order is Order.WEST_TO_EAST else width - 1
        y = 0 if column_order is Order.NORTH_TO_SOUTH else height - 1
        steps.append(BroadcastStep(x, y, b.HERE))
    about = f"{kind.value} " + " then ".join(names)
    length = _length(pick, 4 * width * height)
    return about, b.collective(width, height, steps, kind, length)


def _broadcast(pick: random.Random, shape: str) -> tuple[str, Collective]:
    """A broadcast over a line or a grid."""
    width, height = pick.choice(((pick.randint(2, 400), 1), (pick.randint(2, 30),) * 2, (1, 99)))
    x, y = pick.randrange(width), pick.randrange(height)
    length = _length(pick, width * height)
    return f"broadcast {width} x {height} from {x}, {y}", b.broadcast(width, height, x, y, length)


def simulate(schedule: Schedule, plan: Plan, prediction: Prediction) -> RunReport:
    """Emit a plan, and run that."""
    spec = Spec("test.coll", plan.target.name, (), (schedule.collective,))
    files = render(spec, of_one_call(plan), prediction, tuple(TARGETS))
    return run_program(files, of_one_call(plan), plan.target.name, seed=1)


def measure(chosen: AnyPoint) -> Outcome | None:
    """Compile and run a point; None if the machine has too little of something for it, or it is not
    made for so many PEs."""
    if isinstance(chosen, TextPoint):
        return _measured_text(chosen)
    try:
        schedule = _schedule(chosen)
    except CollcError:
        return None
    plan = build_plan(schedule, TARGETS[chosen.target])
    if check_plan(plan):
        return None
    prediction = predict(plan)
    kind, why = _explained(schedule, plan, prediction)
    try:
        report = simulate(schedule, plan, prediction)
    except CollcError:
        return None
    except RunError as error:
        fault = f"the run failed: {str(error).splitlines()[0]}"
        return Outcome(chosen.about, prediction.cycles, prediction.cycles, fault, kind, why)
    fault = report.problem
    for bound in (prediction.bound, prediction.tree_bound or 0):
        if report.cycles < bound:
            fault = f"bound {bound} is above"
    return Outcome(chosen.about, report.cycles, prediction.cycles, fault, kind, why)


def _measured_text(chosen: TextPoint) -> Outcome | None:
    """The same of a text; a program that compares nothing is as good as one that is refused."""
    try:
        bundle = compile_text(chosen.text, "point.coll", {}, None)
    except CollcError:
        return None
    predicted = bundle.predicted(chosen.lengths).cycles
    try:
        report = bundle.run(lengths=chosen.lengths or None)
    except RunError as error:
        fault = f"the run failed: {str(error).splitlines()[0]}"
        return Outcome(chosen.about, predicted, predicted, fault, chosen.kind)
    if report.problem == NOTHING_KNOWN:
        return None
    calls = len(bundle.program.program.turns)
    return Outcome(
        chosen.about, report.cycles, predicted, report.problem, chosen.kind, f"{calls} calls"
    )


def _schedule(chosen: Point | PatternPoint) -> Schedule:
    if isinstance(chosen, Point):
        return build_schedule(chosen.collective)
    pattern = patterns()[chosen.pattern]
    contract, sizes = contract_of(chosen.pattern), (chosen.pes, chosen.length)
    _, _, schedule = instance(pattern, contract, *sizes, order=chosen.order, target=chosen.target)
    return with_tokens(schedule)


def _explained(schedule: Schedule, plan: Plan, prediction: Prediction) -> tuple[str, str]:
    """What runs: "exchanges" or "trees", and the words for each phase."""
    contract = schedule.collective.contract
    arithmetic = arithmetic_of(contract.element, contract.operation).kind
    words = [] if arithmetic == "dsd" else [f"operations by {arithmetic}"]
    waits = {
        path.phase: Counter(wait.what for wait in path.waits) for path in prediction.critical_path
    }
    for pattern, phase in zip(schedule.phases, plan.phases, strict=True):
        if isinstance(pattern, StepsPhase):
            lanes = len(phase.lanes)
            words.append(f"{phase.name}: {len(pattern.steps)} steps on {lanes} lanes")
        else:
            found = ", ".join(f"{n} {what}" for what, n in waits.get(phase.name, {}).items())
            words.append(f"{phase.name} waits for {found}")
    exchanges = any(isinstance(phase, StepsPhase) for phase in schedule.phases)
    return "exchanges" if exchanges else "trees", "; ".join(words)


def statistics(outcomes: Sequence[Outcome]) -> str:
    """The deviations in a few lines: in cycles and in parts of the simulated cycles."""
    cycles = sorted(abs(outcome.off) for outcome in outcomes)
    parts = sorted(abs(outcome.off) / outcome.cycles for outcome in outcomes)
    beyond = max(abs(outcome.off) - 0.02 * outcome.cycles for outcome in outcomes)
    exact = sum(outcome.off == 0 for outcome in outcomes)

    def at(share: float) -> int:
        return min(len(cycles) - 1, int(share * len(cycles)))

    lines = [f"{len(outcomes)} points, {exact} predicted exactly"]
    for name, share in (("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("worst", 1.0)):
        lines.append(f"  {name:<7} {cycles[at(share)]:>5} cycles  {100 * parts[at(share)]:6.2f} %")
    return "\n".join([*lines, f"  beyond 2 %: at most {beyond:.0f} cycles"])


def worst(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The points that are off most, as rows of a table, the start-up allowed for."""
    yield "| point | simulated | predicted | off | what runs |"
    yield "|---|---|---|---|---|"
    ranked = sorted(outcomes, key=lambda one: (START_UP - abs(one.off)) / one.cycles)
    for one in ranked[:WORST]:
        part = 100 * one.off / one.cycles
        yield (
            f"| {one.about} | {one.cycles} | {one.predicted} | {one.off:+} ({part:+.1f} %) "
            f"| {one.why} |"
        )


def _in_time(number: int) -> tuple[int, Outcome | None, bool]:
    """A point's outcome, and whether there was time for it."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(MOST_SECONDS)
    try:
        return number, measure(any_point(number)), True
    except TimeoutError:
        return number, None, False
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError


@dataclass(frozen=True)
class Measured:
    """What became of the point with this number; no outcome if it was refused, or not in time."""

    number: int
    outcome: Outcome | None
    in_time: bool


def known(mark: str) -> dict[int, Measured]:
    """What has been measured by the compiler and the simulator with this fingerprint."""
    if not PROGRESS.exists():
        return {}
    first, *lines = PROGRESS.read_text(encoding="utf-8").split("\n")[:-1] or [""]
    if first != mark:
        return {}
    rows = [json.loads(line) for line in lines]
    return {
        number: Measured(number, Outcome(**outcome) if outcome else None, in_time)
        for number, outcome, in_time in rows
    }


def measured(numbers: Sequence[int], seconds: float, jobs: int) -> Iterator[Measured]:
    """The points with these numbers, as far as they get in so many seconds."""
    mark, began = fingerprint.of_tools(), perf_counter()
    before = known(mark)
    missing = [number for number in numbers if number not in before]
    yield from (before[number] for number in numbers if number in before)
    PROGRESS.parent.mkdir(exist_ok=True)
    if not before:
        PROGRESS.write_text(mark + "\n", encoding="utf-8")
    with PROGRESS.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        for count, found in enumerate(pool.map(_in_time, missing, chunksize=4), 1):
            number, outcome, in_time = found
            row = [number, asdict(outcome) if outcome else None, in_time]
            file.write(json.dumps(row) + "\n")
            file.flush()
            yield Measured(number, outcome, in_time)
            spent = perf_counter() - began
            if count % 100 == 0:
                print(f"{count} of {len(missing)} in {spent:.0f} s", flush=True)
            if spent > seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                return


def report(found: Sequence[Measured]) -> bool:
    """Print the points that are off, the statistics and the worst; whether all are good."""
    outcomes = [one.outcome for one in found if one.outcome]
    for outcome in outcomes:
        if not outcome.is_good:
            told = outcome.fault or "prediction is off"
            print(f"{outcome.about}: {outcome.cycles}, predicted {outcome.predicted}  {told}")
    for kind in KINDS:
        held = [outcome for outcome in outcomes if outcome.kind == kind]
        print(f"{kind}: {statistics(held)}" if held else f"{kind}: none")
    print(f"all: {statistics(outcomes)}")
    print("\n".join(worst(outcomes)))
    slow = [one.number for one in found if not one.in_time]
    refused = len(found) - len(outcomes) - len(slow)
    print(f"{len(found)} tried, {refused} refused, {len(slow)} took too long: {slow}")
    return all(outcome.is_good for outcome in outcomes)


def main() -> int:
    """Measure the points and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=2060)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    end = options.first + options.count
    texts = range(TEXTS + options.first, TEXTS + options.first + options.count // OTHERS)
    numbers = [*range(options.first, end), *texts]
    good = report(list(measured(numbers, options.seconds, options.jobs)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
