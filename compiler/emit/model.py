"""From a Plan to what the templates print: every name chosen, every list sorted.

In reading order: the values the templates see, then `model_of`, which makes them from a plan.
Templates loop over these values and substitute; they decide nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from collc.base.values import dataclass
from collc.base.version import __version__
from collc.emit.arguments import (
    ArgumentsModel,
    arguments_of_part,
    arguments_of_phase,
    arguments_of_result,
)
from collc.emit.conditions import Cases, cases_of
from collc.emit.custom_contract import OwnModel, own_model
from collc.emit.exchange import BitModel, row_bits
from collc.emit.grid_places import SiteModel, coordinates, site_model
from collc.emit.headline import headline, promise_of
from collc.emit.names import Combine, combine_of
from collc.emit.order import compared_by_bits, numpy_combine, order_of, rounds
from collc.emit.paths import PathModel, path_model
from collc.emit.phase_context import PhaseContext
from collc.emit.phases import PhaseModel, entries_of, phase_model
from collc.emit.reference import (
    numpy_callback,
    numpy_operands,
    numpy_places,
    numpy_reduction,
    numpy_type,
)
from collc.emit.registers import GotModel, RegisterModel, given_registers, got, registers_of_vector
from collc.emit.roles import Shape, shape_of
from collc.lowering.ids import Ids
from collc.lowering.registers import vector_pairs
from collc.lowering.resources import hands_over, resets
from collc.lowering.shared_phases import SharedPhase
from collc.plan import AREA_BITS, Plan, Registers
from collc.plan.form import form_of
from collc.plan.geometry import home_of
from collc.plan.one_word import is_one_word, sends_to_parent
from collc.plan.placement import switched_colors
from collc.plan.slots import shares_outputs_over_time
from collc.schedule import Schedule
from collc.spec import ContractKind
from collc.spec.contract import spanned
from collc.spec.slice_ownership import lines_and_ranks


@dataclass(frozen=True)
class BundleModel:
    """Everything the templates print. Positions and ids are numbers; names are CSL identifiers.
    `length` and `held` count words of type `element`, `words` for each of the `elements`; `held`
    also counts what is between them where they are `stride` apart. With `into`, the name of a
    buffer for the result, these are its, and those of the input are `input_held` and
    `input_stride`. With a `run_length`, the name of a length that is given at run time, vectors
    have up to `length` elements of the `held` ones of the buffer; `order` is the one in which a
    plan combines operands, where that matters and is short. If it `binds_outputs`, an output queue
    is that of one color on each PE."""

    name: str
    type_name: str
    headline: str
    source: str
    version: str
    kind: str
    by_slices: str
    places: str
    blocks: int
    width: int
    height: int
    site: SiteModel
    elements: int
    words: int
    length: int
    held: int
    elements_held: int
    stride: int
    input_held: int
    input_stride: int
    into: str
    run_length: str
    buffer: str
    element: str
    numpy_type: str
    bits: int
    numpy_reduction: str
    numpy_callback: tuple[str, ...]
    numpy_operands: str
    numpy_combine: str
    order: tuple[str, ...]
    rounds: bool
    by_bits: bool
    own: OwnModel | None
    combine: Combine
    colors: tuple[tuple[str, int], ...]
    phases: tuple[PhaseModel, ...]
    input_queues: tuple[int, ...]
    output_queues: tuple[int, ...]
    binds_outputs: bool
    task_ids: tuple[int, ...]
    done_id: int
    registers: tuple[RegisterModel, ...]
    dsr_ids: tuple[int, ...]
    result: Cases
    part_arguments: tuple[str, str]
    result_arguments: tuple[str, str]
    arguments: Mapping[str, ArgumentsModel]
    path: PathModel | None
    first: str
    opens: bool
    resets: bool
    hands_over: bool
    tears_down: bool
    switched: bool
    outputs: int
    shared: bool
    one_word: bool
    task: str
    root: tuple[int, int]

    @property
    def pointer(self) -> str:
        """The type of a pointer to the buffer that a call works in: an array of its length, so that
        one of another length is refused when the kernel is compiled."""
        return f"*[{self.held}]{self.element}"

    @property
    def input_pointer(self) -> str:
        """The same of the input of a call whose results have a buffer apart."""
        return f"*[{self.input_held}]{self.element}"

    @property
    def sets_routers(self) -> bool:
        """Whether some phase has code for routers that are torn down."""
        return any(phase.sets_routers for phase in self.phases)

    @property
    def row_bits(self) -> tuple[BitModel, ...]:
        """What rows do, where phases have some."""
        return row_bits(phase.exchange for phase in self.phases if phase.exchange)

    @property
    def area_bits(self) -> int:
        """From which bit on rows say which area of a stage they use, 0 if stages have one."""
        exchanges = [phase.exchange for phase in self.phases if phase.exchange]
        return AREA_BITS if any(exchange.areas > 1 for exchange in exchanges) else 0

    @property
    def last(self) -> str:
        """The entry of the last phase."""
        return self.phases[-1].first

    @property
    def results(self) -> str:
        """The buffer that holds the result."""
        return self.into or self.buffer

    @property
    def keeps_vector(self) -> bool:
        """Whether there is a descriptor of the caller's vector."""
        ready = any(one.stream and one.stream.ready for one in self.phases) and not self.into
        return not (self.one_word or ready)

    @property
    def dummy(self) -> bool:
        """Whether descriptors are made before it is known where the vector is."""
        return bool(self.buffer) or any(phase.exchange or phase.stream for phase in self.phases)

    @property
    def keeps_base(self) -> bool:
        """Whether the caller's buffer is needed behind `prepare`."""
        backward = any(of.exchange and of.exchange.backward for of in self.phases)
        return bool(self.buffer and self.phases and (backward or not self.run_length))

    @property
    def got(self) -> tuple[GotModel, ...]:
        """The registers that a program of one collective gets for it."""
        return got((one.given for one in self.registers), str)

    @property
    def dsrs(self) -> dict[str, list[int]]:
        """Their numbers by class."""
        numbers: dict[str, list[int]] = {}
        for one in self.got:
            numbers.setdefault(one.type, []).append(int(one.number))
        return numbers

    @property
    def has_part(self) -> str:
        """The condition that this PE takes part in any phase, or is the only one."""
        parts = (f"params.{phase.name}.takes_part" for phase in self.phases)
        return " or ".join(parts) or "params.alone"


