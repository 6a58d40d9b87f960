"""16-bit elements that travel two to a wavelet (D75).

Two of them are sent, or received and combined, in the cycle that one takes. All fabric operands of
a phase go in pairs, or none does: what sends and what receives has to agree. Half a wavelet has no
meaning that is documented, so a phase goes in pairs only where all its operations have an even
number of elements.
"""

from __future__ import annotations

from collc.arithmetic import arithmetic_of
from collc.spec import Contract
from collc.steps import StepsPhase
from collc.target import Target

PAIR = 2
WAVELET_BYTES = 4


def goes_in_pairs(contract: Contract, target: Target, *, combines: bool) -> bool:
    """Whether vectors travel so in a phase that only moves them, or that combines them."""
    even = contract.length % PAIR == 0 and contract.run_length is None
    moved = contract.element.bytes * PAIR == WAVELET_BYTES
    return target.pairs and even and moved and (not combines or _combined(contract, target))


def slices_go_in_pairs(phase: StepsPhase, contract: Contract, target: Target) -> bool:
    """Whether the slices of an exchange travel so."""
    combines = any(bool(moves.combines.any()) for moves in phase.steps)
    return phase.slicing.grain == PAIR and goes_in_pairs(contract, target, combines=combines)


def _combined(contract: Contract, target: Target) -> bool:
    """Whether the machine combines two elements by one instruction."""
    operation = contract.operation
    if operation is None or arithmetic_of(contract.element, operation).kind == "map":
        return False
    return (operation.value, contract.element.bytes) not in target.one_by_one


def wavelets(contract: Contract, target: Target, *, combines: bool) -> int:
    """Wavelets of a vector in such a phase."""
    return contract.length // (PAIR if goes_in_pairs(contract, target, combines=combines) else 1)
