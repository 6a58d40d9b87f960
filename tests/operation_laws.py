"""Which operations the compiler takes for lawful: families of those that are, and of those that
break a law by a constant, a sign, a threshold, an exponent or a condition.

    python tests/operation_laws.py [--all]

prints a line for each family: how many operations it has, how many are refused, and how long the
slowest took; then each that is judged wrongly. Exits with 1 if there is one. `--all` prints what is
said of each that is refused.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import product
from time import perf_counter

import numpy as np
from operation_families import Case, lawful, unlawful

from collc.base.diagnostics import Diagnostic
from collc.language.expressions import Scope
from collc.language.operations import own_operation
from collc.language.parser import parse_text
from collc.language.problems import ProblemError
from collc.spec import OwnOperation
from collc.spec.formula import DTYPE_OF_NUMBER, FLOATS, evaluate

_SMALL = (0, 1, 2, 3, 7, 20)
_APART = 1e-5  # of the largest number: no rounding explains it


def declared(case: Case, assumed: str = "") -> OwnOperation:
    """The operation of a case, or `ProblemError`; with `assumed` it is not looked at."""
    text = case.text.replace("commutative ", "").replace(" = ", f" {assumed} = ", 1)
    (declaration,) = parse_text("operation_laws.coll", f"{text if assumed else case.text}\n")
    return own_operation(declaration, Scope({}))  # type: ignore[arg-type]


def refusal(case: Case) -> Diagnostic | None:
    """What the compiler says of an operation."""
    try:
        declared(case)
    except ProblemError as error:
        return error.diagnostic
    return None


def breaks_among_its_numbers(case: Case) -> bool:
    """Whether a law fails for operands among the case's own numbers and small ones."""
    formula = declared(case, "assume associative").formula
    signs = (1, -1) if case.element[0] != "u" else (1,)
    numbers = [*case.witness, *(sign * n for n in _SMALL for sign in signs)]
    wide = np.array(numbers, np.float64 if case.element in FLOATS else np.int64)
    pool = wide.astype(DTYPE_OF_NUMBER[case.element])
    a, b, c = (np.array(column) for column in zip(*product(pool, repeat=3), strict=True))
    with np.errstate(all="ignore"):
        sides = [
            (
                evaluate(formula, evaluate(formula, a, b), c),
                evaluate(formula, a, evaluate(formula, b, c)),
            )
        ]
        if case.commutative:
            sides.append((evaluate(formula, a, b), evaluate(formula, b, a)))
    return any(_apart(left, right, (a, b, c)) for left, right in sides)


def _apart(left: np.ndarray, right: np.ndarray, given: tuple[np.ndarray, ...]) -> bool:
    if left.dtype.kind != "f":
        return bool((left != right).any())
    sizes = [np.abs(values.astype(np.float64)) for values in (*given, left, right)]
    with np.errstate(all="ignore"):
        apart = np.abs(left.astype(np.float64) - right) > _APART * np.max(sizes, axis=0)
    return bool((apart & np.isfinite(left) & np.isfinite(right)).any())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="print what is said of each")
    everything = parser.parse_args().all
    wrong = 0
    for title, cases, broken in (("unlawful", unlawful(), True), ("lawful", lawful(), False)):
        count, refused, slowest, total = Counter[str](), Counter[str](), Counter[str](), 0.0
        print(f"{title}: {len(cases)} operations")
        for case in cases:
            if breaks_among_its_numbers(case) != broken:
                print(f"  the family is wrong: {case.text}")
                wrong += 1
            begin = perf_counter()
            said = refusal(case)
            took = 1000 * (perf_counter() - begin)
            total += took
            count[case.family] += 1
            refused[case.family] += said is not None
            slowest[case.family] = max(slowest[case.family], round(took))
            if (said is not None) != broken:
                wrong += 1
                print(f"  {'accepted' if broken else 'refused'}: {case.text}")
            if said is not None and (everything or not broken):
                print(f"    {said.message}")
        for family, number in count.items():
            print(f"  {family:24} {number:4} refused {refused[family]:4}  {slowest[family]:4} ms")
        print(
            f"  {sum(refused.values())} of {len(cases)} refused, {total / len(cases):.1f} ms each"
        )
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
