"""From declarations to a `Spec`: parameters bound, names looked up, trees unfolded.

In reading order: `elaborate` goes through the file; then target, parameters, grids, collectives,
program; and how a later stage has a collective elaborated otherwise than it is written.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from collc.base.diagnostics import Edit, Span, behind
from collc.base.grids import Grid
from collc.language import syntax
from collc.language.algorithms import Algorithms
from collc.language.contracts import Contracts, DeclaredCollective, FileContext, contract_of
from collc.language.dynamic_length import (
    ChoiceContext,
    DeclaredChoice,
    DynamicLength,
    alternative_for,
    elaborate_dynamic_length,
    has_dynamic_length,
    refused_steps,
)
from collc.language.expressions import Binding, Scope, fits_64_bits, number, truth
from collc.language.grids import Lines, Orders, elaborate_grids, elaborate_lines, elaborate_place
from collc.language.limits import elaborate_expectation, elaborate_limits, elaborate_reserved
from collc.language.names import Names, check_names, collect
from collc.language.operations import own_operation
from collc.language.parser import not_supported
from collc.language.problems import Problems, meaning, problem, suggest
from collc.language.program import elaborate_program, with_limits_of_program
from collc.language.root_of_call import RootOfCall, elaborate_root_of_call, has_root_of_call
from collc.language.steps import StepContext, combines, elaborate_steps, root_of
from collc.language.syntax import Clause, CollectiveDecl, Number, OrderClause, StepClause
from collc.language.trees import Forest
from collc.language.undecided import filled_in, leaves_open, opened, undecided, with_clauses
from collc.spec import (
    Collective,
    Contract,
    ContractKind,
    Parameter,
    Selection,
    Spec,
)
from collc.target import TARGETS, Target


def elaborate(
    file: str,
    declarations: tuple[syntax.Declaration, ...],
    definitions: Mapping[str, int],
    target_name: str | None,
) -> Spec:
    """Spec of a file, or `CollcError` with every problem found."""
    problems = Problems()
    names = with_limits_of_program(collect(declarations, problems))
    target = problems.attempt(_target, file, names, target_name)
    largest = target or max(TARGETS.values(), key=lambda t: t.max_height)
    longest_line = max(largest.max_width, largest.max_height)
    broken = check_names(names, problems, longest_line)
    parameters = _parameters(names, definitions, broken["param"], problems)
    numbers: dict[str, Binding] = {
        name: None if parameter is None else parameter.value
        for name, parameter in parameters.items()
    }
    context = _context(names, numbers, broken, largest, problems)
    whole: dict[str, syntax.GridDecl | syntax.PartDecl] = {}
    whole |= names.named(syntax.GridDecl)
    whole |= names.named(syntax.PartDecl)
    whole = {name: grid for name, grid in whole.items() if name not in broken["grid"]}
    grids = dict.fromkeys(broken["grid"]) | elaborate_grids(whole, context.scope, largest, problems)
    calls = names.named(CollectiveDecl)
    collectives = {
        name: _any_collective(declaration, grids, context, problems, calls)
        for name, declaration in calls.items()
    }
    main = problems.attempt(elaborate_program, file, names, collectives, context.scope, largest)
    problems.raise_if_any()
    assert target is not None
    assert main is not None
    bound = tuple(parameter for parameter in parameters.values() if parameter is not None)
    return Spec(file, target.name, bound, *main)


def _context(
    names: Names,
    numbers: dict[str, Binding],
    broken: Mapping[str, frozenset[str]],
    target: Target,
    problems: Problems,
) -> FileContext:
    """What the file's collectives share; what is broken in it is not looked at."""
    scope = Scope(numbers, names.kinds())
    around = numbers, scope.others
    operations = {
        name: None if name in broken["operation"] else problems.attempt(own_operation, one, scope)
        for name, one in names.named(syntax.OperationDecl).items()
    }
    return FileContext(
        scope,
        Forest(names.with_prelude(syntax.TreeDecl), *around, broken["tree"]),
        Algorithms(names.with_prelude(syntax.AlgorithmDecl), *around, broken["algorithm"]),
        Orders(names.with_prelude(syntax.OrderDecl), *around, broken["order"]),
        operations,
        Contracts(names.named(syntax.OwnContractDecl), *around, broken["contract"]),
        target,
    )


