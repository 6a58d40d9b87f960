"""What the code between the collectives of a program takes, from one instruction to another.

Calls are inlined, so the code of a PE runs straight from the end of one collective to the first
operation of the next, and which instructions are on the way says where a piece begins and ends. In
reading order: programs, tasks and their instructions, the pieces, and all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from measuring.engine import row
from measuring.traces import Trace, trace_of
from measuring.trees import EAST, Values

CALL = "broadcast({}: f32[8]) on all {{ broadcast from 0 }}"
TORN = "within colors <= 2 reconfigure teardown"
CHAIN = "reduce({}: f32[8], add) on all {{ order west_to_east reduce chain to 0 }}"
THERE = (
    "allreduce({}: f32[8], add) on all "
    "{{ order west_to_east reduce chain to 0 then broadcast from 0 }}"
)
STAR = "reduce({}: f32[8], add) on all {{ order west_to_east reduce star to 0 }}"
ROOTED = "broadcast({}: f32[8]) on all {{ order west_to_east broadcast from r < 3 }}"
BARRIER = "barrier() on all {{ order west_to_east reduce chain to 0 then broadcast from 0 }}"
CORNER = "broadcast({}: f32[8]) on all {{ broadcast from (0, 0) }}"
MANY = 10  # calls, too many for what chooses one of them to be inlined


def program(collectives: list[str], body: str, grid: str = "2 x 1") -> str:
    """A program for a grid; of its buffers the first is not at the beginning of memory."""
    declared = [
        f"collective c{n} = {one.format(f'v{99 - n}')}" for n, one in enumerate(collectives)
    ]
    return "\n".join([f"grid all = {grid}", *declared, f"program {{ {body} }}"]) + "\n"


CALLS = program([CALL] * 3, "c0 c1 c2")
ROUNDS = program([CALL] * 3, "repeat 2 { c0 c1 c2 }")
CALLED = program([CALL] * MANY, " ".join(f"c{n}" for n in range(MANY)))
BARRIERS = program([BARRIER, BARRIER], "c0 c1")
INNER = program([THERE, THERE], "c0 c1")
AGAIN = program([CHAIN], f"repeat 3 {{ c0 }} {TORN}", "8 x 1")
STARS = program([STAR], f"repeat 2 {{ c0 }} {TORN}", "4 x 1")
ONWARD = program([CALL], f"c0 c0 {TORN}", "3 x 1")
ROOTS = program([ROOTED], "repeat 2 { c0 }", "3 x 1")
CORNERS = program([CORNER], f"c0 c0 {TORN}", "3 x 2")
PART = (
    "grid all = 3 x 1\ngrid two = all[0 .. 1, 0 .. 0]\n"
    "collective c = broadcast(v: f32[8]) on two { broadcast from 0 }\n"
    "collective d = broadcast(w: f32[8]) on all { broadcast from 0 }\n"
    "program { c d }\n"
)
BESIDE = (
    "grid all = 3 x 2\n"
    "collective r = reduce(x: f32[8], add) on each row of all "
    "{ order west_to_east reduce chain to 0 }\n"
    "collective c = broadcast(y: f32[8]) on each column of all { broadcast from 0 }\n"
    "program { r and c, c }\n"
)
MAPS = row(5, f"reduce(x: i32[2], add) on row {{ {EAST} reduce star to 0 }}")
MAPS_OF_LENGTH = row(5, f"reduce(x: i32[n <= 2], add) on row {{ {EAST} reduce star to 0 }}")


@dataclass(frozen=True)
class Task:
    """The instructions of a PE's task, each with its cycle, in order."""

    instructions: tuple[tuple[int, str], ...]

    @property
    def begins(self) -> int:
        """The cycle of the first."""
        return self.instructions[0][0]

    def at(self, opcode: str, number: int = 0, after: int = -1) -> int:
        """The cycle of one with this opcode, of those behind a cycle."""
        found = [cycle for cycle, of in self.instructions if of == opcode and cycle > after]
        return found[number]

    def has(self, opcode: str) -> bool:
        """Whether there is one."""
        return any(of == opcode for _, of in self.instructions)

    def next(self, cycle: int) -> int:
        """The cycle of the first instruction behind a cycle."""
        return next(at for at, _ in self.instructions if at > cycle)

    def length(self) -> int:
        """From the first instruction to the end of the return."""
        return self.instructions[-1][0] + 1 - self.begins


