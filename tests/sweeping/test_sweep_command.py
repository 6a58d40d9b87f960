"""`collc sweep`: the same verdicts on every executor, also where a worker dies; resumable, in
order, and only by workers with the same tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from sweeping.dying import MARK, dies_at_four, dies_once

from collc.cli import commands
from collc.sweep import ExecutorError, Point, Sweep, Verdict, executor_of, judge, points_of
from collc.sweep.executors import Points, on_dask, on_processes, on_ray, on_slurm
from collc.sweep.points import OtherToolsError

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "two_phase.coll"


def points() -> list[Point]:
    """Six points: S = 3 is refused for two PEs."""
    over = {"P": (2, 4, 5), "B": (1, 7)}
    return list(points_of(FILE, over, {"S": 3}, [None]))


def here(asked: Points) -> Iterator[tuple[int, Verdict]]:
    """In this process, last first."""
    for number in sorted(asked, reverse=True):
        yield number, judge(asked[number])


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Point, Verdict]]:
    sweep = Sweep(points(), folder=tmp_path_factory.mktemp("cache"))
    list(sweep.run(here))
    assert [v.verdict for _, v in sweep.verdicts()] == ["refused"] * 2 + ["verified"] * 4
    return sweep.verdicts()


ENGINES = {"local": on_processes, "dask": on_dask, "ray": on_ray, "slurm": on_slurm}
MODULES = {"dask": "distributed", "ray": "ray", "slurm": "submitit"}


@pytest.mark.parametrize("engine", ENGINES)
def test_verdicts_are_the_same_where_a_worker_is_killed(
    engine: str,
    expected: list[tuple[Point, Verdict]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if engine in MODULES:
        pytest.importorskip(MODULES[engine])
    monkeypatch.chdir(tmp_path)  # some leave files
    monkeypatch.setenv(MARK, str(tmp_path / "died"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    local = {"cluster": "local"} if engine == "slurm" else {}
    executor = partial(ENGINES[engine], jobs=2, judged=dies_once, **local)
    sweep = Sweep(points(), folder=tmp_path / "cache")
    list(sweep.run(executor))
    assert (tmp_path / "died").exists()
    assert sweep.verdicts() == expected


def test_a_point_that_kills_every_worker_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    sweep = Sweep(points(), folder=tmp_path)
    with pytest.raises(
        ExecutorError, match=r"worker processes crash on .*two_phase.coll with .*P = 4"
    ):
        list(sweep.run(partial(on_processes, jobs=2, judged=dies_at_four)))
    assert len(sweep.verdicts()) == 4


def test_an_interrupted_sweep_goes_on_where_it_was(
    tmp_path: Path, expected: list[tuple[Point, Verdict]]
) -> None:
    first = Sweep(points(), folder=tmp_path).run(here)
    next(first), next(first)
    again = Sweep(points(), folder=tmp_path)
    assert again.known == 2
    assert len(list(again.run(here))) == 4
    assert again.verdicts() == expected
    assert Sweep(points(), folder=tmp_path, fresh=True).known == 0


@pytest.mark.parametrize("field", ["tools", "text"])
def test_a_worker_with_other_tools_or_another_file_judges_nothing(field: str) -> None:
    with pytest.raises(OtherToolsError):
        judge(replace(points()[2], **{field: "other"}))


@pytest.mark.parametrize("name", ["slrum", "dusk://a:1", "local:2"])
def test_an_executor_that_there_is_none_of_is_refused(name: str) -> None:
    with pytest.raises(ExecutorError, match="there is no executor"):
        executor_of(name, 1)


def invoked(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(commands, ["sweep", str(FILE), *words], prog_name="collc")
    return result.exit_code, result.output


def test_the_command_prints_a_table_csv_or_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ("-D", "S=3", "--over", "P=2,4", "--over", "B=1,7", "--jobs", "1")
    status, table = invoked(*words)
    assert status == 0
    assert table.splitlines()[-1] == "2 refused, 2 verified"
    _, text = invoked(*words, "--csv")
    assert text.splitlines()[0].startswith("B,P,S,verdict,code,message,cycles,predicted_cycles")
    _, data = invoked(*words, "--json")
    rows = json.loads(data)["rows"]
    assert [row["params"]["P"] for row in rows] == [2, 2, 4, 4]
    assert rows[0]["code"] == "C122"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--over", "P=2", "-D", "P=3"), "leave out -D P=..."),
        (("--over", "P=2", "--over", "P=3"), "given twice"),
        (("--over", "P"), "is not NAME=FIRST..LAST"),
        (("--over", "P=2", "--target", "wse2", "--all-targets"), "--target or --all-targets"),
        (("--over", "P=2", "--on", "moon"), "there is no executor moon"),
    ],
)
def test_wrong_usage_is_answered(words: tuple[str, ...], answer: str) -> None:
    status, output = invoked(*words)
    assert status in (1, 2)
    assert answer in output
