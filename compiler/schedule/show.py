"""The schedule as text: who sends what to whom, and the order in which operands are combined."""

import re
from collections.abc import Iterator

from collc.base.paths import Path
from collc.schedule import (
    Action,
    BroadcastPhase,
    Phase,
    ReducePhase,
    Schedule,
    ascending,
    step_of,
)
from collc.spec import ReduceStep
from collc.spec.exchange import Moves, StepsPhase

SHOWN_RANKS = 16  # longer lines are described, not spelled out
SHOWN_TRANSFERS = 1024
MOST_FOLLOWED = 64 * 64  # slices of all ranks of which orders are worked out
SHOWN_ORDERS = 4  # of a long line
WIDTH = 100


def show_schedule(schedule: Schedule) -> str:
    """The schedule as text, a paragraph per phase."""
    contract = schedule.collective.contract
    head = f"schedule {schedule.collective.name}: {contract.name}"
    lines = [head, *(_show_phase(phase, schedule) for phase in schedule.phases)]
    lines += _to_other_roots(schedule)
    return "\n".join(lines) + "\n"


def _to_other_roots(schedule: Schedule) -> Iterator[str]:
    """Reductions to another rank than 0, whose phases number ranks from there, in the ranks of the
    line: the root takes its own side first."""
    collective = schedule.collective
    for step in collective.steps:
        if isinstance(step, ReduceStep) and step.root > 0:
            sides = [p for p in schedule.reductions if step_of(collective, p) is step]
            yield from _in_ranks_of_line(step, sides, collective.path)


def _in_ranks_of_line(
    step: ReduceStep, sides: list[ReducePhase], path: Path | None
) -> Iterator[str]:
    short = sum(side.pes for side in sides) - len(sides) < SHOWN_RANKS
    result, nested = str(step.root), ""
    for side in sides:
        sign = 1 if side.order is step.order else -1
        root = side.place_of[0]
        ranks = [step.root + sign * (place - root) for place in side.place_of]
        if short:
            result = operand_order(side, [result, *map(str, ranks[1:])])
        but = " but itself" if side.bypass else ""
        nested += f", then ranks {ranks[1]} to {ranks[-1]}{but} nested as {side.tree}"
    if sides:
        what = f"rank {step.root} = {result}" if short else f"rank {step.root}{nested}"
        yield f"  {_axis(sides[0], path)}, in its own ranks: {what}"


def _axis(phase: ReducePhase, path: Path | None) -> str:
    if path is not None:
        return "the path"
    return "each row" if phase.axis == "x" else "each column"


def _show_phase(phase: Phase, schedule: Schedule) -> str:
    path = schedule.collective.path
    if isinstance(phase, StepsPhase):
        return "\n".join(_show_steps(phase))
    if isinstance(phase, BroadcastPhase):
        extent = f"{phase.width} x {phase.height}"
        return f"  {phase.name}: PE ({phase.x}, {phase.y}) copies its vector to all {extent} PEs"
    count = phase.lines[1] - phase.lines[0] + 1
    head = (
        f"  {phase.name}: {phase.tree} over {phase.pes} ranks, {_order(phase, path)}, "
        f"{count} line{'s' if count > 1 else ''}"
    )
    if phase.bypass:
        head += f", rank {phase.idle} passed over"
    if phase.ranks > SHOWN_RANKS:
        told = (f"    {_shape(phase)}", *_parents(phase), f"    rank 0 = {_operands(phase)}")
        return "\n".join((head, *told))
    return "\n".join((head, *_show_transfers(phase), f"    rank 0 = {operand_order(phase)}"))


def _order(phase: ReducePhase, path: Path | None) -> str:
    """Which way ranks follow each other."""
    if path is None:
        return phase.order.value
    return path.word if ascending(phase.order) else f"{path.word} backwards"


