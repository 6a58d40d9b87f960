"""What has been chosen and run for a question of `collc tune`, kept between runs."""

from dataclasses import asdict
from pathlib import Path

from collc.base.cache import Kept
from collc.driver.questions import Question
from collc.spec import Considered


class Remembered:
    """The plans that have been chosen for a question, by length, and the cycles of what has been
    run, by plan and length."""

    def __init__(self, question: Question, folder: Path | None = None) -> None:
        given = sorted(question.definitions.items())
        asked = [question.text, given, question.target, question.name]
        self._kept = Kept("tune", asked, folder)

    def plan(self, length: int) -> Considered | None:
        """The plan chosen for a length, if one has been."""
        fields = self._kept.get([length])
        if fields is None:
            return None
        terms = tuple((name, part) for name, part in fields["terms"])
        return Considered(**(fields | {"terms": terms}))

    def keep(self, length: int, plan: Considered) -> None:
        """Keep a choice."""
        self._kept.keep([length], asdict(plan))

    def cycles(self, plan: str, length: int) -> int | None:
        """What a plan took on the simulator, if it has been run."""
        found = self._kept.get([plan, length])
        return None if found is None else int(found)

    def keep_cycles(self, plan: str, length: int, cycles: int) -> None:
        """Keep that."""
        self._kept.keep([plan, length], cycles)
