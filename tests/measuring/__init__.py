"""Measuring what the machine and the emitted code take: `make constants`.

All is read from runs of emitted programs on fabsim. `engine` has the machine's constants, `trees`
the pieces of the phases of trees and `programs` those between the collectives of a program, each
from an event of a trace to another; `rows` finds the tasks that run rows, of the programs in
`probes`, and `fitting` what pieces take that fit those best.
"""
