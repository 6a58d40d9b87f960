//! What a program changes of its compute element while it runs: priorities, the colors of queues,
//! and the events of the system task, which are teardowns and flushed queues.

use super::env::Env;
use super::operation::Running;
use super::plan::PePlan;
use super::settings::{MainPriority, SYSTEM_TASK};
use super::state::Core;
use super::thread_priority;
use crate::fabric::registers::{Change, FilterField, Refused};
use crate::fault::{Fault, FaultKind, Queue};
use fabsim_program::limits::COLORS;
use fabsim_program::program::{Arch, Direction, Directions, FunctionId, SystemCall};

/// Word address of output queue 0's register on wse3, and where the color is in it.
const OUTPUT_QUEUE_CONFIG: u16 = 0x7b80;
const COLOR_SHIFT: u16 = 4;

/// Output queues in the low half, input queues in the high one.
fn queue_bit(queue: u64, is_input: u64) -> Result<u16, Fault> {
    match queue {
        0..=7 => Ok(1 << (queue + if is_input == 0 { 0 } else { 8 })),
        _ => Err(FaultKind::NoQueue(queue).into()),
    }
}

impl Core {
    /// A color was torn down in the own router.
    pub fn note_teardown(&mut self, color: u8) {
        self.settings.torn_down |= 1 << color;
        self.raise();
    }

    /// Handlers of queues that are still flushed are called once more.
    fn raise(&mut self) {
        self.settings.raised = true;
        self.settings.due |= self.settings.flushed;
        self.attention = true;
    }

    /// The system task is to run, or to be asked whether a queue is flushed. While it is blocked,
    /// as any local task may be, what it is told waits; once it calls handlers it calls all.
    #[inline]
    pub fn is_called(&self) -> bool {
        let blocked = self.blocked_local >> SYSTEM_TASK & 1 == 1;
        self.attention && (!blocked || self.settings.dispatching)
    }

    /// The queue that a color's wavelets go to.
    #[inline]
    pub fn input_of_color(&self, plan: &PePlan, color: u8) -> Option<u8> {
        if self.rebound {
            let place = self.inputs.iter().position(|q| q.color == color);
            return place.map(|n| n as u8);
        }
        plan.input_of_color(color)
    }

    /// The next handler that the system task calls, and whether it has called one just before; a
    /// program may have a task of its own there instead.
    pub fn next_handler(&mut self, plan: &PePlan) -> Option<(FunctionId, bool)> {
        self.note_flushed(plan);
        let own = plan.local[usize::from(SYSTEM_TASK)].is_some();
        if own && std::mem::take(&mut self.settings.raised) {
            self.activate(SYSTEM_TASK);
        }
        let handler = match own {
            true => None,
            false => self.take_handler(plan),
        };
        self.attention = handler.is_some() || self.settings.flushing != 0;
        let follows = std::mem::replace(&mut self.settings.dispatching, handler.is_some());
        handler.map(|function| (function, follows))
    }

    fn take_handler(&mut self, plan: &PePlan) -> Option<FunctionId> {
        let torn_down = self.settings.torn_down;
        let mut handlers = plan.program.teardown_handlers.iter();
        if let Some(&(color, function)) = handlers.find(|(c, _)| torn_down >> c & 1 == 1) {
            self.settings.torn_down &= !(1 << color);
            return Some(function);
        }
        self.settings.torn_down = 0;
        let due = std::mem::take(&mut self.settings.due);
        let bit = |&(is_input, queue, _): &(bool, u8, FunctionId)| {
            queue_bit(u64::from(queue), u64::from(is_input)).unwrap_or(0)
        };
        let mut handlers = plan.program.empty_queue_handlers.iter();
        let next = handlers.find(|&handler| due & bit(handler) != 0)?;
        self.settings.due = due & !bit(next);
        Some(next.2)
    }

    /// Queues that were to be flushed and are empty now.
    fn note_flushed(&mut self, plan: &PePlan) {
        let waiting = self.settings.flushing;
        if waiting == 0 {
            return;
        }
        let done = waiting & self.empty_queues(plan);
        if done != 0 {
            self.settings.flushing &= !done;
            self.settings.flushed |= done;
            self.raise();
        }
    }

