"""Evaluation of a phase made of steps: its step tables, run cycle by cycle (`collc_evaluator`).

Each different line is evaluated once.
"""

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.evaluated_line import line_of
from collc.cost.operations import Costs
from collc.cost.streams import begun, run_streams, stream_line
from collc.cost.stretches import different, later, no_stretch, together
from collc.plan import Phase, RowKind
from collc.plan.form import Form, form_of
from collc.plan.unrolled import unrolled

MOST = 200_000_000  # looks at a PE that are taken; then the rest goes on at the same pace
ENOUGH = 200  # wavelets that operations have left at least, when repetition is looked for


@dataclass(frozen=True, eq=False)
class ExchangeRun:
    """By line and place: when the code calls what follows, and the last busy cycle; if code of
    others was given, when tasks have run, as `Stretches`."""

    time: Ints
    end: Ints
    code: Ints


def run_exchange(  # noqa: PLR0913, PLR0917 - the phase, when it is called, how long to follow it
    costs: Costs,
    phase: Phase,
    called: Ints,
    deep: Ints,
    looks: int | None = None,
    others: Ints | None = None,
) -> ExchangeRun:
    """Evaluate a phase; `called` is [line, place], `deep` what returning behind it takes. After so
    many `looks` at a PE of a line (`MOST`) the rest is taken to go on at the same pace. `others`
    are `Stretches` in which PEs run other code. Lines that begin alike, sooner or later, are
    alike."""
    none = no_stretch(called)
    if form_of(phase) is Form.STREAM:
        return ExchangeRun(*run_streams(costs, phase, called, deep), none)
    line = line_of(costs, phase)
    first = called.min(axis=1, keepdims=True)
    deep = deep - costs.code.returns  # what returns beside the task itself
    given = (called - first, deep, later(none if others is None else others, -first))
    kinds, which = different(*given)
    runs = []
    for one in kinds:
        begun, returning, code = (np.ascontiguousarray(of[one]) for of in given)
        beside = None if others is None else np.moveaxis(code, 0, -1)
        runs.append(line.run(begun, returning, looks or MOST, ENOUGH, beside))
    return ExchangeRun(
        np.stack([run.free for run in runs])[which] + first,
        np.stack([run.ended for run in runs])[which] + first,
        later(together([np.moveaxis(run.stretches, -1, 0) for run in runs])[which], first)
        if others is not None
        else none,
    )


def elements_of(costs: Costs, phase: Phase) -> tuple[Ints, Ints]:
    """By place: the instructions that receive or let pass, and all that move something."""
    rows = unrolled(phase)
    received = (rows.kind & int(RowKind.RECEIVES) > 0) * (rows.into_to - rows.into_from)
    sent = (rows.kind & int(RowKind.SENDS) > 0) * (rows.out_to - rows.out_from)
    ends = rows.start[:: rows.lanes]
    into, out = (
        np.concatenate(([0], np.cumsum(costs.wavelets(of) // costs.group)))
        for of in (received + rows.passed, sent)
    )
    taken = np.diff(into[ends])
    return taken, taken + np.diff(out[ends])


def begun_by(costs: Costs, phase: Phase) -> Ints:
    """By place: cycles of the code that begins a phase, from its call to its return."""
    if form_of(phase) is Form.STREAM:
        return begun(costs, stream_line(costs, phase))
    return line_of(costs, phase).code_of_beginning()
