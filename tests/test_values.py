"""Classes of values are dataclasses, whoever needs them first."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from inspect import signature
from threading import Event, Thread
from time import sleep
from typing import Any, Generic, TypeVar

import pytest

from collc.base import values
from collc.base.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True)
class Base:
    x: int
    y: tuple[int, ...] = field(default_factory=tuple, compare=False)


@dataclass(frozen=True)
class Derived(Base):
    w: int = 3


class Plain(Derived):
    def __init__(self, x: int) -> None:
        super().__init__(x, w=x + 1)


@dataclass(frozen=True)
class Holder(Generic[T]):
    value: T


@dataclass(eq=False)
class Told:
    a: int = 0


@dataclass(frozen=True)
class Read:
    a: int


class Uncounted:
    names: list[str]
    start: int = 1
    seen: list[int] = field(default_factory=list)
    total: int = field(init=False)
    steps: list[int] = field(init=False, default_factory=list)
    place: str = field(kw_only=True)
    by: str = field(default="test", kw_only=True)

    def __post_init__(self) -> None:
        self.total = self.start + len(self.names)


Theirs = dataclasses.dataclass(type("Theirs", (), dict(vars(Uncounted))))
Counted: Any = dataclass(Uncounted)


def test_a_constructor_is_the_one_that_dataclasses_writes() -> None:
    one, other = Counted(["a"], place="here"), Counted(["a"], 2, [3], place="there", by="me")
    assert (one.total, one.start, one.seen, one.steps, one.by) == (2, 1, [], [], "test")
    assert (other.total, other.seen, other.place, other.by) == (3, [3], "there", "me")
    assert one.seen is not Counted([], place="").seen
    assert one.steps is not other.steps
    ours, theirs = (signature(of).parameters.values() for of in (Counted, Theirs))
    assert [(one.name, one.kind) for one in ours] == [(one.name, one.kind) for one in theirs]
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'place'"):
        Counted([])
    with pytest.raises(TypeError, match="unexpected keyword argument 'total'"):
        Counted([], total=3, place="")


def test_values_compare_hash_print_and_match_by_their_fields() -> None:
    assert Derived(1) == Derived(1, (2,))
    assert hash(Derived(1)) == hash(Derived(1, (2,)))
    assert repr(Derived(1)) == "Derived(x=1, y=(), w=3)"
    match Derived(4):
        case Derived(x, y, w):
            assert (x, y, w) == (4, (), 3)
    assert Holder[int](5).value == 5
    assert Told(3) != Told(3)


def test_fields_are_known_before_the_first_value() -> None:
    @dataclass(frozen=True)
    class Unmade(Base):
        w: int = 3

    assert is_dataclass(Unmade)
    assert [one.name for one in fields(Unmade)] == ["x", "y", "w"]
    assert replace(Unmade(1), w=4).w == 4


def test_a_class_that_inherits_may_have_its_own_constructor() -> None:
    assert (Plain(4).x, Plain(4).w) == (4, 5)


def test_values_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Base(1).x = 2


def test_arguments_are_asked_for_as_by_any_constructor() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Base()
    with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments but 5 were given"):
        Base(1, (), 3, 4)


def test_the_first_value_may_come_from_another_process() -> None:
    program = "import pickle, sys; from test_values import Read; import test_values\n"
    program += "sys.stdout.buffer.write(pickle.dumps(Read(7)))"
    command = [sys.executable, "-c", program]
    folder = __file__.rpartition("/")[0]
    other = subprocess.run(command, capture_output=True, check=True, cwd=folder).stdout
    one, two = pickle.loads(other), pickle.loads(other)
    assert one == two
    assert hash(one) == hash(two)
    with pytest.raises(FrozenInstanceError):
        one.a = 2


def test_threads_may_make_the_first_values_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Made(Base):
        w: int = 3

    begun, real, found = Event(), values.dataclasses.dataclass, []

    def slow(*given: object, **named: bool) -> object:
        begun.set()
        sleep(0.05)
        return real(*given, **named)

    def make(number: int) -> None:
        found.append((Made(number, w=4), fields(Made)))

    monkeypatch.setattr(values.dataclasses, "dataclass", slow)
    threads = [Thread(target=make, args=(number,)) for number in range(4)]
    threads[0].start()
    assert begun.wait(5)
    for thread in threads[1:]:
        sleep(0.03)
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.x for one, _ in found) == [0, 1, 2, 3]
    assert all(len(of) == 3 and hash(one) == hash(Made(one.x, w=4)) for one, of in found)


def test_a_class_that_makes_its_values_itself_is_none() -> None:
    with pytest.raises(AssertionError, match="Own makes its values itself"):

        @dataclass
        class Own:
            def __init__(self) -> None: ...


class Pair:
    left: int
    right: list[int] = field(default_factory=list, repr=False, compare=False)


class Hashed(Pair):
    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "hashed"


@pytest.mark.parametrize("of", [Pair, Hashed])
@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"frozen": True, "eq": False}])
def test_values_are_shown_compared_and_kept_as_those_of_dataclasses(
    of: type, options: dict[str, bool]
) -> None:
    """Of a class and of one with words and a hash of its own."""
    own = {**vars(Pair), **vars(of), "__annotations__": Pair.__annotations__}
    spaces = [{name: own[name] for name in own if name != "__dict__"} for _ in range(2)]
    ours: Any = dataclass(type(of.__name__, (), spaces[0]), **options)
    theirs: Any = dataclasses.dataclass(type(of.__name__, (), spaces[1]), **options)
    one, other = ours(3, [4]), theirs(3, [4])
    assert repr(one) == repr(other)
    assert (one == ours(3)) is (other == theirs(3))
    assert (one == other) is False
    assert (type(one).__hash__ is None) is (type(other).__hash__ is None)
    if options == {"frozen": True}:
        assert hash(one) == hash(other) == hash(ours(3))
    for value in (one, other):
        if options.get("frozen"):
            with pytest.raises(FrozenInstanceError, match="cannot assign to field 'left'"):
                value.left = 4
            with pytest.raises(FrozenInstanceError, match="cannot delete field 'left'"):
                del value.left
        else:
            value.left = 4
            assert value.left == 4


class Kept:
    a: int
    b: int = field(default=0, compare=False)
    c: int = field(default=0, hash=False)


OWN: dict[str, dict[str, object]] = {
    "nothing of its own": {},
    "a hash": {"__hash__": lambda _: 7},
    "an equality": {"__eq__": lambda one, other: one.a == other},
}


def compared(cls: Any) -> Iterator[object]:
    """How values of a class compare and hash."""
    one, alike, other, kept = cls(1), cls(1, 2), cls(2), cls(1, 0, 3)
    yield from (one == two for two in (one, alike, other, kept, 1))
    yield one == type("Derived", (cls,), {})(1)
    for question in (
        lambda: hash(one) == hash(alike),
        lambda: hash(one) == hash(kept),
        lambda: one < other,
    ):
        try:
            yield question()
        except TypeError:
            yield "none"


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"eq": False}, {"order": True}], ids=str)
def test_values_compare_and_hash_as_those_that_dataclasses_makes(
    options: dict[str, bool], own: str
) -> None:
    ours, theirs = (
        list(compared(by(**options)(type("Made", (), dict(vars(Kept)) | OWN[own]))))
        for by in (dataclass, dataclasses.dataclass)
    )
    assert ours == theirs
