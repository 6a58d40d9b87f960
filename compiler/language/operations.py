"""Operations of the user's own, from expression to formula.

An expression of the language has to be made of the two elements, numbers, and what
`collc.spec.formula` has a node for. A number takes the type of what stands beside it; types are
changed by calling one, `i32(a)`. What rests on numbers alone is computed here.
"""

from dataclasses import field

import numpy as np

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.expressions import FUNCTIONS, Binding, Scope, number, truth
from collc.language.printer import show_expression
from collc.language.problems import meaning, problem
from collc.language.syntax import Expression, OperationDecl, walk
from collc.spec import ElementType, OwnOperation
from collc.spec.formula import BITS, BOOL, FLOATS, INTEGERS, SHIFTS, Builder

TYPES = (*INTEGERS, *FLOATS)
ASSOCIATIVE = "associative"  # what may be assumed of an operation
_FUNCTIONS = ("min", "max", *BITS, *SHIFTS)
OF_ELEMENTS = frozenset((*_FUNCTIONS, *TYPES))  # what an operation may call
_OF_DIGITS = frozenset((*BITS, *SHIFTS)) - frozenset(FUNCTIONS)  # of values, not of numbers
_SIGNS = {"+": "add", "-": "sub", "*": "mul"}
_MOST_NODES = 4096  # nodes; each is a scalar instruction for every element


@dataclass(frozen=True)
class _Names:
    """What names stand for: values of the formula, and numbers."""

    builder: Builder
    scope: Scope
    values: dict[str, int] = field(default_factory=dict)

    def type_of(self, index: int) -> str:
        """The type of a node."""
        return self.builder.nodes[index].type

    def is_number(self, expression: Expression) -> bool:
        """Whether nothing in an expression depends on the elements."""
        for part, _ in walk(expression):
            match part:
                case syntax.Name(text=text) if text in self.values:
                    return False
                case syntax.Call(name=name) if name.text in TYPES or name.text in _OF_DIGITS:
                    return False
                case syntax.Fraction():
                    return False
        return True


def own_operation(declaration: OperationDecl, scope: Scope) -> OwnOperation:
    """The operation of a declaration whose names are known; raises `ProblemError` if it is none."""
    words = (declaration.own, declaration.received)
    element = _element(declaration)
    builder = Builder()
    numbers = {name: n for name, n in scope.numbers.items() if name not in {w.text for w in words}}
    names = _Names(builder, Scope(numbers, scope.others))
    for word, kind in zip(words, ("own", "received"), strict=True):
        names.values[word.text] = builder.add(kind, element.value)
    for local in declaration.locals:
        _local(local, names, numbers, element)
    result = _value(declaration.body, names, element.value)
    _check_type(declaration.body, names.type_of(result), element.value)
    formula = builder.formula(result)
    if len(formula) > _MOST_NODES:
        message = f"{declaration.name.text} takes more than {_MOST_NODES} instructions"
        raise problem("C160", message, declaration.span, help="make it simpler")
    operation = OwnOperation(
        declaration.name.text,
        (words[0].text, words[1].text),
        element,
        declaration.commutative,
        formula,
        declaration.span,
        _assumed(declaration),
    )
    from collc.language.laws import broken_law  # noqa: PLC0415 - few programs declare operations

    broken = broken_law(operation, associative=not operation.assumed_associative)
    if broken is not None:
        raise broken
    return operation


def _assumed(declaration: OperationDecl) -> bool:
    """Whether the operation is taken to be associative untried."""
    word = declaration.assumed
    if word is not None and word.text != ASSOCIATIVE:
        message = f"an operation cannot be assumed {word.text}"
        help = f"write `assume {ASSOCIATIVE}`"
        raise problem("C163", message, word.span, help=help, fix=ASSOCIATIVE)
    return word is not None


def _element(declaration: OperationDecl) -> ElementType:
    elements = {element.value: element for element in ElementType if not element.pair_of}
    word = declaration.element
    return meaning(word, elements, f"there is no element type called {word.text}")


def _local(
    local: syntax.LocalDecl, names: _Names, numbers: dict[str, Binding], element: ElementType
) -> None:
    """A name for a part of the formula, or for a number."""
    if names.is_number(local.value) and not _is_condition(local.value):
        numbers[local.name.text] = number(local.value, names.scope)
        names.values.pop(local.name.text, None)
    else:
        names.values[local.name.text] = _value(local.value, names, element.value)
        numbers.pop(local.name.text, None)


def _is_condition(expression: Expression) -> bool:
    return isinstance(expression, syntax.Comparison | syntax.Logic | syntax.Not)


