"""Which constructs of CSL public programs use, into a table that says who attests each.

    python fabsim/tools/census.py FOLDER... [--json FILE] [--jobs N] [--timeout SECONDS]

A FOLDER is a copy of a repository or of one of its releases. Every program in it is compiled by its
own scripts, `commands*.sh` and those of `SCRIPTS`, with fabsim's `cslc --constructs`; host scripts
are not run. `COMMANDS` has the commands of repositories that have none, or only some for a whole
wafer.

The table gets, for each construct and target, the programs that use it, up to three of different
folders and the newest first, and the releases it was seen in. It holds names of programs and counts
and nothing of their text. Entries of folders that are not given stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Programs named for a construct and target.
NAMED = 3

# Repositories by the names that their copies have.
REPOSITORIES = (
    (r"csl-(v[\d.]+)", r"Cerebras/csl-examples \1"),
    (r"sdk-(v[\d.]+)", r"Cerebras/sdk-examples \1"),
    ("spatial-collectives", "spcl/spatial-collectives"),
    ("WaferLLM", "MeshInfra/WaferLLM"),
    ("cerebras", "Jorineg/cerebras"),
    ("stencil-cerebras", "Elia-Belli/stencil-cerebras"),
    ("cs5220_hw4", "da-luce/cs5220_hw4"),
    ("FABRICA", "luozoupi/FABRICA"),
)

# Releases of repositories whose names do not say it, where their text does.
RELEASES = {"spcl/spatial-collectives": "1.0", "Jorineg/cerebras": "1.4", "luozoupi/FABRICA": "1.4"}

# Scripts that compile a program, by the end of their path, with the arguments they want.
SCRIPTS = {
    r"MeshGEMV/.*/run_sim\.sh": "4 64 64 2",
    r".*/run_sim\.sh": "4 64 64 64",
    r"(.*/)?run\.sh": "",
    r"(.*/)?commands[^/]*\.sh": "",
}

CSLC_LINE = "cslc {layout} --fabric-offsets=4,1 --memcpy --channels=1 --params={params} "
LINE = CSLC_LINE + "--fabric-dims=15,3"
SQUARE = CSLC_LINE + "--fabric-dims=11,6"
ONE = CSLC_LINE + "--fabric-dims=8,3 --arch=wse3"


def _spatial() -> Iterator[str]:
    """The layouts of spcl/spatial-collectives, on 8 or 16 PEs."""
    for algorithm in range(4):
        for everybody in range(2):
            common = f"Algo:{algorithm},is_allred:{everybody},step:2"
            yield LINE.format(layout="layout.csl", params=f"Nx:8,Pw:8,{common}")
            square = f"Nx_start:8,Pw:4,Ph:4,{common}"
            yield SQUARE.format(layout="layout_2d_test.csl", params=square)
            yield SQUARE.format(layout="layout_2d_test_inc.csl", params=square)
    order = "python generate_pre_order_2d.py {pes} 8 x && "
    plan = "Nx_start:8,Pw:8,Ph:1,Algo:0,is_allred:0,step:2"
    yield order.format(pes=8) + LINE.format(layout="layout_1d_pre_order_test.csl", params=plan)
    plan = "Nx_start:8,Pw:4,Ph:4,Algo:0,is_allred:0,step:2"
    yield order.format(pes=4) + SQUARE.format(layout="layout_2d_pre_order_test.csl", params=plan)
    spread = "Nx:8,Pw:8,Algo:0,is_allred:0,step:0"
    yield LINE.format(layout="layout_broadcast.csl", params=spread)


def _fabrica() -> Iterator[str]:
    """The kernels of luozoupi/FABRICA, whose host scripts are not part of the copy."""
    sizes = {
        "Dot-Product-1PE": "n:64",
        "Histogram-1PE": "n:64,n_buckets:8,bucket_size:8",
        "MSE-Loss-1PE": "n:64",
        "Prefix-Sum-1PE": "n:64",
        "SAXPY-1PE": "n:64",
        "Stencil7pt-1PE": "Nx:4,Ny:4,Nz:4",
        "Tensor-Transpose-021": "width:1,height:1,ax1:4,ax2:4,ax3:4",
    }
    for kernel, params in sizes.items():
        yield ONE.format(layout=f"kernels/{kernel}/CSL/layout.csl", params=params)


# What stands in for the scripts of a repository.
COMMANDS = {
    "spcl/spatial-collectives": list(_spatial()),
    "luozoupi/FABRICA": list(_fabrica()),
}

CSLC = """#!/bin/sh
exec {python} -m fabsim cslc "$@" --constructs "$CENSUS/$$.json"
"""
NOTHING = "#!/bin/sh\nexit 0\n"


@dataclass(frozen=True)
class Script:
    """Something that compiles a program: its name in the table, where to run it and what."""

    name: str
    folder: Path
    command: list[str]


@dataclass(frozen=True, order=True)
class Use:
    """A construct in a program, for a target."""

    construct: str
    target: str
    release: str
    program: str


def main() -> int:
    """Compile everything and write the table; programs that do not compile are named."""
    options = _options()
    uses: set[Use] = set()
    covered = [repository(Path(name).resolve().name) for name in options.folders]
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.folders:
            source = Path(name).resolve()
            copy = shutil.copytree(
                source, Path(scratch) / source.name, ignore=shutil.ignore_patterns(".git")
            )
            uses |= _census(copy, Path(scratch), options)
    table = merged(_read(options.json), uses, covered)
    Path(options.json).write_text(as_text(table))
    print(f"{len(table)} constructs")
    return 0


def repository(folder: str) -> str:
    """The repository, with its release, that a folder is a copy of."""
    for pattern, name in REPOSITORIES:
        if re.fullmatch(pattern, folder):
            return re.sub(pattern, name, folder)
    return folder


def release_of(repository: str) -> str:
    """The release that a repository's name or text says, or nothing."""
    tag = re.search(r" v(\d+\.\d+)", repository)
    return tag.group(1) if tag else RELEASES.get(repository, "")


