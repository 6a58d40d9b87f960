"""Routers of a line that are done with, jumped over."""

from __future__ import annotations


def follow(jumps: list[int], rank: int) -> int:
    """The first rank from `rank` down that jumps no further, -1 beyond rank 0. `jumps[r]` is r, or
    a rank nearer to 0; the ways taken are shortened."""
    path = []
    while rank >= 0 and jumps[rank] != rank:
        path.append(rank)
        rank = jumps[rank]
    for passed in path:
        jumps[passed] = rank
    return rank
