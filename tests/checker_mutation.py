"""The test of the tests: checks and proofs with one thing changed, and whether a test fails.

    python tests/checker_mutation.py [--every N [--skip N]] [--only TEXT] [--strict] [--list]
    python tests/checker_mutation.py --unchanged [--every N [--skip N]] [--only TEXT]

A mutant is a function of `ROOMS` with one change of its syntax tree: a diagnostic that is not
yielded, a condition negated, a term dropped, a number off by one, a comparison swapped, a loop that
ends after one round, a check that accepts everything. (`tests/mutation.py` is the opposite: it
changes plans and leaves checks as they are.) With `--unchanged` it is the function as it is,
compiled and put in place like a mutant: every one has to survive, or the job is at fault. The tests
of `TESTS` run once with the lines they reach noted; then each mutant runs in a process of its own
against the tests that reach its line, the quickest first, until one fails.

A mutant that no test kills needs a test, or a line in tests/known_survivors.txt that says why it
cannot be told from the original (`equivalent`) or that the test is still to be written (`open`).
Survivors that have no line there are printed, as are lines there that name a mutant that a test
kills or that is none any more; with `--strict` the status is 1 if there are any. With `--every`
only one mutant in N is looked at: all take some hours.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import hashlib
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from math import inf
from pathlib import Path
from time import process_time
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from collc.base.memoize import by_identity

ROOT = Path(__file__).parents[1]
ROOMS = ("compiler/checks", "compiler/machine", "compiler/proof")
TESTS = (
    "tests/checks",
    "tests/machine",
    "tests/proof",
    "tests/programs/test_queues.py",
    "tests/programs/test_together.py",
    "tests/streams/test_filters.py",
    "tests/streams/test_stream_checks.py",
    "tests/streams/test_turns.py",
    "tests/test_reserve.py",
)
KNOWN = ROOT / "tests" / "known_survivors.txt"
REACHED = ROOT / ".cache" / "checker_mutation.json"
PATIENCE = 20  # a test hangs that takes so many times its processor time, and 30 s more

KILLED, HUNG, SURVIVED, UNREACHED = "killed", "hung", "survived", "unreached"
OUTCOMES = {0: SURVIVED, 1: KILLED, -signal.SIGALRM: HUNG}  # by how the process ends
BROKEN = 2


@dataclass(frozen=True)
class Mutant:
    """A function with one change. `file` is relative to the root, `lines` are those of the changed
    node, `code` is what the function has in place of its own."""

    file: str
    function: str
    change: str
    first: int
    lines: range
    code: CodeType

    @property
    def name(self) -> str:
        """What tells it from the others of its file, whatever the line."""
        return f"{self.file}: {self.function}: {self.change}"


# --- What is changed -----------------------------------------------------------------------------

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_CALLED = {"any": "all", "all": "any", "min": "max", "max": "min"}
_NO_VALUES = ast.YieldFrom(ast.Tuple([], ast.Load()))


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node of a function."""
    match node:
        case ast.Expr(ast.Yield() | ast.YieldFrom()):
            yield ast.Expr(_NO_VALUES)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass()
        case ast.If() | ast.IfExp():
            yield _with(node, test=_negated(node.test))
        case ast.For():
            yield _with(node, body=[*node.body, ast.Break()])
        case ast.Return(ast.JoinedStr() | ast.Constant(str())):
            yield ast.Return(ast.Constant(""))
        case ast.comprehension() if node.ifs:
            yield _with(node, ifs=node.ifs[1:])
            yield _with(node, ifs=[_negated(node.ifs[0]), *node.ifs[1:]])
        case ast.BoolOp():
            for at in range(len(node.values)):
                left = [*node.values[:at], *node.values[at + 1 :]]
                yield left[0] if len(left) == 1 else _with(node, values=left)
        case _:
            yield from _changed_values(node)


