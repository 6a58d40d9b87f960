"""Schedules as Chakra execution traces, which ASTRA-sim and other simulators of networks read.

A trace is a file for each rank: messages of Protocol Buffers, each behind its length, first a
`GlobalMetadata`, then a `Node` for each thing the rank does. What a rank does in a round of the
schedule (`collc_research.networks.rounds`) depends on all that it did in its round before. A
message is a node at its sender and one at its receiver, with the round as its tag; combining what
has come in is a node behind the receipt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.values import dataclass
from collc.schedule import Schedule
from collc_research.networks.rounds import Round, ranks_of, rounds_of, transfers_in

VERSION = "0.0.4"  # of the format
COMPUTE, SEND, RECEIVE = 4, 5, 6  # NodeType
MOST_MESSAGES = 1 << 22

# Numbers of fields in the format's messages.
_METADATA_VERSION = 1
_ID, _NAME, _TYPE, _DATA_DEPENDENCIES, _ATTRIBUTE = 1, 2, 3, 5, 10
_ATTRIBUTE_NAME, _INT32, _INT64, _UINT64, _BOOL = 1, 7, 9, 13, 27

_VARINT, _BYTES = 0, 2  # wire types


@dataclass
class _Trace:
    """The file of a rank as it grows; `last` are the nodes of its latest round, `before` those of
    the one before that, `round` which the latest is."""

    data: bytearray
    count: int = 0
    round: int = -1
    last: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    def node(self, kind: int, name: str, attributes: bytes, behind: list[int]) -> int:
        """Add a node that depends on those in `behind`; gives its number."""
        number = self.count
        self.count += 1
        body = _number(_ID, number) + _text(_NAME, name) + _number(_TYPE, kind)
        if behind:
            body += _bytes(_DATA_DEPENDENCIES, b"".join(map(_varint, behind)))
        body += attributes
        self.data += _varint(len(body)) + body
        self.last.append(number)
        return number

    def enter(self, number: int) -> None:
        """Begin a round, unless it has begun."""
        if number != self.round:
            self.round, self.before, self.last = number, self.last, []


def traces_of(schedule: Schedule) -> Iterator[bytes]:
    """The file of each rank, in order of ranks; raises CollcError for too many messages."""
    messages = transfers_in(schedule)
    if messages > MOST_MESSAGES:
        message = f"{messages} messages are too many for a trace: at most {MOST_MESSAGES}"
        raise CollcError([Diagnostic("C604", message, schedule.collective.span)])
    head = _text(_METADATA_VERSION, VERSION)
    traces = [_Trace(bytearray(_varint(len(head)) + head)) for _ in range(ranks_of(schedule))]
    size = schedule.collective.contract.element.bytes
    for number, one in enumerate(rounds_of(schedule)):
        _add(traces, one, number, size)
    yield from (bytes(trace.data) for trace in traces)


def _add(traces: list[_Trace], one: Round, number: int, size: int) -> None:
    """The messages of a round, which read what was there when the round began."""
    columns = (one.source, one.destination, one.elements, one.combined)
    for source, target, elements, combined in zip(*(c.tolist() for c in columns), strict=True):
        about = _message(source, target, number, elements * size)
        for rank in (source, target):
            traces[rank].enter(number)
        sender, receiver = traces[source], traces[target]
        sender.node(SEND, f"send {number} to {target}", about, sender.before)
        came = receiver.node(RECEIVE, f"receive {number} from {source}", about, receiver.before)
        if combined:
            work = _flag("is_cpu_op", False) + _attribute("num_ops", _number(_INT64, combined))
            work += _attribute("tensor_size", _number(_UINT64, combined * size))
            receiver.node(COMPUTE, f"combine {number} from {source}", work, [came])


def _message(source: int, target: int, tag: int, size: int) -> bytes:
    return (
        _flag("is_cpu_op", False)
        + _attribute("comm_size", _number(_INT64, size))
        + _attribute("comm_src", _number(_INT32, source))
        + _attribute("comm_dst", _number(_INT32, target))
        + _attribute("comm_tag", _number(_INT32, tag))
    )


def _attribute(name: str, value: bytes) -> bytes:
    return _bytes(_ATTRIBUTE, _text(_ATTRIBUTE_NAME, name) + value)


def _flag(name: str, value: bool) -> bytes:
    return _attribute(name, _number(_BOOL, int(value)))


def _text(number: int, text: str) -> bytes:
    return _bytes(number, text.encode())


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    """A field with a whole number from 0 on."""
    return _varint(number << 3 | _VARINT) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven binary digits a byte, the lowest first; all bytes but the last have the highest bit."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
