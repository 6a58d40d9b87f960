"""Where on which fabric a program is: sizes, offsets and channels, as cslc is told them.

A simulated fabric may be as small as the program and what memcpy keeps around it; on a system
`--fabric-dims` are those of the machine ([llm], [hpdc]: both ran so), and the program may lie
anywhere within.
"""

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.values import dataclass
from collc.target import Target

WEST, NORTH = 4, 1  # columns and rows that memcpy keeps beside a program [doc]
EAST, SOUTH = 3, 1
MOST_CHANNELS = 16  # that memcpy can use [doc]


@dataclass(frozen=True)
class Machine:
    """A system, by the target that it is and the columns and rows of its fabric."""

    target: str
    dims: tuple[int, int]


# A CS-2 and a CS-3: [llm] compiles for both, [hpdc] for a CS-2.
MACHINES = {"cs2": Machine("wse2", (757, 996)), "cs3": Machine("wse3", (762, 1172))}
SIMULATOR = "simulator"


def machine_of(target: str) -> str:
    """The name of the machine that is a target."""
    return next(name for name, machine in MACHINES.items() if machine.target == target)


@dataclass(frozen=True)
class Wanted:
    """What a user says of the fabric; None is what fits the rest."""

    machine: str | None = None
    dims: tuple[int, int] | None = None
    offsets: tuple[int, int] | None = None
    channels: int | None = None

    @property
    def target(self) -> str | None:
        """The target that is meant by the machine, if one is named."""
        return MACHINES[self.machine].target if self.machine in MACHINES else None


@dataclass(frozen=True)
class Fabric:
    """Columns and rows, where in it PE (0, 0) of the program is, and memcpy's channels."""

    dims: tuple[int, int]
    offsets: tuple[int, int]
    channels: int

    def options(self, arch: str) -> tuple[str, ...]:
        """The words of cslc's command line that say so."""
        (width, height), (x, y) = self.dims, self.offsets
        return (
            f"--arch={arch}",
            f"--fabric-dims={width},{height}",
            f"--fabric-offsets={x},{y}",
            "--memcpy",
            f"--channels={self.channels}",
        )


def fabric_of(size: tuple[int, int], target: Target, wanted: Wanted | None = None) -> Fabric:
    """The fabric of a program of so many columns and rows of PEs: the smallest one, but for what is
    wanted. Raises CollcError for one on which it has no place."""
    wanted = wanted or Wanted()
    offsets = wanted.offsets or (WEST, NORTH)
    tight = (offsets[0] + size[0] + EAST, offsets[1] + size[1] + SOUTH)
    dims = wanted.dims or _dims_of_machine(wanted, target) or tight
    channels = 1 if wanted.channels is None else wanted.channels
    if offsets[0] < WEST or offsets[1] < NORTH:
        message = f"offsets {offsets[0]},{offsets[1]}: memcpy keeps {WEST} columns to the west of a"
        message += f" program and {NORTH} row to the north"
        raise _refused(message, f"ask for at least {WEST},{NORTH}")
    if dims[0] < tight[0] or dims[1] < tight[1]:
        message = (
            f"a program of {size[0]} x {size[1]} PEs at {offsets[0]},{offsets[1]} does not fit"
        )
        message += f" a fabric of {dims[0]},{dims[1]}"
        raise _refused(message, f"it needs {tight[0]},{tight[1]}, with what memcpy keeps around it")
    if not 1 <= channels <= MOST_CHANNELS:
        message = f"memcpy has 1 to {MOST_CHANNELS} channels, not {channels}"
        raise _refused(message, "more than 8 gain little")
    return Fabric(dims, offsets, channels)


def _dims_of_machine(wanted: Wanted, target: Target) -> tuple[int, int] | None:
    """Columns and rows of the machine that is wanted; none for a simulator."""
    if wanted.machine not in MACHINES:
        return None
    machine = MACHINES[wanted.machine]
    if machine.target != target.name:
        message = f"--machine {wanted.machine} is a {machine.target}, not a {target.name}"
        raise _refused(message, "leave out --target, or name the machine of that target")
    return machine.dims


def _refused(message: str, help: str) -> CollcError:
    return CollcError([Diagnostic("C504", message, None, help=help)])
