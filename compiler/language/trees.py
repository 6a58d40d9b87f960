"""Trees: what `leaf`, `join` and a tree written by hand make, and what a declared tree becomes for
given numbers.

A shape may share its parts (`join(t, t)` holds t once), so it can stand for more ranks than
memory would hold; its size is known before anything is written out.

A tree's recursion is unfolded with a stack of its own, not Python's; equal calls are computed
once. Four limits stand between a user and a recursion that does not end: a call may not need
itself, what it is joined with may not fill the line, calls may not lie deeper than
`MAX_CALLS_DEEP`, as deep as those of a chain over the longest line, and all calls of a file
together may not evaluate more than `MAX_EVALUATIONS` expressions. The last two are for
recursions that never join: every part of a `join` has a rank in the result at least, so one that
joins has soon too many.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import field, replace

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.declarations import Declarations, as_used, check_required, in_full, values_of
from collc.language.expressions import FUNCTIONS, Scope, truth, value_or_problem
from collc.language.kinds import BY_WORD, OPTIMAL, undeclared
from collc.language.problems import ProblemError, problem
from collc.language.syntax import Literal, Node, expressions_of, walk
from collc.spec.steps import ROOT_BYPASS

# Shapes of trees as values, and their ranks.


Children = tuple[tuple[int, ...], ...]
"""`children[r]` lists the ranks that r receives from, in order of receipt."""


@dataclass(frozen=True, eq=False)
class Given:
    """A tree whose children are written out; a leaf is `Given(((),))`."""

    children: Children

    @property
    def size(self) -> int:
        """How many ranks it has."""
        return len(self.children)


@dataclass(frozen=True, eq=False)
class Joined:
    """`join(first, second)`: second's ranks behind first's, its root under first's root."""

    first: Shape
    second: Shape
    size: int


Shape = Given | Joined

LEAF = Given(((),))


def join(first: Shape, second: Shape) -> Joined:
    """Tree that receives second's result after all that first's root receives."""
    return Joined(first, second, first.size + second.size)


def children_of(shape: Shape) -> Children:
    """Children of every rank of a shape."""
    children: list[list[int]] = [[] for _ in range(shape.size)]
    # Entries are (shape, its first rank); a number instead of a shape is a child to append.
    pending: list[tuple[Shape | int, int]] = [(shape, 0)]
    while pending:
        here, base = pending.pop()
        match here:
            case int():
                children[base].append(here)
            case Given():
                for rank, below in enumerate(here.children):
                    children[base + rank].extend(base + child for child in below)
            case Joined(first=first, second=second):
                root = base + first.size
                pending += [(root, base), (second, root), (first, base)]
    return tuple(map(tuple, children))


def check_literal(literal: Literal, most: int) -> Iterator[ProblemError]:
    """Yield what is wrong with a tree written by hand, when no line has more than `most` PEs."""
    if literal.root.rank != 0:
        message = f"the root of a tree is rank 0, not rank {literal.root.rank}"
        help = "number the ranks from the root outwards: rank 0 ends with the result"
        yield problem("C137", message, literal.root.span, help=help)
    nodes = _preorder(literal.root)
    seen: dict[int, Node] = {}
    for node in nodes:
        if node.rank >= most:
            message = f"rank {node.rank} is out of range: the longest line has {most} PEs"
            yield problem("C135", message, node.span, help=f"ranks are 0 to {most - 1}")
        if node.rank in seen:
            first = (seen[node.rank].span, "it stands here already")
            message = f"rank {node.rank} is in this tree twice"
            help = "every rank sends its vector exactly once"
            yield problem("C134", message, node.span, first, help=help)
        seen.setdefault(node.rank, node)
    if literal.root.rank == 0 and len(seen) == len(nodes) and max(seen) < most:
        yield from _check_numbering(literal, nodes, seen)


def literal_shape(literal: Literal) -> Given:
    """Shape of a tree written by hand that `check_literal` has nothing against."""
    nodes = sorted(_preorder(literal.root), key=lambda node: node.rank)
    return Given(tuple(tuple(child.rank for child in node.children) for node in nodes))


def _check_numbering(
    literal: Literal, nodes: list[Node], seen: dict[int, Node]
) -> Iterator[ProblemError]:
    missing = next((rank for rank in range(max(seen)) if rank not in seen), None)
    if missing is not None:
        highest = (seen[max(seen)].span, f"rank {max(seen)} stands here")
        message = f"rank {missing} is missing from this tree"
        help = "a tree has all ranks from 0 to its highest"
        yield problem("C133", message, literal.span, highest, help=help)
        return
    early = next((node for rank, node in enumerate(nodes) if node.rank != rank), None)
    if early is None:
        return
    late = nodes.index(early)
    help = (
        "vectors only travel towards the root, so children stand in rank order and each subtree is "
        "contiguous: read from left to right, the ranks are 0, 1, 2, ..."
    )
    message = f"rank {early.rank} is received before rank {late}"
    yield problem("C136", message, early.span, (seen[late].span, f"rank {late} is here"), help=help)


