"""Parts of collc: language."""
