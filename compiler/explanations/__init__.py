"""Parts of collc: explanations."""
