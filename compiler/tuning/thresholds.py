"""What is worth a warning, as parts of all cycles."""

LONG = 0.05  # of a wait, or of what is lost otherwise
MUCH = 0.03  # of what another plan wins
