"""Which rules in doubt emitted text breaks: `strict.json` names them, and may only get shorter.

fabsim warns of what the sources leave in doubt and refuses it under `--strict`: docs/machine.md,
section 3.9. An example that breaks a rule it did not break before fails here, and so does one that
no longer breaks a rule it is down for, until the file says so: `pytest --update-expect` writes it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from emitting import example_bundle

fabsim = pytest.importorskip("fabsim")

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPECTED = Path(__file__).parent / "strict.json"
CODE = re.compile(r"\[([a-z-]+)\](?:;|$)", re.MULTILINE)


def rules_broken(example: Path, folder: Path) -> list[str]:
    """The codes of the rules that the text of an example breaks."""
    bundle = example_bundle(example)
    bundle.write(folder)
    layout = str(folder / "layout.csl")
    program = fabsim.compile(layout, arch=bundle.spec.target, strict=False)
    broken = sorted({code for warning in program.warnings for code in CODE.findall(warning)})
    assert broken or not program.warnings, program.warnings  # nothing else is warned of either
    if broken:
        with pytest.raises(fabsim.CslError):
            fabsim.compile(layout, arch=bundle.spec.target, strict=True)
    return broken


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.coll")))
def test_an_example_breaks_the_rules_it_is_down_for_and_no_others(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    broken = rules_broken(EXAMPLES / f"{name}.coll", tmp_path)
    if request.config.getoption("--update-expect"):
        entries = {**expected, name: broken}
        rest = {key: entries[key] for key in sorted(entries) if entries[key]}
        EXPECTED.write_text(json.dumps(rest, indent=2) + "\n")
        return
    assert broken == expected.get(name, [])
