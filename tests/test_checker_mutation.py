"""The job that mutates checks changes what it says, and names each change once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import checker_mutation as m
import pytest

TEXT = '''\
def check(plan, most=3):
    """A docstring is left alone."""
    assert plan, "as is an assertion"
    for number in plan.numbers:
        if number > 3 and not plan.free:
            yield f"{number + 1} is too much"
    return
'''


def named(folder: Path, text: str) -> dict[str, m.Mutant]:
    path = folder / "check.py"
    path.write_text(text)
    found = list(m.mutants_of(path))
    assert len({one.name for one in found}) == len(found)
    return {one.change: one for one in found}


def test_a_change_is_of_the_code_and_not_of_messages(tmp_path: Path) -> None:
    assert sorted(named(tmp_path, TEXT)) == [
        "`3` becomes `4`",
        "`for number in plan.numbers` becomes `for number in plan.numbers, once`",
        "`if number > 3 and (not plan.free)` becomes `if not (number > 3 and (not plan.free))`",
        "`not plan.free` becomes `plan.free`",
        "`number > 3 and (not plan.free)` becomes `not plan.free`",
        "`number > 3 and (not plan.free)` becomes `number > 3`",
        "`number > 3` becomes `number >= 3`",
        "`yield f'{number + 1} is too much'` becomes `nothing`",
    ]


@pytest.mark.parametrize(
    ("change", "result"),
    [
        ("`any((n > 1 for n in of))` becomes `all((n > 1 for n in of))`", False),
        ("`n > 1` becomes `n >= 1`", True),
        ("`1` becomes `2`", False),
    ],
)
def test_a_function_does_what_its_mutant_does(tmp_path: Path, change: str, result: bool) -> None:
    mutant = named(tmp_path, "def f(of):\n    return any(n > 1 for n in of)\n")[change]
    namespace: dict[str, object] = {}
    exec("def f(of): return None", namespace)
    function = namespace["f"]
    function.__code__ = mutant.code  # type: ignore[attr-defined]
    given = [2, 0] if "any" in change else [1] if ">=" in change else [2]
    assert function(given) is result  # type: ignore[operator]


def test_the_same_change_in_two_places_has_two_names(tmp_path: Path) -> None:
    assert sorted(named(tmp_path, "def f(a):\n    return a + 1, a - 1\n")) == [
        "`1` becomes `2`",
        "`1` becomes `2` (2)",
        "`a + 1` becomes `a - 1`",
        "`a + 1` becomes `a`",
        "`a - 1` becomes `a + 1`",
        "`a - 1` becomes `a`",
    ]


def test_only_what_is_reached_is_asked_the_quickest_first(tmp_path: Path) -> None:
    mutant = named(tmp_path, TEXT)["`number > 3` becomes `number >= 3`"]
    reached = {
        "slow": m.Reached(2.0, {"check.py": {5}}),
        "quick": m.Reached(0.1, {"check.py": {4, 5}}),
        "beside": m.Reached(0.1, {"check.py": {3}}),
    }
    assert m.covering(mutant, reached, 60) == ["quick", "slow"]
    assert m.covering(mutant, reached, 1) == ["quick"]


def test_a_survivor_that_is_known_has_a_kind_and_a_reason() -> None:
    text = "# a comment\na.py: f: `1` becomes `2`\n    equivalent: there is but one\n"
    known = m.known_survivors(text)
    assert known == {"a.py: f: `1` becomes `2`": m.Known("equivalent", "there is but one")}
    with pytest.raises(SystemExit):
        m.known_survivors(text.replace("equivalent", "unlikely"))


def test_what_is_reported_is_clean_if_every_survivor_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcomes = {"one": m.KILLED, "two": m.SURVIVED, "three": m.UNREACHED}
    known = {"two": m.Known("equivalent", "so"), "three": m.Known("open", "later")}
    assert m.reported(outcomes, known, set(outcomes))
    assert "3 mutants: 1 killed, 1 equivalent, 1 open, 0 new survivors" in capsys.readouterr().out
    assert not m.reported(outcomes, {"two": known["two"]}, set(outcomes))
    assert not m.reported({"one": m.KILLED}, {"one": known["two"]}, {"one"})


def test_the_known_survivors_are_mutants() -> None:
    known = m.known_survivors(m.KNOWN.read_text(encoding="utf-8"))
    files = {name.partition(": ")[0] for name in known}
    names = {one.name for file in files for one in m.mutants_of(m.ROOT / file)}
    assert sorted(known.keys() - names) == []


@pytest.mark.parametrize(
    ("returns", "bodies"),
    [
        ("Iterator[Diagnostic]", ["nothing"]),
        ("Diagnostic | None", ["return None"]),
        ("str", ["return ''"]),
        ("bool", ["return False", "return True"]),
        ("tuple[Diagnostic, ...]", []),
    ],
)
def test_what_a_check_finds_may_be_nothing_at_all(
    tmp_path: Path, returns: str, bodies: list[str]
) -> None:
    found = named(tmp_path, f"def f(plan) -> {returns}:\n    return found(plan)\n")
    assert list(found) == [f"the body becomes `{body}`" for body in bodies]


ROOM = """\
from __future__ import annotations

