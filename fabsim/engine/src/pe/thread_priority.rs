//! The words of wse2 in which programs up to SDK 1.3 set the priority of a microthread that runs.

use super::operation::Running;
use super::plan::PePlan;
use super::state::Core;
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::{Arch, Priority};

/// Word address of microthread 0's word, which is that of input queue 0.
const THREAD_CONFIG: u16 = 0x7f58;
/// The bits of the word that are known.
const MEDIUM: u16 = 1 << 8;
const HIGH: u16 = 1 << 9;

/// The microthread whose word this is.
pub fn thread_of(plan: &PePlan, address: u16) -> Option<u8> {
    let thread = address.checked_sub(THREAD_CONFIG)?;
    (plan.arch == Arch::Wse2 && thread < 8).then_some(thread as u8)
}

/// What of the word of a microthread is known: its priority.
pub fn read(core: &Core, plan: &PePlan, thread: u8) -> u16 {
    let queue = plan
        .input(thread)
        .map(|n| plan.inputs[usize::from(n)].priority);
    let written = core.settings.thread_priority[usize::from(thread & 7)];
    match written.or(queue).unwrap_or_default() {
        Priority::High => HIGH,
        Priority::Medium => MEDIUM,
        Priority::Low => 0,
    }
}

/// Writes the word of a microthread; the operation that runs on it goes on with the new priority.
/// Where both bits are set the higher one counts.
pub fn write(
    core: &mut Core,
    threads: &mut [Running],
    thread: u8,
    value: u16,
) -> Result<(), Fault> {
    let others = value & !(HIGH | MEDIUM);
    if others != 0 {
        return Err(FaultKind::ThreadWord {
            thread,
            bits: others,
        }
        .into());
    }
    let priority = match value {
        0 => Priority::Low,
        MEDIUM => Priority::Medium,
        _ => Priority::High,
    };
    core.settings.thread_priority[usize::from(thread & 7)] = Some(priority);
    core.note_priority(priority);
    for running in threads
        .iter_mut()
        .filter(|running| running.thread == thread)
    {
        running.priority = priority;
    }
    Ok(())
}