def model_of(
    plan: Plan, schedule: Schedule, source: str, shared: tuple[SharedPhase, ...] | None = None
) -> BundleModel:
    """The bundle of `plan`, which carries out `schedule`; `source` is the name of the .coll file,
    for comments. In a program of several collectives `shared` is what each phase is given."""
    collective, root = plan.collective, home_of(plan)
    contract, grid = collective.contract, collective.grid
    how = combine_of(contract)
    ids = Ids(pairs=vector_pairs(plan.phases))
    one_word = shared is None and is_one_word(plan)
    phases = _phases(plan, how, ids) if shared is None else _shared_phases(plan, how, shared)
    shapes = [shape_of(phase) for phase in plan.phases if not form_of(phase).is_cut]
    site, result = site_model(grid, root), _result_cases(plan)
    on_path = any(phase.path is not None for phase in plan.phases)
    registers, order = _registers(plan, ids, phases, shapes, shared, how), order_of(schedule)
    return BundleModel(
        name=collective.name,
        type_name=type_name(collective.name),
        headline=headline(plan),
        # a file may be called anything, a comment must stay one
        source=re.sub(r"[^\w./ +-]", "_", source),
        version=__version__,
        kind=contract.kind.value,
        by_slices=promise_of(collective),
        places=numpy_places(collective),
        blocks=len(lines_and_ranks(collective)[0]) if contract.kind.by_slices else 1,
        width=grid.width,
        height=grid.height,
        site=site,
        elements=contract.length,
        words=contract.element.words,
        length=contract.words,
        held=spanned(contract.held, contract.apart) * contract.element.words,
        elements_held=contract.held,
        stride=contract.apart,
        input_held=contract.span_of(contract.held) * contract.element.words,
        input_stride=contract.stride,
        into=contract.result.name if contract.result else "",
        run_length=contract.run_length.name if contract.run_length else "",
        buffer=contract.buffer,
        element=contract.element.word.value,
        numpy_type=numpy_type(contract.element),
        bits=8 * contract.element.word.bytes,
        numpy_reduction=numpy_reduction(contract),
        numpy_callback=numpy_callback(contract),
        numpy_operands=numpy_operands(schedule),
        numpy_combine=numpy_combine(contract),
        order=order,
        rounds=rounds(schedule),
        by_bits=compared_by_bits(schedule, order),
        own=own_model(collective) if contract.own else None,
        combine=how,
        colors=plan.colors,
        phases=phases,
        input_queues=plan.input_queues[: ids.inputs],
        output_queues=plan.output_queues[: ids.outputs],
        binds_outputs=not shares_outputs_over_time(plan),
        task_ids=plan.task_ids[: ids.tasks],
        done_id=plan.task_ids[ids.tasks] if shared is None else -1,
        registers=registers,
        dsr_ids=plan.dsr_ids,
        result=result,
        part_arguments=arguments_of_part(site),
        result_arguments=arguments_of_result(result, on_path, site),
        arguments={phase.name: arguments_of_phase(phase, site) for phase in phases},
        path=path_model(collective.path, grid) if collective.path else None,
        first=_entries(plan)[0],
        opens=any(shape.opens for shape in shapes),
        resets=any(shape.resets for shape in shapes) or any(map(resets, plan.phases)),
        hands_over=any(map(hands_over, plan.phases)),
        tears_down=any(phase.multiplexed for phase in phases),
        switched=bool(switched_colors(plan.phases)),
        outputs=max((given.outputs for given in shared or ()), default=1),
        shared=shared is not None,
        one_word=one_word,
        task="task" if shared is None else "fn",
        root=root,
    )


