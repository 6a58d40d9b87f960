"""What every stage uses: diagnostics, coordinates, caches, files. Knows nothing of collectives."""
