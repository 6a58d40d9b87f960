"""What a collective may use (`within`) and what is expected of it (`expect`)."""

from math import isfinite

from collc.base.diagnostics import Edit
from collc.language import syntax
from collc.language.expressions import Scope, number
from collc.language.parser import not_supported
from collc.language.problems import problem, unknown
from collc.language.syntax import ExpectClause, Expression, WithinClause
from collc.spec import Expectation, Limits, Reserved
from collc.target import Target

QUANTITIES = ("colors", "cycles", "memory_bytes")
_LATER_LIMITS = ("queues", "tasks", "dsrs", "memory_bytes", "memory")


def elaborate_limits(clauses: tuple[WithinClause, ...], scope: Scope) -> Limits:
    """Limits of a collective; raises `ProblemError` at the first that cannot be."""
    for clause in clauses:
        word = clause.quantity
        if word.text in _LATER_LIMITS:
            help = "only colors have a limit; `reserve` keeps queues, tasks, DSRs and memory free"
            raise not_supported(f"a limit on {word.text}", clause.span, help=help, fix="")
        if word.text != "colors":
            message = f"there is no limit on {word.text}"
            raise unknown("C111", message, word, ("colors",))
    if len(clauses) > 1:
        message, first = "the limit on colors is given twice", clauses[0].span
        help = "leave one of them out"
        also = (first, "it is given here")
        raise problem("C108", message, clauses[1].span, also, help=help, fix="")
    if not clauses:
        return Limits(None, None)
    clause = clauses[0]
    most = number(clause.most, scope)
    if most < 1:
        message = f"{most} colors are too few: moving data takes at least 1"
        out = (Edit(clause.span, ""),)
        help = "leave the limit out, or allow as many as the steps need"
        raise problem("C126", message, clause.most.span, help=help, fix=out)
    return Limits(most, clause.span)


RESOURCES = {
    "colors": "colors",
    "input_queues": "input_queues",
    "output_queues": "output_queues",
    "tasks": "local_task_ids",
    "dsrs": "dsr_ids",
}


def elaborate_reserved(
    clauses: tuple[syntax.ReserveClause, ...],
    scope: Scope,
    target: Target,
) -> Reserved:
    """What is reserved; raises `ProblemError` at the first that cannot be."""
    found: dict[str, set[int]] = {name: set() for name in RESOURCES}
    kept = None
    for reserve in clauses:
        for one in reserve.reservations:
            if one.resource.text == "memory":
                kept = _kept_bytes(one, scope, target)
                continue
            taken = _reserved_numbers(one, scope, target)
            found[one.resource.text].update(taken)
    numbers = {name: tuple(sorted(used)) for name, used in found.items()}
    return Reserved(
        colors=numbers["colors"],
        input_queues=numbers["input_queues"],
        output_queues=numbers["output_queues"],
        tasks=numbers["tasks"],
        dsrs=numbers["dsrs"],
        kept_bytes=kept,
        clauses=tuple(one.span for one in clauses),
    )


def _kept_bytes(one: syntax.ReservationDecl, scope: Scope, target: Target) -> int:
    """Bytes of a PE's memory that are kept."""
    kept = number(one.first, scope)
    if one.last is not None:
        message = "memory is reserved as a number of bytes, not as a range"
        written = f"memory {kept}"
        raise problem("C162", message, one.span, help=f"write `{written}`", fix=written)
    if not 0 <= kept <= target.memory_bytes:
        message = f"memory {kept}: {target.name} has {target.memory_bytes} bytes a PE"
        raise problem("C162", message, one.span)
    return kept


def _reserved_numbers(one: syntax.ReservationDecl, scope: Scope, target: Target) -> list[int]:
    """The numbers of one reservation that the target leaves to programs, its ends among them."""
    word = one.resource
    if word.text not in RESOURCES:
        message = f"{word.text} cannot be reserved"
        raise unknown("C111", message, word, (*RESOURCES, "memory"))
    first = number(one.first, scope)
    last = first if one.last is None else number(one.last, scope)
    if last < first:
        message = f"{word.text} {first} .. {last}: the first number is greater than the last"
        written = f"{word.text} {last} .. {first}"
        raise problem("C162", message, one.span, help=f"write `{written}`", fix=written)
    free: tuple[int, ...] = getattr(target, RESOURCES[word.text])
    found = [n for n in free if first <= n <= last]
    if first not in free or last not in free:  # what memcpy has between them is kept anyhow
        wanted = f"{first}" if one.last is None else f"{first} .. {last}"
        message = f"{word.text} {wanted}: {target.name} does not have all of them for programs"
        help = f"beside memcpy and the runtime there are {', '.join(map(str, free))}"
        raise problem("C162", message, one.span, help=help)
    return found


def elaborate_expectation(clause: ExpectClause, scope: Scope) -> Expectation:
    """Turn an expectation into numbers; raises `ProblemError` if it is none."""
    word = clause.quantity
    if word.text not in QUANTITIES:
        message = f"nothing is predicted about {word.text}"
        raise unknown("C111", message, word, QUANTITIES)
    factor, times_bound = _factor(clause.value, scope)
    if not isfinite(factor) or factor < 0:
        message = "an expectation compares with a finite number, 0 or more"
        raise problem("C126", message, clause.value.span)
    text = expectation_text(word.text, clause.relation, factor, times_bound)
    return Expectation(word.text, clause.relation, factor, times_bound, text, clause.span)


def expectation_text(quantity: str, relation: str, factor: float, times_bound: bool) -> str:
    """Write an expectation as the language does, after `expect`."""
    value = repr(factor)
    if factor.is_integer() and factor < 2**53:
        value = str(int(factor))
    if times_bound:
        value = "bound" if factor == 1.0 else f"{value} * bound"
    return f"{quantity} {relation} {value}"


def _factor(value: Expression, scope: Scope) -> tuple[float, bool]:
    match value:
        case syntax.Name(text="bound"):
            return 1.0, True
        case syntax.Arithmetic(operator="*", left=left, right=syntax.Name(text="bound")):
            return _decimal(left, scope), True
        case _:
            return _decimal(value, scope), False


def _decimal(value: Expression, scope: Scope) -> float:
    if isinstance(value, syntax.Fraction):
        return value.value
    return float(number(value, scope))
