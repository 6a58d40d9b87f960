"""Faults planted in the shipped text of a join are found by a run with late starts."""

import pytest

from collc.driver.pipeline import compile_text
from collc.run import RunError
from collc.run.program import run_program

TEXT = """target {}
grid g = 7 x 1
collective c = all_to_all(x: f32[21]) on g {{ run auto }}
program {{ {} }}
"""
AGAIN = "// for the next time"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("calls", ["c", "repeat 2 { c }"])
def test_a_join_that_is_not_blocked_again_is_found(target: str, calls: str) -> None:
    bundle = compile_text(TEXT.format(target, calls), "test.coll", {}, None, 60)
    texts = dict(bundle.files)
    having = [name for name, text in texts.items() if AGAIN in text]
    assert having, "some PE joins ends by a task"

    def is_right(texts: dict[str, str]) -> bool:
        try:
            report = run_program(
                texts, bundle.program, bundle.schedules, target, seed=1, repeats=3, most_idle=60
            )
        except RunError:
            return False
        return report.verified

    assert is_right(texts)
    for name in having:
        lines = texts[name].splitlines()
        for at in (at for at, line in enumerate(lines) if AGAIN in line):
            planted = "\n".join((*lines[:at], *lines[at + 1 :], ""))
            assert not is_right(texts | {name: planted}), (name, at)
