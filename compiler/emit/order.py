"""In which order a plan combines operands, as tables from which run.py does the same sum again.

A rounded sum depends on the order of its operands. Where the tables stay short, run.py follows the
transfers one by one and compares bit by bit; else with the tolerance that rounding needs.
"""

from collections.abc import Iterable

import numpy as np

from collc.base.columns import Ints
from collc.emit.custom_contract import shown_rows
from collc.emit.reference import numpy_reduction
from collc.schedule import BroadcastPhase, ReducePhase, Schedule
from collc.spec import Contract, OwnOperation
from collc.spec.exchange import Moves, StepsPhase
from collc.spec.operation import FLOATS

MOST_ROWS = 300  # of all tables of a collective, as they are printed


def rounds(schedule: Schedule) -> bool:
    """Whether the results of a collective depend on the order of its operands."""
    contract = schedule.collective.contract
    operation = contract.operation
    if operation is None or contract.element not in FLOATS:
        return False
    return isinstance(operation, OwnOperation) or operation.facts.rounds


def order_of(schedule: Schedule) -> tuple[str, ...]:
    """The phases of a collective whose order matters, as NumPy text: axis, first and last line,
    whether the transfers of a table happen at once, tables. Empty where it does not matter, or
    would take too many rows."""
    collective = schedule.collective
    if not rounds(schedule) or collective.contract.own or collective.path is not None:
        return ()
    found = [_phase(schedule, phase) for phase in schedule.phases]
    printed = [text for text in found if text is not None]
    rows = sum(text.count("\n") + 1 for text in printed)
    return tuple(printed) if len(printed) == len(found) and rows <= MOST_ROWS else ()


def numpy_combine(contract: Contract) -> str:
    """The NumPy function that combines own elements with received ones; one that NumPy does not
    have is printed beside it."""
    name = numpy_reduction(contract)
    return f"np.{name}" if name else "combine"


def _phase(schedule: Schedule, phase: ReducePhase | BroadcastPhase | StepsPhase) -> str | None:
    """A phase as text; None for one that takes too many rows, or whose slices depend on the run or
    lie in blocks."""
    length = schedule.collective.contract.length
    if isinstance(phase, BroadcastPhase):
        return f'("from", {phase.x}, {phase.y}, False, [])'
    if isinstance(phase, ReducePhase):
        rows = [
            (phase.coordinate(one.source), phase.coordinate(one.destination), 0, 0, length, 1)
            for one in phase.transfers
        ]
        return _text(phase.axis, phase.lines, at_once=False, tables=[np.array(rows)])
    if phase.blocks is not None or schedule.collective.contract.run_length is not None:
        return None
    if len(phase.steps) > MOST_ROWS:
        return None  # a step takes a row at least
    tables = [_rows(phase, moves) for moves in phase.steps]
    return _text(phase.axis, phase.lines, at_once=True, tables=tables)


def _rows(phase: StepsPhase, moves: Moves) -> Ints:
    """From and to which place, from and to which element, how many, whether combined."""
    bounds, places = phase.slicing.bounds, np.array(phase.places)
    first = bounds[moves.slice]
    elements = bounds[moves.slice + moves.count] - first
    ends = places[moves.source], places[moves.destination]
    return np.stack((*ends, first, bounds[moves.into], elements, moves.combines), axis=1)


def _text(axis: str, lines: tuple[int, int], *, at_once: bool, tables: list[Ints]) -> str:
    shown = [_list(12, shown_rows(rows)) for rows in tables if len(rows)]
    fields = (f'"{axis}"', *map(str, lines), str(at_once), _list(8, shown))
    return "(\n" + "".join(f"        {field},\n" for field in fields) + "    )"


def _list(indent: int, items: Iterable[str]) -> str:
    """A list with an item a line, so far to the right."""
    inner = " " * (indent + 4)
    lines = "".join(f"{inner}{item},\n" for item in items)
    return f"[\n{lines}{' ' * indent}]" if lines else "[]"
