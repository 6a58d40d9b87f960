"""Plans with one thing changed, and what becomes of them.

`trees`, `exchanges` and `programs` change plans of whole vectors, of slices, and of several
collectives; `judging` says what checks and fabsim make of a changed plan. Tests take every third,
`python tests/mutation.py` takes all.
"""
