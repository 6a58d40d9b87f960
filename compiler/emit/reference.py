"""What the emitted run.py compares with, as NumPy text."""

from collc.emit.formulas import numpy_body, takes_in_numpy
from collc.emit.names import comparison_of
from collc.schedule import Schedule, ascending, axis_of, pes_of_ranks
from collc.spec import (
    Collective,
    Contract,
    ElementType,
    Operation,
    OwnOperation,
    ReduceStep,
    RunStep,
)
from collc.spec.arrays import DTYPE
from collc.spec.operation import FLOATS
from collc.spec.slice_ownership import lines_and_ranks, owners


def numpy_reduction(contract: Contract) -> str:
    """The NumPy function that reduces vectors; empty where one is printed."""
    operation = contract.operation
    if not isinstance(operation, Operation) or numpy_callback(contract):
        return ""
    return operation.facts.ufunc.__name__


def numpy_callback(contract: Contract) -> tuple[str, ...]:
    """The lines of a function of `own` and `received` that combines as an operation does that NumPy
    has no function for."""
    operation, element = contract.operation, contract.element
    if isinstance(operation, OwnOperation):
        return numpy_body(operation.formula)
    if operation is None or not operation.facts.chooses:
        return ()
    if element.pair_of:
        return _of_pairs(operation, element)
    if element not in FLOATS:
        return ()
    taken = takes_in_numpy(operation.facts.chooses, "own", "received")
    return f"taken = {taken}", "return np.where(taken, received, own)"


def _of_pairs(operation: Operation, element: ElementType) -> tuple[str, ...]:
    ordered = ['first, second = own["value"], received["value"]']
    if element is ElementType.F32_U32:
        beyond = "+" if operation.facts.chooses == "max" else "-"
        turned = f"(b ^ ((b >> 31) & 0x7FFFFFFF)) {beyond} np.int32(0x7FFFFF)"
        ordered = [
            "# integers in the order of the floats, -0.0 below 0.0; NaN where it is not chosen",
            'bits = [pairs["value"].view(np.int32) for pairs in (own, received)]',
            f"first, second = ({turned} for b in bits)",
        ]
    return (
        *ordered,
        'lower = (second == first) & (received["index"] < own["index"])',
        f"return np.where((second {comparison_of(operation)} first) | lower, received, own)",
    )


def numpy_type(element: ElementType) -> str:
    """What NumPy has for an element."""
    dtype = DTYPE[element]
    if dtype.names is None:
        return f"np.{dtype.name}"
    parts = ", ".join(f'("{name}", np.{dtype[name].name})' for name in dtype.names)
    return f"np.dtype([{parts}])"


def numpy_operands(schedule: Schedule) -> str:
    """The vectors of `given`, [y, x, element], in the order of their ranks."""
    grid = schedule.collective.grid
    ranks = {"x": list(range(grid.width)), "y": list(range(grid.height))}
    first = ""  # the axis that is reduced first; its ranks go on first
    for step in schedule.collective.steps:
        if isinstance(step, ReduceStep):
            axis = axis_of(step.order)
            ranks[axis] = sorted(ranks[axis], reverse=not ascending(step.order))
        elif isinstance(step, RunStep):
            axis = step.axis
            ranks[axis] = list(step.places)
        else:
            continue
        first = first or axis
    turned = ".swapaxes(0, 1)" if first == "y" else ""
    return f"given[{_index(ranks['y'])}][:, {_index(ranks['x'])}]{turned}.reshape(-1, LENGTH)"


def _index(places: list[int]) -> str:
    if places == sorted(places):
        return ":"
    return "::-1" if places == sorted(places, reverse=True) else str(places)


def numpy_places(collective: Collective) -> str:
    """The numbers of the PEs of all ranks, in the order of the ranks, where a contract speaks of
    them; PEs are numbered by rows."""
    grid, path, contract = collective.grid, collective.path, collective.contract
    if contract.own is not None:
        return str([y * grid.width + x for x, y in pes_of_ranks(collective)])
    if not contract.kind.by_slices:
        return ""
    lines, ranks = lines_and_ranks(collective)
    if path is not None or grid.is_line:
        return str([y * grid.width + x for (x, y), _ in owners(collective)])
    outer, inner = ("y", "x") if collective.counts_along == "x" else ("x", "y")
    loops = f"for {outer} in {_listed(lines)} for {inner} in {_listed(ranks)}"
    return f"[y * {grid.width} + x {loops}]"


def _listed(places: tuple[int, ...]) -> str:
    """Coordinates as NumPy text, as a range if they are one."""
    count = len(places)
    for there, text in (
        (range(count), f"range({count})"),
        (range(count)[::-1], f"range({count - 1}, -1, -1)"),
    ):
        if places == tuple(there):
            return text
    return str(list(places))
