"""What the comments above a declaration say about it: its first sentence, and its other names."""

import re

_OTHERS = re.compile(r"Also called: (.*?)\.(?: |$)")


def above(lines: list[str]) -> list[str]:
    """The comment that ends where these lines end."""
    start = len(lines)
    while start and lines[start - 1].startswith("//"):
        start -= 1
    return lines[start:]


def first_sentence(comment: list[str]) -> str:
    """The first sentence of the first paragraph of a comment."""
    words: list[str] = []
    for line in comment:
        text = line.removeprefix("//").strip()
        if not text:
            break
        words += text.split()
    for index, word in enumerate(words):
        if word.endswith(".") and word != "...":
            return " ".join(words[: index + 1])
    return " ".join(words)


def other_names(comment: list[str]) -> tuple[str, ...]:
    """The names behind "Also called:", with commas between them, up to a full stop."""
    text = " ".join(" ".join(line.removeprefix("//").strip() for line in comment).split())
    found = _OTHERS.search(text)
    return tuple(name.strip() for name in found[1].split(",")) if found else ()