def _changed_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator, *rest]) if type(operator) in _COMPARED:
            yield _with(node, ops=[_COMPARED[type(operator)](), *rest])
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, operator, _) if type(operator) in _COMPUTED:
            yield _with(node, op=_COMPUTED[type(operator)]())
            yield left
        case ast.Constant(bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(int()):
            yield ast.Constant(node.value + 1)
        case ast.Call(ast.Name(name)) if name in _CALLED:
            yield _with(node, func=ast.Name(_CALLED[name], ast.Load()))


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """A node with other fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _negated(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) else ast.UnaryOp(ast.Not(), test)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    seen: set[str] = set()
    for holder, function in functions_of(tree):
        named = f"{holder.name}.{function.name}" if holder else function.name
        for only in gutted(function):
            code = code_of(tree, str(path), _with(function, body=[only]), holder)  # type: ignore[arg-type]
            change = f"the body becomes `{_told(only)}`"
            yield Mutant(file, named, change, first_line(function), _body(function), code)
        for node, put in places(function):
            before = _told(node)
            for changed in changes(node):
                ast.copy_location(changed, node)
                put(ast.fix_missing_locations(changed))
                change = f"`{before}` becomes `{_told(changed)}`"
                code = code_of(tree, str(path), function, holder)
                put(node)
                number = sum(one.startswith(f"{named}: {change}") for one in seen)
                seen.add(f"{named}: {change}" + "#" * number)
                if number:
                    change += f" ({number + 1})"
                lines = range(node_line(node), node_end(node) + 1)
                yield Mutant(file, named, change, first_line(function), lines, code)


def unchanged_of(path: Path) -> Iterator[Mutant]:
    """Every function of a file, changed in nothing."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = path.relative_to(ROOT).as_posix()
    for holder, function in functions_of(tree):
        named = f"{holder.name}.{function.name}" if holder else function.name
        code = code_of(tree, str(path), function, holder)
        yield Mutant(file, named, "unchanged", first_line(function), _body(function), code)


Function = ast.FunctionDef


def gutted(function: Function) -> Iterator[ast.stmt]:
    """What may stand in place of the whole body: a check that finds nothing, an answer that is
    always the same."""
    match function.returns:
        case ast.Subscript(ast.Name("Iterator")):
            found: list[ast.stmt] = [ast.Expr(_NO_VALUES)]
        case ast.Name("str"):
            found = [ast.Return(ast.Constant(""))]
        case ast.Name("bool"):
            found = [ast.Return(ast.Constant(value)) for value in (False, True)]
        case ast.BinOp(_, ast.BitOr(), ast.Constant(None)):
            found = [ast.Return(ast.Constant(None))]
        case _:
            found = []
    for one in found:
        ast.copy_location(one, function.body[-1])
        if [_told(one)] != [_told(statement) for statement in function.body]:
            yield ast.fix_missing_locations(one)


def _body(function: Function) -> range:
    """The lines of a function but those of its head."""
    return range(function.body[0].lineno, (function.end_lineno or function.lineno) + 1)


def functions_of(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, Function]]:
    """Functions of a module and methods of its classes; those within others are parts of them."""
    for statement in tree.body:
        if isinstance(statement, Function):
            yield None, statement
        elif isinstance(statement, ast.ClassDef):
            yield from ((statement, one) for one in statement.body if isinstance(one, Function))


def first_line(function: Function) -> int:
    """The line by which the code of a function is known: that of its first decorator."""
    return min(function.lineno, *(one.lineno for one in function.decorator_list), function.lineno)


Place = tuple[ast.AST, Callable[[ast.AST], None]]  # a node, and what puts another in its place
_LEFT_ALONE = (ast.JoinedStr, ast.Assert, ast.arguments)


def places(function: Function) -> Iterator[Place]:
    """Every node in the body of a function, and what puts another one in its place. Annotations,
    defaults, assertions and the text of messages are left alone."""
    for at, statement in enumerate(function.body):
        yield from _within(statement, _putting(function.body, at))


def _within(node: object, put: Callable[[ast.AST], None]) -> Iterator[Place]:
    if not isinstance(node, ast.AST) or isinstance(node, _LEFT_ALONE):
        return
    yield node, put
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            for at, one in enumerate(value):
                yield from _within(one, _putting(value, at))
        elif isinstance(value, ast.AST) and name not in {"annotation", "returns"}:
            yield from _within(value, _setting(node, name))


def _putting(values: list[Any], at: int) -> Callable[[ast.AST], None]:
    return lambda node: values.__setitem__(at, node)


def _setting(holder: ast.AST, name: str) -> Callable[[ast.AST], None]:
    return lambda node: setattr(holder, name, node)


