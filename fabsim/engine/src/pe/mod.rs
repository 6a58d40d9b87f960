//! Compute elements: tasks, microthreads, DSD operations.
//!
//! A compute element issues one instruction a cycle. The main thread runs tasks to completion;
//! asynchronous DSD operations run on microthreads beside it. High and medium microthreads go
//! before the main thread, low ones after it; among equals they take turns.

mod ahead;
mod alike;
mod beside;
mod bulk;
mod calls;
mod choose;
mod clock_register;
mod company;
mod dash;
mod env;
pub mod event;
mod execute;
pub mod fifo;
mod frames;
mod halves;
mod interpret;
pub mod issue;
mod main_thread;
pub mod map;
pub mod memory;
mod notes;
pub mod opcode;
mod operands;
mod operate;
pub mod operation;
mod packed;
pub mod plan;
pub mod port;
mod prefetch;
mod prepared;
pub mod queues;
pub mod rate;
mod recent;
pub use fabsim_lowering::scalar;
pub mod settings;
pub mod simd;
pub mod state;
mod system;
pub mod tasks;
mod thread_priority;
mod used;

use self::beside::Beside;
use self::choose::Choice;
pub use self::env::{Env, PutsOff};
use self::event::{Executed, Turn};
pub use self::main_thread::Doing;
use self::main_thread::Main;
use self::operation::Running;
use self::plan::PePlan;
use self::settings::MainPriority;
use self::state::Core;
use self::tasks::Start;
use crate::fault::Fault;
use fabsim_program::program::{FunctionId, Priority};
use std::sync::Arc;

/// A host command waiting for the main thread.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What is called.
    pub function: FunctionId,
    /// Its arguments.
    pub args: Arc<[u64]>,
}

/// When a compute element wants its next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// In the next cycle.
    Soon,
    /// In that cycle.
    At(u64),
    /// When a wavelet arrives or an output queue has room again.
    Woken,
}

impl Next {
    /// In a cycle that is to come, in the next one at the earliest.
    fn after(now: u64, at: u64) -> Next {
        match at > now + 1 {
            true => Next::At(at),
            false => Next::Soon,
        }
    }
}

/// One compute element. In memory order: what is used every cycle lies in the middle, where `main`
/// ends and `core` begins, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Pe {
    /// The main thread.
    pub main: Main,
    /// Index of its plan in the machine.
    pub plan: u32,
    /// Which output queue goes first up the ramp.
    pub output_turn: u8,
    /// Which microthread goes first among equals.
    turn: u8,
    /// Still owes the host an `unblock_cmd_stream`.
    pub busy_with_command: bool,
    /// There is a `launch`.
    launched: bool,
    /// The running asynchronous operations.
    pub threads: Vec<Running>,
    /// Memory, queues and registers.
    pub core: Core,
    launch: Option<Launch>,
    /// The cycles the main thread issues in, where it has run ahead beside microthreads.
    beside: Option<Box<Beside>>,
    /// What `Doing::Failing` is about.
    failure: Option<Box<Fault>>,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(std::mem::offset_of!(Pe, plan) % 64 == 24);
    assert!(std::mem::offset_of!(Pe, core) % 64 == 56);
};

impl Pe {
    /// A compute element at its start; `plan_index` is the place of its plan in the machine.
    pub fn new(plan: &PePlan, plan_index: u32) -> Pe {
        Pe {
            plan: plan_index,
            core: Core::new(plan),
            main: Main::default(),
            threads: Vec::new(),
            turn: 0,
            launch: None,
            failure: None,
            beside: None,
            launched: false,
            busy_with_command: false,
            output_turn: 0,
        }
    }

    /// Gives the main thread a host command.
    pub fn launch(&mut self, launch: Launch) {
        self.launch = Some(launch);
        self.launched = true;
        self.busy_with_command = true;
    }

