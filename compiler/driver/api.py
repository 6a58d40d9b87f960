"""What Python programs call: `collc.compile`."""

from pathlib import Path
from typing import SupportsIndex

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.driver.read_back import verify_text as read_back
from collc.language import read_source


def compile(
    path: str | Path,
    *,
    target: str | None = None,
    verify_text: bool = True,
    **parameters: SupportsIndex,
) -> Bundle:
    """Compile a `.coll` file; keyword arguments set its parameters. Where fabsim is installed its
    front end reads the text, unless `verify_text` is false.

    Raises CollcError when the file cannot be read or the program is at fault, and TypeError for a
    parameter that is no integer.
    """
    bundle = compile_text(read_source(Path(path)), str(path), parameters, target)
    if verify_text:
        read_back(bundle)
    return bundle
