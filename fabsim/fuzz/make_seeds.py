"""Write the first inputs of the target `csl_text`: our own CSL, once for each architecture."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = ("seeds/*.csl", "../src/std/**/*.csl", "../tests/conformance/**/*.csl")
LONGEST = 8000


def main(place: Path) -> None:
    """Fill `csl_text` in a folder; inputs that are there already stay."""
    corpus = place / "csl_text"
    corpus.mkdir(parents=True, exist_ok=True)
    (place / "host_calls").mkdir(exist_ok=True)
    for pattern in SOURCES:
        for source in sorted(HERE.glob(pattern)):
            text = source.read_bytes()[:LONGEST]
            for architecture in (b"0", b"1"):
                name = hashlib.sha256(architecture + text).hexdigest()[:16]
                (corpus / name).write_bytes(architecture + text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE / "corpus")
