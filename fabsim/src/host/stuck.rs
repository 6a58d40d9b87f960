//! Who waits for what when nothing can move any more.

use crate::fabric::channel::Channel;
use crate::fabric::grid::PeIndex;
use crate::machine::Machine;
use crate::pe::opcode::info;
use crate::pe::operation::Running;
use crate::pe::plan::PePlan;
use crate::pe::port::Port;
use crate::pe::{Doing, Pe};
use crate::program::Direction;
use std::collections::HashMap;

/// Groups a report lists at most.
const GROUPS: usize = 10;

/// PEs in the same state: how many, the first of them, and how many elements they lack.
struct Group {
    text: String,
    count: usize,
    example: PeIndex,
    missing: (u32, u32),
}

/// One thing that waits, and how many elements it still waits for.
struct Waiting {
    text: String,
    missing: u32,
}

/// The text of a `SimError::Stuck`.
pub fn report(machine: &Machine) -> String {
    let mut lines = vec![format!(
        "nothing can move any more in cycle {}; {} of {} PEs have not finished",
        machine.cycle,
        machine.command.outstanding,
        machine.pes.len()
    )];
    let states = machine.pes.iter().enumerate().flat_map(|(n, pe)| {
        let waiting = waiting(machine, pe);
        waiting.into_iter().map(move |w| (PeIndex(n as u32), w))
    });
    list(&mut lines, machine, groups(states));
    let queued = machine.fabric.occupied().map(|(pe, color, channel)| {
        let waiting = Waiting {
            text: queued(machine, pe, color, channel),
            missing: 0,
        };
        (pe, waiting)
    });
    list(&mut lines, machine, groups(queued));
    lines.join("\n")
}

fn groups(states: impl Iterator<Item = (PeIndex, Waiting)>) -> Vec<Group> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (pe, Waiting { text, missing }) in states {
        if let Some(&n) = known.get(&text) {
            let group = &mut groups[n];
            group.count += 1;
            group.missing = (group.missing.0.min(missing), group.missing.1.max(missing));
            continue;
        }
        known.insert(text.clone(), groups.len());
        groups.push(Group {
            text,
            count: 1,
            example: pe,
            missing: (missing, missing),
        });
    }
    groups
}

fn list(lines: &mut Vec<String>, machine: &Machine, groups: Vec<Group>) {
    for group in groups.iter().take(GROUPS) {
        let (x, y) = machine.fabric.grid.place(group.example);
        let who = match group.count {
            1 => format!("PE ({x}, {y})"),
            n => format!("{n} PEs, for example PE ({x}, {y})"),
        };
        let missing = match group.missing {
            (0, 0) => String::new(),
            (1, 1) => ", 1 element is missing".to_string(),
            (low, high) if low == high => format!(", {low} elements are missing"),
            (low, high) => format!(", {low} to {high} elements are missing"),
        };
        lines.push(format!("  {who}: {}{missing}", group.text));
    }
    if groups.len() > GROUPS {
        lines.push(format!(
            "  and {} more kinds of waiting",
            groups.len() - GROUPS
        ));
    }
}

/// Everything that waits on one PE.
fn waiting(machine: &Machine, pe: &Pe) -> Vec<Waiting> {
    let plan = &machine.plans[pe.plan as usize];
    let mut all = Vec::new();
    for thread in &pe.threads {
        let on = format!(" on microthread {}", thread.id);
        all.push(operation(machine, pe, plan, &thread.running, &on));
    }
    if let Some(running) = &pe.main.running {
        all.push(operation(machine, pe, plan, running, " on the main thread"));
    }
    if pe.main.doing == Doing::Map {
        if let Some(map) = pe.main.maps.last() {
            all.push(Waiting {
                text: format!("{}: @map waits for the fabric", machine.location(map.span)),
                missing: map.remaining.unwrap_or(0),
            });
        }
    }
    if all.is_empty() && pe.busy_with_command {
        all.push(Waiting {
            text: idle(pe, plan),
            missing: 0,
        });
    }
    all
}

