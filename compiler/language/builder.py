"""From lark's parse tree of one declaration to the classes of `syntax`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from lark import Token, Transformer_NonRecursive, Tree, v_args
from lark.tree import Meta

from collc.base.diagnostics import Span
from collc.language import syntax
from collc.language.syntax import Clause, Declaration, Expression, Word

_LONGEST_INTEGER = 19  # digits; longer ones overflow 64 bits anyway
_TOO_LARGE = 10**19


def build(file: str, tree: Tree[Token]) -> Declaration:
    """Make the declaration that a parse tree stands for."""
    return cast(Declaration, _Builder(file).transform(tree))


def span_of_token(file: str, token: Token) -> Span:
    """Where a token stands."""
    line, column = token.line or 1, token.column or 1
    return Span(file, line, column, token.end_line or line, token.end_column or column)


def _integer(token: Token) -> int:
    digits = token.lstrip("0") or "0"
    return int(digits) if len(digits) <= _LONGEST_INTEGER else _TOO_LARGE


@v_args(meta=True)
class _Builder(Transformer_NonRecursive[Token, Any]):
    """One method per rule of coll.lark, in its order."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def _span(self, meta: Meta) -> Span:
        return Span(self._file, meta.line, meta.column, meta.end_line, meta.end_column)

    def _word(self, token: Token) -> Word:
        return Word(str(token), span_of_token(self._file, token))

    def needs(self, meta: Meta, c: list[Any]) -> syntax.NeedsDecl:
        tool, version = self._word(c[0]), self._word(c[2])
        return syntax.NeedsDecl(tool, str(c[1]), version, self._span(meta))

    def import_decl(self, meta: Meta, c: list[Any]) -> syntax.ImportDecl:
        word = self._word(c[0])
        return syntax.ImportDecl(replace(word, text=word.text[1:-1]), self._span(meta))

    def target(self, meta: Meta, c: list[Any]) -> syntax.TargetDecl:
        return syntax.TargetDecl(self._word(c[0]), self._span(meta))

    def param(self, meta: Meta, c: list[Any]) -> syntax.ParamDecl:
        return syntax.ParamDecl(self._word(c[0]), c[1], c[2], self._span(meta))

    def grid(self, meta: Meta, c: list[Any]) -> syntax.GridDecl:
        name, by = self._word(c[0]), self._word(c[2])
        return syntax.GridDecl(name, c[1], by, c[3], self._span(meta))

    def part(self, meta: Meta, c: list[Any]) -> syntax.PartDecl:
        return syntax.PartDecl(self._word(c[0]), self._word(c[1]), c[2], c[3], self._span(meta))

    def extent(self, meta: Meta, c: list[Any]) -> syntax.ExtentDecl:
        return syntax.ExtentDecl(c[0], c[1], self._span(meta))

    def order_decl(self, meta: Meta, c: list[Any]) -> syntax.OrderDecl:
        return syntax.OrderDecl(self._word(c[0]), c[1] or (), c[2], self._span(meta))

    def formula(self, meta: Meta, c: list[Any]) -> syntax.FormulaDecl:
        return syntax.FormulaDecl(self._word(c[0]), self._word(c[1]), c[2], c[3] or ())

    def pes(self, meta: Meta, c: list[Any]) -> tuple[syntax.PeDecl, ...]:
        return tuple(pe for pe in c if pe is not None)

    def tree(self, meta: Meta, c: list[Any]) -> syntax.TreeDecl:
        parameters, local_definitions = c[1] or (), c[3] or ()
        name = self._word(c[0])
        return syntax.TreeDecl(name, parameters, c[2], local_definitions, self._span(meta))

    def parameters(self, meta: Meta, c: list[Any]) -> tuple[Word, ...]:
        return tuple(self._word(token) for token in c if token is not None)

    def locals(self, meta: Meta, c: list[Any]) -> tuple[syntax.LocalDecl, ...]:
        return tuple(c)

    def local(self, meta: Meta, c: list[Any]) -> syntax.LocalDecl:
        return syntax.LocalDecl(self._word(c[0]), c[1], c[2], self._span(meta))

    def algorithm(self, meta: Meta, c: list[Any]) -> syntax.AlgorithmDecl:
        name, parameters, slices, condition, local_definitions = c[:5]
        return syntax.AlgorithmDecl(
            self._word(name),
            parameters or (),
            slices,
            condition,
            local_definitions or (),
            tuple(c[5:]),
            self._span(meta),
        )

    def requires(self, meta: Meta, c: list[Any]) -> Expression:
        return cast(Expression, c[0])

    def step(self, meta: Meta, c: list[Any]) -> syntax.StepDecl:
        return syntax.StepDecl(c[0], c[1] or (), tuple(c[2:]), self._span(meta))

    def loop(self, meta: Meta, c: list[Any]) -> syntax.LoopDecl:
        return syntax.LoopDecl(c[0], c[1] or (), tuple(c[2:]), self._span(meta))

    def include(self, meta: Meta, c: list[Any]) -> syntax.IncludeDecl:
        return syntax.IncludeDecl(self._word(c[0]), c[1] or (), self._span(meta))

    def range(self, meta: Meta, c: list[Any]) -> syntax.RangeDecl:
        return syntax.RangeDecl(self._word(c[0]), c[1], c[2], self._span(meta))

    def each(self, meta: Meta, c: list[Any]) -> syntax.EachDecl:
        rank, other, condition, sent, source, arrow, destination, into = c
        return syntax.EachDecl(
            self._word(rank),
            None if other is None else self._word(other),
            condition,
            sent,
            self._word(source),
            arrow == "=>",
            destination,
            into,
            self._span(meta),
        )

    def one_slice(self, meta: Meta, c: list[Any]) -> syntax.SlicesDecl:
        return syntax.SlicesDecl(c[0], None, self._span(meta))

    def slice_range(self, meta: Meta, c: list[Any]) -> syntax.SlicesDecl:
        return syntax.SlicesDecl(c[0], c[1], self._span(meta))

    def operation(self, meta: Meta, c: list[Any]) -> syntax.OperationDecl:
        name, own, received, element = map(self._word, c[:4])
        commutative, assumed, body, local_definitions = c[4:]
        return syntax.OperationDecl(
            name,
            own,
            received,
            element,
            commutative is not None,
            assumed,
            body,
            local_definitions or (),
            self._span(meta),
        )

    def assumed(self, meta: Meta, c: list[Any]) -> Word:
        return self._word(c[0])

    def contract_decl(self, meta: Meta, c: list[Any]) -> syntax.OwnContractDecl:
        name, parameters, slices, condition, local_definitions = c[:5]
        return syntax.OwnContractDecl(
            self._word(name),
            parameters or (),
            slices,
            condition,
            local_definitions or (),
            tuple(c[5:]),
            self._span(meta),
        )

    def held(self, meta: Meta, c: list[Any]) -> syntax.HeldDecl:
        when, rank, other, condition, holder, has, part, of, whose, into = c
        return syntax.HeldDecl(
            self._word(when),
            self._word(rank),
            None if other is None else self._word(other),
            condition,
            self._word(holder),
            self._word(has),
            part,
            None if of is None else self._word(of),
            whose,
            into,
            self._span(meta),
        )

    def collective(self, meta: Meta, c: list[Any]) -> syntax.CollectiveDecl:
        contract = replace(c[1], into=c[2])
        clauses = tuple(c[4:])
        return syntax.CollectiveDecl(self._word(c[0]), contract, c[3], clauses, self._span(meta))

    def into(self, meta: Meta, c: list[Any]) -> syntax.IntoDecl:
        return syntax.IntoDecl(self._word(c[0]), c[1], self._span(meta))

    def place_on(self, meta: Meta, c: list[Any]) -> syntax.PlaceDecl:
        lines, of = (None if token is None else self._word(token) for token in c[:2])
        return syntax.PlaceDecl(lines, of, self._word(c[2]), self._span(meta))

    def contract(self, meta: Meta, c: list[Any]) -> syntax.ContractDecl:
        buffer = None
        if c[1] is not None:
            operation = None if c[5] is None else self._word(c[5])
            buffer = syntax.BufferDecl(self._word(c[1]), c[2], c[3], c[4], operation)
        arguments = tuple(given for given in c[6:] if given is not None)
        return syntax.ContractDecl(c[0], buffer, self._span(meta), arguments)

    def element(self, meta: Meta, c: list[Any]) -> Word:
        text = f"({c[0]}, {c[1]})" if len(c) > 1 else str(c[0])
        return Word(text, self._span(meta))

    def given(self, meta: Meta, c: list[Any]) -> syntax.Argument:
        return syntax.Argument(self._word(c[0]), c[1], self._span(meta))

    def kind(self, meta: Meta, c: list[Any]) -> Word:
        return self._word(c[0])

    def order(self, meta: Meta, c: list[Any]) -> syntax.OrderClause:
        return syntax.OrderClause(tuple(c), self._span(meta))

    def then(self, meta: Meta, c: list[Any]) -> Clause:
        return cast(Clause, replace(c[0], then=True))

    def reduce(self, meta: Meta, c: list[Any]) -> syntax.ReduceClause:
        lines = None if c[0] is None else self._word(c[0])
        return syntax.ReduceClause(lines, c[1], c[2], c[3], False, self._span(meta))

    def broadcast(self, meta: Meta, c: list[Any]) -> syntax.BroadcastClause:
        return syntax.BroadcastClause(c[0], False, self._span(meta))

    def run(self, meta: Meta, c: list[Any]) -> syntax.RunClause:
        lines = None if c[0] is None else self._word(c[0])
        taken = None if c[3] is None else self._word(c[3])
        return syntax.RunClause(lines, c[1], c[2], False, self._span(meta), taken)

    def use(self, meta: Meta, c: list[Any]) -> syntax.TreeUse:
        return syntax.TreeUse(self._word(c[0]), c[1] or (), self._span(meta))

    def pe(self, meta: Meta, c: list[Any]) -> syntax.PeDecl:
        return syntax.PeDecl(c[0], c[1], self._span(meta))

    def within(self, meta: Meta, c: list[Any]) -> syntax.WithinClause:
        return syntax.WithinClause(self._word(c[0]), c[1], self._span(meta))

    def reserve(self, meta: Meta, c: list[Any]) -> syntax.ReserveClause:
        return syntax.ReserveClause(tuple(c), self._span(meta))

    def reservation(self, meta: Meta, c: list[Any]) -> syntax.ReservationDecl:
        return syntax.ReservationDecl(self._word(c[0]), c[1], c[2], self._span(meta))

    def expect(self, meta: Meta, c: list[Any]) -> syntax.ExpectClause:
        return syntax.ExpectClause(self._word(c[0]), str(c[1]), c[2], self._span(meta))

    def select(self, meta: Meta, c: list[Any]) -> syntax.SelectClause:
        return syntax.SelectClause(self._word(c[0]), tuple(c[1:]), self._span(meta))

    def alternative(self, meta: Meta, c: list[Any]) -> syntax.AlternativeDecl:
        span = self._span(meta)
        if c and isinstance(c[0], Token):
            name, _, most, *steps = c
            return syntax.AlternativeDecl(self._word(name), most, tuple(steps), span)
        return syntax.AlternativeDecl(None, None, tuple(c), span)

    def program(self, meta: Meta, c: list[Any]) -> syntax.ProgramDecl:
        return syntax.ProgramDecl(self._items(c), self._span(meta))

    def together(self, meta: Meta, c: list[Any]) -> syntax.TogetherDecl:
        return syntax.TogetherDecl(tuple(map(self._word, c[::2])), self._span(meta))

    def repeat(self, meta: Meta, c: list[Any]) -> syntax.RepeatDecl:
        return syntax.RepeatDecl(c[0], self._items(c[1:]), self._span(meta))

    def reconfigure(self, meta: Meta, c: list[Any]) -> syntax.ReconfigureClause:
        return syntax.ReconfigureClause(self._word(c[0]), self._span(meta))

    def _items(self, c: list[Any]) -> tuple[Any, ...]:
        """What stands between braces, names as words; None stands for a comma left out."""
        found = (self._word(item) if isinstance(item, Token) else item for item in c)
        return tuple(item for item in found if item is not None)

    def conditional(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Conditional(c[0], c[1], c[2], self._span(meta))

    def either(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Logic("or", c[0], c[2], self._span(meta))

    def both(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Logic("and", c[0], c[2], self._span(meta))

    def comparison(self, meta: Meta, c: list[Any]) -> Expression:
        relations = tuple(str(relation) for relation in c[1::2])
        return syntax.Comparison(tuple(c[::2]), relations, self._span(meta))

    def sum(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Arithmetic(str(c[1]), c[0], c[2], self._span(meta))

    def product(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Arithmetic(str(c[1]), c[0], c[2], self._span(meta))

    def negation(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Not(c[1], self._span(meta))

    def negative(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Negative(c[1], self._span(meta))

    def number(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Number(_integer(c[0]), self._span(meta))

    def fraction(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Fraction(float(c[0]), self._span(meta))

    def name(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Name(str(c[0]), self._span(meta))

    def call(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Call(self._word(c[0]), c[1], self._span(meta))

    def arguments(self, meta: Meta, c: list[Any]) -> tuple[syntax.Argument, ...]:
        return tuple(argument for argument in c if argument is not None)

    def argument(self, meta: Meta, c: list[Any]) -> syntax.Argument:
        name = None if c[0] is None else self._word(c[0])
        return syntax.Argument(name, c[1], self._span(meta))

    def literal(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Literal(self._node(c), self._span(meta))

    def node(self, meta: Meta, c: list[Any]) -> syntax.Node:
        return self._node(c)

    def _node(self, c: list[Any]) -> syntax.Node:
        children = tuple(child for child in c[1:] if child is not None)
        # The place of a rank is its number, not all that hangs from it.
        return syntax.Node(_integer(c[0]), children, span_of_token(self._file, c[0]))
