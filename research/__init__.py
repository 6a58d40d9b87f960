"""What surrounds the compiler: the numbers of its sources, other networks, and pictures.

`collc_research` imports `collc`. Nothing in `collc` imports it but the commands that show its
results: `collc reproduce` (the published claims, computed anew), `collc cost --network` and
`collc export --chakra` (the same schedules on other networks), and `collc plot`.
"""
