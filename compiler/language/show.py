"""How values are printed: diagnostics as text or data, a Spec as the `.coll` text it came from.

`render` and `as_json` take one diagnostic; `show_spec` writes a program whose elaboration is the
same Spec again, but for the places.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar

from collc.base.diagnostics import Diagnostic, Span, shown
from collc.base.grids import Grid
from collc.language.kinds import HILBERT
from collc.language.limits import RESOURCES
from collc.language.prelude import PRELUDE_FILE, prelude_kinds, prelude_text
from collc.language.show_declared import (
    name_of,
    show_algorithm,
    show_contract,
    show_operation,
    show_promise,
    show_tree,
    values_of,
    with_root,
)
from collc.spec import (
    Algorithm,
    BroadcastStep,
    Collective,
    Order,
    OwnOperation,
    Parameter,
    Reconfigure,
    ReduceStep,
    Reserved,
    RootChoice,
    RunStep,
    Selection,
    Share,
    Spec,
    Step,
    Tree,
)
from collc.spec.custom_contract import OwnContract
from collc.spec.steps import ROOT_BYPASS, axis_of

U = TypeVar("U", Tree, Algorithm, OwnContract)

_WIDEST_LINE = 160  # longer source lines are cut around the place
_CONTEXT = 60
_WARNINGS = "C8"  # codes of what is right and could be better


def render(diagnostic: Diagnostic, sources: Mapping[str, str]) -> str:
    """Write a diagnostic as text; source lines are looked up in `sources` (file -> text)."""
    lines = [headline(diagnostic)]
    lines += _excerpt(diagnostic.at, sources)
    for span, note in diagnostic.also:
        lines.append(_headline(span, f"note: {note}"))
        lines += _excerpt(span, sources)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines) + "\n"


def headline(diagnostic: Diagnostic) -> str:
    """The first line of it: `file:line:column: error[C012]: message`."""
    message = f"{severity(diagnostic)}[{diagnostic.code}]: {diagnostic.message}"
    return _headline(diagnostic.at, message)


def severity(diagnostic: Diagnostic) -> str:
    """`error`, or `warning` for what is right and could be better."""
    return "warning" if diagnostic.code.startswith(_WARNINGS) else "error"


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Turn a diagnostic into plain data; one without a fix has none there."""
    fix = [{"at": _place(edit.at), "text": edit.text} for edit in diagnostic.fix]
    data: dict[str, object] = {
        "code": diagnostic.code,
        "severity": severity(diagnostic),
        "message": diagnostic.message,
        "at": _place(diagnostic.at),
        "also": [{"at": _place(span), "message": note} for span, note in diagnostic.also],
        "help": diagnostic.help,
    }
    return data | ({"fix": fix} if fix else {})


def show_spec(spec: Spec) -> str:
    """Write a Spec as a program; trees that are not the prelude's are written out."""
    lines = [f"target {spec.target}"]
    lines += [f"param {p.name} = {_integer(p)}" for p in spec.parameters]
    lines += dict.fromkeys(line for c in spec.collectives for line in _grids(c.grid))
    lines += dict.fromkeys(_paths(spec))
    lines += _trees(spec)
    operations = dict.fromkeys(collective.contract.operation for collective in spec.collectives)
    lines += [show_operation(one) for one in operations if isinstance(one, OwnOperation)]
    own = [c.contract.own for c in spec.collectives if c.contract.own]
    lines += map(show_contract, _by_name(own))
    selections = spec.program.selections if spec.program else ()
    chosen = {name: one for one in selections for name in one.names}
    rooted = {
        name: one for one in (spec.program.rooted if spec.program else ()) for name in one.names
    }
    alternatives = {collective.name: collective for collective in spec.collectives}
    for collective in spec.collectives:
        one, with_root = chosen.get(collective.name), rooted.get(collective.name)
        if with_root is not None:
            if collective.name == with_root.names[0]:
                lines += _collective(collective, with_root.name, _rooted_steps(with_root))
        elif one is None:
            lines += _collective(collective, collective.name, _steps(collective))
        elif collective.name == one.names[0]:
            steps = _steps(collective)
            if one.names != (one.name,):
                steps = _choice(one, [alternatives[name] for name in one.names])
            lines += _collective(collective, one.name, steps)
    return "\n".join([*lines, _program(spec)]) + "\n"


def _rooted_steps(choice: RootChoice) -> Iterator[str]:
    """The steps with the root by its name."""
    first, *_ = choice.by_root
    yield from (line for line in _steps(first) if line.lstrip().startswith("order "))
    said = f"{choice.root} < {choice.ranks}"
    for index, step in enumerate(first.steps):
        then = "then " if index else ""
        if isinstance(step, BroadcastStep):
            yield f"    {then}broadcast from {said}"
        elif isinstance(step, ReduceStep):
            yield f"    {then}reduce {_tree_texts(step)} to {said}"
        else:
            runs = (one.steps[index] for one in choice.by_root)
            texts = [run.algorithm.text for run in runs if isinstance(run, RunStep)]
            last = index == len(first.steps) - 1
            place = f" {first.contract.kind.root_word} {said}" if last else ""
            yield f"    {then}run {with_root(texts, choice.root)}{place}"


