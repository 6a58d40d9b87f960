"""Builds the playground: a folder with the viewer, the compiler and the simulator for a browser.

    python playground/build.py [--wheels PATH] [--output DIRECTORY]

Pyodide comes from npm, with `viewer/`; numpy for it from Pyodide's server, or from `--wheels`; the
evaluator and fabsim are built here as extension modules for it; what else is needed is Python as
this interpreter has it installed. Everything Python is in `packages.zip`. docs/playground.md says
more.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = "wasm32-unknown-emscripten"
MODULE_SUFFIX = ".cpython-312-wasm32-emscripten.so"  # of Pyodide 0.27
RUNTIME = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
SERVER = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{file}"
# what collc imports, and what that imports
PURE = (
    "click",
    "jinja2",
    "lark",
    "markdown-it-py",
    "markupsafe",
    "mdurl",
    "networkx",
    "pygments",
    "rich",
)
# our own packages, and where they are
PACKAGES = {
    "collc": "compiler",
    "collc/grammar": "grammar",
    "collc/examples": "examples",
    "collc/templates": "templates",
    "collc_research": "research",
    "fabsim": "fabsim/python/fabsim",
}
LEFT_OUT = {"__pycache__", "tests", "node_modules", "builds"}
EXAMPLES = (
    "two_phase",
    "chain",
    "binary_tree",
    "allreduce_2d",
    "ring_allreduce",
    "reduce_scatter",
    "allgather",
    "all_to_all",
    "halo_exchange",
    "program_mixed",
    "own_operation",
    "auto",
)
Files = dict[str, bytes]


class BuildError(Exception):
    """Something that the playground is made of is not there."""


def main() -> None:
    """Build it, or say in a line what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build/playground")
    parser.add_argument("--wheels", type=Path, help="where numpy's wheel is: a folder or a zip")
    given = parser.parse_args()
    try:
        build(given.output, given.wheels)
    except BuildError as error:
        sys.exit(f"playground: {error}")


def build(output: Path, wheels: Path | None) -> None:
    """Put everything into `output`."""
    pyodide = ROOT / "viewer/node_modules/pyodide"
    if not pyodide.is_dir():
        raise BuildError("Pyodide is not there: `npm ci` in viewer/ brings it")
    numpy = numpy_wheel(pyodide, wheels)
    modules = {
        f"collc_evaluator{MODULE_SUFFIX}": extension(ROOT / "evaluator", "collc_evaluator"),
        f"fabsim/_native{MODULE_SUFFIX}": extension(ROOT / "fabsim/binding", "fabsim_native"),
    }
    (output / "pyodide").mkdir(parents=True, exist_ok=True)
    for name in RUNTIME:
        shutil.copyfile(pyodide / name, output / "pyodide" / name)
    shutil.copyfile(pyodide / "pyodide-lock.json", output / "pyodide/pyodide-lock.json")
    (output / "packages.zip").write_bytes(packed({**python_files(), **modules, **numpy}))
    (output / "examples.json").write_text(json.dumps(example_texts()), encoding="utf-8")
    subprocess.run(["node", "playground/build.mjs", output], cwd=ROOT / "viewer", check=True)
    first = ["-m", "collc", "view", f"{EXAMPLES[0]}.coll", "-o", str(output / "start.html")]
    subprocess.run(
        [sys.executable, *first], cwd=ROOT / "examples", check=True, stdout=subprocess.DEVNULL
    )


def numpy_wheel(pyodide: Path, wheels: Path | None) -> Files:
    """The files of numpy, of the wheel whose hash Pyodide's lock file has."""
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    said = lock["packages"]["numpy"]
    data = _given(wheels, said["file_name"]) if wheels else _downloaded(lock, said["file_name"])
    if hashlib.sha256(data).hexdigest() != said["sha256"]:
        raise BuildError(f"{said['file_name']} is not what Pyodide's lock file names")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name[-1] != "/"}


