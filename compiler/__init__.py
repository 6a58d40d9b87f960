"""collc: collectives for the Cerebras WSE, compiled to CSL.

    import collc
    bundle = collc.compile("examples/two_phase.coll", P=512, B=4096, S=32)
    bundle.write("out/two_phase")
    report = bundle.run()

`compile` raises `CollcError` with every problem found; `Bundle.run` needs fabsim. What a name needs
is imported when the name is first used, so that `import collc` takes no time.
"""

from __future__ import annotations

import sys
from importlib import import_module

# no `importlib.util` and no `typing`: they take as long as all else until `collc.start` begins
if not any(
    finder.find_spec("collc_evaluator", None)
    for finder in sys.meta_path
    if hasattr(finder, "find_spec")
):
    raise ModuleNotFoundError(
        "collc needs its evaluator, which Rust builds: pip install ./evaluator",
        name="collc_evaluator",
    )

from collc.base.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collc.base.diagnostics import CollcError, Diagnostic
    from collc.driver.api import compile
    from collc.driver.bundle import Bundle
    from collc.driver.written import Move, Program
    from collc.run import RunError, RunReport

_HOMES = {
    "Bundle": "collc.driver.bundle",
    "CollcError": "collc.base.diagnostics",
    "Diagnostic": "collc.base.diagnostics",
    "Move": "collc.driver.written",
    "Program": "collc.driver.written",
    "RunError": "collc.run",
    "RunReport": "collc.run",
    "compile": "collc.driver.api",
}

__all__ = [
    "Bundle",
    "CollcError",
    "Diagnostic",
    "Move",
    "Program",
    "RunError",
    "RunReport",
    "__version__",
    "compile",
]


def __getattr__(name: str) -> object:
    """A public name, from where it is; PEP 562."""
    if name == "compile_text":
        return _old_compile_text()
    if name not in _HOMES:
        raise AttributeError(f"module 'collc' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def _old_compile_text() -> object:
    """The function that took parameters as a mapping, for one more release."""
    import warnings  # noqa: PLC0415 - it takes time

    message = "collc.compile_text goes in the next release: write collc.compile(text=..., P=4)"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return import_module("collc.driver.pipeline").compile_text


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
