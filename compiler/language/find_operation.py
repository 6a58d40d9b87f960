"""The operation that a contract names."""

from collections.abc import Mapping

from collc.language.problems import problem, suggest
from collc.language.syntax import Word
from collc.spec import ElementType, Operation, OwnOperation


def find_operation(
    word: Word, element: ElementType, own: Mapping[str, OwnOperation]
) -> Operation | OwnOperation:
    """The operation that a contract names, for elements of its type."""
    operations = {operation.value: operation for operation in Operation}
    if word.text in own:
        operation = own[word.text]
        if operation.element is not element:
            message = f"{word.text} combines {operation.element.value}, not {element.value}"
            place = (operation.span, "declared here")
            raise problem("C161", message, word.span, place, help=_instead(None, element))
        return operation
    if word.text not in operations:
        message = f"there is no operation called {word.text}"
        help = suggest(word.text, {**operations, **own}) or "declare it: `operation`"
        raise problem("C111", message, word.span, help=help)
    found = operations[word.text]
    if not found.combines(element):
        message = f"{word.text} combines {_combined_by(found)}, not {element.value}"
        raise problem("C161", message, word.span, help=_instead(found, element))
    return found


def _combined_by(operation: Operation) -> str:
    """What an operation is for, in words."""
    if operation.of_pairs:
        return "pairs of a value and an index"
    return "whole numbers" if operation.bitwise else "numbers"


def _instead(operation: Operation | None, element: ElementType) -> str:
    """What an operation is for, or what there is for elements that it, or one's own, is not for."""
    if element.pair_of:
        return f"for pairs there are {' and '.join(x.value for x in Operation if x.of_pairs)}"
    if operation is None:
        return "declare one for this type"
    types = (one for one in ElementType if operation.combines(one))
    return f"it is for {', '.join(one.value for one in types)}"


def usual_operation(element: ElementType) -> Operation:
    """An operation that combines elements of this type, for remedies."""
    return Operation.ADD if Operation.ADD.combines(element) else Operation.ARGMAX
