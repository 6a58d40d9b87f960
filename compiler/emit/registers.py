"""Data-structure registers of a module: parameters, which the file that imports it gives it.

A number is got once for a file in a whole program [doc, page on DSRs], so no module gets one by
itself: the file that imports it does, and may give phases that never run on one PE the same one.
The operands of one operation in `dsr_dest` and `dsr_src0` have one number (D95). For an
operation on DSDs the vendor's compiler takes registers that no file gets (D115).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from collc.base.values import dataclass
from collc.emit.exchange import ExchangeModel
from collc.emit.phase_context import PhaseContext
from collc.emit.roles import Shape
from collc.emit.streams import StreamModel
from collc.lowering.ids import Ids

SHORT = {"dsr_dest": "dest", "dsr_src0": "src0", "dsr_src1": "src1"}
_GOT = re.compile(r"\b(dest|src0|src1)_dsr_(\d+)\b")
_CONTROL = "where the control wavelet goes"  # what a register is for
SOURCE = "dsr_src1"  # the file whose numbers count by themselves; those of the others are pairs


@dataclass(frozen=True)
class RegisterModel:
    """A register that a module has as a parameter: its name there, its file, and the position of
    its number among those of the pairs, or of `dsr_src1`. `given` is what the importing file calls
    it, or an expression where that depends on the PE, with a negative position."""

    name: str
    type: str
    position: int
    about: str
    given: str = ""


@dataclass(frozen=True)
class GotModel:
    """A register that a file gets: its name, its file, its number as an expression."""

    name: str
    type: str
    number: str


def name_of(type: str, number: int) -> str:
    """What the register of a file with a number is called where it is got."""
    return f"{SHORT[type]}_dsr_{number}"


def given_registers(
    registers: Iterable[RegisterModel], pairs: Callable[[int], int], sources: Callable[[int], int]
) -> tuple[RegisterModel, ...]:
    """The registers of a module with what they are given: the numbers at their positions."""
    return tuple(
        one
        if one.position < 0
        else replace(
            one, given=name_of(one.type, (sources if one.type == SOURCE else pairs)(one.position))
        )
        for one in registers
    )


def of_color(type: str, queue: str, colors: Iterable[int]) -> str:
    """The register that sends control wavelets on the color whose position is that of a queue: the
    pairs and the sources of a program's colors come first."""
    *others, last = (name_of(type, color + 1) for color in sorted(colors))
    positions = sorted(colors)
    chosen = zip(positions, others, strict=False)
    return "".join(f"if ({queue} == {at}) {name} else " for at, name in chosen) + last


def got(names: Iterable[str], number_of: Callable[[int], str]) -> tuple[GotModel, ...]:
    """The registers that these expressions name, each once, in order."""
    types = {short: type for type, short in SHORT.items()}
    found = (_GOT.findall(name) for name in names)
    parted = sorted({(short, int(number)) for all_of in found for short, number in all_of})
    return tuple(
        GotModel(name_of(types[short], number), types[short], number_of(number))
        for short, number in parted
    )


def registers_of_vector(
    shapes: Iterable[Shape], by_numbers: bool, position: int
) -> Iterator[RegisterModel]:
    """The pair of the vector in memory, where operations of trees go to it; those that combine
    vectors there may take registers `by_numbers`."""
    all_shapes = tuple(shapes)
    stores = any(shape.stores for shape in all_shapes) and by_numbers
    if stores or any(shape.copies for shape in all_shapes):
        yield RegisterModel("vector_dest", "dsr_dest", position, "the vector, where it is written")
    if stores:
        yield RegisterModel("vector_src0", "dsr_src0", position, "and read in the same operation")


def registers_of_tree(  # noqa: PLR0913, PLR0917 - what the registers depend on
    name: str,
    shape: Shape,
    by_call_back: bool,
    stored_by_numbers: bool,
    ids: Ids,
    control: tuple[str, str] | None = None,
    *,
    context: PhaseContext,
) -> Iterator[RegisterModel]:
    """The registers of a phase of a tree; takes the positions it needs from `ids`. What combines
    vectors in memory has its register `stored_by_numbers`, or from the compiler. `control` are the
    registers that send control wavelets, if these are no registers of the phase. Where phases
    have registers in turn, those of the control wavelet are the vector's, loaded behind it. One
    that ends torn down sends it from no memory, by a register of its own if it has one. In a
    one-word collective what stores has all registers for itself."""
    given = context.given
    if shape.stores and not by_call_back and (stored_by_numbers or context.one_word):
        yield from _registers_of_storing(name, ids, context.one_word)
    if shape.sends:
        pair = ids.take("pairs")
        yield RegisterModel(f"{name}_send_dest", "dsr_dest", pair, "where the vector goes")
        if shape.combines and not by_call_back:
            about = "the vector, combined on its way out"
            yield RegisterModel(f"{name}_send_src0", "dsr_src0", pair, about)
    if shape.sends or shape.copies:
        moved = ids.take("sources")
        if shape.sends:
            about = "the vector that comes last, or this PE's own"
            about = about if shape.combines else "the vector"
            yield RegisterModel(f"{name}_send_src1", SOURCE, moved, about)
        if shape.copies:
            about = "the vector that is broadcast, as it comes"
            yield RegisterModel(f"{name}_copy_src1", SOURCE, moved, about)
    if shape.controls and given.ends_torn_down:
        pair = ids.take("pairs") if given.own_control else ids.pairs - 1
        yield RegisterModel(f"{name}_control_dest", "dsr_dest", pair, _CONTROL)
    elif shape.controls:
        yield from _registers_of_control(name, ids, control, given.late)


