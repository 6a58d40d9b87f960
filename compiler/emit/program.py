"""A program of several collectives as the templates see it.

Each collective keeps its two modules. What they share is in `collectives_pe.csl`: it lets one
phase begin after the other, waits for torn-down colors, and hands tasks on to the phase under way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from collc.base.values import dataclass
from collc.base.version import __version__
from collc.emit.calls import CallModel, ModuleModel, Step, entries_of
from collc.emit.model import BundleModel, model_of, type_name
from collc.emit.phases import PhaseModel
from collc.emit.program_colors import ColorModel, color_models
from collc.emit.registers import GotModel, got
from collc.emit.streams import StreamModel
from collc.lowering.shared_phases import SharedPhase, controls_ready, most_outputs, shared_of
from collc.plan.configuration import setters
from collc.plan.placement import switched_colors
from collc.plan.plan import ProgramPlan
from collc.schedule import Schedule

MODULES = ("collectives", "beside")  # what begins the names of their modules; then beside_2, ...


@dataclass(frozen=True)
class Part:
    """What a task does in one phase: the function to call, if the PE is one that has it."""

    step: int
    condition: str
    function: str


@dataclass(frozen=True)
class BufferModel:
    """An array of the standalone program; `length` is as CSL has it, of so many `elements`, which
    have so many `words` each and are `stride` apart."""

    name: str
    element: str
    numpy_type: str
    bits: int
    length: int
    elements: int
    words: int
    stride: int


@dataclass(frozen=True)
class ProgramModel:
    """Everything that the templates of a program print; `file` begins the names of its modules, and
    `others` are those of the call streams beside it. `turns` are its calls by index, those together
    that are in flight at the same time, each with the call stream that it belongs to.
    """

    file: str
    others: tuple[str, ...]
    source: str
    version: str
    width: int
    height: int
    modules: tuple[ModuleModel, ...]
    steps: tuple[Step, ...]
    calls: tuple[CallModel, ...]
    entries: tuple[CallModel, ...]
    lengths: tuple[tuple[str, int], ...]
    roots: tuple[tuple[str, int], ...]  # with how many ranks may be one
    turns: tuple[tuple[tuple[int, int], ...], ...]
    rounds: int
    colors: tuple[ColorModel, ...]
    torn_down: bool
    ends_torn_down: bool
    own_tasks: int
    controls_ready: bool
    switched: bool
    outputs: int  # of a router at most, on a color that is torn down
    dynamic_length: bool
    tasks: tuple[tuple[Part, ...], ...]
    buffers: tuple[BufferModel, ...]
    input_queues: tuple[int, ...]
    output_queues: tuple[int, ...]
    task_ids: tuple[int, ...]
    dsr_ids: tuple[int, ...]
    skew: int

    @property
    def ending_first(self) -> int:
        """How many phases come before the first one behind which its collective goes on; 0 if none
        does."""
        return next((step.index for step in self.steps if not step.last), 0)

    def checks_of(self, name: str) -> tuple[str, ...]:
        """What a call of a collective has to keep."""
        return next((one.checks for one in self.entries if one.name == name), ())

    @property
    def given(self) -> list[tuple[str, int, int]]:
        """The numbers that are given when it runs, each with the least and the most, for run.py."""
        lengths = [(name, 1, most) for name, most in self.lengths]
        return lengths + [(name, 0, ranks - 1) for name, ranks in self.roots]

    @property
    def ranges(self) -> tuple[str, ...]:
        """Which numbers its calls take, in words."""
        return tuple(f"{name} is {least} to {most}" for name, least, most in self.given)

    @property
    def waiting(self) -> tuple[ColorModel, ...]:
        """The colors that have a task which is blocked until they are torn down."""
        return tuple(one for one in self.colors if one.torn_down and self.ends_torn_down)

    def waits_of(self, module: ModuleModel) -> tuple[ColorModel, ...]:
        """Those whose tasks the end of the phases of a collective passes: up to its last one."""
        last = max((place for _, place in module.colors if self.colors[place].torn_down), default=0)
        return tuple(one for one in self.waiting if one.index <= last) or self.waiting[:1]

    def end_of(self, module: ModuleModel) -> str:
        """The task that the end of a phase of a collective activates."""
        return next((one.ended for one in reversed(self.waits_of(module))), "phase_done")

    @property
    def has_results(self) -> bool:
        """Whether a result has a buffer apart from the input."""
        return any(one.m.into for one in self.modules)

    @property
    def has_pairs(self) -> bool:
        """Whether elements of some buffer are pairs."""
        return any(one.words > 1 for one in self.buffers)

    @property
    def has_gaps_or_pairs(self) -> bool:
        """Whether elements of some buffer are not a word each that follows the one before."""
        return any(one.words > 1 or one.stride > 1 for one in self.buffers)

    @property
    def got(self) -> tuple[GotModel, ...]:
        """The registers that it gets, for its colors and its collectives."""
        of_modules = (one.given for module in self.modules for one in module.m.registers)
        of_colors = (one.control for one in self.colors if self.controls_ready)
        return got((*of_modules, *of_colors), lambda number: f"dsr_ids[{number - 1}]")

    @property
    def own(self) -> bool:
        """Whether a collective has a contract of the user's own."""
        return any(module.m.own for module in self.modules)

    @property
    def ordered(self) -> bool:
        """Whether run.py follows the order of some sum."""
        return any(module.m.order for module in self.modules)

    @property
    def rounded(self) -> str:
        """The buffers with sums whose order it does not follow, as Python text."""
        found = {one.m.results for one in self.modules if one.m.rounds and not one.m.order}
        return f"{{{', '.join(map(repr, sorted(found)))}}}" if found else "set()"

    @property
    def exported(self) -> tuple[str, ...]:
        """The symbols that run.py copies to and from, beside those of time stamps."""
        lengths = (name for name, _ in (*self.lengths, *self.roots))
        skew = ("dice",) if self.skew else ()
        return (*(buffer.name for buffer in self.buffers), *lengths, *skew)

    @property
    def type_name(self) -> str:
        """What its file is called, as a type."""
        return type_name(self.file)

    @property
    def tx_of_outputs(self) -> Iterator[tuple[int, str]]:
        """What `reset_routes` takes as outputs, by how many of `config.tx` there are."""
        for count in range(1, self.outputs + 1):
            sides = ", ".join(f"config.tx[{at}]" for at in range(count))
            yield count, sides if count == 1 else f"[{count}]direction{{ {sides} }}"

    @property
    def plain(self) -> bool:
        """Whether it calls one collective once, with a dynamic length."""
        return len(self.calls) == 1 and self.rounds == 1 and not self.skew and bool(self.lengths)


