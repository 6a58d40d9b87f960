"""Plan to CSL: names and lists are chosen in `model`, printed by the templates in `render`."""
