//! The task picker: what runs next when the main thread is free.
//!
//! The machine leaves the order among runnable tasks of one priority open; here they take turns by
//! id, and a local task goes before a data task before a control task of the same id.

use super::plan::PePlan;
use super::state::Core;
use crate::fabric::wavelet::Wavelet;
use fabsim_program::program::{Arch, FunctionId};

/// Task ids; those of local tasks are the lower half.
const IDS: u8 = 64;

/// A task about to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its body.
    pub function: FunctionId,
    /// Its arguments.
    pub args: Vec<u64>,
    /// It has taken a wavelet out of a queue.
    pub took_wavelet: bool,
    /// It is part of the task that has just run.
    pub follows: bool,
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
    if let Some(start) = system_start(core, plan) {
        return Some(start);
    }
    let local = local_candidate(core, plan);
    let arrived = (0..core.inputs.len()).filter_map(|n| arrived_candidate(core, plan, now, n));
    let last = core.last_task;
    let chosen = local
        .into_iter()
        .chain(arrived)
        .min_by_key(|c| (!is_high(core, c.id), turn(c.id, last), c.kind))?;
    core.last_task = chosen.id;
    if chosen.kind == Kind::Local {
        core.active_local &= !(1 << chosen.id);
        return Some(Start {
            function: chosen.function,
            args: Vec::new(),
            took_wavelet: false,
            follows: false,
        });
    }
    let wavelet = core.inputs[chosen.input].ring.pop()?.wavelet();
    let params = plan.program.functions.get(chosen.function.0 as usize);
    Some(Start {
        function: chosen.function,
        args: arguments(wavelet, chosen.kind, params.map_or(0, |f| f.params)),
        took_wavelet: true,
        follows: false,
    })
}

/// How many ids go before this one, starting behind the one that ran last.
fn turn(id: u8, last: u8) -> u8 {
    id.wrapping_sub(last).wrapping_sub(1) % IDS
}

/// The system task calls the handlers of what happened to colors and queues.
fn system_start(core: &mut Core, plan: &PePlan) -> Option<Start> {
    if !core.is_called() {
        return None;
    }
    let (function, follows) = core.next_handler(plan)?;
    Some(Start {
        function,
        args: Vec::new(),
        took_wavelet: false,
        follows,
    })
}

fn is_high(core: &Core, id: u8) -> bool {
    core.settings.high_tasks >> id & 1 == 1
}

fn local_candidate(core: &Core, plan: &PePlan) -> Option<Candidate> {
    let ready = core.active_local & !core.blocked_local;
    let high = ready & core.settings.high_tasks as u32;
    // Those behind the last one first, then from the start.
    let last = u32::from(core.last_task) + 1;
    let behind = u32::MAX.checked_shl(last).unwrap_or(0);
    [high & behind, high, ready & behind, ready]
        .into_iter()
        .find_map(|ready| lowest_bound(ready, plan))
}

fn lowest_bound(mut ready: u32, plan: &PePlan) -> Option<Candidate> {
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
    let channel = core.channel_of(plan, input);
    if core.blocked_channels >> channel & 1 == 1 {
        return None;
    }
    let (id, kind, function) = if wavelet.control {
        let id = wavelet.entrypoint();
        match plan.control[usize::from(id)] {
            Some(function) => (id, Kind::Control, function),
            None => (id, Kind::Data, data_task_of_number(plan, id)?),
        }
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

/// On wse2 tasks share one table, so that the number in a control wavelet may be a data task's.
fn data_task_of_number(plan: &PePlan, id: u8) -> Option<FunctionId> {
    let shared = plan.arch == Arch::Wse2;
    let task = plan.data.get(usize::from(id)).copied().flatten();
    task.filter(|_| shared)
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
