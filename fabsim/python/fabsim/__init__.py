"""A cycle-level simulator of the Cerebras WSE fabric that compiles and runs CSL.

    program = fabsim.compile("layout.csl", arch="wse2", params={"P": 4})
    simulator = fabsim.Simulator(program)
    simulator.memcpy_h2d("x", data, 0, 0, 4, 1, 16)
    report = simulator.launch("run")

The command `fabsim` has stand-ins for the vendor's tools: `fabsim cslc`, `fabsim python`, and
`fabsim shims`, which writes both to a directory.
"""

from fabsim._native import (
    CslError,
    LaunchReport,
    Program,
    SimulationError,
    Simulator,
    compile,
    convert_trace,
    fixed_rule,
    switchable_rules,
    timing_numbers,
)
from fabsim.session import Session, opened

__all__ = [
    "CslError",
    "LaunchReport",
    "Program",
    "Session",
    "SimulationError",
    "Simulator",
    "compile",
    "convert_trace",
    "fixed_rule",
    "opened",
    "switchable_rules",
    "timing_numbers",
]
