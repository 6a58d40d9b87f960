"""Ranks that do the same become one role, with a name and a sentence for the emitted code."""

from collections.abc import Sequence

from collc.base.paths import Path
from collc.lowering.rank_program import RankProgram, lanes_of
from collc.lowering.regions import regions_of
from collc.plan import Direction, Op, Phase, Role
from collc.schedule import ReducePhase
from collc.spec import ContractKind

# sides of a router on a path, in words
_ON_PATH = {Direction.WEST: "back along the path", Direction.EAST: "on along the path"}


def reduce_phase(
    phase: ReducePhase, programs: Sequence[RankProgram], path: Path | None = None
) -> Phase:
    """The plan's phase: roles in order of their first rank, regions sorted. With a `path`, which is
    a row when unfolded, it goes along that."""
    different = {id(program): program for program in programs}  # few, and slow to hash
    ranks: dict[RankProgram, list[int]] = {program: [] for program in different.values()}
    same = {key: ranks[program] for key, program in different.items()}
    for rank, program in enumerate(programs):
        same[id(program)].append(rank)
    names = _names(tuple(ranks))
    roles = tuple(
        Role(name, _about(program, path), lanes_of(program.loops), program.colors)
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
        pattern=phase,
        path=path,
    )


def where(axis: str, path: Path | None) -> str:
    """What a phase goes along, in words."""
    if path is not None:
        return f"the path {path.word}"
    return "the row" if axis == "x" else "the column"


def _names(programs: tuple[RankProgram, ...]) -> list[str]:
    """Distinct identifiers: what the role is, numbered where several roles are that."""
    kinds = [_kind(program) for program in programs]
    numbers: dict[str, int] = {}
    names = []
    for kind in kinds:
        numbers[kind] = numbers.get(kind, 0) + 1
        names.append(kind if kinds.count(kind) == 1 else f"{kind}_{numbers[kind]}")
    return names


def _kind(program: RankProgram) -> str:
    """Root (sends nothing), leaf (receives nothing), link (receives one vector), joint (more)."""
    sends = [op for op in program.ops if op.sends]
    if not sends:
        return "root"
    if any(op.stores for op in program.ops):
        return "joint"
    return "leaf" if sends[0].combines_from is None else "link"


def _about(program: RankProgram, path: Path | None) -> str:
    """The role in words."""
    parts = []
    role = Role("", "", lanes_of(program.loops), ())
    stored = sum(turns * op.vectors for op, turns in role.repeated if op.stores)
    if stored:
        parts.append(f"combines {stored} vector{'s' if stored > 1 else ''} in memory")
    for op in program.ops:
        if op.sends:
            parts.append(_about_sending(op, program, path))
    if program.relays:
        parts.append("then lets farther vectors pass")
    return ", ".join(parts)


def _about_sending(op: Op, program: RankProgram, path: Path | None) -> str:
    """How the vector leaves."""
    side = _side(op, program)
    way = _ON_PATH[side] if path else side.value.lower()
    combined = ", combined with the last one on the way" if op.combines_from else ""
    return f"sends its vector {way}{combined}"


def _side(op: Op, program: RankProgram) -> Direction:
    """The side on which the own vector leaves."""
    use = next(use for use in program.colors if use.color == op.send)
    return use.positions[0].send[0]
