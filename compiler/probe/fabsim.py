"""fabsim as a tool: in this process, with any table of cycles and with rules switched off."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from collc.backends import UnavailableError
from collc.probe.job import Job, Seen, Status

MAX_CYCLES = 200_000  # more than any probe needs
BASE = "simfabric"  # the table that the vendor's simulator is taken to count by
_SAID = 600  # characters of a message that are kept
_DTYPES = {"i16": np.int16, "u16": np.uint16, "f16": np.float16}


def fabsim_module() -> ModuleType:
    """The simulator. Raises UnavailableError where it is not installed."""
    try:
        return importlib.import_module("fabsim")
    except ImportError as error:
        raise UnavailableError("fabsim is not installed (pip install ./fabsim)") from error


class Fabsim:
    """fabsim with the numbers of `constants` in place of those of its table, by architecture,
    without the rules of `rules_off`."""

    release = None

    def __init__(
        self,
        constants: Mapping[str, Mapping[str, int]] | None = None,
        rules_off: tuple[str, ...] = (),
    ) -> None:
        self._fabsim = fabsim_module()
        self._constants = constants or {}
        self._rules_off = list(rules_off)
        self._programs: dict[tuple[str, str], tuple[Any, str]] = {}

    def with_constants(self, constants: Mapping[str, Mapping[str, int]]) -> Fabsim:
        """The same with other numbers; programs with results to read are compiled once for all."""
        other = copy(self)
        other._constants = constants
        return other

    @property
    def told(self) -> str:
        """As `Tool.told`."""
        return "fabsim"

    def do(self, job: Job) -> Seen:
        """As `Tool.do`."""
        runs = bool(job.launches or job.reads)
        known = self._programs.get((job.name, job.arch)) if runs else None
        if known is None:
            with tempfile.TemporaryDirectory(prefix="collc-probe-") as directory:
                try:
                    known = (self._compiled(job, Path(directory)), directory)
                except self._fabsim.CslError as error:
                    return Seen(Status.REFUSED, shortened(str(error), directory))
        if not runs:
            return Seen(Status.RAN)
        self._programs[job.name, job.arch] = known
        return self._run(*known, job)

    def _compiled(self, job: Job, directory: Path) -> Any:  # noqa: ANN401 - an optional module
        write(directory, job.files)
        return self._fabsim.compile(
            str(directory / "layout.csl"),
            arch=job.arch,
            params=job.params,
            fp16_format=job.fp16,
            sdk=None if job.sdk == "unsaid" else job.sdk,
            strict=job.strict,
            timing=BASE,
            rules_off=self._rules_off,
        )

    def _run(self, program: Any, directory: str, job: Job) -> Seen:  # noqa: ANN401 - see above
        words: dict[str, list[list[list[int]]]] = {}
        try:
            simulator = self._fabsim.Simulator(
                program,
                max_cycles=MAX_CYCLES,
                lenient=job.lenient,
                constants=dict(self._constants.get(job.arch, {})),
            )
            for name, arguments in job.launches:
                simulator.launch(name, *arguments)
            for name, element, count in job.reads:
                area = (0, 0, program.width, program.height, count)
                dtype = _DTYPES.get(element, np.uint32)
                found = simulator.memcpy_d2h(name, dtype, *area)
                raw = found.view(np.uint16 if dtype in _DTYPES.values() else np.uint32)
                words[name] = raw.reshape(program.height, program.width, count).tolist()
            simulator.stop()
        except self._fabsim.SimulationError as error:
            said = shortened(str(error), directory)
            return Seen(Status.FAILED, said, error.kind, words)
        return Seen(Status.RAN, words=words)


def shortened(said: str, directory: str) -> str:
    """A message without the folder it was made in, and not longer than a reader reads."""
    text = said.replace(f"{directory}/", "").replace(directory, "").strip()
    return text if len(text) <= _SAID else f"{text[:_SAID]} ..."


def write(directory: Path, files: Mapping[str, str]) -> None:
    """Write the files of a job."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
