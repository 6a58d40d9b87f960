"""Processes that share the cores of this machine."""

import os


def one_thread() -> None:
    """What a worker begins with: its simulator leaves the other cores to the other workers."""
    os.environ.setdefault("FABSIM_THREADS", "1")
