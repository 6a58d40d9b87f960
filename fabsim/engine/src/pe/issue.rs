//! From an operation in the code to a running one: operands, length, thread.

use super::action::Action;
use super::fifo::End;
use super::lanes::lanes;
use super::opcode::info;
use super::operands::{Operands, Ready};
use super::operation::{Kernel, Running};
use super::plan::PePlan;
use super::port::Port;
use super::rate::pace;
use super::slots::{value, Slots};
use super::state::Core;
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::{
    Arch, BlockKind, BlockTarget, Completion, DsdOperation, DsrFile, OnControl, OpOptions, Opcode,
    Operand, Priority, Span,
};

/// An operation ready to run.
pub struct Issued {
    /// The operation.
    pub running: Running,
    /// It runs on a microthread.
    pub is_async: bool,
}

/// The target of a block or unblock at run time.
pub fn block_target(kind: BlockKind, id: u64) -> BlockTarget {
    let id = id as u8;
    match kind {
        BlockKind::Color => BlockTarget::Color(id),
        BlockKind::InputQueue => BlockTarget::InputQueue(id),
        BlockKind::Data => BlockTarget::Data(id),
        BlockKind::Local => BlockTarget::Local(id),
        BlockKind::Microthread => BlockTarget::Microthread(id),
    }
}

/// What `options` say happens at the end.
pub fn done_action(options: &OpOptions, slots: Slots) -> Option<Action> {
    options.on_done.map(|done| match done {
        Completion::Activate(slot) => Action::Activate(value(slots, slot) as u8),
        Completion::Unblock(kind, slot) => Action::Unblock(block_target(kind, value(slots, slot))),
    })
}

/// What `options` say a control wavelet does to the operation.
pub fn control_action(options: &OpOptions, slots: Slots) -> Option<Action> {
    options.on_control.map(|on| match on {
        OnControl::Terminate => Action::Terminate,
        OnControl::Activate(slot) => Action::Activate(value(slots, slot) as u8),
        OnControl::Unblock(kind, slot) => Action::Unblock(block_target(kind, value(slots, slot))),
    })
}

/// Length of an operation: the first source's if it is not 0, else the second's, else the
/// destination's, else 1 where no operand has a length.
pub fn operation_length(sources: impl Iterator<Item = Option<u32>>, dest: Option<u32>) -> u32 {
    let mut none = true;
    for length in sources.chain([dest]).flatten() {
        if length != 0 {
            return length;
        }
        none = false;
    }
    u32::from(none)
}

/// Issues an operation with the values its operands have now.
pub fn issue(
    op: &DsdOperation,
    span: Span,
    plan: &PePlan,
    core: &Core,
    slots: Slots,
) -> Result<Issued, Fault> {
    let row = info(op.opcode);
    let index = op.options.index.map_or(0, |slot| value(slots, slot) as u16);
    let operands = Operands {
        plan,
        core,
        slots,
        index,
        mixed: row.mixed,
    };
    let dest_bytes = if op.opcode == Opcode::Dfilt {
        4
    } else {
        row.dest_bytes
    };
    // The destination, then the sources.
    let mut all = [UNREADY, UNREADY, UNREADY, UNREADY];
    all[0] = operands.ready(&op.dest, dest_bytes)?;
    all[0].extent = operands
        .fifo_extent(&all[0].port, End::Write)
        .or(all[0].extent);
    for (n, source) in op.sources.iter().take(3).enumerate() {
        let mut ready = operands.ready(source, row.bytes_of_source(n))?;
        let extent = operands.fifo_extent(&ready.port, End::Read);
        ready.extent = extent.or(ready.extent);
        all[n + 1] = ready;
    }
    let all = &mut all[..=op.sources.len().min(3)];
    put_in_register_order(op, &mut all[1..]);
    let all: &[Ready] = all;
    let mut running = running(op, span, plan, all)?;
    add_actions(&mut running, op, all, slots);
    let thread = is_async(op, all).then(|| thread_id(op, plan, all, slots));
    running.stops_at_fifo = thread.is_none();
    let is_async = thread.is_some();
    if let Some(thread) = thread {
        running.thread = thread.ok_or(FaultKind::AsyncWithoutFabric(op.opcode))?;
    }
    running.priority = priority(op, (plan, core), all, &running);
    Ok(Issued { running, is_async })
}

/// Length counts sources by register file: src0 first, wherever it is written.
fn put_in_register_order(op: &DsdOperation, sources: &mut [Ready]) {
    if is_swapped(op) {
        sources.reverse();
    }
}

/// Whether the second source goes first.
pub fn is_swapped(op: &DsdOperation) -> bool {
    let commutes = matches!(
        op.opcode,
        Opcode::Fadds | Opcode::Faddh | Opcode::Fmuls | Opcode::Fmulh | Opcode::Add16
    );
    let file = |n: usize| match op.sources.get(n) {
        Some(Operand::Dsr(dsr)) => Some(dsr.file),
        _ => None,
    };
    commutes && file(0) == Some(DsrFile::Src1) && file(1) == Some(DsrFile::Src0)
}

const UNUSED: Port = Port::Scalar { bits: 0, bytes: 4 };
const UNREADY: Ready = Ready {
    port: UNUSED,
    extent: None,
    dsr: None,
    priority: None,
    simd: None,
};

