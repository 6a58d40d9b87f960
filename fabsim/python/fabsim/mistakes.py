"""Faults of what a user gave, told in a line instead of a traceback."""

from __future__ import annotations


class UserError(Exception):
    """What the user gave cannot be used, and the text says why."""


class NoProgramError(UserError, FileNotFoundError):
    """There is no compiled program where one was said to be."""


class DamagedProgramError(UserError, ValueError):
    """The files of a compiled program are not what `cslc` wrote, or no longer."""


class RunInterruptedError(KeyboardInterrupt):
    """The user has stopped a run; the text says where it was."""
