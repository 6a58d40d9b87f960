"""Walking through what a `.coll` file says: the expressions of a declaration and their parts."""

from __future__ import annotations

from collections.abc import Iterator

from collc.language.syntax import (
    Action,
    AlgorithmDecl,
    Arithmetic,
    BroadcastClause,
    Call,
    Clause,
    CollectiveDecl,
    Comparison,
    Conditional,
    Declaration,
    EachDecl,
    ExpectClause,
    Expression,
    FormulaDecl,
    GridDecl,
    HeldDecl,
    LocalDecl,
    Logic,
    LoopDecl,
    Negative,
    Not,
    OperationDecl,
    OrderClause,
    OrderDecl,
    OwnContractDecl,
    ParamDecl,
    PartDecl,
    PeDecl,
    ProgramDecl,
    RangeDecl,
    ReduceClause,
    RepeatDecl,
    ReserveClause,
    RunClause,
    SelectClause,
    SlicesDecl,
    StepDecl,
    TreeDecl,
    WithinClause,
)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Expressions directly inside another."""
    match expression:
        case Negative(operand=operand) | Not(operand=operand):
            return (operand,)
        case Arithmetic(left=left, right=right) | Logic(left=left, right=right):
            return (left, right)
        case Comparison(operands=operands):
            return operands
        case Conditional():
            return (expression.condition, expression.chosen, expression.otherwise)
        case Call(arguments=arguments):
            return tuple(argument.value for argument in arguments)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[tuple[Expression, int]]:
    """Expression and all inside it, in the order of the source, with how deep each lies."""
    pending: list[tuple[Expression, int]] = [(expression, 1)]
    while pending:
        here, depth = pending.pop()
        yield here, depth
        pending.extend((part, depth + 1) for part in reversed(parts_of(here)))


def expressions_of(declaration: Declaration) -> Iterator[Expression]:
    """Outermost expressions of a declaration."""
    match declaration:
        case ParamDecl():
            yield from (e for e in (declaration.default, declaration.condition) if e is not None)
        case GridDecl() | PartDecl():
            yield from _expressions_of_grid(declaration)
        case OrderDecl():
            yield from _expressions_of_order(declaration)
        case TreeDecl() | OperationDecl():
            yield from (declaration.body, *(local.value for local in declaration.locals))
        case AlgorithmDecl() | OwnContractDecl():
            yield from _expressions_by_ranks(declaration)
        case CollectiveDecl():
            yield from _expressions_of_collective(declaration)
        case ProgramDecl():
            yield from _expressions_of_program(declaration)
        case _:
            return


def _expressions_by_ranks(declaration: AlgorithmDecl | OwnContractDecl) -> Iterator[Expression]:
    heads = (declaration.slices, declaration.condition)
    yield from (e for e in heads if e is not None)
    yield from (local.value for local in declaration.locals)
    if isinstance(declaration, OwnContractDecl):
        for held in declaration.held:
            yield from expressions_of_held(held)
        return
    for action in actions_of(declaration):
        yield from expressions_of_action(action)


def _expressions_of_grid(declaration: GridDecl | PartDecl) -> Iterator[Expression]:
    if isinstance(declaration, GridDecl):
        yield from (declaration.width, declaration.height)
        return
    for extent in (declaration.columns, declaration.rows):
        yield from (e for e in (extent.first, extent.last) if e is not None)


def _expressions_of_collective(declaration: CollectiveDecl) -> Iterator[Expression]:
    if declaration.contract.buffer is not None:
        buffer = declaration.contract.buffer
        into = declaration.contract.into
        said = (buffer.length, buffer.stride, into.stride if into else None)
        yield from (one for one in said if one is not None)
    yield from (argument.value for argument in declaration.contract.arguments)
    for clause in declaration.clauses:
        yield from _expressions_of_clause(clause)


def _expressions_of_program(declaration: ProgramDecl) -> Iterator[Expression]:
    for item in declaration.items:
        if isinstance(item, RepeatDecl):
            yield item.rounds
        if isinstance(item, WithinClause | ReserveClause):
            yield from _expressions_of_clause(item)


def _expressions_of_order(order: OrderDecl) -> Iterator[Expression]:
    if isinstance(order.pes, FormulaDecl):
        yield from (order.pes.pe.x, order.pes.pe.y)
        yield from (local.value for local in order.pes.locals)
    else:
        yield from (coordinate for pe in order.pes for coordinate in (pe.x, pe.y))


def _expressions_of_clause(clause: Clause) -> Iterator[Expression]:
    match clause:
        case OrderClause():
            for use in clause.uses:
                yield from (argument.value for argument in use.arguments)
        case ReduceClause():
            yield from (argument.value for argument in clause.tree.arguments)
            yield from _expressions_of_place(clause.to)
        case BroadcastClause():
            yield from _expressions_of_place(clause.root)
        case RunClause():
            yield from (argument.value for argument in clause.algorithm.arguments)
            yield from _expressions_of_place(clause.root)
        case WithinClause():
            yield from () if clause.most is None else (clause.most,)
        case ReserveClause():
            numbers = ((one.first, one.last) for one in clause.reservations)
            yield from (number for pair in numbers for number in pair if number is not None)
        case ExpectClause():
            yield clause.value
        case SelectClause():
            yield from _expressions_of_select(clause)
        case _:
            return


def _expressions_of_select(select: SelectClause) -> Iterator[Expression]:
    for alternative in select.alternatives:
        if alternative.most is not None:
            yield alternative.most
        for clause in alternative.clauses:
            yield from _expressions_of_clause(clause)


def _expressions_of_place(place: PeDecl | Expression | None) -> Iterator[Expression]:
    match place:
        case None:
            return
        case PeDecl():
            yield from (place.x, place.y)
        case _:
            yield place


def actions_of(algorithm: AlgorithmDecl) -> Iterator[Action]:
    """Every action of an algorithm, in the order of the source, loops before what is in them."""
    pending: list[Action] = list(reversed(algorithm.actions))
    while pending:
        action = pending.pop()
        yield action
        if isinstance(action, LoopDecl):
            pending.extend(reversed(action.actions))


def expressions_of_action(action: Action) -> Iterator[Expression]:
    """Outermost expressions of one action, without those of the actions inside it."""
    match action:
        case StepDecl():
            yield from _expressions_of_head(action.range, action.locals)
            for transfer in action.transfers:
                yield from expressions_of_transfer(transfer)
        case LoopDecl():
            yield from _expressions_of_head(action.range, action.locals)
        case _:
            yield from (argument.value for argument in action.arguments)


def _expressions_of_head(
    range: RangeDecl | None, locals: tuple[LocalDecl, ...]
) -> Iterator[Expression]:
    if range is not None:
        yield from (range.first, range.last)
    yield from (local.value for local in locals)


def expressions_of_transfer(transfer: EachDecl) -> Iterator[Expression]:
    """Outermost expressions of an `each` line."""
    sent = transfer.sent or SlicesDecl(transfer.destination, None, transfer.span)
    parts = (transfer.condition, sent.first, sent.last, transfer.destination, transfer.into)
    yield from dict.fromkeys(part for part in parts if part is not None)


def expressions_of_held(held: HeldDecl) -> Iterator[Expression]:
    """Outermost expressions of a line of a contract of one's own."""
    part = held.part or SlicesDecl(held.whose, None, held.span)
    parts = (held.condition, part.first, part.last, held.whose, held.into)
    yield from dict.fromkeys(part for part in parts if part is not None)
