"""What `cslc` does, with fabsim: options, the output directory, and reading it again.

The output directory holds `out.json` with the bound parameters and colors, as host scripts expect,
and `fabsim.json`, which says what to compile when the program is loaded: fabsim keeps no binaries,
it compiles the sources again and refuses them if they have changed in between.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabsim import timing_table
from fabsim._native import CslError, Program, compile
from fabsim.arguments import Parser
from fabsim.mistakes import DamagedProgramError, NoProgramError
from fabsim.options import positive
from fabsim.progress import reporter
from fabsim.route_table import route_table
from fabsim.timing_table import TIMINGS

# What says in an output directory how to compile the program.
RECIPE = "fabsim.json"


# The releases whose CSL fabsim knows.
SDKS = ("0.7", "0.8", "0.9", "1.0", "1.1", "1.2", "1.3", "1.4", "2.10")


def compile_command(arguments: list[str]) -> None:
    """Compile as the command line says. Raises CslError; exits on wrong usage."""
    options = _parser().parse_args(arguments)
    recipe = {
        "layout": str(Path(options.layout).resolve()),
        "arch": options.arch,
        "params": dict(pair for group in options.params for pair in group),
        "colors": dict(pair for group in options.colors for pair in group),
        "fabric_dims": options.fabric_dims,
        "fabric_offsets": options.fabric_offsets,
        "memcpy": options.memcpy,
        "max_inlined_iterations": options.max_inlined_iterations,
        "import_paths": [str(Path(path).resolve()) for path in _import_paths(options)],
        "fp16_format": options.fp16_format,
        "max_comptime_steps": options.max_comptime_steps,
        "sdk": options.sdk,
        "timing": options.timing,
        "rules_off": [rule for group in options.rules_off for rule in group],
        "strict": options.strict or None,
        "colors_by_number": options.colors_by_number,
        "comptime_func_depth_limit": options.comptime_func_depth_limit,
    }
    _refuse_unsupported(options)
    teller = reporter(asked=False, unit="step of evaluation")
    teller.begin(f"compiling {Path(options.layout).name}")
    try:
        program = _compile(
            recipe,
            constructs=options.constructs is not None,
            max_seconds=options.max_seconds,
            progress=teller.told,
        )
    finally:
        teller.end()
    _tell(options, program)
    if options.constructs:
        _write_constructs(Path(options.constructs), program)
    if options.out_routes:
        print(route_table(program))
    if options.memcpy:
        _refuse_a_rectangle_that_does_not_fit(options, program)
    recipe |= {"sha256": _hashes(program), "sdk": program.sdk}
    directory = Path(options.output)
    directory.mkdir(parents=True, exist_ok=True)
    if recipe["timing"] not in TIMINGS:
        recipe["timing"] = timing_table.keep(recipe["timing"], directory)
    bound = {key: recipe[key] for key in ("params", "colors")}
    out = {key: {name: str(value) for name, value in pairs.items()} for key, pairs in bound.items()}
    (directory / "out.json").write_text(json.dumps(out, indent=2) + "\n")
    (directory / RECIPE).write_text(json.dumps(recipe, indent=2) + "\n")


def load(directory: str) -> Program:
    """The program in an output directory.

    Raises NoProgramError, DamagedProgramError or CslError.
    """
    recipe = _recipe(directory)
    try:
        program = _compile(recipe)
        changed = _hashes(program) != recipe["sha256"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _damaged(directory, error) from error
    if changed:
        raise DamagedProgramError(f"the sources of {directory} have changed since it was compiled")
    return program


def fabric_offsets(directory: str) -> tuple[int, int]:
    """Where PE (0, 0) of the program in an output directory is in the fabric.

    Raises NoProgramError or DamagedProgramError.
    """
    return _recipe_pair(directory, "fabric_offsets")


def fabric_dims(directory: str) -> tuple[int, int]:
    """The size of the fabric of an output directory.

    Raises NoProgramError or DamagedProgramError.
    """
    return _recipe_pair(directory, "fabric_dims")


def _recipe_pair(directory: str, key: str) -> tuple[int, int]:
    try:
        x, y = _recipe(directory)[key]
        return int(x), int(y)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(directory, error) from error


def _recipe(directory: str) -> dict[str, Any]:
    path = Path(directory) / RECIPE
    try:
        recipe = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise NoProgramError(f"there is no compiled program in {directory!r}: no {path}") from error
    except OSError as error:
        raise NoProgramError(f"{path} cannot be read: {error.strerror}") from error
    except (RecursionError, ValueError) as error:
        raise _damaged(directory, error) from error
    if not isinstance(recipe, dict):
        raise _damaged(directory, "it is no table")
    return recipe


def _damaged(directory: str, why: object) -> DamagedProgramError:
    path = Path(directory) / RECIPE
    why = f"it lacks {why}" if isinstance(why, KeyError) else str(why)
    return DamagedProgramError(f"{path} is not as cslc wrote it ({why}); compile the program again")


def _compile(
    recipe: dict[str, Any],
    constructs: bool = False,
    max_seconds: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Program:
    dims, offsets = recipe["fabric_dims"], recipe["fabric_offsets"]
    return compile(
        recipe["layout"],
        arch=recipe["arch"],
        params=recipe["params"],
        colors=recipe["colors"],
        fabric_dims=tuple(dims) if dims else None,
        fabric_offsets=tuple(offsets) if offsets else None,
        import_paths=recipe["import_paths"],
        memcpy=recipe["memcpy"],
        max_inlined_iterations=recipe["max_inlined_iterations"],
        fp16_format=recipe["fp16_format"],
        max_comptime_steps=recipe["max_comptime_steps"],
        sdk=recipe["sdk"],
        timing=recipe["timing"],
        rules_off=recipe["rules_off"],
        strict=recipe["strict"],
        colors_by_number=recipe["colors_by_number"],
        comptime_func_depth_limit=recipe["comptime_func_depth_limit"],
        constructs=constructs,
        max_seconds=max_seconds,
        progress=progress,
    )


def _write_constructs(file: Path, program: Program) -> None:
    """What the program uses of the language, and where first."""
    places = {what: f"{source}:{line}" for what, source, line in program.constructs}
    report = {"target": program.arch, "sdk": program.sdk, "constructs": places}
    file.write_text(json.dumps(report, indent=2) + "\n")


def _hashes(program: Program) -> dict[str, str]:
    """The hash of every source file on disk; modules of the library are not on disk."""
    sources = (Path(name) for name in program.sources)
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sources
        if path.is_file()
    }


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="cslc", description="Compile a CSL program.")
    parser.add_argument("layout", help="the file with the layout block")
    parser.add_argument("--arch", choices=("wse2", "wse3"), default="wse2")
    parser.add_argument("--fabric-dims", type=_pair, required=True, metavar="W,H")
    parser.add_argument("--fabric-offsets", type=_pair, required=True, metavar="X,Y")
    parser.add_argument("-o", dest="output", default="out", metavar="DIR")
    parser.add_argument("--params", type=_params, action="append", default=[], metavar="a:1,b:2")
    parser.add_argument("--import-path", action="append", default=[], metavar="DIR")
    parser.add_argument("--memcpy", action="store_true")
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--width-west-buf", type=int, default=0)
    parser.add_argument("--width-east-buf", type=int, default=0)
    parser.add_argument("--colors", type=_params, action="append", default=[], metavar="a:1,b:2")
    parser.add_argument("--fp16-format", choices=("f16", "bf16", "cb16"), default="f16")
    parser.add_argument("--max-inlined-iterations", type=int, default=50)
    parser.add_argument("--warnings-as-errors", action="store_true")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse what the sources leave in doubt, too (or FABSIM_STRICT=1); fabsim's own",
    )
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument(
        "--out-routes", action="store_true", help="print the routes of every PE and color"
    )
    parser.add_argument(
        "--comptime-func-depth-limit",
        type=positive,
        metavar="N",
        help="refuse calls at compile time that are nested deeper",
    )
    parser.add_argument(
        "--constructs",
        metavar="FILE",
        help="write what the program uses of the language, by kinds of arguments; fabsim's own",
    )
    _add_without_effect(parser)
    parser.add_argument(
        "--max-comptime-steps",
        type=positive,
        default=4_000_000_000,
        metavar="N",
        help="refuse programs that take more steps to compile (4000000000); fabsim's own option",
    )
    parser.add_argument(
        "--max-seconds",
        type=positive,
        metavar="N",
        help="refuse programs whose evaluation takes longer (no limit); fabsim's own option",
    )
    parser.add_argument(
        "--sdk",
        choices=SDKS,
        default=_sdk_of_environment(),
        help="the release the program is written for (the newest that accepts it, with a note);"
        " fabsim's own option, also by the variable FABSIM_SDK",
    )
    parser.add_argument(
        "--timing",
        type=timing_table.name_or_file,
        default=_timing_of_environment(),
        metavar="|".join(TIMINGS) + "|FILE",
        help="whose cycles the program counts (simfabric), or a file with a table such as"
        " `fabsim timing` prints and `collc probe` fits; fabsim's own option",
    )
    parser.add_argument(
        "--rule",
        dest="rules_off",
        type=_rules_off,
        action="append",
        default=_rules_of_environment(),
        help=argparse.SUPPRESS,  # another machine, for tests of what looks for such
    )
    parser.add_argument(
        "--colors-by-number",
        action="store_true",
        help="a number for a parameter of type color is a color, as SdkLayout up to 1.4 has it; "
        "fabsim's own option",
    )
    parser.add_argument("--link-section-start-address-bytes")
    return parser


def _sdk_of_environment() -> str | None:
    """What FABSIM_SDK says, where a command line cannot be reached. Exits on a wrong name."""
    name = os.environ.get("FABSIM_SDK") or None
    if name is not None and name not in SDKS:
        sys.exit(f"fabsim: FABSIM_SDK is {name!r}; there are {', '.join(SDKS)}")
    return name


def _timing_of_environment() -> str:
    """What FABSIM_TIMING says, where a command line cannot be reached. Exits on a wrong name."""
    name = os.environ.get("FABSIM_TIMING", TIMINGS[0])
    try:
        return timing_table.name_or_file(name)
    except argparse.ArgumentTypeError as error:
        sys.exit(f"fabsim: FABSIM_TIMING: {error}")


def _rules_off(text: str) -> list[str]:
    """`M3.9-4=off,M2-1=off`."""
    pairs = [part.partition("=") for part in text.split(",") if part]
    wrong = [rule for rule, _, state in pairs if state != "off"]
    if wrong:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is not RULE=off, such as M3.9-4=off")
    return [rule for rule, _, _ in pairs]


def _rules_of_environment() -> list[list[str]]:
    """What FABSIM_RULES says, where a command line cannot be reached. Exits on wrong usage."""
    try:
        return [_rules_off(os.environ.get("FABSIM_RULES", ""))]
    except argparse.ArgumentTypeError as error:
        sys.exit(f"fabsim: FABSIM_RULES: {error}")


def _add_without_effect(parser: argparse.ArgumentParser) -> None:
    """Options of the vendor's driver that concern its files and processes alone."""
    parser.add_argument("--output-json", action="store_true", help="out.json is always written")
    parser.add_argument("--max-parallelism", type=positive, metavar="N", help="fabsim uses one")
    parser.add_argument("-g0", dest="no_debug", action="store_true", help="there are no binaries")


