"""Measuring what the machine and the emitted code take: `make constants`.

All is read from traces of emitted programs on fabsim. `engine` has the machine's constants, `trees`
the pieces of the phases of trees, each from an event to another; `rows` finds stretches of code
that runs rows, of the programs in `probes`, and `differences` what each of their pieces takes.
"""
