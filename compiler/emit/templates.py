"""How the templates are filled in.

Jinja makes Python of a template before it fills it in, which takes longer than all else that a
small build does. So the installation makes it once (setup.py, which runs this module before collc
is there), into `compiled` beside the templates; what was made of other texts, or by another Jinja,
is left aside.
"""

import hashlib
from pathlib import Path

import jinja2

_DIGEST = "digest"


def environment(folder: Path, compiled: Path | None = None) -> jinja2.Environment:
    """What the templates of a folder are filled in by, from their Python where `compiled`, else the
    folder of that name in it, holds that of these."""
    compiled = compiled or folder / "compiled"
    try:
        made_of_these = (compiled / _DIGEST).read_text(encoding="ascii") == _digest(folder)
    except (OSError, ValueError):
        made_of_these = False
    return jinja2.Environment(
        loader=jinja2.ModuleLoader(compiled) if made_of_these else jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def compile_all(folder: Path, compiled: Path) -> None:
    """Write the Python of all templates of a folder into another, the digest of what it is made of
    last."""
    compiled.mkdir(parents=True, exist_ok=True)
    (compiled / _DIGEST).unlink(missing_ok=True)
    for old in compiled.glob("tmpl_*.py"):
        old.unlink()
    # without what lies in the folder besides
    environment(folder, compiled).compile_templates(compiled, extensions=("j2",), zip=None)
    (compiled / _DIGEST).write_text(_digest(folder), encoding="ascii")


def _digest(folder: Path) -> str:
    """Of the templates, of Jinja, and of what is said here of how they are filled in."""
    digest = hashlib.sha256(jinja2.__version__.encode())
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.j2")}
    for name, file in ((Path(__file__).name, Path(__file__)), *sorted(files.items())):
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
