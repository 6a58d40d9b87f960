"""Programs by the text of lanes: routers that are set between phases, roots and choices of a call,
late starts, time stamps, calls of one word."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("fabsim")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from constructs import attested, constructs_in  # noqa: E402
from simulating import fabsim_options, most_cycles  # noqa: E402

from collc.driver.bundle import Bundle  # noqa: E402
from collc.driver.pipeline import compile_text  # noqa: E402
from collc.run import RunError  # noqa: E402

TARGETS = ("wse2", "wse3")
ROW = "target wse2\ngrid row = 5 x 1\n"
GRID = "target wse2\ngrid pes = 4 x 3\n"
CHAIN = "reduce chain to 0 then broadcast from 0"

# Trees, multicasts, streams and step tables, whose colors are torn down; call-backs, signs that are
# turned back, a path, parts, and each row: PEs that only let vectors pass have routers to set.
TORN_DOWN = {
    "trees, streams and steps": f"""{ROW}
collective a = reduce(x: f32[12], min) on row {{ reduce two_phase(S = 2) to 0 }}
collective b = allreduce(y: f32[12], add) on row {{ order ring run ring_allreduce }}
collective c = all_to_all(z: i16[10]) on row {{ run linear_all_to_all }}
collective d = broadcast(x: f32[12]) on row {{ broadcast from 3 }}
program {{ repeat 2 {{ a b c d }} reconfigure teardown }}
""",
    "few colors": f"""{GRID}
collective a = allreduce(x: f32[9], add) on pes {{
    reduce columns by chain to 0 then reduce row by star to 0 then broadcast from (0, 0)
}}
collective b = reduce(y: i32[9], max) on pes {{ order snake reduce chain to 0 }}
program {{ repeat 2 {{ a b a }} within colors <= 3 }}
""",
    "parts": f"""{GRID}
grid inner = pes[1 .. 2, 0 .. 2]
collective a = reduce(x: f32[7], add) on each row of pes {{ reduce chain to 3 }}
collective b = broadcast(x: f32[7]) on each column of inner {{ broadcast from 1 }}
collective c = barrier() on inner {{ order snake {CHAIN} }}
program {{ repeat 2 {{ a b c }} reconfigure teardown }}
""",
    "one collective": f"""{GRID}
collective a = allreduce(x: f32[9], add) on pes {{
    reduce columns by chain to 0 then reduce row by chain to 0 then broadcast from (0, 0)
    within colors <= 3
}}
program {{ a }}
""",
}

# A root before, behind and at each PE; of a part of a grid, with other collectives beside it.
ROOTED = {
    "broadcast": f"""{ROW}
collective a = broadcast(x: f32[12]) on row {{ broadcast from r < 5 }}
program {{ repeat 5 {{ a }} }}
""",
    "reduce, and another collective": f"""{ROW}
collective a = reduce(x: f32[12], min) on row {{ reduce chain to r < 5 }}
collective b = allreduce(y: i16[7], add) on row {{ {CHAIN} }}
program {{ repeat 5 {{ a b }} within colors <= 4 }}
""",
    "each column of a part": """target wse2
grid pes = 3 x 6
grid inner = pes[0 .. 1, 1 .. 5]
collective a = broadcast(x: u16[7]) on each column of inner { broadcast from r < 5 }
program { repeat 5 { a } }
""",
    "slices by both sides": f"""{ROW}