    /// Queues that the program does not use are empty.
    fn empty_queues(&self, plan: &PePlan) -> u16 {
        let outputs = plan.outputs.iter().zip(self.outputs.iter());
        let outputs = outputs.filter(|(_, queue)| !queue.ring.is_empty());
        let inputs = plan.inputs.iter().zip(&self.inputs);
        let inputs = inputs.filter(|(_, queue)| !queue.ring.is_empty());
        let held = outputs.fold(0, |bits, (plan, _)| bits | 1u16 << (plan.id & 7));
        !inputs.fold(held, |bits, (plan, _)| bits | 0x100u16 << (plan.id & 7))
    }

    fn full_queues(&self, plan: &PePlan) -> u16 {
        let outputs = plan.outputs.iter().zip(self.outputs.iter());
        let outputs = outputs.filter(|(_, queue)| !queue.ring.has_room());
        let inputs = plan.inputs.iter().zip(&self.inputs);
        let inputs = inputs.filter(|(_, queue)| !queue.ring.has_room());
        let full = outputs.fold(0, |bits, (plan, _)| bits | 1u16 << (plan.id & 7));
        inputs.fold(full, |bits, (plan, _)| bits | 0x100u16 << (plan.id & 7))
    }

    /// The calls behind `<tile_config>`.
    pub fn change_settings(
        &mut self,
        call: SystemCall,
        args: &[u64],
        env: &mut Env,
    ) -> Result<u64, Fault> {
        let arg = |n: usize| args.get(n).copied().unwrap_or(0);
        let settings = &mut self.settings;
        match call {
            SystemCall::PendingTeardowns => {
                return Ok(u64::from(std::mem::take(&mut settings.torn_down)));
            }
            SystemCall::QueueFlush => {
                settings.flushing |= queue_bit(arg(0), arg(1))?;
                self.attention = true;
            }
            SystemCall::ExitFlush => {
                let bit = queue_bit(arg(0), arg(1))?;
                settings.flushed &= !bit;
                settings.due &= !bit;
            }
            SystemCall::Flushed => {
                let shift = if arg(0) == 0 { 0 } else { 8 };
                return Ok(u64::from(settings.flushed >> shift & 0xff));
            }
            SystemCall::QueueStatus => {
                let shift = if arg(0) == 0 { 0 } else { 8 };
                let empty = self.empty_queues(env.plan) >> shift & 0xff;
                let full = self.full_queues(env.plan) >> shift & 0xff;
                return Ok(u64::from(empty | full << 8));
            }
            SystemCall::TaskPriority => {
                let bit = 1u64.checked_shl(arg(0) as u32).unwrap_or(0);
                let others = settings.high_tasks & !bit;
                settings.high_tasks = others | if arg(1) == 0 { 0 } else { bit };
            }
            SystemCall::MainPriority => {
                self.main_priority = MainPriority::of(arg(0));
            }
            SystemCall::SetSwitchSides => {
                let side = |n| Directions(Direction::from_code(arg(n) as u8).bit());
                let color = arg(0) as u8;
                let set = env.change(Change::SwitchSides {
                    color,
                    number: u8::try_from(arg(1)).unwrap_or(u8::MAX),
                    rx: side(2),
                    tx: side(3),
                });
                set.map_err(|refused| fault(refused, u16::from(color)))?;
            }
            SystemCall::SetFilter => {
                let (color, value) = (arg(0) as u8, arg(2) as u32);
                let field = match arg(1) {
                    0 => FilterField::Limit,
                    1 => FilterField::Max,
                    _ => FilterField::Count,
                };
                let set = env.change(Change::FilterNumber {
                    color,
                    field,
                    value,
                });
                set.map_err(|refused| fault(refused, u16::from(color)))?;
            }
            SystemCall::BindInputQueue => self.bind_input(arg(0), arg(1), arg(2) != 0, env)?,
            _ => {}
        }
        Ok(0)
    }

