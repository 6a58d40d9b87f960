"""What a PE's program takes of its memory: the estimates of plans against what fabsim compiles.

    python tests/memory.py [EXAMPLE...]

For each example and target the bytes of the PE that takes most, instructions and data, as counted
and as estimated, without the run-time library; the exit status is 1 where an estimate is too low.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product

import fabsim
from collc.driver.bundle import Bundle
from collc.lowering.memory import INSTRUCTION_BYTES, RUNTIME_BYTES
from emitting import EXAMPLES, example_bundle

MOST_PES = 64  # looked at along each axis: the first and the last, and those between at intervals


def compiled(bundle: Bundle) -> fabsim.Program:
    """The program that fabsim makes of a bundle."""
    with tempfile.TemporaryDirectory() as folder:
        bundle.write(folder)
        return fabsim.compile(f"{folder}/layout.csl", arch=bundle.spec.target)


def bytes_of(program: fabsim.Program, x: int, y: int) -> tuple[int, int]:
    """Bytes of instructions and of data of a PE's program."""
    instructions = sum(count for _, count in program.functions(x, y))
    return INSTRUCTION_BYTES * instructions, program.data_bytes(x, y)


def most_bytes(bundle: Bundle) -> tuple[int, int]:
    """Bytes of instructions and of data of the PE that takes most in all."""
    program = compiled(bundle)
    places = product(_some(program.width), _some(program.height))
    return max((bytes_of(program, x, y) for x, y in places), key=sum)


def _some(count: int) -> list[int]:
    """Some of so many columns or rows, among them those at both ends."""
    step = -(-count // MOST_PES)
    return sorted({*range(0, count, step), *range(count - 1, -1, -step), min(1, count - 1)})


def main(names: list[str]) -> int:
    """A line for each example and target."""
    low = 0
    for name, target in product(names, ("wse2", "wse3")):
        bundle = example_bundle(EXAMPLES / f"{name}.coll", target)
        code, data = most_bytes(bundle)
        program = bundle.program
        code_estimated, data_estimated = program.code_bytes - RUNTIME_BYTES, program.data_bytes
        too_low = code + data > code_estimated + data_estimated
        low += too_low
        said = f"code {code} of {code_estimated}, data {data} of {data_estimated}"
        print(f"{name}, {target}: {said}{', TOO LOW' if too_low else ''}", flush=True)
    return int(bool(low))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.coll"))))