def _given(wheels: Path, name: str) -> bytes:
    if wheels.is_dir():
        if not (wheels / name).is_file():
            raise BuildError(f"{wheels} has no {name}")
        return (wheels / name).read_bytes()
    with zipfile.ZipFile(wheels) as archive:
        found = [member for member in archive.namelist() if member.split("/")[-1] == name]
        if not found:
            raise BuildError(f"{wheels} has no {name}")
        return archive.read(found[0])


def _downloaded(lock: dict[str, dict[str, str]], name: str) -> bytes:
    url = SERVER.format(version=lock["info"]["version"], file=name)
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise BuildError(f"{url}: {error}; --wheels PATH takes {name} from elsewhere") from error


def extension(crate: Path, library: str) -> bytes:
    """An extension module of a crate, optimised, for Pyodide's Python."""
    rustc = os.environ.get("RUSTC", "rustc")
    sysroot = _said(rustc, "--print", "sysroot")
    if not (Path(sysroot) / "lib/rustlib/src/rust/library").is_dir():
        raise BuildError(f"{rustc} has no sources of its library: rustup component add rust-src")
    environment = os.environ | {
        # the standard library is built too, for which there is no stable way
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": "-C relocation-model=pic -C panic=abort",
        "PYO3_CROSS_PYTHON_VERSION": "3.12",
        "WASM_LD": os.environ.get("WASM_LD") or _linker(sysroot),
    }
    target = ROOT / "build/wasm"
    command = ["cargo", "rustc", "--quiet", "-Z", "build-std=std,panic_abort", "--target", TARGET]
    command += ["--profile", "quick", "--features", "extension-module", "--crate-type", "cdylib"]
    command += ["--target-dir", str(target), "--", "-C", "link-self-contained=no"]
    command += ["-C", f"linker={ROOT / 'playground/link.py'}", "-C", "linker-flavor=em"]
    if subprocess.run(command, cwd=crate, env=environment, check=False).returncode:
        raise BuildError(f"{library} cannot be built for {TARGET}")
    return (target / TARGET / "quick" / f"{library}.wasm").read_bytes()


def _linker(sysroot: str) -> str:
    """LLVM's linker: that of a Rust toolchain, or the system's."""
    for place in (sysroot, _said("rustup", "run", "stable", "rustc", "--print", "sysroot")):
        found = sorted(Path(place).glob("lib/rustlib/*/bin/rust-lld")) if place else []
        if found:
            return f"{found[0]} -flavor wasm"
    if shutil.which("wasm-ld"):
        return "wasm-ld"
    raise BuildError("there is no linker for WebAssembly: rust-lld of a Rust toolchain, or wasm-ld")


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def python_files() -> Files:
    """Every file of Python, by its path under site-packages."""
    found: Files = {}
    for name in PURE:
        installed = distribution(name)
        for file in installed.files or ():
            if file.suffix not in (".so", ".pyc") and ".." not in file.parts:
                found[str(file)] = Path(str(installed.locate_file(file))).read_bytes()
    for package, folder in PACKAGES.items():
        found |= {f"{package}/{name}": data for name, data in _tree(ROOT / folder)}
    for name in ("fcntl.py", "playground.py", "wide_integers.py"):
        found[name] = (ROOT / "playground" / name).read_bytes()
    return found


def _tree(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder; what links lead to is as if it were there."""
    for path, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in sorted(names):
            if not name.endswith((".pyc", ".so")):
                file = Path(path) / name
                yield str(file.relative_to(folder)), file.read_bytes()


def packed(files: Files) -> bytes:
    """A zip of some files, the same for the same files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)
    return data.getvalue()


def example_texts() -> dict[str, str]:
    """What the page offers to begin with."""
    return {name: (ROOT / f"examples/{name}.coll").read_text() for name in EXAMPLES}


if __name__ == "__main__":
    main()
