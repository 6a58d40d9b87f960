"""Runs in a Python that has the vendor's client package, which need not be collc's own.

    PYTHON appliance_client.py REQUEST.json REPLY.json

The request says what to compile or run; the reply says what came of it, in the tools' own words.
Nothing of collc is imported here. The working directory should be one that nobody needs: the
client leaves files in it. Faults of the client (2.10.0) that are worked around, each where it is:
messages of failed jobs, downloads in several pieces, names that are replaced inside words, the
compiler's text that only a logger gets, artifacts of renamed files.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import Any

CLIENT = "cerebras.sdk.client.sdk_appliance_client"
NAMES = "collc_names.csl"
TOLD = ("sim.log", "sim_stats.json")  # what the vendor's simulator leaves


class Log(logging.Handler):
    """Keeps what the client tells its loggers, the compiler's text among it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.lines.append(record.getMessage())


def with_names(folder: Path) -> None:
    """Add a file that lists the names of all others.

    The client takes a program for one it has compiled before if the contents of its files are the
    same; so a file that was renamed would get the artifact of the old name.
    """
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.csl"))
    text = "".join(f"// {name}\n" for name in names if name != NAMES)
    (folder / NAMES).write_text(text, encoding="utf-8")


def fixed(base: type[Any], client: Any) -> type[Any]:  # noqa: ANN401 - the vendor's module
    """A class of the client with its faults in downloads and at its end worked around."""

    class Fixed(base):  # type: ignore[misc]
        """The vendor's class, but for three methods."""

        def download_artifact(self, artifact_name: str, out_path: str) -> str:
            """As the vendor's, also for files in several pieces and for a bare name."""
            place = getattr(self, "_artifact_id", "")
            name = f"{place}/{artifact_name}" if place else artifact_name
            return download(self, client, name, Path(out_path))

        def run(self, *commands: str) -> str:
            """As the vendor's, but that only the first word of a command is replaced, for it
            replaces `cs_python` within file names, too."""
            make = client.sdk_appliance_pb2.SdkRunCommandParams
            requests = [make(app_hash=self._artifact_id, command=one) for one in commands]
            response = self.stub().sdk_run_command(iter(requests))
            self._check_sdk_response(response, "SdkLauncher running command(s) ")
            return str(response.message)

        def __exit__(self, *raised: object) -> None:
            """End the worker, and also where that cannot be reached the job."""
            with contextlib.suppress(client.grpc.RpcError):
                if self._stub is not None:
                    self.stub().sdk_shutdown(client.sdk_appliance_pb2.SdkEmptyMessage())
            client.SdkClient.__exit__(self, *raised)

    return Fixed


def download(self: Any, client: Any, name: str, out: Path) -> str:  # noqa: ANN401 - the vendor's
    """Write a file of the appliance, which comes in any number of pieces; gives its path."""
    request = client.sdk_appliance_pb2.SdkArtifactDownloadArgs(file_name=name)
    written, expected, path = 0, 0, out
    with contextlib.ExitStack() as stack:
        file = None
        for response in self.stub().sdk_download_files(request):
            if response.HasField("status"):
                raise client.ApplianceUnknownError(response.status.message)
            if file is None:
                path = out / response.data.file_name if out.is_dir() else out
                file = stack.enter_context(path.open("wb"))
            written += file.write(response.data.data_chunk)
            expected = response.data.total_bytes
    if written != expected:
        raise client.ApplianceUnknownError(f"{name}: {written} of {expected} bytes came")
    return str(path)


def with_messages(client: Any) -> None:  # noqa: ANN401 - the vendor's module
    """Let failed jobs say why they failed: the client looks at the wrong variable and says None."""
    context = client.SdkContext
    ended = context.__exit__

    def end(self: Any, *raised: Any) -> None:  # noqa: ANN401 - the vendor's class
        ended(self, *(self._fwd_exceptions or raised))

    context.__exit__ = end


def compile_program(request: dict[str, Any], client: Any) -> dict[str, str]:  # noqa: ANN401
    """Compile a folder; the artifact is left in the folder `out`."""
    with_names(Path(request["folder"]))
    with fixed(client.SdkCompiler, client)(disable_version_check=True) as compiler:
        artifact = compiler.compile(
            request["folder"], request["layout"], " ".join(request["options"]), request["out"]
        )
    return {"artifact": artifact}


def run_program(request: dict[str, Any], client: Any) -> dict[str, str]:  # noqa: ANN401
    """Run a command beside an artifact and files that are put there; fetch what it left."""
    launcher = fixed(client.SdkLauncher, client)
    how = {"simulator": not request["machine"], "disable_version_check": True}
    with launcher(request["artifact"], **how) as tools:
        for path in request["stage"]:
            tools.stage(path)
        try:
            return {"output": tools.run(request["command"])}
        except RuntimeError as error:
            return {"output": "", "failed": str(error)}
        finally:
            for name in TOLD:
                with contextlib.suppress(client.ApplianceUnknownError, client.grpc.RpcError):
                    tools.download_artifact(name, str(Path(request["out"]) / name))


ACTIONS = {"compile": compile_program, "run": run_program}


def answer(request: dict[str, Any]) -> dict[str, str]:
    """Do what a request asks for. What goes wrong is in the answer: `kind` is `unavailable`
    where the appliance cannot be reached or gives no job, `refused` where it says no to a program.
    """
    log = Log()
    logging.getLogger().addHandler(log)
    client = importlib.import_module(CLIENT)
    with_messages(client)
    try:
        found = ACTIONS[request["action"]](request, client)
    except client.grpc.RpcError as error:
        details = getattr(error, "details", lambda: "")() or str(error)
        found = {"kind": "unavailable", "problem": f"the connection broke: {details}"}
    except Exception as error:  # the client raises what its layers raise, under any name
        reached = type(error).__name__ not in {"ClusterConfigError", "ClusterJobInitError"}
        reached = reached and "Could not connect" not in str(error)
        found = {"kind": "refused" if reached else "unavailable", "problem": str(error)}
    return found | {"log": "\n".join(log.lines)}


def main() -> None:
    """Answer one request. The client leaves threads that may wait for long, so nothing waits for
    them."""
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    reply = json.dumps(answer(request))
    made = Path(sys.argv[2] + ".part")
    made.write_text(reply, encoding="utf-8")
    shutil.move(made, sys.argv[2])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
