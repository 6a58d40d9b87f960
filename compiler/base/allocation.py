"""How Python and the C library get and give back memory, for a compiler's run: many objects that
stay, and arrays of some megabytes that come and go."""

import ctypes
import gc
import sys

# Choices, not figures of a machine (D405): new objects, of which hardly any are in cycles; bytes
# from which on a block is the kernel's, as the simulator has them (D310); bytes of the heap that
# are kept although they are free.
COLLECTED_AFTER = 200_000
MAPPED = 16 << 20
KEPT = 256 << 20
# numbers of parameters, from the C library's malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def allocate_for_a_compiler() -> None:
    """Collect cycles seldom, and keep what is freed for the next array: the kernel would have to
    clear each of its pages again, a fifth of the time that planning for 750 PEs takes."""
    gc.set_threshold(COLLECTED_AFTER)
    # glibc has it; other C libraries decide for themselves
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None and mallopt(_MMAP_THRESHOLD, MAPPED):
        mallopt(_TRIM_THRESHOLD, KEPT)