from collections.abc import Iterator

from collc.base.memoize import memoized


def too_many(numbers: list[int]) -> Iterator[str]:
    for number in numbers:
        if _large(number):
            yield f"{number} is too much"


def _large(number: int) -> bool:
    return number > Most(3).most


class Most:
    def __init__(self, most: int) -> None:
        self.most = most if most > 1 else 1


@memoized
def least(numbers: tuple[int, ...]) -> int:
    return min(numbers)


def nobody_asks() -> str:
    return "yes"
"""
ITS_TESTS = """\
from check import least, too_many


def test_a_number_that_is_too_much_is_found():
    assert list(too_many([3, 4, 5])) == ["4 is too much", "5 is too much"]


def test_the_least_is_found():
    assert least((1, 2)) == 1
"""


def hunted(folder: Path, *options: str) -> list[str]:
    """What the job prints about a room with a check, its tests and what is known."""
    files = {
        "room/check.py": ROOM,
        "tests/test_check.py": ITS_TESTS,
        "setup.cfg": "[tool:pytest]\n",
        "known.txt": "room/check.py: Most.__init__: `1` becomes `2` (2)\n    equivalent: it is 3\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    script = f"""
        import sys
        sys.path += [{str(m.ROOT / "tests")!r}, "room"]
        from pathlib import Path
        import checker_mutation as m
        m.ROOT, m.ROOMS, m.TESTS = Path.cwd(), ("room",), ("tests",)
        m.KNOWN, m.REACHED = Path("known.txt").resolve(), Path("cache", "reached.json").resolve()
        sys.exit(m.main())
    """
    command = [sys.executable, "-B", "-c", dedent(script), *options]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_check_that_accepts_everything_is_killed_and_one_as_it_is_survives(
    tmp_path: Path,
) -> None:
    as_they_are = hunted(tmp_path, "--unchanged")
    assert as_they_are[-1] == "5 functions as they are: 4 reached, 0 told apart"
    assert "unreached: room/check.py: nobody_asks: unchanged (line 29)" in as_they_are
    told = hunted(tmp_path)
    counts, found = told[-5], told[-4:]
    assert counts == "15 mutants: 10 killed, 1 equivalent, 0 open, 4 new survivors"
    assert [line.removeprefix("no test finds: room/check.py: ") for line in found] == [
        "Most.__init__: `1` becomes `2`",
        "Most.__init__: `most > 1` becomes `most >= 1`",
        "nobody_asks: `return 'yes'` becomes `return ''`",
        "nobody_asks: the body becomes `return ''`",
    ]


def test_what_is_imported_on_demand_is_there_before_it_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "collc.checks.budgets.colors"
    monkeypatch.delitem(sys.modules, name, raising=False)
    m.import_all([m.ROOT / "compiler" / "checks" / "budgets" / "colors.py"])
    assert name in sys.modules
