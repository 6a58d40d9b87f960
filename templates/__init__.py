"""The templates, and how they are filled in.

Jinja makes Python of a template before it fills it in, which takes longer than all else that a
small build does. So the installation makes it once (setup.py), into `compiled` beside the
templates; what was made of other texts, or by another Jinja, is left aside. This module imports
nothing of collc: it is there before collc is.
"""

import hashlib
from pathlib import Path

import jinja2

FOLDER = Path(__file__).parent
COMPILED = FOLDER / "compiled"
_DIGEST = COMPILED / "digest"


def environment(compiled: Path = COMPILED) -> jinja2.Environment:
    """What templates are filled in by, from their Python where `compiled` holds that of these."""
    sources = jinja2.FileSystemLoader(FOLDER)
    try:
        made_of_these = (compiled / _DIGEST.name).read_text(encoding="ascii") == _digest()
    except (OSError, ValueError):
        made_of_these = False
    return jinja2.Environment(
        loader=jinja2.ModuleLoader(compiled) if made_of_these else sources,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def compile_all(compiled: Path = COMPILED) -> None:
    """Write the Python of all templates into a folder, the digest of what it is made of last."""
    compiled.mkdir(parents=True, exist_ok=True)
    (compiled / _DIGEST.name).unlink(missing_ok=True)
    for old in compiled.glob("tmpl_*.py"):
        old.unlink()
    environment(compiled).compile_templates(compiled, zip=None, log_function=lambda _: None)
    (compiled / _DIGEST.name).write_text(_digest(), encoding="ascii")


def _digest() -> str:
    """Of the templates, of Jinja, and of what is said here of how they are filled in."""
    digest = hashlib.sha256(jinja2.__version__.encode())
    for file in (Path(__file__), *sorted(FOLDER.glob("*.j2"))):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