def program_model(  # noqa: PLR0913, PLR0917 - what differs between call streams
    plan: ProgramPlan,
    due: Mapping[str, Schedule],
    source: str,
    skew: int,
    file: str = MODULES[0],
    others: tuple[str, ...] = (),
    outputs: int | None = None,
) -> ProgramModel:
    """The model of a program whose collectives carry out what is `due`, by name. With a `skew` its
    PEs wait before each call, each differently long, up to so many turns of an empty loop. One with
    `others` is a call stream beside those, which have the same most `outputs` of a router that they
    set."""
    outputs = most_outputs(plan) if outputs is None else outputs
    shared = [replace(given, outputs=outputs) for given in shared_of(plan)]
    models = [_module(plan, due, index, source, shared) for index in range(len(plan.plans))]
    steps = tuple(_steps(plan, models))
    modules = tuple(
        ModuleModel(
            model,
            tuple(steps[i] for i, _ in plan.uses_of(index)),
            tuple(pair for _, use in plan.uses_of(index) for pair in use.positions),
        )
        for index, model in enumerate(models)
    )
    grid = plan.plans[0].collective.grid.whole
    entries = {call.name: call for call in entries_of(plan, modules)}
    return ProgramModel(
        file=file,
        others=others,
        source=re.sub(r"[^\w./ +-]", "_", source),
        version=__version__,
        width=grid.width,
        height=grid.height,
        modules=modules,
        steps=steps,
        calls=tuple(entries[name] for name in plan.program.calls),
        entries=tuple(entries.values()),
        lengths=plan.program.lengths,
        roots=plan.program.roots,
        turns=_turns(plan),
        rounds=plan.program.rounds,
        colors=tuple(color_models(plan)),
        torn_down=any(color.torn_down for color in plan.colors),
        ends_torn_down=plan.ends_torn_down,
        own_tasks=plan.own_tasks,
        controls_ready=controls_ready(plan),
        switched=any(switched_colors(one.phases) for one in plan.plans),
        outputs=outputs,
        dynamic_length=plan.program.has_lengths,
        tasks=_tasks(plan, modules),
        buffers=tuple(_buffers(models)),
        input_queues=tuple(color.input_queue for color in plan.colors),
        output_queues=tuple(color.output_queue for color in plan.colors),
        task_ids=plan.task_ids,
        dsr_ids=plan.dsr_ids,
        skew=skew,
    )


def call_stream_models(
    plan: ProgramPlan, due: Mapping[str, Schedule], whole: ProgramModel, source: str
) -> tuple[ProgramModel, ...]:
    """A model for each call stream of a program whose own model is `whole`; that one where there
    are none."""
    names = tuple(call_stream_name(i) for i in range(len(plan.call_streams)))
    others = [tuple(other for other in names if other != name) for name in names]
    models = tuple(
        program_model(call_stream, due, source, whole.skew, name, beside, whole.outputs)
        for call_stream, name, beside in zip(plan.call_streams, names, others, strict=True)
    )
    return models or (whole,)


