//! Who waits for what when nothing can move any more.

use super::circle;
use fabsim_engine::fabric::channel::Channel;
use fabsim_engine::fabric::grid::{PeIndex, LINKS};
use fabsim_engine::machine::Machine;
use fabsim_engine::pe::fifo::End;
use fabsim_engine::pe::operation::Running;
use fabsim_engine::pe::plan::PePlan;
use fabsim_engine::pe::port::Port;
use fabsim_engine::pe::queues::InputQueue;
use fabsim_engine::pe::settings::SYSTEM_TASK;
use fabsim_engine::pe::{Doing, Pe};
use fabsim_engine::report::{During, Stuck, Wait, Waits};
use fabsim_program::program::Direction;
use std::collections::HashMap;

/// Groups a report lists at most.
const GROUPS: usize = 10;

/// PEs in the same state, and whether another listed state is the cause of it.
struct Group {
    wait: Wait,
    follows: bool,
}

/// One thing that waits, and how many elements it still waits for.
struct Waiting {
    text: String,
    missing: u32,
    /// What holds it up is listed itself; causes are listed before what follows from them.
    follows: bool,
}

/// Who waits for whom.
pub fn report(machine: &Machine, during: During) -> Stuck {
    let states = machine.pes.iter().enumerate().flat_map(|(n, pe)| {
        let index = PeIndex(n as u32);
        let waiting = waiting(machine, index, pe);
        waiting.into_iter().map(move |w| (index, w))
    });
    let occupied = machine.fabric.occupied();
    let queued = occupied.map(|(pe, color, channel)| (pe, queued(machine, pe, color, channel)));
    Stuck {
        during,
        cycle: machine.cycle,
        unfinished: (machine.command.outstanding, machine.pes.len()),
        elements: listed(groups(machine, states)),
        routers: listed(groups(machine, queued)),
        circle: circle::links(machine),
    }
}

/// Operations that have been issued and have not had a first turn, whatever keeps them from it.
pub fn not_begun(machine: &Machine) -> Waits {
    let states = machine.pes.iter().enumerate().flat_map(|(n, pe)| {
        let place = (PeIndex(n as u32), pe);
        let plan = &machine.plans[pe.plan as usize];
        let waiting = pe.threads.iter().filter(|running| !running.has_begun());
        let waiting = waiting.map(move |running| operation(machine, place, plan, running));
        waiting.map(move |waiting| (place.0, waiting))
    });
    listed(groups(machine, states))
}

fn groups(machine: &Machine, states: impl Iterator<Item = (PeIndex, Waiting)>) -> Vec<Group> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (pe, waiting) in states {
        let Waiting {
            text,
            missing,
            follows,
        } = waiting;
        if let Some(&n) = known.get(&text) {
            let wait = &mut groups[n].wait;
            wait.pes += 1;
            wait.missing = (wait.missing.0.min(missing), wait.missing.1.max(missing));
            continue;
        }
        known.insert(text.clone(), groups.len());
        let wait = Wait {
            text,
            pes: 1,
            example: machine.fabric.grid.place(pe),
            missing: (missing, missing),
        };
        groups.push(Group { wait, follows });
    }
    groups.sort_by_key(|group| group.follows);
    groups
}

fn listed(groups: Vec<Group>) -> Waits {
    let more = groups.len().saturating_sub(GROUPS);
    let waits = groups.into_iter().take(GROUPS).map(|group| group.wait);
    Waits {
        listed: waits.collect(),
        more,
    }
}

/// Everything that waits on one PE.
fn waiting(machine: &Machine, index: PeIndex, pe: &Pe) -> Vec<Waiting> {
    let plan = &machine.plans[pe.plan as usize];
    let mut all = Vec::new();
    let running = pe.threads.iter().chain(pe.main.running.as_deref());
    all.extend(running.map(|running| operation(machine, (index, pe), plan, running)));
    if pe.main.doing == Doing::Map {
        if let Some(map) = pe.main.maps.last() {
            all.push(Waiting {
                text: format!("{}: @map waits for the fabric", machine.location(map.span)),
                missing: map.remaining.unwrap_or(0),
                follows: false,
            });
        }
    }
    if all.is_empty() && pe.busy_with_command {
        all.push(Waiting {
            text: idle(pe, plan),
            missing: 0,
            follows: false,
        });
    }
    all.extend(held_back(machine, index, pe));
    all
}