def _import_paths(options: argparse.Namespace) -> list[str]:
    """The directories of the command line, then those of the environment."""
    environment = os.environ.get("CSL_IMPORT_PATH", "").split(os.pathsep)
    return [*options.import_path, *filter(None, environment)]


def _refuse_unsupported(options: argparse.Namespace) -> None:
    """Options that would change the program and that fabsim lacks; the others change nothing here.

    Prefetch columns and the number of channels only concern the vendor's tools.
    """
    lacking = [
        (options.link_section_start_address_bytes is not None, "section placement"),
    ]
    for asked, what in lacking:
        if asked:
            raise CslError(f"fabsim does not support {what} yet")
    if options.memcpy and not 1 <= options.channels <= 16:
        raise CslError(f"--channels must be between 1 and 16, found {options.channels}")


def _tell(options: argparse.Namespace, program: Program) -> None:
    """Print what the compiler has to say; warnings may be errors."""
    for line in [*filter(None, [program.assumed]), *program.printed]:
        print(line, file=sys.stderr)
    if program.warnings and options.warnings_as_errors:
        raise CslError("\n".join(program.warnings))
    for warning in program.warnings:
        print(warning, file=sys.stderr)


def _refuse_a_rectangle_that_does_not_fit(options: argparse.Namespace, program: Program) -> None:
    """The columns and rows that memcpy takes around the program, prefetch columns included."""
    (x, y), (width, height) = options.fabric_offsets, options.fabric_dims
    west, east = options.width_west_buf, options.width_east_buf
    if x < 4 + west or y < 1:
        raise CslError(f"--fabric-offsets={x},{y}: memcpy needs at least {4 + west},1")
    needed = (x + program.width + 3 + east, y + program.height + 1)
    if width < needed[0] or height < needed[1]:
        raise CslError(
            f"--fabric-dims={width},{height}: this program needs at least {needed[0]},{needed[1]}"
        )


def _pair(text: str) -> tuple[int, int]:
    first, comma, second = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair such as 8,3")
    return int(first), int(second)


def _params(text: str) -> list[tuple[str, int]]:
    pairs = []
    for part in text.split(","):
        name, colon, value = part.partition(":")
        if not colon:
            raise argparse.ArgumentTypeError(f"{part!r} is not NAME:INTEGER")
        pairs.append((name, int(value)))
    return pairs
