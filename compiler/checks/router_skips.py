"""Routers of a line that are done with, jumped over."""


def follow(skips: list[int], rank: int) -> int:
    """The first rank from `rank` down that skips no further, -1 beyond rank 0. `skips[r]` is r, or
    a rank nearer to 0; the ways taken are shortened."""
    path = []
    while rank >= 0 and skips[rank] != rank:
        path.append(rank)
        rank = skips[rank]
    for passed in path:
        skips[passed] = rank
    return rank
