"""What attests the constructs of emitted text, and the page about it, docs/csl-constructs.md.

    python tests/constructs.py

docs/csl-constructs.json has the constructs of public programs, made by fabsim/tools/census.py, and
docs/csl-constructs-documented.txt what the vendor's pages describe.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import fabsim
from collc.driver.bundle import Bundle
from collc.emit.attestation import FILE as ATTESTED
from collc.emit.attestation import FORMS, Form
from collc.target import SDK_RELEASES
from emitting import example_bundle

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "docs" / "csl-constructs.json"
DOCUMENTED = ROOT / "docs" / "csl-constructs-documented.txt"
PAGE = ROOT / "docs" / "csl-constructs.md"
EXAMPLES = sorted((ROOT / "examples").glob("*.coll"))
TARGETS = ("wse2", "wse3")
REMOVED = ("comptime_struct",)  # types that the front end takes for older releases' sake

Table = dict[str, dict[str, dict[str, list[str]]]]


@dataclass(frozen=True)
class Row:
    """What a page says of the constructs that a pattern matches; `forbidden`: not to use them."""

    pattern: re.Pattern[str]
    targets: tuple[str, ...]
    page: str
    forbidden: bool


@cache
def programs() -> Table:
    """Public programs by construct and target."""
    table: Table = json.loads(PROGRAMS.read_text())
    return table


@cache
def documented() -> tuple[Row, ...]:
    """The rows of the vendor's pages."""
    return tuple(_rows(DOCUMENTED.read_text().splitlines()))


def _rows(lines: Iterable[str]) -> Iterator[Row]:
    for line in lines:
        if line.strip() and not line.startswith("#"):
            pattern, targets, page = line.rsplit(" | ", 2)
            of = TARGETS if targets == "both" else (targets,)
            yield Row(re.compile(pattern.removeprefix("!")), of, page, pattern.startswith("!"))


def page_of(construct: str, target: str, forbidden: bool = False) -> str | None:
    """The page and topic that describes a construct, or forbids it."""
    for row in documented():
        if (
            row.forbidden == forbidden
            and target in row.targets
            and row.pattern.fullmatch(construct)
        ):
            return row.page
    return None


def attested(construct: str, target: str) -> bool:
    """Whether a public program for the target or a page has it, and no page forbids it."""
    if page_of(construct, target, forbidden=True):
        return False
    return target in programs().get(construct, {}) or page_of(construct, target) is not None


def bundle_of(example: Path, target: str, given: Mapping[str, int]) -> Bundle:
    """An example as it is built for a target, with these parameters."""
    return example_bundle(example, target, given)


def constructs_of(example: Path, target: str, given: Mapping[str, int]) -> dict[str, str]:
    """The constructs of an example's bundle for a target, with the first place of each."""
    return constructs_in(bundle_of(example, target, given), target)


def by_pages_alone(construct: str, target: str) -> bool:
    """Whether a page has it and no public program for the target."""
    return attested(construct, target) and target not in programs().get(construct, {})


def form_of(construct: str) -> Form | None:
    """The form that manifests name a construct by."""
    return next((form for form in FORMS if re.fullmatch(form.constructs, construct)), None)


def attested_forms(ours: Iterable[str]) -> dict[str, list[str]]:
    """The targets for which pages alone attest a form, by its name, given the constructs of emitted
    text."""
    return {
        form.name: [
            target
            for target in form.targets
            if any(form_of(one) is form and by_pages_alone(one, target) for one in ours)
        ]
        for form in FORMS
    }


def constructs_in(bundle: Bundle, target: str) -> dict[str, str]:
    """The same of what was compiled. Its text is of no release beyond those it claims."""
    with tempfile.TemporaryDirectory() as folder:
        bundle.write(folder)
        compiled = fabsim.compile(f"{folder}/layout.csl", arch=target, constructs=True)
        claimed = SDK_RELEASES[target]
        assert compiled.since == claimed[0], f"the text has what came with SDK {compiled.since}"
        found = {what: f"{Path(file).name}:{line}" for what, file, line in compiled.constructs}
    return found | dict(removed_types(bundle.files))


