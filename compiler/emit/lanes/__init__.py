"""The text of one library for all forms: what PEs do is read from lanes alone."""
