"""Chakra traces, read back by a decoder of their own: every message has two ends that agree, and
carrying the nodes out in the order of their dependencies gives what the schedule promises."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.cli import commands
from collc.driver.pipeline import prove_text
from collc.patterns import all_patterns, instance
from collc.spec import ContractKind
from collc_research.networks import chakra
from collc_research.networks.chakra import COMPUTE, RECEIVE, SEND, traces_of
from collc_research.networks.rounds import rounds_of


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    at, found = 0, defaultdict(list)
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        found[key >> 3].append(value)
    return found


def nodes(trace):
    at, messages = 0, []
    while at < len(trace):
        size, at = varint(trace, at)
        messages.append(fields(trace[at : at + size]))
        at += size
    assert messages[0] == {1: [b"0.0.4"]}
    for node in messages[1:]:
        attributes = {}
        for one in map(fields, node[10]):
            (name,) = one.pop(1)
            ((attributes[name.decode()],),) = one.values()
        behind, position = [], 0
        packed = b"".join(node[5])
        while position < len(packed):
            number, position = varint(packed, position)
            behind.append(number)
        yield node[1][0], node[3][0], attributes, behind


def schedule_of(name, contract, pes, length):
    pattern = next(one for one in all_patterns() if one.name == name)
    return instance(pattern, contract, pes, length)[2]


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("binomial", ContractKind.REDUCE),
        ("ring_allreduce", ContractKind.ALLREDUCE),
        ("halving_doubling", ContractKind.ALLREDUCE),
        ("linear_all_to_all", ContractKind.ALL_TO_ALL),
    ],
)
def test_both_ends_of_every_message_are_there(name, contract):
    schedule = schedule_of(name, contract, 7, 12)
    sent, taken, combined = [], [], 0
    for rank, trace in enumerate(traces_of(schedule)):
        for number, (identifier, kind, attributes, behind) in enumerate(nodes(trace)):
            assert identifier == number and all(one < number for one in behind)
            if kind == COMPUTE:
                combined += attributes["num_ops"]
                continue
            end = "comm_src" if kind == SEND else "comm_dst"
            assert attributes[end] == rank
            keys = ("comm_src", "comm_dst", "comm_tag", "comm_size")
            (sent if kind == SEND else taken).append(tuple(attributes[key] for key in keys))
    rounds = list(rounds_of(schedule))
    assert sorted(sent) == sorted(taken)
    assert len(sent) == sum(map(len, rounds))
    assert sum(size for *_, size in sent) == 4 * sum(int(one.elements.sum()) for one in rounds)
    assert combined == sum(int(one.combined.sum()) for one in rounds)


def test_what_is_sent_depends_on_what_has_been_combined():
    schedule = schedule_of("chain", ContractKind.REDUCE, 3, 5)
    middle = list(nodes(list(traces_of(schedule))[1]))
    assert [kind for _, kind, _, _ in middle] == [RECEIVE, COMPUTE, SEND]
    assert middle[1][3] == [0] and 1 in middle[2][3]


def test_the_command_writes_a_file_for_each_rank(tmp_path):
    arguments = ["export", "examples/ring_2d.coll", "--chakra", str(tmp_path / "et")]
    result = CliRunner().invoke(commands, arguments)
    assert result.exit_code == 0, result.output
    _, schedule = prove_text(Path("examples/ring_2d.coll").read_text(), "ring_2d.coll", {})
    grid = schedule.collective.grid
    assert len(list((tmp_path / "et").glob("*.et"))) == grid.width * grid.height


def test_too_many_messages_are_refused(monkeypatch):
    monkeypatch.setattr(chakra, "MOST_MESSAGES", 2)
    result = CliRunner().invoke(commands, ["export", "examples/chain.coll", "--chakra", "x"])
    assert result.exit_code == 1
    assert "C604" in result.output


@pytest.mark.parametrize(("directory", "status"), [("", 2), ("file/et", 1)])
def test_traces_go_nowhere_but_where_they_are_to(directory, status, tmp_path, monkeypatch):
    source = str(Path("examples/chain.coll").resolve())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    arguments = ["export", source, "--chakra", directory, "--json"]
    result = CliRunner().invoke(commands, arguments)
    assert result.exit_code == status
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    if status == 1:
        assert json.loads(result.stdout)["diagnostics"][0]["code"] == "C502"
