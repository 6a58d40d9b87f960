"""Expressions as a user would write them, with as few parentheses as the grammar needs."""

from collc.language import syntax
from collc.language.syntax import Expression

_ATOM, _NEGATIVE, _COMPARISON, _NOT, _CONDITIONAL = 8, 7, 4, 3, 0
_BINDS = {"or": 1, "and": 2, "+": 5, "-": 5, "*": 6, "div": 6, "mod": 6}


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
            return _node(root), _ATOM
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


def _node(node: syntax.Node) -> str:
    below = ", ".join(map(_node, node.children))
    return f"{node.rank} <- [{below}]" if node.children else str(node.rank)
