#!/usr/bin/env python3
"""Links an extension module for Pyodide, called by rustc in the place of `emcc`.

Such a module is a dynamic library of WebAssembly: memory, table and everything of C and of Python
come from Pyodide when it is loaded, so that neither Emscripten nor its libraries are needed, only
LLVM's linker. `WASM_LD` is its command (`rust-lld -flavor wasm`, or `wasm-ld`).
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

_DYNAMIC = [
    "-shared",
    "--experimental-pic",
    "--no-entry",
    "--unresolved-symbols=import-dynamic",
    "-Bsymbolic",
    "--gc-sections",
    "--strip-debug",
]
_EXPORTED = "EXPORTED_FUNCTIONS="


def linker_words(words: list[str]) -> list[str]:
    """What LLVM's linker is told where `emcc` is told `words`: the same inputs, output and exports.
    Emscripten's own settings, which are about a program of its own, are left out."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-o":
            found += ["-o", next(rest)]
        elif word.startswith(_EXPORTED):
            # C's names, which Emscripten writes with an underscore before them
            found += [f"--export={name[1:]}" for name in json.loads(word.removeprefix(_EXPORTED))]
        elif word.endswith((".o", ".rlib", ".a")):
            found.append(word)
    return found


def _unpacked(words: list[str]) -> list[str]:
    """The arguments, also where there are so many that they stand in a file."""
    if len(words) == 1 and words[0].startswith("@"):
        return shlex.split(Path(words[0][1:]).read_text(encoding="utf-8"))
    return words


if __name__ == "__main__":
    linker = shlex.split(os.environ["WASM_LD"])
    given = linker_words(_unpacked(sys.argv[1:]))
    sys.exit(subprocess.run([*linker, *_DYNAMIC, *given], check=False).returncode)