algorithm behind(n, root) slices n {{
    step {{ each r, q where r == root and q > root : slice q  r -> q }}
}}
algorithm before(n, root) slices n {{
    step {{ each r, q where r == root and q < root : slice q  r -> q }}
}}
collective a = scatter(x: f32[10]) on row {{
    run behind(root = r) then run before(root = r) from r < 5
}}
program {{ repeat 5 {{ a }} }}
""",
}


def lanes(text: str, target: str, **how: bool) -> Bundle:
    """A program compiled."""
    return compile_text(text, "some.coll", {}, target, **how)


most = partial(most_cycles, Path(__file__).stem)


def holds(text: str, target: str, what: str, **lengths: tuple[int, ...]) -> None:
    """Results are right, early and late; and calls take no more than they did."""
    bundle = lanes(text, target)
    report = bundle.run(repeats=2, lengths=lengths)
    assert report.verified, report.problem
    late = replace(bundle, most_idle=150).run(seed=7, lengths=lengths)
    assert late.verified, late.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(seed=4, lengths=lengths)
    assert late.verified, late.problem
    assert report.cycles <= most(f"{what}, {target}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", TORN_DOWN)
def test_phases_set_their_routers_when_the_phase_before_is_torn_down(
    program: str, target: str
) -> None:
    holds(TORN_DOWN[program], target, program)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", ROOTED)
def test_every_rank_in_turn_is_the_root_of_a_call(program: str, target: str) -> None:
    holds(ROOTED[program], target, program, r=(3, 0, 4, 1, 2))


def test_a_root_and_a_length_follow_the_buffer() -> None:
    text = f"""{ROW}
