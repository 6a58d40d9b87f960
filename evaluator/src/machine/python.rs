//! What Python gives the machine, and what it gets back.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::clock::given::{Act, End, Script, TimedOp, Timing};
use super::plan::{Action, Advance, Filter, Given, Phase, Place, Role, Route, Set, Setting, Stage};
use super::{clock, run, Fault, Receipt};

/// A color as it is, -1 for the vector, -2 and below for the areas of the stage.
pub(crate) fn place(given: &Bound<'_, PyAny>) -> PyResult<Place> {
    Ok(match given.extract::<i64>()? {
        color @ 0.. => Place::Color(color as u32),
        -1 => Place::Vector,
        area => Place::Stage((-2 - area) as u32),
    })
}

pub(crate) fn action(given: &Bound<'_, PyAny>) -> PyResult<Action> {
    match given.extract::<&str>()? {
        "combine" => Ok(Action::Combine),
        "copy" => Ok(Action::Copy),
        "relay" => Ok(Action::Relay),
        other => Err(PyValueError::new_err(format!("{other} is no action"))),
    }
}

pub(crate) fn advance(given: &Bound<'_, PyAny>) -> PyResult<Advance> {
    match given.extract::<&str>()? {
        "nothing" => Ok(Advance::Nothing),
        "own_router" => Ok(Advance::OwnRouter),
        "turn" => Ok(Advance::Turn),
        "control" => Ok(Advance::Control),
        "hand_over" => Ok(Advance::HandOver),
        "reset" => Ok(Advance::Reset),
        "teardown" => Ok(Advance::Teardown),
        other => Err(PyValueError::new_err(format!("{other} moves no router"))),
    }
}

type Small<'py> = PyReadonlyArray1<'py, i32>;

#[derive(FromPyObject)]
struct PhaseGiven<'py> {
    roles: Vec<Role>,
    role_at: Small<'py>,
    place_at: Small<'py>,
    cut_at: Small<'py>,
    sizes: Vec<i64>,
    cuts: Vec<Vec<u32>>,
    wavelets: (i64, i64),
    /// PE by PE: PE, color, setting, filter.
    sets: Small<'py>,
    filters: Vec<Filter>,
}

impl PhaseGiven<'_> {
    fn phase(self) -> Phase {
        let column = |of: &Small| of.as_array().iter().copied().collect::<Vec<i32>>();
        let set = |row: &[i32]| Set {
            pe: row[0] as u32,
            color: row[1] as u32,
            setting: row[2] as u32,
            filter: u32::try_from(row[3]).ok(),
        };
        Phase {
            role_at: column(&self.role_at),
            place_at: column(&self.place_at),
            cut_at: column(&self.cut_at),
            sets: column(&self.sets).chunks(4).map(set).collect(),
            roles: self.roles,
            sizes: self.sizes,
            cuts: self.cuts,
            wavelets: self.wavelets,
            filters: self.filters,
        }
    }
}

/// The positions of a router, each the side that it lets in and those that it sends to as bits, and
/// whether they are a ring.
type SettingGiven = (Vec<(u8, u8)>, bool);

#[derive(FromPyObject)]
pub(crate) struct MachineGiven<'py> {
    width: usize,
    height: usize,
    colors: Vec<String>,
    torn_down: Vec<bool>,
    settings: Vec<SettingGiven>,
    phases: Vec<PhaseGiven<'py>>,
    stages: Vec<(usize, usize, usize)>,
    rows: Vec<Small<'py>>,
    atoms: Vec<usize>,
    queue: i64,
}

impl MachineGiven<'_> {
    fn given(self) -> Given {
        let route = |(receive, send): (u8, u8)| Route { receive, send };
        let setting = |(positions, ring): SettingGiven| Setting {
            positions: positions.into_iter().map(route).collect(),
            ring,
        };
        let stage = |(call, phase, number): (usize, usize, usize)| Stage {
            call,
            phase,
            number,
        };
        Given {
            width: self.width,
            height: self.height,
            colors: self.colors,
            torn_down: self.torn_down,
            settings: self.settings.into_iter().map(setting).collect(),
            phases: self.phases.into_iter().map(PhaseGiven::phase).collect(),
            stages: self.stages.into_iter().map(stage).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| row.as_array().to_vec())
                .collect(),
            atoms: self.atoms,
            queue: self.queue,
        }
    }
}