def _grids(grid: Grid) -> Iterator[str]:
    """Declare the grid of a collective, behind the one that it is a part of."""
    area, whole, site = grid, grid.whole, grid.site
    if site is not None and site.area is not None:
        area, site = site.area, site.area.site
    yield f"grid {whole.name} = {whole.width} x {whole.height}"
    if site is not None:
        columns, rows = _range(site.x, area.width), _range(site.y, area.height)
        yield f"grid {area.name} = {whole.name}[{columns}, {rows}]"


def _range(first: int, count: int) -> str:
    return f"{first} .. {first + count - 1}" if count > 1 else str(first)


def _program(spec: Spec) -> str:
    """`program { repeat 3 { a b } within colors <= 2 }`."""
    program = spec.program
    if program is None:
        return f"program {{ {spec.collectives[0].name} }}"
    calls = " ".join(" and ".join(program.calls[i] for i in turn) for turn in program.turns)
    words = [f"repeat {program.rounds} {{ {calls} }}" if program.rounds > 1 else calls]
    if program.colors is not None:
        words.append(f"within colors <= {program.colors}")
    kept = _reserved(program.reserved)
    if kept:
        words.append(kept)
    if program.reconfigure is not Reconfigure.AUTO:
        words.append(f"reconfigure {program.reconfigure.value}")
    return f"program {{ {' '.join(words)} }}"


def show_steps(collective: Collective) -> str:
    """The order and the steps of a collective in a line, as they would be written."""
    orders = dict.fromkeys(_orders(collective))
    usual = {Order.WEST_TO_EAST.value, Order.NORTH_TO_SOUTH.value}
    unusual = orders.keys() - usual or collective.counts_along == "y"
    order = f"order {', '.join(orders)} " if unusual else ""
    return order + " then ".join(step_texts(collective))


def _headline(span: Span | None, text: str) -> str:
    return f"{shown(span.file)}:{span.line}:{span.column}: {text}" if span else text


