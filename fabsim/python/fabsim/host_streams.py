"""Streams of layouts in Python, while a program runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from fabsim import layout_files
from fabsim._native import Simulator
from fabsim.host_arrays import store
from fabsim.layout_files import StreamPort


class Task:
    """A command, finished unless it is a stream.

    fabsim runs every other command when it is given, whether the script waits for it or not:
    commands take effect in that order anyway, and a result may be there before it is asked for.
    """

    def wait(self) -> None:
        """Nothing to wait for."""

    def done(self) -> bool:
        """Always."""
        return True


class Transfer(Task):
    """Wavelets under way on a stream; what is received goes to `dest` when all of it is there."""

    def __init__(
        self, simulator: Simulator, number: int, dest: npt.NDArray[Any] | None = None
    ) -> None:
        self._simulator = simulator
        self._number = number
        self._dest = dest
        self._stored = False

    def wait(self) -> None:
        """Run until the stream is done."""
        if self._stored:
            return
        words = self._simulator.finish_transfer(self._number)
        if self._dest is not None:
            store(self._dest, words)
        self._stored = True

    def done(self) -> bool:
        """Whether the stream is done, after some more cycles."""
        if self._stored or not self._simulator.poll_transfer(self._number):
            return self._stored
        self.wait()
        return True

    def collect(self) -> bool:
        """Whether the stream is done by now; then its words are in their place."""
        if not self._stored and self._simulator.is_transfer_done(self._number):
            self.wait()
        return self._stored


class HostStreams:
    """The streams of a program: none, unless it was made from a layout in Python."""

    def __init__(self, directory: str) -> None:
        self._files = layout_files.read(directory)
        self._simulator: Simulator | None = None
        self._open: list[Transfer] = []

    @property
    def without_memcpy(self) -> bool:
        """Whether the program was made from a layout in Python."""
        return self._files is not None

    def load(self, simulator: Simulator) -> None:
        """Put the initial values of variables into a simulator that was just made."""
        self._simulator = simulator
        if self._files is not None:
            self._files.fill(simulator)

    def id_of(self, name: str) -> int | None:
        """The number of a stream."""
        names = [stream.name for stream in self._all()]
        return names.index(name) if name in names else None

    def lines(self) -> Iterator[str]:
        """A line for each stream."""
        for number, stream in enumerate(self._all()):
            kind = "input" if stream.is_input else "output"
            place = f"PE ({stream.x}, {stream.y})"
            yield f"port {number}: {stream.name}, {kind}, color {stream.color}, {place}"

    def send(self, port: int | str, words: npt.NDArray[np.uint32], count: int | None) -> Transfer:
        """Begin to send the first `count` words."""
        stream = self._find(port, is_input=True)
        if count is not None and not 0 <= count <= words.size:
            raise ValueError(f"{count} of {words.size} items cannot be sent")
        place = (stream.x, stream.y, stream.color)
        return self._begun(self._loaded().begin_send(*place, words[:count].copy()))

    def receive(self, port: int | str, dest: npt.NDArray[Any], count: int) -> Transfer:
        """Begin to receive `count` words to the beginning of an array."""
        stream = self._find(port, is_input=False)
        if not (isinstance(dest, np.ndarray) and dest.flags.c_contiguous):
            raise ValueError("results go to a contiguous NumPy array")
        if not 0 <= count <= dest.size:
            raise ValueError(f"{count} items do not fit an array of {dest.size}")
        place = (stream.x, stream.y, stream.color)
        number = self._loaded().begin_receive(*place, count)
        return self._begun(number, dest.reshape(-1)[:count])

    def _begun(self, number: int, dest: npt.NDArray[Any] | None = None) -> Transfer:
        transfer = Transfer(self._loaded(), number, dest)
        self._open.append(transfer)
        return transfer

    def collect(self) -> None:
        """Put the words of all streams that are done into their places."""
        self._open = [transfer for transfer in self._open if not transfer.collect()]

    def finish(self) -> None:
        """Run until all streams are done."""
        for transfer in self._open:
            transfer.wait()
        self._open = []

    def _find(self, port: int | str, *, is_input: bool) -> StreamPort:
        streams = self._all()
        number = self.id_of(port) if isinstance(port, str) else port
        if number is None or not 0 <= number < len(streams):
            raise ValueError(f"there is no stream {port!r}")
        if streams[number].is_input is not is_input:
            verb = "receives from" if is_input else "sends to"
            raise ValueError(f"the host {verb} the stream {port!r}, not the other way round")
        return streams[number]

    def _all(self) -> list[StreamPort]:
        return [] if self._files is None else self._files.streams

    def _loaded(self) -> Simulator:
        if self._simulator is None:
            raise RuntimeError("load() comes first")
        return self._simulator
