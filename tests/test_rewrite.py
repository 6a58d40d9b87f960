"""Values with some of their parts replaced."""

from __future__ import annotations

from dataclasses import dataclass

from collc.base.rewrite import rewritten


@dataclass(frozen=True)
class Pair:
    left: object
    right: object


def test_what_has_no_part_that_is_replaced_stays_the_value_that_it_is() -> None:
    kept = Pair(1, (2, 3))
    whole = (kept, Pair("one", kept))
    changed = rewritten(whole, lambda part: "two" if part == "one" else None)
    assert changed == (kept, Pair("two", kept))
    assert changed[0] is kept
    assert changed[1].right is kept
    assert rewritten(whole, lambda _: None) is whole
