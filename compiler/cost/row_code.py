"""What the code that runs rows does, as `templates/exchange_pe.csl.j2` prints it.

A piece of code is a list of actions, as the evaluator takes them. Pieces depend on the bits of a
row, not on its numbers.
"""

from collections.abc import Iterable, Iterator

from collc.base.values import dataclass
from collc.cost.operations import Costs
from collc.plan import Phase, RowKind
from collc.plan.step_tables import extent_of, straight_entries
from collc.plan.unrolled import Unrolled
from collc.target.constants import RowCode

SENDS, RELAYS, RECEIVES = int(RowKind.SENDS), int(RowKind.RELAYS), int(RowKind.RECEIVES)
COMBINES, STAGES, APPLIES = int(RowKind.COMBINES), int(RowKind.STAGES), int(RowKind.APPLIES)
OUT, INTO = SENDS | RELAYS, RECEIVES | APPLIES
ENDS = int(RowKind.ENDS)
OVER = int(RowKind.OVER) | ENDS

CUTS_UNROLLED = 16  # slices: the loop that finds where they begin has 9 instructions a round

DISPATCH = 1  # an asynchronous operation, on top of its issue (docs/machine.md, section 4)

Action = tuple[str, int]  # what the code does, and a number (`collc_evaluator`)
Actions = tuple[Action, ...]


def jumped(cycles: int) -> Actions:
    """A jump of so many cycles, if there is one: an instruction, and the wait for where it leads
    to, in which elements may move."""
    return (("code", 1), ("wait", cycles - 1)) if cycles else ()


def cycles_of(actions: Iterable[Action]) -> int:
    """What they take where no elements come between."""
    return sum(number for what, number in actions if what in ("code", "wait"))


@dataclass(frozen=True)
class Here:
    """What is known of a lane of a PE when its text is compiled: whether it receives and sends, and
    whether it does so in every row. The task that goes on to the next row does so `late` cycles
    after that of the place where it is soonest, and calls what prepares one if it `prepares`, where
    others have that in the place of its calls."""

    receives: bool
    sends: bool
    always_receives: bool
    always_sends: bool
    late: int = 0
    prepares: bool = False


@dataclass(frozen=True)
class Features:
    """What the text has to tell apart, and what it costs."""

    lanes: int
    alike: bool  # all rows send and receive the same number of elements
    backward: bool
    cuts: int  # slices whose beginnings are looked up; 0 if rows say them
    passes: bool
    mixed: bool  # receives with and without combining
    areas: int
    straight: bool  # each row has code of its own, which knows all of it but lengths
    mixed_applying: bool
    own_steps: bool  # tasks have steps of their own, which call what is behind the phase
    load: int
    issue: int
    jump: int
    no_jump: int
    code: RowCode

    def calls_prepare(self, here: Here) -> bool:
        """Whether a function that prepares a row is too long to be put where it is called."""
        if self.cuts:
            return here.sends or self.areas > 0
        return here.sends and self.areas > 0 and (self.areas > 1 or not self.alike)

    def calls_start(self, here: Here) -> bool:
        """The same of one that starts a row. A PE's only lane has one call of it, or two where
        tasks have steps of their own."""
        both = here.receives and here.sends and (self.lanes > 1 or self.own_steps)
        return both and self.areas > 0 and (self.mixed or not self.alike)

    def bit(self, holds: object) -> Actions:
        """A bit of a row's kind is tested."""
        return ("code", 2), *jumped(self.no_jump if holds else self.jump)

    @property
    def issued(self) -> Actions:
        """An asynchronous operation is issued, its operands loaded."""
        return ("code", 1), ("wait", self.issue - 1), ("code", DISPATCH)


def features_of(costs: Costs, rows: Unrolled, phase: Phase) -> Features:
    """The features of a phase's text."""
    kinds = {int(kind) for kind in set(rows.written.tolist())}
    received = [kind for kind in kinds if kind & RECEIVES]
    passes = any(kind & RELAYS for kind in kinds)
    mixed = any(kind & COMBINES for kind in received) and any(
        not kind & (COMBINES | STAGES) for kind in received
    )
    return Features(
        lanes=rows.lanes,
        alike=extent_of(phase) > 0,
        backward=phase.backward,
        cuts=phase.slicing.count if phase.slicing.dynamic else 0,
        passes=passes,
        mixed=mixed,
        areas=phase.areas,
        straight=straight_entries(phase) > 0,
        mixed_applying=any(kind & APPLIES and kind & COMBINES for kind in kinds),
        own_steps=costs.own_steps,
        load=costs.load,
        issue=costs.issue,
        jump=costs.jump,
        no_jump=costs.no_jump,
        code=costs.rows,
    )


def beginning(text: Features) -> int:
    """What a phase begins with, before any row is prepared."""
    code, cycles = text.code, text.code.begun
    if text.backward:
        cycles += code.backward
    if text.cuts:
        cut = code.cut if text.cuts <= CUTS_UNROLLED else code.cut_in_loop
        cycles += code.cuts + cut * text.cuts  # as after another length
    return cycles


