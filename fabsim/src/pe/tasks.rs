//! The task picker: what runs next when the main thread is free.
//!
//! The machine leaves the order among runnable tasks open; here it is the lowest id, and a local
//! task before a data task before a control task of the same id.

use super::core::Core;
use super::plan::PePlan;
use crate::fabric::wavelet::Wavelet;
use crate::program::FunctionId;

/// The local task id that teardowns activate.
const TEARDOWN_TASK: u8 = 29;

/// A task about to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    pub function: FunctionId,
    pub args: Vec<u64>,
    pub took_wavelet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Local,
    Data,
    Control,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    id: u8,
    kind: Kind,
    function: FunctionId,
    input: usize,
}

/// Takes the next task off the table, together with its wavelet.
pub fn pick(core: &mut Core, plan: &PePlan, now: u64) -> Option<Start> {
    if let Some(start) = teardown_start(core, plan) {
        return Some(start);
    }
    let local = local_candidate(core, plan);
    let arrived = (0..core.inputs.len()).filter_map(|n| arrived_candidate(core, plan, now, n));
    let chosen = local
        .into_iter()
        .chain(arrived)
        .min_by_key(|c| (c.id, c.kind))?;
    if chosen.kind == Kind::Local {
        core.active_local &= !(1 << chosen.id);
        return Some(Start {
            function: chosen.function,
            args: Vec::new(),
            took_wavelet: false,
        });
    }
    let wavelet = core.inputs[chosen.input].ring.pop()?.wavelet();
    let params = plan.program.functions.get(chosen.function.0 as usize);
    Some(Start {
        function: chosen.function,
        args: arguments(wavelet, chosen.kind, params.map_or(0, |f| f.params)),
        took_wavelet: true,
    })
}

/// The system task of teardowns calls the handler of every color that was torn down, one a run;
/// a program may have a task of its own there instead.
fn teardown_start(core: &mut Core, plan: &PePlan) -> Option<Start> {
    if core.torn_down == 0 {
        return None;
    }
    if plan.local[usize::from(TEARDOWN_TASK)].is_some() {
        core.torn_down = 0;
        core.activate(TEARDOWN_TASK);
        return None;
    }
    let handlers = &plan.program.teardown_handlers;
    let torn_down = core.torn_down;
    let next = handlers
        .iter()
        .find(|(color, _)| torn_down >> color & 1 == 1);
    let Some(&(color, function)) = next else {
        core.torn_down = 0;
        return None;
    };
    core.torn_down &= !(1 << color);
    Some(Start {
        function,
        args: Vec::new(),
        took_wavelet: false,
    })
}

fn local_candidate(core: &Core, plan: &PePlan) -> Option<Candidate> {
    let mut ready = core.active_local & !core.blocked_local;
    while ready != 0 {
        let id = ready.trailing_zeros() as u8;
        if let Some(function) = plan.local[usize::from(id)] {
            return Some(Candidate {
                id,
                kind: Kind::Local,
                function,
                input: 0,
            });
        }
        ready &= ready - 1;
    }
    None
}

/// The task that the head of an input queue activates, if its channel is not blocked.
fn arrived_candidate(core: &Core, plan: &PePlan, now: u64, input: usize) -> Option<Candidate> {
    let wavelet = core.inputs[input].head(now)?;
    let channel = plan.channel_of(input);
    if core.blocked_channels >> channel & 1 == 1 {
        return None;
    }
    let (id, kind, function) = if wavelet.control {
        let id = wavelet.entrypoint();
        (id, Kind::Control, plan.control[usize::from(id)]?)
    } else {
        let function = plan.data.get(usize::from(channel)).copied().flatten()?;
        (channel, Kind::Data, function)
    };
    Some(Candidate {
        id,
        kind,
        function,
        input,
    })
}

/// Data: the payload in equal parts from the low end. Control: the data half, then the id half.
fn arguments(wavelet: Wavelet, kind: Kind, params: u16) -> Vec<u64> {
    let payload = u64::from(wavelet.payload);
    let bits = match (kind, params) {
        (Kind::Control, _) | (_, 2) => 16,
        (_, 0 | 1) => 32,
        _ => 8,
    };
    let part = |n: u16| payload >> (u32::from(n) * bits) & ((1u64 << bits) - 1);
    (0..params.min(4)).map(part).collect()
}
