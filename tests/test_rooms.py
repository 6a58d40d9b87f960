"""A stage imports only earlier ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from collc.checks import ALONE, BUDGETS, CHECKS

ROOT = Path(__file__).parents[1]
ORDER = (
    "base",
    "target",
    "spec",
    "language",
    "schedule",
    "proof",
    "plan",
    "machine",
    "lowering",
    "checks",
    "emit",
    "cost",
    "run",
    "tuning",
    "view",
    "driver",
    "sweep",
    "patterns",
    "backends",
    "probe",
    "explanations",
    "schemas",
    "format",
    "lsp",
    "commands",
    "cli",
)
FRONT = {"__init__", "__main__", "start"}  # what a user of the package, and of the command, imports


def imported(text: str) -> Iterator[str]:
    """The modules of collc that a text imports, in functions as well."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("collc."))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inside = node.module == "collc" or node.module.startswith("collc.")
            for name in node.names if inside else ():
                yield f"{node.module}.{name.name}"


def backward(room: str, text: str) -> list[str]:
    """What a text in a room imports that stands later in the pipeline."""
    found = []
    for module in imported(text):
        there = module.split(".")[1]
        if there in ORDER and ORDER.index(there) > ORDER.index(room):
            found.append(module)
    return found


def files() -> Iterator[tuple[str, Path]]:
    """Each file of the compiler with the room that it is in."""
    for path in sorted((ROOT / "compiler").rglob("*.py")):
        inside = path.relative_to(ROOT / "compiler")
        yield inside.parts[0].removesuffix(".py"), path


def test_a_stage_imports_only_earlier_ones() -> None:
    found = {
        str(path.relative_to(ROOT)): wrong
        for room, path in files()
        if room not in FRONT and (wrong := backward(room, path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_checks_count_for_themselves() -> None:
    """What plans and what checks the plan have the plan in common, and nothing else."""
    found = {
        str(path.relative_to(ROOT)): module
        for room, path in files()
        if room == "checks"
        for module in imported(path.read_text(encoding="utf-8"))
        if module.startswith("collc.lowering")
    }
    assert found == {}


_OF_A_PLAN = re.compile(
    r"(?:build_schedule|schedule_of)\((?:\w+\.)*plan\b|\b(?:plan|program|made|own|one)(?:\.plans\[[^]]*\])?\.(?:schedules?)\b|\bphase\.pattern\b"
)


def test_no_stage_reaches_a_schedule_through_a_plan() -> None:
    """A plan has lanes, regions and routers, and the collective that it is for; what its steps move
    is the schedule's, which whoever needs it is given; nobody builds it of a plan's collective."""
    behind = ORDER[ORDER.index("plan") :]
    found = {
        str(path.relative_to(ROOT)): wrong
        for room, path in files()
        if room in behind and (wrong := _OF_A_PLAN.findall(path.read_text(encoding="utf-8")))
    }
    assert found == {}
    assert _OF_A_PLAN.findall("own_only = asks(plan.schedule, phase.pattern)")
    assert _OF_A_PLAN.findall("with_tokens(build_schedule(one.plan.collective))")


# what names what a phase was: the form of its lanes, and the steps of a schedule that it is made of
_FORMS = ("collc.plan.form", "collc.plan.Form", "collc.plan.form_of")
_PATTERNS = re.compile(r"\.(?:Reduce|Broadcast|Steps)Phase$")

ASK_FOR_THE_FORM = {"emit/library.py"}  # how much room operations may take in place of step tables
READ_SCHEDULES = {  # what is to be sent, the same whatever plan does it: sums, bounds, words for it
    "checks/one_line.py",
    "cost/choice.py",
    "cost/relays.py",
    "cost/steps_model.py",
    "cost/streaming.py",
    "driver/graph.py",
    "emit/order.py",
    "patterns/facts.py",
    "run/expected.py",
    "tuning/cost_terms.py",
    "tuning/link_load.py",
    "tuning/other_plans.py",
    "tuning/show.py",
    "tuning/warnings.py",
}


def test_nobody_asks_which_form_a_phase_has() -> None:
    """A phase is lanes of operations for whoever reads a plan: it asks what these do. Exactly what
    still asks is named."""
    forms, patterns = set[str](), set[str]()
    for room, path in files():
        if room in FRONT or ORDER.index(room) < ORDER.index("plan") or room == "lowering":
            continue
        name = str(path.relative_to(ROOT / "compiler"))
        modules = list(imported(path.read_text(encoding="utf-8")))
        forms |= {name for module in modules if module.startswith(_FORMS)}
        patterns |= {name for module in modules if _PATTERNS.search(module)}
    assert forms == ASK_FOR_THE_FORM
    assert patterns == READ_SCHEDULES


def test_the_docstring_of_a_check_begins_with_its_code() -> None:
    """Their order is that of their codes."""
    assert all(re.match(r"C\d{3}[: ]", check.__doc__ or "") for check in ALONE.values())
    assert set(BUDGETS) < set(CHECKS)


def test_every_file_is_in_a_room() -> None:
    assert {room for room, _ in files()} - FRONT <= set(ORDER)


def test_an_import_of_a_later_stage_is_found_wherever_it_stands() -> None:
    assert backward("lowering", "from collc.cost import predict") == ["collc.cost.predict"]
    assert backward("lowering", "import collc.emit.model") == ["collc.emit.model"]
    assert backward("spec", "def f():\n    from collc import plan") == ["collc.plan"]


def test_an_import_of_an_earlier_stage_or_of_the_own_is_none() -> None:
    text = "from collc.plan import Plan\nfrom collc.lowering import slots\nimport numpy\n"
    assert backward("lowering", text) == []
