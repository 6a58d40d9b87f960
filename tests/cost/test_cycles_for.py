"""What a call takes for a length that it is given, by itself."""

import pytest

from collc.cost.predict import cycles_for
from collc.driver.pipeline import compile_text

TEXT = """target wse2
grid row = {pes} x 1
collective total = reduce(x: f32[n <= 30], add) on row {{ reduce {tree} to 0 }}
program {{ total }}
"""


@pytest.mark.parametrize("tree", ["star", "chain", "binomial"])
def test_shorter_vectors_take_less_and_about_what_the_program_takes(tree: str) -> None:
    bundle = compile_text(TEXT.format(pes=8, tree=tree), "t.coll", {}, None)
    found = [cycles_for(bundle.program.plans[0], length) for length in (1, 5, 30)]
    whole = [bundle.predicted({"n": (length,)}).cycles for length in (1, 5, 30)]
    assert found[0] < found[1] < found[2]
    assert all(abs(one - other) <= 30 for one, other in zip(found, whole, strict=True))