fn running(op: &DsdOperation, span: Span, plan: &PePlan, all: &[Ready]) -> Result<Running, Fault> {
    let (dest, sources) = (&all[0], &all[1..]);
    let mut ports = [UNUSED, UNUSED, UNUSED];
    for (place, source) in ports.iter_mut().zip(sources) {
        *place = source.port.clone();
    }
    let length = operation_length(sources.iter().map(|s| s.extent), dest.extent);
    let mut inputs = [None; 2];
    let fabric = all.iter().filter_map(|r| match r.port {
        Port::Input { queue, .. } => Some(queue),
        _ => None,
    });
    for (n, queue) in fabric.enumerate() {
        *inputs.get_mut(n).ok_or(FaultKind::TooManyFabin)? = Some(queue);
    }
    let mut used = [&UNUSED; 4];
    for (place, ready) in used.iter_mut().zip(all) {
        *place = &ready.port;
    }
    let used = &used[..all.len()];
    let save = |r: &Ready| r.dsr.filter(|d| d.save_address).map(|d| d.dsr);
    let mut saves = [save(dest), None, None, None];
    for (place, source) in saves[1..].iter_mut().zip(sources) {
        *place = save(source);
    }
    let fifo = |port: &Port, end| match port {
        Port::Fifo { fifo, .. } => Some((*fifo, end)),
        _ => None,
    };
    let read = sources.iter().filter_map(|s| fifo(&s.port, End::Read));
    let mut used_fifos = read.chain(fifo(&dest.port, End::Write));
    let fifos = [used_fifos.next(), used_fifos.next()];
    if used_fifos.next().is_some() {
        return Err(FaultKind::TooManyFifos.into());
    }
    let count = sources.len().min(3);
    let pace = pace(&plan.timing, plan.arch, op.opcode, used);
    let per_cycle = pace.steady().unwrap_or(0);
    // A sum in a register is stored at the end, which takes a cycle.
    let credit = match op.dest {
        Operand::Pointer(..) => 0,
        _ => pace.at_start(),
    };
    let modes = all.iter().filter_map(|r| r.simd);
    let lanes = lanes(plan.arch, op.opcode, modes, used)?;
    let grouped = per_cycle != 1 || lanes.is_some();
    Ok(Running {
        lanes,
        half: plan.program.half,
        opcode: op.opcode,
        priority: Priority::default(),
        kernel: Kernel::of(op.opcode, &dest.port, &ports[..count], grouped),
        thread: 0,
        span,
        per_cycle,
        pace,
        credit,
        dest: dest.port.clone(),
        sources: ports,
        source_count: count as u8,
        remaining: length,
        length,
        inputs,
        on_done: [None; 4],
        on_control: None,
        saves,
        fifos,
        stops_at_fifo: false,
        stopped: false,
        result: op.result,
    })
}

/// What completion brings about: what its registers were loaded with, and what the operation says itself,
/// unless a fabric operand is in a register. Then only the load counts. [measured: a public program
/// whose operations alone name tasks runs without them, and by a third faster]
fn add_actions(running: &mut Running, op: &DsdOperation, all: &[Ready], slots: Slots) {
    let in_register = |r: &Ready| r.port.is_fabric() && r.dsr.is_some();
    let own = done_action(&op.options, slots).filter(|_| !all.iter().any(in_register));
    let loaded = all.iter().filter_map(|r| r.dsr).filter_map(|d| d.on_done);
    for (place, action) in running
        .on_done
        .iter_mut()
        .zip(own.into_iter().chain(loaded))
    {
        *place = Some(action);
    }
    let loaded = all.iter().filter_map(|r| r.dsr).find_map(|d| d.on_control);
    running.on_control = control_action(&op.options, slots).or(loaded);
}

/// A fabric operand in a DSR is asynchronous if it was loaded so, whatever the operation says.
fn is_async(op: &DsdOperation, all: &[Ready]) -> bool {
    let fabric = all.iter().filter(|r| r.port.is_fabric());
    let mut loaded = fabric.filter_map(|r| r.dsr).peekable();
    match loaded.peek() {
        None => op.options.is_async,
        Some(_) => loaded.any(|dsr| dsr.is_async),
    }
}

/// wse2: the output queue's id, else the first fabin's. wse3: `ut_id` of the destination, else of
/// a source, else the queue id of the first fabric operand.
fn thread_id(op: &DsdOperation, plan: &PePlan, all: &[Ready], slots: Slots) -> Option<u8> {
    let queue = all.iter().find_map(|r| match &r.port {
        Port::Output(sender) => Some(plan.outputs[usize::from(sender.queue)].id),
        Port::Input { queue, .. } => Some(plan.inputs[usize::from(*queue)].id),
        _ => None,
    });
    if plan.arch == Arch::Wse2 {
        return queue;
    }
    let loaded = all.iter().filter_map(|r| r.dsr).find_map(|d| d.ut_id);
    let own = op.options.ut_id.map(|slot| value(slots, slot) as u8);
    loaded.or(own).or(queue)
}

/// The operation's own, else that of its first operand that has one, else what the program has
/// written for the microthread, else that of its input queue.
fn priority(
    op: &DsdOperation,
    (plan, core): (&PePlan, &Core),
    all: &[Ready],
    running: &Running,
) -> Priority {
    let operand = all.iter().find_map(|ready| ready.priority);
    let written = core.settings.thread_priority[usize::from(running.thread & 7)];
    let queue = running.inputs[0].map(|n| plan.inputs[usize::from(n)].priority);
    op.options
        .priority
        .or(operand)
        .or(written)
        .or(queue)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::operation_length;

    #[test]
    fn the_length_is_the_first_sources_else_the_seconds_else_the_destinations_else_one() {
        assert_eq!(operation_length([Some(3), Some(5)].into_iter(), Some(7)), 3);
        assert_eq!(operation_length([Some(0), Some(5)].into_iter(), Some(7)), 5);
        assert_eq!(operation_length([None, Some(0)].into_iter(), Some(7)), 7);
        assert_eq!(operation_length([None, None].into_iter(), None), 1);
        assert_eq!(operation_length([Some(0)].into_iter(), Some(0)), 0);
    }
}