def _registers_of_control(
    name: str, ids: Ids, control: tuple[str, str] | None, in_turn: bool
) -> Iterator[RegisterModel]:
    """Those that send a control wavelet, and read it in memory."""
    dest, source = control or ("", "")
    if control:
        pair, word = -1, -1
    elif in_turn:
        pair, word = ids.pairs - 1, ids.sources - 1
    else:
        pair, word = ids.take("pairs"), ids.take("sources")
    yield RegisterModel(f"{name}_control_dest", "dsr_dest", pair, _CONTROL, dest)
    yield RegisterModel(f"{name}_control_src1", SOURCE, word, "the control wavelet", source)


def _registers_of_storing(name: str, ids: Ids, one_word: bool) -> Iterator[RegisterModel]:
    """Those of what combines vectors in memory, beside the vector's pair or with one of its own."""
    if one_word:
        pair, about = ids.take("pairs"), "the word, where others are combined with it"
        yield RegisterModel(f"{name}_store_dest", "dsr_dest", pair, about)
        yield RegisterModel(f"{name}_store_src0", "dsr_src0", pair, about)
    about = "vectors that are combined in memory, as they come"
    yield RegisterModel(f"{name}_store_src1", SOURCE, ids.take("sources"), about)


def registers_of_stream(stream: StreamModel) -> Iterator[RegisterModel]:
    """The registers of the lanes of a stream, as far as some PE uses them."""
    for lane in stream.lanes:
        name, pair, source = lane.name, lane.pair, lane.source
        sent = int(lane.receives)  # behind those of what it receives
        if lane.receives:
            yield RegisterModel(f"{name}_in_src1", SOURCE, source, "from the fabric")
            if lane.keeps:
                yield RegisterModel(f"{name}_to_dest", "dsr_dest", pair, "the slices received")
            if lane.combines:
                about = "the same slices as a source"
                yield RegisterModel(f"{name}_to_src0", "dsr_src0", pair, about)
        if lane.sends and lane.by == name:
            yield RegisterModel(f"{name}_from_src1", SOURCE, source + sent, "the slices sent")
            yield RegisterModel(f"{name}_out_dest", "dsr_dest", pair + sent, "to the fabric")
            if lane.through:
                about = "the slices sent, combined on their way"
                yield RegisterModel(f"{name}_out_src0", "dsr_src0", pair + sent, about)
    if stream.ready:
        phase, about = stream.lanes[0].phase, "where what is staged is moved"
        yield RegisterModel(f"{phase}_moved_dest", "dsr_dest", stream.pair, about)
        yield RegisterModel(f"{phase}_staged_src1", SOURCE, stream.source, "what is staged")


def registers_of_lanes(
    exchange: ExchangeModel, controls: Mapping[str, str]
) -> Iterator[RegisterModel]:
    """The registers of the lanes of an exchange. `controls` are those that send control wavelets,
    by lane; where there are none no lane sends any by a register."""
    for lane in exchange.lanes:
        name, pair, source = lane.name, lane.pair, lane.source
        yield RegisterModel(f"{name}_in_src1", SOURCE, source, "from the fabric")
        yield RegisterModel(f"{name}_to_dest", "dsr_dest", pair, "the slice it is written to")
        if exchange.combines:
            about = "the same slice as a source"
            yield RegisterModel(f"{name}_to_src0", "dsr_src0", pair, about)
        yield RegisterModel(f"{name}_from_src1", SOURCE, source + 1, "the slice that is sent")
        yield RegisterModel(f"{name}_out_dest", "dsr_dest", pair + 1, "to the fabric")
        if controls:
            about = "where the control wavelet goes"
            yield RegisterModel(f"{name}_control_dest", "dsr_dest", -1, about, controls[name])
