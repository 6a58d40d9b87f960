"""What a contract promises of the segments of a line: where, whose contributions, of which place.

A contract of the user's own says it rank by rank; of the language's contracts it is known. Both
become the same value, with which `collc.proof.line` compares what the places hold.
"""

import numpy as np

from collc.base.columns import Bools, Ints, Words, repeated_rows
from collc.base.values import dataclass
from collc.proof.contributions import Block, Cut, all_of, one_of
from collc.spec import Contract, ContractKind
from collc.spec.custom_contract import Holdings, OwnContract
from collc.spec.exchange import Slicing

_EVERYWHERE = frozenset(
    (
        ContractKind.BROADCAST,
        ContractKind.ALLREDUCE,
        ContractKind.ALLGATHER,
        ContractKind.BARRIER,
        ContractKind.ALL_TO_ALL,
    )
)


@dataclass(frozen=True, eq=False)
class Due:
    """What is promised of a block, by place and segment: whether anything is, which of the `sets`
    of contributions, and the segment that these were at first."""

    promised: Bools
    who: Ints
    sets: Words
    origin: Ints


def due_of(contract: Contract, places: Ints, root: int, cut: Cut, block: Block) -> Due:
    """The postcondition of a contract; rank r stands at `places[r]`, its root at `root`."""
    if contract.own is not None:
        return _due_of_own(contract.own, contract.length, cut, block)
    return _due_of_kind(contract, places, root, cut, block)


def has_before(own: OwnContract, length: int, cut: Cut, block: Block) -> Bools:
    """The precondition: which segments of a block the places have."""
    found = np.ones((own.ranks, block.last - block.first), np.bool_)
    if own.given is not None:
        found[:] = False
        place, _, into, _ = _segments(own, own.given, length, cut, block)
        found[place, into] = True
    return found


def _due_of_kind(contract: Contract, places: Ints, root: int, cut: Cut, block: Block) -> Due:
    """What the language's own contracts promise."""
    kind, count = contract.kind, len(places)
    shape = (count, block.last - block.first)
    segments = np.arange(block.first, block.last)
    origin = np.tile(segments, (count, 1))
    starts = cut.of_slices(Slicing(count, contract.length))
    owner = np.zeros(len(segments), np.int64)  # the place that a segment belongs to
    if kind.by_slices:
        owner = places[np.searchsorted(starts, segments, side="right") - 1]
    promised = np.zeros(shape, np.bool_)
    if kind in _EVERYWHERE:
        promised[:] = True
    elif kind in (ContractKind.REDUCE, ContractKind.GATHER):
        promised[root] = True
    else:
        promised[owner, np.arange(len(segments))] = True
    if kind.reduces or kind is ContractKind.BARRIER:
        who = np.full(shape, count)
    elif kind in (ContractKind.BROADCAST, ContractKind.SCATTER):
        who = np.full(shape, root)
    else:
        who = np.tile(owner, (count, 1))
    if kind is ContractKind.ALL_TO_ALL:
        # Slice c of rank r is slice r of rank c: as far into it as this segment is into its own.
        rank = np.argsort(places)
        origin = starts[rank][:, None] + (segments - starts[rank[owner]])[None, :]
    words = (count + 63) // 64
    singles = np.stack([one_of(place, words) for place in range(count)])
    return Due(promised, who, np.concatenate([singles, all_of(count)[None, :]]), origin)


def _due_of_own(own: OwnContract, length: int, cut: Cut, block: Block) -> Due:
    """What a contract of the user's own promises."""
    shape = (own.ranks, block.last - block.first)
    place, whose, into, origin_of = _segments(own, own.promised, length, cut, block)
    origin = np.zeros(shape, np.int64)
    origin[place, into] = origin_of
    held = np.zeros((*shape, (own.ranks + 63) // 64), np.uint64)
    bits = np.left_shift(np.uint64(1), (whose % 64).astype(np.uint64))
    np.bitwise_or.at(held, (place, into, whose // 64), bits)
    flat = held.reshape(-1, held.shape[-1])
    sets, who = np.unique(flat, axis=0, return_inverse=True)
    return Due(np.asarray(held.any(axis=-1)), who.reshape(shape), sets, origin)


def _segments(
    own: OwnContract, held: Holdings, length: int, cut: Cut, block: Block
) -> tuple[Ints, Ints, Ints, Ints]:
    """Holdings segment by segment: at which place, from which one, at which segment of the block,
    and which segment that was at first."""
    places = np.array(own.places, dtype=np.int64)
    starts = cut.of_slices(Slicing(own.slices, length))
    shift = starts[held.slice] - starts[held.into]
    first = np.maximum(starts[held.into], block.first)
    last = np.minimum(starts[held.into + held.count], block.last)
    counts = np.maximum(last - first, 0)
    row, within = repeated_rows(counts)
    into = first[row] + within
    return places[held.holder[row]], places[held.whose[row]], into - block.first, into + shift[row]
