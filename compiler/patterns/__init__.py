"""The patterns that come with the compiler, and what it finds out about each.

In reading order: `sources` (which patterns there are: trees and algorithms of the prelude, programs
of examples/ that show something else), `orders` (which PE has which rank), `search` (both, by a
word), `elsewhere` (words that MPI, NCCL, BLAS and others have for them), `instances` (a pattern on
so many PEs as a program), `facts` (contract, operand order, colors, steps, formula), `show` (tables
of them, and docs/patterns.md).
"""

from collc.patterns.elsewhere import ORDERS, meant_by
from collc.patterns.facts import Facts, facts_of
from collc.patterns.instances import Choice, instance, programs, uses
from collc.patterns.orders import RankOrder, all_orders
from collc.patterns.search import Entry, Found, near, search
from collc.patterns.show import as_data, order_as_data, show_details, show_page, show_table
from collc.patterns.sources import Kind, Pattern, all_patterns
