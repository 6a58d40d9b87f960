"""A pattern on a number of PEs, as a program.

A pattern of the prelude is run on a row. The values of its own parameters are tried in one fixed
order, so that a pattern that is made for some numbers only gets one of them; an example keeps its
own values, but for the extents and the length.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import isqrt

from collc.base.diagnostics import CollcError
from collc.base.values import dataclass
from collc.driver.pipeline import prove_text
from collc.language import parse_source
from collc.patterns.sources import Kind, Pattern
from collc.schedule import Schedule
from collc.spec import ContractKind, Spec
from collc.target import TARGETS

ORDERS = {Kind.TREE: ("west_to_east",), Kind.ALGORITHM: ("west_to_east", "ring")}


@dataclass(frozen=True)
class Choice:
    """A program for a pattern: its text, the parameters it is given, and how the pattern is used in
    it (`butterfly(G = 4)`)."""

    text: str
    parameters: Mapping[str, int]
    use: str
    order: str

    def prove(self, target: str | None = None) -> tuple[Spec, Schedule]:
        """The program's meaning and its schedule; raises CollcError."""
        return prove_text(self.text, self.use, self.parameters, target)


def programs(
    pattern: Pattern, contract: ContractKind, pes: int, length: int, order: str = ""
) -> Iterator[Choice]:
    """Programs that use a pattern on `pes` PEs with `length` elements, the likeliest first.

    For an all_to_all `length` is what goes from each to each. The grid of an example has as many
    PEs or a few fewer, or its own number of them.
    """
    if pattern.kind is Kind.EXAMPLE:
        width = isqrt(pes)
        wanted = {"P": pes, "W": width, "H": pes // width}
        wanted |= {"B": length, "E": length}
        given = {name: wanted[name] for name in pattern.parameters if name in wanted}
        yield Choice(pattern.text, given, pattern.name, "")
        return
    verb = "reduce" if pattern.kind is Kind.TREE else "run"
    for values in _values(pattern.parameters, pes):
        pairs = zip(pattern.parameters, values, strict=True)
        arguments = ", ".join(f"{name} = {value}" for name, value in pairs)
        use = f"{pattern.name}({arguments})" if arguments else pattern.name
        for chosen in (order,) if order else ORDERS[pattern.kind]:
            text = _program(_buffer(contract), f"{verb} {use}", chosen)
            yield Choice(text, {"P": pes, "B": length}, use, chosen)


def uses(pattern: Pattern, use: str, contract: ContractKind) -> str:
    """The text of a program of P and B that uses a pattern with the numbers that `use` gives."""
    if pattern.kind is Kind.EXAMPLE:
        return pattern.text
    verb = "reduce" if pattern.kind is Kind.TREE else "run"
    return _program(_buffer(contract), f"{verb} {use}", ORDERS[pattern.kind][0])


def instance(  # noqa: PLR0913 - what, on how much, then how
    pattern: Pattern,
    contract: ContractKind,
    pes: int,
    length: int,
    *,
    order: str = "",
    target: str | None = None,
) -> tuple[Choice, Spec, Schedule]:
    """The first of the programs that is proved right; raises the CollcError of the first one."""
    refused: CollcError | None = None
    for choice in programs(pattern, contract, pes, length, order):
        try:
            return choice, *choice.prove(target)
        except CollcError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def contract_of_example(pattern: Pattern) -> ContractKind:
    """What an example's collective promises."""
    return parse_source(pattern.text).collectives[0].contract.kind


def _values(parameters: tuple[str, ...], pes: int) -> Iterator[tuple[int, ...]]:
    """Values to try for these parameters; a result goes to rank 0."""
    likely = tuple(dict.fromkeys((isqrt(pes), 4, 2, 3, 8, pes, 1)))
    yield from product(*((0,) if name == "root" else likely for name in parameters))


@lru_cache
def _program(contract: str, step: str, order: str) -> str:
    target = min(TARGETS)
    return (
        f"target {target}\nparam P\nparam B\ngrid row = P x 1\n\n"
        f"collective total = {contract} on row {{\n    order {order}\n    {step}\n}}\n"
        "program { total }\n"
    )


def _buffer(kind: ContractKind) -> str:
    """A contract of this kind, as it is written."""
    if kind is ContractKind.BARRIER:
        return "barrier()"
    length = "P * B" if kind is ContractKind.ALL_TO_ALL else "B"
    operation = ", add" if kind.reduces else ""
    return f"{kind.value}(x: f32[{length}]{operation})"
