"""Whether a plan is of a one-word collective, whose cycles are its start-up.

A vector of one word goes up along trees and comes back by a multicast: a barrier, or an allreduce
of one element. Alone in its program such a collective has a text of its own (D320): the word is
the module's, so that all registers are loaded before the program begins, and a PE sends it by an
operation that the code waits for, since the output queue takes a word at once. The root sends the
sum to all in the last phase of the reduction, where sending from memory takes longer as it combines
the word that comes last (D375); so nobody sends in the multicast's phase.
"""

from __future__ import annotations

from collections.abc import Sequence

from collc.plan.plan import Phase, Plan, Role
from collc.spec import Contract, ContractKind
from collc.spec.arithmetic import arithmetic_of


def is_one_word(plan: Plan) -> bool:
    """Whether a plan is of one."""
    return are_one_word(plan.phases)


def are_one_word(phases: Sequence[Phase]) -> bool:
    """The same of its phases: all PEs receive in the last one what the root has sent before."""
    *before, last = phases[-2:] or (None,)
    if not before or last is None or last.kind is not ContractKind.BROADCAST:
        return False
    return not any(op.sends for role in last.roles for op in role.ops)


def reduces_one_word(contract: Contract) -> bool:
    """Whether all PEs end with one word, to which the vector unit combines one of each of them."""
    whole = contract.kind in {ContractKind.BARRIER, ContractKind.ALLREDUCE} and not contract.own
    if not whole or contract.words > 1 or contract.run_length or contract.result:
        return False
    return arithmetic_of(contract.element, contract.operation).kind == "dsd"


def sends_to_parent(role: Role) -> bool:
    """Whether PEs of a role of a reduction send on one of its colors, and not to all."""
    colors = {use.color for use in role.colors}
    return any(op.sends_on in colors for op in role.ops)