def _census(folder: Path, scratch: Path, options: argparse.Namespace) -> set[Use]:
    """What the programs of a folder use."""
    name = repository(folder.name)
    scripts = list(_scripts(folder, name))
    shims = _shims(scratch)
    uses: set[Use] = set()
    silent = []
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda one: _run(one, shims, scratch, options.timeout), scripts)
        for script, reports in zip(scripts, results, strict=True):
            if not reports:
                silent.append(script.name)
            uses |= {
                Use(construct, report["target"], release_of(name), script.name)
                for report in reports
                for construct in report["constructs"]
            }
    print(f"{name}: {len(scripts)} programs, {len(uses)} uses", flush=True)
    for one in silent:
        print(f"  nothing from {one}", flush=True)
    return uses


def _scripts(folder: Path, name: str) -> Iterator[Script]:
    for command in COMMANDS.get(name, []):
        layout = next(word for word in command.split() if word.endswith(".csl"))
        yield Script(f"{name}: {layout}", folder, ["bash", "-c", command])
    if name in COMMANDS:
        return
    for path in sorted(folder.rglob("*.sh")):
        inside = path.relative_to(folder)
        wanted = (words for end, words in SCRIPTS.items() if re.fullmatch(end, str(inside)))
        arguments = next(wanted, None)
        if arguments is not None:
            command = ["bash", path.name, *arguments.split()]
            yield Script(f"{name}: {inside.with_suffix('')}", path.parent, command)


def _run(script: Script, shims: Path, scratch: Path, timeout: float) -> list[dict[str, Any]]:
    """The reports of all compilations of a script."""
    reports = Path(tempfile.mkdtemp(dir=scratch))
    environment = os.environ | {"PATH": f"{shims}:{os.environ['PATH']}", "CENSUS": str(reports)}
    process = subprocess.Popen(
        script.command,
        cwd=script.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    texts = (path.read_text() for path in sorted(reports.glob("*.json")))
    found = []
    for text in texts:
        # One that was killed while it wrote.
        try:
            found.append(json.loads(text))
        except ValueError:
            continue
    return found


def _shims(scratch: Path) -> Path:
    shims = scratch / "shims"
    shims.mkdir(exist_ok=True)
    python = shlex.quote(sys.executable)
    texts = {
        "cslc": CSLC.format(python=python),
        "cs_python": NOTHING,
        "python": f'#!/bin/sh\nexec {python} "$@"\n',
    }
    for name, text in texts.items():
        path = shims / name
        path.write_text(text)
        path.chmod(0o755)
    return shims


Table = dict[str, dict[str, dict[str, list[str]]]]


def merged(table: Table, uses: set[Use], covered: list[str]) -> Table:
    """The table with these uses in place of those of the repositories that are covered."""
    everything: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for construct, targets in table.items():
        for target, entry in targets.items():
            for program in entry["programs"]:
                name = program.split(": ")[0]
                if name not in covered:
                    everything[construct][target].append((release_of(name), program))
    for use in uses:
        everything[use.construct][use.target].append((use.release, use.program))
    return {
        construct: {
            target: _entry(found) for target, found in sorted(everything[construct].items())
        }
        for construct in sorted(everything)
    }


def _entry(found: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Programs of different folders, the newest first, and all releases."""
    releases = sorted({release for release, _ in found if release}, key=_version)
    newest = sorted(set(found), key=lambda one: one[1])
    ordered = sorted(newest, key=lambda one: _version(one[0]), reverse=True)
    programs: list[str] = []
    for folders in (True, False):
        for _, program in ordered:
            known = {one.rsplit("/", 1)[0] if folders else one for one in programs}
            if (
                len(programs) < NAMED
                and (program.rsplit("/", 1)[0] if folders else program) not in known
            ):
                programs.append(program)
    return {"programs": programs, "releases": releases}


def _version(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part)


def _read(path: str) -> Table:
    file = Path(path)
    table: Table = json.loads(file.read_text()) if file.exists() else {}
    return table


def as_text(table: Table) -> str:
    """The table with a line for each construct."""
    lines = [f"  {json.dumps(key)}: {json.dumps(table[key])}" for key in sorted(table)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Which constructs public programs use.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--json", default="docs/csl-constructs.json", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=90.0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
