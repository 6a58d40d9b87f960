"""Positions of registers and tasks in the lists of a library.

Each slot has its own while they last: then registers are loaded, and tasks bound, before the
program begins. Slots that are never under way at the same time can have one in turn.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from itertools import count
from math import inf

from collc.base.values import dataclass
from collc.plan.slots import Slot

# A slot: section, chain and place in it; or a join: section, -1 and its number.
Key = tuple[int, int, int]
SECOND = 1000  # places further: the second register of a slot


@dataclass(frozen=True)
class Area:
    """PEs of a phase of a collective."""

    collective: int
    slot: Slot

    def meets(self, other: Area) -> bool:
        """Whether some PE is in both; of two collectives it is taken for true."""
        return self.collective != other.collective or self.slot.meets(other.slot)


@dataclass(frozen=True)
class User:
    """A slot that has a register: its phase, the classes of that which have it, and their PEs."""

    phase: int
    key: Key
    classes: frozenset[int]
    area: Area
    condition: str  # that a PE has it

    def meets(self, other: User) -> bool:
        """Whether some PE has both."""
        if self.phase == other.phase:
            return bool(self.classes & other.classes)
        return self.area.meets(other.area)

    def runs_beside(self, other: User) -> bool:
        """Whether both may be under way at the same time."""
        apart = self.phase != other.phase or self.key[0] != other.key[0]
        other_chain = self.key[1] != other.key[1]
        same_slot = abs(self.key[2] - other.key[2]) == SECOND
        return not apart and (other_chain or same_slot) and self.meets(other)


@dataclasses.dataclass
class Registers:
    """Registers of a target that has so many, and who has them."""

    available: int
    users: list[list[User]] = field(default_factory=list)

    def assigned(self, users: Iterable[User]) -> dict[Key, int]:
        """A position for each slot of a phase, the first ones first: one that no PE has for
        another slot; or, where there are no more, one that it has in turn. Where that leaves none
        for some, the first that nothing beside it has."""
        order = sorted(users, key=lambda one: (one.key[0], one.key[2], one.key[1]))
        before = [list(others) for others in self.users]
        found = self._positions(order, self._own)
        if len(self.users) > max(self.available, len(before)):
            self.users = before
            found = self._positions(order, self._first)
        return found

    def _positions(self, users: Sequence[User], position: Callable[[User], int]) -> dict[Key, int]:
        """A position for each."""
        found: dict[Key, int] = {}
        for user in users:
            at = position(user)
            if at == len(self.users):
                self.users.append([])
            self.users[at].append(user)
            found[user.key] = at
        return found

    def _own(self, user: User) -> int:
        """Where the fewest slots lose what was their own; one too many if none is left."""
        best, fewest = len(self.users), inf
        for at in self._free(user):
            others = self.users[at]
            met = [other for other in others if user.meets(other)]
            if not met:
                return at
            spoiled = sum(next(_shared_with(other, others), None) is None for other in met)
            if spoiled < fewest:
                best, fewest = at, spoiled
        return len(self.users) if len(self.users) < self.available else best

    def _first(self, user: User) -> int:
        """The first that can be had in turn; one more if none can."""
        return next(self._free(user), len(self.users))

    def _free(self, user: User) -> Iterator[int]:
        """The positions that nothing has while a slot does."""
        for at, others in enumerate(self.users):
            if not any(user.runs_beside(other) for other in others):
                yield at

    def conditions(self, phase: int, key: Key) -> tuple[str, ...]:
        """The conditions under which a PE has the register of a slot in turn with others."""
        for others in self.users:
            for user in others:
                if (user.phase, user.key) == (phase, key):
                    return tuple(other.condition for other in _shared_with(user, others))
        return ()


def _shared_with(user: User, others: Iterable[User]) -> Iterator[User]:
    """The slots that a PE has in turn with one."""
    return (other for other in others if other is not user and user.meets(other))


# What is to have a task in a phase: the classes that have it, and their PEs.
Asked = Mapping[Key, tuple[Set[int], Area]]


@dataclasses.dataclass
class Tasks:
    """Positions of tasks: those of slots of their own, of which there are at most `limit`; behind
    them those that slots have in turn, and behind these those of joins in turn. Where these begin a
    first pass over all phases finds out."""

    limit: int
    first_in_turn: int = 0
    first_of_joins: int = 0
    seen: int = 0
    own: int = 0
    in_turn: int = 0
    joins: int = 0
    users: dict[int, list[Area]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many positions there are."""
        return self.own + self.in_turn + self.joins

    def second_pass(self) -> Tasks:
        """One for the same users, which knows where all begin."""
        return Tasks(self.limit, self.own, self.own + self.in_turn)

    def within(self, limit: int) -> Tasks:
        """What the same users have of so many tasks of their own."""
        found = Tasks(limit)
        for users in self.asked:
            found.assigned(users)
        return found

    def assigned(self, asked: Asked) -> tuple[dict[Key, int], frozenset[Key]]:
        """The positions of what classes of PEs have in a phase, and what has them in turn."""
        self.asked.append(asked)
        users = {key: classes for key, (classes, _) in asked.items()}
        order = sorted(users, key=lambda key: (key[0], key[1] < 0, key[2], key[1]))
        own = order[: max(0, self.limit - self.seen)]
        self.seen += len(order)
        found = self._own({key: asked[key] for key in own})
        left = {key: users[key] for key in order if key not in found}
        return found | self._in_turn(left), frozenset(left)

    def _own(self, users: Asked) -> dict[Key, int]:
        """Those that no PE has both of may have the same one."""
        found: dict[Key, int] = {}
        for key, (classes, area) in users.items():
            taken = {found[one] for one in found if users[one][0] & classes}
            found[key] = self._position(area, taken)
        return found

    def _position(self, of: Area, taken: Set[int]) -> int:
        """The first position that none of the PEs has anything at."""

        def met(at: int) -> bool:
            others = self.users.get(at, [])
            return any(other.slot.phase != of.slot.phase and other.meets(of) for other in others)

        at = next(at for at in count() if at not in taken and not met(at))
        self.users.setdefault(at, []).append(of)
        self.own = max(self.own, at + 1)
        return at

    def _in_turn(self, users: Mapping[Key, Set[int]]) -> dict[Key, int]:
        """Operations of a chain have the same one, chains beside each other different ones."""
        chains: dict[tuple[int, int], set[int]] = {}
        for (section, chain, _), classes in users.items():
            if chain >= 0:
                chains.setdefault((section, chain), set()).update(classes)
        of_chain: dict[tuple[int, int], int] = {}
        for (section, chain), classes in chains.items():
            taken = {
                of_chain[one] for one in of_chain if one[0] == section and chains[one] & classes
            }
            of_chain[section, chain] = next(at for at in count() if at not in taken)
        self.in_turn = max([self.in_turn, *(at + 1 for at in of_chain.values())])
        self.joins = max([self.joins, *(key[2] + 1 for key in users if key[1] < 0)])
        return {
            (section, chain, number): self.first_of_joins + number
            if chain < 0
            else self.first_in_turn + of_chain[section, chain]
            for section, chain, number in users
        }
