"""Values made of frozen dataclasses and tuples, with some of their parts replaced."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import Any


def rewritten(piece: Any, change: Callable[[object], object]) -> Any:  # noqa: ANN401 - of any kind
    """The value with each part replaced by what `change` returns for it, from the outside in and in
    the order of fields; where that is None, the parts of the part are looked at. What has been
    replaced is not gone into; what has no part that is replaced stays the value that it is."""
    changed = change(piece)
    if changed is not None:
        return changed
    if isinstance(piece, tuple):
        parts = tuple(rewritten(part, change) for part in piece)
        same = all(map(is_, parts, piece))
        return piece if same else parts
    new = {}
    for name in _names(piece.__class__):
        part = getattr(piece, name)
        made = rewritten(part, change)
        if made is not part:
            new[name] = made
    return replace(piece, **new) if new else piece


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; nothing has them otherwise."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
