"""One program at many sizes: compiled, run and judged, here or on workers elsewhere.

`points` has what is asked and answered for one size, `runner` what several answers take: what is
known already, workers that die, order; `executors` says on what workers run.
"""

from collc.sweep.executors import EXECUTORS, ExecutorError, executor_of
from collc.sweep.points import FAILED, REFUSED, VERIFIED, Point, Verdict, judge, points_of
from collc.sweep.runner import Sweep
