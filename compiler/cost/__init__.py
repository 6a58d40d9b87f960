"""Parts of collc: cost."""
