"""Running a bundle on fabsim, and what its result has to be."""

from collc.run.collective import (
    Outcome,
    Progress,
    RunError,
    RunReport,
    fabsim_module,
    run_bundle,
    run_texts,
    tokens_of,
)

__all__ = [
    "Outcome",
    "Progress",
    "RunError",
    "RunReport",
    "fabsim_module",
    "run_bundle",
    "run_texts",
    "tokens_of",
]