def _show_transfers(phase: ReducePhase) -> Iterator[str]:
    arrows = {Action.COMBINE: "=>", Action.COPY: "->"}
    for transfer in phase.transfers:
        yield f"    {transfer.source} {arrows[transfer.action]} {transfer.destination}"


def _shape(phase: ReducePhase) -> str:
    most = max(len(sources) for sources in phase.children)
    return f"{len(phase.transfers)} transfers, at most {most} vectors to one rank"


def _parents(phase: ReducePhase) -> Iterator[str]:
    """Who sends to whom in a long line, neighbours that do alike together: `1..3 => 0` all send to
    rank 0, `4..6 => 3..5` each to the one before. Ranks take vectors by ascending rank, since trees
    are in pre-order."""
    parent = {t.source: t.destination for t in phase.transfers}
    ranks, first = sorted(parent), 0
    parts: list[str] = []
    while first < len(ranks):
        last = max(_alike(parent, ranks, first, slope) for slope in (0, 1))
        low, high = ranks[first], ranks[last]
        to = _run(parent[low], parent[high])
        parts.append(f"{_run(low, high)} => {to}")
        first = last + 1
    yield from _wrapped("    by ascending rank: ", parts)


def _alike(parent: dict[int, int], ranks: list[int], first: int, slope: int) -> int:
    """The last of the ranks from `first` on that follow each other and whose parents are one rank,
    or follow each other as well where the slope is 1."""
    last = first
    while last + 1 < len(ranks) and ranks[last + 1] == ranks[last] + 1:
        if parent[ranks[last + 1]] != parent[ranks[last]] + slope:
            break
        last += 1
    return last


