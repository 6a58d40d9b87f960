//! The state of a compute element that its threads share.

use super::action::Action;
use super::fifo::Fifo;
use super::memory::Memory;
use super::plan::PePlan;
use super::queues::{InputQueue, OutputQueue, Outputs, Ring};
use super::recent::Recent;
use super::settings::{MainPriority, Settings};
use fabsim_program::program::{
    Arch, BlockTarget, ControlValue, Dsd, Dsr, DsrLoadValue, Priority, Span,
};

/// The contents of one DSR.
#[derive(Clone, Debug)]
pub struct LoadedDsr {
    /// The register.
    pub dsr: Dsr,
    /// What it holds.
    pub dsd: Dsd,
    /// Operations on it are asynchronous.
    pub is_async: bool,
    /// What their end brings about.
    pub on_done: Option<Action>,
    /// What a control wavelet does to them.
    pub on_control: Option<Action>,
    /// The microthread they run on.
    pub ut_id: Option<u8>,
    /// It keeps the address that an operation ends at.
    pub save_address: bool,
    /// The cycle from which an operation can use it.
    pub usable: u64,
    /// Where it was loaded.
    pub span: Span,
}

/// Memory, queues, registers and the task table of one PE.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Core {
    // In front: used every cycle.
    /// Bit per local task id.
    pub active_local: u32,
    /// Bit per local task id.
    pub blocked_local: u32,
    /// Input queues, by place.
    pub inputs: Box<[InputQueue]>,
    /// Output queues, by place.
    pub outputs: Outputs,
    /// The data memory.
    pub memory: Memory,
    /// Bit per color on wse2, per input queue on wse3.
    pub blocked_channels: u32,
    /// Bit per microthread.
    pub blocked_threads: u8,
    /// The id of the task that ran last: the next one up goes first.
    pub last_task: u8,
    /// The system task has something to do, or a queue is being flushed.
    pub attention: bool,
    /// Some input queue is bound to another color than the plan says.
    pub rebound: bool,
    /// How the main thread competes with microthreads.
    pub main_priority: MainPriority,
    /// A microthread went last.
    pub main_turn: bool,
    /// Bit per priority that a running microthread may have: those of others need not be looked for.
    pub priorities: u8,
    // Used now and then.
    /// FIFOs, by number.
    pub fifos: Box<[Fifo]>,
    /// The registers that have been loaded.
    pub dsrs: Vec<LoadedDsr>,
    /// What the program changes of it while it runs.
    pub settings: Settings,
    /// Results that may not be in memory yet.
    pub recent: Recent,
}

impl Core {
    /// What a program starts with.
    pub fn new(plan: &PePlan) -> Core {
        let program = &plan.program;
        let mut core = Core {
            memory: Memory::new(program),
            inputs: plan.inputs.iter().map(new_input).collect(),
            outputs: Outputs::new(plan.outputs.iter().map(new_output).collect()),
            dsrs: Vec::new(),
            fifos: program.fifos.iter().map(Fifo::new).collect(),
            active_local: 0,
            blocked_local: 0,
            blocked_channels: 0,
            blocked_threads: 0,
            last_task: u8::MAX,
            attention: false,
            rebound: false,
            main_priority: MainPriority::of(u64::from(program.main_priority)),
            main_turn: false,
            priorities: 0,
            settings: Settings::at_start(program.high_tasks),
            recent: Recent::default(),
        };
        for &id in &program.active_at_start {
            core.activate(id);
        }
        // A channel without a data task starts blocked.
        for n in 0..plan.inputs.len() {
            let channel = core.channel_of(plan, n);
            if plan
                .data
                .get(usize::from(channel))
                .copied()
                .flatten()
                .is_none()
            {
                // On wse2 a local task may have its id.
                let free = !plan.binds_local(channel);
                core.blocked_channels |= u32::from(free) << channel;
            }
        }
        for &(target, blocked) in &program.blocked_at_start {
            core.set_blocked(plan, target, blocked);
        }
        for load in &program.dsrs {
            core.load_dsr(loaded(load));
        }
        core
    }

