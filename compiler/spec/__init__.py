"""The Spec: a `.coll` file with its parameters bound and its trees unfolded.

Made by `collc.language`, read by `collc.schedule`. Every value is frozen, has its ranges checked
and its names resolved; spans point into the source for later messages. Reading order:
`operation`, `contract`, `steps`, `collective`, `program`.
"""

from collc.spec.collective import (
    Collective,
    Considered,
    Decision,
    Expectation,
    Gap,
    Limits,
    Origin,
    Reserved,
    TimeStamps,
    Undecided,
)
from collc.spec.contract import Contract, ContractKind, Result, RunLength
from collc.spec.operation import ElementType, Operation, OwnOperation
from collc.spec.program import Parameter, Program, Reconfigure, RootChoice, Selection, Spec
from collc.spec.steps import (
    Algorithm,
    BroadcastStep,
    Order,
    ReduceStep,
    RunStep,
    Share,
    Step,
    Tree,
)
