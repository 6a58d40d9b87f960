"""Whether a stream's registers are loaded before the program begins.

Nobody else loads them if it is alone in its program, and where all that it receives goes to its
stage only what it sends, and where the stage goes in the end, is at an address of the caller's.
So the operation that empties the stage has registers of its own, too (D356).
"""

from collections.abc import Sequence

from collc.plan.form import Form, form_of
from collc.plan.plan import Phase, Plan, Role
from collc.plan.stream_ends import streams_of


def is_ready(plan: Plan) -> bool:
    """Whether that holds for a plan of a collective that is alone."""
    return are_ready(plan.phases)


def are_ready(phases: Sequence[Phase]) -> bool:
    """The same of its phases: one, which stages what overwrites what it sends."""
    return (
        len(phases) == 1
        and form_of(phases[0]) is Form.STREAM
        and any(map(empties_stage, phases[0].roles))
    )


def empties_stage(role: Role) -> bool:
    """Whether PEs move what they have staged in the end."""
    return any(one.staged and not one.combines for one in streams_of(role).values())