def node_line(node: ast.AST) -> int:
    """The line where a node begins; of a comprehension, which has none, that of its target."""
    return getattr(node, "lineno", 0) or node.target.lineno  # type: ignore[attr-defined]


def node_end(node: ast.AST) -> int:
    if isinstance(node, ast.For | ast.If):  # what has a body is reached where it begins
        head = node.test if isinstance(node, ast.If) else node.iter
        return head.end_lineno or node.lineno
    return getattr(node, "end_lineno", None) or node_line(node)


def _told(node: ast.AST) -> str:
    """A node in one line, what has a body without it."""
    match node:
        case ast.For():
            text = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
            ends = node.body and isinstance(node.body[-1], ast.Break)
            return f"{text}, once" if ends else text
        case ast.If():
            return f"if {ast.unparse(node.test)}"
        case ast.Expr(ast.YieldFrom(ast.Tuple([]))):
            return "nothing"
    return " ".join(ast.unparse(node).split())


def code_of(
    tree: ast.Module, path: str, function: Function, holder: ast.ClassDef | None
) -> CodeType:
    """The code of a function, compiled with what is around it and nothing else."""
    around: ast.stmt = function
    if holder:
        around = _with(holder, body=[function], decorator_list=[])  # type: ignore[assignment]
    alone = ast.Module([*(one for one in tree.body if is_future(one)), around], [])
    code = compile(ast.fix_missing_locations(alone), path, "exec")
    for name in (holder.name, function.name) if holder else (function.name,):
        code = next(
            one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name
        )
    return code


def is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def import_all(files: list[Path]) -> None:
    """Import what tests may import only when they come to it: a mutant is put in place before."""
    for path in files:
        if path.is_relative_to(ROOT / "compiler"):
            parts = path.relative_to(ROOT / "compiler").with_suffix("").parts
            import_module(".".join(("collc", *parts)).removesuffix(".__init__"))


class Loaded:
    """The functions that mutants are put in place of, and the results that are held of them."""

    def __init__(self, files: dict[str, str]) -> None:
        self.functions: dict[tuple[str, int, str], list[FunctionType]] = {}
        self.held: list[dict[object, object]] = []
        for one in gc.get_objects():
            if not isinstance(one, FunctionType):
                continue
            code = one.__code__
            if code.co_filename in files:
                key = files[code.co_filename], code.co_firstlineno, code.co_name
                self.functions.setdefault(key, []).append(one)
            if code.co_filename == by_identity.__code__.co_filename:
                cells = (cell.cell_contents for cell in one.__closure__ or ())
                self.held += [cell for cell in cells if isinstance(cell, dict)]

    def put(self, mutant: Mutant) -> None:
        """A mutant in place of its function, wherever that is known."""
        for one in self.functions[mutant.file, mutant.first, mutant.code.co_name]:
            one.__code__ = mutant.code
        self.forget()

    def forget(self) -> None:
        """Nothing is known of earlier runs."""
        for one in self.held:
            one.clear()


# --- Who finds out -------------------------------------------------------------------------------


@dataclass
class Reached:
    """A test: how long it takes, and the lines of the rooms that it reaches, by file."""

    seconds: float
    lines: dict[str, set[int]] = field(default_factory=dict)


