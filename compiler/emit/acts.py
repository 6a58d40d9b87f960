"""Acts of the code of PEs, and what pieces of the text take: instructions, and cycles in which code
waits.

The counts are those of the text as the compiler makes it: it inlines functions, shares what it has
read, and unrolls short loops (docs/machine.md, 4.1).
"""

from __future__ import annotations

from collc.base.values import dataclass
from collc.machine.timed import Act as Timed

Acts = list[Timed]


def do(name: str, a: int = 0, b: int = 0, c: int = 0) -> Timed:
    """What the machine with a clock does, by its name, with numbers."""
    return name, a, b, c


def code(count: int) -> Acts:
    """So many instructions."""
    return [do("code", count)] if count else []


def load(count: int, op: int) -> Acts:
    """So many registers of an operation are loaded."""
    return [do("load", count, op)] if count else []


def wait(cycles: int) -> Acts:
    """So many cycles in which code waits for a value, or for the target of a jump."""
    return [do("wait", cycles)] if cycles else []


STORE_CONSTANT = 2  # instructions: a constant comes to a register, and from there to memory
STORE = READ = 1  # what is in a register, or in memory
INDEX = 3  # instructions for the address of an element of a table, and one that reads it
UNROLLED = 50  # turns of a loop around one call-back that are code one behind the other
LOADED = 2  # more cycles until a value is there that is read at an address from a register
# of step tables
BIT = 2  # instructions that take a bit of what is in a register, and compare it
ROW = 2  # that make the address of a row from its number
NUMBER = 1  # and of its next numbers
ADDRESS = 1  # cycles until an address is there, and a number that is read from it
LATE = 2
AREA = 3  # instructions for where an area of the stage begins
BOUND = 2  # for the address of where a slice begins, of a length that calls give
ENDS_AT = 2  # for its last element
# of slices of a length that calls give
DIVISION = 8  # cycles of one by a constant
PRODUCT = 4  # of a product of 32 bits
BYTE = 255  # slices, beyond which there is one
SLICE = 7  # instructions for where the next slice begins in a table
UNROLLED_CUTS = 16  # slices that are cut by code one behind the other
# of routers that PEs set: instructions
ROUTES = 5  # for the routes of a color
SIDE = 3  # more for each side, where there are several, but one
SWITCH = 7  # that take away the positions of its switch
POSITION = 4  # and set one
LEAVE = 3  # that end the teardown
COUNTED = 2  # a number goes down, or up, and is stored


@dataclass(frozen=True)
class Takes:
    """Cycles of jumps, until the first instruction behind them."""

    jump: int
    no_jump: int

    @property
    def taken(self) -> Acts:
        """A jump that is taken."""
        return [*code(1), *wait(self.jump - 1)]

    @property
    def passed(self) -> Acts:
        """A conditional jump that is not."""
        return [*code(1), *wait(self.no_jump - 1)]