def _target(file: str, names: Names, override: str | None) -> Target:
    if override is not None:
        if override not in TARGETS:
            help = suggest(override, TARGETS)
            raise problem("C112", f"there is no target called {override}", None, help=help)
        return TARGETS[override]
    targets = names.of(syntax.TargetDecl)
    if not targets:
        start = Span(file, 1, 1, 1, 1)
        message = "the file names no target"
        help = "begin it with `target wse2` or `target wse3`"
        raise problem("C150", message, start, help=help, fix="target wse2\n")
    word = targets[0].name
    return meaning(word, TARGETS, f"there is no target called {word.text}", "C112")


def _parameters(
    names: Names, definitions: Mapping[str, int], broken: frozenset[str], problems: Problems
) -> dict[str, Parameter | None]:
    """Every parameter with its value, or None where it has none; each sees those before it."""
    params = names.named(syntax.ParamDecl)
    for name in sorted(set(definitions) - set(params)):
        message = f"the file has no parameter called {name}"
        help = suggest(name, params) or "it declares no parameters"
        problems.add(problem("C120", message, None, help=help))
    parameters: dict[str, Parameter | None] = {}
    numbers: dict[str, Binding] = {}
    scope = Scope(numbers, names.kinds())
    for name, declaration in params.items():
        value = None
        if name not in broken:
            value = problems.attempt(_parameter, declaration, definitions, scope)
        numbers[name] = value
        if value is not None and declaration.condition is not None:
            holds = problems.attempt(_check_range, declaration, value, definitions, scope)
            numbers[name] = value if holds else None
        bound = numbers[name]
        parameters[name] = (
            Parameter(name, bound, declaration.name.span) if isinstance(bound, int) else None
        )
    return parameters


def _parameter(declaration: syntax.ParamDecl, definitions: Mapping[str, int], scope: Scope) -> int:
    word = declaration.name
    if word.text in definitions:
        given = definitions[word.text]
        if not fits_64_bits(given):
            message = f"{word.text} = {given} (given on the command line) does not fit into 64 bits"
            help = f"choose another value with -D {word.text}=..."
            raise problem("C116", message, word.span, help=help)
        return given
    if declaration.default is None:
        help = f"give one with -D {word.text}=..., or a default: `param {word.text} = 64`"
        default = (Edit(behind(word.span), " = 64"),)
        raise problem("C121", f"{word.text} has no value", word.span, help=help, fix=default)
    return number(declaration.default, scope)


def _check_range(
    declaration: syntax.ParamDecl, value: int, definitions: Mapping[str, int], scope: Scope
) -> bool:
    word, condition = declaration.name, declaration.condition
    assert condition is not None
    if truth(condition, scope):
        return True
    source = "given on the command line" if word.text in definitions else "its default"
    message = f"{word.text} = {value} ({source}) breaks the condition on {word.text}"
    help = f"choose another value with -D {word.text}=..."
    raise problem("C122", message, condition.span, (word.span, "declared here"), help=help)


