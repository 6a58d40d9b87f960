"""What the compiler chooses where a program says `auto`, and the best plans by length.

Reading order: `terms` (the model's cycles of a schedule by what they go into), `trees` (the choice
of a tree for a line), `candidates` (what comes into question), `decide` (the choice of a plan).
"""

from collc.tuning.decide import (
    chosen,
    decided,
    decided_within,
)