@dataclass(frozen=True)
class Programs:
    """Programs under measurement, and what has been measured."""

    trace: Callable[[str], Trace]
    known: Values

    def tasks(self, text: str, pe: int) -> list[Task]:
        """The tasks of a PE, the host's launch first, each up to its last return."""
        tasks: list[list[tuple[int, str]]] = []
        for event in self.trace(text).events:
            if event.pe != pe or event.kind not in {"task", "code"}:
                continue
            if event.kind == "task":
                tasks.append([])
            elif tasks and event.of != "IDLE":
                tasks[-1].append((event.cycle, event.of))
        return [Task(tuple(dict.fromkeys(one))) for one in tasks]

    def task(self, text: str, pe: int, number: int) -> Task:
        """One of them."""
        return self.tasks(text, pe)[number]

    def color(self, text: str, pe: int) -> int:
        """What a PE takes to set its one router when it is launched."""
        task = self.task(text, pe, 0)
        first = task.at("LDCFG32")
        last = [cycle for cycle, of in task.instructions if of == "STCFG32"][-1]
        return last + 1 - first


def _this_turn(of: Programs) -> int:
    task = of.task(CALLS, 0, 1)
    return task.at("ST16", after=task.at("EQ16", 1)) - task.at("EQ16", 1)


def _other_turn(of: Programs) -> int:
    task = of.task(CALLS, 0, 1)
    return task.at("EQ16", 1) - task.at("EQ16")


def _next_call(of: Programs) -> int:
    task = of.task(CALLS, 0, 1)
    return task.at("EQ16") - task.begins


def _pointer(of: Programs) -> int:
    task = of.task(CALLS, 0, 0)
    return _kept(task) - task.at("ST16", 1)


def _kept(task: Task) -> int:
    """Where a buffer's address has been written: the next instruction follows."""
    return task.at("LD64") - 1


def _set_buffer(of: Programs) -> int:
    task = of.task(CALLS, 0, 0)
    return task.at("ST16", after=task.at("ST64")) - _kept(task)


def _begin_phases(of: Programs) -> int:
    task = of.task(CALLS, 0, 0)
    noted = task.at("ST16", after=task.at("ST64"))
    return task.next(noted) - noted


def _jump(of: Programs) -> int:
    task = of.task(CALLS, 0, 1)
    return task.at("RET", 1) - task.at("RET")


def _finished(text: str) -> Callable[[Programs], int]:
    def measure(of: Programs) -> int:
        task = of.tasks(text, 0)[-1]
        return task.at("SYSTEM") - task.begins

    return measure


def _launch_round(of: Programs) -> int:
    return of.task(ROUNDS, 0, 0).at("LD64") - of.task(CALLS, 0, 0).at("LD64")


def _new_round(of: Programs) -> int:
    task = of.task(ROUNDS, 0, 3)
    return task.at("MUL16") - task.begins


def _pointer_of_next(of: Programs) -> int:
    task = of.task(ROUNDS, 0, 3)
    return task.at("ST16", after=task.at("MUL16")) - task.at("MUL16")


def _pointer_of_round(of: Programs) -> int:
    task = of.task(ROUNDS, 0, 1)
    begins = task.at("LD16", after=task.at("EQ16", 1))
    return task.at("ST16", after=begins) - begins


def _turns_called(of: Programs) -> int:
    task = of.task(CALLED, 0, 1)
    return task.at("EQ16") - task.begins - of.known["next_call"]