def _any_collective(
    declaration: CollectiveDecl,
    grids: Mapping[str, Grid | None],
    context: FileContext,
    problems: Problems,
    taken: Collection[str],
) -> Collective | DynamicLength | RootOfCall | None:
    """A collective, or a choice of several by their length or by their root."""
    elaborate_one = partial(elaborate_collective, grids=grids, context=context, problems=problems)
    if has_root_of_call(declaration):

        def lines_of(one: CollectiveDecl) -> Lines | None:
            grid = problems.attempt(elaborate_place, one.place, grids, context.scope.others)
            orders = one.of_kind(syntax.OrderClause)
            if grid is None:
                return None
            return elaborate_lines(grid, orders, context.orders, context.scope, problems)

        given = (declaration, context.scope, taken, lines_of, elaborate_one)
        return problems.attempt(elaborate_root_of_call, *given)
    if not has_dynamic_length(declaration):
        return elaborate_one(declaration)
    declared = DeclaredCollective(declaration, grids, context)
    choice = ChoiceContext(context.scope, taken, elaborate_one, declared)
    return elaborate_dynamic_length(declaration, choice, problems)


def elaborate_collective(
    declaration: CollectiveDecl,
    grids: Mapping[str, Grid | None],
    context: FileContext,
    problems: Problems,
) -> Collective | None:
    """One collective; what is wrong with it goes to `problems`."""
    scope = context.scope
    contract = problems.attempt(contract_of, declaration.contract, context)
    grid = problems.attempt(elaborate_place, declaration.place, grids, scope.others)
    expectations = [
        problems.attempt(elaborate_expectation, clause, scope)
        for clause in declaration.of_kind(syntax.ExpectClause)
    ]
    limit_clauses = declaration.of_kind(syntax.WithinClause)
    limits = problems.attempt(elaborate_limits, limit_clauses, scope)
    reserve_clauses = declaration.of_kind(syntax.ReserveClause)
    reserved = problems.attempt(elaborate_reserved, reserve_clauses, scope, context.target)
    if grid is None:
        return None
    order_clauses = declaration.of_kind(syntax.OrderClause)
    lines = elaborate_lines(grid, order_clauses, context.orders, scope, problems)
    if lines is None:
        return None
    if contract is not None and contract.kind is ContractKind.OWN:
        contract = problems.attempt(_own, declaration.contract, contract, lines, context)
    clauses = tuple(
        clause
        for clause in declaration.clauses
        if isinstance(clause, syntax.ReduceClause | syntax.BroadcastClause | syntax.RunClause)
    )
    around = StepContext(contract, lines, scope, context.forest, context.algorithms, context.target)
    is_open = leaves_open(declaration)
    left_open = problems.attempt(undecided, declaration, around) if is_open else None
    steps = () if is_open else elaborate_steps(clauses, around, problems)
    root = None if is_open else problems.attempt(root_of, clauses, around)
    if contract is None or limits is None or reserved is None:
        return None
    problems.attempt(refused_steps, contract, steps, lines.path)
    fixed = problems.attempt(_fixed, declaration, contract)
    if contract.own is not None and not combines(steps):
        contract = replace(contract, operation=None)  # it is given for what nothing does
    limits = replace(limits, reserved=reserved)
    wanted = tuple(expectation for expectation in expectations if expectation is not None)
    name = declaration.name.text
    return Collective(
        name=name,
        contract=contract,
        grid=grid,
        steps=steps,
        limits=limits,
        expectations=wanted,
        span=declaration.span,
        root=root,
        path=lines.path,
        undecided=left_open,
        counts_along=lines.counts_along if contract.kind.by_slices else "x",
        fixed=fixed,
        origin=DeclaredCollective(declaration, grids, context),
    )


def _fixed(declaration: CollectiveDecl, contract: Contract) -> Span | None:
    """Where operands are said to be combined in a fixed order; raises a problem (C147) where none
    are."""
    clauses = declaration.of_kind(syntax.FixedClause)
    if clauses and contract.operation is None:
        message = f"`order fixed` says how operands are combined, and {contract.name} combines none"
        raise problem("C147", message, clauses[0].span, help="leave it out", fix="")
    return clauses[0].span if clauses else None