def lane_begun(text: Features, here: Here, kind: int) -> int:
    """What a lane begins with: the registers of its fabric operands, where all rows have as many
    elements, and its first row prepared, whose numbers the compiler knows unless it is prepared by
    a function that is called."""
    if text.straight:
        return text.code.lane_begun
    code, into, staged = text.code, kind & INTO, kind & (STAGES | APPLIES)
    cycles = text.load * (here.receives + here.sends) * text.alike
    if text.calls_prepare(here):
        return cycles + cycles_of(prepared(text, here, kind))
    cycles += code.lane_begun + code.first_send * here.sends + cycles_of(text.bit(into))
    if into:
        cycles += code.first_receive + cycles_of(text.bit(staged)) * (text.areas > 0)
    if text.cuts:
        cycles += code.bounds_into * (into > 0)
    return cycles + code.first_stage * (staged > 0)


def start(text: Features, here: Here, kind: int) -> Actions:
    """The row is started, from the call to the return."""
    if text.straight:
        return _joined(_straight(text, kind))
    call = jumped(text.jump * text.calls_start(here))
    actions: list[Action] = [*jumped(here.late), *call, ("code", text.code.row_begun)]
    if here.receives:
        actions += _receive(text, here, kind)
    if here.sends:
        actions += _send(text, here, kind)
    if text.areas:
        applies = kind & APPLIES
        actions += [*text.bit(applies), *(_apply(text, kind) if applies else ())]
    return _joined([*actions, *call])


def _joined(actions: Iterable[Action]) -> Actions:
    """Instructions that follow each other counted together."""
    found: list[Action] = []
    for what, number in actions:
        if found and what == "code" and found[-1][0] == "code":
            found[-1] = ("code", found[-1][1] + number)
        elif number or what not in ("code", "wait"):
            found.append((what, number))
    return tuple(found)


def _straight(text: Features, kind: int) -> Iterator[Action]:
    """A row whose code finds its operands, loads and issues them, and asks nothing."""
    code = text.code
    yield "code", code.row_begun + code.operand_length
    if kind & RELAYS:
        yield from (("code", code.operand_length), *text.issued, ("pass", 0))
    elif kind & SENDS:
        yield from (("code", code.bounds_out), *text.issued, ("send", 0))
    elif kind & RECEIVES:
        yield from (("code", code.bounds_into), *text.issued, ("receive", 0))


def _receive(text: Features, here: Here, kind: int) -> Iterator[Action]:
    if not here.always_receives:
        yield from text.bit(kind & RECEIVES)
    if not kind & RECEIVES:
        return
    if not text.alike:
        yield "code", text.code.operand_length
    if text.areas:
        yield from text.bit(kind & STAGES)
    yield "code", text.code.operand
    if text.mixed and not kind & STAGES:
        yield from text.bit(kind & COMBINES)
    if kind & COMBINES:
        yield "code", text.code.operand
    yield from (*text.issued, ("receive", 0))
    if kind & STAGES or (text.mixed and kind & COMBINES):
        yield from jumped(text.jump)


def _send(text: Features, here: Here, kind: int) -> Iterator[Action]:
    if not here.always_sends:
        yield from text.bit(kind & OUT)
    if not kind & OUT:
        return
    yield "code", text.code.block
    if not here.always_receives:
        yield from _activated(text, kind)
    if not text.alike:
        yield "code", text.code.operand_length
    if text.passes and here.receives:
        yield from text.bit(kind & SENDS)
    if kind & RELAYS:
        yield from (("code", text.code.operand_length), *text.issued, ("pass", 0))
        return
    yield from (("code", text.code.operand), *text.issued, ("send", 0))
    if text.passes and here.receives:
        yield from jumped(text.jump)


def _activated(text: Features, kind: int) -> Iterator[Action]:
    """The task is activated if nothing is received that would do it."""
    yield from text.bit(not kind & RECEIVES)
    if not kind & RECEIVES:
        yield "code", text.code.activate


def _apply(text: Features, kind: int) -> Iterator[Action]:
    """Operands: where it goes to, which is what it is combined with, and what is staged."""
    if text.mixed_applying:
        yield from text.bit(kind & COMBINES)
    yield "code", 2 * text.load + text.issue
    yield "apply", kind & COMBINES
    if text.mixed_applying and kind & COMBINES:
        yield from jumped(text.jump)


def prepared(text: Features, here: Here, kind: int) -> Actions:
    """What it takes to prepare a row, with call and return."""
    if text.straight:
        return ()
    call = jumped(text.jump * (here.prepares or text.calls_prepare(here)))
    actions: list[Action] = [*call, ("code", text.code.prepare)]
    if here.sends:
        actions += _prepared_to_send(text, kind)
    actions += text.bit(kind & INTO)
    if kind & INTO:
        actions += _prepared_to_receive(text, kind)
    return _joined([*actions, *call])


def _prepared_to_send(text: Features, kind: int) -> Iterator[Action]:
    code = text.code
    if text.cuts:
        yield from text.bit(kind & OUT)
        yield "code", code.bounds_out * (kind & OUT > 0)
    else:
        yield "code", code.prepare_send + code.prepare_out_size * (not text.alike)


def _prepared_to_receive(text: Features, kind: int) -> Iterator[Action]:
    code, staged = text.code, kind & (STAGES | APPLIES)
    size = code.prepare_in_size * (not text.alike)
    yield "code", code.bounds_into if text.cuts else code.prepare_receive + size
    if text.areas:
        yield from text.bit(staged)
    if staged:
        yield "code", code.prepare_stage + code.stage_area * (text.areas > 1)
