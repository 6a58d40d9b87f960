"""The transposition within the vendor's fft-1d-2d: every PE of a row sends every other a word.

Its 2-D transform calls the transform of a line, transposes, and calls it again; in a copy the calls
are taken out, so what is left is the transposition alone, and PEs start together. A word is a
complex number of two f16, and its result is written back over its input, as ours is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from peers import Measured, Point, compiled, copied, difference

NAME = "vendor's fft-1d-2d, its transposition"
HAS = "fft-1d-2d/ucode_2d.csl"
PES = (4, 8, 16, 32, 64)
CALLS = ("  mod.fft(&f_twiddle);\n", "  mod.ifft(&f_twiddle);\n")

OURS = """target {target}
grid row = {pes} x 1
collective all = all_to_all(x: u32[{pes}]) on row {{ run auto }}
program {{ all }}
"""


def points(folder: Path) -> Iterator[Point]:
    """One word from each PE to each, on both targets."""
    for target in ("wse2", "wse3"):
        for pes in PES:
            yield Point(
                NAME,
                "all_to_all",
                target,
                f"{pes} x 1",
                pes,
                lambda at, t=target, n=pes: _run(folder, at, t, n),  # type: ignore[misc]
                {"auto": OURS.format(target=target, pes=pes)},
                pes**3,
            )


def _run(folder: Path, scratch: Path, target: str, pes: int) -> Measured:
    theirs = copied(folder / "fft-1d-2d", scratch)
    text = (theirs / "ucode_2d.csl").read_text()
    if any(text.count(call) != 1 for call in CALLS):
        return Measured(0, "another text than the one that is known")
    for call in CALLS:
        text = text.replace(call, "")
    (theirs / "ucode_2d.csl").write_text(text)
    simulator = compiled(theirs / "layout.csl", target, {"DIM": 2, "Nz": pes, "FP": 1})
    given = np.arange(2 * pes * pes, dtype=np.float16).reshape(pes, pes, 2) % 2048
    simulator.memcpy_h2d("X", given.reshape(-1), 0, 0, pes, 1, 2 * pes)
    report = simulator.launch("f_fft")
    found = simulator.memcpy_d2h("X", "float16", 0, 0, pes, 1, 2 * pes).reshape(given.shape)
    return Measured(report.cycles, difference(found, given.transpose(1, 0, 2), 0))