    /// One cycle: when it wants its next turn, and what it did in this one.
    #[inline]
    pub fn step(&mut self, env: &mut Env) -> Result<(Next, Turn), Fault> {
        if self.main.has_run_ahead {
            if let Some(turn) = self.step_beside(env)? {
                return Ok(turn);
            }
        }
        if self.main.is_free(env.now) && (self.launched || self.core.may_start(env.plan)) {
            self.pick(env);
        }
        let choice = match self.choose(env) {
            Choice::Main if self.main.gives_way => self.choose_between_tasks(env),
            choice => choice,
        };
        match choice {
            Choice::Thread(n) => {
                let turn = self.microthread(n, env)?;
                Ok((Next::Soon, turn))
            }
            Choice::Main => {
                self.core.main_turn = false;
                let (main, core, threads) = (&mut self.main, &mut self.core, &mut self.threads);
                if main.doing == Doing::Failing {
                    return match self.failure.take() {
                        Some(fault) => Err(*fault),
                        None => Ok((Next::Woken, Turn::Nothing)),
                    };
                }
                main.step(core, threads, env)?;
                if self.may_run_ahead(env) {
                    if env.puts_off.concerns(&self.threads) {
                        env.put_off = true;
                        return Ok((Next::Woken, Turn::Main));
                    }
                    self.run_ahead(env);
                }
                Ok((self.after_main(env.now), Turn::Main))
            }
            Choice::Nothing => Ok((self.main.wake_time(env.now), Turn::Nothing)),
        }
    }

    /// What a turn has put off: the main thread goes on; when the compute element wants its next turn.
    pub fn go_ahead(&mut self, env: &mut Env) -> Next {
        self.run_ahead(env);
        self.after_main(env.now)
    }

    /// Whether the main thread can go on where nobody else sees the difference.
    fn may_run_ahead(&self, env: &Env) -> bool {
        let in_command = self.busy_with_command && env.unblocked_at.is_none();
        let usual = self.core.main_priority == MainPriority::MediumLow;
        let goes_first = self.threads.is_empty() || usual;
        let alone = !env.plan.shares_inputs && self.main.may_run_ahead();
        in_command && env.may_run_ahead && goes_first && alone
    }

    /// Goes on so.
    fn run_ahead(&mut self, env: &mut Env) {
        if !self.threads.is_empty() {
            let at = self.main.busy_until().max(env.now + 1);
            let mut beside = self.beside.take().unwrap_or_default();
            let exclusive = env.plan.timing.exclusive_main > 0;
            if !beside.begin(at, &self.threads, &self.core, exclusive) {
                self.beside = Some(beside);
                return;
            }
            env.beside = Some(beside);
        }
        env.ahead = true;
        let before = std::mem::take(&mut env.turns_ahead);
        let (core, threads) = (&mut self.core, &mut self.threads);
        if let Err(fault) = self.main.run_ahead(core, threads, env) {
            self.failure = Some(Box::new(fault));
        }
        if let Some(beside) = env.beside.take() {
            env.turns_ahead = 0;
            // Its notes say when it goes on.
            self.main.has_run_ahead = true;
            self.main.set_ready(u64::MAX);
            self.beside = Some(beside);
        }
        env.turns_ahead += before;
    }

    /// A turn where the main thread has run ahead beside microthreads; none if its notes have ended.
    fn step_beside(&mut self, env: &mut Env) -> Result<Option<(Next, Turn)>, Fault> {
        let now = env.now;
        let Some(beside) = &mut self.beside else {
            return Ok(None);
        };
        env.turns_ahead = beside.advance(now);
        if beside.ends_in(now) {
            beside.write_back(&mut self.core);
            self.main.called = beside.is_called();
            self.main.set_ready(beside.at());
            self.main.has_run_ahead = false;
            return Ok(None);
        }
        let issues = beside.at() == now;
        let first = [Priority::High, Priority::Medium];
        if let Some(n) = first.iter().find_map(|p| self.ready_thread(env, *p)) {
            if let (Some(beside), true) = (&mut self.beside, issues) {
                beside.delay();
            }
            return self
                .microthread(n, env)
                .map(|turn| Some((Next::Soon, turn)));
        }
        if issues {
            env.known = true;
            return Ok(Some((self.after_known(now), Turn::Main)));
        }
        let exclusive = self.beside.as_ref().is_some_and(|b| b.is_exclusive());
        let low = match exclusive {
            true => None,
            false => self.ready_thread(env, Priority::Low),
        };
        match low {
            Some(n) => {
                let turn = self.microthread(n, env)?;
                Ok(Some((self.after_known(now), turn)))
            }
            None => Ok(Some((self.at_end(now), Turn::Nothing))),
        }
    }

