"""What a stream leaves behind on a line: PEs that wait, switches and filters in another state."""

from collections.abc import Iterator

from collc.checks.stream_run import Line, Place
from collc.plan import Advance, Direction


def left_over(line: Line) -> Iterator[str]:
    """What has not come to its end, or does not begin the next call as this one."""
    for place, one in enumerate(line.places):
        if any(work.receives or work.through for work in one.lanes):
            yield f"place {place} waits for ever to receive"
        for router in one.routers.values():
            if router.position:
                yield f"nothing sets the router of place {place} back"
            if router.filter is not None:
                period = line.counts(router.filter, place)[0]
                if period < 1 or router.passed % period:
                    yield f"the filter of place {place} begins the next call in another state"
    yield from _overtaken(line)


def _overtaken(line: Line) -> Iterator[str]:
    """Words of the next call that may come before others of this one: where several PEs send on a
    way, each but the one that sets the switches back has to find its own one closed."""
    for color in sorted({color for one in line.places for color in one.routers}):
        senders = [i for i, one in enumerate(line.places) if _sends_on(one, color)]
        on_color = (one.routers[color] for one in line.places if color in one.routers)
        switched = any(len(router.use.positions) > 1 for router in on_color)
        for place in senders:
            router = line.places[place].routers[color]
            work = next((w for w in line.places[place].lanes if w.sends_on == color), None)
            resets = work is not None and work.advance in _ORDERS
            last = router.use.positions[0 if router.use.ring else -1]
            is_open = last.receive is Direction.RAMP
            if is_open and switched and not resets:
                yield f"words of the next call of place {place} may overtake those of others"


_ORDERS = (Advance.HAND_OVER, Advance.RESET)  # what others' words wait for comes behind their own


def _sends_on(one: Place, color: str) -> bool:
    routers = [router for name, router in one.routers.items() if name == color]
    return any(r.receive is Direction.RAMP for router in routers for r in router.use.positions)