def _value(expression: Expression, names: _Names, wanted: str) -> int:
    """The node of an expression; `wanted` is the type of a number that stands alone."""
    if names.is_number(expression) and not _is_condition(expression):
        return _constant(number(expression, names.scope), wanted, expression.span, names)
    match expression:
        case syntax.Name(text=text):
            return names.values[text]
        case syntax.Fraction(value=value):
            return _constant(value, wanted, expression.span, names)
        case syntax.Comparison() | syntax.Logic() | syntax.Not():
            return _condition(expression, names, wanted)
        case _:
            return _compound(expression, names, wanted)


def _compound(expression: Expression, names: _Names, wanted: str) -> int:
    match expression:
        case syntax.Negative(operand=operand):
            of = _value(operand, names, wanted)
            _check_number(operand, names.type_of(of))
            return names.builder.add("negate", names.type_of(of), of)
        case syntax.Arithmetic(operator=sign) if sign in _SIGNS:
            return _pair(_SIGNS[sign], expression.left, expression.right, names, wanted)
        case syntax.Arithmetic(operator=sign):
            message = f"an operation cannot divide: `{sign}` has no value for some elements"
            raise problem("C160", message, expression.span)
        case syntax.Conditional():
            return _choose(expression, names, wanted)
        case syntax.Call():
            return _call(expression, names, wanted)
        case _:
            raise problem("C160", "this has no place in an operation", expression.span)


def _both(left: Expression, right: Expression, names: _Names, wanted: str) -> tuple[int, int, str]:
    """The nodes of two expressions of one type; a number takes that of the other."""
    if _is_literal(left, names) and not _is_literal(right, names):
        second = _value(right, names, wanted)
        first = _value(left, names, names.type_of(second))
    else:
        first = _value(left, names, wanted)
        second = _value(right, names, names.type_of(first))
    types = names.type_of(first), names.type_of(second)
    _check_number(left, types[0])
    _check_type(right, types[1], types[0])
    return first, second, types[0]


def _is_literal(expression: Expression, names: _Names) -> bool:
    """Whether an expression takes its type from outside."""
    match expression:
        case syntax.Fraction() | syntax.Negative(operand=syntax.Fraction()):
            return True
        case _:
            return names.is_number(expression)


def _pair(kind: str, left: Expression, right: Expression, names: _Names, wanted: str) -> int:
    first, second, type = _both(left, right, names, wanted)
    return names.builder.add(kind, type, first, second)


def _choose(expression: syntax.Conditional, names: _Names, wanted: str) -> int:
    if names.is_number(expression.condition):
        holds = truth(expression.condition, names.scope)
        return _value(expression.chosen if holds else expression.otherwise, names, wanted)
    condition = _value(expression.condition, names, wanted)
    if names.type_of(condition) != BOOL:
        message = f"this is {_said(names.type_of(condition))}, where a condition is wanted"
        raise problem("C113", message, expression.condition.span, help="compare it with something")
    first, second, type = _both(expression.chosen, expression.otherwise, names, wanted)
    return names.builder.add("choose", type, condition, first, second)


def _condition(
    expression: syntax.Comparison | syntax.Logic | syntax.Not, names: _Names, wanted: str
) -> int:
    """A node that is true or false."""
    add = names.builder.add
    match expression:
        case syntax.Not(operand=operand):
            return add("not", BOOL, _truth(operand, names, wanted))
        case syntax.Logic(operator=word, left=left, right=right):
            return add(word, BOOL, _truth(left, names, wanted), _truth(right, names, wanted))
        case syntax.Comparison(operands=operands, relations=relations):
            found = [
                _compared(relation, operands[i], operands[i + 1], names, wanted)
                for i, relation in enumerate(relations)
            ]
            result = found[0]
            for one in found[1:]:
                result = add("and", BOOL, result, one)
            return result


def _truth(expression: Expression, names: _Names, wanted: str) -> int:
    if names.is_number(expression):
        message = "this condition does not depend on the elements"
        raise problem("C160", message, expression.span, help="choose by it: `condition ? a : b`")
    of = _value(expression, names, wanted)
    if names.type_of(of) != BOOL:
        message = f"this is {_said(names.type_of(of))}, where a condition is wanted"
        raise problem("C113", message, expression.span, help="compare it with something")
    return of


def _compared(
    relation: str, left: Expression, right: Expression, names: _Names, wanted: str
) -> int:
    first, second, _ = _both(left, right, names, wanted)
    return names.builder.add(relation, BOOL, first, second)


