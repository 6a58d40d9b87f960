"""An appliance on this computer: what the vendor's client talks to, with fabsim behind it.

    PYTHON loopback.py --fabsim PYTHON --state FOLDER [--fault NAME ...]

Runs in a Python that has the client package, whose compiled protobuf modules it uses. Prints the
path of a configuration for CSCONFIG_PATH, then serves until its standard input is closed. Two
servers: one is the cluster's management, the other the worker of the jobs. Every call is noted in
FOLDER/calls.jsonl. `--fault init` refuses jobs, `--fault break` ends the worker in the middle of a
run.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from cerebras.appliance.pb.sdk import sdk_appliance_pb2 as sdk
from cerebras.appliance.pb.sdk import sdk_appliance_pb2_grpc as sdk_grpc
from cerebras.appliance.pb.sdk.sdk_common_pb2 import StatusCode
from cerebras.appliance.pb.workflow.appliance.cluster_mgmt import cluster_pb2 as cluster
from cerebras.appliance.pb.workflow.appliance.cluster_mgmt import cluster_pb2_grpc as cluster_grpc

PIECE = 1 << 16  # bytes of a download's message


class Notes:
    """The calls that came, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def add(self, call: str, **facts: object) -> None:
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"call": call, **facts}) + "\n")


class Management(cluster_grpc.ClusterManagementServicer):
    """Gives every job the one worker, at once."""

    def __init__(self, notes: Notes, worker: str, faults: set[str]) -> None:
        self._notes, self._worker, self._faults = notes, worker, faults
        self._jobs: dict[str, threading.Event] = {}

    def GetServerConfig(self, request, context):  # noqa: N802 - the service's names
        return cluster.GetServerConfigResponse()

    def IsMessageBrokerAvailable(self, request, context):  # noqa: N802
        return cluster.MessageBrokerAvailabilityCheckResponse(is_available=False)

    def GetServerVersions(self, request, context):  # noqa: N802
        return cluster.GetServerVersionsResponse()

    def InitSdkCompileJob(self, request, context):  # noqa: N802
        return cluster.SdkCompileJobResponse(job_id=self._job("compile", context), log_path="/log")

    def InitSdkExecuteJob(self, request, context):  # noqa: N802
        return cluster.SdkExecuteJobResponse(job_id=self._job("execute", context), log_path="/log")

    def _job(self, kind: str, context: grpc.ServicerContext) -> str:
        if "init" in self._faults:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no node is free")
        name = f"wsjob-{len(self._jobs)}"
        self._jobs[name] = threading.Event()
        self._notes.add("job", kind=kind, job=name)
        return name

    def PollIngressV2(self, request, context):  # noqa: N802
        yield cluster.GetIngressResponse(
            is_ready=True, is_scheduled=True, service_url=self._worker, message="ready"
        )

    def GetJobEvents(self, request, context):  # noqa: N802
        return cluster.GetJobEventsResponse()

    def GetJobMeta(self, request, context):  # noqa: N802
        return cluster.GetJobMetaResponse()

    def HeartbeatV2(self, request_iterator, context):  # noqa: N802
        # The stream's requests come every ten seconds, and there is nothing to say to any job:
        # it ends soon after the jobs that there are.
        for ended in list(self._jobs.values()):
            ended.wait()
        threading.Event().wait(0.05)
        yield from ()

    def SendClientHeartbeat(self, request, context):  # noqa: N802
        return cluster.HeartbeatResponse()

    def CancelJobV2(self, request, context):  # noqa: N802
        status = cluster.JobStatus.Name(request.job_status)
        self._notes.add("end", job=request.job_id, status=status, message=request.message)
        self._jobs[request.job_id].set()
        return cluster.CancelJobResponse()


