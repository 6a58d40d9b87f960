"""What the call-back of pairs takes, whose branches go by the values: from one call to the next.

Each of two PEs has one pair everywhere; which of the two is the result follows from that. All types
and both operations have one text but for what is compared, which takes longer of floats alone.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from measuring.engine import row
from measuring.traces import traced

from collc.driver.pipeline import compile_text
from collc.spec import ElementType, Operation
from collc.spec.arrays import DTYPE

LENGTH = 4
SECOND = slice(3, 6)  # the calls of the second pair, and the one behind; the first is the operation


def measured_pairs(target: str, timing: str) -> dict[str, int]:
    """The constants of pairs; AssertionError if it matters which operation it is, or which type of
    integers, or if floats make a difference elsewhere than in the call-back of values."""
    types = [element for element in ElementType if element.pair_of]
    operations = [operation for operation in Operation if operation.of_pairs]
    found = {
        (element is ElementType.F32_U32, *_measured(element, operation, target, timing))
        for element, operation in product(types, operations)
    }
    assert len(found) == len({floats for floats, *_ in found}), (
        f"pairs do not take as long: {found}"
    )
    (_, value, *index), (_, of_floats, *their_index) = sorted(found)
    assert index == their_index, f"indices of floats do not take as long as others: {found}"
    cycles = (value, of_floats - value, *index)
    return dict(zip(("pair_value", "pair_float", "pair_kept"), cycles, strict=True))


def _measured(
    element: ElementType, operation: Operation, target: str, timing: str
) -> tuple[int, int]:
    """Of a value, and of its index where the own pair is kept."""
    text = f"reduce(x: {element.value}[{LENGTH}], {operation.value}) on row"
    text = row(2, f"{text} {{ order west_to_east reduce chain to 0 }}")
    bundle = compile_text(text, "probe.coll", {}, target)
    lower, higher = (np.array((value, 0), DTYPE[element]) for value in (1, 2))
    own, better = (lower, higher) if operation is Operation.ARGMAX else (higher, lower)
    calls = []
    for received in (own, better):
        given = np.stack([np.full(LENGTH, one) for one in (own, received)])
        trace = traced(bundle, timing, given[None, None])
        calls.append(np.diff(trace.cycles(0, "code", "MAP")[SECOND]).tolist())
    (value, kept), (same, _) = calls
    assert value == same, "no branch of a value's call-back goes by which pair is the result"
    return value, kept