def _own(
    declaration: syntax.ContractDecl, contract: Contract, lines: Lines, context: FileContext
) -> Contract:
    """A contract of the user's own, for the one line that it is about."""
    line = lines.single
    if line is None:
        what = f"{declaration.kind.text}, a user-defined contract, on a grid of several lines"
        help = "put it on each of its lines: `on each row of ...`"
        raise not_supported(what, declaration.span, help=help)
    axis = "x" if line is lines.horizontal else "y"
    return context.contracts.with_promise(declaration, contract, line, axis, context.scope)


# Collectives elaborated otherwise than they are written in the file.
#
# A collective knows what it was elaborated from (`DeclaredCollective`), so a later stage can ask
# for the one with all steps left to the compiler, with numbers for what it leaves open, with other
# steps, or, of a choice by length, for other lengths. Each is elaborated like the file's own text,
# its effort counted from zero while shapes of trees stay known, and raises `CollcError` like that.


def left_open(collective: Collective, *, order_too: bool) -> Collective:
    """The same with all steps, and if wanted the order, left to the compiler."""
    declared = _declared(collective)
    open_one = opened(declared.declaration)
    if order_too:
        clauses = tuple(c for c in open_one.clauses if not isinstance(c, OrderClause))
        open_one = replace(open_one, clauses=clauses)
    return _as_known(_elaborated(declared, open_one), collective)


def filled(collective: Collective, numbers: tuple[int, ...]) -> Collective:
    """The same with a number for each gap."""
    declared = _declared(collective)
    return _as_known(_elaborated(declared, filled_in(declared.declaration, numbers)), collective)


def with_length(collective: Collective, length: int) -> Collective:
    """The same on vectors of so many elements."""
    declared = _declared(collective)
    contract = declared.declaration.contract
    assert contract.buffer is not None, "a vector has a buffer"
    number = Number(length, span=contract.buffer.length.span)
    buffer = replace(contract.buffer, length=number)
    changed = replace(contract, buffer=buffer)
    return _elaborated(declared, replace(declared.declaration, contract=changed))


def with_steps(collective: Collective, clauses: Sequence[Clause]) -> Collective:
    """The same with these clauses in place of the steps that it leaves open."""
    declared = _declared(collective)
    return _as_known(_elaborated(declared, with_clauses(declared.declaration, clauses)), collective)


def _as_known(collective: Collective, before: Collective) -> Collective:
    """The same, with what is not said in a file as it was before: how names are spelled, and what
    libraries beside it have."""
    contract, known = collective.contract, before.contract
    length, of_before = contract.run_length, known.run_length
    if length and of_before:
        length = replace(length, name=of_before.name)
    result = contract.result
    if result and known.result:
        result = replace(result, name=known.result.name)
    contract = replace(contract, buffer=known.buffer, result=result, run_length=length)
    limits = replace(collective.limits, reserved=before.limits.reserved)
    return replace(collective, name=before.name, contract=contract, limits=limits)


def steps_as_declared(collective: Collective) -> tuple[Clause, ...]:
    """The clauses that its steps are declared by."""
    clauses = _declared(collective).declaration.clauses
    return tuple(clause for clause in clauses if isinstance(clause, StepClause))


def alternative(selection: Selection, index: int, least: int, most: int) -> Collective:
    """An alternative of a choice, for vectors of at least and at most so many elements."""
    origin = selection.origin
    assert isinstance(origin, DeclaredChoice), "it was read from a file"
    return _elaborated(origin.declared, alternative_for(origin.choice, index, least, most))


def _declared(collective: Collective) -> DeclaredCollective:
    assert isinstance(collective.origin, DeclaredCollective), "it was read from a file"
    return collective.origin


def _elaborated(declared: DeclaredCollective, changed: CollectiveDecl) -> Collective:
    context = declared.context
    # a copy of the algorithms has unfolded nothing yet
    anew = replace(context, forest=context.forest.anew(), algorithms=replace(context.algorithms))
    problems = Problems()
    collective = elaborate_collective(changed, declared.grids, anew, problems)
    problems.raise_if_any()
    assert collective is not None
    return collective
