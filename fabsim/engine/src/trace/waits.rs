//! What the operations of a compute element wait for.

use crate::pe::fifo::End;
use crate::pe::map::MapRun;
use crate::pe::operation::Running;
use crate::pe::plan::PePlan;
use crate::pe::port::Port;
use crate::pe::simd::Supply;
use crate::pe::{Doing, Pe};
use fabsim_program::program::Span;

/// One reason to wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wait {
    /// No wavelet for a source operand.
    Input {
        /// Which source it is.
        source: u8,
        /// The color it waits for.
        color: u8,
        /// The queue it waits at.
        queue: u8,
        /// What is there and what is needed.
        supply: Supply,
    },
    /// No room in an output queue.
    Output {
        /// The number of the queue.
        queue: u8,
    },
    /// No element in a FIFO, or no room.
    Fifo,
    /// The microthread is blocked.
    Blocked {
        /// The number of the microthread.
        thread: u8,
    },
}

/// Everything the PE's operations wait for; none if it runs, or has nothing to run.
pub fn waits(state: &Pe, plan: &PePlan, now: u64) -> Vec<Wait> {
    let all = located(state, plan, now).into_iter();
    all.map(|(wait, _)| wait).collect()
}

/// `waits`, each with the place of its operation in the source.
pub fn located(state: &Pe, plan: &PePlan, now: u64) -> Vec<(Wait, Span)> {
    let mut all = Vec::new();
    each_operation(state, |span, running| {
        let mut found = Vec::new();
        match running {
            Waiting::Operation(running) => of_operation(state, plan, running, now, &mut found),
            Waiting::Map(map) => of_map(state, plan, map, now, &mut found),
            Waiting::Blocked(thread) => found.push(Wait::Blocked { thread }),
        }
        all.extend(found.into_iter().map(|wait| (wait, span)));
    });
    all
}

/// What may wait.
enum Waiting<'a> {
    Operation(&'a Running),
    Map(&'a MapRun),
    Blocked(u8),
}

fn each_operation<'a>(state: &'a Pe, mut visit: impl FnMut(Span, Waiting<'a>)) {
    match (
        state.main.doing,
        &state.main.running,
        state.main.maps.last(),
    ) {
        (Doing::Operation, Some(running), _) => visit(running.span, Waiting::Operation(running)),
        (Doing::Map, _, Some(map)) => visit(map.span, Waiting::Map(map)),
        _ => {}
    }
    for running in &state.threads {
        let thread = running.thread;
        let blocked = state.core.blocked_threads >> (thread & 7) & 1 == 1;
        visit(
            running.span,
            if blocked {
                Waiting::Blocked(thread)
            } else {
                Waiting::Operation(running)
            },
        );
    }
}

fn of_map(state: &Pe, plan: &PePlan, map: &MapRun, now: u64, all: &mut Vec<Wait>) {
    let supply = |queue: u8| {
        let have = state.core.inputs[usize::from(queue)].ring.ready_count(now);
        Supply {
            have: have.min(1),
            need: 1,
            bits: 1,
        }
    };
    of_ports(state, plan, map.inputs.iter(), supply, all);
    if let Some(Port::Output(sender)) = &map.output {
        let place = usize::from(sender.queue);
        let has_room = state.core.outputs[place].ring.has_room();
        of_output(plan, place, has_room, all);
    }
}

fn of_operation(state: &Pe, plan: &PePlan, op: &Running, now: u64, all: &mut Vec<Wait>) {
    let sources = op.sources.iter().take(usize::from(op.source_count));
    let supply = |queue| op.supply(&state.core, queue, now);
    of_ports(state, plan, sources, supply, all);
    if let Some(queue) = op.output() {
        of_output(plan, usize::from(queue), op.has_room(&state.core), all);
    }
    let mut fifos = op.fifos.iter().flatten();
    if fifos.any(|&(n, end): &(u8, End)| state.core.fifos[usize::from(n)].available(end) == 0) {
        all.push(Wait::Fifo);
    }
}

fn of_ports<'a>(
    state: &Pe,
    plan: &PePlan,
    ports: impl Iterator<Item = &'a Port>,
    supply: impl Fn(u8) -> Supply,
    all: &mut Vec<Wait>,
) {
    for (n, port) in ports.enumerate() {
        let Port::Input { queue, .. } = port else {
            continue;
        };
        let place = usize::from(*queue);
        let supply = supply(*queue);
        if supply.have < supply.need {
            all.push(Wait::Input {
                source: n as u8,
                color: state.core.inputs[place].color,
                queue: plan.inputs[place].id,
                supply,
            });
        }
    }
}

fn of_output(plan: &PePlan, place: usize, has_room: bool, all: &mut Vec<Wait>) {
    if !has_room {
        let queue = plan.outputs[place].id;
        all.push(Wait::Output { queue });
    }
}
