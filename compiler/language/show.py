"""A Spec as the `.coll` text that it came from: a program whose elaboration is the same Spec again,
but for the places.

Steps and calls are made as syntax, which `printer` writes. One declaration stands for all uses of a
tree, an algorithm or a contract: a case for each number of ranks and values, in which every rank,
transfer and promise is written out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar, cast

from collc.base.grids import Grid
from collc.language import syntax
from collc.language.clauses import (
    NOWHERE,
    Use,
    below,
    broadcast,
    bypassing,
    number,
    order,
    reduce,
    reserve,
    run,
    together,
    within_colors,
    word,
)
from collc.language.expressions import AUTO
from collc.language.kinds import HILBERT
from collc.language.limits import RESOURCES
from collc.language.prelude import prelude_kinds
from collc.language.printer import show, show_tree
from collc.language.syntax import Clause, StepClause, Word
from collc.spec import (
    Algorithm,
    BroadcastStep,
    Collective,
    Contract,
    ContractKind,
    Order,
    OwnOperation,
    Parameter,
    Reconfigure,
    ReduceStep,
    Reserved,
    RootChoice,
    RunStep,
    Selection,
    Share,
    Spec,
    Step,
    Tree,
)
from collc.spec.custom_contract import Holdings, OwnContract
from collc.spec.exchange import Moves
from collc.spec.formula import ARITHMETIC, BITS, COMPARISONS, FLOATS, LOGIC, SHIFTS, Node, uses
from collc.spec.steps import axis_of

Cut = TypeVar("Cut", Algorithm, OwnContract)  # what is said for slices of a vector
U = TypeVar("U", Tree, Algorithm, OwnContract)


def show_spec(spec: Spec) -> str:
    """Write a Spec as a program; trees that are not the prelude's are written out."""
    lines = [f"target {spec.target}"]
    lines += [f"param {p.name} = {_integer(p)}" for p in spec.parameters]
    lines += dict.fromkeys(line for c in spec.collectives for line in _grids(c.grid))
    lines += dict.fromkeys(_paths(spec))
    lines += _trees(spec)
    operations = dict.fromkeys(collective.contract.operation for collective in spec.collectives)
    lines += [_operation(one) for one in operations if isinstance(one, OwnOperation)]
    own = [c.contract.own for c in spec.collectives if c.contract.own]
    lines += map(_contract, _by_name(own))
    selections = spec.program.selections if spec.program else ()
    chosen = {name: one for one in selections for name in one.names}
    rooted = {
        name: one for one in (spec.program.rooted if spec.program else ()) for name in one.names
    }
    alternatives = {collective.name: collective for collective in spec.collectives}
    for collective in spec.collectives:
        one, with_root = chosen.get(collective.name), rooted.get(collective.name)
        if with_root is not None:
            if collective.name == with_root.names[0]:
                lines += _collective(collective, with_root.name, _rooted_steps(with_root))
        elif one is None:
            lines += _collective(collective, collective.name, _steps(collective))
        elif collective.name == one.names[0]:
            steps = _steps(collective)
            if one.names != (one.name,):
                steps = iter((_choice(one, [alternatives[name] for name in one.names]),))
            lines += _collective(collective, one.name, steps)
    return "\n".join([*lines, show(_program(spec))]) + "\n"


def _rooted_steps(choice: RootChoice) -> Iterator[Clause]:
    """The steps with the root by its name."""
    first, *_ = choice.by_root
    orders = _orders(first)
    if orders:
        yield order(*orders)
    said = below(choice.root, choice.ranks)
    for index, step in enumerate(first.steps):
        if isinstance(step, BroadcastStep):
            yield syntax.BroadcastClause(said, then=index > 0, span=NOWHERE)
        elif isinstance(step, ReduceStep):
            yield replace(reduce_of(step, ""), to=said, then=index > 0)
        else:
            runs = (one.steps[index] for one in choice.by_root)
            texts = [run.algorithm.text for run in runs if isinstance(run, RunStep)]
            last = index == len(first.steps) - 1
            clause = run(with_root(texts, choice.root), 0, first.contract.kind.root_word)
            end = clause.end if last else None
            yield replace(clause, end=end, root=said if last else None, then=index > 0)


def _grids(grid: Grid) -> Iterator[str]:
    """Declare the grid of a collective, behind the one that it is a part of."""
    area, whole, site = grid, grid.whole, grid.site
    if site is not None and site.area is not None:
        area, site = site.area, site.area.site
    yield f"grid {whole.name} = {whole.width} x {whole.height}"
    if site is not None:
        columns, rows = _range(site.x, area.width), _range(site.y, area.height)
        yield f"grid {area.name} = {whole.name}[{columns}, {rows}]"


def _range(first: int, count: int) -> str:
    return f"{first} .. {first + count - 1}" if count > 1 else str(first)