class Tracer:
    """Notes the lines of the rooms' files that are run."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files  # by the path that code names
        self.lines: dict[str, set[int]] = {}

    def call(self, frame: FrameType, _event: str, _: object) -> Any:
        file = self.files.get(frame.f_code.co_filename)
        if file is None:
            return None
        seen = self.lines.setdefault(file, set())

        def line(frame: FrameType, event: str, _: object) -> Any:
            seen.add(frame.f_lineno)
            return line

        return line


class Hunt:
    """A plugin of pytest that looks at mutants in place of running the tests once."""

    def __init__(self, mutants: list[Mutant], files: list[Path], jobs: int, slowest: float) -> None:
        self.mutants, self.jobs, self.slowest = mutants, jobs, slowest
        self.files = {}
        for path in files:
            file = path.relative_to(ROOT).as_posix()
            self.files[str(path)] = file
            self.files[str(path.resolve())] = file
        self.outcomes: dict[str, str] = {}
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()  # as tests/conftest.py has it, what was there before would not be found
        import_all(sorted({Path(path).resolve() for path in self.files}))
        self.loaded = Loaded(self.files)
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        reached = self.reached_by(list(items.values()))
        running: dict[int, Mutant] = {}
        for at, mutant in enumerate(self.mutants):
            tests = covering(mutant, reached, self.slowest)
            if not tests:
                self.told(at, mutant, UNREACHED)
                continue
            if len(running) == self.jobs:
                self.wait(running)
            pid = os.fork()
            if not pid:
                self.child(mutant, [items[name] for name in tests], reached)
            running[pid] = mutant
        while running:
            self.wait(running)
        return True

    def wait(self, running: dict[int, Mutant]) -> None:
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        if code not in OUTCOMES:
            raise SystemExit(f"checker_mutation: {mutant.name} ends with status {code}")
        self.told(len(self.outcomes), mutant, OUTCOMES[code])

    def told(self, at: int, mutant: Mutant, outcome: str) -> None:
        self.outcomes[mutant.name] = outcome
        if outcome in {SURVIVED, UNREACHED}:
            print(f"{outcome}: {mutant.name} (line {mutant.lines.start})", file=sys.__stdout__)
        elif at % 100 == 0:
            print(f"  {at} of {len(self.mutants)}", file=sys.__stdout__)
        sys.__stdout__.flush()  # type: ignore[union-attr]

    def child(self, mutant: Mutant, items: list[pytest.Item], reached: dict[str, Reached]) -> None:
        """Runs tests against a mutant until one fails: status 1. Never returns."""
        status, theirs = BROKEN, os.dup(2)
        try:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self.loaded.put(mutant)
            status = int(any(self.fails(item, reached[item.nodeid]) for item in items))
        except BaseException:
            with os.fdopen(theirs, "w") as out:
                traceback.print_exc(file=out)
            status = BROKEN
        os._exit(status)

    def fails(self, item: pytest.Item, reached: Reached) -> bool:
        signal.alarm(30 + int(PATIENCE * reached.seconds))
        self.run(item)
        signal.alarm(0)
        return self.failed

    def run(self, item: pytest.Item) -> None:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def reached_by(self, items: list[pytest.Item]) -> dict[str, Reached]:
        """What each test reaches: known from before, if neither the rooms nor its file changed."""
        known = json.loads(REACHED.read_text()) if REACHED.exists() else {}
        rooms = digest(sorted({Path(path).resolve() for path in self.files}))
        found: dict[str, Reached] = {}
        kept: dict[str, Any] = {}
        for item in items:
            key = f"{rooms} {digest([item.path])} {item.nodeid}"
            if known.get(key, {"limit": -1}).get("limit", self.slowest) < self.slowest:
                known[key] = self.traced(item)
            kept[key] = known[key]
            lines = {file: set(lines) for file, lines in known[key]["lines"].items()}
            found[item.nodeid] = Reached(known[key]["seconds"], lines)
        REACHED.parent.mkdir(exist_ok=True)
        REACHED.write_text(json.dumps(kept))
        return found

    def traced(self, item: pytest.Item) -> dict[str, Any]:
        """A test in a process of its own: one that reaches nothing, since an earlier one had been
        there and left its results, would not be asked. One that takes longer than those that are
        asked may is ended there."""
        ours, theirs = os.pipe()
        pid = os.fork()
        if not pid:
            self.loaded.forget()
            signal.setitimer(signal.ITIMER_VIRTUAL, self.slowest)
            tracer, began = Tracer(self.files), process_time()
            sys.settrace(tracer.call)
            self.run(item)
            sys.settrace(None)
            if self.failed:
                print(f"{item.nodeid} fails without any change", file=sys.__stderr__)
            lines = {file: sorted(lines) for file, lines in tracer.lines.items()}
            with os.fdopen(theirs, "w") as out:
                json.dump({"seconds": process_time() - began, "lines": lines}, out)
            os._exit(int(self.failed))
        os.close(theirs)
        with os.fdopen(ours) as given:
            text = given.read()
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if ended == -signal.SIGVTALRM:
            return {"seconds": inf, "lines": {}, "limit": self.slowest}
        if ended:
            raise SystemExit(2)
        return dict(json.loads(text))


def covering(mutant: Mutant, reached: dict[str, Reached], slowest: float) -> list[str]:
    """The tests that reach a mutant, the quickest first."""
    lines = set(mutant.lines)
    found = [
        name
        for name, one in reached.items()
        if one.seconds <= slowest and lines & one.lines.get(mutant.file, set())
    ]
    return sorted(found, key=lambda name: (reached[name].seconds, name))


def digest(paths: list[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:16]


# --- What is known -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A survivor that is known: of which kind, and why."""

    kind: str
    reason: str


