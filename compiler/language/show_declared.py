"""Trees, algorithms, contracts and operations as the language would declare them.

One declaration stands for all uses of a name: a case for each number of ranks and values, in which
every rank, transfer and promise is written out.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from collc.language.shapes import Children
from collc.spec import Algorithm, Contract, ContractKind, OwnOperation, Tree
from collc.spec.custom_contract import Holdings, OwnContract
from collc.spec.exchange import Moves
from collc.spec.formula import ARITHMETIC, BITS, COMPARISONS, FLOATS, LOGIC, SHIFTS, Node, uses

U = TypeVar("U", Tree, Algorithm, OwnContract)
Cut = TypeVar("Cut", Algorithm, OwnContract)  # what is said for slices of a vector


def values_of(text: str) -> dict[str, str]:
    """The numbers a tree or an algorithm was given: `butterfly(G = 3)` -> {"G": "3"}."""
    return dict(re.findall(r"(\w+) = (-?\d+)", text))


def name_of(use: Tree | Algorithm | OwnContract) -> str:
    """What it is called, without its numbers."""
    return use.text.partition("(")[0]


def show_tree(trees: Sequence[Tree]) -> str:
    """The tree that all of these are."""
    head, cases = _cases(trees)
    *earlier, (_, last) = cases.items()
    body = "".join(f"{condition} ? {_literal(tree.children)} : " for condition, tree in earlier)
    return f"tree {head} = {body}{_literal(last.children)}"


def with_root(texts: Sequence[str], root: str) -> str:
    """An algorithm for each root, from the first one on, with the root by its name:
    `gather_behind(root = r)`."""
    values = [values_of(text) for text in texts]
    inside = (
        f"{word} = {root if all(one[word] == str(r) for r, one in enumerate(values)) else value}"
        for word, value in values[0].items()
    )
    name = texts[0].partition("(")[0]
    return f"{name}({', '.join(inside)})" if values[0] else name


def show_algorithm(algorithms: Sequence[Algorithm]) -> str:
    """The algorithm that all of these are: steps for each number of ranks and values."""
    head, rank, cases = _of_slices(algorithms)
    lines = [f"algorithm {head} {{"]
    for use, guard in cases:
        for moves in use.steps:
            lines += ["    step {", *_transfers(moves, rank, guard), "    }"]
    return "\n".join([*lines, "}"])


def show_contract(contracts: Sequence[OwnContract]) -> str:
    """The contract that all of these are, with what it says on the lines that it is used on."""
    head, rank, cases = _of_slices(contracts)
    lines = [f"contract {head} {{"]
    for use, guard in cases:
        for when, held in (("before", use.given), ("after", use.promised)):
            lines += _held(when, held, rank, guard) if held is not None else ()
            if held is not None and not len(held):
                lines.append(f"    {when} each {rank} where {rank} < 0 : {rank} has {rank}")
    return "\n".join([*lines, "}"])


def show_promise(contract: Contract, most: int) -> str:
    """`allreduce(x: f32[n <= 64], add) into y`: what a contract says of its buffers, of which a
    dynamic length has so many elements at most."""
    called, _, numbers = contract.name.removesuffix(")").partition("(")
    inside = f"{_buffer(contract, most)}{', ' if numbers else ''}{numbers}"
    return f"{called}({inside}){_into(contract)}"


def _buffer(contract: Contract, most: int) -> str:
    if contract.kind is ContractKind.BARRIER:
        return ""
    operation = f", {contract.operation.value}" if contract.operation else ""
    given = contract.run_length
    length = f"{given.name} <= {most}" if given else str(contract.length)
    apart = _by(contract.stride)
    return f"{contract.buffer}: {contract.element.value}[{length}]{apart}{operation}"


def _into(contract: Contract) -> str:
    result = contract.result
    return f" into {result.name}{_by(result.stride)}" if result else ""


def _by(stride: int) -> str:
    return f" by {stride}" if stride > 1 else ""


def _cases(uses: Sequence[U]) -> tuple[str, dict[str, U]]:
    """The name and the parameters of a declaration for all uses of a name, and each different use
    by the condition that leads to it."""
    given: list[dict[str, str]] = [values_of(use.text) for use in uses]
    ranks = _free_word("n", given[0])
    cases: dict[str, U] = {}
    for use, values in zip(uses, given, strict=True):
        count = len(use.children) if isinstance(use, Tree) else use.ranks
        wanted = {ranks: str(count), **values}
        cases[" and ".join(f"{word} == {value}" for word, value in wanted.items())] = use
    return f"{name_of(uses[0])}({', '.join((ranks, *given[0]))})", cases


def _of_slices(uses: Sequence[Cut]) -> tuple[str, str, list[tuple[Cut, str]]]:
    """What follows the keyword of a declaration, the name of a rank within it, and each
    different use with the condition that leads to it, if there are others."""
    head, cases = _cases(uses)
    *earlier, (_, last) = cases.items()
    slices = "".join(f"{c} ? {use.slices} : " for c, use in earlier) + str(last.slices)
    guarded = [(use, f" and {c}" if len(cases) > 1 else "") for c, use in cases.items()]
    return f"{head} slices {slices}", _free_word("r", values_of(uses[0].text)), guarded


def _free_word(word: str, taken: dict[str, str]) -> str:
    """The word, or one like it that is not taken."""
    while word in taken:
        word += "_"
    return word


def _literal(children: Children) -> str:
    """Write a tree out by hand."""
    written: list[str] = []
    pending: list[int | str] = [0]
    while pending:
        here = pending.pop()
        if isinstance(here, str):
            written.append(here)
            continue
        written.append(str(here))
        below = children[here]
        if below or here == 0:
            inside: list[int | str] = [" <- ["]
            for index, child in enumerate(below):
                inside += [", ", child] if index else [child]
            pending.extend(reversed([*inside, "]"]))
    return "".join(written)


def _transfers(moves: Moves, rank: str, guard: str) -> Iterator[str]:
    for i in range(len(moves)):
        first, count, into = moves.slice[i], moves.count[i], moves.into[i]
        what = f"slice {first}" if count == 1 else f"slices {first} .. {first + count - 1}"
        arrow = "=>" if moves.combines[i] else "->"
        placed = f" as slice {into}" if into != first else ""
        head = f"each {rank} where {rank} == {moves.source[i]}{guard}"
        yield f"        {head} : {what}  {rank} {arrow} {moves.destination[i]}{placed}"


def _held(when: str, held: Holdings, rank: str, guard: str) -> Iterator[str]:
    columns = (held.holder, held.whose, held.slice, held.into, held.count)
    for holder, whose, slice_, into, count in zip(*(c.tolist() for c in columns), strict=True):
        head = f"    {when} each {rank} where {rank} == {holder}{guard} : {rank} has"
        what = f"slice {slice_}" if count == 1 else f"slices {slice_} .. {slice_ + count - 1}"
        placed = f" as slice {into}" if into != slice_ else ""
        yield f"{head} {what} of {whose}{placed}"


_LEAVES = ("own", "received", "constant")
_SIGNS = {**dict(zip(ARITHMETIC, "+-*", strict=True)), **{s: s for s in (*COMPARISONS, *LOGIC)}}
_SPELLING = {
    **{kind: f"({{0}} {sign} {{1}})" for kind, sign in _SIGNS.items()},
    **{kind: f"{kind}({{0}}, {{1}})" for kind in (*BITS, "min", "max")},
    **{kind: f"{kind}({{0}}, {{number}})" for kind in SHIFTS},
    "own": "{own}",
    "received": "{received}",
    "constant": "{type}({number})",
    "negate": "(-{0})",
    "not": "(not {0})",
    "choose": "({0} ? {1} : {2})",
    "cast": "{type}({0})",
}


def show_operation(operation: OwnOperation) -> str:
    """The declaration; parts that are used more than once have names."""
    own, received = operation.operands
    promise = " commutative" * operation.commutative
    promise += " assume associative" * operation.assumed_associative
    head = f"operation {operation.value}({own}, {received}: {operation.element.value}){promise}"
    named, texts = list[str](), list[str]()
    counts, names = uses(operation.formula), _free_names(operation)
    for index, node in enumerate(operation.formula):
        text = _text(node, [texts[i] for i in node.of], operation)
        if counts[index] > 1 and node.kind not in _LEAVES:
            named.append(f"{next(names)} = {text}")
            text = named[-1].partition(" ")[0]
        texts.append(text)
    where = f" where {', '.join(named)}" if named else ""
    return f"{head} = {texts[-1]}{where}"


def _free_names(operation: OwnOperation) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"part_{number}" not in operation.operands:
            yield f"part_{number}"


def _text(node: Node, of: list[str], operation: OwnOperation) -> str:
    own, received = operation.operands
    return _SPELLING[node.kind].format(
        *of, own=own, received=received, type=node.type, number=_number(node)
    )


def _number(node: Node) -> str:
    if node.type not in FLOATS:
        return str(int(node.value))
    text = repr(float(node.value))
    return str(int(node.value)) if text.endswith(".0") else text
