"""Syntax as the text of a `.coll` file: each class in one place, whatever made it.

`show` prints an expression, a clause or a declaration so that it is read as the same syntax again,
but for the places. Declarations are laid out as `collc fmt` does, except for lines that are long.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from collc.language import syntax
from collc.language.syntax import Expression, Word

N = TypeVar("N")

_INDENT = "    "
_ATOM, _NEGATIVE, _COMPARISON, _NOT, _CONDITIONAL = 8, 7, 4, 3, 0
_BINDS = {"or": 1, "and": 2, "+": 5, "-": 5, "*": 6, "div": 6, "mod": 6}


def show(part: syntax.Syntax) -> str:
    """Write a piece of syntax; of several lines if it is one with braces, or a choice by length."""
    return "\n".join(_LINES[type(part)](part)) if type(part) in _LINES else _line(part)


# Expressions, with as few parentheses as the grammar needs.


def show_expression(expression: Expression) -> str:
    """Write an expression on one line."""
    return _shown(expression)[0]


def _shown(expression: Expression) -> tuple[str, int]:  # noqa: PLR0911 - one for each kind
    """The text, and how strongly its outermost operator binds."""
    match expression:
        case syntax.Name(text=text):
            return text, _ATOM
        case syntax.Number(value=value) | syntax.Fraction(value=value):
            return str(value), _ATOM
        case syntax.Call(name=name, arguments=arguments):
            return f"{name.text}({', '.join(map(_argument, arguments))})", _ATOM
        case syntax.Literal(root=root):
            return drawn(root.rank, root.children, _rank, _children), _ATOM
        case syntax.Negative(operand=operand):
            return f"-{_inside(operand, _NEGATIVE)}", _NEGATIVE
        case syntax.Not(operand=operand):
            return f"not {_inside(operand, _NOT)}", _NOT
        case syntax.Comparison(operands=operands, relations=relations):
            first, *others = (_inside(one, _COMPARISON + 1) for one in operands)
            pairs = zip(relations, others, strict=True)
            return " ".join([first, *(f"{how} {one}" for how, one in pairs)]), _COMPARISON
        case syntax.Arithmetic() | syntax.Logic():
            binds = _BINDS[expression.operator]
            left, right = _inside(expression.left, binds), _inside(expression.right, binds + 1)
            return f"{left} {expression.operator} {right}", binds
        case syntax.Conditional(condition=condition, chosen=chosen, otherwise=otherwise):
            asked = _inside(condition, _CONDITIONAL + 1)
            return f"{asked} ? {_shown(chosen)[0]} : {_shown(otherwise)[0]}", _CONDITIONAL


def _inside(expression: Expression, least: int) -> str:
    """The text as an operand of what binds less than `least`."""
    text, binds = _shown(expression)
    return text if binds >= least else f"({text})"


def _argument(argument: syntax.Argument) -> str:
    value = show_expression(argument.value)
    return f"{argument.name.text} = {value}" if argument.name else value


def _rank(node: syntax.Node) -> int:
    return node.rank


def _children(node: syntax.Node) -> Sequence[syntax.Node]:
    return node.children


def show_tree(children: Sequence[Sequence[int]]) -> str:
    """A tree by each rank's children, as it is drawn: `0 <- [1 <- [2], 3]`."""
    return drawn(0, children[0], lambda rank: rank, lambda rank: children[rank])


def drawn(
    root: int,
    children: Sequence[N],
    rank_of: Callable[[N], int],
    children_of: Callable[[N], Sequence[N]],
) -> str:
    """A tree as it is drawn. No recursion: ranks may hang thousands deep."""
    written = [f"{root} <- ["]
    pending: list[Iterator[N]] = [iter(children)]
    while pending:
        one = next(pending[-1], None)
        if one is None:
            pending.pop()
            written.append("]")
            continue
        comma = "" if written[-1].endswith("[") else ", "
        below = children_of(one)
        written.append(f"{comma}{rank_of(one)}{' <- [' if below else ''}")
        if below:
            pending.append(iter(below))
    return "".join(written)


# What stands on one line.


def _line(part: object) -> str:
    """A piece of syntax on one line; nothing for None."""
    if part is None:
        return ""
    if isinstance(part, Word):
        return part.text
    form = _FORMS.get(type(part))
    return form(part) if form else show_expression(part)  # type: ignore[arg-type]


def _after(word: str, part: object) -> str:
    """` where n > 1`; nothing for None."""
    return "" if part is None else f" {word} {_line(part)}"


def _listed(parts: Iterable[object], around: str = "()") -> str:
    """`(a, b)`; nothing where there are none."""
    inside = ", ".join(map(_line, parts))
    return f"{around[0]}{inside}{around[1]}" if inside else ""


