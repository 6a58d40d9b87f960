"""collc: collectives for the Cerebras WSE, compiled to CSL.

    import collc
    bundle = collc.compile("examples/two_phase.coll", P=512, B=4096, S=32)
    bundle.write("out/two_phase")
    report = bundle.run()

`compile` raises `CollcError` with every problem found; `Bundle.run` needs fabsim.
"""

from __future__ import annotations

from pathlib import Path
from typing import SupportsIndex

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.version import __version__
from collc.driver.bundle import Bundle, ProgramBundle
from collc.driver.pipeline import compile_text
from collc.driver.programs import compile_any
from collc.driver.read_back import verify_text as read_back
from collc.language import read_source
from collc.run import RunError, RunReport

__all__ = [
    "Bundle",
    "CollcError",
    "Diagnostic",
    "ProgramBundle",
    "RunError",
    "RunReport",
    "__version__",
    "compile",
    "compile_any",
    "compile_text",
]


def compile(
    path: str | Path,
    *,
    target: str | None = None,
    verify_text: bool = True,
    **parameters: SupportsIndex,
) -> Bundle | ProgramBundle:
    """Compile a `.coll` file; keyword arguments set its parameters. A program of several
    collectives becomes a `ProgramBundle`. Where fabsim is installed its front end reads the text,
    unless `verify_text` is false.

    Raises CollcError when the file cannot be read or the program is at fault, and TypeError for a
    parameter that is no integer.
    """
    bundle = compile_any(read_source(Path(path)), str(path), parameters, target)
    if verify_text:
        read_back(bundle)
    return bundle