def known_survivors(text: str) -> dict[str, Known]:
    """tests/known_survivors.txt: a mutant a line, and below it `equivalent:` or `open:` and why."""
    found: dict[str, Known] = {}
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for name, said in zip(lines[::2], lines[1::2], strict=True):
        kind, _, reason = said.strip().partition(": ")
        if kind not in {"equivalent", "open"} or not reason:
            raise SystemExit(f"checker_mutation: below `{name}` is no kind with a reason: {said}")
        found[name] = Known(kind, reason)
    return found


def main() -> int:
    """Look at the mutants; print those that survive, and how many there are of each kind."""
    options = arguments()
    rooms = [ROOT / room for room in ROOMS]
    files = sorted(
        path for room in rooms for path in ([room] if room.is_file() else room.rglob("*.py"))
    )
    kind = unchanged_of if options.unchanged else mutants_of
    every_one = [mutant for path in files for mutant in kind(path)]
    chosen = [one for one in every_one if options.only in one.name][options.skip :: options.every]
    known = known_survivors(KNOWN.read_text(encoding="utf-8"))
    if options.list:
        print(*(one.name for one in chosen), sep="\n")
        return 0
    hunt = Hunt(chosen, files, options.jobs, options.slowest)
    quiet = (
        "-p",
        "no:terminal",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-s",
        "--strict-markers",
    )
    tests = [str(ROOT / one) for one in TESTS]
    pytest.main(["-o", "addopts=", "-c", str(ROOT / "setup.cfg"), *quiet, *tests], plugins=[hunt])
    if options.unchanged:
        return int(not hunt.outcomes or told_apart(hunt.outcomes))
    clean = reported(hunt.outcomes, known, {one.name for one in every_one})
    return int(not hunt.outcomes or (options.strict and not clean))


def reported(outcomes: dict[str, str], known: dict[str, Known], names: set[str]) -> bool:
    """Print how many there are of each kind, and what tests/known_survivors.txt should have or not
    have; whether it is as it should be."""
    lived = {name for name, outcome in outcomes.items() if outcome in {SURVIVED, UNREACHED}}
    killed = len(outcomes) - len(lived)
    of_kind = {kind: sum(known[one].kind == kind for one in lived & known.keys()) for kind in KINDS}
    new = sorted(lived - known.keys())
    stale = sorted((known.keys() & outcomes.keys()) - lived | known.keys() - names)
    print(
        f"{len(outcomes)} mutants: {killed} killed, {of_kind['equivalent']} equivalent, "
        f"{of_kind['open']} open, {len(new)} new survivors"
    )
    for name in new:
        print(f"no test finds: {name}")
    for name in stale:
        print(f"{KNOWN.name} has what is no survivor: {name}")
    return not new and not stale


KINDS = ("equivalent", "open")


def told_apart(outcomes: dict[str, str]) -> bool:
    """Print which functions a test tells from themselves; whether there are any."""
    wrong = sorted(name for name, of in outcomes.items() if of not in {SURVIVED, UNREACHED})
    reached = sum(of == SURVIVED for of in outcomes.values())
    print(f"{len(outcomes)} functions as they are: {reached} reached, {len(wrong)} told apart")
    for name in wrong:
        print(f"{outcomes[name]} without any change: {name}")
    return bool(wrong)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="look at one mutant in so many")
    parser.add_argument("--skip", type=int, default=0, help="begin with this one")
    parser.add_argument("--only", default="", help="look at those whose name has this text")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--slowest", type=float, default=60.0, help="ask no test that takes more seconds"
    )
    parser.add_argument("--strict", action="store_true", help="fail for a survivor that is new")
    parser.add_argument(
        "--unchanged", action="store_true", help="put functions in place as they are"
    )
    parser.add_argument("--list", action="store_true", help="print their names and no more")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
