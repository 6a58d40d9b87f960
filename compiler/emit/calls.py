"""What a program can call, as the templates see it: collectives, and choices of several, by a
length or a root that is given when the program runs."""

from collections.abc import Iterator

from collc.base.values import dataclass
from collc.emit.grid_places import SiteModel
from collc.emit.length_choice import halved
from collc.emit.model import BundleModel
from collc.plan.plan import ProgramPlan
from collc.spec import RootChoice, RunLength


@dataclass(frozen=True)
class Step:
    """A phase of the program: `module` is its collective, `name` its own name, `begins` what
    begins it, `sets` what names of the code that sets its routers begin with; `first` and `last`
    are said of its collective."""

    index: int
    module: str
    name: str
    begins: str
    sets: str
    torn_down: bool
    first: bool
    last: bool


@dataclass(frozen=True)
class ModuleModel:
    """A collective of the program: its modules' model, its phases as steps, and what completes each
    of them; `colors` are the positions of its symbolic colors."""

    m: BundleModel
    steps: tuple[Step, ...]
    colors: tuple[tuple[str, int], ...]

    @property
    def step_of(self) -> dict[str, int]:
        """The index of each of its phases."""
        return {step.name: step.index for step in self.steps}


@dataclass(frozen=True)
class CallModel:
    """What a call runs: a collective, or a choice by length of several. `m` is the collective, or
    one of the choice; `names` are its alternatives, `limits` the most elements of all but the last,
    `choice` the statements that run the one for n elements. With a `root` of the call they run the
    one for it, and `places` are those of the ranks; `rank` is that of PE (x, y). `checks` are what
    its length and its root have to keep."""

    name: str
    m: BundleModel
    names: tuple[str, ...] = ()
    limits: tuple[int, ...] = ()
    choice: tuple[str, ...] = ()
    root: str = ""
    rank: str = ""
    places: tuple[int, ...] = ()
    checks: tuple[str, ...] = ()


def entries_of(plan: ProgramPlan, modules: tuple[ModuleModel, ...]) -> Iterator[CallModel]:
    """What can be called: every collective, and every choice of several."""
    of_name = {module.m.name: module for module in modules}
    lengths = {one.name: _length_check(one.length) for one in plan.program.selections}
    for name, module in of_name.items():
        yield CallModel(name, module.m, checks=lengths.get(name, ()))
    for one in plan.program.selections:
        if one.names != (one.name,):
            most = [one.lengths(i)[1] for i in range(len(one.names))]
            begins = [tuple(_beginning(of_name[name])) for name in one.names]
            choice = tuple(halved("n", list(zip(most, begins, strict=True))))
            first = of_name[one.names[0]].m
            checks = lengths[one.name]
            yield CallModel(one.name, first, one.names, tuple(most[:-1]), choice, checks=checks)

    for chosen in plan.program.rooted:
        parts = tuple(of_name[name] for name in chosen.names)
        yield CallModel(
            chosen.name,
            parts[0].m,
            choice=tuple(_by_root(chosen.name, parts)),
            root=chosen.root,
            rank=rank_of(chosen, parts[0].m.site),
            places=chosen.places,
            checks=(*_length_check(chosen.length), f"root < {chosen.ranks}"),
        )


def _length_check(length: RunLength | None) -> tuple[str, ...]:
    """What a length of the call has to keep, in CSL."""
    return () if length is None else (f"n >= 1 and n <= {length.most}",)


def _by_root(name: str, parts: tuple[ModuleModel, ...]) -> Iterator[str]:
    """What a PE does by the side on which the root is, seen from it: the root first, for which all
    others wait."""
    behind, own, before = parts
    for relation, part in (("==", own), ("<", behind)):
        yield f"if (root {relation} params.{name}_rank) {{"
        yield from (f"  {line}" for line in _beginning(part))
        yield "}"
    yield from _beginning(before)


def rank_of(choice: RootChoice, site: SiteModel) -> str:
    """The rank of PE (x, y), in CSL; 0 for one that has no part in it."""
    place = site.x if choice.axis == "x" else site.y
    rank = place if choice.places[0] == 0 else f"({len(choice.places) - 1} - {place})"
    return f"if ({site.takes_part}) {rank} else 0" if site.takes_part else rank


def _beginning(module: ModuleModel) -> Iterator[str]:
    """The statements of a collective's `run`, since a call less is sooner done."""
    given = "buffer, n" if module.m.run_length else "buffer"
    if not module.steps:
        yield from (f"{module.m.name}_run({given});", "return;")
        return
    first = module.steps[0]
    yield f"{module.m.name}.prepare({given});"
    yield f"begin_{first.index}();"
    yield from (f"phase = {first.index};", "return;")  # for tasks, which come later
