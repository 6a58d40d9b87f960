"""The standalone program around a library: its buffers, and the calls that it makes."""

from collections.abc import Iterator

from collc.emit.lanes.model import CollectiveModel, KernelModel, LibraryModel
from collc.emit.model import BundleModel
from collc.emit.program import ProgramModel
from collc.plan.plan import ProgramPlan


def kernel_of(
    program: ProgramPlan, model: BundleModel | ProgramModel, library: LibraryModel
) -> KernelModel:
    """The program that makes the calls of a plan."""
    named = {one.name: one for one in library.collectives}
    choices = {one.name: one for one in program.program.choices}
    roots = {one.name: one.root for one in library.rooted}
    rounds = program.program.rounds
    return KernelModel(
        buffers=tuple(_buffers(model)),
        given=tuple((name, f"{least} to {most}") for name, least, most in program.program.given),
        calls=tuple(
            _call(
                f"{library.module}.{name}",
                named[choices[name].names[0] if name in choices else name],
                roots.get(name, ""),
                rounds,
            )
            for name in program.program.calls
        ),
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
