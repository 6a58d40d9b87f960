"""Ranks that do the same become one role, with a name and a sentence for the emitted code."""

from collections.abc import Sequence
from dataclasses import replace

from collc.base.paths import Path
from collc.lowering.regions import regions_of
from collc.plan import Direction, Op, Phase, Role
from collc.plan.placement import passes_on
from collc.schedule import ReducePhase
from collc.spec import ContractKind
from collc.spec.exchange import Slicing

# sides of a router on a path, in words
_ON_PATH = {Direction.WEST: "back along the path", Direction.EAST: "on along the path"}


def reduce_phase(
    phase: ReducePhase, programs: Sequence[Role], slicing: Slicing, path: Path | None = None
) -> Phase:
    """The plan's phase: roles in order of their first rank, regions sorted. With a `path`, which is
    a row when unfolded, it goes along that."""
    different = {id(program): program for program in programs}  # few, and slow to hash
    ranks: dict[Role, list[int]] = {program: [] for program in different.values()}
    same = {key: ranks[program] for key, program in different.items()}
    for rank, program in enumerate(programs):
        same[id(program)].append(rank)
    names = _names(tuple(ranks))
    roles = tuple(
        replace(program, name=name, about=_about(program, phase, path))
        for program, name in zip(ranks, names, strict=True)
    )
    return Phase(
        name=phase.name,
        kind=ContractKind.REDUCE,
        axis=phase.axis,
        order=phase.order,
        about=f"{phase.tree} along {where(phase.axis, path)}",
        roles=roles,
        regions=regions_of(phase, ranks.values()),
        span=phase.span,
        slicing=slicing,
        path=path,
    )


def where(axis: str, path: Path | None) -> str:
    """What a phase goes along, in words."""
    if path is not None:
        return f"the path {path.word}"
    return "the row" if axis == "x" else "the column"


def _names(programs: tuple[Role, ...]) -> list[str]:
    """Distinct identifiers: what the role is, numbered where several roles are that."""
    kinds = [_kind(program) for program in programs]
    numbers: dict[str, int] = {}
    names = []
    for kind in kinds:
        numbers[kind] = numbers.get(kind, 0) + 1
        names.append(kind if kinds.count(kind) == 1 else f"{kind}_{numbers[kind]}")
    return names


def _kind(program: Role) -> str:
    """Root (sends nothing), leaf (receives nothing), link (receives one vector), joint (more)."""
    sends = [op for op in program.ops if op.sends]
    if not sends:
        return "root"
    if any(op.stores for op in program.ops):
        return "joint"
    return "leaf" if sends[0].combines_from is None else "link"


def _about(program: Role, phase: ReducePhase, path: Path | None) -> str:
    """The role in words."""
    parts = []
    stored = sum(turns * op.vectors for op, turns in program.repeated if op.stores)
    if stored:
        parts.append(f"combines {stored} vector{'s' if stored > 1 else ''} in memory")
    for op in program.ops:
        if op.sends:
            parts.append(_about_sending(op, program, path))
    if any(passes_on(route, phase.order) for use in program.colors for route in use.positions):
        parts.append("then lets farther vectors pass")
    return ", ".join(parts)


def _about_sending(op: Op, program: Role, path: Path | None) -> str:
    """How the vector leaves."""
    side = _side(op, program)
    way = _ON_PATH[side] if path else side.value.lower()
    combined = ", combined with the last one on the way" if op.combines_from else ""
    return f"sends its vector {way}{combined}"


def _side(op: Op, program: Role) -> Direction:
    """The side on which the own vector leaves."""
    use = next(use for use in program.colors if use.color == op.send)
    return use.positions[0].send[0]
