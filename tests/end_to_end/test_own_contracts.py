"""Contracts of the user's own: whatever some steps do can be promised, is proved, and is delivered;
a promise that says anything else is refused.

What steps do is followed here once more, by sets of ranks in dictionaries. COLLC_CASES sets how
many random ones are drawn.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import collc
from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.run.expected import dues

CASES = int(os.environ.get("COLLC_CASES", "300")) // 40
EXAMPLES = ("group_sums", "halo_exchange", "prefix_sum", "rotation")
HEADS = (
    "x: f32[{n}], add",
    "x: f16[{n}], min",
    "x: i16[{n}], add",
    "x: i32[{n}], max",
)

# (rank, slice) -> the ranks whose contributions it has, and their slice; None is of no use
Held = dict[tuple[int, int], tuple[frozenset[int], int] | None]


@dataclass
class Drawn:
    """Phases as text, with what every rank has after them."""

    ranks: int
    slices: int
    held: Held
    algorithms: list[str]
    steps: list[str]

    def text(self, element: str, target: str, order: str) -> str:
        """A program that promises all that is there."""
        promises = [
            f"after each r where r == {rank} : r has slice {origin} of {who} as slice {slice_}"
            for (rank, slice_), found in self.held.items()
            if found is not None
            for who, origin in ((who, found[1]) for who in sorted(found[0]))
        ]
        lines = (
            f"target {target}",
            f"grid row = {self.ranks} x 1",
            f"contract whatever(n) slices {self.slices} {{ {' '.join(promises)} }}",
            *self.algorithms,
            f"collective c = whatever({element.format(n=self.slices * 5)}) on row {{",
            f"    order {order} {' then '.join(self.steps)}",
            "}",
            "program { c }",
        )
        return "\n".join(lines)


def drawn(pick: random.Random) -> Drawn:
    ranks, slices = pick.randint(2, 7), pick.randint(1, 4)
    held: Held = {(r, s): (frozenset((r,)), s) for r in range(ranks) for s in range(slices)}
    made = Drawn(ranks, slices, held, [], [])
    for number in range(pick.randint(1, 3)):
        _by_steps(made, pick, f"a{number}")
        if pick.random() < 0.3:
            _broadcast(made, pick.randrange(ranks))
    return made


def _by_steps(made: Drawn, pick: random.Random, name: str) -> None:
    steps = []
    for _ in range(pick.randint(1, 3)):
        lines, before, written = [], dict(made.held), set()
        for _ in range(pick.randint(1, 5)):
            source, to = pick.sample(range(made.ranks), 2)
            slice_, into = pick.randrange(made.slices), pick.randrange(made.slices)
            arriving, there = before[source, slice_], before[to, into]
            joins = _joined(there, arriving) if slice_ == into else None
            if (to, into) in written or arriving is None:
                continue
            combines = joins is not None and pick.random() < 0.7
            made.held[to, into] = joins if combines else arriving
            written.add((to, into))
            arrow, placed = ("=>", "") if combines else ("->", f" as slice {into}")
            lines.append(f"each r where r == {source} : slice {slice_} r {arrow} {to}{placed}")
        steps.append(f"step {{ {' '.join(lines)} }}")
    made.algorithms.append(f"algorithm {name}(n) slices {made.slices} {{ {' '.join(steps)} }}")
    made.steps.append(f"run {name}")


def _joined(there, arriving):
    if there is None or arriving is None or there[1] != arriving[1] or there[0] & arriving[0]:
        return None
    return there[0] | arriving[0], there[1]


def _broadcast(made: Drawn, root: int) -> None:
    for rank, slice_ in made.held:
        made.held[rank, slice_] = made.held[root, slice_]
    made.steps.append(f"broadcast from {root}")


def test_what_steps_do_can_be_promised_and_is_delivered() -> None:
    run = 0
    for seed in range(CASES):
        pick = random.Random(seed)
        made, element = drawn(pick), pick.choice(HEADS)
        order = pick.choice(("west_to_east", "east_to_west", "ring"))
        text = made.text(element, ("wse2", "wse3")[seed % 2], order)
        try:
            bundle = compile_text(text, "drawn.coll", {})
        except CollcError as error:
            assert error.diagnostics[0].code.startswith("C3"), (text, error)
            continue
        report = bundle.run(repeats=2)
        assert report.verified, (text, report.problem)
        assert bundle.prediction.bound <= report.cycles, text
        run += 1
    assert run * 2 >= CASES  # others need more colors or queues than there are


def test_any_other_promise_is_refused() -> None:
    for seed in range(CASES):
        pick = random.Random(seed)
        made = drawn(pick)
        where = pick.choice(sorted(made.held))
        found = made.held[where]
        assert found is not None
        whose = found[0] ^ {pick.randrange(made.ranks)}
        made.held[where] = (whose or frozenset((made.ranks - 1 - min(found[0]),)), found[1])
        if made.held[where] == found:
            continue
        with pytest.raises(CollcError) as caught:
            compile_text(made.text(HEADS[0], "wse2", "west_to_east"), "drawn.coll", {})
        assert {d.code for d in caught.value.diagnostics} <= {"C201", "C208"}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_delivers_what_its_contract_says(name: str, target: str) -> None:
    path = Path(__file__).parents[2] / "examples" / f"{name}.coll"
    names = {p.name for p in collc.compile(path).spec.parameters}
    for pes, length in ((1, 3), (2, 1), (5, 17)):
        given = {k: v for k, v in (("P", pes), ("B", length)) if k in names}
        bundle = collc.compile(path, target=target, **given)
        report = bundle.run(repeats=2)
        assert report.verified, (given, report.problem)
        slack = 0.02 * report.cycles + 90
        assert abs(bundle.prediction.cycles - report.cycles) <= slack, given


def run_py(text: str, tmp_path: Path) -> None:
    """Build a program for five PEs and let its own run.py judge it."""
    compile_text(text, "own.coll", {}).write(tmp_path)
    command = [sys.executable, "-m", "fabsim"]
    arguments = ["--arch=wse2", "layout.csl", "--fabric-dims=12,3", "--fabric-offsets=4,1"]
    arguments += ["-o", "out", "--memcpy", "--channels=1"]
    subprocess.run([*command, "cslc", *arguments], check=True, cwd=tmp_path, capture_output=True)
    found = subprocess.run(
        [*command, "python", "run.py", "--name", "out"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "SUCCESS!" in found.stdout, found.stderr


HALO = """
target wse2
grid row = 5 x 1
contract halo(n, K) slices K + 2 {
    before each r : r has slices 1 .. K of r
    after each r  : r has slices 1 .. K of r
    after each r where r > 0     : r has slice K of r - 1 as slice 0
    after each r where r < n - 1 : r has slice 1 of r + 1 as slice K + 1
}
algorithm swap(n, K) slices K + 2 {
    step {
        each r where r < n - 1 : slice K r -> r + 1 as slice 0
        each r where r > 0     : slice 1 r -> r - 1 as slice K + 1
    }
}
contract evens(n) slices 2 { after each r, q where r mod 2 == q mod 2 : r has slice 1 of q }
algorithm direct(n) slices 2 {
    step { each r, q where r mod 2 == q mod 2 and r != q : slice 1 r => q }
}
operation largest(a, b: i32) commutative = a < b ? b : a
collective halos = halo(x: f16[12], K = 2) on row { order east_to_west run swap(K = 2) }
collective sums = evens(x: f16[12], add) on row { run direct }
collective most = evens(y: i32[7], largest) on row { run direct }
"""


@pytest.mark.parametrize(
    "program",
    ["program { most }", "program { repeat 2 { halos sums most halos } within colors <= 4 }"],
)
def test_the_emitted_script_computes_what_is_due(program: str, tmp_path: Path) -> None:
    run_py(HALO + program, tmp_path)
    report = compile_text(HALO + program, "own.coll", {}).run()
    assert report.verified, report.problem


def test_promises_of_neighbouring_slices_are_joined() -> None:
    text = HALO + "program { halos }"
    own = compile_text(text, "own.coll", {}).spec.collectives[0].contract.own
    assert own is not None
    first = next(dues(own))
    assert (first.holder, first.into, first.count, first.whose) == (0, 1, 2, (0,))
