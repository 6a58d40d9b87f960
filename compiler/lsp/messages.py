"""What an editor sends, within limits."""

from typing import BinaryIO

MOST_BYTES = 1 << 24  # of one message; a text has 128 KB at most, and is sent whole
_REFUSED = b'{"jsonrpc": "2.0"}'  # no request, no answer and no notice: it is logged and dropped


class Messages:
    """A stream of messages. The body of one that says it is larger than `MOST_BYTES` is not waited
    for, since no memory is to be taken for it: a message without contents stands in its place, and
    what comes is read as headers until there is one of the next message."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """A line of headers; what is beyond the limit is the next one."""
        return self._stream.readline(MOST_BYTES)

    def read(self, size: int) -> bytes:
        """The body of a message."""
        return self._stream.read(size) if size <= MOST_BYTES else _REFUSED

    def close(self) -> None:
        """Nothing more is read."""
        self._stream.close()
