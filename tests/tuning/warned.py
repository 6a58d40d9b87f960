"""Collectives for the tests of warnings: compiled, run on fabsim, and mended as a warning says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

import collc
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run.expected import make_input

TEXT = """target {target}
grid pes = {grid}
collective it = {contract} on pes {{ {steps} }}
program {{ it }}
"""


def compiled(contract: str, steps: str, grid: str, target: str = "wse2") -> Bundle:
    text = TEXT.format(target=target, grid=grid, contract=contract, steps=steps)
    return compile_text(text, "f.coll", {})


def codes_of(bundle: Bundle) -> set[str]:
    """The warnings about a bundle, without that of a plan that takes less than half (C805)."""
    return {one.code for one in bundle.warnings} - {"C805"}


def plans_told(help: str) -> list[tuple[str, int]]:
    """The plans of a remedy, with what they are predicted to take."""
    first = re.match(r"`(.+?)` is predicted to take (\d+) cycles instead of \d+", help)
    assert first is not None, help
    further = re.findall(r"; `(.+?)` (\d+)", help)
    return [(text, int(cycles)) for text, cycles in [first.groups(), *further]]


def usage_of(bundle: Bundle, folder: Path) -> dict:
    """What fabsim says that PEs and links did in a run."""
    fabsim = collc.run.fabsim_module()
    bundle.write(folder)
    program = fabsim.compile(str(folder / "layout.csl"), arch=bundle.spec.target)
    simulator = fabsim.Simulator(program, usage=True)
    collective = bundle.plan.collective
    grid, contract = collective.grid, collective.contract
    given = np.ascontiguousarray(make_input(collective, 1)).reshape(-1)
    area = (0, 0, grid.width, grid.height, contract.length)
    simulator.memcpy_h2d(contract.buffer, given, *area)
    simulator.launch("run")
    usage = json.loads(simulator.usage_json())
    simulator.stop()
    return usage