def _run(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"


def _operands(phase: ReducePhase) -> str:
    """Operand order of a long line in few words: the nesting is that of the tree."""
    return f"0 + 1 + ... + {phase.ranks - 1}, nested as {phase.tree}"


def operand_order(phase: ReducePhase, names: list[str] | None = None) -> str:
    """What rank 0 computes, `+` standing for the operation: `((0 + 1) + (2 + 3))`; `names` are
    those of the ranks, their numbers if nothing is given."""
    values = list(names) if names else [str(rank) for rank in range(phase.ranks)]
    for transfer in phase.transfers:
        source, old = values[transfer.source], values[transfer.destination]
        copies = transfer.action is Action.COPY
        values[transfer.destination] = source if copies else f"({old} + {source})"
    return values[0]


def _show_steps(phase: StepsPhase) -> Iterator[str]:
    """A phase made of steps: a line for each step, then what the slices of a rank are made of."""
    count = phase.lines[1] - phase.lines[0] + 1
    slices, length = phase.slicing.count, phase.slicing.length
    yield (
        f"  {phase.name}: {phase.algorithm} over {phase.ranks} ranks, {phase.order}, "
        f"{_counted(count, 'line')}, {_counted(slices, 'slice')} of {_counted(length, 'element')}"
        f"{', a block of the vector for each line' if phase.blocks else ''}"
    )
    transfers = sum(len(moves) for moves in phase.steps)
    if phase.ranks > SHOWN_RANKS or transfers > SHOWN_TRANSFERS:
        most = max(len(moves) for moves in phase.steps)
        yield (
            f"    {_counted(len(phase.steps), 'step')}, {_counted(transfers, 'transfer')}, "
            f"at most {most} in a step; `--json` has them all"
        )
        if slices * phase.ranks <= MOST_FOLLOWED and _combines(phase):
            yield from _orders_of_slices(phase)
        return
    for number, moves in enumerate(phase.steps):
        yield from _wrapped(f"    step {number}: ", [_move(moves, i) for i in range(len(moves))])
    if _combines(phase):
        for slice_, orders in enumerate(_orders(phase)):
            for text, ranks in orders.items():
                yield _order_line(phase, slice_, text, ranks)


def _combines(phase: StepsPhase) -> bool:
    """Whether there are sums, of which an order can be told."""
    return phase.slicing.length > 0 and phase.combines


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _move(moves: Moves, index: int) -> str:
    """One transfer: `0 => 1 slice 3`."""
    arrow = "=>" if moves.combines[index] else "->"
    first, count, into = moves.slice[index], moves.count[index], moves.into[index]
    what = f"slice {first}" if count == 1 else f"slices {first}..{first + count - 1}"
    placed = f" as {into}" if into != first else ""
    return f"{moves.source[index]} {arrow} {moves.destination[index]} {what}{placed}"


def _wrapped(head: str, parts: list[str]) -> Iterator[str]:
    line = head
    for index, part in enumerate(parts):
        piece = part if index == len(parts) - 1 else f"{part}, "
        if len(line) + len(piece.rstrip()) > WIDTH and line.strip() != head.strip():
            yield line.rstrip()
            line = " " * len(head)
        line += piece
    yield line


def _orders(phase: StepsPhase) -> list[dict[str, list[int]]]:
    """For each slice, what the ranks that end with most compute; ranks that compute the same stand
    together."""
    found = operands_of_steps(phase)
    most = max(operands for values in found for operands, _ in values)
    orders: list[dict[str, list[int]]] = [{} for _ in range(phase.slicing.count)]
    for rank, values in enumerate(found):
        for slice_, (operands, text) in enumerate(values):
            if operands == most:
                orders[slice_].setdefault(text, []).append(rank)
    return orders


def _order_line(phase: StepsPhase, slice_: int, text: str, ranks: list[int]) -> str:
    where = "every rank" if len(ranks) == phase.ranks else f"rank {_listed(ranks)}"
    which = f"slice {slice_} at " if phase.slicing.count > 1 else ""
    return f"    {which}{where} = {text}"


def _orders_of_slices(phase: StepsPhase) -> Iterator[str]:
    """The first few orders; where slices differ by a rotation only, those of slice 0."""
    orders = _orders(phase)
    slices = len(orders)
    turned = all(_turned(one, -i, phase.ranks) == orders[0] for i, one in enumerate(orders))
    alike = slices > 1 and turned
    told = [
        (i, *order)
        for i, one in enumerate(orders[:1] if alike else orders)
        for order in one.items()
    ]
    for slice_, text, ranks in told[:SHOWN_ORDERS]:
        yield _order_line(phase, slice_, text, ranks)
    if len(told) > SHOWN_ORDERS:
        yield f"    and {_counted(len(told) - SHOWN_ORDERS, 'other order')}"
    if alike:
        yield f"    slice i: the same with i added to every rank, modulo {phase.ranks}"


def _turned(orders: dict[str, list[int]], by: int, count: int) -> dict[str, list[int]]:
    """The same orders with every rank so many further, around a ring of `count`."""

    def moved(rank: str | int) -> int:
        return (int(rank) + by) % count

    return {
        re.sub(r"\d+", lambda found: str(moved(found[0])), text): sorted(map(moved, ranks))
        for text, ranks in orders.items()
    }


def _listed(ranks: list[int]) -> str:
    return ", ".join(map(str, ranks))


def operands_of_steps(phase: StepsPhase) -> list[list[tuple[int, str]]]:
    """For each rank and slice, how many operands it ends with and how they are nested, `+` standing
    for the operation and a number for what that rank brought into the phase."""
    slices = range(phase.slicing.count)
    values = [[(1, str(rank)) for _ in slices] for rank in range(phase.ranks)]
    for moves in phase.steps:
        arriving = [
            values[moves.source[i]][moves.slice[i] : moves.slice[i] + moves.count[i]]
            for i in range(len(moves))
        ]
        for index, parts in enumerate(arriving):
            row, first = values[moves.destination[index]], moves.into[index]
            for slice_, (operands, text) in enumerate(parts, start=first):
                here, old = row[slice_]
                if moves.combines[index]:
                    row[slice_] = (here + operands, f"({old} + {text})")
                else:
                    row[slice_] = (operands, text)
    return values