def _place(span: Span | None) -> dict[str, object] | None:
    if span is None:
        return None
    return {
        "file": shown(span.file),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _excerpt(span: Span | None, sources: Mapping[str, str]) -> list[str]:
    """Quote the first line of a span, with carets under it."""
    if span is None:
        return []
    text = sources.get(span.file)
    if text is None and span.file == PRELUDE_FILE:
        text = prelude_text()
    lines = text.split("\n") if text is not None else []
    if span.line > len(lines):
        return []
    line = lines[span.line - 1].rstrip("\r")
    first = span.column - 1
    last = span.end_column - 1 if span.end_line == span.line else len(line)
    line, first, last = _cut(line, first, last)
    under = "".join("\t" if c == "\t" else " " * _columns(c) for c in line[:first])
    marked = sum(_columns(c) for c in line[first:last])
    return [f"    {_printable(line)}".rstrip(), f"    {under}{'^' * max(marked, 1)}"]


def _cut(line: str, first: int, last: int) -> tuple[str, int, int]:
    """Keep a piece of a long line around the place; also yields the place in it."""
    if len(line) <= _WIDEST_LINE:
        return line, first, min(last, len(line))
    start = max(0, first - _CONTEXT)
    end = min(len(line), start + _WIDEST_LINE - _CONTEXT)
    before, behind = "..." if start > 0 else "", "..." if end < len(line) else ""
    shift = len(before) - start
    return before + line[start:end] + behind, first + shift, min(last, end) + shift


def _columns(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _printable(line: str) -> str:
    """Blank out what a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line)


def _integer(parameter: Parameter) -> str:
    least = -(2**63)  # its digits alone would not fit
    return f"{least + 1} - 1" if parameter.value == least else str(parameter.value)


def _steps(collective: Collective) -> Iterator[str]:
    """The order and the steps, a line each."""
    orders = dict.fromkeys(_orders(collective))
    if orders:
        yield "    order " + ", ".join(orders)
    for index, step in enumerate(step_texts(collective)):
        yield f"    {'then ' if index else ''}{step}"


def _choice(selection: Selection, alternatives: list[Collective]) -> Iterator[str]:
    """`select by n { n <= 8: ... }`, a line for each alternative."""
    name = selection.length.name
    yield f"    select by {name} {{"
    limits = [f"{name} <= {'auto' if most is None else most}" for most in selection.limits]
    for limit, one in zip([*limits, "else"], alternatives, strict=True):
        yield f"        {limit}: {' '.join(line.strip() for line in _steps(one))}"
    yield "    }"


def _collective(collective: Collective, name: str, steps: Iterable[str]) -> Iterator[str]:
    promise = show_promise(collective.contract, collective.contract.held)
    yield f"collective {name} = {promise} on {collective.grid.name} {{"
    if collective.fixed is not None:
        yield "    order fixed"
    yield from steps
    if collective.limits.colors is not None:
        yield f"    within colors <= {collective.limits.colors}"
    kept = _reserved(collective.limits.reserved)
    if kept:
        yield f"    {kept}"
    for expectation in collective.expectations:
        yield f"    expect {expectation.text}"
    yield "}"


def _reserved(reserved: Reserved) -> str:
    """`reserve colors 2, colors 3, tasks 8`; empty if nothing is."""
    words = [f"{word} {n}" for word in RESOURCES for n in getattr(reserved, word)]
    return f"reserve {', '.join(words)}" if words else ""


def _orders(collective: Collective) -> Iterator[str]:
    if collective.path is not None:
        yield collective.path.word
        return
    if collective.contract.own is not None:
        yield collective.contract.own.order
    for step in sorted(collective.steps, key=partial(_is_named_later, collective)):
        if isinstance(step, ReduceStep):
            yield step.order.value
        elif isinstance(step, RunStep):
            yield step.order


def _is_named_later(collective: Collective, step: Step) -> bool:
    """Whether a step goes across the lines along which ranks are counted; their order is first."""
    by_slices = collective.contract.kind.by_slices
    return by_slices and isinstance(step, RunStep) and step.axis != collective.counts_along


def step_texts(collective: Collective) -> Iterator[str]:
    """The steps, as they would be written."""
    reduced: set[str] = set()  # axes along which one rank of a line has what there is of it
    for step in collective.steps:
        if isinstance(step, BroadcastStep):
            reduced.clear()
            yield f"broadcast from ({step.x}, {step.y})"
        elif isinstance(step, RunStep):
            grid = collective.grid
            across = grid.lines(step.axis)
            lines = _lines_by(step.axis, collective, every=step.lines == (0, across - 1))
            root = collective.root
            place = f" {collective.contract.kind.root_word} {root}" if root else ""
            on_slices = step.share is Share.OWN_BLOCK and not collective.contract.kind.by_slices
            how = f"{' on slices' * on_slices}{' in simd' * step.wide}"
            yield f"run {lines}{step.algorithm.text}{place}{how}"
        else:
            axis = axis_of(step.order)
            lines = _lines_by(axis, collective, every=reduced <= {axis})
            reduced.add(axis)
            yield f"reduce {lines}{_tree_texts(step)} to {step.root}"


def _lines_by(axis: str, collective: Collective, *, every: bool) -> str:
    """Which lines a step goes along, where there are several."""
    if collective.grid.is_line or collective.path is not None:
        return ""
    return f"{'row' if axis == 'x' else 'column'}{'s' * every} by "


def _tree_texts(step: ReduceStep) -> str:
    """The tree of a reduction; of two different ones, that of the lower ranks first."""
    if step.skips:
        return f"{ROOT_BYPASS}({step.tree.text})"
    if step.far is None or step.far.text == step.tree.text:
        return step.tree.text
    own_is_lower = len(step.tree.children) == step.root + 1
    both = (step.tree, step.far) if own_is_lower else (step.far, step.tree)
    return ", ".join(tree.text for tree in both)


def _paths(spec: Spec) -> Iterator[str]:
    """Declare the orders that the prelude does not have, PE by PE."""
    for path in (c.path for c in spec.collectives if c.path is not None):
        name, values = path.word.partition("(")[0], values_of(path.word)
        if name == HILBERT or name in prelude_kinds():
            continue
        sides = ["W", "H"]
        while any(side in values for side in sides):
            sides = [f"{side}_" for side in sides]
        parameters = f"({', '.join((*sides, *values))})" if values else ""
        yield f"order {name}{parameters} = [{', '.join(map(str, path.places))}]"


def _trees(spec: Spec) -> Iterator[str]:
    """Declare the trees and algorithms that the prelude does not have, as they are on their lines,
    one for each name."""
    rooted = spec.program.rooted if spec.program else ()
    every = (*spec.collectives, *(one for choice in rooted for one in choice.by_root))
    steps = [step for collective in every for step in collective.steps]
    both = [(s.tree, s.far) for s in steps if isinstance(s, ReduceStep)]
    yield from map(show_tree, _by_name([tree for pair in both for tree in pair if tree]))
    algorithms = [step.algorithm for step in steps if isinstance(step, RunStep)]
    yield from map(show_algorithm, _by_name(algorithms))


def _by_name(uses: Iterable[U]) -> Iterable[list[U]]:
    """What is used under each name that is not the prelude's."""
    found: dict[str, list[U]] = {}
    for use in uses:
        if name_of(use) not in prelude_kinds():
            found.setdefault(name_of(use), []).append(use)
    return found.values()
