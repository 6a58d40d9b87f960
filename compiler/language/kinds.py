"""The kinds of declarations: one table that the parser, the check of names, imports, messages,
editors and the docs read.

A new kind is its class in `syntax`, its rule in grammar/coll.lark, the names it makes in `names`,
how it is printed in `printer`, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from collc.base.values import dataclass
from collc.language import syntax
from collc.language.deprecated import TREES
from collc.language.expressions import RESERVED
from collc.language.problems import ProblemError, nearest, problem, suggest
from collc.language.syntax import Word
from collc.spec import ContractKind, Operation, Order

OPTIMAL = "optimal"  # the tree that the compiler looks for
RING, HILBERT = "ring", "hilbert"
FIXED = "fixed"  # no order: a promise that operands are combined in that of the ranks
# what `reduce` takes beside declared trees, old spellings included
TREE_WORDS = frozenset(("root_bypass", *TREES))
ORDER_WORDS = frozenset((*(order.value for order in Order), RING, HILBERT))


@dataclass(frozen=True)
class Kind:
    """A kind of declaration.

    Names of one `space` have to differ; a kind without has no names. `words` are names that the
    language has for something of the kind, and `said` what a message says of declaring one.
    `given_by` says what gives the first parameters of a use, and `given` what they are. `use` is
    a use of a name, `code` that of the message about an unknown one. An editor proposes its names
    `behind` these tokens, and draws them as `icon`.
    """

    word: str
    classes: tuple[type, ...]
    meaning: str
    space: str = ""
    once: bool = False
    imported: bool = False
    in_prelude: bool = False
    callable: bool = False
    words: frozenset[str] = frozenset()
    said: str = ""
    given_by: str = ""
    given: str = "the number of ranks"
    use: str = ""
    code: str = "C110"
    behind: frozenset[str] = frozenset()
    icon: str = "Class"

    @property
    def token(self) -> str:
        """The name of its word in the grammar."""
        return self.word.upper()

    @property
    def one(self) -> str:
        """`a tree`, `an algorithm`."""
        return with_article(self.word)


GENERAL = "the file"  # the space of what expressions and steps name
KINDS = (
    Kind("import", (syntax.ImportDecl,), "takes the declarations of another file", icon="File"),
    Kind("target", (syntax.TargetDecl,), "the machine", once=True, icon="Property"),
    Kind(
        "param",
        (syntax.ParamDecl,),
        "a whole number with a name",
        GENERAL,
        icon="Constant",
    ),
    Kind(
        "grid",
        (syntax.GridDecl, syntax.PartDecl),
        "a rectangle of PEs",
        "grids",
        behind=frozenset(("ON", "OF")),
        icon="Struct",
    ),
    Kind(
        "order",
        (syntax.OrderDecl,),
        "which PE each rank is",
        GENERAL,
        imported=True,
        in_prelude=True,
        callable=True,
        words=ORDER_WORDS | {FIXED},
        said="is an order of the language and cannot be declared",
        given_by="`order`",
        given="a side of the grid",
        use="order {}",
        code="C111",
        behind=frozenset(("ORDER",)),
    ),
    Kind(
        "tree",
        (syntax.TreeDecl,),
        "who sends to whom in a reduction",
        GENERAL,
        imported=True,
        in_prelude=True,
        callable=True,
        words=TREE_WORDS,
        said="belongs to the language and cannot be declared",
        given_by="`reduce`",
        use="reduce {}",
        behind=frozenset(("REDUCE", "BY")),
    ),
    Kind(
        "algorithm",
        (syntax.AlgorithmDecl,),
        "who sends which slice, step by step",
        GENERAL,
        imported=True,
        in_prelude=True,
        callable=True,
        given_by="`run`",
        use="run {}",
        behind=frozenset(("RUN", "BY")),
        icon="Method",
    ),
    Kind(
        "operation",
        (syntax.OperationDecl,),
        "how two elements are combined",
        GENERAL,
        imported=True,
        callable=True,
        words=frozenset(one.value for one in Operation),
        said="is an operation of the language and cannot be declared again",
        code="C111",
        icon="Operator",
    ),
    Kind(
        "contract",
        (syntax.OwnContractDecl,),
        "what ranks have before and after",
        GENERAL,
        imported=True,
        callable=True,
        words=frozenset(kind.value for kind in ContractKind),
        said="is a contract of the language and cannot be declared again",
        given_by="the collective",
        code="C111",
        icon="Interface",
    ),
    Kind(
        "collective",
        (syntax.CollectiveDecl,),
        "a contract, and how it is kept",
        "collectives",
        behind=frozenset(("PROGRAM",)),
        icon="Function",
    ),
    Kind("program", (syntax.ProgramDecl,), "the calls, in their order", once=True, icon="Event"),
)
BY_WORD: Mapping[str, Kind] = {kind.word: kind for kind in KINDS}
OF_CLASS: Mapping[type, Kind] = {made: kind for kind in KINDS for made in kind.classes}


def kind_of(declaration: object) -> Kind:
    """The kind of a declaration."""
    return OF_CLASS[type(declaration)]


def classes_of(holds: Callable[[Kind], object]) -> tuple[type, ...]:
    """The classes of the kinds of which something holds."""
    return tuple(made for kind in KINDS if holds(kind) for made in kind.classes)


def listed(words: Iterable[str], last: str = "or") -> str:
    """`a, b or c`."""
    *before, end = words
    return f"{', '.join(before)} {last} {end}" if before else end


def with_article(word: str) -> str:
    """`a tree`, `an order`."""
    return f"{'an' if word[0] in 'aeio' else 'a'} {word}"


def undeclared(
    kind: Kind, word: Word, known: Iterable[str], others: Mapping[str, str], help: str = ""
) -> ProblemError:
    """A name that stands for nothing of a kind: it is something else's, of `others`, or nobody's;
    then the nearest of those known is proposed. `help` is for where nothing of the kind is known.
    """
    name, is_a = word.text, others.get(word.text)
    known = tuple(known)
    if is_a is not None and is_a != kind.word:
        use = BY_WORD[is_a].use if kind.use else ""
        message = f"{name} is {with_article(is_a)}, where {kind.one} is wanted"
        if use:
            return problem(kind.code, message, word.span, help=f"write `{use.format(name)}`")
    else:
        message = f"there is no {kind.word} called {name}"
    told = suggest(name, known) or help
    return problem(kind.code, message, word.span, help=told, fix=nearest(name, known))


def reserved(word: Word) -> ProblemError | None:
    """Refusal of a name that belongs to the language."""
    if word.text not in RESERVED:
        return None
    message = f"{word.text} belongs to the language and cannot be declared"
    return problem("C109", message, word.span, help="choose another name")
