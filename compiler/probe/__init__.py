"""Probes: small CSL programs that show on a tool which rules of docs/machine.md hold there.

In reading order: `rules` are the statements, `program` a probe as it is written (the conformance
programs of fabsim, one text for both uses), `job` what a tool is given and what is seen; `fabsim`
and `tools` are those who do jobs; `decide` compares what was seen with what a probe says; `timing`,
`model` and `fit` turn time stamps into constants, `fitted` is what fabsim
shows with these; `survey` is all of it, `report` its result.

No program here is emitted by the compiler: what is probed is the machine, not us.
"""
