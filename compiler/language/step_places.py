"""Where steps act: along which lines, at which PEs."""

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.algorithms import Algorithms
from collc.language.evaluation import number
from collc.language.forest import Forest
from collc.language.lines import Line, Lines
from collc.language.problems import problem, unknown
from collc.language.scope import Scope
from collc.spec import Contract
from collc.target import Target

StepClause = syntax.ReduceClause | syntax.BroadcastClause | syntax.RunClause


@dataclass(frozen=True)
class StepContext:
    """What the steps of one collective rest on."""

    contract: Contract | None  # None: its problem has been reported
    lines: Lines
    scope: Scope
    forest: Forest
    algorithms: Algorithms
    target: Target


def direction_of(clause: syntax.ReduceClause | syntax.RunClause, around: StepContext) -> Line:
    """The lines that a clause goes along."""
    verb = "reduce" if isinstance(clause, syntax.ReduceClause) else "run"
    return direction(clause.lines, clause.span, verb, around.lines)


def direction(word: syntax.Word | None, span: Span, verb: str, lines: Lines) -> Line:
    """The lines that a clause names, or the only one."""
    grid = lines.grid
    if word is None:
        if lines.single is None:
            what = {"reduce": "a reduction says what it reduces", "run": "`run` says along what"}
            last = "row" if verb == "reduce" else "rows"  # trees leave the sums in one row
            help = f"write `{verb} columns by ...`, then `{verb} {last} by ...`"
            raise problem("C144", f"on a grid, {what[verb]}", span, grid.declared, help=help)
        return lines.single
    if lines.path is not None:
        message = f"{lines.path.word} is one order of all PEs, it has no {word.text}"
        raise problem("C144", message, word.span, help=f"leave `{word.text} by` out")
    known = {"row": True, "rows": True, "column": False, "columns": False}
    if word.text not in known:
        message = f"{word.text} names no lines of a grid"
        raise unknown("C111", message, word, ("columns", "row"))
    return lines.horizontal if known[word.text] else lines.vertical


def end_of(clause: syntax.ReduceClause, line: Line, around: StepContext) -> int:
    """The rank of its lines that a reduction ends at."""
    return 0 if clause.to is None else rank_of(clause.to, line, around)


def rank_of(place: syntax.PeDecl | syntax.Expression, line: Line, around: StepContext) -> int:
    """The rank that a place is of the lines that a step goes along."""
    if not isinstance(place, syntax.PeDecl):
        return _on_line(number(place, around.scope), line, place, around)
    x, y = pe_of(place, around)
    if around.lines.path is not None:
        return around.lines.path.place_of((x, y))
    return line.places.index(x if line is around.lines.horizontal else y)


def end_of_all(reductions: tuple[syntax.ReduceClause, ...], around: StepContext) -> tuple[int, int]:
    """The PE that ends with the result of all reductions."""
    x, y = around.lines.corner
    for clause in reductions:
        line = direction(clause.lines, clause.span, "reduce", around.lines)
        if around.lines.path is not None:
            return around.lines.place(end_of(clause, line, around), line)
        place = line.coordinate(end_of(clause, line, around))
        x, y = (place, y) if line is around.lines.horizontal else (x, place)
    return x, y


def end_on_lines(
    last: syntax.ReduceClause, clauses: tuple[StepClause, ...], around: StepContext
) -> tuple[int, int]:
    """The PE of the rank of its lines that a reduction ends at. On which of the lines it is, the
    last of the steps that go across them says; where none does, it is their rank 0."""
    x, y = around.lines.corner
    own = direction_of(last, around)
    along = [clause for clause in clauses if not isinstance(clause, syntax.BroadcastClause)]
    across = [clause for clause in along if direction_of(clause, around) is not own]
    for clause in (*across[-1:], last):
        line = direction_of(clause, around)
        place = _end_along(clause, line, around)
        x, y = (place, y) if line is around.lines.horizontal else (x, place)
    return x, y


def _end_along(
    clause: syntax.ReduceClause | syntax.RunClause, line: Line, around: StepContext
) -> int:
    """The coordinate along its lines that a step ends at."""
    if isinstance(clause, syntax.ReduceClause):
        return line.coordinate(end_of(clause, line, around))
    if clause.root is None:
        return line.coordinate(0)
    x, y = pe_of(clause.root, around, "to")
    return x if line is around.lines.horizontal else y


def pe_of(
    root: syntax.PeDecl | syntax.Expression, around: StepContext, word: str = "from"
) -> tuple[int, int]:
    """PE that a place means: given as such, or as a rank of the line; `word` stands before it."""
    lines, grid = around.lines, around.lines.grid
    if isinstance(root, syntax.PeDecl):
        x, y = number(root.x, around.scope), number(root.y, around.scope)
        if not (0 <= x < grid.width and 0 <= y < grid.height):
            help = f"x is 0 to {grid.width - 1}, y is 0 to {grid.height - 1}"
            message = f"PE ({x}, {y}) is not on the grid"
            near = (min(max(x, 0), grid.width - 1), min(max(y, 0), grid.height - 1))
            raise problem("C142", message, root.span, grid.declared, help=help, fix=f"{near}")
        return x, y
    rank, line = number(root, around.scope), lines.single
    if rank == 0:
        return lines.corner
    if line is None:
        help = f"write `{word} (x, y)`; only rank 0, where both orders start, has a number"
        raise problem("C142", f"a grid has no rank {rank}", root.span, grid.declared, help=help)
    return lines.place(_on_line(rank, line, root, around), line)


def _on_line(rank: int, line: Line, said: syntax.Expression, around: StepContext) -> int:
    """The rank, if a line has it; raises `ProblemError`."""
    if not 0 <= rank < line.length:
        message = f"there is no rank {rank} on a line of {line.length} PEs"
        help = f"ranks are 0 to {line.length - 1}"
        raise problem("C142", message, said.span, around.lines.grid.declared, help=help)
    return rank