def removed_types(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The types in some text that a release has removed, with a place of each."""
    for name, text in files.items():
        for number, line in enumerate(text.splitlines() if name.endswith(".csl") else (), 1):
            code = line.partition("//")[0]
            words = (word for word in REMOVED if re.search(rf"\b{word}\b", code))
            yield from ((f"type {word}", f"{name}:{number}") for word in words)


# Sections of the page: title, and what its constructs look like.
SECTIONS = (
    ("Forms of operations", r".*(operation( that.*)?|@map): .*"),
    ("Operands", r".* (of|in) (a|an|one) .*operation.*|.* of @map"),
    ("DSRs", r"@(load_to_dsr|get_dsr).*"),
    ("Options", r"option of .*|on_control.*|priority .*"),
    ("Standard modules", r"<.*"),
    ("Builtins", r"@.*"),
    ("Configurations", r"\w[\w ]* \.\w+ = .*"),
    ("Syntax", r".*"),
)

HEAD = """# CSL constructs in emitted code

What emitted code uses of CSL, by the kinds of arguments and the part of the program, and what
attests it: public programs (compiled by fabsim's front end, which says what they use:
`cslc --constructs`) and the vendor's pages. A construct that neither attests for a target must not
appear in emitted text for it; `tests/emit/test_constructs.py` compares every example on both
targets. What it still finds is in the last table, and that list only gets shorter.

Made by `python tests/constructs.py`, from [csl-constructs.json](csl-constructs.json) (all {count}
constructs of public programs; `make constructs FOLDERS=...` makes it) and
[csl-constructs-documented.txt](csl-constructs-documented.txt).

How a construct is written: operations are alike, so the names of builtins stand by themselves and
a form says `dest <- sources`, with `memory` for `mem1d_dsd` and `mem4d_dsd`. `(variable)` is a DSD
in a variable that is never assigned, `(run time)` one that changes or is computed, `(extent 0)` a
fabric DSD without a length. `dsr_dest of a fabout_dsd` is a register that is loaded with such a DSD
somewhere in the program. A role follows where it matters: `in the layout`, `in a comptime block`,
`in code`. The columns have the SDK releases whose programs use it, one of these programs, and the
page; `ours` counts the examples that use it, of {examples}.
"""

TAIL = """
## Names

Names of the user's that meet a word of CSL (listed in `compiler/emit/reserved.py`: [doc]), a word
of Python or a name that emitted files declare get a prefix: `compiler/emit/spelling.py`.
"""


def page(ours: dict[str, dict[str, set[str]]]) -> str:
    """The page, given the examples by construct and target."""
    parts = [HEAD.format(count=len(programs()), examples=len(EXAMPLES))]
    left = set(ours)
    for title, pattern in SECTIONS:
        here = sorted(one for one in left if re.fullmatch(pattern, one))
        left -= set(here)
        rows = [_row(one, ours[one]) for one in here if _is_attested(one, ours[one])]
        parts.append("\n".join([f"## {title}", "", *TABLE_HEAD, *rows, ""]))
    parts += [_by_pages(ours), _unattested(ours)]
    return "\n".join(parts) + TAIL


TABLE_HEAD = ("| construct | wse2 | wse3 | ours |", "|---|---|---|---|")


def _is_attested(construct: str, ours: dict[str, set[str]]) -> bool:
    return all(attested(construct, target) for target in ours)


def _row(construct: str, ours: dict[str, set[str]]) -> str:
    cells = (_attestation(construct, target) for target in TARGETS)
    users = len(set().union(*ours.values()))
    return f"| `{_escaped(construct)}` | {' | '.join(cells)} | {users} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _attestation(construct: str, target: str) -> str:
    """Releases and a program, and the page."""
    entry = programs().get(construct, {}).get(target)
    cells = []
    if entry is not None:
        releases = entry["releases"]
        span = releases[:1] if len(releases) < 2 else [f"{releases[0]} to {releases[-1]}"]
        cells.append("; ".join([*span, entry["programs"][0]]))
    described = page_of(construct, target)
    if described:
        cells.append(f"[doc] {described}")
    return "<br>".join(cells) or "-"


def _by_pages(ours: Iterable[str]) -> str:
    head = [
        "## Forms that rest on pages alone",
        "",
        "As manifests name them (`forms.by_pages_alone`), with the targets for which no public",
        "program has all of their constructs:",
        "",
        "| form | targets |",
        "|---|---|",
    ]
    rows = [f"| {name} | {', '.join(of)} |" for name, of in attested_forms(ours).items() if of]
    return "\n".join([*head, *rows, ""])


def _unattested(ours: dict[str, dict[str, set[str]]]) -> str:
    rows = [
        f"| `{_escaped(construct)}` | {target} | {len(names)} | {', '.join(sorted(names)[:3])} |"
        for construct in sorted(ours)
        for target, names in sorted(ours[construct].items())
        if not attested(construct, target)
    ]
    head = ["## Not attested", "", "| construct | target | ours | such as |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


# Parameters with which an example has forms that it has not with those in its file: vectors of an
# odd number of words.
OTHERWISE = {"rotating_root": {"B": 63}}


def of_all_examples() -> dict[str, dict[str, set[str]]]:
    """Examples by construct and target."""
    ours: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for example in EXAMPLES:
        for target in TARGETS:
            for given in ({}, OTHERWISE.get(example.stem)):
                for construct in constructs_of(example, target, given) if given is not None else ():
                    ours[construct][target].add(example.stem)
    return ours


def main() -> int:
    """Write the page, and what manifests say of forms by it."""
    ours = of_all_examples()
    PAGE.write_text(page(ours))
    rows = (f"  {json.dumps(name)}: {json.dumps(of)}" for name, of in attested_forms(ours).items())
    ATTESTED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
