"""What the front end and the editor say of a few thousand changed `.coll` texts: written to a file
by one version of the compiler, compared with by another.

    python tests/same_answers.py write FILE [--count N] [--seed N]
    python tests/same_answers.py compare FILE

Texts are the examples, those of tests/errors and the prelude, with tokens taken out, doubled or
swapped, names misspelt or exchanged, declarations given twice, and words of the grammar put in. An
answer is every diagnostic with its places, help and fix, or else the program as `show_spec` prints
it; the text as `collc fmt` has it; and the names, symbols, completions and hovers of an editor.
`compare` prints what differs, and exits with 1 where something does.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import itertools

from collc.base.diagnostics import CollcError
from collc.format import format_text
from collc.language import parse_source
from collc.language.render import as_json
from collc.language.show import show_spec
from collc.lsp.document import Document
from tests.fuzz_coll import ROOT, WORD, changed, grammar_words

LONGEST = 3000  # characters: longer texts say no more, and take longer
PATIENCE = 5  # seconds for an answer; a text that takes longer is left out
LARGEST = 20_000  # characters of a Spec; of a longer one its beginning is kept
NAME = re.compile(r"[A-Za-z_]\w*")
DECLARATION = re.compile(
    r"^(?:import|target|param|grid|order|tree|algorithm|operation|contract|collective|program)\b",
    re.MULTILINE,
)


def sources() -> list[str]:
    """The texts to begin with, in the order of their files."""
    folders = (ROOT / "examples", ROOT / "tests" / "errors", ROOT / "grammar")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.coll"))]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    return [text for text in texts if text and len(text) <= LONGEST] + _of_prelude(texts[-1])


def _of_prelude(prelude: str) -> list[str]:
    """Programs of one declaration of the prelude each, under another name."""
    begins = [*(one.start() for one in DECLARATION.finditer(prelude)), len(prelude)]
    parts = [prelude[a:b] for a, b in itertools.pairwise(begins)]
    head = "target wse2\ngrid g = 8 x 1\n"
    end = "\ncollective c = barrier() on g { run linear_barrier }\nprogram { c }\n"
    return [head + re.sub(r"^(\w+) (\w+)", r"\1 my_\2", part) + end for part in parts]


def misspelt(word: str, choose: random.Random) -> str:
    """A word with two letters exchanged, or one missing or doubled."""
    at = choose.randrange(len(word))
    match choose.randrange(3):
        case 0:
            return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
        case 1:
            return word[:at] + word[at + 1 :] or "q"
        case _:
            return word[: at + 1] + word[at] + word[at + 1 :]


def with_other_names(text: str, choose: random.Random) -> str:
    """A name misspelt, or one name for another."""
    found = list(NAME.finditer(text))
    if not found:
        return text
    one, other = choose.choice(found), choose.choice(found)
    new = misspelt(one[0], choose) if choose.random() < 0.6 else other[0]
    return text[: one.start()] + new + text[one.end() :]


def with_other_tokens(text: str, choose: random.Random) -> str:
    """A token taken out, doubled, or exchanged with another one."""
    pieces = WORD.findall(text)
    at = [i for i, piece in enumerate(pieces) if not piece.isspace() and piece[:2] != "//"]
    if not at:
        return text
    one, other = choose.choice(at), choose.choice(at)
    match choose.randrange(3):
        case 0:
            del pieces[one]
        case 1:
            pieces[one] = f"{pieces[one]} {pieces[one]}"
        case _:
            pieces[one], pieces[other] = pieces[other], pieces[one]
    return "".join(pieces)


def with_other_declarations(text: str, choose: random.Random) -> str:
    """A declaration given twice, taken out, or put elsewhere."""
    begins = [*(one.start() for one in DECLARATION.finditer(text)), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(begins)]
    if not parts:
        return text
    one = choose.randrange(len(parts))
    match choose.randrange(3):
        case 0:
            parts.insert(choose.randrange(len(parts) + 1), parts[one])
        case 1:
            del parts[one]
        case _:
            parts.insert(choose.randrange(len(parts)), parts.pop(one))
    return text[: begins[0]] + "\n".join(parts)


def texts(count: int, seed: int) -> Iterator[str]:
    """Every source as it is, then changed ones."""
    choose, every, words = random.Random(seed), sources(), grammar_words()
    yield from every[:count]
    for _ in range(count - len(every)):
        text = choose.choice(every)
        for _ in range(choose.choice((1, 1, 1, 2, 3))):
            match choose.randrange(5):
                case 0 | 1:
                    text = with_other_names(text, choose)
                case 2:
                    text = with_other_tokens(text, choose)
                case 3:
                    text = with_other_declarations(text, choose)
                case _:
                    text = changed(text, every, words, choose)
        yield text


def answers(text: str, choose: random.Random) -> dict[str, Any]:
    """All that is said of a text."""
    found: dict[str, Any] = {}
    try:
        spec = parse_source(text, file="t.coll")
        found["spec"] = show_spec(spec)[:LARGEST]
        found["notices"] = list(map(as_json, spec.notices))
    except CollcError as error:
        found["diagnostics"] = list(map(as_json, error.diagnostics))
    try:
        found["format"] = format_text("t.coll", text)
    except CollcError as error:
        found["format"] = [one.code for one in error.diagnostics]
    document = Document(ROOT / "tests" / "t.coll", text)
    found["names"] = [[*asdict(one).values()] for one in document.names.names]
    found["declared"] = [[*asdict(one).values()] for one in document.names.declared]
    offsets = sorted(choose.randrange(len(text) + 1) for _ in range(4))
    found["completions"] = [[word[:2] for word in document.completions(at)] for at in offsets]
    hovers = [document.hover(at) for at in offsets]
    found["hovers"] = [one and one[0] for one in hovers]
    return json.loads(json.dumps(found))


def answered(text: str, seed: int) -> dict[str, Any]:
    """The same within `PATIENCE` seconds."""
    signal.alarm(PATIENCE)
    try:
        return answers(text, random.Random(seed))
    except TimeoutError:
        return {"late": True}
    except (Exception, RecursionError) as error:
        return {"fault": f"{type(error).__name__}: {error}"}
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError


def write(file: Path, count: int, seed: int) -> int:
    """Keep the answers of this version, a line of JSON for each text."""
    with file.open("w", encoding="utf-8") as out:
        for index, text in enumerate(texts(count, seed)):
            print(json.dumps({"text": text, **answered(text, index)}), file=out)
    print(f"{count} texts, seed {seed}")
    return 0


def compare(file: Path, shown: int) -> int:
    """Print where this version says something else; 1 if it does."""
    different: Counter[str] = Counter()
    with file.open(encoding="utf-8") as lines:
        for index, line in enumerate(lines):
            before = json.loads(line)
            text = before.pop("text")
            now = answered(text, index)
            if "late" in before or "late" in now:
                different["late"] += "late" in now and "late" not in before
                continue
            parts = [part for part in {**before, **now} if before.get(part) != now.get(part)]
            different.update(["changed"] * bool(parts) + parts)
            if parts and different["changed"] <= shown:
                print(f"--- text {index}\n{text}")
                for part in parts:
                    was, new = (json.dumps(one.get(part), indent=1) for one in (before, now))
                    print(f"{part} before:\n{was}\n{part} now:\n{new}")
    print(f"{index + 1} texts, {different['changed']} with other answers: {dict(different)}")
    return int(different["changed"] > 0)


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="of those that differ")
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    if options.what == "write":
        return write(options.file, options.count, options.seed)
    return compare(options.file, options.show)


if __name__ == "__main__":
    sys.exit(main())
