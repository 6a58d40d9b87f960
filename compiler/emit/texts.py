"""The texts that a bundle can be made of, and which one it is where nobody says."""

FORMS, LANES = "forms", "lanes"  # a text for each form of a plan, one text for all
TEXTS = (FORMS, LANES)
DEFAULT = LANES
