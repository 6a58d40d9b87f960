"""The templates, as installed data."""
