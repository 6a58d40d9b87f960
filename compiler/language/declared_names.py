"""Names that may be declared: none of the language's own, none twice."""

from collections.abc import Iterator

from collc.language.deprecated import TREES
from collc.language.expressions import RESERVED
from collc.language.problems import ProblemError, problem
from collc.language.syntax import Word
from collc.spec import Order

OPTIMAL = "optimal"  # the tree that the compiler looks for
RING, HILBERT = "ring", "hilbert"
FIXED = "fixed"  # no order: a promise that operands are combined in that of the ranks
# what `reduce` takes beside declared trees, old spellings included
TREE_WORDS = frozenset(("root_bypass", *TREES))
ORDER_WORDS = frozenset((*(order.value for order in Order), RING, HILBERT))


def reserved(word: Word) -> Iterator[ProblemError]:
    """Refusal of a name that belongs to the language."""
    if word.text in RESERVED:
        message = f"{word.text} belongs to the language and cannot be declared"
        yield problem("C109", message, word.span, help="choose another name")


def check_words(words: tuple[Word, ...]) -> Iterator[ProblemError]:
    """Refusal of names that are taken or stand twice."""
    seen: dict[str, Word] = {}
    for word in words:
        yield from reserved(word)
        if word.text in seen:
            first = (seen[word.text].span, "first declared here")
            message, help = f"{word.text} is declared twice", "give one of them another name"
            yield problem("C108", message, word.span, first, help=help)
        seen.setdefault(word.text, word)
