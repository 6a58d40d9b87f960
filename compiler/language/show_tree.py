"""A tree as it would be declared."""

from collc.language.shapes import Children
from collc.language.show_algorithm import values_of
from collc.spec import Tree


def show_tree(name: str, trees: list[Tree]) -> str:
    """One tree for all uses of a name: a case for each number of ranks and values."""
    given = [values_of(tree.text) for tree in trees]
    ranks = "n"
    while ranks in given[0]:
        ranks += "_"
    cases = {}
    for tree, values in zip(trees, given, strict=True):
        wanted = {ranks: str(len(tree.children)), **values}
        condition = " and ".join(f"{word} == {value}" for word, value in wanted.items())
        cases[condition] = _literal(tree.children)
    *earlier, (_, last) = cases.items()
    body = "".join(f"{condition} ? {literal} : " for condition, literal in earlier) + last
    return f"tree {name}({', '.join((ranks, *given[0]))}) = {body}"


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
