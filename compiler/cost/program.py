"""Predicted cycles of a program of several collectives: every PE followed from call to call.

The phases themselves are evaluated as those of one collective are, each PE with its own beginning;
collectives on parts of the grid part by part. Of many rounds the first ones are followed; the
others are taken to last as long as the last of these. Joined calls begin one behind the other, each
in its call stream, and a PE goes on when its part of all of them is over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.cost.bound import bound_of
from collc.cost.call_stream import CallStream, call_stream_of
from collc.cost.calls import Call, finished
from collc.cost.operations import costs_of
from collc.cost.predict import Prediction, Times, predict
from collc.cost.roots import AtRoot, at_root
from collc.cost.text_size import CallStreamText, TurnCallsLeft, has_buffer, text_of_turns
from collc.plan.dynamic_lengths import Lengths
from collc.plan.form import form_of
from collc.plan.geometry import home_of
from collc.plan.plan import ProgramPlan
from collc.schedule.lengths import collective_of_length
from collc.spec import Collective

FOLLOWED = 3  # rounds
FOLLOWED_OF_STEPS = 2  # where phases are made of steps, which take long to evaluate
FOLLOWED_BY_LENGTH = 32  # where each has a length of its own
MOST_TRIED = 6  # times that joined calls are followed


@dataclass(frozen=True)
class ProgramPrediction(Prediction):
    """Of a program; `bound` is that of its longest call, which says little of the whole."""

    @property
    def gap(self) -> float | None:
        """None: calls overlap, so their bounds do not add up."""
        return None


@dataclass
class _Run:
    """`over[x, y]` is when all that a PE has begun is over, `by_code` and `within` as in
    `CallStream`. `left` are the calls that are left among those that choose a turn.
    `call_streams` are those of the program, and `of_name` says of a collective which it is in."""

    plan: ProgramPlan
    call_streams: tuple[CallStream, ...]
    of_name: dict[str, CallStream]
    over: Times
    by_code: Bools
    left: TurnCallsLeft
    within: Times
    lengths: Lengths = field(default_factory=dict)  # and roots, of the run
    known: dict[tuple[str, int], tuple[CallStream, AtRoot]] = field(default_factory=dict)

    @property
    def switching(self) -> int:
        """By how much setting routers has put off the last PE's beginnings."""
        return sum(call_stream.switching for call_stream in self.call_streams)

    def called(self, number: int, call: int) -> tuple[int, Collective]:
        """What a call of a round runs: its index, and the collective with vectors of its length."""
        plan = self.plan
        index, length = plan.calls[call], None
        for one in plan.program.choices:
            if one.name == plan.program.calls[call] and one.length is not None:
                given = self.lengths.get(one.length.name, ())
                length = given[number] if given else one.length.most
                index = plan.index_of(one.name, length)
        collective = plan.plans[index].collective
        return index, collective if length is None else collective_of_length(collective, length)

    def begins(
        self, call_stream: CallStream, number: int, call: int
    ) -> tuple[Times | int, Times | int]:
        """Turn the call stream to the plan for the root of the call, if it has one, the first rank
        if none is given. What it takes a PE to find out which part it has, and to return more."""
        if not self.plan.program.rooted:
            return 0, 0
        name = self.plan.program.calls[call]
        choice = next((one for one in self.plan.program.rooted if one.name == name), None)
        root = self.lengths.get(choice.root, (0,) * (number + 1))[number] if choice else 0
        if (name, root) not in self.known:
            none = np.zeros_like(self.over)
            at = AtRoot(call_stream.plan, none, none, none)
            if choice is not None:
                at = at_root(self.plan, choice, root)
            calls = call_stream.calls
            other = call_stream_of(at.plan, calls.turns, calls.buffers, joined=calls.joined)
            other.asked, other.left = at.asked, call_stream.left
            self.known[name, root] = other, at
        other, at = self.known[name, root]
        call_stream.turns_to(other)
        return at.found, at.returns

    def call_stream(self, number: int, call: int) -> CallStream:
        """Which call stream a call of a round is in."""
        index, _ = self.called(number, call)
        return self.of_name[self.plan.plans[index].collective.name]


