"""Values made of frozen dataclasses and tuples, with some of their parts replaced."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any


def rewritten(piece: Any, change: Callable[[object], object]) -> Any:  # noqa: ANN401 - of any kind
    """The value with each part replaced by what `change` returns for it, from the outside in and in
    the order of fields; where that is None, the parts of the part are looked at. What has been
    replaced is not gone into."""
    changed = change(piece)
    if changed is not None:
        return changed
    if isinstance(piece, tuple):
        return tuple(rewritten(part, change) for part in piece)
    if is_dataclass(piece) and not isinstance(piece, type):
        parts = {f.name: rewritten(getattr(piece, f.name), change) for f in fields(piece)}
        return replace(piece, **parts)
    return piece
