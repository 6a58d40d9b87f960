"""What a schedule costs on other machines than the wafer.

A schedule says who sends what to whom, and nothing of colors and routers, so that it can be
followed on any network. Reading order: `network` (the kinds), `read` (from a file), `rounds` (a
schedule as messages), then one module for each kind: `uniform`, `dimension`, `two_tier`, `mesh`;
`cost` picks one, `show` prints what it says.
"""

from collc_research.networks.cost import NetworkCost, cost_on
from collc_research.networks.network import Network
from collc_research.networks.read import read_network
from collc_research.networks.show import show_cost

__all__ = ["Network", "NetworkCost", "cost_on", "read_network", "show_cost"]
