"""What operations take on elements in memory, and call-backs on words: rates and cycles of a plan.

All of it is the machine's (`collc.target.constants`, docs/machine.md, M4-8) but for what call-backs
take, which is that of their text.
"""

from __future__ import annotations

from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.plan import Plan
from collc.spec import Contract
from collc.spec.arithmetic import arithmetic_of
from collc.target import Target


@dataclass(frozen=True)
class Rates:
    """Elements a cycle that operations in memory negate, copy from another buffer, combine and
    move. An element that two are combined to takes `combine` cycles; `maps` says that a call-back
    does it. From taking a word to sending its result on it takes `answer` cycles, of the last word
    of an element `last_answer`."""

    negate: int
    copy: int
    combines: int
    moves: int
    combine: int
    maps: bool
    answer: int
    last_answer: int


@memoized
def rates_of(plan: Plan) -> Rates:
    """Those of a plan's vectors on its target."""
    target, contract = plan.target, plan.collective.contract
    engine = target.cycles.engine
    arithmetic = arithmetic_of(contract.element, contract.operation)
    combine = arithmetic.cycles_per_element(target)
    maps = arithmetic.kind == "map"
    value, index = combine, combine
    if maps and contract.element.words > 1:
        value, index = arithmetic.pair_value_cycles(target), target.code.pair_kept
    plain = _rate(engine.negate_words, contract)
    return Rates(
        negate=plain,
        copy=_rate(engine.negate_words, contract, max(contract.apart, contract.stride)),
        combines=_combining(contract, target),
        moves=plain,
        combine=combine,
        maps=maps,
        answer=value,
        last_answer=index,
    )


def _combining(contract: Contract, target: Target) -> int:
    operation, size = contract.operation, contract.element.word.bytes
    alone = operation is not None and (operation.value, size) in target.one_by_one
    return 1 if alone else _rate(target.cycles.engine.combine_words, contract)


def _rate(words: int, contract: Contract, apart: int = 0) -> int:
    """Elements a cycle of an operation in memory that takes so many words of 16 bits in a row; what
    is between elements counts, but one is taken in any case (docs/machine.md, M4-8)."""
    return max(1, words // (contract.element.word.bytes // 2 * (apart or contract.apart)))


def depth_of(words: tuple[int, ...], queue: int) -> int:
    """Wavelets that a queue holds; a plan may ask for more queues than there are."""
    return words[min(queue, len(words) - 1)]
