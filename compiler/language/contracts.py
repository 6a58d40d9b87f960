"""Contracts of the user's own: what every rank of a line has before, and what it has after.

A contract is worked out for the line, the numbers and the length that it is used with, and checked
to be one that can be kept: only what somebody has before is promised, each contribution once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from collc.base.columns import Columns, Ints, joined, repeated_rows
from collc.base.diagnostics import Edit
from collc.base.values import dataclass
from collc.language.declarations import Declarations, as_used, in_full, values_of
from collc.language.each import (
    Remedy,
    check_required,
    check_slice,
    ranks_are,
    ranks_of,
    refuse_first,
    restricted,
    slices_of,
    slices_taken,
    with_locals,
)
from collc.language.evaluation import numbers_for_all
from collc.language.kinds import BY_WORD, undeclared
from collc.language.lines import Line
from collc.language.problems import ProblemError, nearest, problem
from collc.language.scope import Scope
from collc.language.syntax import ContractDecl, HeldDecl, OwnContractDecl, Word
from collc.spec import Contract, ElementType, Operation, OwnOperation
from collc.spec.custom_contract import NO_HOLDINGS, Holdings, OwnContract
from collc.spec.exchange import Slicing

MAX_PROMISES = 4_194_304  # slices of ranks, of one contract


@dataclass(frozen=True)
class _Slices(Columns):
    """Holdings slice by slice."""

    holder: Ints
    into: Ints
    whose: Ints
    slice: Ints

    def in_order(self) -> _Slices:
        """The rows by rank and by the slice that they are in; what is in one stands together."""
        return self.chosen(np.lexsort((self.slice, self.whose, self.into, self.holder)))


@dataclass(eq=False)
class Contracts(Declarations[OwnContractDecl]):
    """All contracts of a file."""

    def with_promise(
        self, used: ContractDecl, contract: Contract, line: Line, axis: str, scope: Scope
    ) -> Contract:
        """The contract of a collective on a line with what it says; raises `ProblemError`."""
        self.check_whole(used.kind)
        declaration = self.declared[used.kind.text]
        values = values_of(declaration, used.arguments, (line.length,), scope, used.span)
        try:
            own = self._worked_out(declaration, values, line, axis)
            _check_promise(declaration, own, contract)
        except ProblemError as error:
            inside = f"in {in_full(declaration, values)}"
            raise error.with_note(used.span, inside) from None
        return replace(contract, own=replace(own, span=declaration.span))

    def _worked_out(
        self, declaration: OwnContractDecl, values: tuple[int, ...], line: Line, axis: str
    ) -> OwnContract:
        around = with_locals(declaration.locals, self.scope_of(declaration, values))
        check_required(declaration, values, around)
        slices = slices_of(declaration, around)
        before, after = (
            [_holdings(one, line.length, slices, around) for one in declaration.held if is_(one)]
            for is_ in (_is_before, _is_after)
        )
        return OwnContract(
            text=as_used(declaration, values),
            ranks=line.length,
            slices=slices,
            given=joined(before) if before else None,
            promised=joined([NO_HOLDINGS, *after]),
            axis=axis,
            order=line.word,
            places=line.places,
            span=declaration.span,
        )


def _is_before(held: HeldDecl) -> bool:
    return held.when.text == "before"


def _is_after(held: HeldDecl) -> bool:
    return not _is_before(held)


def _holdings(held: HeldDecl, ranks: int, slices: int, around: Scope) -> Holdings:
    """What one line says, rank by rank."""
    seen = ranks_of(held, ranks, around)
    if seen.size:
        first, count = slices_taken(held.part, slices, seen)
        some = count > 0
        seen, first, count = seen.only(some), first[some], count[some]
    if not seen.size:
        return NO_HOLDINGS
    holder = seen.arrays[held.rank.text]
    whose = numbers_for_all(held.whose, seen)
    outside = (whose < 0) | (whose >= ranks)
    refuse_first(
        outside,
        lambda i: f"rank {holder[i]} is to have what is rank {whose[i]}'s: {ranks_are(ranks)}",
        ("C151", held.whose.span, restricted(held, outside, seen)),
        seen,
    )
    check_slice(first, slices, held.span if held.part is None else held.part.span, seen)
    into = first
    if held.into is not None:
        into = numbers_for_all(held.into, seen)
        check_slice(into, slices, held.into.span, seen)
    if _is_before(held):
        own, name = held.whose.span, held.rank.text
        remedy = Remedy(f"write `of {name}`", (Edit(own, name),))
        if (whose == holder).all():
            remedy = Remedy("leave `as slice` out")
        refuse_first(
            (whose != holder) | (into != first),
            lambda i: (
                f"before, rank {holder[i]} has slices of its own vector only, in their places"
            ),
            ("C167", held.whose.span, remedy),
            seen,
        )
    columns = (holder, whose, first, into, count)
    return Holdings(*(column.astype(np.int32) for column in columns))


def _check_promise(declaration: OwnContractDecl, own: OwnContract, contract: Contract) -> None:
    """C167, C155, C147: what is promised can be kept."""
    if int(own.promised.count.sum()) > MAX_PROMISES:
        message = f"these are more than {MAX_PROMISES} slices of ranks"
        raise problem("C157", message, declaration.name.span)
    promised = _by_slice(own.promised).in_order()
    _check_given(declaration, own, promised)
    same = (promised.holder[1:] == promised.holder[:-1]) & (promised.into[1:] == promised.into[:-1])
    moved = same & (promised.slice[1:] != promised.slice[:-1])
    twice = same & ~moved & (promised.whose[1:] == promised.whose[:-1])
    if moved.any():
        i = int(np.flatnonzero(moved)[0])
        message = (
            f"{_place(promised, i)} is to have slice {promised.slice[i]} of rank "
            f"{promised.whose[i]} and slice {promised.slice[i + 1]} of rank {promised.whose[i + 1]}"
        )
        help = "slices that are combined have the same number in every vector"
        raise problem("C167", message, declaration.name.span, help=help)
    if twice.any():
        i = int(np.flatnonzero(twice)[0])
        message = f"{_place(promised, i)} is to have the contribution of rank {promised.whose[i]} "
        message += "twice"
        raise problem(
            "C167",
            message,
            declaration.name.span,
            help="exclude this rank from one of the lines by `where`",
        )
    if same.any() and contract.operation is None:
        i = int(np.flatnonzero(same)[0])
        message = f"{own.text} needs an operation: {_place(promised, i)} is to have what rank "
        message += f"{promised.whose[i]} and rank {promised.whose[i + 1]} have"
        usual = usual_operation(contract.element).value
        help = f"write ({contract.buffer}: {contract.element.value}[...], {usual})"
        raise problem("C147", message, contract.span, help=help)
    _check_lengths(own, promised, contract)


def _place(promised: _Slices, i: int) -> str:
    return f"slice {promised.into[i]} of rank {promised.holder[i]}"


def _by_slice(held: Holdings) -> _Slices:
    """Every slice by itself."""
    row, within = repeated_rows(held.count)
    holder, whose = held.holder[row].astype(np.int64), held.whose[row].astype(np.int64)
    return _Slices(holder, held.into[row] + within, whose, held.slice[row] + within)


def _check_given(declaration: OwnContractDecl, own: OwnContract, promised: _Slices) -> None:
    """C167: promised is only what somebody has."""
    if own.given is None:
        return
    given = _by_slice(own.given)
    has = np.unique(given.holder * own.slices + given.slice)
    wrong = np.flatnonzero(~np.isin(promised.whose * own.slices + promised.slice, has))
    if len(wrong):
        i = int(wrong[0])
        message = f"rank {promised.holder[i]} is to have slice {promised.slice[i]} of rank "
        message += f"{promised.whose[i]}, who does not have it before"
        help = "say so: `before each r : r has slice E of r`; without `before`, all have all"
        raise problem("C167", message, declaration.name.span, help=help)


def _check_lengths(own: OwnContract, promised: _Slices, contract: Contract) -> None:
    """C155: slices that change places are of one length."""
    slicing = Slicing(own.slices, contract.length)
    bounds = np.arange(own.slices + 1, dtype=np.int64) * slicing.length // slicing.count
    sizes = np.diff(bounds)
    wrong = np.flatnonzero(sizes[promised.slice] != sizes[promised.into])
    if len(wrong):
        i = int(wrong[0])
        message = (
            f"{own.text} puts slice {promised.slice[i]} of {sizes[promised.slice[i]]} elements "
        )
        message += f"as slice {promised.into[i]} of {sizes[promised.into[i]]}"
        more = own.slices * (contract.length // own.slices + 1)
        help = f"make the length a multiple of {own.slices}, the number of slices, such as {more}"
        fix = (Edit(contract.length_span, str(more)),) if contract.length_span else ()
        raise problem("C155", message, contract.span, help=help, fix=fix)


_MEANS = ("mean", "avg", "average")


def find_operation(
    word: Word, element: ElementType, own: Mapping[str, OwnOperation], others: Mapping[str, str]
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
        fitting = [name for name, one in operations.items() if one.combines(element)]
        fitting += [name for name, one in own.items() if one.element is element]
        if word.text.lower() in _MEANS and "add" in fitting:
            message = f"there is no operation called {word.text}"
            help = "for a mean combine by `add`, and let the kernel scale the result"
            raise problem("C111", message, word.span, help=help, fix="add")
        near = nearest(word.text, fitting)
        known = fitting if near else {**operations, **own}
        raise undeclared(BY_WORD["operation"], word, known, others)
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
    """What an operation is for, or the operations for elements that it is not for."""
    if element.pair_of:
        return f"for pairs there are {' and '.join(x.value for x in Operation if x.of_pairs)}"
    if operation is None:
        return "declare one for this type"
    types = (one for one in ElementType if operation.combines(one))
    return f"it is for {', '.join(one.value for one in types)}"


def usual_operation(element: ElementType) -> Operation:
    """An operation that combines elements of this type, for remedies."""
    return Operation.ADD if Operation.ADD.combines(element) else Operation.ARGMAX
