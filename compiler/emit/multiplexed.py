"""Colors of a phase that phases of a program use one after the other."""

from collc.base.values import dataclass


@dataclass(frozen=True)
class MultiplexedColor:
    """A symbolic color of a phase that phases of a program use one after the other: its bit among
    the program's colors, and whether some phase changes switch positions on it."""

    name: str
    mask: str
    switched: str


def color_mask(index: int) -> str:
    """The bit of a color of a program, as CSL has it."""
    return f"0x{1 << index:04x}"