def _where(locals_: Iterable[syntax.LocalDecl]) -> str:
    inside = ", ".join(map(_line, locals_))
    return f" where {inside}" if inside else ""


def _local(one: syntax.LocalDecl) -> str:
    parameters = "" if one.parameters is None else f"({', '.join(map(_line, one.parameters))})"
    return f"{one.name.text}{parameters} = {_line(one.value)}"


def _slices(one: syntax.SlicesDecl) -> str:
    if one.last is None:
        return f"slice {_line(one.first)}"
    return f"slices {_line(one.first)} .. {_line(one.last)}"


def _extent(one: syntax.ExtentDecl | syntax.ReservationDecl) -> str:
    return _line(one.first) + ("" if one.last is None else f" .. {_line(one.last)}")


def _ranks(one: syntax.EachDecl | syntax.HeldDecl) -> str:
    """`each r, q where r != q : `."""
    second = "" if one.other is None else f", {one.other.text}"
    return f"each {one.rank.text}{second}{_after('where', one.condition)} : "


def _each(one: syntax.EachDecl) -> str:
    sent = f"{_line(one.sent)}  " if one.sent else ""
    moved = f"{one.source.text} {one.arrow} {_line(one.destination)}"
    return f"{_ranks(one)}{sent}{moved}{_after('as slice', one.into)}"


def _held(one: syntax.HeldDecl) -> str:
    part = f"{_line(one.part)} {_line(one.of)} " if one.part else ""
    has = f"{one.holder.text} {one.has.text} {part}{_line(one.whose)}"
    return f"{one.when.text} {_ranks(one)}{has}{_after('as slice', one.into)}"


def _contract(one: syntax.ContractDecl) -> str:
    """`allreduce(x: f32[B] by 3, add) into y`."""
    given = [_line(part) for part in (one.buffer, *one.arguments) if part]
    into = "" if one.into is None else f" into {one.into.name.text}{_after('by', one.into.stride)}"
    return f"{one.kind.text}({', '.join(given)}){into}"


def _buffer(one: syntax.BufferDecl) -> str:
    apart = _after("by", one.stride)
    operation = "" if one.operation is None else f", {one.operation.text}"
    return f"{one.name.text}: {one.element.text}[{_line(one.length)}]{apart}{operation}"


def _place_on(one: syntax.PlaceDecl) -> str:
    each = f"each {one.lines.text} {_line(one.of)} " if one.lines else ""
    return f"{each}{one.grid.text}"


def _by(lines: Word | None) -> str:
    return f"{lines.text} by " if lines else ""


def _reduce(one: syntax.ReduceClause) -> str:
    trees = f"{_line(one.tree)}{', ' if one.upper else ''}{_line(one.upper)}"
    return f"{'then ' * one.then}reduce {_by(one.lines)}{trees}{_after('to', one.to)}"


def _broadcast(one: syntax.BroadcastClause) -> str:
    return f"{'then ' * one.then}broadcast from {_line(one.root)}"


def _run(one: syntax.RunClause) -> str:
    place = _after(one.end.text if one.end else "to", one.root)
    how = f"{_after('on', one.on_slices)}{_after('in', one.taken)}"
    return f"{'then ' * one.then}run {_by(one.lines)}{_line(one.algorithm)}{place}{how}"


def _head(one: syntax.AlgorithmDecl | syntax.OwnContractDecl) -> str:
    """`ring(n) slices n requires n > 1 where k = 2`."""
    said = f"{_after('slices', one.slices)}{_after('requires', one.condition)}"
    return f"{one.name.text}{_listed(one.parameters)}{said}{_where(one.locals)}"


def _order_decl(one: syntax.OrderDecl) -> str:
    head = f"order {one.name.text}{_listed(one.parameters)}"
    if not isinstance(one.pes, syntax.FormulaDecl):
        return f"{head} = [{', '.join(map(_line, one.pes))}]"
    formula = one.pes
    to = f"{formula.rank.text} {formula.arrow.text} {_line(formula.pe)}"
    return f"{head} : {to}{_where(formula.locals)}"


def _tree(one: syntax.TreeDecl) -> str:
    head = f"{one.name.text}{_listed(one.parameters)}{_after('requires', one.condition)}"
    return f"tree {head} = {_line(one.body)}{_where(one.locals)}"


def _operation(one: syntax.OperationDecl) -> str:
    operands = f"{one.own.text}, {one.received.text}: {one.element.text}"
    said = f"{' commutative' * one.commutative}{_after('assume', one.assumed)}"
    return f"operation {one.name.text}({operands}){said} = {_line(one.body)}{_where(one.locals)}"


def _program(one: syntax.ProgramDecl) -> str:
    return f"program {_braced(one.items)}"


