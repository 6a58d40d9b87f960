"""The machine's numbers, in one place, each with where it comes from (docs/machine.md).

No other module holds a machine number, and no module asks for a target's name: what differs
between machines is a field here.
"""

from collections.abc import Iterable

from collc.base.values import dataclass
from collc.target.constants import Code, Constants, constants_of

# The releases of the SDK that emitted text is for, oldest first, by target: docs/hardware.md says
# why, and tests/emit/test_releases.py compiles the examples under them and under the one before.
SDK_RELEASES: dict[str, tuple[str, ...]] = {"wse2": ("2.10",), "wse3": ("2.10",)}


@dataclass(frozen=True)
class Target:
    """One generation of the wafer, as the compiler sees it."""

    name: str
    max_width: int  # largest program rectangle with memcpy: fabric - 7, - 2 [ex]
    max_height: int
    colors: tuple[int, ...]  # routable and free beside memcpy, which takes 21..23 [doc]
    switch_colors: frozenset[int]  # colors whose routers have switches [doc]
    switch_positions: int  # per router and color [doc]
    switch_both_sides: bool  # whether one position may change receiving and sending side [meas]
    input_queues: tuple[int, ...]  # free beside memcpy [doc]
    output_queues: tuple[int, ...]
    binds_output_queues: bool  # to a color each, before the program begins [doc][ex]
    # free beside memcpy (21..23, 27, 28, 30), teardown (29), system (31): the task maps of all
    # programs with memcpy, on either machine [ex]
    local_task_ids: tuple[int, ...]
    # whether the tasks of wavelets have the numbers of their colors, which are then no local
    # tasks'; else they have those of input queues, 0..7 [doc]
    tasks_by_color: bool
    dsr_ids: tuple[int, ...]  # per file, beside memcpy, which takes 0 of dest and src1 [doc]
    memory_bytes: int  # per PE [doc]
    # of these, what a program leaves to memcpy's code and data (4,176) and to the stack (4,096):
    # docs/machine.md, M3.9-17
    kept_bytes: int
    max_extent: int  # 0x7fff means endless [ex]
    # operations that an instruction does on one element only, by the bytes of that [doc]
    one_by_one: frozenset[tuple[str, int]]
    pairs: bool  # whether two 16-bit elements may travel in a wavelet [doc]
    dimensions: int  # of an operand in memory, at most [doc]
    cycles: Constants  # measured by `make constants`; docs/machine.md, "Timing", has the rules
    # counter filters at one PE, beside memcpy's: on WSE-2 five of six [doc]; on WSE-3, of which no
    # page has a number, as many as a public program has at a PE, fft-1d-2d [ex]
    filters: int
    router_queue: int  # wavelets a router holds of one color [meas]
    input_queue_words: tuple[int, ...]  # wavelets that input queue i holds [doc]
    output_queue_words: tuple[int, ...]

    @property
    def free_bytes(self) -> int:
        """Bytes of a PE's memory for a program's code and data."""
        return self.memory_bytes - self.kept_bytes

    def task_ids_beside(self, colors: Iterable[int]) -> tuple[int, ...]:
        """The local task ids that are free where these colors are in use."""
        taken = set(colors) if self.tasks_by_color else set()
        return tuple(number for number in self.local_task_ids if number not in taken)

    @property
    def code(self) -> Code:
        """What pieces of the emitted code take."""
        return self.cycles.code

    @property
    def hop(self) -> int:
        """Cycles from a router to the next."""
        return self.cycles.engine.hop

    @property
    def visit(self) -> int:
        """Cycles from executing an element to using it in the same router's PE."""
        return self.cycles.engine.ramp_up + self.cycles.engine.ramp_down

    @property
    def ramp(self) -> int:
        """T_R of the thesis: a visit takes two of them and a cycle."""
        return (self.visit - 1) // 2


_WSE2_COLORS = tuple(range(0, 21))
_TASK_IDS = (*range(8, 21), 24, 25, 26)
_PRODUCTS = frozenset((("mul", 4),))
_MAXIMA = frozenset((name, size) for name in ("max", "min") for size in (2, 4))

WSE2 = Target(
    name="wse2",
    max_width=750,
    max_height=994,
    colors=_WSE2_COLORS,
    switch_colors=frozenset(_WSE2_COLORS),
    switch_positions=4,
    switch_both_sides=False,
    input_queues=(2, 3, 4, 5, 6, 7),
    output_queues=(2, 3, 4, 5),
    binds_output_queues=False,
    local_task_ids=_TASK_IDS,
    tasks_by_color=True,
    dsr_ids=tuple(range(1, 8)),
    memory_bytes=48 * 1024,
    kept_bytes=4_176 + 4_096,
    max_extent=0x7FFE,
    one_by_one=_PRODUCTS | _MAXIMA,
    pairs=True,
    dimensions=4,
    cycles=constants_of("wse2"),
    filters=5,
    router_queue=4,
    input_queue_words=(6, 6, 4, 4, 2, 2, 2, 2),
    output_queue_words=(2, 2, 6, 6, 2, 2),
)

WSE3 = Target(
    name="wse3",
    max_width=755,
    max_height=1170,
    colors=_WSE2_COLORS,
    switch_colors=frozenset((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 20)),
    switch_positions=4,
    switch_both_sides=True,
    input_queues=(2, 3, 4, 5, 6, 7),
    output_queues=(2, 3, 4, 5, 6, 7),
    binds_output_queues=True,
    local_task_ids=_TASK_IDS,
    tasks_by_color=False,
    dsr_ids=tuple(range(1, 8)),
    memory_bytes=48 * 1024,
    kept_bytes=4_176 + 4_096,
    max_extent=0x7FFE,
    one_by_one=_PRODUCTS,
    pairs=True,
    dimensions=4,
    cycles=constants_of("wse3"),
    filters=2,
    router_queue=4,
    input_queue_words=(8, 8, 4, 4, 4, 4, 4, 4),
    output_queue_words=(8, 8, 8, 8, 8, 8, 8, 8),
)

TARGETS = {target.name: target for target in (WSE2, WSE3)}
