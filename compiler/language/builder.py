"""From lark's parse tree of one declaration to the classes of `syntax`.

What a rule puts together is what its class has as fields, in this order, so most rules are a line
of `_CLASSES`; the others are methods.
"""

from dataclasses import fields, replace
from functools import cache
from typing import Any, cast

from lark import Token, Transformer_NonRecursive, Tree, v_args
from lark.tree import Meta

from collc.base.diagnostics import Span
from collc.language import syntax
from collc.language.declared_names import FIXED
from collc.language.syntax import Clause, Declaration, Expression, Word

_LONGEST_INTEGER = 19  # digits; longer ones overflow 64 bits anyway
_TOO_LARGE = 10**19

_CLASSES: dict[str, Any] = {
    "needs": syntax.NeedsDecl,
    "target": syntax.TargetDecl,
    "param": syntax.ParamDecl,
    "grid": syntax.GridDecl,
    "part": syntax.PartDecl,
    "extent": syntax.ExtentDecl,
    "order_decl": syntax.OrderDecl,
    "formula": syntax.FormulaDecl,
    "tree": syntax.TreeDecl,
    "local": syntax.LocalDecl,
    "algorithm": syntax.AlgorithmDecl,
    "step": syntax.StepDecl,
    "loop": syntax.LoopDecl,
    "include": syntax.IncludeDecl,
    "range": syntax.RangeDecl,
    "each": syntax.EachDecl,
    "one_slice": syntax.SlicesDecl,
    "slice_range": syntax.SlicesDecl,
    "operation": syntax.OperationDecl,
    "contract_decl": syntax.OwnContractDecl,
    "held": syntax.HeldDecl,
    "into": syntax.IntoDecl,
    "place_on": syntax.PlaceDecl,
    "given": syntax.Argument,
    "reduce": syntax.ReduceClause,
    "broadcast": syntax.BroadcastClause,
    "run": syntax.RunClause,
    "use": syntax.TreeUse,
    "pe": syntax.PeDecl,
    "within": syntax.WithinClause,
    "reserve": syntax.ReserveClause,
    "reservation": syntax.ReservationDecl,
    "expect": syntax.ExpectClause,
    "select": syntax.SelectClause,
    "reconfigure": syntax.ReconfigureClause,
    "conditional": syntax.Conditional,
    "either": syntax.Logic,
    "both": syntax.Logic,
    "sum": syntax.Arithmetic,
    "product": syntax.Arithmetic,
    "name": syntax.Name,
    "call": syntax.Call,
    "argument": syntax.Argument,
}


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


@cache
def _types(made: type) -> dict[str, str]:
    """The fields of a class that a rule puts together, each with its type."""
    return {f.name: str(f.type) for f in fields(made) if f.name not in ("span", "then")}


def _listed(rest: list[Any]) -> Any:  # noqa: ANN401 - a tuple, or None
    """What a rule repeats at its end, or the list that a rule of its own has made of it."""
    one_rule = len(rest) == 1 and (rest[0] is None or isinstance(rest[0], tuple))
    return rest[0] if one_rule else tuple(rest)


