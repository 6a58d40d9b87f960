"""What fabsim shows with cycles that fit a tool: where that is what was seen, cycles explain it.

The timing probes leave some constants open. A program whose outcome changes with those decides
nothing: no table is known to be the tool's.
"""

from collections.abc import Iterator, Mapping

from collc.probe.fabsim import Fabsim
from collc.probe.fit import Fit
from collc.probe.job import Job, Seen
from collc.probe.model import Model

_SHIFTS = (1, -1, 2, -2, 4)
_LARGEST = max(map(abs, _SHIFTS))

Table = dict[str, int]


class Fitted:
    """fabsim with the fitted constants, by architecture."""

    def __init__(self, fits: Mapping[str, Fit]) -> None:
        self._fits = fits
        self._fabsim = Fabsim()
        self._others: dict[str, list[Table]] = {}

    def shows(self, job: Job, seen: Seen) -> bool:
        """Whether a job comes to what was seen with the fitted constants, or now to one thing and
        now to another with those that fit as well."""
        fit = self._fits.get(job.arch)
        if fit is None:
            return False
        first = self._done(job, fit.table)
        return alike(first, seen) or any(
            not alike(self._done(job, table), first) for table in self._as_good(job.arch, fit)
        )

    def _as_good(self, arch: str, fit: Fit) -> list[Table]:
        """The other tables that give the same readings; what no machine can have gives none."""
        if arch not in self._others:
            model = Model(arch)
            readings = model.readings(fit.table)
            self._others[arch] = [one for one in others(fit) if model.readings(one) == readings]
        return self._others[arch]

    def _done(self, job: Job, table: Table) -> Seen:
        return self._fabsim.with_constants({job.arch: table}).do(job)


def alike(one: Seen, other: Seen) -> bool:
    """Whether two runs came to the same, whatever the cycles in their messages."""
    return (one.status, one.kind, one.words) == (other.status, other.kind, other.words)


def others(fit: Fit) -> Iterator[Table]:
    """Tables in which every sum that is known is dealt out otherwise to its constants, and each
    constant that is only bounded is another; as far as none is below nothing. A limit that is none
    stays so: the next number is the tightest."""
    moving = [name for name in fit.bounded if name not in fit.limits or fit.table[name] > _LARGEST]
    for shift in _SHIFTS:
        for end in (0, -1):
            table = dict(fit.table)
            for equation in fit.equations:
                names = list(equation.factors)
                one, other = names[end], names[-1 - end]
                its, of = equation.factors[one], equation.factors[other]
                moved = {one: table[one] + shift * of, other: table[other] - shift * its}
                if min(moved.values()) >= 0:
                    table |= moved
            table |= {name: max(0, table[name] + shift) for name in moving}
            yield table
