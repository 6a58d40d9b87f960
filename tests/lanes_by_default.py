"""A plug-in of pytest that makes the text of lanes the default: `pytest -p lanes_by_default`.

It has to be imported before what has the default in its signatures.
"""

from collc.emit import texts

texts.DEFAULT = texts.LANES
