"""How many rounds a schedule takes if ranks may do only so much in each.

Transfers keep the order of their steps, but are not tied to them: in a round, whatever may go and
has its data goes. A transfer has its data when all earlier ones into the same slice of its source
have arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from collc.base.values import dataclass
from collc.spec import Algorithm

MAX_ROUNDS = 1 << 20

Allowed = Callable[["Transfer", int, list["Transfer"]], bool]
"""Whether a transfer may go in a round (counted from 0), given those that already go in it."""


@dataclass(frozen=True)
class Transfer:
    """Slices going from rank to rank in a step."""

    number: int
    source: int
    destination: int
    needs: frozenset[int]  # transfers that have to arrive before


def transfers_of(algorithm: Algorithm) -> tuple[Transfer, ...]:
    """All transfers of an algorithm in order, each with what it waits for."""
    return tuple(_transfers(algorithm))


def _transfers(algorithm: Algorithm) -> Iterator[Transfer]:
    arrived: dict[tuple[int, int], list[int]] = {}
    number = 0
    for moves in algorithm.steps:
        into: list[tuple[int, int, int]] = []
        columns = (moves.source, moves.destination, moves.slice, moves.into, moves.count)
        for source, destination, first, to, count in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            needs = (n for part in range(count) for n in arrived.get((source, first + part), ()))
            yield Transfer(number, source, destination, frozenset(needs))
            into += [(destination, to + part, number) for part in range(count)]
            number += 1
        for rank, part, which in into:
            arrived.setdefault((rank, part), []).append(which)


def rounds_taken(transfers: tuple[Transfer, ...], allowed: Allowed) -> int:
    """The rounds that transfers take if as many go in each as `allowed` lets."""
    pending, done, count = list(transfers), set[int](), 0
    while pending:
        going: list[Transfer] = []
        for transfer in pending:
            if transfer.needs <= done and allowed(transfer, count, going):
                going.append(transfer)
        done |= {transfer.number for transfer in going}
        pending = [transfer for transfer in pending if transfer.number not in done]
        count += 1
        if count > MAX_ROUNDS:
            raise ValueError("these limits never let all transfers go")
    return count


def ports(sends: int, receives: int) -> Allowed:
    """So many messages out and in for each rank and round."""

    def allowed(transfer: Transfer, _: int, going: list[Transfer]) -> bool:
        out = sum(other.source == transfer.source for other in going)
        into = sum(other.destination == transfer.destination for other in going)
        return out < sends and into < receives

    return allowed


def one_neighbour(ranks: int) -> Allowed:
    """On a path, a rank exchanges with one neighbour a round, one message each way: the links are
    taken in turns, every second of them, beginning at the far end."""

    def allowed(transfer: Transfer, count: int, going: list[Transfer]) -> bool:
        link = min(transfer.source, transfer.destination)
        turn = ranks <= 2 or (ranks - 2 - link) % 2 == count % 2
        pair = (transfer.source, transfer.destination)
        return turn and all((other.source, other.destination) != pair for other in going)

    return allowed