def _token(of: Programs) -> int:
    known = of.known
    loads = of.task(BARRIERS, 1, 0).at("LD64")
    return loads - known["program_launch"] - known["begin_phases"]


def _phase_read(of: Programs) -> int:
    task = of.task(INNER, 0, 1)
    return task.at("EQ16") - task.begins


def _this_use(of: Programs) -> int:
    task = of.task(INNER, 0, 1)
    return task.at("ST16") - task.at("EQ16")


def _next_phase(of: Programs) -> int:
    task = of.task(INNER, 0, 1)
    return task.next(task.at("ST16")) - task.at("ST16")


def _other_use(of: Programs) -> int:
    """The task behind a collective asks for each phase that is followed by another."""
    task = of.task(INNER, 0, 2)
    return task.at("EQ16", 1) - task.at("EQ16")


def _ends(of: Programs) -> int:
    task = of.task(PART, 2, 0)
    return task.next(task.at("ACTVT")) - task.at("ACTVT")


def _control_sent(of: Programs) -> int:
    """A PE that begins again when its control wavelet is issued."""
    issued = of.trace(AGAIN).first(7, "issue", "MOV32")
    return of.trace(AGAIN).first(7, "code", "LD16", after=issued) - issued


def _receives(of: Programs) -> int:
    """A PE that begins a round late, its neighbor's vector waiting for it."""
    issued = of.trace(AGAIN).cycles(6, "issue", "FADDS")[1]
    return of.trace(AGAIN).first(6, "moves", "FADDS", after=issued) - issued


def _awaited(of: Programs) -> int:
    task = of.task(AGAIN, 0, 0)
    return task.at("OR16") - task.at("AND16") + 1


def _opened(of: Programs) -> int:
    task = of.task(AGAIN, 0, 0)
    return task.at("LDCFG32") - task.at("OR16")


def _waits(of: Programs) -> int:
    task = of.task(AGAIN, 0, 1)
    return task.at("RET") - task.at("AND16") + 1


def _told(of: Programs) -> int:
    """The last one has nothing to activate."""
    return of.tasks(AGAIN, 0)[-1].length()


def _told_last(of: Programs) -> int:
    return next(task for task in of.tasks(AGAIN, 0) if task.has("ACTVT")).length()


def _end_unblocked(of: Programs) -> int:
    return next(task for task in of.tasks(ROOTS, 1) if task.has("UBLK")).length()


def _end_blocked(of: Programs) -> int:
    task = next(task for task in of.tasks(ROOTS, 1) if task.has("BLK"))
    return task.next(task.begins) - task.begins


def _opened_color(of: Programs) -> int:
    return of.color(AGAIN, 0)


def _opened_output(of: Programs) -> int:
    """A router with three outputs, and one with two."""
    return of.color(CORNERS, 1) - of.color(ONWARD, 1)


def _opened_array(of: Programs) -> int:
    return of.color(ONWARD, 1) - of.known["opened_color"] - 2 * of.known["opened_output"]


def _opened_switch(of: Programs) -> int:
    return of.color(STARS, 0) - of.known["opened_color"]


def _opened_moving(of: Programs) -> int:
    return of.color(STARS, 1) - of.color(STARS, 0)


def _counts(of: Programs) -> list[Task]:
    """Tasks that find how many of the calls in flight at the same time are left."""
    return [task for task in of.tasks(BESIDE, 2) if task.has("SUB16")]


def _missing(of: Programs) -> int:
    """The first one: the other call is still in flight, and its operation may go before code."""
    task = _counts(of)[0]
    return task.at("JMP") - task.begins + of.known["jump"] + 1


def _next_missing(of: Programs) -> int:
    task = _counts(of)[1]
    return task.at("LD16", 1) - task.begins


def _count_missing(of: Programs) -> int:
    task = _counts(of)[1]
    counted = task.at("ST16", after=task.at("EQ16", 2))
    return task.next(counted) - counted


