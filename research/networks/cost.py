"""One schedule on one network: which rule applies, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Iterator

from collc.base.diagnostics import CollcError, Diagnostic
from collc.schedule import Schedule
from collc_research.networks.dimension import DimensionCost, dimension_cost
from collc_research.networks.mesh import MeshUse, mesh_use
from collc_research.networks.network import Dimension, Mesh, Network, Topology, TwoTier, Uniform
from collc_research.networks.rounds import Round, ranks_of, rounds_of, transfers_in
from collc_research.networks.two_tier import LinkUse, two_tier_use
from collc_research.networks.uniform import UniformCost, uniform_cost

MAX_MESSAGES = 1 << 25
MAX_LENGTH = 1 << 36  # what all messages of a rank add up to then fits in 64 bits

NetworkCost = UniformCost | DimensionCost | LinkUse | MeshUse


def cost_on(schedule: Schedule, network: Network) -> NetworkCost:
    """What a schedule takes on a network; raises `CollcError` where it does not fit."""
    ranks = ranks_of(schedule)
    problems = list(_misfits(schedule, network))
    if problems:
        raise CollcError(problems)
    element_bytes = schedule.collective.contract.element.bytes
    if isinstance(network, Uniform):
        return uniform_cost(network, rounds_of(schedule), ranks, element_bytes)
    if isinstance(network, Dimension):
        return dimension_cost(network, _parts(schedule, network.splits), ranks, element_bytes)
    if isinstance(network, TwoTier):
        return two_tier_use(network, rounds_of(schedule), element_bytes)
    return mesh_use(schedule)


def _parts(schedule: Schedule, splits: int) -> Iterator[tuple[Iterator[Round], int]]:
    """The rounds of parts of the vector, cut as evenly as whole elements allow, and how many parts
    are so long."""
    length = schedule.collective.contract.length
    size, longer = divmod(length, splits)
    if length == 0:
        yield rounds_of(schedule), 1
    for part, times in ((size + 1, longer), (size, splits - longer)):
        if part and times:
            yield rounds_of(schedule, part), times


def _misfits(schedule: Schedule, network: Network) -> Iterator[Diagnostic]:
    """C604: a program that is too large for a network, or to be followed."""
    ranks, messages = ranks_of(schedule), transfers_in(schedule)
    contract = schedule.collective.contract
    if contract.length > MAX_LENGTH:
        message = f"vectors of {contract.length} elements are too long, at most {MAX_LENGTH} are"
        yield Diagnostic("C604", f"{message} counted", contract.span)
    if messages > MAX_MESSAGES and not isinstance(network, Mesh):
        message = f"{messages} messages are too many to follow, at most {MAX_MESSAGES} are"
        yield Diagnostic("C604", message, None, help="use a smaller grid")
    if isinstance(network, TwoTier) and ranks > network.ranks:
        message = f"the program has {ranks} ranks, the network {network.ranks} cores"
        yield Diagnostic("C604", message, None, help="use a smaller grid or a larger network")
    if not isinstance(network, Dimension) or network.topology is not Topology.FULL:
        return
    if network.links < ranks - 1:
        message = f"{ranks} fully connected ranks need {ranks - 1} links each, there are "
        help = f"write `links = {ranks - 1}`, or a multiple of it"
        yield Diagnostic("C604", f"{message}{network.links}", None, help=help)
