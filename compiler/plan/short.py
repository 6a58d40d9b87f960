"""Whether a plan is of a short collective, whose cycles are its start-up.

A vector of one word goes up along trees and comes back by a multicast: a barrier, or an allreduce
of one element. Alone in its program such a collective has a text of its own (D320): the word is
the module's, so that all registers are loaded before the program begins, and a PE sends it by an
operation that the code waits for, since the output queue takes a word at once.
"""

from __future__ import annotations

from collc.plan.model import Plan
from collc.spec import Contract, ContractKind
from collc.spec.arithmetic import arithmetic_of


def is_short(plan: Plan) -> bool:
    """Whether vectors are a word, combined by the vector unit along trees, then multicast."""
    phases = plan.phases
    by_trees = all(phase.exchange is None for phase in phases)
    told = len(phases) > 1 and phases[-1].kind is ContractKind.BROADCAST
    return by_trees and told and tells_of_a_word(plan.collective.contract)


def tells_of_a_word(contract: Contract) -> bool:
    """Whether all PEs end with one word, to which the vector unit combines one of each of them."""
    whole = contract.kind in {ContractKind.BARRIER, ContractKind.ALLREDUCE} and not contract.own
    if not whole or contract.words > 1 or contract.run_length or contract.result:
        return False
    return arithmetic_of(contract.element, contract.operation).kind == "dsd"


def stores_by_registers(plan: Plan) -> bool:
    """Whether a root of a short collective stores by the registers that others of its phase send
    by: not where phases share registers, of which it may have the same in several."""
    return is_short(plan) and plan.registers is None