fn idle(pe: &Pe, plan: &PePlan) -> String {
    let told = u32::from(pe.core.attention) << SYSTEM_TASK;
    let blocked = (pe.core.active_local | told) & pe.core.blocked_local;
    let held = pe
        .core
        .inputs
        .iter()
        .enumerate()
        .find(|(_, q)| !q.ring.is_empty());
    if blocked != 0 {
        return format!(
            "no task can run: local task {} is active but blocked",
            blocked.trailing_zeros()
        );
    }
    let unbound = (0..32u8)
        .find(|&id| pe.core.active_local >> id & 1 == 1 && plan.local[usize::from(id)].is_none());
    if let Some(id) = unbound {
        return format!("no task can run: local task {id} is active, but no task is bound to it");
    }
    if let Some((n, queue)) = held {
        let blocked = pe.core.blocked_channels >> pe.core.channel_of(plan, n) & 1 == 1;
        let why = match unbound_task(plan, queue) {
            _ if blocked => "its tasks are blocked".to_string(),
            Some(task) => format!("no task is bound to control task id {task}"),
            None => "no task is bound to it".to_string(),
        };
        return format!(
            "no task can run: color {} has a wavelet in input queue {}, but {why}",
            queue.color, queue.id
        );
    }
    "no task is active, and unblock_cmd_stream has not been called".to_string()
}

/// The control task that the next wavelet of a queue is for, if there is none of this number.
fn unbound_task(plan: &PePlan, queue: &InputQueue) -> Option<u8> {
    let wavelet = queue.ring.first()?.wavelet();
    let id = wavelet.entrypoint();
    let bound = plan.control.get(usize::from(id)).copied().flatten();
    (wavelet.control && bound.is_none()).then_some(id)
}

/// Why the router can give an input queue nothing, if its settings say so.
fn not_delivered(machine: &Machine, (pe, state): (PeIndex, &Pe), queue: &InputQueue) -> String {
    let plan = &machine.plans[state.plan as usize];
    let taking = state.core.input_of_color(plan, queue.color);
    if let Some(other) = taking.map(|n| &plan.inputs[usize::from(n)]) {
        if other.id != queue.id {
            return format!(", but the color goes to input queue {}", other.id);
        }
    }
    match machine.fabric.channel(pe, queue.color) {
        None => ", but this PE has no route for the color".to_string(),
        Some(channel) if !channel.tx.has(Direction::Ramp) => format!(
            ", but the router sends the color to {} at switch position {}",
            channel.tx, channel.position
        ),
        Some(_) => String::new(),
    }
}

fn at_position(channel: &Channel) -> String {
    match channel.position {
        0 => String::new(),
        position => format!(" at switch position {position}"),
    }
}

/// Why the first wavelet of each output queue does not go up the ramp.
fn held_back(machine: &Machine, pe: PeIndex, state: &Pe) -> Vec<Waiting> {
    let held = state.core.outputs.iter().filter_map(|queue| {
        let color = queue.ring.first()?.color();
        let why = match machine.fabric.channel(pe, color) {
            None => "this PE has no route for the color".to_string(),
            Some(channel) if channel.torn_down => "the color is torn down".to_string(),
            Some(channel) if !channel.rx.has(Direction::Ramp) => format!(
                "the router takes the color from {}{}, not from RAMP",
                channel.rx,
                at_position(channel)
            ),
            // The router's queue is listed itself.
            Some(_) => return None,
        };
        let text = format!("color {color}: stays in output queue {}; {why}", queue.id);
        Some(Waiting {
            text,
            missing: 0,
            follows: false,
        })
    });
    held.collect()
}

fn operation(
    machine: &Machine,
    (pe, state): (PeIndex, &Pe),
    plan: &PePlan,
    op: &Running,
) -> Waiting {
    let mut wants: Vec<String> = Vec::new();
    for &queue in op.inputs.iter().flatten() {
        // What comes down the ramp is there in time.
        let supply = op.supply(&state.core, queue, u64::MAX);
        let queue = &state.core.inputs[usize::from(queue)];
        if supply.have < supply.need {
            let second = if supply.have > 0 { "second " } else { "" };
            wants.push(format!(
                "a {second}wavelet of color {} (input queue {}{})",
                queue.color,
                queue.id,
                not_delivered(machine, (pe, state), queue)
            ));
        }
    }
    let starved = !wants.is_empty();
    if let Port::Output(sender) = &op.dest {
        if !op.has_room(&state.core) {
            let id = plan.outputs[usize::from(sender.queue)].id;
            wants.push(format!(
                "room for color {} (output queue {id})",
                sender.color
            ));
        }
    }
    for &(n, end) in op.fifos.iter().flatten() {
        if state.core.fifos[usize::from(n)].available(end) == 0 {
            wants.push(match end {
                End::Read => "an element in a FIFO".to_string(),
                End::Write => "room in a FIFO".to_string(),
            });
        }
    }
    let waits_for_room = !starved && !wants.is_empty();
    if wants.is_empty() {
        let blocked = state.core.blocked_threads >> (op.thread & 7) & 1 == 1;
        let what = match blocked {
            true => "its microthread to be unblocked",
            false => "its turn",
        };
        wants.push(format!("{what} ({})", queues(state, plan, op)));
    }
    let is_main = state
        .main
        .running
        .as_deref()
        .is_some_and(|own| std::ptr::eq(own, op));
    let waits = match is_main {
        true => "the main thread waits".to_string(),
        false if op.has_begun() => format!("microthread {} waits", op.thread),
        false => format!("microthread {} has not begun: it waits", op.thread),
    };
    Waiting {
        text: format!(
            "{}: {} on {waits} for {}",
            machine.location(op.span),
            op.opcode.name(),
            wants.join(" and for ")
        ),
        missing: if op.is_infinite() { 0 } else { op.remaining },
        follows: waits_for_room,
    }
}

