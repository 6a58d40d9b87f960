"""Whether what PEs have after a call is what a contract promises."""

from collc.base.columns import Array
from collc.run import expected as verify
from collc.schedule import Schedule


def mismatch(schedule: Schedule, given: Array, found: Array) -> str:
    """What is wrong with `found`, in words; empty when it is right.

    `found` has the shape of `given`. Only what the contract promises is compared.
    """
    wanted = verify.expected(schedule, given)
    wrong = verify.describe(wanted, found, verify.promised(schedule))
    if wrong:
        return wrong
    return "" if verify.keeps_contract(schedule, given, wanted) else verify.NOT_KEPT
