"""Operations that depend on the order of their operands: what keeps it, and what does not."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import prove_text

PROGRAM = """
target wse2
grid tile = {width} x {height}
operation second(a, b: i32){word} = b
{more}
collective total = {kind}(x: i32[24], second) on tile {{ {steps} }}
program {{ total }}
"""


def codes(steps, kind="reduce", width=6, height=1, word="", more=""):
    values = {"width": width, "height": height, "word": word, "more": more}
    try:
        prove_text(PROGRAM.format(kind=kind, steps=steps, **values), "test.coll", {})
    except CollcError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


KEEP = (
    "reduce chain to 0",
    "reduce binomial to 0",
    "order east_to_west reduce two_phase(S = 2) to 0",
    "run pipelined_reduce(c = 3)",
    "order ring run pipelined_reduce(c = 3)",
    "run forwards",
)

# each rank combines what it has with what follows; all others come the wrong way round
MORE = """
algorithm forwards(n) { step s in 1 .. n - 1 { each r where r == n - s : r => r - 1 } }
algorithm past(n) {
    step { each r where r == n - 1 : r => 0 }
    step s in 2 .. n - 1 { each r where r == n - s : r => 0 }
}
"""


@pytest.mark.parametrize("steps", KEEP)
def test_what_combines_in_the_order_of_ranks_is_accepted(steps):
    assert codes(steps, more=MORE) == []
    assert codes(f"{steps} then broadcast from 0", "allreduce", more=MORE) == []


@pytest.mark.parametrize("steps", ["reduce chain to 3", "reduce chain to 5", "run past"])
def test_what_does_not_is_refused_for_such_an_operation_only(steps):
    assert codes(steps, more=MORE) == ["C203"]
    assert codes(steps, word=" commutative", more=MORE) == []


def test_slices_may_go_different_ways_round_only_if_order_does_not_matter():
    assert codes("run ring_allreduce", "allreduce") == ["C203"]
    assert codes("run ring_allreduce", "allreduce", word=" commutative") == []


def test_what_nobody_is_promised_may_be_in_any_order():
    spoiled = (
        MORE
        + """
    algorithm spoiled(n) {
        run forwards(n)
        step { each r where r == 0 : r => n - 1 }
    }
    """
    )
    assert codes("run spoiled", more=spoiled) == []


def test_columns_then_rows_keep_the_order_of_both():
    both = "run columns by pipelined_reduce(c = 2) then run row by pipelined_reduce(c = 2)"
    assert codes(both, width=4, height=3) == []
    trees = "reduce columns by binomial to 0 then reduce row by star to 0"
    assert codes(trees, width=4, height=3) == []
    rings = "run columns by ring_allreduce then run rows by ring_allreduce"
    assert codes(rings, "allreduce", width=4, height=3) == ["C203"]
    assert codes(rings, "allreduce", width=4, height=3, word=" commutative") == []
