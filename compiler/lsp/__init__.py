"""Editors: a server of the language server protocol, `collc lsp`.

`names` finds which names of a text are the same thing, `document` answers what an editor asks about
a text, without any protocol; `checking` runs the whole compiler beside it, in a process that is
ended when the text changes; `server` speaks the protocol, with pygls (`pip install 'collc[lsp]'`).
"""
