"""Tools behind a back end: a job becomes a folder, a command that compiles, a host script."""

import json
import tempfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from collc.backends import BackEnd, Compiled, CompileError, UnavailableError
from collc.backends import Job as FolderJob
from collc.backends.work import TIMED_OUT
from collc.probe.fabsim import shortened, write
from collc.probe.job import Job, Seen, Status
from collc.target import TARGETS
from collc.target.fabric import Wanted, fabric_of, machine_of

SCRIPT, MARK, PLACE = "probe_host.py", "PROBE ", "@PROBE@"
_LAST = 600  # characters of output that are kept where a script says nothing


class Tools:
    """A back end as a tool. `release` is the SDK it belongs to, as the user says, `wanted` the
    fabric; a system has the fabric of its machine."""

    def __init__(
        self, back_end: BackEnd, release: str | None, wanted: Wanted | None = None
    ) -> None:
        self._back_end = back_end
        self.release = release
        self._wanted = wanted or Wanted()

    @property
    def told(self) -> str:
        """As `Tool.told`."""
        return f"{self._back_end.name}: {self._back_end.tools}"

    def do(self, job: Job) -> Seen:
        """As `Tool.do`."""
        if not job.width:
            return Seen(Status.UNABLE, "the text does not tell the size of the rectangle")
        with tempfile.TemporaryDirectory(prefix="collc-probe-") as directory:
            folder = Path(directory)
            write(folder, {**job.files, SCRIPT: _script(job)})
            try:
                compiled = self._back_end.compile(FolderJob(folder, self._options(job)))
                if not job.launches and not job.reads:
                    return Seen(Status.RAN)
                return self._run(compiled)
            except CompileError as error:
                return Seen(Status.REFUSED, shortened(str(error), directory))
            except UnavailableError as error:  # gone for a moment: what else was seen is kept
                return Seen(Status.UNABLE, shortened(str(error), directory))

    def _options(self, job: Job) -> tuple[str, ...]:
        """The words of cslc's command line; fabsim's own ones where it stands in."""
        own = ()
        if self._back_end.name == "fabsim":
            strict = ("--strict",) if job.strict else ()
            sdk = () if job.sdk == "unsaid" else (f"--sdk={job.sdk}",)
            own = (*strict, *sdk)
        params = ",".join(f"{name}:{value}" for name, value in job.params.items())
        wanted = self._wanted
        if self._back_end.name == "cs" and wanted.machine is None and wanted.dims is None:
            wanted = replace(wanted, machine=machine_of(job.arch))
        fabric = fabric_of((job.width, job.height), TARGETS[job.arch], wanted)
        return (
            *fabric.options(job.arch),
            *([f"--params={params}"] if params else []),
            *([f"--fp16-format={job.fp16}"] if job.fp16 != "f16" else []),
            *own,
        )

    def _run(self, compiled: Compiled) -> Seen:
        outcome = self._back_end.run(compiled, SCRIPT)
        place = str(compiled.directory)
        lines = [line for line in outcome.output.splitlines() if line.startswith(MARK)]
        if not lines:
            said = shortened((outcome.output + outcome.errors).strip()[-_LAST:], place)
            stood = outcome.status == TIMED_OUT
            return Seen(Status.STOOD if stood else Status.FAILED, said)
        seen = json.loads(lines[-1].removeprefix(MARK))
        failed = bool(seen["said"]) or outcome.status != 0
        said = seen["said"] or (outcome.errors.strip() if failed else "")
        status = Status.FAILED if failed else Status.RAN
        return Seen(status, shortened(said, place), seen.get("kind", ""), seen["words"])


def _script(job: Job) -> str:
    """The host's side, with what it does written in: a back end may take no other file there."""
    text = files("collc.probe").joinpath("host_script.txt").read_text()
    return text.replace(PLACE, repr(_description(job)))


def _description(job: Job) -> str:
    return json.dumps(
        {
            "width": job.width,
            "height": job.height,
            "launches": job.launches,
            "reads": job.reads,
        }
    )