def _program(spec: Spec) -> syntax.ProgramDecl:
    """`program { repeat 3 { a b } within colors <= 2 }`."""
    program = spec.program
    if program is None:
        return syntax.ProgramDecl((word(spec.collectives[0].name),), span=NOWHERE)
    turns = ([program.calls[index] for index in turn] for turn in program.turns)
    items: list[syntax.ProgramItem] = [together(*names) for names in turns]
    if program.rounds > 1:
        calls = cast(tuple[Word | syntax.TogetherDecl, ...], tuple(items))
        items = [syntax.RepeatDecl(number(program.rounds), calls, span=NOWHERE)]
    items += _limits(program.colors, program.reserved)
    if program.reconfigure is not Reconfigure.AUTO:
        items.append(syntax.ReconfigureClause(word(program.reconfigure.value), span=NOWHERE))
    return syntax.ProgramDecl(tuple(items), span=NOWHERE)


def _limits(
    colors: int | None, reserved: Reserved
) -> Iterator[syntax.WithinClause | syntax.ReserveClause]:
    """`within colors <= 2`, `reserve colors 2, colors 3, tasks 8`."""
    if colors is not None:
        yield within_colors(colors)
    kept = [(resource, n) for resource in RESOURCES for n in getattr(reserved, resource)]
    kept += [] if reserved.kept_bytes is None else [("memory", reserved.kept_bytes)]
    if kept:
        yield reserve(kept)


def show_steps(collective: Collective) -> str:
    """The order and the steps of a collective in a line, as they would be written."""
    orders = _orders(collective)
    usual = {Order.WEST_TO_EAST.value, Order.NORTH_TO_SOUTH.value}
    unusual = set(orders) - usual or collective.counts_along == "y"
    order = f"order {', '.join(orders)} " if unusual else ""
    return order + " then ".join(step_texts(collective))


def _integer(parameter: Parameter) -> str:
    least = -(2**63)  # its digits alone would not fit
    return f"{least + 1} - 1" if parameter.value == least else str(parameter.value)


def _steps(collective: Collective) -> Iterator[Clause]:
    """The order and the steps."""
    orders = _orders(collective)
    if orders:
        yield order(*orders)
    for index, step in enumerate(steps_of(collective)):
        yield replace(step, then=index > 0)


def _choice(selection: Selection, alternatives: list[Collective]) -> syntax.SelectClause:
    """`select by n { n <= 8: ... }`."""
    name = word(selection.length.name)
    limits = [AUTO if most is None else most for most in selection.limits]
    parts = [
        syntax.AlternativeDecl(name, number(most), tuple(_steps(one)), span=NOWHERE)
        for most, one in zip(limits, alternatives, strict=False)
    ]
    parts.append(syntax.AlternativeDecl(None, None, tuple(_steps(alternatives[-1])), span=NOWHERE))
    return syntax.SelectClause(name, tuple(parts), span=NOWHERE)


def _collective(collective: Collective, name: str, steps: Iterable[Clause]) -> Iterator[str]:
    promise = show_promise(collective.contract, collective.contract.held)
    yield f"collective {name} = {promise} on {collective.grid.name} {{"
    clauses: list[Clause] = []
    if collective.fixed is not None:
        clauses.append(syntax.FixedClause(span=NOWHERE))
    clauses += [*steps, *_limits(collective.limits.colors, collective.limits.reserved)]
    for clause in clauses:
        yield from (f"    {line}" for line in show(clause).split("\n"))
    for expectation in collective.expectations:
        yield f"    expect {expectation.text}"
    yield "}"


def _orders(collective: Collective) -> tuple[str, ...]:
    """The orders that it names, each once."""
    return tuple(dict.fromkeys(_every_order(collective)))


def _every_order(collective: Collective) -> Iterator[str]:
    if collective.path is not None:
        yield collective.path.word
        return
    if collective.contract.own is not None:
        yield collective.contract.own.order
    for step in sorted(collective.steps, key=partial(_is_named_later, collective)):
        if isinstance(step, ReduceStep):
            yield step.order.value
        elif isinstance(step, RunStep):
            yield step.order


def _is_named_later(collective: Collective, step: Step) -> bool:
    """Whether a step goes across the lines along which ranks are counted; their order is first."""
    by_slices = collective.contract.kind.by_slices
    return by_slices and isinstance(step, RunStep) and step.axis != collective.counts_along


def step_texts(collective: Collective) -> Iterator[str]:
    """The steps, as they would be written."""
    return map(show, steps_of(collective))


