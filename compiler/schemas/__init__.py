"""JSON schemas of what the commands print and of manifests, as installed data."""
