"""The numbers of the sources, computed anew.

`reproduce` checks every claim of the five sources (docs/sources.md) with this project's own code:
closed forms, the optimum, trees and algorithms of the prelude, schedules followed on networks,
plans of the compiler. Reading order: `claims` (what a claim is), `patterns` and `rank_order` (what
claims are checked with), the modules of claims by source, `table`, `show`.
"""

from collc_research.reproduce.claims import Row, Verdict
from collc_research.reproduce.show import rows_as_data, summary, tables_of
from collc_research.reproduce.table import claims, reproduce

__all__ = ["Row", "Verdict", "claims", "reproduce", "rows_as_data", "summary", "tables_of"]