fn idle(pe: &Pe, plan: &PePlan) -> String {
    let blocked = pe.core.active_local & pe.core.blocked_local;
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
    if let Some((n, queue)) = held {
        let blocked = pe.core.blocked_channels >> plan.channel_of(n) & 1 == 1;
        let why = if blocked {
            "its tasks are blocked"
        } else {
            "no task is bound to it"
        };
        return format!(
            "no task can run: color {} has a wavelet in input queue {}, but {why}",
            queue.color, queue.id
        );
    }
    "no task is active, and unblock_cmd_stream has not been called".to_string()
}

fn operation(machine: &Machine, pe: &Pe, plan: &PePlan, op: &Running, on: &str) -> Waiting {
    let mut wants: Vec<String> = Vec::new();
    for &queue in op.inputs.iter().flatten() {
        let queue = &pe.core.inputs[usize::from(queue)];
        if queue.ring.is_empty() {
            wants.push(format!(
                "a wavelet of color {} (input queue {})",
                queue.color, queue.id
            ));
        }
    }
    if let Port::Output(sender) = &op.dest {
        if !pe.core.outputs[usize::from(sender.queue)].ring.has_room() {
            let id = plan.outputs[usize::from(sender.queue)].id;
            wants.push(format!(
                "room for color {} (output queue {id})",
                sender.color
            ));
        }
    }
    if wants.is_empty() {
        wants.push("its microthread to be unblocked".to_string());
    }
    Waiting {
        text: format!(
            "{}: {}{on} waits for {}",
            machine.location(op.span),
            info(op.opcode).name,
            wants.join(" and for ")
        ),
        missing: if op.infinite { 0 } else { op.remaining },
    }
}

/// A color's wavelets in a router, and what its configuration says.
fn queued(machine: &Machine, pe: PeIndex, color: u8, channel: &Channel) -> String {
    let side = channel.entries().next().map(|(wavelet, side)| {
        let kind = if wavelet.control {
            "control wavelet"
        } else {
            "wavelet"
        };
        format!("{kind} from {side}")
    });
    let torn = if channel.torn_down { ", torn down" } else { "" };
    let pe_state = &machine.pes[pe.index()];
    let plan = &machine.plans[pe_state.plan as usize];
    let to_ramp = channel.tx.has(Direction::Ramp);
    let unread = if to_ramp && plan.input_of_color(color).is_none() {
        "; no input queue of this PE takes the color"
    } else {
        ""
    };
    let next: Vec<String> = crate::fabric::grid::LINKS
        .into_iter()
        .filter(|&side| channel.tx.has(side))
        .map(|side| match machine.fabric.grid.neighbour(pe, side) {
            None => format!("; {side} is the edge of the rectangle"),
            Some(neighbour) => match machine.fabric.channel(neighbour, color) {
                None => format!("; the PE to the {side} has no route for this color"),
                Some(c) => format!("; the PE to the {side} takes it from {}", c.rx),
            },
        })
        .collect();
    format!(
        "color {color}: {} waits in the router, rx = {}, tx = {}, switch position {}{torn}{unread}{}",
        side.unwrap_or_default(),
        channel.rx,
        channel.tx,
        channel.position,
        next.concat()
    )
}

/// Where wavelets are left over, if anywhere.
pub fn leftovers(machine: &Machine) -> Option<String> {
    let in_routers = machine.fabric.occupied().map(|(pe, color, channel)| {
        let text = queued(machine, pe, color, channel);
        (pe, Waiting { text, missing: 0 })
    });
    let in_queues = machine.pes.iter().enumerate().flat_map(|(n, pe)| {
        let inputs = pe.core.inputs.iter().filter(|q| !q.ring.is_empty());
        let inputs =
            inputs.map(|q| format!("color {}: not read from input queue {}", q.color, q.id));
        let outputs = pe.core.outputs.iter().filter_map(|q| {
            let head = q.ring.first()?;
            let id = q.id;
            Some(format!("color {}: stays in output queue {id}", head.color))
        });
        let all: Vec<String> = inputs.chain(outputs).collect();
        all.into_iter()
            .map(move |text| (PeIndex(n as u32), Waiting { text, missing: 0 }))
    });
    let found = groups(in_routers.chain(in_queues));
    if found.is_empty() {
        return None;
    }
    let mut lines = vec!["wavelets are left over after the last command".to_string()];
    list(&mut lines, machine, found);
    Some(lines.join("\n"))
}