def steps_of(collective: Collective) -> Iterator[StepClause]:
    """The steps as clauses."""
    reduced: set[str] = set()  # axes along which one rank of a line has what there is of it
    for step in collective.steps:
        if isinstance(step, BroadcastStep):
            reduced.clear()
            yield broadcast((step.x, step.y))
        elif isinstance(step, RunStep):
            across = collective.grid.lines(step.axis)
            yield run(
                use_of(step.algorithm.text),
                collective.root or None,
                collective.contract.kind.root_word,
                along=_lines_by(step.axis, collective, every=step.lines == (0, across - 1)),
                on_slices=step.share is Share.OWN_BLOCK and not collective.contract.kind.by_slices,
                simd=step.wide,
            )
        else:
            axis = axis_of(step.order)
            lines = _lines_by(axis, collective, every=reduced <= {axis})
            reduced.add(axis)
            yield reduce_of(step, lines)


def _lines_by(axis: str, collective: Collective, *, every: bool) -> str:
    """Which lines a step goes along, where there are several."""
    if collective.grid.is_line or collective.path is not None:
        return ""
    return f"{'row' if axis == 'x' else 'column'}{'s' * every}"


def reduce_of(step: ReduceStep, along: str) -> syntax.ReduceClause:
    """A reduction; of two different trees, that of the lower ranks first."""
    tree = use_of(step.tree.text)
    if step.skips:
        return reduce(bypassing(tree), step.root, along)
    if step.far is None or step.far.text == step.tree.text:
        return reduce(tree, step.root, along)
    own_is_lower = len(step.tree.children) == step.root + 1
    both = (tree, use_of(step.far.text)) if own_is_lower else (use_of(step.far.text), tree)
    return reduce(both[0], step.root, along, both[1])


def _paths(spec: Spec) -> Iterator[str]:
    """Declare the orders that the prelude does not have, PE by PE."""
    for path in (c.path for c in spec.collectives if c.path is not None):
        name, values = path.word.partition("(")[0], values_of(path.word)
        if name == HILBERT or name in prelude_kinds():
            continue
        sides = ["W", "H"]
        while any(side in values for side in sides):
            sides = [f"{side}_" for side in sides]
        parameters = f"({', '.join((*sides, *values))})" if values else ""
        yield f"order {name}{parameters} = [{', '.join(map(str, path.places))}]"


def _trees(spec: Spec) -> Iterator[str]:
    """Declare the trees and algorithms that the prelude does not have, as they are on their lines,
    one for each name."""
    rooted = spec.program.rooted if spec.program else ()
    every = (*spec.collectives, *(one for choice in rooted for one in choice.by_root))
    steps = [step for collective in every for step in collective.steps]
    both = [(s.tree, s.far) for s in steps if isinstance(s, ReduceStep)]
    yield from map(_tree, _by_name([tree for pair in both for tree in pair if tree]))
    algorithms = [step.algorithm for step in steps if isinstance(step, RunStep)]
    yield from map(_algorithm, _by_name(algorithms))


def _by_name(uses: Iterable[U]) -> Iterable[list[U]]:
    """What is used under each name that is not the prelude's."""
    found: dict[str, list[U]] = {}
    for use in uses:
        if name_of(use) not in prelude_kinds():
            found.setdefault(name_of(use), []).append(use)
    return found.values()


# Trees, algorithms, contracts and operations, each as one declaration for all its uses.


def values_of(text: str) -> dict[str, str]:
    """The numbers a tree or an algorithm was given: `butterfly(G = 3)` -> {"G": "3"}."""
    return dict(re.findall(r"(\w+) = (-?\d+)", text))


def name_of(use: Tree | Algorithm | OwnContract) -> str:
    """What it is called, without its numbers."""
    return use.text.partition("(")[0]


def _tree(trees: Sequence[Tree]) -> str:
    """The tree that all of these are."""
    head, cases = _cases(trees)
    *earlier, (_, last) = cases.items()
    body = "".join(f"{condition} ? {show_tree(tree.children)} : " for condition, tree in earlier)
    return f"tree {head} = {body}{show_tree(last.children)}"


def use_of(text: str) -> Use:
    """A tree or an algorithm with the numbers that it was given: `butterfly(G = 3)`."""
    numbers = tuple((name, int(value)) for name, value in values_of(text).items())
    return Use(text.partition("(")[0], numbers)


def with_root(texts: Sequence[str], root: str) -> Use:
    """An algorithm for each root, from the first one on, with the root by its name:
    `gather_behind(root = r)`."""
    first, *others = map(use_of, texts)
    given = [dict(one.numbers) for one in (first, *others)]
    numbers = (
        (name, root if all(one[name] == r for r, one in enumerate(given)) else value)
        for name, value in first.numbers
    )
    return Use(first.name, tuple(numbers))


def _algorithm(algorithms: Sequence[Algorithm]) -> str:
    """The algorithm that all of these are: steps for each number of ranks and values."""
    head, rank, cases = _of_slices(algorithms)
    lines = [f"algorithm {head} {{"]
    for use, guard in cases:
        for moves in use.steps:
            lines += ["    step {", *_transfers(moves, rank, guard), "    }"]
    return "\n".join([*lines, "}"])


def _contract(contracts: Sequence[OwnContract]) -> str:
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


def _operation(operation: OwnOperation) -> str:
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
