"""What the page asks of the compiler: a command of collc, in the interpreter of the page."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback

from wide_integers import widen

from collc.start import main

_INTERNAL = 70  # what a shell says of a fault of the program itself


def ran(words: list[str]) -> str:
    """Run `collc WORDS`; its status, output and messages, as JSON."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    sys.argv = ["collc", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as done:
            status = done.code if isinstance(done.code, int) else int(done.code is not None)
        except Exception:  # whatever it is, the page shows it
            status = _INTERNAL
            traceback.print_exc()
    return json.dumps({"status": status, "out": out.getvalue(), "err": err.getvalue()})


widen()