def _registers(  # noqa: PLR0913, PLR0917 - what the registers depend on
    plan: Plan,
    ids: Ids,
    phases: tuple[PhaseModel, ...],
    shapes: Sequence[Shape],
    shared: tuple[SharedPhase, ...] | None,
    how: Combine,
) -> tuple[RegisterModel, ...]:
    """The registers of the module: the vector's, then those of its phases. In a program of several
    collectives positions are those of the program."""
    vector = shared[0].first.vector if shared else ids.vector
    own = (one for phase in phases for one in phase.registers)
    stored = (
        any(p.store and not (p.store.passes or p.context.one_word) for p in phases)
        and not how.callback
    )
    registers = (*registers_of_vector(shapes, stored, vector), *own)
    if shared is not None:
        return given_registers(registers, lambda at: at + 1, lambda at: at + 1)
    of = plan.registers or Registers(tuple(range(ids.pairs)), tuple(range(ids.sources)))
    assert (ids.pairs, ids.sources) == (len(of.pairs), len(of.sources)), "as `slots_of` counts"
    numbers = plan.dsr_ids
    return given_registers(
        registers, lambda at: numbers[of.pairs[at]], lambda at: numbers[of.sources[at]]
    )


def type_name(name: str) -> str:
    """`two_phase` as a type: `TwoPhase`."""
    return "".join(part.capitalize() for part in name.split("_") if part) or "Collective"


def _phases(plan: Plan, how: Combine, ids: Ids) -> tuple[PhaseModel, ...]:
    """The phase models, each told the entry of the next; ids are handed out in phase order."""
    entries = _entries(plan)
    if is_one_word(plan):  # `run` calls its last phase, and nothing is behind it
        entries[-2:] = "", ""
    last = last_reduction(plan)
    return tuple(
        phase_model(
            phase,
            plan,
            how,
            ids,
            PhaseContext(
                after=entries[index + 1],
                later=tuple(later.name for later in plan.phases[index + 1 :]),
                restores=bool(how.negate) and index == last,
                one_word=is_one_word(plan),
                earlier=tuple(earlier.name for earlier in plan.phases[:index]),
            ),
        )
        for index, phase in enumerate(plan.phases)
    )


def _shared_phases(
    plan: Plan, how: Combine, shared: tuple[SharedPhase, ...]
) -> tuple[PhaseModel, ...]:
    """The phase models of a program of several collectives, each by itself."""
    last = last_reduction(plan) if how.negate else -1
    contexts = (
        PhaseContext(f"{phase.name}_finish", (), index == last, shared[index])
        for index, phase in enumerate(plan.phases)
    )
    return tuple(
        phase_model(phase, plan, how, replace(context.given.first), context)
        for phase, context in zip(plan.phases, contexts, strict=True)
    )


def last_reduction(plan: Plan) -> int:
    """The index of the last phase that combines; -1 if none does."""
    kinds = enumerate(phase.kind for phase in plan.phases)
    return max((i for i, kind in kinds if kind is not ContractKind.BROADCAST), default=-1)


def _entries(plan: Plan) -> list[str]:
    """The function that begins each phase, and the one behind the last."""
    return [entries_of(phase)[0] for phase in plan.phases] + ["finish"]


def _result_cases(plan: Plan) -> Cases:
    """1 for the PE that holds the result of the last reduction, else 0."""
    grid = plan.collective.lined
    reductions = [p for p in plan.phases if p.kind is not ContractKind.BROADCAST]
    regions = [
        (region, 1)
        for phase in reductions[-1:]
        for region, role in phase.regions
        if form_of(phase).is_cut or not sends_to_parent(phase.roles[role])
    ]
    names = coordinates(reductions[-1]) if reductions else ("x", "y")
    return cases_of(regions, (grid.width, grid.height), 0, "result_holders", names)
