"""The parser of fabsim's commands."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class Parser(argparse.ArgumentParser):
    """argparse's, whose help is an error where it cannot be written."""

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Write the help. Raises OSError, which argparse's own keeps to itself."""
        out = file or sys.stdout
        if out is not None:  # it may have been closed
            out.write(self.format_help())
