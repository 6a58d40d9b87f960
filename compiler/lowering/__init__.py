"""Parts of collc: lowering."""
