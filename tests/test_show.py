from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.base.diagnostics import Diagnostic, Span
from collc.base.grids import Grid
from collc.language import parse_file, parse_source, read_source
from collc.language.limits import expectation_text
from collc.language.render import as_json, render
from collc.language.show import show_spec, show_steps
from collc.spec import (
    Algorithm,
    BroadcastStep,
    Collective,
    Contract,
    ContractKind,
    ElementType,
    Expectation,
    Limits,
    Operation,
    Order,
    Parameter,
    ReduceStep,
    Spec,
    Tree,
)
from collc.spec.custom_contract import Holdings, OwnContract
from collc.spec.exchange import Moves

NOWHERE = Span("", 0, 0, 0, 0)
BY_TREES = (ContractKind.BROADCAST, ContractKind.REDUCE, ContractKind.ALLREDUCE)
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parent.parent / "examples").glob("*.coll"))
    if "run auto" not in path.read_text()  # it has no steps before they are chosen
]


def placeless(value: object) -> object:
    """The same value with every span replaced by one."""
    if isinstance(value, Span):
        return NOWHERE
    if isinstance(value, tuple):
        return tuple(placeless(part) for part in value)
    if isinstance(value, Moves | Holdings):
        return tuple(tuple(getattr(value, field.name).tolist()) for field in fields(value))
    if isinstance(value, Algorithm | OwnContract):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return tuple((name, placeless(part)) for name, part in parts.items())
    if is_dataclass(value) and not isinstance(value, type):
        compared = [field.name for field in fields(value) if field.compare]
        return replace(value, **{name: placeless(getattr(value, name)) for name in compared})
    return value


NAMES = st.from_regex(r"[a-z]_[a-z0-9_]{0,6}", fullmatch=True)  # no word of the language has a_
HORIZONTAL = st.sampled_from((Order.WEST_TO_EAST, Order.EAST_TO_WEST))
VERTICAL = st.sampled_from((Order.NORTH_TO_SOUTH, Order.SOUTH_TO_NORTH))


@st.composite
def trees(draw: st.DrawFn, ranks: int, name: str) -> Tree:
    """Any pre-order tree: every rank's parent is an ancestor of the rank before it, or that."""
    children: list[list[int]] = [[] for _ in range(ranks)]
    path = [0]
    for rank in range(1, ranks):
        path = path[: draw(st.integers(1, len(path)))]
        children[path[-1]].append(rank)
        path.append(rank)
    values = draw(st.dictionaries(NAMES, st.integers(-9, 99), max_size=2))
    inside = ", ".join(f"{word} = {value}" for word, value in values.items())
    text = f"{name}({inside})" if inside else name
    return Tree(text, tuple(map(tuple, children)), NOWHERE)


@st.composite
def expectations(draw: st.DrawFn) -> Expectation:
    quantity = draw(st.sampled_from(("cycles", "colors", "memory_bytes")))
    relation = draw(st.sampled_from(("<", "<=", ">", ">=", "==", "!=")))
    factor = draw(st.floats(0, 1e300, allow_nan=False).map(abs) | st.integers(0, 10**9).map(float))
    times_bound = draw(st.booleans())
    text = expectation_text(quantity, relation, factor, times_bound)
    return Expectation(quantity, relation, factor, times_bound, text, NOWHERE)


@st.composite
def reductions(draw: st.DrawFn, width: int, height: int) -> tuple[ReduceStep, ...]:
    first, second = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
    steps = []
    if height > 1:
        steps.append(ReduceStep(draw(VERTICAL), draw(trees(height, first)), NOWHERE))
    if width > 1:
        steps.append(ReduceStep(draw(HORIZONTAL), draw(trees(width, second)), NOWHERE))
    one = ReduceStep(draw(HORIZONTAL | VERTICAL), draw(trees(1, first)), NOWHERE)
    return tuple(steps) or (one,)


def corner(steps: tuple[ReduceStep, ...], width: int, height: int) -> tuple[int, int]:
    orders = {step.order for step in steps}
    x = width - 1 if Order.EAST_TO_WEST in orders else 0
    return x, height - 1 if Order.SOUTH_TO_NORTH in orders else 0


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """Any Spec that the language can make."""
    sizes = st.just(1) | st.integers(1, 12)
    width, height = draw(sizes), draw(sizes)
    kind = draw(st.sampled_from(BY_TREES))
    element, length = draw(st.sampled_from(ElementType)), draw(st.integers(1, 9999))
    able = [one for one in Operation if one.combines(element)]
    operation = None if kind == ContractKind.BROADCAST else draw(st.sampled_from(able))
    contract = Contract(kind, draw(NAMES), element, length, operation, NOWHERE)
    steps: tuple[ReduceStep | BroadcastStep, ...] = ()
    x, y = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
    if kind != ContractKind.BROADCAST:
        reduced = draw(reductions(width, height))
        steps, (x, y) = reduced, corner(reduced, width, height)
    if kind != ContractKind.REDUCE:
        steps = (*steps, BroadcastStep(x, y, NOWHERE))
    colors = draw(st.none() | st.integers(1, 99))
    limits = Limits(colors, None if colors is None else NOWHERE)
    expected = tuple(draw(st.lists(expectations(), max_size=3)))
    grid = Grid(draw(NAMES), width, height, NOWHERE)
    collective = Collective(draw(NAMES), contract, grid, steps, limits, expected, NOWHERE)
    numbers = st.integers(-(2**63), 2**63 - 1)
    values = draw(st.dictionaries(NAMES.map(str.upper), numbers, max_size=3))
    parameters = tuple(Parameter(name, value, NOWHERE) for name, value in values.items())
    return Spec("input.coll", draw(st.sampled_from(("wse2", "wse3"))), parameters, (collective,))


