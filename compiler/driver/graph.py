"""Schedules as graphs of networkx: a node for each PE, an edge for each transfer."""

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx  # type: ignore[import-untyped]

from collc.base.diagnostics import CollcError, Diagnostic
from collc.schedule import BroadcastPhase, Phase, ReducePhase, Schedule

MOST_EDGES = 1 << 20
Edge = tuple[str, str, dict[str, Any]]


def graph_of(schedules: Iterable[Schedule]) -> nx.MultiDiGraph:
    """Who sends what to whom. A node is `x,y`, with both as attributes.

    An edge has the names of its `collective` and `phase`, its `step` in the phase, from 0, its
    `action` (`combine`, `copy`, or `multicast`: one vector that goes to all) and, of algorithms by
    steps, the first `slice` sent, the `count` of slices and the one `into` which they go. Keys
    number the transfers of a pair of PEs in their order. Raises CollcError above a million edges.
    """
    graph = nx.MultiDiGraph()
    edges = 0
    for schedule in schedules:
        grid = schedule.collective.grid
        for x in range(grid.width):
            for y in range(grid.height):
                graph.add_node(_node((x, y)), x=x, y=y)
        for phase in schedule.phases:
            for source, destination, about in _edges(schedule, phase):
                edges += 1
                if edges > MOST_EDGES:
                    raise _too_many()
                named = {"collective": schedule.collective.name, "phase": phase.name}
                graph.add_edge(source, destination, **named, **about)
    return graph


def as_dot(graph: nx.MultiDiGraph) -> str:
    """The graph in the language of Graphviz, every PE at its place."""
    lines = ["digraph collc {", "    node [shape=box];"]
    for node, about in graph.nodes(data=True):
        lines.append(f'    "{node}" [pos="{about["x"]},{-about["y"]}!"];')
    for source, destination, about in graph.edges(data=True):
        label = f"{about['phase']} {about['step']}: {about['action']}"
        lines.append(f'    "{source}" -> "{destination}" [label="{label}"];')
    return "\n".join([*lines, "}", ""])


def as_graphml(graph: nx.MultiDiGraph) -> str:
    """The graph in GraphML."""
    return "\n".join([*nx.generate_graphml(graph), ""])


def _edges(schedule: Schedule, phase: Phase) -> Iterator[Edge]:
    if isinstance(phase, BroadcastPhase):
        root = (phase.x, phase.y)
        for x in range(phase.width):
            for y in range(phase.height):
                if (x, y) != root:
                    yield _node(root), _node((x, y)), {"step": 0, "action": "multicast"}
        return
    for line in range(phase.lines[0], phase.lines[1] + 1):
        if isinstance(phase, ReducePhase):
            for step, one in enumerate(phase.transfers):
                ends = (phase.coordinate(one.source), phase.coordinate(one.destination))
                about = {"step": step, "action": one.action.name.lower()}
                source, destination = (_node(_pe(schedule, phase.axis, at, line)) for at in ends)
                yield source, destination, about
            continue
        for step, moves in enumerate(phase.steps):
            columns = (moves.source, moves.destination, moves.slice, moves.into, moves.count)
            rows = zip(*(column.tolist() for column in columns), moves.combines, strict=True)
            for sender, receiver, first, into, count, combines in rows:
                ends = (phase.places[sender], phase.places[receiver])
                action = "combine" if combines else "copy"
                about = {"step": step, "action": action}
                about |= {"slice": first, "into": into, "count": count}
                source, destination = (_node(_pe(schedule, phase.axis, at, line)) for at in ends)
                yield source, destination, about


def _pe(schedule: Schedule, axis: str, at: int, line: int) -> tuple[int, int]:
    """The PE at a coordinate of a line, or at a place of the path."""
    path = schedule.collective.path
    if path is not None:
        x, y = path.places[at]
        return x, y
    return (at, line) if axis == "x" else (line, at)


def _node(pe: tuple[int, int]) -> str:
    return f"{pe[0]},{pe[1]}"


def _too_many() -> CollcError:
    message = f"the graph has more than {MOST_EDGES} edges"
    return CollcError([Diagnostic("C605", message, None, help="take fewer PEs, or fewer slices")])