def _call(call: syntax.Call, names: _Names, wanted: str) -> int:
    name = call.name.text
    values = [argument.value for argument in call.arguments]
    named = next((a.name for a in call.arguments if a.name is not None), None)
    if named is not None:
        raise problem("C114", f"the arguments of {name} have no names", named.span)
    if name in TYPES:
        return _cast(call, values, names)
    if name not in _FUNCTIONS:
        message = f"{name} computes with numbers, not with elements"
        raise problem("C160", message, call.span, help=f"there are {', '.join(_FUNCTIONS)}")
    most = len(values) if name in ("min", "max") else 2
    if len(values) < 2 or len(values) > most:
        wanted_count = "two or more arguments" if name in ("min", "max") else "2 arguments"
        raise problem("C114", f"{name} takes {wanted_count}, not {len(values)}", call.span)
    if name in SHIFTS:
        return _shift(call, values, names, wanted)
    return _folded(call, values, names, wanted)


def _folded(call: syntax.Call, values: list[Expression], names: _Names, wanted: str) -> int:
    """A function of two or more, from left to right."""
    kind = call.name.text
    first = next((v for v in values if not _is_literal(v, names)), values[0])
    known = _value(first, names, wanted)
    type = names.type_of(known)
    if kind in BITS and type not in INTEGERS:
        message = f"{kind} takes whole numbers, not {type}"
        raise problem("C161", message, first.span)
    found = [known if value is first else _value(value, names, type) for value in values]
    for value, node in zip(values, found, strict=True):
        _check_number(value, names.type_of(node))
        _check_type(value, names.type_of(node), type)
    result = found[0]
    for node in found[1:]:
        result = names.builder.add(kind, type, result, node)
    return result


def _shift(call: syntax.Call, values: list[Expression], names: _Names, wanted: str) -> int:
    of = _value(values[0], names, wanted)
    type = names.type_of(of)
    if type not in INTEGERS:
        message = f"{call.name.text} takes whole numbers, not {type}"
        raise problem("C161", message, values[0].span)
    if not names.is_number(values[1]):
        message = "by how much is shifted has to be a number"
        raise problem("C160", message, values[1].span)
    digits = number(values[1], names.scope)
    if not 0 <= digits < int(type[1:]):
        message = f"{type} cannot be shifted by {digits}: it has {type[1:]} digits"
        raise problem("C117", message, values[1].span)
    return names.builder.add(call.name.text, type, of, value=digits)


def _cast(call: syntax.Call, values: list[Expression], names: _Names) -> int:
    to = call.name.text
    if len(values) != 1:
        raise problem("C114", f"{to} takes 1 argument, not {len(values)}", call.span)
    of = _value(values[0], names, to)
    type = names.type_of(of)
    if type == to:
        return of
    if type == BOOL or (type in FLOATS and to in INTEGERS) or (type, to) in _TWICE_ROUNDED:
        why = (
            "a float need not have a value as a whole number"
            if type in FLOATS
            else "choose by it: `condition ? 1 : 0`"
            if type == BOOL
            else "by way of f32: f16(f32(...))"
        )
        message = f"{_said(type)} cannot be made into {to}"
        raise problem("C161", message, call.span, help=why)
    return names.builder.add("cast", to, of)


_TWICE_ROUNDED = (("i32", "f16"), ("u32", "f16"))


def _constant(value: int | float, type: str, at: Span, names: _Names) -> int:
    """A number as a value of the type that is wanted in its place."""
    if type == BOOL:
        raise problem("C113", "this is a number, where a condition is wanted", at)
    if type in FLOATS:
        with np.errstate(over="ignore"):
            rounded = float((np.float32 if type == "f32" else np.float16)(value))
        if not np.isfinite(rounded):
            raise problem("C116", f"this number does not fit into {type}", at)
        return names.builder.add("constant", type, value=rounded)
    if isinstance(value, float):
        message = f"this is a fraction, where a value of type {type} is wanted"
        raise problem("C161", message, at)
    limits = np.iinfo({"i": "int", "u": "uint"}[type[0]] + type[1:])
    if not int(limits.min) <= value <= int(limits.max):
        message = f"{value} does not fit into {type}"
        help = f"{type} holds {limits.min} to {limits.max}"
        raise problem("C116", message, at, help=help)
    return names.builder.add("constant", type, value=value)


def _check_number(expression: Expression, type: str) -> None:
    if type == BOOL:
        message = "this is a condition, where a value is wanted"
        help = "choose a value by it: `condition ? 1 : 0`"
        raise problem("C113", message, expression.span, help=help)


def _check_type(expression: Expression, found: str, wanted: str) -> None:
    if found != wanted:
        message = f"this is {_said(found)}, where {_said(wanted)} is wanted"
        if BOOL in (found, wanted):
            raise problem("C161", message, expression.span)
        written = f"{wanted}({show_expression(expression)})"
        raise problem("C161", message, expression.span, help=f"write `{written}`", fix=written)


def _said(type: str) -> str:
    return "a condition" if type == BOOL else f"{'a' if type[0] == 'u' else 'an'} {type}"
