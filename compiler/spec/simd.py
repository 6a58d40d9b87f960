"""What an instruction takes of the fabric: pairs of 16-bit elements, or two wavelets (D75, D76).

Two 16-bit elements of a wavelet are sent, or received and combined, in the cycle that one takes.
All fabric operands of a phase go in pairs, or none does: what sends and what receives has to agree.
Half a wavelet has no meaning that is documented, so a phase goes in pairs only where all its
operations have an even number of elements. An exchange that is wide takes two wavelets by one
instruction, so that a PE sends and receives at the rate of a link at the same time.
"""

from typing import Protocol

from collc.spec import Contract
from collc.spec.arithmetic import arithmetic_of
from collc.spec.exchange import Slicing
from collc.target import Target

PAIR = 2  # elements of a wavelet
WIDE = 2  # wavelets of an instruction
WAVELET_BYTES = 4


class Cut(Protocol):
    """A phase whose vectors are cut into slices, as it is scheduled or as it is planned."""

    @property
    def slicing(self) -> Slicing:
        """How they are cut."""

    @property
    def combines(self) -> bool:
        """Whether any of them is combined with what is there."""


def elements_of_wavelet(contract: Contract) -> int:
    """Elements that a wavelet has room for; of a pair it has room for one of the two words."""
    return max(1, WAVELET_BYTES // contract.element.bytes)


def goes_in_pairs(contract: Contract, target: Target, *, combines: bool) -> bool:
    """Whether vectors travel so in a phase that only moves them, or that combines them while they
    are received."""
    even = contract.length % PAIR == 0 and contract.run_length is None and contract.apart == 1
    two = elements_of_wavelet(contract) == PAIR
    by_instruction = not combines or (
        not by_call_back(contract) and takes_several(contract, target)
    )
    return target.pairs and even and two and by_instruction


def slices_go_in_pairs(phase: Cut, contract: Contract, target: Target) -> bool:
    """Whether the slices of an exchange travel so; what is combined by call-backs waits in a stage
    for that."""
    combines = phase.combines and not by_call_back(contract)
    return phase.slicing.grain % PAIR == 0 and goes_in_pairs(contract, target, combines=combines)


def can_be_wide(phase: Cut, contract: Contract, target: Target) -> bool:
    """Whether an instruction can take two wavelets of the slices of an exchange."""
    able = contract.apart == 1 and (not phase.combines or takes_several(contract, target))
    packed = elements_of_wavelet(contract) == 1 or slices_go_in_pairs(phase, contract, target)
    return able and packed and phase.slicing.grain % (WIDE * elements_of_wavelet(contract)) == 0


def has_pairs_of_wavelets(contract: Contract) -> bool:
    """Whether a vector has an even number of wavelets in every call, where wavelets are 32 bits
    each. An instruction that takes two waits for both, so of an odd number it would never take the
    last one [doc, DSDs, SIMD mode]."""
    fixed = contract.run_length is None and contract.length % WIDE == 0
    return fixed or contract.element.words % WIDE == 0


def may_go_backward(*, paired: bool, wide: bool) -> bool:
    """Whether slices may be passed from their last element to their first; backwards an instruction
    takes two elements at most."""
    return not (paired and wide)


def by_call_back(contract: Contract) -> bool:
    """Whether elements are combined by a call-back."""
    return arithmetic_of(contract.element, contract.operation).kind == "map"


def takes_several(contract: Contract, target: Target) -> bool:
    """Whether an instruction may take several elements where it combines; a call-back takes what an
    instruction has moved."""
    if contract.operation is None or by_call_back(contract):
        return True
    return (contract.operation.value, contract.element.word.bytes) not in target.one_by_one


def wavelets(contract: Contract, target: Target, *, combines: bool) -> int:
    """Wavelets of a vector in a phase of whole vectors."""
    return contract.words // (PAIR if goes_in_pairs(contract, target, combines=combines) else 1)