def _map_length(of: Programs) -> int:
    """From one round of call-backs to the next, less the same where the length is known."""
    fixed, dynamic = (
        of.trace(text).cycles(0, "code", "LDDDS")[1:3] for text in (MAPS, MAPS_OF_LENGTH)
    )
    return (dynamic[1] - dynamic[0]) - (fixed[1] - fixed[0])


PIECES: dict[str, tuple[Callable[[Programs], int], str]] = {
    "program_launch": (
        lambda of: of.task(CALLS, 0, 0).at("ST16", 1),
        "launch to where the first buffer's address is kept",
    ),
    "launch_round": (_launch_round, "by how much later the first operation is, with rounds"),
    "next_call": (_next_call, "the task behind a collective to the first test of the turn"),
    "other_turn": (_other_turn, "from that to the second"),
    "this_turn": (_this_turn, "from the test that holds to the buffer's address"),
    "new_round": (_new_round, "the task behind a round to the pointer of the next round's buffer"),
    "turns_called": (_turns_called, "by how much later the first test is, with many calls"),
    "jump": (_jump, "the return of a turn to the task's"),
    "finished": (_finished(CALLS), "the task behind the last collective to the host"),
    "finished_round": (
        lambda of: _finished(ROUNDS)(of) - of.known["finished"],
        "by how much longer that is, with rounds",
    ),
    "pointer": (_pointer, "the address, a constant, is written to `base`"),
    "pointer_of_round": (_pointer_of_round, "the round is read; the pointer is written"),
    "pointer_of_next": (_pointer_of_next, "the same where the round has just been counted"),
    "set_buffer": (_set_buffer, "`base` is written; the phase is"),
    "begin_phases": (_begin_phases, "the phase is written; the first operation's code begins"),
    "token": (_token, "launch to a barrier's first operation, less what is around"),
    "next_phase": (_next_phase, "the next phase is written; its first operation's code begins"),
    "phase_read": (_phase_read, "the task behind a phase to its first test"),
    "other_use": (_other_use, "from that to the second"),
    "this_use": (_this_use, "from the test that holds to the next phase"),
    "ends": (_ends, "a PE without a part: the task is activated; the code goes on"),
    "control_sent": (_control_sent, "a control wavelet is issued; the next call's code begins"),
    "receives": (_receives, "an operation for what waits is issued; its first element moves"),
    "awaited": (_awaited, "the colors in use are read; the phase's are noted"),
    "waits": (_waits, "the same up to the return, where one of them is not torn down"),
    "opened": (_opened, "they are noted; the first router is set"),
    "told": (_told, "a handler from its first instruction to its return"),
    "told_last": (_told_last, "the same of one that activates a task"),
    "end_unblocked": (_end_unblocked, "the handler of a teardown with which a phase ends"),
    "end_blocked": (
        _end_blocked,
        "the task behind such a phase to its second instruction",
    ),
    "opened_color": (_opened_color, "a router with one output is set"),
    "opened_output": (_opened_output, "one with three outputs, less one with two"),
    "opened_array": (_opened_array, "one with two, less two of these"),
    "opened_switch": (_opened_switch, "one on whose color positions change, less one without"),
    "opened_moving": (_opened_moving, "one whose own positions change, less that"),
    "map_length": (_map_length, "a round of call-backs with a dynamic length, less one without"),
    "missing": (_missing, "the task behind a joined call, another in flight, to its return"),
    "next_missing": (_next_missing, "the same behind the last, to where turns are counted"),
    "count_missing": (_count_missing, "the number of joined calls is written; the first is begun"),
}


def measured_programs(target: str, timing: str, known: Values) -> Values:
    """The pieces of programs; `known` is what is measured before."""
    found = dict(known)
    of = Programs(lambda text: trace_of(text, target, timing), found)
    for name, (measure, _) in PIECES.items():
        found[name] = measure(of)
    return {name: found[name] for name in PIECES}
