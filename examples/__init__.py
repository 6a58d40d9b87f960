"""Programs that show every pattern, as installed data."""
