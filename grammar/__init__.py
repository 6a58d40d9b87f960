"""The grammar and the prelude, as installed data."""
