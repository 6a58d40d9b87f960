"""collc: collectives for the Cerebras WSE, compiled to CSL.

    import collc
    bundle = collc.compile("examples/two_phase.coll", P=512, B=4096, S=32)
    bundle.write("out/two_phase")
    report = bundle.run()

`compile` raises `CollcError` with every problem found; `Bundle.run` needs fabsim.
"""

from __future__ import annotations

from pathlib import Path

from collc.diagnostics import CollcError, Diagnostic
from collc.pipeline import Bundle, compile_text
from collc.run import RunError, RunReport
from collc.version import __version__

__all__ = [
    "Bundle",
    "CollcError",
    "Diagnostic",
    "RunError",
    "RunReport",
    "__version__",
    "compile",
    "compile_text",
]


def compile(path: str | Path, *, target: str | None = None, **parameters: int) -> Bundle:  # noqa: A001 - the word users expect
    """Compile a `.coll` file; keyword arguments set its parameters.

    Raises CollcError when the program is at fault and OSError when it cannot be read.
    """
    return compile_text(Path(path).read_bytes(), str(path), parameters, target)