def _preorder(root: Node) -> list[Node]:
    """Nodes in the order of the source."""
    nodes, pending = [], [root]
    while pending:
        node = pending.pop()
        nodes.append(node)
        pending.extend(reversed(node.children))
    return nodes


# The trees of a program.


MAX_CALLS_DEEP = 65_536
MAX_EVALUATIONS = 4_000_000

_INSTEAD = {  # of names that trees have elsewhere
    "left_right": "a root within the line has a tree on each side: write `reduce chain to R`, or "
    "`reduce A, B to R` for two of them",
    "ring": "a ring is an algorithm: write `order ring run ring_reduce(c = 2, root = 0) to 0`",
}
_SMALLER = "every call has to be smaller than the one it stands in, down to a `leaf`"
_AT_LEAST_ONE = (
    "a tree has at least one rank: look at the numbers that it is called with, and let its "
    "smallest call be a `leaf`"
)
_SHARE = (
    "a tree needs one rank for every PE of the line: the two sides of a `join` share out the ranks "
    "of the call that they stand in"
)


@dataclass(frozen=True)
class Call:
    """A tree with the numbers it is called with."""

    tree: str
    values: tuple[int, ...]
    span: Span = field(compare=False)


class TooManyRanksError(Exception):
    """A tree has more ranks than its line, which shows at a call within it."""

    def __init__(self, place: tuple[Span, str], help: str) -> None:
        super().__init__(place[1])
        self.place = place
        self.help = help


@dataclass(frozen=True)
class _Wanted:
    """A call that a body needs; its result has `beside` ranks at least besides that call's."""

    call: Call
    beside: int


_Body = Generator[_Wanted, Shape, Shape]


@dataclass(frozen=True)
class _Running:
    """A call whose body is being computed; the outermost call's result has `beside` ranks at least
    besides this one's."""

    call: Call
    body: _Body
    beside: int