def call_stream_name(index: int) -> str:
    """What the modules of a call stream are called."""
    return MODULES[index] if index < len(MODULES) else f"{MODULES[-1]}_{index}"


def _turns(plan: ProgramPlan) -> tuple[tuple[tuple[int, int], ...], ...]:
    call_stream_of = {
        one.collective.name: index
        for index, call_stream in enumerate(plan.call_streams or (plan,))
        for one in call_stream.plans
    }
    plans, calls = plan.plans, plan.calls
    return tuple(
        tuple((c, call_stream_of[plans[calls[c]].collective.name]) for c in turn)
        for turn in plan.program.turns
    )


def _module(
    plan: ProgramPlan,
    due: Mapping[str, Schedule],
    index: int,
    source: str,
    shared: list[SharedPhase],
) -> BundleModel:
    """The model of one collective; its lists of ids are those of the whole program."""
    given = tuple(shared[i] for i, _ in plan.uses_of(index))
    one = plan.plans[index]
    model = model_of(one, due[one.collective.name], source, given)
    if any(model.name in one.names for one in plan.program.rooted):
        site = replace(model.site, root="the root of the call")
        model = replace(model, site=site, order=())  # which depends on the root
    return replace(
        model,
        switched=any(switched_colors(one.phases) for one in plan.plans),
        input_queues=tuple(color.input_queue for color in plan.colors),
        output_queues=tuple(color.output_queue for color in plan.colors),
        task_ids=plan.task_ids[plan.own_tasks :],
    )


def _steps(plan: ProgramPlan, models: list[BundleModel]) -> Iterator[Step]:
    for index, (use, setter) in enumerate(zip(plan.uses, setters(plan), strict=True)):
        of = plan.plans[use.collective]
        phase = models[use.collective].phases[use.phase]
        at_once = plan.program.has_lengths and (phase.exchange or phase.stream)
        yield Step(
            index=index,
            module=of.collective.name,
            name=phase.name,
            begins=phase.first if at_once else f"{phase.name}_start",
            sets=plan.label(plan.uses[setter]),
            torn_down=any(plan.colors[k].torn_down for _, k in use.positions),
            first=use.phase == 0,
            last=use.phase == len(of.phases) - 1,
        )


def _tasks(plan: ProgramPlan, modules: tuple[ModuleModel, ...]) -> tuple[tuple[Part, ...], ...]:
    """What each of the tasks that phases share does in every phase."""
    parts: list[list[Part]] = [[] for _ in plan.task_ids[plan.own_tasks :]]
    for module in modules:
        for step, phase in zip(module.steps, module.m.phases, strict=True):
            for task, condition, function in _functions(phase):
                of = f"{module.m.name}.{step.name}"
                parts[task].append(
                    Part(step.index, f"{of}.{condition}", f"{module.m.name}.{function}")
                )
    return tuple(map(tuple, parts))


def _functions(phase: PhaseModel) -> Iterator[tuple[int, str, str]]:
    """Tasks of a phase: position, condition on the PE's parameters, function."""
    if phase.stream:
        yield from _functions_of_stream(phase.name, phase.stream)
        return
    if phase.exchange:
        for lane in phase.exchange.lanes:
            yield lane.task, f"{lane.field}_table > 0", f"{lane.name}_next"
        return
    if phase.store and phase.store.task >= 0:
        yield phase.store.task, "stored > 0", f"{phase.store.name}_done"
    if phase.send:
        yield phase.send.task, "sends", f"{phase.send.name}_done"
        if phase.send.control_task >= 0:
            yield phase.send.control_task, "controls", f"{phase.name}_control_done"


def _functions_of_stream(name: str, stream: StreamModel) -> Iterator[tuple[int, str, str]]:
    """The same of a stream."""
    yield stream.task, "takes_part", f"{name}_ended_all"
    if stream.join_task >= 0:
        yield stream.join_task, "waits_for > 2", f"{name}_joined"
    if stream.pair_task >= 0:
        yield stream.pair_task, "waits_for > 3", f"{name}_paired"
    for op in (op for lane in stream.lanes for op in lane.ops):
        if op.task >= 0:
            yield op.task, f"{op.then.partition('.')[2]} == 3", op.behind


def _buffers(models: list[BundleModel]) -> Iterator[BufferModel]:
    """The buffers of all collectives, those of results among them."""
    found = {}
    for m in reversed(models):
        kind, size = (m.numpy_type, m.bits), (m.elements_held, m.words)
        if m.buffer:
            found[m.buffer] = BufferModel(
                m.buffer, m.element, *kind, m.input_held, *size, m.input_stride
            )
        if m.into:
            found[m.into] = BufferModel(m.into, m.element, *kind, m.held, *size, m.stride)
    yield from (found[name] for name in sorted(found))