collective a = reduce(x: f32[n <= 12], add) on row {{ reduce chain to r < 5 }}
program {{ repeat 3 {{ a }} }}
"""
    bundle = lanes(text, "wse2")
    assert "fn a(vector: *[12]f32, n: u16, r: u16) void {" in bundle.files["some_pe.csl"]
    report = bundle.run(lengths={"n": (12, 1, 5), "r": (4, 0, 2)})
    assert report.verified, report.problem


CHOICE = """target wse2
grid row = 9 x 1
collective total = reduce(x: f32[n <= 48], add) on row {
    select by n {
        n <= 5: reduce star to 0
        n <= 20: reduce two_phase(S = 3) to 0
        else: reduce chain to 0
    }
}
program { repeat 3 { total } within colors <= 2 }
"""


@pytest.mark.parametrize("target", TARGETS)
def test_alternatives_of_a_choice_take_turns_on_the_same_colors(target: str) -> None:
    holds(CHOICE, target, "alternatives", n=(5, 21, 6))


@pytest.mark.parametrize("program", TORN_DOWN | ROOTED)
def test_programs_have_only_constructs_that_somebody_attests(program: str) -> None:
    text = (TORN_DOWN | ROOTED)[program]
    target = TARGETS[len(program) % 2]
    places = constructs_in(lanes(text, target), target)
    assert [one for one in places if not attested(one, target)] == []


def test_without_a_teardown_there_is_no_code_for_one() -> None:
    text = f"{ROW}collective a = allreduce(x: f32[9], add) on row {{ {CHAIN} }}\nprogram {{ a }}\n"
    files = lanes(text, "wse2").files
    assert "router.csl" not in files
    assert "tile_config" not in files["some_pe.csl"]


def test_late_starts_are_given_to_the_text_that_is_built() -> None:
    text = TORN_DOWN["few colors"]
    built = lanes(text, "wse2")
    late = compile_text(text, "some.coll", {}, "wse2", 100)
    assert dict(late.files) == dict(built.files)
    assert late.run().cycles > built.run().cycles


JOINED = """target wse2
grid row = 7 x 1
collective turn = all_to_all(x: f32[21]) on row { run linear_all_to_all }
program { turn }
"""


@pytest.mark.parametrize(
    "forgotten", ["  @block(end);  // for the next time\n", "    @block(end);\n"]
)
def test_runs_with_late_starts_find_a_join_that_does_not_wait(forgotten: str) -> None:
    bundle = compile_text(JOINED, "some.coll", {}, "wse2", 300)
    assert bundle.run(repeats=2).verified
    wrong = bundle.files["join.csl"].replace(forgotten, "")
    assert wrong != bundle.files["join.csl"]
    bundle = replace(bundle, files={**bundle.files, "join.csl": wrong})
    with suppress(RunError):  # a run that does not come to its end tells as well
        assert not bundle.run(repeats=2).verified


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", [JOINED, TORN_DOWN["parts"], ROOTED["broadcast"]])
def test_programs_have_time_stamps(program: str, target: str) -> None:
    bundle = lanes(program, target, timed=True)
    assert {"clock_pe.csl", "clock_layout.csl"} <= set(bundle.files)
    assert "start_wait" in bundle.files["run.py"]
    report = bundle.run(repeats=2)
    assert report.verified, report.problem


WORDS = {
    "chain": f"{ROW}collective a = allreduce(x: f32[1], add) on row {{ {CHAIN} }}\n",
    "star": f"{ROW}collective a = allreduce(x: i16[1], add) on row {{"
    " reduce star to 2 then broadcast from 2 }\n",
    "grid": f"{GRID}collective a = allreduce(x: f16[1], max) on pes {{ reduce columns by two_phase"
    "(S = 2) to 0 then reduce row by chain to 0 then broadcast from (0, 0) }\n",
    "snake": f"{GRID}collective a = allreduce(x: f32[1], add) on pes {{ order snake {CHAIN} }}\n",
    "barrier": f"{GRID}collective a = barrier() on pes {{ order snake {CHAIN} }}\n",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", WORDS)
@pytest.mark.parametrize("calls", ["a", "repeat 3 { a }"])
def test_a_call_of_one_word(calls: str, form: str, target: str) -> None:
    holds(f"{WORDS[form]}program {{ {calls} }}\n", target, f"{form}: {calls}")


@pytest.mark.parametrize(("target", "cycles"), [("wse2", 62), ("wse3", 84)])
def test_a_sum_of_one_word_on_eight_pes(target: str, cycles: int) -> None:
    text = WORDS["chain"].replace("5 x 1", "8 x 1") + "program { a }\n"
    assert lanes(text, target).run().cycles <= cycles


def test_every_resource_of_a_library_has_a_default() -> None:
    for text in (JOINED, TORN_DOWN["parts"], ROOTED["broadcast"], CHOICE):
        files = lanes(text, "wse2").files
        given = re.search(r'@import_module\("some_pe.csl", \.\{(.*?)\}\)', files["pe_program.csl"])
        assert given is not None
        assert set(re.findall(r"\.(\w+) =", given[1])) == {"params", "done"}


EQUAL = f"""{ROW}
collective a = allreduce(x: f32[12], min) on row {{ {CHAIN} }}
collective b = allreduce(y: f32[12], min) on row {{ {CHAIN} }}
collective c = allreduce(y: f32[12], max) on row {{ {CHAIN} }}
program {{ repeat 2 {{ a b c }} RECONFIGURE }}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("reconfigure", ["within colors <= 3", "reconfigure teardown"])
def test_equal_plans_share_their_code(reconfigure: str, target: str) -> None:
    text = EQUAL.replace("RECONFIGURE", reconfigure)
    holds(text, target, f"equal plans {reconfigure}")
    library = lanes(text, target).files["some_pe.csl"]
    assert "fn b(vector: *[12]f32) void {\n  a(vector);\n}" in library
    assert "b_reduce" not in library
    assert "c_reduce" in library  # a near miss: another operation


def test_barriers_have_a_token_each() -> None:
    text = f"{ROW}" + "".join(
        f"collective {name} = barrier() on row {{ {CHAIN} }}\n" for name in ("a", "b")
    )
    bundle = lanes(f"{text}program {{ a b }}\n", "wse2")
    assert "b_reduce" in bundle.files["some_pe.csl"]
    assert bundle.run().verified


def test_what_a_kernel_asks_before_a_call_grows_with_the_logarithm_of_their_number() -> None:
    declared = "".join(
        f"collective c{i} = broadcast(x{i}: f32[5]) on row {{ broadcast from 0 }}\n"
        for i in range(16)
    )
    calls = " ".join(f"c{i}" for i in range(16))
    kernel = lanes(f"{ROW}{declared}program {{ {calls} }}\n", "wse2").files["pe_program.csl"]
    (chosen,) = re.findall(r"task next\(\) void \{\n(.*?)\n\}\n", kernel, re.DOTALL)
    nested = [len(re.match(" *", line)[0]) // 2 for line in chosen.splitlines() if "some.c" in line]
    assert len(nested) == 15  # the launch makes the first one
    assert max(nested) <= 1 + 4
