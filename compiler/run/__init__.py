"""Running a bundle on fabsim, and what its result has to be."""

from collc.run.launching import (
    Outcome,
    Progress,
    RunError,
    RunReport,
    compiled,
    fabsim_module,
    run_texts,
    tokens_of,
)

__all__ = [
    "Outcome",
    "Progress",
    "RunError",
    "RunReport",
    "compiled",
    "fabsim_module",
    "run_texts",
    "tokens_of",
]
