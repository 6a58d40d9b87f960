"""What a program runs: collectives by name, one after the other, and how they share colors."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from collc.base.diagnostics import Edit, Span, behind
from collc.language import syntax
from collc.language.dynamic_length import DynamicLength, has_dynamic_length
from collc.language.expressions import Scope, number
from collc.language.kinds import BY_WORD, listed, undeclared
from collc.language.limits import elaborate_limits, elaborate_reserved
from collc.language.names import Names
from collc.language.parser import WHOLE_ROUNDS, not_supported
from collc.language.printer import show
from collc.language.problems import KnownProblemError, ProblemError, meaning, problem
from collc.language.root_of_call import RootOfCall, has_root_of_call
from collc.language.syntax import RepeatDecl, TogetherDecl, Word
from collc.spec import Collective, Contract, Program, Reconfigure, RootChoice, Selection
from collc.target import Target

MAX_CALLS = 128  # of a program: each is code in every PE
MAX_ROUNDS = 65_535  # counted in 16 bits

C = TypeVar("C")
Call = Word | TogetherDecl
Collectives = Mapping[str, Collective | DynamicLength | RootOfCall | None]


def elaborate_program(
    file: str, names: Names, collectives: Collectives, scope: Scope, target: Target
) -> tuple[tuple[Collective, ...], Program | None]:
    """The collectives that are called, in order of their first calls, and how. A program that is
    one call and nothing else needs no more said: None."""
    programs, declared = names.of(syntax.ProgramDecl), names.named(syntax.CollectiveDecl)
    if not programs:
        name = next(iter(declared), "total")
        help = f"end it with `program {{ {name} }}`"
        first = declared.get(name)
        fix = (Edit(behind(first.span), f"\nprogram {{ {name} }}"),) if first else ()
        at = Span(file, 1, 1, 1, 1)
        raise problem("C150", "the file has no program", at, help=help, fix=fix)
    program = programs[0]
    items, rounds = _calls(program, scope)
    words = _few(tuple(word for item in items for word in _words(item)))
    if not words:
        help, name = "name the collective that it runs", next(iter(declared), "")
        whole = f"program {{ {name} }}" if name else None
        raise problem("C150", "the program is empty", program.span, help=help, fix=whole)
    called, selections, rooted = _called(words, collectives, scope.others)
    limits = elaborate_limits(_of(program, syntax.WithinClause), scope)
    reserved = elaborate_reserved(_of(program, syntax.ReserveClause), scope, target)
    way = _way(_of(program, syntax.ReconfigureClause))
    repeats = any(isinstance(item, RepeatDecl) for item in program.items)
    limited = limits.colors is not None or bool(reserved.clauses)
    plain = not repeats and not limited and way is Reconfigure.AUTO
    if len(words) == 1 and plain and not (selections or rooted):
        return called, None
    _check_alike(called, _own_limits(called, program, declared))
    _check_given(items, selections, rooted)
    _check_together(items, {collective.name: collective for collective in called})
    calls = tuple(word.text for word in words)
    most = (limits.colors, limits.colors_span)
    together = _beside(items)
    program_of_all = Program(
        calls, rounds, *most, way, program.span, reserved, selections, together, rooted
    )
    return called, program_of_all


def with_limits_of_program(names: Names) -> Names:
    """The same where a program has the limits that are said within its only collective, if it does
    not call that once and no more: what is limited is what the program takes."""
    programs = names.of(syntax.ProgramDecl)
    called = {word.text for one in programs[:1] for word in _all_words(one)}
    declared = names.named(syntax.CollectiveDecl)
    only = declared.get(min(called)) if len(called) == 1 else None
    if only is None or _is_plain(programs[0], only):
        return names
    limits = tuple(c for c in only.clauses if isinstance(c, _LIMITS))
    others = tuple(c for c in only.clauses if not isinstance(c, _LIMITS))
    program = replace(programs[0], items=(*programs[0].items, *limits))
    changed = {only: replace(only, clauses=others), programs[0]: program}
    return Names(tuple(changed.get(one, one) for one in names.kept))


_LIMITS = (syntax.WithinClause, syntax.ReserveClause)


def _all_words(program: syntax.ProgramDecl) -> Iterator[Word]:
    for item in program.items:
        for one in item.names if isinstance(item, RepeatDecl) else (item,):
            yield from _words(one) if isinstance(one, Word | TogetherDecl) else ()


def _is_plain(program: syntax.ProgramDecl, only: syntax.CollectiveDecl) -> bool:
    """Whether a program is one call of a collective whose length and root are fixed."""
    one_call = len(program.items) == 1 and isinstance(program.items[0], Word)
    return one_call and not (has_dynamic_length(only) or has_root_of_call(only))


def _of(program: syntax.ProgramDecl, kind: type[C]) -> tuple[C, ...]:
    return tuple(item for item in program.items if isinstance(item, kind))


def _words(item: Call) -> tuple[Word, ...]:
    return (item,) if isinstance(item, Word) else item.names


def _beside(items: tuple[Call, ...]) -> tuple[int, ...]:
    """The calls that are in flight with the one before them, by their index."""
    sizes = [len(_words(item)) for item in items]
    firsts = {sum(sizes[:i]) for i in range(len(sizes))}
    return tuple(call for call in range(sum(sizes)) if call not in firsts)


def _check_given(
    items: tuple[Call, ...], selections: tuple[Selection, ...], rooted: tuple[RootChoice, ...]
) -> None:
    """Refuse collectives in flight at the same time where one is chosen by a dynamic length or a
    root of the call."""
    joined = next((item for item in items if isinstance(item, TogetherDecl)), None)
    if joined is not None and rooted:
        what = f"collectives in flight at the same time beside {rooted[0].name}, whose root"
        raise _not_together(what, joined)
    if joined is not None and selections:
        what = f"collectives in flight at the same time beside {selections[0].name}, whose length"
        raise _not_together(what, joined)


def _not_together(what: str, joined: TogetherDecl) -> ProblemError:
    help = f"call one after the other: `{' '.join(word.text for word in joined.names)}`"
    said = f"{what} is given when the program runs"
    return not_supported(said, joined.span, help=help, fix=in_turn(joined))


def _check_together(items: tuple[Call, ...], collectives: Mapping[str, Collective]) -> None:
    """C129: calls in flight at the same time are of different collectives, on different buffers."""
    for item in items:
        seen: dict[str, Word] = {}
        for word in _words(item) if isinstance(item, TogetherDecl) else ():
            contract = collectives[word.text].contract
            buffers = (f"the buffer {one.buffer}" for one in contract.in_memory)
            for of in (word.text, *buffers):
                if of in seen:
                    first = (seen[of].span, "the first is here")
                    message = f"two collectives in flight at the same time have {of}"
                    if of == word.text:
                        message = f"{of} is in flight twice at the same time"
                    help = "run one after the other: leave `and` out"
                    raise problem("C129", message, word.span, first, help=help, fix=in_turn(item))
                seen[of] = word


def in_turn(item: Call) -> tuple[Edit, ...]:
    """Calls one after the other, where they were joined by `and`."""
    calls = " ".join(word.text for word in _words(item))
    return (Edit(item.span, calls),)


def _calls(program: syntax.ProgramDecl, scope: Scope) -> tuple[tuple[Call, ...], int]:
    """What is called in a round, and the rounds."""
    plain = tuple(item for item in program.items if isinstance(item, Word | TogetherDecl))
    repeats = _of(program, RepeatDecl)
    if not repeats:
        return plain, 1
    if plain or len(repeats) > 1:
        also = (repeats[0].span, "`repeat` is here" if plain else "the first is here")
        message = "`repeat` goes around all calls of a program, and this one is outside"
        if not plain:
            message = "a program has one `repeat`, around all its calls, and this is a second one"
        other = plain[0].span if plain else repeats[1].span
        raise problem("C107", message, other, also, help=WHOLE_ROUNDS)
    rounds = number(repeats[0].rounds, scope)
    if not 1 <= rounds <= MAX_ROUNDS:
        message = f"{rounds} rounds: a program has 1 to {MAX_ROUNDS}"
        raise problem("C126", message, repeats[0].rounds.span)
    return repeats[0].names, rounds


def _few(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if len(words) > MAX_CALLS:
        message = f"{len(words)} calls in one round; there may be {MAX_CALLS}"
        help = "call collectives from a loop of your own kernel"
        raise problem("C107", message, words[MAX_CALLS].span, help=help)
    return words


def _called(
    words: tuple[Word, ...], collectives: Collectives, others: Mapping[str, str]
) -> tuple[tuple[Collective, ...], tuple[Selection, ...], tuple[RootChoice, ...]]:
    """The collectives of the calls, each once, those that a choice is made of one by one."""
    found: dict[str, Collective] = {}
    rooted: dict[str, RootChoice] = {}
    selections: dict[str, Selection] = {}
    for word in words:
        if word.text not in collectives:
            raise undeclared(BY_WORD["collective"], word, collectives, others)
        collective = collectives[word.text]
        if collective is None:
            raise KnownProblemError
        if isinstance(collective, DynamicLength):
            selections[word.text] = collective.selection
            found |= {one.name: one for one in collective.alternatives}
        elif isinstance(collective, RootOfCall):
            rooted[word.text] = collective.choice
            found |= {one.name: one for one in collective.alternatives}
        else:
            found[word.text] = collective
    return tuple(found.values()), tuple(selections.values()), tuple(rooted.values())


def _way(clauses: tuple[syntax.ReconfigureClause, ...]) -> Reconfigure:
    """How colors are passed on from one use to the next."""
    if not clauses:
        return Reconfigure.AUTO
    if len(clauses) > 1:
        first = (clauses[0].span, "it is given here")
        help = "leave one of them out"
        message = "`reconfigure` is given twice"
        raise problem("C108", message, clauses[1].span, first, help=help, fix="")
    word = clauses[0].way
    ways = {way.value: way for way in Reconfigure}
    return meaning(word, ways, f"`reconfigure` has no option called {word.text}")


def _check_alike(called: tuple[Collective, ...], limits: Iterator[Exception]) -> None:
    """Refuse what collectives of one program cannot have yet, or that contradicts itself."""
    for problem_found in (*_other_grids(called), *_other_buffers(called), *limits):
        raise problem_found


def _other_grids(called: tuple[Collective, ...]) -> Iterator[Exception]:
    first = called[0].grid.whole
    for grid in (c.grid.whole for c in called):
        if (grid.width, grid.height) != (first.width, first.height):
            message = f"{grid.name} and {first.name} differ in size"
            ends = f"[0 .. {grid.width - 1}, 0 .. {grid.height - 1}]"
            help = f"all are parts of one: `grid {grid.name} = {first.name}{ends}`, for example"
            also = (first.span, "the first grid of the program")
            yield problem("C107", message, grid.span, also, help=help)


def _other_buffers(called: tuple[Collective, ...]) -> Iterator[Exception]:
    """A buffer is one array, so its type, length and stride are the same everywhere."""
    seen: dict[str, Contract] = {}
    for contract in (one for collective in called for one in collective.contract.in_memory):
        other = seen.setdefault(contract.buffer, contract)
        if _array(contract) != _array(other):
            message = f"{contract.buffer} is {_array(contract)} here, and {_array(other)} before"
            help = "give one of them another name"
            yield problem("C107", message, contract.span, (other.span, "before"), help=help)


def _array(contract: Contract) -> str:
    apart = f" by {contract.stride}" if contract.stride > 1 else ""
    return f"{contract.element.value}[{contract.held}]{apart}"


def _own_limits(
    called: tuple[Collective, ...],
    program: syntax.ProgramDecl,
    declared: Mapping[str, syntax.CollectiveDecl],
) -> Iterator[Exception]:
    """Limits are the program's, since its collectives share what there is."""
    names = listed(dict.fromkeys(word.text for word in _all_words(program)), "and")
    said = {clause.span: clause for one in declared.values() for clause in one.clauses}
    for collective in called:
        limits = collective.limits
        spans = [span for span in (limits.colors_span, *limits.reserved.clauses) if span]
        if spans:
            clause = said[spans[0]]
            message = f"a limit is for all that a program runs, which is {names}, and not for one"
            help = f"write it behind the calls: `program {{ ... {show(clause)} }}`"
            there = Edit(behind(program.items[-1].span), f" {show(clause)}")
            taken = any(type(item) is type(clause) for item in program.items)
            fix = () if taken else (Edit(clause.span, ""), there)
            yield problem("C107", message, clause.span, help=help, fix=fix)