def predict_program(plan: ProgramPlan, lengths: Lengths | None = None) -> Prediction:
    """All rounds; the breakdown has a part for each collective, by how much its calls put off the
    end of the last PE, and one for reconfiguration. `lengths` of the run are given by name, for
    each round; else they are the most that they may be. Of a collective that is alone, what
    `predict` gives."""
    if plan.alone:
        return predict(plan.plans[0])
    run = _begun(plan, lengths or {})
    rounds = plan.program.rounds
    ends = [0]
    parts: dict[str, int] = {}
    steps = any(form_of(plan.phase(use)).is_cut for use in plan.uses)
    followed = FOLLOWED_BY_LENGTH if lengths else FOLLOWED_OF_STEPS if steps else FOLLOWED
    for number in range(min(rounds, followed)):
        parts = dict.fromkeys(dict.fromkeys(plan.program.calls), 0)
        switching = run.switching
        for place in range(len(plan.program.turns)):
            for name, spent in _turn(run, number, place):
                parts[name] += max(spent, 0)
        parts["reconfiguration"] = run.switching - switching
        ends.append(int(run.over.max()))
    last = ends[-1] - ends[-2]
    cycles = ends[-1] + (rounds - len(ends) + 1) * last + finished(plan)
    bound = max(_bounds(run, min(rounds, followed)))
    return ProgramPrediction(cycles, bound, _scaled(parts, cycles), ())


def _begun(plan: ProgramPlan, lengths: Lengths) -> _Run:
    """Before the launch."""
    grid = plan.plans[0].collective.grid.whole
    none = np.zeros((grid.width, grid.height), dtype=np.int64)
    buffers = sum(has_buffer(plan.plans[index].collective) for index in plan.calls)
    call_streams = tuple(
        call_stream_of(one, plan.program.turns, buffers, joined=len(plan.call_streams) > 1)
        for one in plan.call_streams or (plan,)
    )
    of_name = {
        one.collective.name: call_stream
        for call_stream in call_streams
        for one in call_stream.plan.plans
    }
    streams = [CallStreamText(one.plan, one.given, one.switched) for one in call_streams]
    text, left = text_of_turns(streams, plan.program, called=call_streams[0].calls.called)
    for call_stream, stream in zip(call_streams, streams, strict=True):
        call_stream.left = stream.calls_left(text)
    by_code = np.zeros_like(none, dtype=np.bool_)
    return _Run(plan, call_streams, of_name, none, by_code, left, none, lengths)


def _turn(run: _Run, number: int, place: int) -> Iterator[tuple[str, int]]:
    """The calls of a turn, in flight at the same time; gives by how much each has put off the end
    of the last PE."""
    before, switching = int(run.over.max()), run.switching
    _hand_out_handlers(run, number, place)
    calls = _calls(run, number, place)
    alone = not run.plan.call_streams and not any(color.torn_down for color in run.plan.colors)
    ends = _alone(calls) if alone else _beside_each_other(run, calls)
    put_off = run.switching - switching
    for call, (call_stream, _), over in zip(
        run.plan.program.turns[place], calls, ends, strict=True
    ):
        run.by_code = np.where(over >= run.over, call_stream.by_code, run.by_code)
        run.within = np.where(over >= run.over, call_stream.within, run.within)
        run.over = np.maximum(run.over, over)
        after = int(run.over.max())
        yield run.plan.program.calls[call], after - before - put_off
        before, put_off = after, 0


def _hand_out_handlers(run: _Run, number: int, place: int) -> None:
    """Handlers of teardowns that have not run are followed with the call stream whose color it is,
    or with the first of the turn if nothing of that call stream is called."""
    told = [piece for one in run.call_streams for piece in one.told]
    called = [run.call_stream(number, call) for call in run.plan.program.turns[place]]
    for one in run.call_streams:
        one.told = []
    for piece in told:
        owners = (one for one in called if one.has(piece.color))
        next(owners, called[0]).told.append(piece)


