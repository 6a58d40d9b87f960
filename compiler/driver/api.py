"""What Python programs call: `collc.compile`."""

from pathlib import Path
from typing import SupportsIndex

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.driver.read_back import verify_text as read_back
from collc.language import read_source


def compile(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    target: str | None = None,
    verify_text: bool = True,
    **parameters: SupportsIndex,
) -> Bundle:
    """Compile a `.coll` file, or a text that need not be in one; keyword arguments set its
    parameters. A text beside a path stands for what the file has: messages call it by the path,
    and it imports what the file could. Where fabsim is installed its front end reads the emitted
    text, unless `verify_text` is false.

    Raises CollcError when the file cannot be read or the program is at fault, and TypeError for a
    parameter that is no integer, or without a path and a text.
    """
    if text is None:
        if path is None:
            raise TypeError("compile needs a path, or a text: compile(text='target wse2 ...')")
        text = read_source(Path(path))
    bundle = compile_text(text, str(path or "input.coll"), parameters, target)
    if verify_text:
        read_back(bundle)
    return bundle
