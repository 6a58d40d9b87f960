"""What MPI, NCCL, BLAS, machine learning and the literature call what this compiler has: one table
of names, for `collc list`.

A name is looked up without case, blanks and punctuation, and without the prefix of its library:
`MPI_Iallreduce`, `ncclAllReduce`, `all-reduce` and `all_reduce` are one name.
"""

import re

from collc.base.values import dataclass
from collc.patterns.sources import Kind
from collc.spec import ContractKind

ORDERS = "orders"  # the kind of entry that is no pattern
_LIBRARY = re.compile(
    r"^(mpix?_?|nccl|rccl|oneccl|ccl|torch\.distributed\.|jax\.lax\.|lax\.|dist\.)"
)
_CONTRACTS = {kind.value: kind for kind in ContractKind if kind is not ContractKind.OWN}

# Other names of the same contract.
SAME = {
    "bcast": "broadcast",
    "multicast": "broadcast",
    "psum": "allreduce",
    "gsum": "allreduce",
    "pmax": "allreduce",
    "pmin": "allreduce",
    "psumscatter": "reduce_scatter",
    "reducescatterblock": "reduce_scatter",
    "reducescattertensor": "reduce_scatter",
    "allgatherintotensor": "allgather",
    "alltoallsingle": "all_to_all",
    "transposition": "all_to_all",
    "transpose": "all_to_all",
    "totalexchange": "all_to_all",
    "personalizedexchange": "all_to_all",
    "indexoperation": "all_to_all",
    "concatenation": "allgather",
    "fence": "barrier",
    "syncthreads": "barrier",
    "sync": "barrier",
}
# What is not there as such: the word to look at instead, and why.
_UNEQUAL = "all slices have one length here: take the longest, and leave the rest of it unused"
INSTEAD = {
    "alltoallv": ("all_to_all", _UNEQUAL),
    "alltoallw": ("all_to_all", _UNEQUAL),
    "allgatherv": ("allgather", _UNEQUAL),
    "gatherv": ("gather", _UNEQUAL),
    "scatterv": ("scatter", _UNEQUAL),
    "reducescatterv": ("reduce_scatter", _UNEQUAL),
    "doublebinarytree": (
        "dual_root_allreduce",
        "the nearest to it: two binary trees at once, whose roots exchange what they have",
    ),
    "doubletree": ("dual_root_allreduce", "two binary trees at once, whose roots exchange"),
    "pmean": ("allreduce", "a mean is an allreduce with `add`, which the kernel scales"),
    "average": ("allreduce", "a mean is an allreduce with `add`, which the kernel scales"),
    "scan": ("prefix_sum", "a contract that an example declares"),
    "exscan": ("prefix_sum", "a contract that an example declares, without the own vector"),
    "cumsum": ("prefix_sum", "a contract that an example declares"),
    "neighboralltoall": ("halo_exchange", "a contract that an example declares"),
    "neighborallgather": ("halo_exchange", "a contract that an example declares"),
    "sendrecv": ("rotation", "a contract that an example declares"),
    "ppermute": ("rotation", "a contract that an example declares"),
    "send": ("broadcast", "a collective has all ranks of a line; two ranks are a line of two"),
    "recv": ("broadcast", "a collective has all ranks of a line; two ranks are a line of two"),
    "gemv": ("reduce", "its communication: each row sums its products; `collc example gemv`"),
    "gemm": ("broadcast", "its communication (SUMMA): panels go along rows and columns"),
    "summa": ("broadcast", "its communication: panels go along rows and columns"),
    "dot": ("allreduce", "its communication: an allreduce with `add` of one element"),
    "nrm2": ("allreduce", "its communication: an allreduce with `add` of one element"),
    "asum": ("allreduce", "its communication: an allreduce with `add` of one element"),
    "iamax": ("argmax", "pairs of a value and an index, combined by `argmax`"),
    "maxloc": ("argmax", "pairs of a value and an index, combined by `argmax`"),
    "minloc": ("argmax", "pairs of a value and an index, combined by `argmin`"),
    "softmax": ("allreduce", "its communication: two allreduces, with `max` and with `add`"),
}
KINDS: dict[str, Kind | str] = {
    "trees": Kind.TREE,
    "algorithms": Kind.ALGORITHM,
    "examples": Kind.EXAMPLE,
    "compositions": Kind.EXAMPLE,
    "orders": ORDERS,
}


@dataclass(frozen=True)
class Meant:
    """What a name stands for: a contract, a kind, or else the name of a pattern; and what to tell,
    if the word is another one here."""

    contract: str = ""
    kind: Kind | str = ""
    name: str = ""
    note: str = ""


def meant_by(word: str) -> Meant | None:
    """What a name of the field means here; None for one that is not in the tables."""
    for key in dict.fromkeys((_key(word), _key(word).removeprefix("i"))):  # MPI_Iallreduce
        if key in KINDS:
            return Meant(kind=KINDS[key])
        own = SAME.get(key) or next((one for one in _CONTRACTS if _key(one) == key), "")
        if own:
            called = "" if word.lower() == own else f"{word} is called {own} here"
            return Meant(contract=own, note=called)
        if key in INSTEAD:
            own, why = INSTEAD[key]
            note = f"{word}: see {own}; {why}"
            return Meant(own, note=note) if own in _CONTRACTS else Meant(name=own, note=note)
    return None


def _key(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", _LIBRARY.sub("", word.strip().lower()))
