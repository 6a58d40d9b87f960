"""The way from the first cause to the end of a reduce along one line."""

from collc.cost.line import LineRun, Wait


def critical_waits(run: LineRun) -> tuple[Wait, ...]:
    """From the first cause to the end at rank 0: what each thing waited for."""
    chain: list[Wait] = []
    rank, index = 0, len(run.waits[0]) - 1
    while index >= 0:
        wait = run.waits[rank][index]
        chain.append(wait)
        if wait.what in ("previous", "start"):
            index -= 1
        else:
            rank, index = wait.rank, len(run.waits[wait.rank]) - 1
    return tuple(reversed(chain))
