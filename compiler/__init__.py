"""collc: collectives for the Cerebras WSE, compiled to CSL."""
