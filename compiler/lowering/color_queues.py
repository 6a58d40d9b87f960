"""Queues for colors that phases share: each keeps its own in every phase.

A queue belongs to one color on a PE, and an operation runs on the microthread with the number of
its output queue, else of its input queue. In an exchange operations run beside each other, so a
color that a PE receives on must not have an input queue with the number of the output queue of one
that it sends on meanwhile.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, product

from collc.base.columns import Bools
from collc.lowering.resources import assignments, take
from collc.plan import Phase, leaders_of
from collc.plan.pe_masks import receiving, sending, union_by_key
from collc.plan.placement import beside, runs_beside
from collc.spec import Collective
from collc.spec.simd import WIDE
from collc.target import Target

TRIES = 20_000  # numbers that are tried: how long is searched, no number of a machine
DEALS = 256  # of output queues

Taken = tuple[Collective, Phase, dict[str, int]]  # a phase, with the place of each of its colors


def queues_of_colors(
    taken: Sequence[Taken], count: int, target: Target
) -> list[tuple[int, int]] | None:
    """Numbers of an input and an output queue for each of `count` colors; None if the target's do
    not suffice.

    Every color has its own if there are enough, and no number is that of both an input and an
    output queue unless there are too few: then preferably of the same color, which most PEs do not
    send and receive on in one phase. If need be, colors that no PE has both of share a queue; then,
    where the machine binds output queues to no color, also those that no PE sends on at once, if
    phases cut their vectors. Those of wide phases in which a PE does one thing at a time have one
    number for both, since the output queues that hold most come first, and input queues of these
    numbers do so, too.
    """
    together = _beside(taken)
    wide = {
        k
        for _, phase, places in taken
        if phase.wide and not runs_beside(phase)
        for k in places.values()
    }
    every = set(combinations(range(count), 2))

    def ways() -> Iterator[tuple[set[tuple[int, int]], set[tuple[int, int]]]]:
        """Which colors have input queues apart, and which output queues."""
        yield every, every
        received = _together(taken, receiving)
        yield received, _together(taken, sending)
        if not target.binds_output_queues:
            yield received, _at_once(taken)

    found = (_both(target, one, together, wide, count) for one in ways())
    return next((one for one in found if one is not None), None)


def as_wide_as_queues(
    phase: Phase, places: Mapping[str, int], queues: Sequence[tuple[int, int]], target: Target
) -> Phase:
    """The phase, if its PEs do one thing at a time two wide only if its queues hold twice what an
    instruction takes: with smaller ones many cycles go by until they are full again (D370).
    `queues` are the input and the output queue at each position, `places` the positions of the
    phase's colors."""
    if runs_beside(phase):
        return phase
    words = (
        min(target.input_queue_words[into], target.output_queue_words[out])
        for into, out in (queues[k] for k in places.values())
        if into < len(target.input_queue_words) and out < len(target.output_queue_words)
    )
    return replace(phase, wide=phase.wide and min(words, default=0) >= 2 * WIDE)


def too_few_queues(count: int, target: Target) -> list[tuple[int, int]]:
    """Numbers where the target's do not suffice, past its last, which a check refuses."""
    outputs = take(target.output_queues, count)
    free = [q for q in target.input_queues if q not in outputs]
    first = max((*target.input_queues, *outputs), default=-1) + 1
    return list(zip((*free, *range(first, first + count)), outputs, strict=False))


def _preferred(target: Target, outputs: Sequence[int], color: int, wide: bool) -> list[int]:
    """The numbers of input queues for a color, those first that are no output queue's, or that of
    its own if it is a wide phase's."""
    free = [q for q in target.input_queues if q not in outputs]
    own = [q for q in target.input_queues if q == outputs[color]]
    first = own + free if wide else free + own
    return first + [q for q in target.input_queues if q not in {*free, *own}]


def _beside(taken: Sequence[Taken]) -> set[tuple[int, int]]:
    """Colors, one that a PE receives on while it sends on the other."""
    return {
        (places[into], places[out]) for _, phase, places in taken for into, out in beside(phase)
    }


def _together(
    taken: Sequence[Taken], having: Callable[[Collective, Phase], dict[str, Bools]]
) -> set[tuple[int, int]]:
    """Pairs of colors that some PE has both of, in whatever phases."""
    masks = _having(taken, having)
    return _meeting(masks, masks)


def _having(
    taken: Sequence[Taken], having: Callable[[Collective, Phase], dict[str, Bools]]
) -> dict[int, Bools]:
    """The PEs that have each color, in whatever phase."""
    return union_by_key(
        (places[color], mask)
        for collective, phase, places in taken
        for color, mask in having(collective, phase).items()
    )


def _meeting(masks: Mapping[int, Bools], others: Mapping[int, Bools]) -> set[tuple[int, int]]:
    """Pairs of colors, one of each, that some PE has both of."""
    return {
        (min(i, j), max(i, j))
        for i, j in product(masks, others)
        if i != j and bool((masks[i] & others[j]).any())
    }


def _at_once(taken: Sequence[Taken]) -> set[tuple[int, int]]:
    """Pairs of colors that must not have one output queue even where it is bound to no color: that
    some PE sends both on, on lanes of one phase that do not run in turn, or in phases of which one
    does not cut its vectors."""
    whole = _having([one for one in taken if one[1].whole], sending)
    found = _meeting(whole, whole)
    for one in taken:
        _, phase, places = one
        found |= _meeting(whole, _having([one], sending))
        leaders = leaders_of(phase)
        for role in phase.roles:
            for lane, other in combinations(role.lanes, 2):
                if leaders.get(lane.name, lane.name) != leaders.get(other.name, other.name):
                    pairs = product(lane.sends, other.sends)
                    numbers = [(places[a], places[b]) for a, b in pairs]
                    found |= {(min(pair), max(pair)) for pair in numbers}
    return found


def _both(
    target: Target,
    apart: tuple[set[tuple[int, int]], set[tuple[int, int]]],
    beside: set[tuple[int, int]],
    wide: set[int],
    colors: int,
) -> list[tuple[int, int]] | None:
    """Input and output queues of colors: the first output queues that leave all colors an input
    queue."""
    inputs_apart, outputs_apart = apart
    every = [target.input_queues] * colors
    if _dealt(every, inputs_apart, set()) is None:
        return None
    for outputs in islice(_deals([target.output_queues] * colors, outputs_apart, set()), DEALS):
        ways = [_preferred(target, outputs, color, color in wide) for color in range(colors)]
        banned = {(color, outputs[other]) for color, other in beside}
        inputs = _dealt(ways, inputs_apart, banned)
        if inputs is not None:
            return list(zip(inputs, outputs, strict=True))
    return None


def _deals(
    ways: Sequence[Sequence[int]], apart: set[tuple[int, int]], banned: set[tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    """A number for each color, of its `ways`: not the same for two that are kept `apart`, none that
    is `banned` for it. None any more when `TRIES` numbers have been tried, as it may take more than
    any number of them to know."""
    colors = range(len(ways))
    met = [[other for other in range(color) if (other, color) in apart] for color in colors]
    kept = [{number for one, number in banned if one == color} for color in colors]
    return assignments(met, ways, kept, range(TRIES))


def _dealt(
    ways: Sequence[Sequence[int]], apart: set[tuple[int, int]], banned: set[tuple[int, int]]
) -> tuple[int, ...] | None:
    """The first of them; None if there are none."""
    return next(_deals(ways, apart, banned), None)
