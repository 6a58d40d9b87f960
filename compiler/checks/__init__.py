"""Parts of collc: checks."""
