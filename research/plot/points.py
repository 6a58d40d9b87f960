"""What a figure is made of: a program at some sizes, predicted and, if asked for, simulated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from collc.base.cache import Kept, on_all_cores
from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.values import dataclass
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text, of_one
from collc.language import read_source
from collc.language.parser import parse_text
from collc.language.syntax import CollectiveDecl
from collc.patterns import Pattern, all_patterns, instance, uses
from collc.patterns.facts import contracts_of
from collc.run import RunError
from collc.spec import ContractKind

PATTERN_SIZES = ("P", "B")


@dataclass(frozen=True)
class Subject:
    """What is drawn: a file, or a pattern of the compiler, which takes P PEs and B elements.

    `name` is what the user wrote. `text` is the file's, or that of a program which gives the
    pattern the numbers that the name does; empty where they are to be found.
    """

    name: str
    text: str
    pattern: Pattern | None = None
    contract: ContractKind | None = None


@dataclass(frozen=True)
class Point:
    """A subject at some sizes, in cycles; `refused` is the code of a message, `why` what it says,
    and then all else is 0."""

    subject: str
    target: str
    parameters: Mapping[str, int]
    predicted: int = 0
    bound: int = 0
    tree_bound: int = 0
    simulated: int = 0
    refused: str = ""
    why: str = ""

    @property
    def gap(self) -> float:
        """Predicted cycles over the bound; 0 where there is none."""
        return self.predicted / self.bound if self.bound else 0.0


def subject_of(name: str) -> Subject:
    """A `.coll` file or a pattern, such as `two_phase(S = 8)`; raises CollcError."""
    if name.endswith(".coll"):
        return Subject(name, read_source(Path(name)))
    word = name.partition("(")[0].strip()
    known = {pattern.name: pattern for pattern in all_patterns()}
    if word not in known:
        message = f"there is no pattern called {word}, and files end in .coll"
        raise CollcError([Diagnostic("C702", message, None, help="`collc list` names them all")])
    pattern = known[word]
    contract = contracts_of(pattern)[0]
    if not re.search(r"\(.", name):
        return Subject(name, "", pattern, contract)
    return Subject(name, uses(pattern, name, contract), pattern, contract)


def refuse_other_contracts(subjects: Sequence[Subject]) -> None:
    """Raise CollcError for subjects that promise different things: their cycles do not compare."""
    promised = {subject.name: _contract_of(subject) for subject in subjects}
    if len(set(promised.values())) > 1:
        said = ", ".join(f"{name} is for {contract}" for name, contract in promised.items())
        help = "draw each contract by itself"
        message = f"different contracts do not compare: {said}"
        raise CollcError([Diagnostic("C702", message, None, help=help)])


def _contract_of(subject: Subject) -> str:
    """The contract of a pattern, or of a file's collectives."""
    if subject.contract is not None:
        return subject.contract.value
    declared = parse_text(subject.name, subject.text)
    found = (one.contract.kind.text for one in declared if isinstance(one, CollectiveDecl))
    return " and ".join(dict.fromkeys(found))


def refuse_sizes(subject: Subject, over: Sequence[str], given: Mapping[str, int]) -> None:
    """Raise CollcError for a size that a pattern does not have or that is below 0; files say
    themselves what they have."""
    if subject.pattern is None:
        return
    for name in (*over, *given):
        if name not in PATTERN_SIZES:
            message = f"{subject.name} has no size {name}"
            help = "patterns have P PEs and B elements; their own numbers stand with the name"
            raise CollcError([Diagnostic("C702", message, None, help=help)])
        if given.get(name, 0) < 0:
            message, help = f"{name} = {given[name]} is no size", "give a number above 0"
            raise CollcError([Diagnostic("C702", message, None, help=help)])


@dataclass(frozen=True)
class Work:
    """What is to be measured: a subject at some sizes, predicted or also run."""

    subject: Subject
    parameters: Mapping[str, int]
    target: str
    simulate: bool


def measured(work: Sequence[Work]) -> Iterator[Point]:
    """All points, in order, on all cores; what has been run before is known. Raises RunError where
    a run comes to no end or a wrong result, and CollcError where there is no fabsim to run on."""
    kept = Kept("plot", "points")

    def known(one: Work) -> Point | None:
        fields = kept.get(_key(one))
        return Point(**fields) if fields else None

    def keep(one: Work, point: Point) -> None:
        if one.simulate:  # a prediction is as soon made as read
            kept.keep(_key(one), asdict(point))

    return on_all_cores(measure, work, known, keep)


def _key(work: Work) -> list[object]:
    sizes = sorted(work.parameters.items())
    return [work.subject.name, work.subject.text, sizes, work.target, work.simulate]


def measure(work: Work) -> Point:
    """One point; raises as `measured` does."""
    subject, parameters, target = work.subject, work.parameters, work.target
    try:
        text, given = _program(subject, parameters, target)
        bundle = compile_text(text, subject.name, given, target)
        if bundle.spec.program is not None and bundle.spec.program.selections:
            of_one(bundle.spec)  # a run has lengths of its own
    except CollcError as error:
        first = error.diagnostics[0]
        return Point(subject.name, target, parameters, refused=first.code, why=first.message)
    simulated = 0
    if work.simulate:
        report = bundle.run()
        if not report.verified:
            raise RunError(f"{subject.name}: {report.problem}")
        simulated = report.cycles
    cycles = bundle.prediction.cycles
    return Point(subject.name, target, parameters, cycles, *_bounds(bundle), simulated)


def _bounds(bundle: Bundle) -> tuple[int, int]:
    """The bound and that of trees; 0 where there is none, as of several calls, which overlap."""
    program = bundle.program.program
    if len(program.calls) * program.rounds > 1:
        return 0, 0
    return bundle.prediction.bound, bundle.prediction.tree_bound or 0


def _program(
    subject: Subject, parameters: Mapping[str, int], target: str
) -> tuple[str, Mapping[str, int]]:
    if subject.text:
        return subject.text, parameters
    assert subject.pattern is not None and subject.contract is not None
    pes, length = parameters.get("P", 64), parameters.get("B", 256)
    choice, _, _ = instance(subject.pattern, subject.contract, pes, length, target=target)
    return choice.text, choice.parameters
