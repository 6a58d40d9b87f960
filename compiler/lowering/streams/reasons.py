"""Why a phase made of steps is no stream, in words for whoever wrote the steps."""

from __future__ import annotations

from collections.abc import Iterator

from collc.base.paths import Path
from collc.lowering.streams.recognition import MANY, held_after, recognised
from collc.spec.exchange import StepsPhase


def why_not(phase: StepsPhase, *, path: Path | None, own_only: bool, in_code: bool) -> str:
    """Why no form of a stream does what a phase does; nothing if one does. `own_only` says that
    only its own slice is asked of a rank afterwards, `in_code` that elements are combined by a
    call-back."""
    if recognised(phase, own_only=own_only and not in_code) is None:
        return next(_unrecognised(phase, own_only=own_only, in_code=in_code))
    if path is not None and path.gaps:
        return "its order is not contiguous"
    return ""


def _unrecognised(phase: StepsPhase, *, own_only: bool, in_code: bool) -> Iterator[str]:
    """The reasons, the first of which is the one."""
    combines = phase.combines
    if phase.wide:
        yield "an instruction takes two wavelets (`in simd`)"
    count = phase.slicing.count
    if (count > 1 and count % phase.ranks) or not phase.slicing.length:
        yield f"vectors have {count} slices, not one for each of {phase.ranks} ranks"
    elif count > phase.ranks and not phase.slicing.even:
        yield f"vectors have {count} slices, of different lengths"
    if phase.places != tuple(range(phase.ranks)):
        yield "ranks are in another order than PEs"
    if combines and not own_only:
        yield "more than its own slice is asked of a rank afterwards"
    if combines and in_code:
        yield "elements are combined by a call-back"
    if combines and phase.ranks < MANY:
        yield "there is nothing to combine on the way"
    if combines:
        yield "slices are combined in another order than along the line, from both ends"
    if held_after(phase) is None:
        yield "slices are passed on by ranks that have received them"
    yield "what it leaves is not what a gather, scatter, allgather or all_to_all leaves"
