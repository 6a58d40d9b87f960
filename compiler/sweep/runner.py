"""A sweep: its points in order, what is known of them, and the rest from an executor."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from collc.base.cache import Kept
from collc.sweep.executors import Executor
from collc.sweep.points import Point, Verdict


class Sweep:
    """The points of one file. Verdicts are kept in the user's cache folder as they come, so that an
    interrupted sweep goes on where it was; `fresh` forgets them."""

    def __init__(
        self, points: Sequence[Point], *, folder: Path | None = None, fresh: bool = False
    ) -> None:
        self.points = tuple(points)
        text = points[0].text if points else ""
        self._kept = Kept("sweep", text, folder)
        self._found: dict[int, Verdict] = {}
        for number, point in enumerate(self.points):
            fields = None if fresh else self._kept.get(point.key)
            if fields is not None:
                self._found[number] = Verdict(**fields)

    @property
    def known(self) -> int:
        """How many verdicts there are already."""
        return len(self._found)

    def run(self, executor: Executor) -> Iterator[tuple[Point, Verdict]]:
        """Judge what is left, and yield each as it comes; raises what the executor raises."""
        left = {n: p for n, p in enumerate(self.points) if n not in self._found}
        for number, verdict in executor(left) if left else ():
            point = self.points[number]
            self._kept.keep(point.key, asdict(verdict))
            self._found[number] = verdict
            yield point, verdict

    def verdicts(self) -> list[tuple[Point, Verdict]]:
        """What has been judged, in the order of the points, however answers came."""
        return [(self.points[number], self._found[number]) for number in sorted(self._found)]