def _braced(items: Iterable[object]) -> str:
    inside = " ".join(map(_line, items))
    return f"{{ {inside} }}" if inside else "{}"


def _param(one: syntax.ParamDecl) -> str:
    default = "" if one.default is None else f" = {_line(one.default)}"
    return f"param {one.name.text}{default}{_after('where', one.condition)}"


_FORMS: Mapping[type, Callable[..., str]] = {
    syntax.NeedsDecl: lambda d: f"requires {d.tool.text} {d.relation} {d.version.text}",
    syntax.ImportDecl: lambda d: f'import "{d.file.text}"',
    syntax.TargetDecl: lambda d: f"target {d.name.text}",
    syntax.ParamDecl: _param,
    syntax.GridDecl: lambda d: (
        f"grid {d.name.text} = {_line(d.width)} {d.by.text} {_line(d.height)}"
    ),
    syntax.PartDecl: lambda d: (
        f"grid {d.name.text} = {d.of.text}[{_line(d.columns)}, {_line(d.rows)}]"
    ),
    syntax.ExtentDecl: _extent,
    syntax.OrderDecl: _order_decl,
    syntax.TreeDecl: _tree,
    syntax.OperationDecl: _operation,
    syntax.ProgramDecl: _program,
    syntax.LocalDecl: _local,
    syntax.RangeDecl: lambda d: f"{d.name.text} in {_line(d.first)} .. {_line(d.last)}",
    syntax.SlicesDecl: _slices,
    syntax.EachDecl: _each,
    syntax.HeldDecl: _held,
    syntax.IncludeDecl: lambda d: f"run {d.name.text}{_listed(d.arguments)}",
    syntax.Argument: _argument,
    syntax.ContractDecl: _contract,
    syntax.BufferDecl: _buffer,
    syntax.PlaceDecl: _place_on,
    syntax.PeDecl: lambda d: f"({_line(d.x)}, {_line(d.y)})",
    syntax.TreeUse: lambda d: f"{d.name.text}{_listed(d.arguments)}",
    syntax.OrderClause: lambda c: f"order {', '.join(map(_line, c.uses))}",
    syntax.FixedClause: lambda _: "order fixed",
    syntax.ReduceClause: _reduce,
    syntax.BroadcastClause: _broadcast,
    syntax.RunClause: _run,
    syntax.WithinClause: lambda c: f"within {c.quantity.text} <= {_line(c.most)}",
    syntax.ReserveClause: lambda c: f"reserve {', '.join(map(_line, c.reservations))}",
    syntax.ReservationDecl: lambda d: f"{d.resource.text} {_extent(d)}",
    syntax.ExpectClause: lambda c: f"expect {c.quantity.text} {c.relation} {_line(c.value)}",
    syntax.TogetherDecl: lambda d: " and ".join(map(_line, d.names)),
    syntax.RepeatDecl: lambda d: f"repeat {_line(d.rounds)} {_braced(d.names)}",
    syntax.ReconfigureClause: lambda c: f"reconfigure {c.way.text}",
}


# What stands on several lines.


def _block(head: str, inside: Iterable[syntax.Syntax]) -> Iterator[str]:
    """A head, what is between its braces, and the closing one."""
    yield f"{head} {{"
    for one in inside:
        yield from (f"{_INDENT}{line}" for line in show(one).split("\n"))
    yield "}"


def _step(one: syntax.StepDecl) -> Iterator[str]:
    return _block(f"step{_range(one.range)}{_where(one.locals)}", one.transfers)


def _range(one: syntax.RangeDecl | None) -> str:
    return f" {_line(one)}" if one else ""


def _loop(one: syntax.LoopDecl) -> Iterator[str]:
    return _block(f"for {_line(one.range)}{_where(one.locals)}", one.actions)


def _collective(one: syntax.CollectiveDecl) -> Iterator[str]:
    head = f"collective {one.name.text} = {_line(one.contract)} on {_line(one.place)}"
    return _block(head, one.clauses)


def _alternative(one: syntax.AlternativeDecl) -> str:
    limit = "else" if one.name is None else f"{one.name.text} <= {_line(one.most)}"
    return " ".join([f"{limit}:", *map(_line, one.clauses)])


_LINES: Mapping[type, Callable[..., Iterator[str]]] = {
    syntax.AlgorithmDecl: lambda d: _block(f"algorithm {_head(d)}", d.actions),
    syntax.OwnContractDecl: lambda d: _block(f"contract {_head(d)}", d.held),
    syntax.StepDecl: _step,
    syntax.LoopDecl: _loop,
    syntax.CollectiveDecl: _collective,
    syntax.SelectClause: lambda c: _block(f"select by {c.name.text}", c.alternatives),
    syntax.AlternativeDecl: lambda d: iter((_alternative(d),)),
}