    fn microthread(&mut self, n: usize, env: &mut Env) -> Result<Turn, Fault> {
        self.core.main_turn = true;
        let id = self.threads[n].thread;
        self.step_thread(n, env)?;
        Ok(Turn::Microthread(id))
    }

    /// The next turn where none but microthreads that come after the main thread may be waiting.
    fn after_known(&self, now: u64) -> Next {
        let low = |running: &Running| running.priority == Priority::Low;
        match &self.beside {
            Some(beside) if !beside.is_exclusive() && self.threads.iter().any(low) => {
                Next::after(now, beside.next_free(now + 1))
            }
            _ => self.at_end(now),
        }
    }

    /// The next turn where nobody waits for one.
    fn at_end(&self, now: u64) -> Next {
        let end = self.beside.as_ref().map(|beside| beside.end_at_earliest());
        Next::after(now, end.unwrap_or(now))
    }

    fn after_main(&self, now: u64) -> Next {
        if self.main.has_run_ahead {
            return Next::Soon;
        }
        let wake = self.main.wake_time(now);
        match wake {
            Next::At(_) if self.threads.is_empty() => wake,
            _ => Next::Soon,
        }
    }

    fn step_thread(&mut self, n: usize, env: &mut Env) -> Result<(), Fault> {
        let running = &mut self.threads[n];
        if let Some(executed) = &mut env.executed {
            executed.push(Executed::Operation {
                thread: Some(running.thread),
                opcode: running.opcode,
                span: running.span,
            });
        }
        let done = running
            .step(&mut self.core, env.plan, env.now)
            .map_err(|fault| fault.at(running.span))?;
        env.queues_changed = true;
        self.turn = n as u8 + 1;
        if done {
            self.main.stop_waiting();
            self.threads.remove(n);
            self.turn = n as u8;
            self.core.priorities = 0;
            let left = self.threads.iter().map(|running| running.priority);
            left.for_each(|priority| self.core.note_priority(priority));
        }
        Ok(())
    }

    /// Starts what the host launched, else the next task.
    fn pick(&mut self, env: &mut Env) {
        if let Some(launch) = self.launch.take() {
            note_start(env, launch.function);
            self.launched = false;
            self.main
                .start(env.plan, launch.function, &launch.args, env.now);
            return;
        }
        let Some(start) = tasks::pick(&mut self.core, env.plan, env.now) else {
            return;
        };
        let Start {
            function,
            args,
            took_wavelet,
            follows,
        } = start;
        env.queues_changed |= took_wavelet;
        note_start(env, function);
        let timing = &env.plan.timing;
        let cost = match (follows, took_wavelet) {
            (true, _) => 0,
            (false, true) => timing.data_task_start_cycles,
            (false, false) => timing.task_start_cycles,
        };
        let begin = env.now.max(timing.start_up_cycles) + cost;
        let without_gap = timing.between_tasks_cycles == 0 && begin == self.main.busy_until();
        self.main.start(env.plan, function, &args, begin);
        self.main.gives_way = without_gap && !follows;
    }
}

/// Whether an operation takes several elements of the fabric by one instruction.
pub fn takes_pairs(threads: &[Running], main: Option<&Running>) -> bool {
    let mut running = threads.iter().chain(main);
    running.any(|running| running.lanes.is_some())
}

fn note_start(env: &mut Env, function: FunctionId) {
    if let Some(executed) = &mut env.executed {
        let function = function.0;
        executed.push(Executed::Started { function });
    }
}