def _calls(run: _Run, number: int, place: int) -> list[tuple[CallStream, Call]]:
    """The calls of a turn, each begun behind the code that begins the one before."""
    plan, first = run.plan, number == 0 and place == 0
    turn = plan.program.turns[place]
    reached, calls = run.over, list[tuple[CallStream, Call]]()
    code, chosen = plan.target.code, run.left.of_turn(place, launch=first)
    within = run.within * (not first) + chosen
    for call in turn:
        index, collective = run.called(number, call)
        name = plan.plans[index].collective.name
        call_stream = run.of_name[name]
        costs = costs_of(replace(plan.plans[index], collective=collective), alone=False)
        if call == turn[0]:
            reached = reached + call_stream.calls.to_turn(place, launch=first) + code.jump * chosen
        first_of = place if call == turn[0] else None
        found, returns = run.begins(call_stream, number, call)
        begins = run.left.begins[call]
        reached = reached + found + code.jump * begins
        reached = reached + call_stream.calls.to_run(costs, collective, first_of, launch=first)
        behind = call_stream.calls.behind(place, launch=first)
        meets = np.maximum(behind + code.jump * run.by_code, code.jump * within)
        depth = code.returns + meets + code.jump * begins + returns
        made = Call(call_stream.plan.index_of(name, 0), costs, reached, depth)
        if plan.call_streams:
            reached = call_stream.returned(made)
            made = replace(made, depth=depth - reached)
        calls.append((call_stream, made))
    if not plan.call_streams:
        return calls
    # operations have the PE when all code has returned, also that which begins the calls behind
    return [(call_stream, replace(call, depth=call.depth + reached)) for call_stream, call in calls]


def _alone(calls: Sequence[tuple[CallStream, Call]]) -> list[Times]:
    """When calls are over that have the processors to themselves."""
    return [call_stream.call(call) for call_stream, call in calls]


def _beside_each_other(run: _Run, calls: Sequence[tuple[CallStream, Call]]) -> list[Times]:
    """When calls are over that share the processors: each is followed beside the code of the others
    as it was found before, until nothing changes or it has been tried often enough."""
    start, (call_stream, last) = np.zeros_like(run.over), calls[-1]
    given = last.costs.code
    returned = call_stream.returned(last) + last.depth - given.returns + given.frame
    beginning = start, start, returned  # nothing that is due runs before that
    tried: dict[int, CallStream] = {}
    ends: list[Times] = []
    for _ in range(MOST_TRIED):
        before, ends = ends, []
        for number, (call_stream, call) in enumerate(calls):
            others = [one for n, one in tried.items() if n != number]
            code = [stretch for one in others for stretch in one.code()]
            work = [stretch for one in others for stretch in one.work()]
            tried[number] = call_stream.beside([beginning, *code], work)
            ends.append(tried[number].call(call))
        if len(calls) == 1 or (before and all(map(np.array_equal, before, ends))):
            break
    over = np.maximum.reduce(ends)
    for number, (call_stream, _) in enumerate(calls):
        call_stream.told = tried[number].left_over(over)
        call_stream.switching = tried[number].switching
        call_stream.by_code = tried[number].by_code
    return ends


def _bounds(run: _Run, rounds: int) -> Iterator[int]:
    """What each call takes at least."""
    calls = range(len(run.plan.program.calls))
    called = dict.fromkeys(run.called(number, call) for number in range(rounds) for call in calls)
    for index, collective in called:
        yield bound_of(collective, home_of(run.plan.plans[index]), run.plan.target)


def _scaled(parts: dict[str, int], cycles: int) -> dict[str, int]:
    """The parts of one round as parts of all; what is left over by rounding goes to the largest."""
    total = sum(parts.values()) or 1
    found = {name: part * cycles // total for name, part in parts.items()}
    found[max(found, key=lambda name: found[name])] += cycles - sum(found.values())
    return found
