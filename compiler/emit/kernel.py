"""The standalone program around libraries: its buffers, and the calls that it makes."""

from collections.abc import Sequence

from collc.emit.host import BufferModel
from collc.emit.library import tasks_left
from collc.emit.model import CollectiveModel, KernelModel, LibraryModel
from collc.plan.plan import ProgramPlan


def kernel_of(
    program: ProgramPlan, buffers: Sequence[BufferModel], libraries: Sequence[LibraryModel]
) -> KernelModel:
    """The program that makes the calls of a plan on some buffers, of a round each."""
    named = {one.name: (of, one) for of in libraries for one in of.all_collectives}
    choices = {one.name: one for one in program.program.choices}
    roots = {one.name: one.root for of in libraries for one in of.rooted}
    calls, rounds = program.program.calls, program.program.rounds

    def call(name: str) -> str:
        library, of = named[choices[name].names[0] if name in choices else name]
        return _call(f"{library.module}.{name}", of, roots.get(name, ""), rounds)

    return KernelModel(
        buffers=tuple((of.name, of.element, of.length) for of in buffers),
        given=tuple((name, f"{least} to {most}") for name, least, most in program.program.given),
        turns=tuple(tuple(call(calls[at]) for at in turn) for turn in program.program.turns),
        rounds=rounds,
        task=turn_task(program, libraries),
    )


def turn_task(program: ProgramPlan, libraries: Sequence[LibraryModel]) -> int:
    """The id of the task that begins the turn that is due: the last one that no library has. -1 if
    there is none, or nothing follows the first turn."""
    if not program.program.goes_on:
        return -1
    taken = {task for of in libraries for task in of.task_ids}
    return max((task for task in tasks_left(program) if task not in taken), default=-1)


def _call(function: str, of: CollectiveModel, root: str, rounds: int) -> str:
    """A call with all that it is given; of several rounds each has vectors of its own."""
    held = ((of.input, of.input_held), (of.buffer, of.held))
    buffers = [
        f"@ptrcast(*[{size}]{of.element}, &{name}[round * {size}])" if rounds > 1 else f"&{name}"
        for name, size in held
        if name
    ]
    numbers = [
        f"{name}[{'round' if rounds > 1 else '0'}]" for name in (of.run_length, root) if name
    ]
    return f"{function}({', '.join(buffers + numbers)});"
