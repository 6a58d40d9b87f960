"""The blind test of the probes: fabsim with five constants and two rules changed takes the place of
a tool nobody knows, and the survey has to find out what is changed.

    python tests/blind.py [--seeds 20] [--each]

`--each` switches every rule off by itself, too, instead of two at random.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass

import fabsim
from collc.probe.decide import Verdict, decide
from collc.probe.fabsim import Fabsim
from collc.probe.model import Model
from collc.probe.program import ARCHS, programs
from collc.probe.survey import RuleReport, Survey, survey

CONSTANTS, RULES = 5, 2
_STEPS = (-2, -1, 1, 2, 3)


@dataclass(frozen=True)
class Unknown:
    """A machine: its constants, by architecture, and the rules that do not hold on it."""

    tables: dict[str, dict[str, int]]
    changed: dict[str, set[str]]
    rules_off: tuple[str, ...]

    @property
    def tool(self) -> Fabsim:
        return Fabsim(self.tables, self.rules_off)


def unknown(seed: int, rules: int = RULES) -> Unknown:
    """A machine with five constants of each architecture and two rules changed, out of all."""
    rng = random.Random(seed)
    off = rng.sample([rule for rule, _ in fabsim.switchable_rules()], rules)
    tables, changed = {}, {}
    for arch in ARCHS:
        model = Model(arch)
        table = dict(model.base)
        for name in rng.sample(model.constants, CONSTANTS):
            table = _changed(rng, model, table, name)
        tables[arch] = table
        changed[arch] = {name for name in table if table[name] != model.base[name]}
        assert len(changed[arch]) == CONSTANTS
    return Unknown(tables, changed, tuple(off))


def _changed(rng: random.Random, model: Model, table: dict[str, int], name: str) -> dict[str, int]:
    """The table with another number that a machine can have."""
    steps = [step for step in _STEPS if table[name] + step >= 0]
    rng.shuffle(steps)
    tried = ({**table, name: table[name] + step} for step in steps)
    return next(other for other in tried if model.readings(other) is not None)


def refuted(found: Survey) -> set[str]:
    return {report.rule.number for report in found.rules if report.verdict is Verdict.REFUTED}


def problems(machine: Unknown, found: Survey) -> list[str]:
    """What the survey of a machine has wrong or has left out."""
    wrong = [f"{rule} is off, and not refuted" for rule in set(machine.rules_off) - refuted(found)]
    for arch in ARCHS:
        fit, table = found.timing[arch].fit, machine.tables[arch]
        assert fit is not None
        for name, (value, _) in fit.determined.items():
            if value != table[name]:
                wrong.append(f"{arch}: {name} is {table[name]}, found {value}")
        for equation in fit.equations:
            value = sum(by * table[name] for name, by in equation.factors.items())
            if value != equation.value:
                wrong.append(f"{arch}: {equation.factors} is {value}, found {equation.value}")
        told = {*fit.determined, *fit.untold, *fit.bounded}
        told |= {name for equation in fit.equations for name in equation.factors}
        wrong += [f"{arch}: {name} is nowhere" for name in machine.changed[arch] - told]
        exact = determined_at(arch, table)
        wrong += [
            f"{arch}: {name} is determined, and not found" for name in exact - {*fit.determined}
        ]
    return wrong


def determined_at(arch: str, table: dict[str, int]) -> set[str]:
    """The constants that some probe determines by itself, whatever the others are: with one more
    and one less of it, and of nothing else that the probe depends on, the reading is another.

    This is found without the fit: a reading that a single constant moves, or that known ones do."""
    model = Model(arch)
    straight = slopes_everywhere(model, (table, model.base))
    exact: set[str] = set()
    while True:
        left = ([c for c in row if c not in exact] for row in straight.values())
        more = {constants[0] for constants in left if len(constants) == 1}
        if not more:
            return exact
        exact |= more


def slopes_everywhere(
    model: Model, tables: tuple[dict[str, int], ...]
) -> dict[str, dict[str, int]]:
    """The readings that are the same sum of constants at all these tables, and their factors that
    are not 0."""
    kept: dict[str, dict[str, int]] = {}
    bent: set[str] = set()
    for table in tables:
        for constant in model.constants:
            for name, slopes in moves(model, table, constant).items():
                factor = kept.setdefault(name, {}).setdefault(constant, next(iter(slopes)))
                if slopes != {factor}:
                    bent.add(name)
    return {
        name: {c: by for c, by in row.items() if by}
        for name, row in kept.items()
        if name not in bent
    }


def moves(model: Model, table: dict[str, int], constant: str) -> dict[str, set[int]]:
    """By how much readings move with one more and one less of a constant, and with four more."""
    here = model.readings(table)
    assert here is not None
    found: dict[str, set[int]] = {name: set() for name in here}
    for by in (1, -1, 4):
        value = table[constant] + by
        other = model.readings({**table, constant: value}) if value >= 0 else None
        for name in here if other else ():
            found[name].add((other[name] - here[name]) // by)
    return found


def blind(seed: int) -> tuple[Unknown, Survey, list[str]]:
    """A machine, what the survey says of it, what is wrong with that."""
    machine = unknown(seed)
    found = survey(machine.tool, ARCHS)
    return machine, found, problems(machine, found)


def found_alone(rule: str) -> bool:
    """Whether the probes of a rule refute it where it alone is off."""
    tool = Fabsim(rules_off=(rule,))
    own = ((p, arch) for p in programs() if rule in p.rules for arch in p.archs)
    return any(decide(p, arch, tool, None).verdict is Verdict.REFUTED for p, arch in own)


def without_row(found: Survey) -> list[RuleReport]:
    """Rules that cannot be switched off: what they say is not tried by this test."""
    return [report for report in found.rules if fabsim.fixed_rule(report.rule.number)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Find out what is changed in fabsim.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    failed = 0
    for seed in range(options.seeds):
        machine, found, wrong = blind(seed)
        failed += bool(wrong)
        off = ", ".join(machine.rules_off)
        also = sorted(refuted(found) - set(machine.rules_off))
        print(f"seed {seed}: {off} off; also refuted: {', '.join(also) or 'nothing'}", flush=True)
        for arch, changed in machine.changed.items():
            fit = found.timing[arch].fit
            assert fit is not None
            exact = changed & {*fit.determined}
            print(f"  {arch}: {len(exact)} exact, left open: {sorted(changed - exact)}")
        for line in wrong:
            print(f"  WRONG: {line}")
    if options.each:
        missed = [rule for rule, _ in fabsim.switchable_rules() if not found_alone(rule)]
        failed += len(missed)
        count = len(fabsim.switchable_rules())
        print(f"{count} rules one by one: {', '.join(missed) or 'each is found'}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