@dataclass(eq=False)
class Forest(Declarations[syntax.TreeDecl]):
    """All trees a program may use."""

    _evaluations: int = field(default=0, init=False)
    _sizes: dict[str, int] = field(default_factory=dict, init=False)
    _known: dict[Call, Shape] = field(default_factory=dict, init=False)
    _literals: dict[syntax.Literal, Shape] = field(default_factory=dict, init=False)

    def anew(self) -> Forest:
        """The same for another collective: no effort has been made, but shapes are known."""
        forest = replace(self)
        forest._known, forest._sizes, forest._literals = self._known, self._sizes, self._literals
        return forest

    def tree(self, name: syntax.Word) -> syntax.TreeDecl:
        """Tree of a name."""
        self.check_whole(name)
        if name.text not in self.declared:
            raise self._unknown(name)
        return self.declared[name.text]

    def _unknown(self, name: syntax.Word) -> ProblemError:
        """C110: a name that is no tree's, with what is wanted instead where that is known."""
        if name.text in _INSTEAD and name.text not in self.others:
            message = f"there is no tree called {name.text}"
            return problem("C110", message, name.span, help=_INSTEAD[name.text])
        known = {*self.declared, OPTIMAL, ROOT_BYPASS}
        return undeclared(BY_WORD["tree"], name, known, self.others)

    def text(self, call: Call) -> str:
        """How messages and later stages name a tree: without its first parameter."""
        return as_used(self.declared[call.tree], call.values)

    def unfold(self, call: Call, ranks: int) -> Shape:
        """Shape of a tree, which should have so many ranks; raises `ProblemError` placed inside the
        tree where it fails, and `TooManyRanksError` as soon as some part of it is one too many."""
        stack = [_Running(call, self._run(call), 0)]
        active = {call}
        answer: Shape | None = None
        while stack:
            wanted = self._advance(stack[-1], answer, call)
            if isinstance(wanted, _Wanted):
                one = wanted.call
                beside = stack[-1].beside + wanted.beside
                answer = self._known.get(one)
                if answer is None:
                    self._check_ends(one, active, stack)
                self._check_ranks(one, beside, ranks, stack)
                if answer is None:
                    self._check_effort(one, stack)
                    stack.append(_Running(one, self._run(one), beside))
                    active.add(one)
                continue
            done = stack.pop().call
            active.discard(done)
            answer = self._known[done] = wanted
        assert answer is not None
        return answer

    def _advance(self, running: _Running, answer: Shape | None, outermost: Call) -> _Wanted | Shape:
        """Go on with a body: the next call it needs, or its shape."""
        try:
            return next(running.body) if answer is None else running.body.send(answer)
        except StopIteration as stop:
            shape: Shape = stop.value
            return shape
        except ProblemError as error:
            inside = f"in {self._full(running.call)}"
            noted = error.with_note(outermost.span, inside)
            raise noted.seen_from(outermost.span, inside) from None

    def _check_ends(self, call: Call, active: set[Call], stack: Sequence[_Running]) -> None:
        """C130: `call` is wanted by the last of `stack`, which holds the `active` calls."""
        if call in active:
            message = f"{self._full(call)} needs itself: this recursion does not end"
            raise self._endless("C130", message, call, stack, _SMALLER)

    def _check_ranks(self, call: Call, beside: int, ranks: int, stack: Sequence[_Running]) -> None:
        """Nothing that is joined is left out of the result, and each part has a rank at least: with
        those `beside` it a call can make the result too large before it is unfolded."""
        known = self._known.get(call)
        if beside + (known.size if known else 1) <= ranks:
            return
        empty = _first_without_ranks([*(one.call for one in stack), call])
        if empty is not None:
            place = (empty.span, f"{self._full(empty)} is called here")
            raise TooManyRanksError(place, _AT_LEAST_ONE)
        others = "a rank" if beside == 1 else f"{beside} ranks"
        place = (call.span, f"{self._full(call)} is called here, beside {others} at least")
        raise TooManyRanksError(place, _SHARE)

    def _check_effort(self, call: Call, stack: Sequence[_Running]) -> None:
        """C130, C131: what is wanted by the last of `stack` is to be unfolded."""
        self._evaluations += self._size(call.tree)
        if len(stack) >= MAX_CALLS_DEEP:
            message = f"{call.tree} is called more than {MAX_CALLS_DEEP} calls deep"
            empty = _first_without_ranks([one.call for one in stack])
            if empty is None:
                raise self._endless("C130", message, call, stack, _SMALLER)
            message = f"{self._full(empty)} comes to no leaf: {message}"
            raise self._endless("C130", message, empty, stack, _AT_LEAST_ONE)
        if self._evaluations > MAX_EVALUATIONS:
            message = f"unfolding trees takes more than {MAX_EVALUATIONS} evaluations"
            help = "let fewer numbers vary, since equal calls are computed once"
            raise self._endless("C131", message, call, stack, help)

    def _endless(
        self, code: str, message: str, at: Call, stack: Sequence[_Running], help: str
    ) -> ProblemError:
        """The problem with a call that the outermost one needs."""
        outermost = stack[0].call
        used = (outermost.span, f"needed for {self._full(outermost)}")
        error = problem(code, message, at.span, used, help=help)
        return error.seen_from(outermost.span, "called here")

    def _size(self, tree: str) -> int:
        """How many expressions one call of a tree evaluates at most."""
        if tree not in self._sizes:
            outermost = expressions_of(self.declared[tree])
            self._sizes[tree] = sum(1 for expression in outermost for _ in walk(expression))
        return self._sizes[tree]

    def _full(self, call: Call) -> str:
        return in_full(self.declared[call.tree], call.values)

    def _run(self, call: Call) -> _Body:
        declaration = self.declared[call.tree]
        numbers = self.with_values(declaration, call.values)
        scope = Scope(numbers, self.others)
        check_required(declaration, call.values, scope)
        for local in declaration.locals:
            numbers[local.name.text] = value_or_problem(local.value, scope)
        return (yield from self._shape(declaration.body, scope, 0))

    def _shape(self, body: syntax.Expression, scope: Scope, beside: int) -> _Body:
        """The shape of a part of a body; the whole has `beside` ranks at least besides it."""
        match body:
            case syntax.Conditional(condition=condition):
                chosen = body.chosen if truth(condition, scope) else body.otherwise
                return (yield from self._shape(chosen, scope, beside))
            case syntax.Name(text="leaf"):
                return LEAF
            case syntax.Literal():
                if body not in self._literals:
                    self._literals[body] = literal_shape(body)
                return self._literals[body]
            case syntax.Call(name=syntax.Word(text="join"), arguments=(first, second)):
                before = yield from self._shape(first.value, scope, beside + 1)
                behind = yield from self._shape(second.value, scope, beside + before.size)
                return join(before, behind)
            case syntax.Call(name=name, arguments=arguments) if name.text not in FUNCTIONS:
                call = self.call(name, arguments, (), scope, body.span)
                return (yield _Wanted(call, beside))
            case syntax.Name(text=text) if text not in scope.numbers:
                call = self.call(syntax.Word(text, body.span), (), (), scope, body.span)
                return (yield _Wanted(call, beside))
        message = "this is a number or a condition, where a tree is wanted"
        raise problem("C113", message, body.span, help="a single rank is written `leaf`")

    def call(
        self,
        name: syntax.Word,
        arguments: tuple[syntax.Argument, ...],
        first: tuple[int, ...],
        scope: Scope,
        span: Span,
    ) -> Call:
        """Call with its arguments computed; `first` are values bound before the arguments."""
        return Call(name.text, values_of(self.tree(name), arguments, first, scope, span), span)


def _first_without_ranks(calls: Sequence[Call]) -> Call | None:
    """The outermost call whose number of ranks, its first value, is below 1."""
    return next((call for call in calls if call.values and call.values[0] < 1), None)
