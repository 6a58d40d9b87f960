"""On what the points of a sweep are judged: processes of this machine, Slurm, dask or ray.

An executor is a generator: given points by number it yields (number, verdict) as answers come, in
any order. Workers that die are replaced, and what they were at is tried again, `TRIES` times; what
is wrong with a worker itself (another compiler, say) is raised at once. Which engine there is
changes no verdict. Each is imported when it is asked for, since each is an extra.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from importlib.util import find_spec
from time import sleep
from typing import Any

from collc.base.cache import interrupts_held, one_thread
from collc.base.diagnostics import shown
from collc.sweep.points import Point, Verdict, judge

TRIES = 4  # of a point whose worker dies
_POLL_SECONDS = 0.2

Points = Mapping[int, Point]
Answers = Iterator[tuple[int, Verdict]]
Executor = Callable[[Points], Answers]
Judge = Callable[[Point], Verdict]


class ExecutorError(Exception):
    """An executor that is not there, cannot be reached, or whose workers keep dying."""


def on_processes(points: Points, jobs: int, judged: Judge = judge) -> Answers:
    """On so many processes of this machine, each a pool of its own: which point a process died of
    is known, and no other suffers from it. Those that kill every time are named at the end."""
    waiting, tries = list(points), dict.fromkeys(points, 0)
    dead: list[int] = []
    running: dict[Future[Verdict], tuple[int, ProcessPoolExecutor]] = {}
    idle = [ProcessPoolExecutor(1, initializer=one_thread) for _ in range(min(jobs, len(points)))]
    try:
        while waiting or running:
            while waiting and idle:
                with interrupts_held():  # the first one starts the process
                    number, pool = waiting.pop(0), idle.pop()
                    running[pool.submit(judged, points[number])] = number, pool
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, pool = running.pop(future)
                if not isinstance(future.exception(), BrokenProcessPool):
                    idle.append(pool)
                    yield number, future.result()
                    continue
                pool.shutdown()
                idle.append(ProcessPoolExecutor(1, initializer=one_thread))
                tries[number] += 1
                (waiting if tries[number] < TRIES else dead).append(number)
    finally:
        for pool in (*idle, *(pool for _, pool in running.values())):
            _end(pool)
    if dead:
        raise ExecutorError(_died({0: points[dead[0]]}))


def _end(pool: ProcessPoolExecutor) -> None:
    """End a pool with what it is at: of what goes on, nobody waits for the answer."""
    processes = [*(pool._processes or {}).values()]
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _died(points: Points) -> str:
    point = next(iter(points.values()))
    given = ", ".join(f"{name} = {value}" for name, value in point.values)
    return f"worker processes crash on {shown(point.file)} with {given}"


def on_dask(points: Points, jobs: int, address: str = "", judged: Judge = judge) -> Answers:
    """On the workers of a dask scheduler, or on as many of its own on this machine."""
    distributed: Any = _extra("distributed", "dask")
    where = (
        {"address": address}
        if address
        else {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    )
    try:
        client = distributed.Client(**where)
    except (OSError, TimeoutError) as error:
        raise ExecutorError(f"no dask scheduler answers at {address}: {error}") from None
    with client:
        asked = {
            client.submit(judged, point, key=f"collc-{number}", pure=False, retries=TRIES): number
            for number, point in points.items()
        }
        for future in distributed.as_completed(list(asked)):
            if future.exception() is not None and "KilledWorker" in repr(future.exception()):
                raise ExecutorError(_died({0: points[asked[future]]}))
            yield asked[future], future.result()


def on_ray(points: Points, jobs: int, address: str = "", judged: Judge = judge) -> Answers:
    """On a ray cluster, or on this machine."""
    ray: Any = _extra("ray", "ray")
    where = {"address": address} if address else {"num_cpus": jobs, "include_dashboard": False}
    ray.init(ignore_reinit_error=True, log_to_driver=False, **where)
    try:
        remote = ray.remote(max_retries=TRIES)(judged)
        asked = {remote.remote(point): number for number, point in points.items()}
        while asked:
            done, _ = ray.wait(list(asked))
            for reference in done:
                number = asked.pop(reference)
                try:
                    yield number, ray.get(reference)
                except ray.exceptions.WorkerCrashedError:
                    raise ExecutorError(_died({0: points[number]})) from None
    finally:
        ray.shutdown()


def on_slurm(
    points: Points, jobs: int, partition: str = "", judged: Judge = judge, cluster: str = "slurm"
) -> Answers:
    """As an array of Slurm jobs, at most so many at a time, by submitit. Its files are in a
    temporary folder under the current one, which the nodes have to share."""
    submitit: Any = _extra("submitit", "slurm")
    with tempfile.TemporaryDirectory(prefix=".collc-sweep-", dir=".") as folder:
        executor = submitit.AutoExecutor(folder=folder, cluster=cluster)
        executor.update_parameters(timeout_min=60, slurm_array_parallelism=jobs, name="collc-sweep")
        if partition:
            executor.update_parameters(slurm_partition=partition)
        tries = dict.fromkeys(points, 1)
        waiting = list(points)
        running: dict[int, Any] = {}
        while waiting or running:
            width = jobs - len(running) if cluster == "local" else len(waiting)
            asked, waiting = waiting[:width], waiting[width:]
            found = executor.map_array(judged, [points[n] for n in asked]) if asked else []
            running |= dict(zip(asked, found, strict=True))
            sleep(_POLL_SECONDS)
            for number in [n for n, job in running.items() if job.done()]:
                job = running.pop(number)
                try:
                    yield number, job.result()
                except submitit.core.utils.FailedJobError as error:
                    raise ExecutorError(str(error).strip().splitlines()[-1]) from None
                except submitit.core.utils.UncompletedJobError:
                    tries[number] += 1
                    if tries[number] > TRIES:
                        raise ExecutorError(_died({0: points[number]})) from None
                    waiting.append(number)


def _extra(module: str, extra: str) -> Any:  # noqa: ANN401 - a module
    """The module of an engine; ExecutorError where it is not installed."""
    if find_spec(module) is None:
        raise ExecutorError(f"{module} is not installed: pip install 'collc[{extra}]'")
    __import__(module)
    import sys  # noqa: PLC0415

    return sys.modules[module]


EXECUTORS = (
    "local",
    "slurm",
    "slurm:PARTITION",
    "dask",
    "dask://HOST:PORT",
    "ray",
    "ray://HOST:PORT",
)


def executor_of(name: str, jobs: int) -> Executor:
    """The executor of a name as `--on` takes it; ExecutorError for any other."""
    engine, _, rest = name.partition("://")
    if name == "local":
        return partial(on_processes, jobs=jobs)
    if engine == "dask":
        return partial(on_dask, jobs=jobs, address=f"tcp://{rest}" if rest else "")
    if engine == "ray":
        return partial(on_ray, jobs=jobs, address=name if rest else "")
    if name == "slurm" or name.startswith("slurm:"):
        return partial(on_slurm, jobs=jobs, partition=name.removeprefix("slurm").removeprefix(":"))
    raise ExecutorError(f"there is no executor {name}; there are {', '.join(EXECUTORS)}")
