"""The whole compiler beside the editor: proof, limits and prediction of a text, by `collc check` in
a process of its own, which is ended when the text has changed."""

import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Checked:
    """What `collc check --json` said of a text."""

    facts: dict[str, Any]

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Problems, or warnings where there is none."""
        found = self.facts.get("diagnostics", self.facts.get("warnings", []))
        return [one for one in found if one["at"] is None or one["at"]["file"] == "<stdin>"]

    @property
    def prediction(self) -> str:
        """What the program takes, in a line of Markdown; empty where it is at fault."""
        if "predicted_cycles" not in self.facts:
            return ""
        given = ", ".join(f"{name} = {value}" for name, value in self.facts["params"].items())
        gap = f", {self.facts['gap']:.2f} times the bound" if self.facts["gap"] else ""
        return (
            f"{given or 'no parameters'} on {self.facts['target']}: predicted "
            f"**{self.facts['predicted_cycles']} cycles**{gap}; {self.facts['colors']} colors, "
            f"{self.facts['memory_bytes']} bytes a PE"
        )


async def check(file: Path, text: str) -> Checked | None:
    """What the compiler says of a text that is to be in a file; None where it says nothing. Ends
    the process when it is cancelled."""
    command = (sys.executable, "-m", "collc", "check", "-", "--json")
    folder = file.parent if file.parent.is_dir() else None
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdin=pipe, stdout=pipe, stderr=nothing
    )
    try:
        printed, _ = await process.communicate(text.encode())
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    try:
        facts = json.loads(printed)
    except ValueError:
        return None
    return Checked(facts)