    /// False if no task can possibly start: the look that most cycles of a stream get by with.
    #[inline]
    pub fn may_start(&self, plan: &PePlan) -> bool {
        let local = self.active_local & !self.blocked_local;
        let arriving = plan.channels & !self.blocked_channels;
        (local | arriving) != 0 || self.is_called() || self.rebound
    }

    /// What tasks of an input queue are blocked by: its color on wse2, its id on wse3.
    pub fn channel_of(&self, plan: &PePlan, input: usize) -> u8 {
        match plan.arch {
            Arch::Wse2 => self.inputs[input].color,
            Arch::Wse3 => self.inputs[input].id,
        }
    }

    /// A microthread of this priority runs.
    pub fn note_priority(&mut self, priority: Priority) {
        self.priorities |= 1 << priority as u8;
    }

    /// Whether a microthread of this priority may be running.
    #[inline]
    pub fn may_have(&self, priority: Priority) -> bool {
        self.priorities >> priority as u8 & 1 == 1
    }

    /// Activates a local task.
    pub fn activate(&mut self, id: u8) {
        self.active_local |= 1u32.checked_shl(u32::from(id)).unwrap_or(0);
    }

    /// Blocks or unblocks tasks or a microthread.
    pub fn set_blocked(&mut self, plan: &PePlan, target: BlockTarget, blocked: bool) {
        let set = |bits: &mut u32, id: u8| {
            let bit = 1u32.checked_shl(u32::from(id)).unwrap_or(0);
            *bits = if blocked { *bits | bit } else { *bits & !bit };
        };
        match target {
            // One table there: a color and a local task of its number share their bit.
            BlockTarget::Local(id) | BlockTarget::Color(id) | BlockTarget::Data(id)
                if plan.arch == Arch::Wse2 =>
            {
                set(&mut self.blocked_local, id);
                set(&mut self.blocked_channels, id);
            }
            BlockTarget::Local(id) => set(&mut self.blocked_local, id),
            BlockTarget::Color(id) | BlockTarget::Data(id) => set(&mut self.blocked_channels, id),
            BlockTarget::InputQueue(id) => {
                let channel = match (plan.arch, plan.input(id)) {
                    (Arch::Wse2, Some(n)) => self.inputs[usize::from(n)].color,
                    _ => id,
                };
                set(&mut self.blocked_channels, channel);
            }
            BlockTarget::Microthread(id) => {
                let mut bits = u32::from(self.blocked_threads);
                set(&mut bits, id);
                self.blocked_threads = bits as u8;
            }
        }
    }

    /// Does what the end of an operation brings about.
    pub fn act(&mut self, plan: &PePlan, action: Action) {
        match action {
            Action::Activate(id) => self.activate(id),
            Action::Unblock(target) => self.set_blocked(plan, target, false),
            Action::Terminate => {}
        }
    }

    /// Loads a register.
    pub fn load_dsr(&mut self, load: LoadedDsr) {
        match self.dsrs.iter_mut().find(|known| known.dsr == load.dsr) {
            Some(known) => *known = load,
            None => self.dsrs.push(load),
        }
    }

    /// What a register holds, if it was loaded.
    pub fn dsr(&self, dsr: Dsr) -> Option<&LoadedDsr> {
        self.dsrs.iter().find(|known| known.dsr == dsr)
    }
}

fn new_input(plan: &super::plan::InputPlan) -> InputQueue {
    InputQueue {
        id: plan.id,
        color: plan.color,
        ring: Ring::new(plan.depth),
    }
}

fn new_output(plan: &super::plan::OutputPlan) -> OutputQueue {
    OutputQueue {
        id: plan.id,
        color: plan.color,
        ring: Ring::new(plan.depth),
    }
}

fn loaded(load: &DsrLoadValue) -> LoadedDsr {
    let unblock = load.unblock.map(Action::Unblock);
    LoadedDsr {
        dsr: load.dsr,
        dsd: load.dsd,
        is_async: load.is_async,
        on_done: load.activate.map(Action::Activate).or(unblock),
        on_control: load.on_control.map(|controlled| match controlled {
            ControlValue::Terminate => Action::Terminate,
            ControlValue::Activate(id) => Action::Activate(id),
            ControlValue::Unblock(target) => Action::Unblock(target),
        }),
        ut_id: load.ut_id,
        save_address: load.save_address,
        usable: 0,
        span: load.span,
    }
}
