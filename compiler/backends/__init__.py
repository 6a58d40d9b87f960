"""Back ends: where a program in CSL is compiled and run.

    with opened("simfabric", Settings(sdk=Path("/opt/sdk"))) as tools:
        compiled = tools.compile(Job(folder, ("--arch=wse2", "--fabric-dims=8,3", ...)))
        outcome = tools.run(compiled, "run.py")

`fabsim` is the project's own simulator by its command line, `simfabric` the vendor's simulator of
a local SDK, `appliance` the vendor's client package, `cs` a local SDK with a CS system.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from collc.backends.appliance import Appliance
from collc.backends.commands import CsSystem, Fabsim, Simfabric
from collc.backends.interface import (
    BackEnd,
    Compiled,
    CompileError,
    Job,
    Outcome,
    Settings,
    UnavailableError,
)

__all__ = [
    "BACK_ENDS",
    "BackEnd",
    "CompileError",
    "Compiled",
    "Job",
    "Outcome",
    "Settings",
    "UnavailableError",
    "opened",
]

BACK_ENDS: dict[str, Callable[[Settings], BackEnd]] = {
    "fabsim": Fabsim,
    "simfabric": Simfabric,
    "appliance": Appliance,
    "cs": CsSystem,
}


@contextmanager
def opened(name: str, settings: Settings) -> Iterator[BackEnd]:
    """The back end of this name, ready to use. Raises UnavailableError where its tools are not."""
    tools = BACK_ENDS[name](settings)
    try:
        yield tools
    finally:
        tools.close()
