"""The patterns that come with the compiler, and what it finds out about each.

In reading order: `sources` (which there are: trees and algorithms of the prelude, programs of
examples/ that show something else), `instances` (a pattern on so many PEs as a program), `facts`
(contract, operand order, colors, steps, formula), `show` (tables of them).
"""

from collc.patterns.facts import Facts, facts_of
from collc.patterns.instances import Choice, instance, programs, uses
from collc.patterns.show import as_data, show_page, show_table
from collc.patterns.sources import Kind, Pattern, all_patterns

__all__ = [
    "Choice",
    "Facts",
    "Kind",
    "Pattern",
    "all_patterns",
    "as_data",
    "facts_of",
    "instance",
    "programs",
    "show_page",
    "show_table",
    "uses",
]
