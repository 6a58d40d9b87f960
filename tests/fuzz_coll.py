"""Random `.coll` texts through the front end: whatever a text is, the answer is a program or a
diagnostic.

    python tests/fuzz_coll.py [--seconds N] [--seed N]

A text is one of the examples, or one that was kept, with words taken out, put in, swapped or
replaced by others of the grammar's. It is formatted, printed and read again, and proved. Texts that
get another set of codes than all before are kept in .cache/fuzz-coll. What ends in anything but a
CollcError, or takes longer than `PATIENCE` seconds, goes to .cache/fuzz-coll/faults, and the status
is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import signal
import sys
import traceback
from pathlib import Path
from time import monotonic

from collc.base.diagnostics import CollcError
from collc.format import format_text
from collc.language import parse_source
from collc.language.parser import parse_text
from collc.language.printer import show
from collc.proof import prove
from collc.schedule import build_schedule

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".cache" / "fuzz-coll"
FAULTS = KEPT / "faults"
PATIENCE = 20
LONGEST = 4000  # characters
LARGEST = 4096  # PEs of a grid that is proved: a minute for a wafer says nothing about the text
WORD = re.compile(r"\s+|//[^\n]*|\w+|[^\w\s]")
NUMBERS = ("0", "1", "2", "7", "16", "255", "750", "65535", "4294967296", "99999999999999999999")
ODD = (
    "\u202e",
    "\u200b",
    "\x00",
    "\r",
    "\t",
    "é",
    "\ufeff",
    "//",
    '"',
    "{",
    "}",
    "(",
    ")",
    "-",
    "..",
)


def grammar_words() -> list[str]:
    """The words and signs of the language, from its grammar."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "grammar").glob("*.lark"))
    return sorted(set(re.findall(r'"([^"\\\n]+)"', text)))


def examples() -> list[str]:
    """Texts to begin with."""
    paths = sorted((ROOT / "examples").rglob("*.coll")) + sorted(KEPT.glob("*.coll"))
    paths += sorted((ROOT / "tests" / "errors").rglob("*.coll"))
    return [path.read_text(encoding="utf-8", errors="replace") for path in paths]


def changed(text: str, others: list[str], words: list[str], choose: random.Random) -> str:
    """A text with a few words changed."""
    pieces = WORD.findall(text)
    for _ in range(choose.choice((1, 1, 2, 3, 8))):
        at = choose.randrange(len(pieces) + 1)
        match choose.randrange(6):
            case 0:
                del pieces[at : at + choose.randint(1, 3)]
            case 1:
                pieces[at:at] = [" ", choose.choice(words), " "]
            case 2:
                pieces[at : at + 1] = [choose.choice((*NUMBERS, *ODD))]
            case 3:
                pieces[at:at] = pieces[at : at + choose.randint(1, 12)]
            case 4:
                other = WORD.findall(choose.choice(others))
                begin = choose.randrange(len(other) + 1)
                pieces[at : at + 5] = other[begin : begin + choose.randint(1, 30)]
            case _:
                numbers = [i for i, piece in enumerate(pieces) if piece.isdecimal()]
                if numbers:
                    pieces[choose.choice(numbers)] = choose.choice(NUMBERS)
    return "".join(pieces)[:LONGEST]


def codes_of(text: str) -> tuple[str, ...]:
    """What the front end makes of a text: the codes of all that it says."""
    try:
        formatted = format_text("fuzz.coll", text)
        assert format_text("fuzz.coll", formatted) == formatted, "formatting again changes it"
        printed = "\n".join(map(show, parse_text("fuzz.coll", text)))
        again = "\n".join(map(show, parse_text("fuzz.coll", printed)))
        assert again == printed, "what is printed is read as something else"
        spec = parse_source(text, file="fuzz.coll")
        found = [one.code for one in spec.notices]
        for one in spec.collectives:
            if one.undecided is None and one.grid.width * one.grid.height <= LARGEST:
                found += [problem.code for problem in prove(build_schedule(one))]
    except CollcError as refused:
        found = [problem.code for problem in refused.diagnostics]
    return tuple(sorted(set(found)))


def tried(text: str) -> tuple[tuple[str, ...], str]:
    """The codes, and what is wrong with the front end, if anything is."""
    signal.alarm(PATIENCE)
    try:
        return codes_of(text), ""
    except (Exception, RecursionError):
        return (), traceback.format_exc()
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {PATIENCE} s")


def hunt(seconds: float, seed: int) -> int:
    """Try texts for so long; the number of faults."""
    choose, words, texts = random.Random(seed), grammar_words(), examples()
    FAULTS.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGALRM, _too_long)
    seen: set[tuple[str, ...]] = set()
    faults: set[str] = set()
    count, end = 0, monotonic() + seconds
    while monotonic() < end:
        text = changed(choose.choice(texts), texts, words, choose)
        codes, fault = tried(text)
        count += 1
        name = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        if fault:
            where = fault.strip().splitlines()[-3]  # the same place is the same fault
            if where not in faults:
                faults.add(where)
                (FAULTS / f"{name}.coll").write_text(text, encoding="utf-8", errors="replace")
                print(f"{FAULTS / name}.coll:\n{fault}", file=sys.stderr)
        elif codes not in seen:
            seen.add(codes)
            texts.append(text)
            (KEPT / f"{name}.coll").write_text(text, encoding="utf-8", errors="replace")
    print(f"{count} texts, seed {seed}: {len(seen)} sets of codes, {len(faults)} faults")
    return len(faults)


def main() -> int:
    """Try texts; 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="0 for another one each time")
    options = parser.parse_args()
    return int(hunt(options.seconds, options.seed or random.SystemRandom().getrandbits(32)) > 0)


if __name__ == "__main__":
    sys.exit(main())