@v_args(meta=True)
class _Builder(Transformer_NonRecursive[Token, Any]):
    """A method for each rule of coll.lark that is not of one class, in its order."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def _span(self, meta: Meta) -> Span:
        return Span(self._file, meta.line, meta.column, meta.end_line, meta.end_column)

    def _word(self, token: Token) -> Word:
        return Word(str(token), span_of_token(self._file, token))

    def __default__(self, data: str, children: list[Any], meta: Meta) -> object:
        """The class of a rule, made of what the rule puts together."""
        made = _CLASSES[data]
        types = _types(made)
        last, of = len(types) - 1, [*types.values()][-1]
        if of.startswith("tuple"):
            children = [*children[:last], _listed(children[last:])]
        children += [None] * (len(types) - len(children))  # what a shorter rule has no place for
        given = zip(types.items(), children, strict=True)
        return made(**{name: self._field(of, c) for (name, of), c in given}, span=self._span(meta))

    def _field(self, of: str, given: Any) -> object:  # noqa: ANN401 - a token, or what was made
        """What a field of such a type is, if a rule has this in its place."""
        if of == "bool":
            return given is not None
        if isinstance(given, Token):
            return str(given) if of == "str" else self._word(given)
        return () if given is None and of.startswith("tuple") and "None" not in of else given

    def import_decl(self, meta: Meta, c: list[Any]) -> syntax.ImportDecl:
        word = self._word(c[0])
        return syntax.ImportDecl(replace(word, text=word.text[1:-1]), span=self._span(meta))

    def pes(self, meta: Meta, c: list[Any]) -> tuple[syntax.PeDecl, ...]:
        return tuple(pe for pe in c if pe is not None)

    def parameters(self, meta: Meta, c: list[Any]) -> tuple[Word, ...]:
        return tuple(self._word(token) for token in c if token is not None)

    def locals(self, meta: Meta, c: list[Any]) -> tuple[syntax.LocalDecl, ...]:
        return tuple(c)

    def requires(self, meta: Meta, c: list[Any]) -> Expression:
        return cast(Expression, c[0])

    def assumed(self, meta: Meta, c: list[Any]) -> Word:
        return self._word(c[0])

    def collective(self, meta: Meta, c: list[Any]) -> syntax.CollectiveDecl:
        contract = replace(c[1], into=c[2])
        clauses = tuple(c[4:])
        return syntax.CollectiveDecl(
            self._word(c[0]), contract, c[3], clauses, span=self._span(meta)
        )

    def contract(self, meta: Meta, c: list[Any]) -> syntax.ContractDecl:
        buffer = None
        if c[1] is not None:
            buffer = replace(c[1], operation=None if c[2] is None else self._word(c[2]))
        arguments = tuple(given for given in c[3:] if given is not None)
        return syntax.ContractDecl(c[0], buffer, arguments, span=self._span(meta))

    def vector(self, meta: Meta, c: list[Any]) -> syntax.BufferDecl:
        return syntax.BufferDecl(self._word(c[0]), c[1], c[2], c[3], None, span=self._span(meta))

    def element(self, meta: Meta, c: list[Any]) -> Word:
        text = f"({c[0]}, {c[1]})" if len(c) > 1 else str(c[0])
        return Word(text, self._span(meta))

    def kind(self, meta: Meta, c: list[Any]) -> Word:
        return self._word(c[0])

    def order(self, meta: Meta, c: list[Any]) -> Clause:
        uses, span = tuple(c), self._span(meta)
        if [(use.name.text, use.arguments) for use in uses] == [(FIXED, ())]:
            return syntax.FixedClause(span=span)
        return syntax.OrderClause(uses, span=span)

    def then(self, meta: Meta, c: list[Any]) -> Clause:
        return cast(Clause, replace(c[0], then=True))

    def alternative(self, meta: Meta, c: list[Any]) -> syntax.AlternativeDecl:
        span = self._span(meta)
        if c and isinstance(c[0], Token):
            name, _, most, *steps = c
            return syntax.AlternativeDecl(self._word(name), most, tuple(steps), span=span)
        return syntax.AlternativeDecl(None, None, tuple(c), span=span)

    def program(self, meta: Meta, c: list[Any]) -> syntax.ProgramDecl:
        return syntax.ProgramDecl(self._items(c), span=self._span(meta))

    def together(self, meta: Meta, c: list[Any]) -> syntax.TogetherDecl:
        return syntax.TogetherDecl(tuple(map(self._word, c[::2])), span=self._span(meta))

    def repeat(self, meta: Meta, c: list[Any]) -> syntax.RepeatDecl:
        return syntax.RepeatDecl(c[0], self._items(c[1:]), span=self._span(meta))

    def _items(self, c: list[Any]) -> tuple[Any, ...]:
        """What stands between braces, names as words; None stands for a comma left out."""
        found = (self._word(item) if isinstance(item, Token) else item for item in c)
        return tuple(item for item in found if item is not None)

    def comparison(self, meta: Meta, c: list[Any]) -> Expression:
        relations = tuple(str(relation) for relation in c[1::2])
        return syntax.Comparison(tuple(c[::2]), relations, span=self._span(meta))

    def negation(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Not(c[1], span=self._span(meta))

    def negative(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Negative(c[1], span=self._span(meta))

    def number(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Number(_integer(c[0]), span=self._span(meta))

    def fraction(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Fraction(float(c[0]), span=self._span(meta))

    def arguments(self, meta: Meta, c: list[Any]) -> tuple[syntax.Argument, ...]:
        return tuple(argument for argument in c if argument is not None)

    def literal(self, meta: Meta, c: list[Any]) -> Expression:
        return syntax.Literal(self._node(c), span=self._span(meta))

    def node(self, meta: Meta, c: list[Any]) -> syntax.Node:
        return self._node(c)

    def _node(self, c: list[Any]) -> syntax.Node:
        children = tuple(child for child in c[1:] if child is not None)
        # The place of a rank is its number, not all that hangs from it.
        return syntax.Node(_integer(c[0]), children, span=span_of_token(self._file, c[0]))
