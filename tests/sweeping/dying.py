"""A worker that dies at its first point of four PEs, and never again; and one that always does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from collc.sweep import Point, Verdict, judge

MARK = "COLLC_TEST_WORKER_DIED"  # the file that says so


def dies_once(point: Point) -> Verdict:
    mark = Path(os.environ[MARK])
    if dict(point.values)["P"] == 4 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return judge(point)


def dies_at_four(point: Point) -> Verdict:
    if dict(point.values)["P"] == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return judge(point)
