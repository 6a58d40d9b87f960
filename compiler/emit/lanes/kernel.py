"""The standalone program around libraries: its buffers, and the calls that it makes."""

from collections.abc import Iterator, Sequence

from collc.emit.lanes.model import CollectiveModel, KernelModel, LibraryModel
from collc.emit.model import BundleModel
from collc.emit.program import ProgramModel
from collc.plan.plan import ProgramPlan


def kernel_of(
    program: ProgramPlan, model: BundleModel | ProgramModel, libraries: Sequence[LibraryModel]
) -> KernelModel:
    """The program that makes the calls of a plan."""
    named = {one.name: (of, one) for of in libraries for one in of.all_collectives}
    choices = {one.name: one for one in program.program.choices}
    roots = {one.name: one.root for of in libraries for one in of.rooted}
    calls, rounds = program.program.calls, program.program.rounds

    def call(name: str) -> str:
        library, of = named[choices[name].names[0] if name in choices else name]
        return _call(f"{library.module}.{name}", of, roots.get(name, ""), rounds)

    return KernelModel(
        buffers=tuple(_buffers(model)),
        given=tuple((name, f"{least} to {most}") for name, least, most in program.program.given),
        turns=tuple(tuple(call(calls[at]) for at in turn) for turn in program.program.turns),
        rounds=rounds,
    )


def _buffers(model: BundleModel | ProgramModel) -> Iterator[tuple[str, str, int]]:
    """The arrays of a PE, those of results among them; of a program a round's."""
    if isinstance(model, ProgramModel):
        yield from ((of.name, of.element, of.length) for of in model.buffers)
        return
    if model.buffer:
        yield model.buffer, model.element, model.input_held
    if model.into:
        yield model.into, model.element, model.held


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