    /// Binds an input queue to the color of an operand that names it.
    pub fn bind_to_operand(&mut self, id: u8, color: u8, env: &mut Env) -> Result<(), Fault> {
        let place = env.plan.input(id);
        let bound = place.map(|place| self.inputs[usize::from(place)].color);
        match bound.is_some_and(|bound| bound != color) {
            true => self.bind_input(u64::from(id), u64::from(color), true, env),
            false => Ok(()),
        }
    }

    fn bind_input(
        &mut self,
        id: u64,
        color: u64,
        filter: bool,
        env: &mut Env,
    ) -> Result<(), Fault> {
        let place = u8::try_from(id).ok().and_then(|id| env.plan.input(id));
        let place = place.ok_or(FaultKind::QueueNotInUse(Queue::Input(id)))?;
        let queue = &mut self.inputs[usize::from(place)];
        let color = a_color(color)?;
        if !queue.ring.is_empty() {
            return Err(FaultKind::InputHoldsWavelets {
                queue: id,
                holds: queue.color,
                bound_to: color,
            }
            .into());
        }
        queue.color = color;
        self.rebound = true;
        // As at start: a channel without a data task is blocked for tasks.
        let channel = self.channel_of(env.plan, usize::from(place));
        let task = env.plan.data.get(usize::from(channel));
        if task.copied().flatten().is_none() && !env.plan.binds_local(channel) {
            self.blocked_channels |= 1 << channel;
        }
        let enable = filter;
        env.change(Change::Filter { color, enable })
            .map_err(|refused| fault(refused, u16::from(color)))?;
        env.queues_changed = true;
        Ok(())
    }

    fn bind_output(&mut self, id: u16, value: u16, env: &mut Env) -> Result<(), Fault> {
        let place = env.plan.output(id as u8);
        let place = place.ok_or(FaultKind::QueueNotInUse(Queue::Output(id.into())))?;
        let queue = &self.outputs[usize::from(place)];
        let color = a_color(u64::from(value >> COLOR_SHIFT))?;
        if !queue.ring.is_empty() {
            return Err(FaultKind::OutputHoldsWavelets {
                queue: id.into(),
                bound_to: color,
            }
            .into());
        }
        self.outputs.set_color(place, color);
        Ok(())
    }

    /// The value of a configuration register.
    pub fn read_register(&self, address: u16, env: &Env) -> Result<u16, Fault> {
        if let Some(id) = output_register(env.plan, address) {
            let place = env.plan.output(id as u8);
            let color = place.and_then(|place| self.outputs[usize::from(place)].color);
            return Ok(u16::from(color.unwrap_or(0)) << COLOR_SHIFT);
        }
        if let Some(thread) = thread_priority::thread_of(env.plan, address) {
            return Ok(thread_priority::read(self, env.plan, thread));
        }
        let value = env.fabric.read_register(env.index, address);
        value.ok_or_else(|| fault(Refused::Unknown, address))
    }

    /// Writes a configuration register.
    pub fn write_register(
        &mut self,
        address: u16,
        value: u16,
        (threads, env): (&mut [Running], &mut Env),
    ) -> Result<(), Fault> {
        if let Some(id) = output_register(env.plan, address) {
            return self.bind_output(id, value, env);
        }
        if let Some(thread) = thread_priority::thread_of(env.plan, address) {
            return thread_priority::write(self, threads, thread, value);
        }
        let written = env.change(Change::Register { address, value });
        written.map_err(|refused| fault(refused, address))
    }
}

fn output_register(plan: &PePlan, address: u16) -> Option<u16> {
    let queue = address.checked_sub(OUTPUT_QUEUE_CONFIG)?;
    (plan.arch == Arch::Wse3 && queue < 8).then_some(queue)
}

fn a_color(color: u64) -> Result<u8, Fault> {
    match u8::try_from(color) {
        Ok(color) if usize::from(color) < COLORS => Ok(color),
        _ => Err(FaultKind::NoColor(color).into()),
    }
}

fn fault(refused: Refused, address: u16) -> Fault {
    Fault::from(match refused {
        Refused::Unknown => FaultKind::UnknownRegister(address),
        Refused::InUse(color) => FaultKind::ColorInUse(color),
        Refused::NoFilter => FaultKind::NoCounterFilter(address),
        Refused::PointToPoint => FaultKind::PointToPoint,
    })
}
