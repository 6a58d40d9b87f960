"""Descriptions of networks: what is read, and what is refused where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.base.diagnostics import CollcError
from collc_research.networks.network import Dimension, Mesh, Topology, TwoTier, Uniform
from collc_research.networks.read import MAX_NETWORK_BYTES, parse_network, read_network

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"


def refused(text: str) -> list[tuple[str, int, str]]:
    """Code, line and message of everything that is wrong."""
    with pytest.raises(CollcError) as caught:
        parse_network(text)
    return [(d.code, d.at.line if d.at else 0, d.message) for d in caught.value.diagnostics]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_a_network_and_says_how_to_use_it(path):
    read_network(path)
    assert "--network examples/networks/" + path.name in path.read_text()


def test_each_kind_is_read():
    assert parse_network('kind = "mesh"') == Mesh()
    two_tier = parse_network('kind = "two-tier"\nsupernodes = 4\nnodes = 2\ncores = 3')
    assert two_tier == TwoTier(4, 2, 3)
    uniform = parse_network('kind = "uniform"\nalpha_ns = 1\nbeta_ns_per_byte = 0.5')
    assert uniform == Uniform(1, 0.5)
    ring = 'kind = "dimension"\ntopology = "ring"\nlinks = 2\nlatency_ns = 5\n'
    found = parse_network(ring + "bandwidth_gib_per_s = 50\ncounts_hops = true")
    assert isinstance(found, Dimension)
    assert (found.topology, found.counts_hops, found.splits) == (Topology.RING, True, 1)


def test_a_file_says_its_kind():
    assert refused("")[0][:2] == ("C602", 1)
    assert refused("\nkind = 3")[0][:2] == ("C602", 2)
    code, line, message = refused('# a ring\nkind = "ring"')[0]
    assert (code, line) == ("C602", 2) and "`ring`" in message


def test_all_mistakes_are_reported_each_at_its_line():
    text = 'kind = "two-tier"\nsupernodes = 0\nnodes = 2.5\ncore = 3\n'
    assert [(code, line) for code, line, _ in refused(text)] == [
        ("C602", 1),  # cores are missing
        ("C603", 2),
        ("C603", 3),
        ("C602", 4),
    ]


@pytest.mark.parametrize(
    "value",
    ["true", '"1"', "nan", "inf", "-1", "-0.5", "1e300", "[1]", "{}", "10000000000000000000"],
)
def test_a_time_is_a_number_that_is_not_negative(value):
    text = f'kind = "uniform"\nalpha_ns = {value}\nbeta_ns_per_byte = 1'
    assert [(code, line) for code, line, _ in refused(text)] == [("C603", 2)]


def test_what_is_divided_by_is_not_zero():
    ring = 'kind = "dimension"\ntopology = "ring"\nlinks = 2\nlatency_ns = 5\n'
    assert refused(ring + "bandwidth_gib_per_s = 0")[0][:2] == ("C603", 5)
    assert refused(ring.replace("ring", "torus") + "bandwidth_gib_per_s = 1")[0][:2] == ("C603", 2)


def test_a_network_too_large_to_count_links_of_is_refused():
    text = 'kind = "two-tier"\nsupernodes = 60000\nnodes = 60000\ncores = 1'
    assert refused(text)[0][:2] == ("C603", 2)


@pytest.mark.parametrize(
    "text", ["kind = = 1", "kind", 'kind = "uniform', "[" * 5000, "a = 1\na = 2"]
)
def test_what_is_not_toml_is_refused_with_its_place(text):
    code, line, _ = refused(text)[0]
    assert code == "C601" and line >= 1


def test_a_table_is_an_unknown_key():
    text = 'kind = "mesh"\n\n[links]\nbandwidth = 3'
    assert [(code, line) for code, line, _ in refused(text)] == [("C602", 3)]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"kind\n\xff", b"#" * (MAX_NETWORK_BYTES + 1)])
def test_bytes_that_are_no_text_are_refused(tmp_path, data):
    path = tmp_path / "net.toml"
    path.write_bytes(data)
    with pytest.raises(CollcError) as caught:
        read_network(path)
    assert caught.value.diagnostics[0].code == "C601"


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CollcError):
        read_network(tmp_path / "none.toml")


@given(st.text(max_size=60), st.sampled_from(["", 'kind = "uniform"\n', 'kind = "dimension"\n']))
def test_any_text_is_a_network_or_refused(text, before):
    try:
        parse_network(before + text)
    except CollcError as error:
        assert all(d.code.startswith("C60") for d in error.diagnostics)


@given(st.floats(0, 1e9), st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_a_network_written_out_is_read_back(alpha, beta, gamma, one_alpha, one_beta):
    lines = [
        'kind = "uniform"',
        f"alpha_ns = {alpha!r}",
        f"beta_ns_per_byte = {beta!r}",
        f"gamma_ns_per_byte = {gamma!r}",
        f"one_way_alpha = {one_alpha!r}",
        f"one_way_beta = {one_beta!r}",
    ]
    assert parse_network("\n".join(lines)) == Uniform(alpha, beta, gamma, one_alpha, one_beta)
