"""`run ... in simd`: instructions take two wavelets of the fabric (D76)."""

from collc.base.diagnostics import Span
from collc.language.problems import problem
from collc.language.syntax import RunClause
from collc.spec import Algorithm, Contract
from collc.spec.simd import WIDE, elements_of_wavelet, takes_several
from collc.target import Target

SIMD = "simd"


def is_wide(
    clause: RunClause, algorithm: Algorithm, contract: Contract | None, target: Target
) -> bool:
    """Whether instructions take two wavelets; without a `contract` its problem has been told."""
    if clause.taken is None:
        return False
    if clause.taken.text != SIMD:
        message = f"steps are not run in {clause.taken.text}"
        raise problem("C173", message, clause.taken.span, help=f"write `in {SIMD}`")
    if contract is not None:
        _check_wide(algorithm, contract, target, clause.span)
    return True


def _check_wide(algorithm: Algorithm, contract: Contract, target: Target, span: Span) -> None:
    """An instruction takes two wavelets only where it combines so many elements at once, and where
    slices have them."""
    combines = any(bool(moves.combines.any()) for moves in algorithm.steps)
    if combines and not takes_several(contract, target):
        assert contract.operation is not None, "what combines has an operation"
        kind = f"{contract.operation.value} of {contract.element.value}"
        message = f"{target.name} takes {kind} one element at a time, not two wavelets at once"
        raise problem("C173", message, span, help="leave `in simd` out")
    if contract.apart > 1:
        message = "elements that are not next to each other are taken one at a time"
        place = (contract.span, f"they are {contract.apart} apart")
        raise problem("C173", message, span, place, help="leave `in simd` out")
    group = WIDE * elements_of_wavelet(contract)
    many = group * (algorithm.slices if contract.names_slices else 1)
    if contract.length == 0 or contract.length % many:
        message = f"two wavelets at once are {group} elements, and slices have to be made of them"
        help = f"make the length a multiple of {many}, or leave `in simd` out"
        raise problem("C173", message, span, (contract.span, "its vectors"), help=help)
