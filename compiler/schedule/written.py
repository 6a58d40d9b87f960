"""The step that a phase is of, as it would be written."""

from collc.language.show import step_texts
from collc.schedule import Phase, step_of
from collc.spec import Collective


def text_of_step(collective: Collective, phase: Phase) -> str:
    """The step of a phase, as it would be written; names of phases are the compiler's."""
    own = step_of(collective, phase)
    written = zip(collective.steps, step_texts(collective), strict=True)
    return next(text for step, text in written if step is own)