class Worker(sdk_grpc.sdk_applianceServicer):
    """Compiles and runs by fabsim's stand-ins; programs are kept in folders by their hashes."""

    def __init__(self, notes: Notes, state: Path, fabsim: str, faults: set[str]) -> None:
        self._notes, self._state, self._fabsim, self._faults = notes, state, fabsim, faults
        self.server: grpc.Server | None = None

    def sdk_upload_files(self, request_iterator, context):
        folder = self._state
        for part in request_iterator:
            folder = self._state / (part.destination_rel_path or part.compile_hash)
            path = folder / part.file_name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(part.data_chunk)
            self._notes.add("upload", mode=part.mode, file=part.file_name)
            if part.mode == "SDK_EXECUTE" and part.file_name.endswith(".tar.gz"):
                with tarfile.open(path) as archive:
                    archive.extractall(folder, filter="data")
            elif part.mode == "SDK_COMPILE" and self._archive(part.compile_hash).exists():
                return sdk.SdkResponse(code=StatusCode.SDK_RT_ALREADY_COMPILED)
        return sdk.SdkResponse(code=StatusCode.SDK_RT_SUCCESS)

    def _archive(self, name: str) -> Path:
        return self._state / f"{name}.tar.gz"

    def sdk_compile(self, request, context):
        folder = self._state / request.compile_hash
        options = list(request.options)
        done = self._called(["cslc", *options], folder)
        self._notes.add("compile", options=options, status=done.returncode)
        said = repr(done.stdout.encode())  # the real one answers with the text of a bytes object
        if done.returncode:
            return sdk.SdkResponse(code=StatusCode.SDK_RT_COMPILE_ERROR, message=said)
        name = options[options.index("-o") + 1]
        (folder / ".csl_bin_name").write_text(name + "\n")
        with tarfile.open(self._archive(request.compile_hash), "w:gz") as archive:
            for path in (folder / name, folder / ".csl_bin_name"):
                archive.add(path, arcname=path.name)
        return sdk.SdkResponse(code=StatusCode.SDK_RT_SUCCESS, message=said)

    def _called(self, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._fabsim, "-m", "fabsim", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def sdk_run_command(self, request_iterator, context):
        output = ""
        for one in request_iterator:
            if "break" in self._faults:
                self.server.stop(None)
            # fabsim has no system to connect to: the address of a machine is empty here.
            words = [word.replace("%CMADDR%", "") for word in shlex.split(one.command)]
            done = self._called(words, self._state / one.app_hash)
            self._notes.add("run", command=one.command, status=done.returncode)
            output += done.stdout
            if done.returncode:
                return sdk.SdkResponse(code=StatusCode.SDK_COMMAND_ERROR, message=output)
        return sdk.SdkResponse(code=StatusCode.SDK_RT_SUCCESS, message=output)

    def sdk_download_files(self, request, context):
        archive, path = self._archive(request.file_name), self._state / request.file_name
        path = archive if archive.exists() else path
        if not path.is_file():
            failed = sdk.SdkResponse(code=StatusCode.SDK_RT_FILE_ERROR, message=f"no {path.name}")
            yield sdk.SdkArtifactResponse(status=failed)
            return
        content = path.read_bytes()
        pieces = [content[at : at + PIECE] for at in range(0, len(content), PIECE)] or [b""]
        self._notes.add("download", file=path.name, pieces=len(pieces))
        for piece in pieces:
            data = sdk.SdkArtifactResponse().data
            data.file_name, data.data_chunk = path.name, piece
            data.num_bytes, data.total_bytes = len(piece), len(content)
            yield sdk.SdkArtifactResponse(data=data)

    def sdk_shutdown(self, request, context):
        self._notes.add("shutdown")
        return sdk.SdkResponse(code=StatusCode.SDK_RT_SUCCESS)


def started(add, servicer) -> tuple[grpc.Server, str]:
    """A server with one servicer, and its address."""
    server = grpc.server(ThreadPoolExecutor(16))
    add(servicer, server)
    port = server.add_insecure_port("localhost:0")
    server.start()
    return server, f"localhost:{port}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabsim", required=True, help="a Python that has fabsim")
    parser.add_argument("--state", type=Path, required=True, help="where programs are kept")
    parser.add_argument("--fault", action="append", default=[], choices=("init", "break"))
    args = parser.parse_args()
    state, faults = args.state.resolve(), set(args.fault)
    state.mkdir(parents=True, exist_ok=True)
    notes = Notes(state / "calls.jsonl")
    worker = Worker(notes, state, args.fabsim, faults)
    worker.server, where = started(sdk_grpc.add_sdk_applianceServicer_to_server, worker)
    management = Management(notes, where, faults)
    _, address = started(cluster_grpc.add_ClusterManagementServicer_to_server, management)
    config = {
        "currentContext": "here",
        "contexts": [{"name": "here", "cluster": "loopback"}],
        "clusters": [
            {"name": "loopback", "server": address, "authority": "localhost", "namespaces": []}
        ],
    }
    (state / "csconfig.json").write_text(json.dumps(config))
    print(state / "csconfig.json", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
