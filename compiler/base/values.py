"""Classes of values: `dataclass` as the standard library has it, made when it is first needed.

A command imports hundreds of classes, makes values of a few dozen, and compares those of fewer.
What `dataclasses` writes for each (constructor, comparison, hash) took a fifth of a second of every
command, so it is written when the first value of a class is made, or somebody asks for its fields;
comparison and hash when values are first compared.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:  # noqa: ANN401 - a class, or what decorates one
        """As the one of `dataclasses`; a mistake in a class is found by its first value."""
        if cls is None:
            return lambda of: dataclass(of, **options)
        stubs = _stubs_of(cls)
        assert not {*stubs} & {*vars(cls)}, f"{cls.__name__} makes its values itself"
        _waiting[cls] = options
        for name, stub in stubs.items():
            setattr(cls, name, stub)
        return cls


_waiting: dict[type, dict[str, bool]] = {}  # classes that have no constructor yet, with options
_making = RLock()  # held by the thread that makes a class: others wait for all of it


def _make(cls: type) -> None:
    """Let `dataclasses` write what a class, and those that it inherits from, have yet to get. A
    constructor is there all the time, since other threads may call it: the one that waits is
    replaced by the one that is made, which `dataclasses` would not do."""
    one: Any
    with _making:
        for one in reversed(cls.__mro__):
            options = _waiting.get(one)
            if options is None:
                continue
            _compared(one, **options)
            made = _constructor(one, frozen=options.get("frozen", False))
            del one.__setstate__
            one.__init__ = made
            del _waiting[one]


def _compared(cls: Any, *, frozen: bool = False, **options: bool) -> None:  # noqa: ANN401
    """Let `dataclasses` find the fields of a class, and write how its values are ordered. That they
    cannot be changed, and how they are shown, is the same for all classes: each function that is
    written takes a tenth of a millisecond, so that how values compare and hash is written later."""
    own = vars(cls)
    shown = options.pop("repr", True) and "__repr__" not in own
    compared = options.pop("eq", True)
    hashed = frozen and compared and own.get("__hash__") is None
    equal = own.get("__eq__")
    dataclasses.dataclass(**options, init=False, repr=False, eq=options.get("order", False))(cls)
    if compared:
        cls.__eq__ = equal or _written_later(cls, "__eq__", _EQUAL)
        cls.__hash__ = _written_later(cls, "__hash__", _HASHED) if hashed else own.get("__hash__")
    if shown:
        cls.__repr__ = _shown
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete


# As `dataclasses` writes them; `{0}` are the fields of a value, `{1}` those of the other one.
_EQUAL = """def __eq__(self, other):
    if other.__class__ is self.__class__:
        return ({0}) == ({1})
    return NotImplemented
"""
_HASHED = """def __hash__(self):
    return hash(({0}))
"""


def _written_later(cls: Any, name: str, text: str) -> Callable[..., Any]:  # noqa: ANN401
    """A method of a class that writes itself, of its fields that count, when it is first called."""

    def first(self: object, *other: object) -> Any:  # noqa: ANN401 - what the method gives
        kept = [
            one.name
            for one in dataclasses.fields(cls)
            if (one.compare if one.hash is None or name == "__eq__" else one.hash)
        ]
        of = ("".join(f"{whose}.{field}, " for field in kept) for whose in ("self", "other"))
        space: dict[str, Any] = {}
        exec(text.format(*of), space)
        setattr(cls, name, space[name])
        return space[name](self, *other)

    return first


@recursive_repr()
def _shown(value: Any) -> str:  # noqa: ANN401 - of any class
    """As `dataclasses` shows a value."""
    fields = (one.name for one in dataclasses.fields(value) if one.repr)
    listed = ", ".join(f"{name}={getattr(value, name)!r}" for name in fields)
    return f"{type(value).__qualname__}({listed})"


def _refuse_to_set(value: Any, name: str, _: object) -> None:  # noqa: ANN401 - of any class
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(value: Any, name: str) -> None:  # noqa: ANN401 - of any class
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _constructor(cls: Any, *, frozen: bool) -> Callable[..., None]:  # noqa: ANN401 - see `_stubs_of`
    """What `dataclasses` writes as a constructor: its parameters are the fields, with what they are
    if they are not given."""
    known: dict[str, object] = {"_put": object.__setattr__, "_unset": object()}
    parameters, lines = ["self"], []
    by_name: list[str] = []
    fields = dataclasses.fields(cls)
    for number, one in enumerate(fields):
        parameter, value = one.name, one.name
        if one.default is not dataclasses.MISSING:
            known[f"_default_{number}"] = one.default
            parameter += f"=_default_{number}"
        elif one.default_factory is not dataclasses.MISSING:
            known[f"_make_{number}"] = one.default_factory
            parameter += "=_unset"
            value = f"_make_{number}()" + f" if {value} is _unset else {value}" * one.init
        if one.init:
            (by_name if one.kw_only else parameters).append(parameter)
        elif value == one.name:
            continue  # it is set later, or the class has it
        lines.append(
            f"_put(self, {one.name!r}, {value})" if frozen else f"self.{one.name} = {value}"
        )
    lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "pass")
    given = ", ".join([*parameters, *(["*", *by_name] if by_name else [])])
    text = f"def outer({', '.join(known)}):\n    def __init__({given}):\n        "
    text += "\n        ".join(lines) + "\n    return __init__\n"
    space: dict[str, Any] = {}
    exec(text, space)  # as `dataclasses` does; names of fields are all that it has of a class
    made: Callable[..., None] = space["outer"](*known.values())
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {one.name: one.type for one in fields} | {"return": None}
    return made


def _stubs_of(cls: Any) -> dict[str, object]:  # noqa: ANN401 - a class, its constructor called as such
    """What a class has until then: the constructor that its first value is made by, what `pickle`
    fills a value with that comes from elsewhere, and where `dataclasses` looks for the fields."""

    def first(self: object, *given: object, **named: object) -> None:
        _make(type(self))
        cls.__init__(self, *given, **named)

    def first_read(self: object, state: dict[str, object]) -> None:
        _make(type(self))
        vars(self).update(state)

    return {"__init__": first, "__setstate__": first_read, "__dataclass_fields__": _Fields()}


class _Fields:
    """The fields of a class, which it gets when somebody looks."""

    def __get__(self, _: object, cls: Any) -> dict[str, dataclasses.Field[Any]]:  # noqa: ANN401
        _make(cls)
        found: dict[str, dataclasses.Field[Any]] = cls.__dataclass_fields__
        return found
