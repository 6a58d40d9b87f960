"""The emitted text of every prelude algorithm is CSL, for every contract that it fulfils."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest
import steps_patterns as s
from with_schedules import check_plan

import fabsim
from collc.base.diagnostics import CollcError
from collc.base.files import write_files
from collc.driver.pipeline import prove_text
from collc.lowering import candidate_plans
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS

PRELUDE = Path(__file__).parents[2] / "grammar" / "prelude.coll"
ALGORITHMS = re.findall(r"^algorithm ([a-z]\w*)\(n(.*?)\)", PRELUDE.read_text(), re.MULTILINE)
ALL = bool(os.environ.get("COLLC_ALL_SIZES"))  # the nightly run compiles all plans
VALUES = {"root": 0, "G": 2, "c": 3}
CONTRACTS = (
    "broadcast(x: f32[20])",
    "reduce(x: f32[20], add)",
    "reduce(x: i32[20], max)",
    "allreduce(x: f32[20], add)",
    "allreduce(x: i32[20], max)",
    "scatter(x: f32[20])",
    "gather(x: f32[20])",
    "allgather(x: f32[20])",
    "reduce_scatter(x: f32[20], add)",
    "reduce_scatter(x: i32[20], max)",
    "all_to_all(x: f32[20])",
    "barrier()",
)


def text_of(algorithm: str, parameters: str, contract: str) -> str:
    names = [name.strip() for name in parameters.split(",") if name.strip()]
    given = ", ".join(f"{name} = {VALUES[name]}" for name in names)
    call = f"{algorithm}({given})" if given else algorithm
    collective = f"collective total = {contract} on row {{\n    run {call}\n}}"
    return f"target wse2\ngrid row = 4 x 1\n{collective}\nprogram {{ total }}\n"


@pytest.mark.parametrize(("algorithm", "parameters"), ALGORITHMS, ids=lambda value: value)
def test_what_is_proved_is_emitted_as_csl(algorithm, parameters, tmp_path):
    """Of every target the first plan, and of the others every second one, by turns."""
    compiled = Counter()
    for contract in CONTRACTS:
        try:
            _, schedule = prove_text(text_of(algorithm, parameters, contract), "t.coll", {}, None)
        except CollcError:
            continue  # another contract's algorithm
        schedule = with_tokens(schedule)
        for turn, target in enumerate(TARGETS.values()):
            for plan in candidate_plans(schedule, target):
                assert check_plan(plan) == ()
                compiled[target.name] += 1
                if not ALL and compiled[target.name] > 1 and compiled[target.name] % 2 == turn:
                    continue
                write_files(tmp_path, s.texts_of(schedule, plan))
                fabsim.compile(tmp_path / "layout.csl", arch=target.name, strict=True)
    assert compiled.keys() == TARGETS.keys()
