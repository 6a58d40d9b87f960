"""Which way the machine computes an operation on an element type.

The vector unit adds, multiplies and takes the maximum of floats, and adds 16-bit integers or
combines their digits. A float minimum is a maximum of negated values: every PE negates its vector
before the first phase, and the PE with the result negates it back after the last reduce phase. All
else is computed element by element by a call-back on the main thread (D7; docs/machine.md,
section 3). `collc.spec.operation` says of each operation which it is, `collc.emit.names` how it is
spelled.
"""

from collc.base.values import dataclass
from collc.spec import ElementType, Operation, OwnOperation
from collc.spec.formula import Work, work_of
from collc.spec.operation import FLOATS
from collc.target import Target

NO_WORK = Work()
_WIDE = 4  # bytes of a number that no product of the machine has


@dataclass(frozen=True)
class Arithmetic:
    """`kind` is "dsd" (the vector unit), "negated_dsd" (it, on negated values) or "map", and `work`
    what the call-backs of that do, one for each of the `words` of an element, the first of which
    may be a float."""

    kind: str
    work: Work = NO_WORK
    words: int = 1
    of_float: bool = False

    def cycles_per_element(self, target: Target) -> int:
        """Cycles to combine one element with one that arrives; the next call of a call-back begins
        when the one before has returned. Of pairs, those of one whose received pair is not taken,
        which may take more."""
        if self.kind != "map":
            return self.words
        if self.words > 1:
            return self.pair_value_cycles(target) + target.code.pair_kept
        engine, work = target.cycles.engine, self.work
        return (
            engine.map_element
            + engine.scalar * work.scalars
            + engine.float_wait * work.float_waits
            + engine.wide_product * work.wide_products
        )

    def pair_value_cycles(self, target: Target) -> int:
        """Cycles of the call-back of a pair's value."""
        return target.code.pair_value + self.of_float * target.code.pair_float


def arithmetic_of(element: ElementType, operation: Operation | OwnOperation | None) -> Arithmetic:
    """The arithmetic of a contract; a broadcast, which has no operation, only moves vectors."""
    if operation is None:
        return Arithmetic("dsd", words=element.words)
    if isinstance(operation, OwnOperation):
        return Arithmetic("map", work_of(operation.formula))
    facts = operation.facts
    if element in facts.vector:
        return Arithmetic("negated_dsd" if facts.negated else "dsd")
    wide = facts.wide if element.bytes == _WIDE else None
    of_float = element.pair_of in FLOATS
    return Arithmetic("map", wide or facts.work, element.words, of_float)
