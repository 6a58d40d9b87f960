"""A line of PEs and routers run with whole vectors as tokens: who receives from whom, and when.

A token is the rank whose vector it is and whether it is the control wavelet behind it. Routers that
let a color pass in their last position do so for ever; tokens jump over them (`follow`), which
keeps the work near the number of vectors.
"""

from collections import deque
from dataclasses import field

from collc.base.values import dataclass
from collc.plan.geometry import line_of
from collc.plan.placement import roles_of_ranks, sides_of_order
from collc.plan.plan import Advance, ColorUse, Direction, Op, Phase, Role

Token = tuple[int, bool]
Place = tuple[int, str]  # a router and a color


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


@dataclass
class LineTokens:
    """The state of the run: queues in front of the routers, positions, and what has happened."""

    near: Direction
    far: Direction
    ops: list[tuple[tuple[Op, int], ...]]  # each with how often it runs
    uses: list[dict[str, ColorUse]]
    links: dict[Place, deque[Token]] = field(default_factory=dict)
    ramps: dict[Place, deque[Token]] = field(default_factory=dict)
    position: dict[Place, int] = field(default_factory=dict)
    skips: dict[str, list[int]] = field(default_factory=dict)
    at_op: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    received: list[list[int]] = field(default_factory=list)
    moved_by_control: list[tuple[int, int]] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    work: deque[Place] = field(default_factory=deque)
    to_all: str = ""  # a color that is no business of the line's

    def waits_for(self, rank: int) -> str | None:
        """The color on which a PE waits for a vector; None when it has done all its operations."""
        if self.at_op[rank] == len(self.ops[rank]):
            return None
        op, _ = self.ops[rank][self.at_op[rank]]
        return op.receives_on

    def waiting(self) -> list[tuple[int, str]]:
        """The PEs that still wait, with the color."""
        colors = ((rank, self.waits_for(rank)) for rank in range(len(self.ops)))
        return [(rank, color) for rank, color in colors if color is not None]


def run_tokens(phase: Phase, to_all: str = "") -> LineTokens:
    """Run a line until nothing moves any more. What is sent `to_all`, on that color, is off it."""
    roles, line = roles_of_ranks(phase), line_of(phase)
    near, far = sides_of_order(line)
    run = LineTokens(
        near,
        far,
        ops=[role.repeated if role else () for role in roles],
        uses=[_uses(role) for role in roles],
        at_op=[0] * line.ranks,
        taken=[0] * line.ranks,
        received=[[] for _ in roles],
        to_all=to_all,
    )
    for rank, uses in enumerate(run.uses):
        for color in uses:
            if color not in run.skips:  # once a color: a path may have many thousand ranks
                run.skips[color] = list(range(line.ranks))
            _join_if_open(run, rank, color)
    for rank in range(line.ranks):
        _go_on(run, rank)
    while run.work:
        _pump(run, *run.work.popleft())
    return run


def _uses(role: Role | None) -> dict[str, ColorUse]:
    """The colors of a role that have a route at all."""
    return {use.color: use for use in role.colors if use.positions} if role else {}


def _pump(run: LineTokens, rank: int, color: str) -> None:
    """Move tokens through a router as long as its position takes and delivers them."""
    while color in run.uses[rank]:
        use = run.uses[rank][color]
        route = use.positions[run.position.get((rank, color), 0)]
        queues = {Direction.RAMP: run.ramps, run.far: run.links}.get(route.receive, {})
        queue = queues.get((rank, color))
        if not queue or not _deliver(run, rank, color, route.send, queue[0]):
            break
        _advance(run, rank, color, queue.popleft())
    _join_if_open(run, rank, color)


def _deliver(
    run: LineTokens, rank: int, color: str, send: tuple[Direction, ...], token: Token
) -> bool:
    """Hand a token to the next router or to the PE; False if the PE does not wait for it."""
    if send == (run.near,):
        _arrive(run, rank - 1, color, token)
        return True
    if send != (Direction.RAMP,):
        return False
    source, control = token
    if control:
        return True
    if run.waits_for(rank) != color:
        return False
    run.received[rank].append(source)
    run.taken[rank] += 1
    _go_on(run, rank)
    return True


def _arrive(run: LineTokens, rank: int, color: str, token: Token) -> None:
    """A token comes to the first router from `rank` on that does not let it pass for ever."""
    at = follow(run.skips[color], rank) if rank >= 0 else rank
    if at < 0:
        run.lost.append(token[0])
        return
    run.links.setdefault((at, color), deque()).append(token)
    run.work.append((at, color))


def _join_if_open(run: LineTokens, rank: int, color: str) -> None:
    """Let tokens jump a router that lets them pass in its last position, once it is empty."""
    use = run.uses[rank].get(color)
    if use is None or run.links.get((rank, color)):
        return
    at = run.position.get((rank, color), 0)
    route = use.positions[at]
    last = at == len(use.positions) - 1
    if last and route.receive is run.far and route.send == (run.near,):
        run.skips[color][rank] = rank - 1


def _advance(run: LineTokens, rank: int, color: str, token: Token) -> None:
    """Move the router on if the token that has passed says so."""
    source, control = token
    at = run.position.get((rank, color), 0)
    if at + 1 >= len(run.uses[rank][color].positions):
        return
    if control:
        run.moved_by_control.append((source, rank))
        run.position[rank, color] = at + 1
    elif source == rank and _sends(run, rank).advance is Advance.OWN_ROUTER:
        run.position[rank, color] = at + 1


def _sends(run: LineTokens, rank: int) -> Op:
    """The sending operation of a rank that has sent."""
    return next(op for op, _ in run.ops[rank] if op.sends)


def _go_on(run: LineTokens, rank: int) -> None:
    """Let a PE go through its operations until it waits for a vector or has done all."""
    while run.at_op[rank] < len(run.ops[rank]):
        op, turns = run.ops[rank][run.at_op[rank]]
        if run.taken[rank] < _needed(op) * turns:
            color = run.waits_for(rank)
            assert color is not None
            run.work.append((rank, color))
            return
        run.taken[rank] = 0
        run.at_op[rank] += 1
        if op.sends and (not run.to_all or op.sends_on != run.to_all):
            _emit(run, rank, op)


def _needed(op: Op) -> int:
    """Vectors that an operation receives."""
    return op.vectors if op.receives_on else 0


def _emit(run: LineTokens, rank: int, op: Op) -> None:
    """The PE puts its vector, and the control wavelet behind it, on its ramp."""
    color = op.sends_on or ""
    queue = run.ramps.setdefault((rank, color), deque())
    queue.append((rank, False))
    if op.advance is Advance.CONTROL:
        queue.append((rank, True))
    run.work.append((rank, color))
