"""Ctrl-C at many moments of many commands: `python tests/interrupts.py [MOMENTS]`.

Each command is started so many times and interrupted with all its processes, as a terminal does it,
from its first line on until it would be done. What it may say is one line; what else is seen is
printed, and the status is 1. tests/test_command_line.py takes a few moments.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# Says when the first handler is there: an interrupt before that is Python's own to answer.
BEGIN = """import collc.start
handle = collc.start.signal
collc.start.signal = lambda *call: (handle(*call), print(flush=True))
collc.start.main()
"""
SMALL = """target wse2
param B = 8
grid g = 8 x 1
collective total = allreduce(x: f32[B], add) on g {
    run auto
}
program { total }
"""
# What takes ten seconds to check on any machine: no interrupt comes too late.
LONG = """target wse2
grid g = 750 x 87
collective total = allreduce(x: f32[1], add) on g {
    order hilbert
    run auto
}
program { total }
"""
# A command, and how many seconds from its first line on are of interest.
COMMANDS = {
    "help": (("--help",), 0.3),
    "explain": (("explain", "C101"), 0.3),
    "check": (("check", "long.coll"), 2.0),
    "run": (("run", "small.coll"), 1.5),
    "build": (("build", "small.coll", "--timed"), 1.0),
    "fmt": (("fmt", "--diff", "small.coll"), 0.5),
    "list": (("list",), 1.0),
    "sweep": (("sweep", "long.coll", "--over", "B=1..64", "--fresh"), 3.0),
    "tune": (("tune", "small.coll", "--over", "B=1..4000"), 3.0),
    "view": (("view", "small.coll"), 1.5),
}
INTERRUPTED = (130, "collc: interrupted\n")
# Done before the interrupt came, or so nearly that Python itself was ending.
DONE = {(0, ""), (-signal.SIGINT, "")}


def interrupted(words: tuple[str, ...], after: float, folder: Path) -> tuple[int, str]:
    """Status and standard error of a command that is interrupted so many seconds after its first
    line."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of shells, behind `&`
        signal.signal(signal.SIGINT, signal.default_int_handler)
    (folder / "small.coll").write_text(SMALL)
    (folder / "long.coll").write_text(LONG.replace("grid", "param B = 1\ngrid"))
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_CACHE_HOME": str(folder)},
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    return process.returncode, said


def main() -> None:
    """Interrupt every command at as many moments as are asked for, 60 unless said."""
    moments = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    good = True
    for name, (words, seconds) in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            times = [seconds * number / moments for number in range(moments)]
            seen = Counter(interrupted(words, after, Path(folder)) for after in times)
        wrong = {one: count for one, count in seen.items() if one not in {INTERRUPTED, *DONE}}
        done = sum(seen[one] for one in DONE)
        print(f"{name:<8} {seen[INTERRUPTED]:>3} interrupted, {done} done, {wrong or 'none else'}")
        good = good and not wrong
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