type FaultTaken = (
    &'static str,
    Option<usize>,
    usize,
    [Option<usize>; 6],
    String,
);

fn taken(fault: Fault) -> FaultTaken {
    let color = fault.color.map(|color| color as usize);
    let numbers = [
        fault.lane,
        fault.entry,
        fault.op,
        color,
        fault.slice,
        fault.other,
    ];
    (
        fault.kind.name(),
        fault.stage,
        fault.pe,
        numbers,
        fault.text,
    )
}

type Words<'py> = Bound<'py, numpy::PyArray1<u64>>;
type OutcomeTaken<'py> = (
    Vec<Words<'py>>,
    Vec<FaultTaken>,
    u64,
    Bound<'py, numpy::PyArray1<i64>>,
);

/// See `machine::run`: what calls hold is given, and comes back, PE by PE.
#[pyfunction]
pub(crate) fn run_machine<'py>(
    py: Python<'py>,
    given: MachineGiven<'py>,
    held: Vec<PyReadonlyArray1<'py, u64>>,
    order: Option<u64>,
    receipts: bool,
) -> PyResult<OutcomeTaken<'py>> {
    let given = given.given();
    let held: Vec<Vec<u64>> = held.iter().map(|one| one.as_array().to_vec()).collect();
    given.check(&held).map_err(PyValueError::new_err)?;
    let outcome = py.detach(|| run(&given, held, order, receipts));
    let numbers = outcome.receipts.iter().flat_map(|one: &Receipt| {
        [one.stage, one.pe, one.lane, one.op, one.from, one.slices].map(i64::from)
    });
    Ok((
        outcome
            .held
            .into_iter()
            .map(|one| numpy::PyArray1::from_vec(py, one))
            .collect(),
        outcome.faults.into_iter().map(taken).collect(),
        outcome.events,
        numpy::PyArray1::from_vec(py, numbers.collect()),
    ))
}

/// See `clock::given::Act`: the name, and up to three numbers.
type ActGiven = (String, u32, u32, u32);

#[derive(FromPyObject)]
struct TimedOpGiven {
    receive: i64,
    send: i64,
    output: u32,
    words: Vec<u32>,
    vectors: u32,
    at_once: u32,
    all: bool,
    yields: bool,
    #[pyo3(from_py_with = advance)]
    command: Advance,
    advances: bool,
    /// What happens to which task.
    end: (String, u32),
}

#[derive(FromPyObject)]
pub(crate) struct ScriptGiven {
    codes: Vec<Vec<ActGiven>>,
    ops: Vec<TimedOpGiven>,
    outputs: Vec<u32>,
    inputs: Vec<(u32, u32)>,
    blocked: u32,
    counters: u32,
    turns: Vec<Vec<u32>>,
    handlers: Vec<(u32, u32)>,
}

#[derive(FromPyObject)]
pub(crate) struct TimingGiven {
    hop: u64,
    ramp_up: u64,
    pipeline_fill: u64,
    ramp_down: u64,
    load_use: u64,
    between_tasks: u64,
    first_task: u64,
    router_queue: usize,
}

fn act((name, a, b, c): ActGiven) -> PyResult<Act> {
    Ok(match name.as_str() {
        "code" => Act::Code(a),
        "wait" => Act::Wait(a),
        "load" => Act::Load { count: a, op: b },
        "settle" => Act::Settle(a),
        "issue" => Act::Issue(a),
        "follow" => Act::Follow { task: a, code: b },
        "activate" => Act::Activate(a),
        "block" => Act::Block(a),
        "call" => Act::Call {
            op: a,
            cycles: b,
            other: c,
        },
        "again" => Act::Again {
            counter: a,
            count: b,
            code: c,
        },
        "turn" => Act::Turn(a),
        "skip" => Act::Skip(a),
        "unblock" => Act::Unblock(a),
        "set" => Act::Set { color: a, phase: b },
        "await" => Act::Await {
            colors: a,
            acts: b,
            of: c,
        },
        "told" => Act::Told {
            color: a,
            code: b,
            of: c,
        },
        "mark" => Act::Mark {
            point: a,
            each: b,
            counter: c,
        },
        "done" => Act::Done,
        other => return Err(PyValueError::new_err(format!("code does no {other}"))),
    })
}

