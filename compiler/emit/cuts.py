"""How the vectors of a phase are cut: the one place that knows where a plan says so."""

from dataclasses import replace

from collc.base.values import dataclass
from collc.plan import Phase
from collc.plan.streams import stage_of
from collc.spec import Contract
from collc.spec.exchange import Blocks, Slicing
from collc.spec.simd import has_pairs_of_wavelets


@dataclass(frozen=True)
class Cut:
    """The slices of a phase; of whole vectors there is one. `blocks` say where those of a line
    begin. The stage has room for so many elements. With `dynamic_length` the length is that of a
    call."""

    slicing: Slicing
    blocks: Blocks | None = None
    stage: int = 0
    dynamic_length: bool = False

    @property
    def stages_one_slice(self) -> bool:
        """Whether the stage has room for less than the vector."""
        return 0 < self.stage < self.slicing.length


def cut_of(phase: Phase, contract: Contract) -> Cut:
    """How the vectors of a phase are cut, counted in words, of which elements may have several."""
    words, of = contract.element.words, phase.slicing
    dynamic = of.dynamic and of.count > 1  # one slice has the length of the vector
    slicing = replace(of, length=of.length * words, grain=of.grain * words, dynamic=dynamic)
    return Cut(slicing, phase.blocks, stage_of(phase) * words, dynamic)


def simd_of(phase: Phase, contract: Contract) -> str:
    """What an instruction takes of the fabric, in CSL; empty for an element."""
    if phase.wide:
        several = cut_of(phase, contract).slicing.count > 1 or has_pairs_of_wavelets(contract)
        return "simd_64" if several else "simd_32_or_64"
    return "simd_32" if phase.paired else ""


def operation_of(phase: Phase, contract: Contract) -> str:
    """What ends the names of the files for the operations of a phase."""
    operation = contract.operation.value if contract.operation else "move"
    if contract.operation and contract.element.pair_of:
        operation += f"_{contract.element.pair_of.value}"
    simd = simd_of(phase, contract)
    return "_".join([operation, contract.element.word.value, *([simd] if simd else [])])


def first_of_block(blocks: Blocks, line: str, words: int) -> str:
    """What a layout computes for the lines at coordinate `line`; lines stand in their order, the
    other way round, or as a ring, and elements have so many words."""
    count = len(blocks.lines)
    rank = _rank(blocks.lines, line)
    if blocks.length % count == 0:
        return f"({rank} * {blocks.length // count * words})"
    first = f"@as(u16, ((@as(u32, {rank}) * {blocks.length}) / {count}))"
    return first if words == 1 else f"({first} * {words})"


def _rank(lines: tuple[int, ...], line: str) -> str:
    """The block of the line at a coordinate."""
    count = len(lines)
    ranks = {coordinate: rank for rank, coordinate in enumerate(lines)}
    forward, backward = line, f"({count - 1} - {line})"
    half = f"({line} / 2)"
    if all(rank == at for at, rank in ranks.items()):
        return forward
    if all(rank == count - 1 - at for at, rank in ranks.items()):
        return backward
    folded = {at: at // 2 if at % 2 == 0 else count - 1 - at // 2 for at in range(count)}
    assert ranks == folded, "an order of lines that there is"
    return f"(if (({line} % 2) == 0) {half} else ({count - 1} - {half}))"
