"""Every vector of a reduce arrives, in order, and nothing waits for ever.

One line of each phase is run with whole vectors as tokens: PEs go through their steps, routers
through their positions. A router takes a token only from the direction of its position, a PE only
the token that its step waits for, and tokens of a color never overtake each other. What each part
does depends only on the tokens it has taken, so any order of moves leads to the same end, and a
run that ends well shows that no order of arrivals can go wrong. In particular both ends of each
link see the vectors of a color in the same order, and control wavelets move what they should.

What the root of a one-word collective (`collc.plan.one_word`) sends to all goes on a color of the
phase behind, which `multicast` follows.
"""

from collections import deque
from collections.abc import Iterator, Sequence

from collc.base.diagnostics import Diagnostic
from collc.base.memoize import memoized
from collc.checks.by_phase import due_tree, in_phase, phases_of
from collc.plan import Phase, Plan
from collc.plan.form import Form
from collc.plan.geometry import line_of
from collc.plan.line_tokens import LineTokens, run_tokens
from collc.plan.one_word import is_one_word
from collc.schedule import ReducePhase

SHOWN_VECTORS = 6

Children = tuple[tuple[int, ...], ...]  # by rank, those that it receives from


def delivery(plan: Plan) -> Iterator[Diagnostic]:
    """C314 vectors get stuck, C315 a wrong vector arrives, C316 a stray control wavelet."""
    for phase in phases_of(plan, Form.TREE):
        to_all = plan.phases[-1].name if is_one_word(plan) and phase is plan.phases[-2] else ""
        yield from _problems(phase, due_tree(plan, phase), to_all=to_all)


@memoized
def _problems(phase: Phase, tree: ReducePhase, *, to_all: str) -> tuple[Diagnostic, ...]:
    """What is wrong with a line; on a path of many thousand ranks it takes seconds to know."""
    if line_of(phase).ranks != tree.ranks:
        return ()  # another check says so
    run, due = run_tokens(phase, to_all), tree.children
    return (
        *_stuck(phase, run),
        *_wrong_vectors(phase, due, run),
        *_stray_controls(phase, due, run),
    )


def _stuck(phase: Phase, run: LineTokens) -> Iterator[Diagnostic]:
    """C314: a PE that does not come to its end, or a vector on its way when all is quiet."""
    waiting = run.waiting()
    left = _left(run.links) or _left(run.ramps)
    if not waiting and not left and not run.lost:
        return
    parts = [f"rank {rank} waits for a vector on `{color}`" for rank, color in waiting[:1]]
    if left:
        rank, color, source = left
        parts.append(f"the vector of rank {source} waits at the router of rank {rank} on `{color}`")
    if run.lost:
        parts.append(f"the vector of rank {run.lost[0]} leaves the line")
    yield Diagnostic(
        "C314",
        f"`{phase.name}` gets stuck: {', '.join(parts)}",
        phase.span,
        help="a router has to be in the position that takes the next vector; use a pre-order tree",
    )


def _left(queues: dict[tuple[int, str], deque[tuple[int, bool]]]) -> tuple[int, str, int] | None:
    """The first token that was not taken: where, on which color, whose."""
    for (rank, color), queue in sorted(queues.items()):
        if queue:
            return rank, color, queue[0][0]
    return None


def _wrong_vectors(phase: Phase, children: Children, run: LineTokens) -> Iterator[Diagnostic]:
    """C315: the first rank that receives other vectors than the schedule says, or in another
    order."""
    for rank, (received, due) in enumerate(zip(run.received, children, strict=True)):
        waits = run.waits_for(rank) is not None
        if tuple(received) != (due[: len(received)] if waits else due):
            problem = f"rank {rank} receives {_vectors(received)}, due is {_vectors(due)}"
            help = "the routes do not follow the schedule; please report this"
            yield in_phase("C315", phase, problem, help)
            return


def _vectors(sources: Sequence[int]) -> str:
    """`the vectors of rank 1, 4`; long lists are cut."""
    if not sources:
        return "nothing"
    shown = [str(rank) for rank in sources[:SHOWN_VECTORS]]
    shown += ["..."] if len(sources) > SHOWN_VECTORS else []
    return f"the vector{'s' if len(sources) > 1 else ''} of rank {', '.join(shown)}"


def _stray_controls(phase: Phase, children: Children, run: LineTokens) -> Iterator[Diagnostic]:
    """C316: a control wavelet that moves another router than its sender's and its receiver's."""
    parent = {child: rank for rank, sources in enumerate(children) for child in sources}
    for source, router in run.moved_by_control:
        if router not in (source, parent.get(source)):
            problem = f"the control wavelet of rank {source} moves the router of rank {router}, "
            problem += f"meant is that of rank {parent.get(source)}"
            help = "routers between sender and receiver have to be in their last position"
            yield in_phase("C316", phase, problem, help)
            return