impl ScriptGiven {
    fn script(self) -> PyResult<Script> {
        let color = |number: i64| u32::try_from(number).ok();
        let op = |op: TimedOpGiven| {
            Ok(TimedOp {
                receive: color(op.receive),
                send: color(op.send),
                output: op.output,
                words: op.words,
                vectors: op.vectors,
                at_once: op.at_once,
                all: op.all,
                yields: op.yields,
                command: op.command,
                advances: op.advances,
                end: match op.end.0.as_str() {
                    "" => End::Nothing,
                    "activate" => End::Activates(op.end.1),
                    "unblock" => End::Unblocks(op.end.1),
                    other => return Err(PyValueError::new_err(format!("no end does {other}"))),
                },
            })
        };
        let code = |acts: Vec<ActGiven>| acts.into_iter().map(act).collect::<PyResult<_>>();
        Ok(Script {
            codes: self.codes.into_iter().map(code).collect::<PyResult<_>>()?,
            ops: self.ops.into_iter().map(op).collect::<PyResult<_>>()?,
            outputs: self.outputs,
            inputs: self.inputs,
            blocked: self.blocked,
            counters: self.counters,
            turns: self.turns,
            handlers: self.handlers,
        })
    }
}

type TimedTaken<'py> = (
    Bound<'py, numpy::PyArray1<i64>>,
    Vec<u64>,
    u64,
    Option<usize>,
    bool,
    Bound<'py, numpy::PyArray1<u32>>,
);

/// See `machine::clock::timed`; of each piece its numbers, in the order below.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // as it is given
pub(crate) fn time_machine<'py>(
    py: Python<'py>,
    given: MachineGiven<'py>,
    timing: TimingGiven,
    scripts: Vec<ScriptGiven>,
    script_at: PyReadonlyArray1<'py, u32>,
    numbers: Vec<i64>,
    starts: PyReadonlyArray1<'py, i64>,
    most: u64,
    by_word: bool,
    traced: bool,
) -> PyResult<TimedTaken<'py>> {
    let given = given.given();
    let held: Vec<Vec<u64>> = (given.rows.iter().zip(&given.atoms))
        .map(|(rows, atoms)| {
            vec![0; atoms * (1 + rows.iter().max().map_or(0, |row| (*row).max(0) as usize))]
        })
        .collect();
    given.check(&held).map_err(PyValueError::new_err)?;
    let scripts = scripts.into_iter().map(ScriptGiven::script);
    let scripts = scripts.collect::<PyResult<Vec<Script>>>()?;
    let (script_at, starts) = (script_at.as_array().to_vec(), starts.as_array().to_vec());
    let timing = Timing {
        hop: timing.hop,
        ramp_up: timing.ramp_up,
        pipeline_fill: timing.pipeline_fill,
        ramp_down: timing.ramp_down,
        load_use: timing.load_use,
        between_tasks: timing.between_tasks,
        first_task: timing.first_task,
        router_queue: timing.router_queue,
    };
    clock::check(&given, timing, &scripts, &script_at, &numbers, &starts)
        .map_err(PyValueError::new_err)?;
    let found = py.detach(|| {
        let followed = clock::Followed {
            most,
            by_word,
            traced,
        };
        clock::timed(
            &given, timing, &scripts, &script_at, &numbers, &starts, followed,
        )
    });
    let pieces = found.pieces.iter().flat_map(|one| {
        let taken = [one.issued, one.came, one.taken, one.ended];
        let of = [one.pe, one.op, one.from, one.held_by, one.held];
        of.into_iter().chain(taken)
    });
    Ok((
        numpy::PyArray1::from_vec(py, found.done),
        found.marks,
        found.words,
        found.stuck,
        found.given_up,
        numpy::PyArray1::from_vec(py, pieces.collect()),
    ))
}
