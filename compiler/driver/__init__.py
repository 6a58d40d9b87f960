"""The driver: from text to a bundle, through all stages."""
