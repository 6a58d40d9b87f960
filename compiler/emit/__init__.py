"""Parts of collc: emit."""
