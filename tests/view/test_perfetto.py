"""The file for Perfetto, read back by the published definitions of its messages."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from view.test_page import exported


@pytest.fixture(scope="module")
def definitions() -> Any:
    return pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
        reason="no Perfetto definitions: pip install perfetto",
    )


@pytest.mark.parametrize("name", ["two_phase", "ring_allreduce"])
def test_tracks_slices_and_flows_are_the_run_s(
    name: str, made: Any, opened: Any, definitions: Any, tmp_path: Path
) -> None:
    program = made(name, **({"P": 64} if name == "two_phase" else {}))
    one = opened(program.file)
    trace = definitions.Trace()
    trace.ParseFromString(exported(one, "perfetto", tmp_path))
    described = [p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")]
    processes = [d for d in described if d.HasField("process")]
    threads = {d.uuid: d for d in described if d.HasField("thread")}
    width, height = program.bundle.size
    assert [d.process.process_name for d in processes] == [
        f"PE ({n % width}, {n // width})" for n in range(width * height)
    ]
    assert {d.parent_uuid for d in threads.values()} <= {d.uuid for d in processes}
    busy: dict[int, int] = defaultdict(int)
    open_at: dict[int, int] = {}
    flows: dict[int, int] = defaultdict(int)
    kind = definitions.TrackEvent.Type
    for packet in (p for p in trace.packet if p.HasField("track_event")):
        event = packet.track_event
        assert event.track_uuid in threads
        for flow in event.flow_ids:
            flows[flow] += 1
        if event.type == kind.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in open_at
            assert event.name
            open_at[event.track_uuid] = packet.timestamp
        else:
            began = open_at.pop(event.track_uuid)
            assert packet.timestamp > began
            busy[threads[event.track_uuid].thread.pid] += packet.timestamp - began
    assert not open_at
    first = one.page.evaluate(
        "[...viewer.program.run.cycles(0, 0, 1e9)].slice(1).reduce((a, b) => a + b)"
    )
    assert busy[1] == first
    assert flows
    assert max(flows.values()) >= 2  # a vector that is sent arrives
