"""Locks of files where there is one process, as in a browser, whose Python has no `fcntl`."""

LOCK_EX = 2


def flock(handle: int, operation: int) -> None:
    """Nobody else is there to be kept out."""
