"""The warning about vectors that wait for each other, and its silence where it would be idle."""

from __future__ import annotations

import re

import pytest

from collc.driver.pipeline import compile_text
from collc.language.render import render

TEXT = """target {target}
grid row = {pes} x 1
collective total = reduce(x: f32[{length}], add) on row {{ reduce {tree} to 0 }}
program {{ total }}
"""


def compiled(tree: str, pes: int, length: int, target: str = "wse2"):
    text = TEXT.format(tree=tree, pes=pes, length=length, target=target)
    return compile_text(text, "f.coll", {})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("tree", ["two_phase(S = 4)", "star", "binomial"])
def test_a_wait_is_told_with_what_avoids_it(tree: str, target: str) -> None:
    bundle = compiled(tree, 64, 256, target)
    (warning,) = bundle.warnings
    assert warning.code == "C801" and warning.at is not None
    cycles = int(re.search(r"waits (\d+) cycles", warning.message)[1])
    better, own = map(int, re.search(r"take (\d+) cycles instead of (\d+)", warning.help).groups())
    assert own == bundle.prediction.cycles and cycles < own
    assert compiled("optimal", 64, 256, target).prediction.cycles == better < own
    shown = render(warning, {})
    assert shown.startswith(f"f.coll:3:54: warning[C801]: in `{tree}` the vector of rank ")


@pytest.mark.parametrize(
    ("tree", "pes", "length"),
    [
        ("chain", 64, 256),  # nothing waits
        ("optimal", 64, 256),
        ("star", 64, 1),  # vectors wait, but no tree is much faster
        ("binomial", 2, 256),
        ("chain", 1, 256),
    ],
)
def test_nothing_is_said_where_nothing_is_to_be_won(tree: str, pes: int, length: int) -> None:
    assert compiled(tree, pes, length).warnings == ()


@pytest.mark.parametrize(
    ("collective", "told"),
    [  # the farthest vector is the last one of a star, or of the side that it is the tree of
        ("reduce({x}) on row {{ reduce star to 0 }}", "in `star` the vector of rank 15 {for_} 0 "),
        ("reduce({x}) on row {{ reduce star to 7 }}", "in `star` the vector of rank 0 {for_} 7 "),
        ("reduce({x}) on row {{ reduce star to 8 }}", "in `star` the vector of rank 15 {for_} 8 "),
        (
            "reduce({x}) on row {{ order east_to_west reduce star to 7 }}",
            "in `star` the vector of rank 0 {for_} 7 ",
        ),
        (
            "reduce({x}) on row {{ reduce star, chain to 8 }}",
            "in `star` the vector of rank 0 {for_} 7 ",
        ),
        (
            "reduce({x}) on pes {{ reduce columns by chain then reduce row by star to 3 }}",
            "in `star` along row 0 the vector of rank 10 {for_} 4 ",
        ),
        (
            "reduce({x}) on pes {{ reduce rows by star to 3 then reduce column by chain }}",
            "in `star` along each row the vector of rank 10 {for_} 4 ",
        ),
        ("reduce({x}) on pes {{ order snake reduce star }}", "in `star` the vector of rank 32 "),
    ],
)
def test_ranks_are_those_of_the_line_whatever_the_root(collective: str, told: str) -> None:
    """Each side of a root within the line is a phase by itself, which has ranks of its own."""
    text = "target wse2 grid row = 16 x 1 grid pes = 11 x 3 collective total = "
    text += collective.format(x="x: f32[1024], add") + " program { total }"
    (warning,) = compile_text(text, "f.coll", {}).warnings
    found = re.sub(r"waits \d+ cycles for rank", "{for_}", warning.message)
    assert found.startswith(told), warning.message
    assert "reduce_2" not in warning.message


GRID = """target wse2
grid pes = {size}
collective total = allreduce(x: f32[100], add) on pes {{
{steps}
then broadcast from (0, 0)
}}
program {{ total }}
"""


@pytest.mark.parametrize(
    ("size", "steps"),
    [
        (
            "32 x 24",
            "order north_to_south, west_to_east\n"
            "reduce columns by two_phase(S = 4) to 0\nthen reduce row by two_phase(S = 5) to 0",
        ),
        ("24 x 24", "reduce rows by star to 0\nthen reduce column by chain to 0"),
        ("48 x 1", "reduce star to 0"),
        ("1 x 48", "order north_to_south\nreduce binomial to 0"),
    ],
)
def test_the_help_pasted_in_place_of_the_clause_takes_what_it_promises(
    size: str, steps: str
) -> None:
    text = GRID.format(size=size, steps=steps)
    (warning,) = compile_text(text, "f.coll", {}).warnings
    clause, cycles = re.match(r"`(.*)` is predicted to take (\d+) cycles", warning.help).groups()
    at = warning.at
    assert at is not None and at.line == at.end_line
    lines = text.split("\n")
    line = lines[at.line - 1]
    lines[at.line - 1] = line[: at.column - 1] + clause + line[at.end_column - 1 :]
    pasted = compile_text("\n".join(lines), "f.coll", {})
    assert pasted.prediction.cycles == int(cycles)