/// The queues of an operation, with their colors.
fn queues(state: &Pe, plan: &PePlan, op: &Running) -> String {
    let inputs = op.inputs.iter().flatten().map(|&queue| {
        let queue = &state.core.inputs[usize::from(queue)];
        format!("color {} of input queue {}", queue.color, queue.id)
    });
    let output = match &op.dest {
        Port::Output(sender) => {
            let id = plan.outputs[usize::from(sender.queue)].id;
            Some(format!("color {} of output queue {id}", sender.color))
        }
        _ => None,
    };
    let all: Vec<String> = inputs.chain(output).collect();
    all.join(", ")
}

/// A color's wavelets in a router, and what its configuration says.
fn queued(machine: &Machine, pe: PeIndex, color: u8, channel: &Channel) -> Waiting {
    let head = channel.entries().next().map(|(wavelet, side)| {
        let kind = if wavelet.control {
            "control wavelet"
        } else {
            "wavelet"
        };
        format!("{kind} from {side}")
    });
    let refusals = refusals(machine, pe, color, channel);
    let reasons: Vec<&str> = refusals.iter().map(|r| r.text.as_str()).collect();
    Waiting {
        text: format!(
            "color {color}: {} waits in the router, rx = {}, tx = {}, switch position {}{}",
            head.unwrap_or_default(),
            channel.rx,
            channel.tx,
            channel.position,
            reasons.concat()
        ),
        missing: 0,
        follows: !refusals.is_empty() && refusals.iter().all(|r| r.follows),
    }
}

/// Why an output takes nothing, and whether that has a reason of its own elsewhere.
struct Refusal {
    text: String,
    follows: bool,
}

fn refusals(machine: &Machine, pe: PeIndex, color: u8, channel: &Channel) -> Vec<Refusal> {
    let refusal = |text: String, follows| Refusal { text, follows };
    let mut all = Vec::new();
    if channel.torn_down {
        all.push(refusal(", torn down".into(), false));
    }
    if channel.tx.has(Direction::Ramp) {
        let state = &machine.pes[pe.index()];
        let plan = &machine.plans[state.plan as usize];
        match state.core.input_of_color(plan, color) {
            None => {
                let text = "; no input queue of this PE takes the color";
                all.push(refusal(text.into(), false));
            }
            Some(n) if !state.core.inputs[usize::from(n)].ring.has_room() => {
                let id = plan.inputs[usize::from(n)].id;
                all.push(refusal(format!("; input queue {id} is full"), true));
            }
            Some(_) => {}
        }
    }
    let sides = LINKS.into_iter().filter(|&side| channel.tx.has(side));
    all.extend(sides.filter_map(|side| {
        // Beyond the edge nobody refuses it.
        let neighbour = machine.fabric.grid.neighbour(pe, side)?;
        let from = side.facing();
        // Where colors are swapped, one copy that is refused holds the wavelet back.
        let mut received = machine.fabric.received_as(neighbour, color, from);
        received.find_map(|color| match machine.fabric.channel(neighbour, color) {
            None => {
                let text = format!("; the PE to the {side} has no route for this color");
                Some(refusal(text, false))
            }
            Some(next) if next.torn_down => {
                let text = format!("; the PE to the {side} has torn the color down");
                Some(refusal(text, false))
            }
            Some(next) if !next.rx.has(from) => {
                let text = format!("; the PE to the {side} takes it from {}", next.rx);
                Some(refusal(text + &at_position(next), false))
            }
            Some(next) if next.is_empty() => None,
            Some(_) => Some(refusal(format!("; the PE to the {side} has no room"), true)),
        })
    }));
    all
}

/// Where wavelets are left over, if anywhere.
pub fn leftovers(machine: &Machine) -> Option<Waits> {
    let in_routers = machine
        .fabric
        .occupied()
        .map(|(pe, color, channel)| (pe, queued(machine, pe, color, channel)));
    let in_queues = machine.pes.iter().enumerate().flat_map(|(n, pe)| {
        let inputs = pe.core.inputs.iter().filter(|q| !q.ring.is_empty());
        let plan = &machine.plans[pe.plan as usize];
        let inputs = inputs.map(|q| Waiting {
            text: match unbound_task(plan, q) {
                Some(task) => format!(
                    "color {}: a control wavelet in input queue {} is for control task id {task}, to which no task is bound",
                    q.color, q.id
                ),
                None => format!("color {}: not read from input queue {}", q.color, q.id),
            },
            missing: 0,
            follows: false,
        });
        let pe_index = PeIndex(n as u32);
        let all: Vec<Waiting> = inputs.chain(held_back(machine, pe_index, pe)).collect();
        all.into_iter().map(move |waiting| (pe_index, waiting))
    });
    let found = groups(machine, in_routers.chain(in_queues));
    if found.is_empty() {
        return None;
    }
    Some(listed(found))
}