@given(specs())
def test_a_shown_spec_reads_as_the_same_spec(spec: Spec) -> None:
    assert placeless(parse_source(show_spec(spec))) == spec


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_shown_example_reads_as_the_same_spec(path: Path) -> None:
    spec = parse_file(path, read_source(path), {}, None)
    again = parse_file(path, show_spec(spec), {}, None)
    assert placeless(again) == placeless(spec)


def test_a_tree_used_for_columns_and_row_is_shown_as_one() -> None:
    text = """target wse2 tree mine(n) = star(n) grid g = 3 x 4
    collective c = reduce(x: f32[1], add) on g {
        reduce columns by mine then reduce row by mine }
    program { c }"""
    shown = show_spec(parse_source(text))
    assert "tree mine(n) = n == 4 ? 0 <- [1, 2, 3] : 0 <- [1, 2]\n" in shown
    assert placeless(parse_source(shown)) == placeless(parse_source(text))


@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("reduce", "reduce columns by chain to 2 then reduce row by star to 1"),
        ("reduce", "reduce rows by chain to 1 then reduce column by star to 2"),
        ("allreduce", "reduce rows by star to 0 then reduce column by chain to 0"),
        (
            "reduce",
            "run columns by pipelined_reduce(c = 2) to (0, 0) then reduce rows by chain to 0",
        ),
        (
            "reduce",
            "run rows by pipelined_reduce(c = 2) to (1, 2) "
            "then run column by pipelined_reduce(c = 2) to (1, 2)",
        ),
    ],
)
def test_steps_on_a_grid_are_shown_in_the_words_they_are_written_in(
    contract: str, steps: str
) -> None:
    back = " then broadcast from (0, 0)" if contract == "allreduce" else ""
    text = f"""target wse2 grid g = 3 x 4
    collective c = {contract}(x: i32[12], add) on g {{ {steps}{back} }}
    program {{ c }}"""
    spec = parse_source(text)
    assert show_steps(spec.collectives[0]) == steps + back
    lines = [line.strip().removeprefix("then ") for line in show_spec(spec).splitlines()]
    assert set((steps + back).split(" then ")) <= set(lines)


def test_a_root_that_something_is_sent_from_is_shown_so() -> None:
    text = """target wse2 grid g = 4 x 1
    collective c = scatter(x: i32[12]) on g { run linear_scatter from (0, 0) }
    program { c }"""
    assert show_steps(parse_source(text).collectives[0]) == "run linear_scatter from (0, 0)"


def diagnostic(line: int, column: int, end: int) -> Diagnostic:
    at = Span("a.coll", line, column, line, end)
    return Diagnostic("C999", "wrong", at, ((at, "also this"),), "do better")


def test_a_message_shows_line_caret_other_places_and_help() -> None:
    assert render(diagnostic(2, 3, 5), {"a.coll": "one\nx yy z\n"}) == (
        "a.coll:2:3: error[C999]: wrong\n    x yy z\n      ^^\n"
        "a.coll:2:3: note: also this\n    x yy z\n      ^^\nhelp: do better\n"
    )


def test_a_caret_stands_under_tabs_and_wide_letters() -> None:
    shown = render(diagnostic(1, 4, 5), {"a.coll": "\t漢 x"}).splitlines()
    assert shown[1:3] == ["    \t漢 x", "    \t   ^"]


def test_a_long_line_is_cut_around_the_place() -> None:
    shown = render(diagnostic(1, 5001, 5002), {"a.coll": "a" * 5000 + "X" + "b" * 5000})
    line, caret = shown.splitlines()[1:3]
    assert len(line) < 200
    assert line[caret.index("^")] == "X"


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in render(diagnostic(1, 2, 3), {"a.coll": "a\x1b[31m"})


def test_a_message_without_a_source_or_place_is_its_text() -> None:
    assert render(Diagnostic("C120", "no P", None), {}) == "error[C120]: no P\n"
    assert render(diagnostic(9, 1, 2), {"a.coll": ""}).splitlines()[1].endswith("also this")


def test_a_message_as_data_has_all_of_it() -> None:
    data = as_json(diagnostic(2, 3, 5))
    place = {"file": "a.coll", "line": 2, "column": 3, "end_line": 2, "end_column": 5}
    assert data == {
        "code": "C999",
        "severity": "error",
        "message": "wrong",
        "at": place,
        "also": [{"at": place, "message": "also this"}],
        "help": "do better",
    }
