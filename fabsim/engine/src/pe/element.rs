//! A compute element and its turn.

use super::env::Env;
use super::event::{Choice, Executed, Next, Turn};
use super::main_thread::{Doing, Main};
use super::operation::Running;
use super::plan::PePlan;
use super::shortcuts::Shortcuts;
use super::state::Core;
use super::tasks::{self, Start};
use crate::fast::pending::Pending;
use crate::fault::Fault;
use fabsim_program::program::FunctionId;
use std::sync::Arc;

/// A host command waiting for the main thread.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What is called.
    pub function: FunctionId,
    /// Its arguments.
    pub args: Arc<[u64]>,
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
    pub(crate) turn: u8,
    /// Still owes the host an `unblock_cmd_stream`.
    pub busy_with_command: bool,
    /// There is a `launch`.
    launched: bool,
    /// The running asynchronous operations.
    pub threads: Vec<Running>,
    /// Memory, queues and registers.
    pub core: Core,
    launch: Option<Launch>,
    /// What has been done sooner than its cycle, and is still to be accounted for.
    pub(crate) pending: Pending,
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
            pending: Pending::default(),
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
    pub fn step(
        &mut self,
        env: &mut Env,
        shortcuts: &mut impl Shortcuts,
    ) -> Result<(Next, Turn), Fault> {
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
                if self.main.doing == Doing::Failing {
                    return match self.pending.take_failure() {
                        Some(fault) => Err(fault),
                        None => Ok((Next::Woken, Turn::Nothing)),
                    };
                }
                let (main, core, threads) = (&mut self.main, &mut self.core, &mut self.threads);
                main.step(core, threads, env, shortcuts)?;
                Ok((self.after_main(env.now), Turn::Main))
            }
            Choice::Nothing => Ok((self.main.wake_time(env.now), Turn::Nothing)),
        }
    }

    /// A turn of a microthread.
    pub(crate) fn microthread(&mut self, n: usize, env: &mut Env) -> Result<Turn, Fault> {
        self.core.main_turn = true;
        let id = self.threads[n].thread;
        self.step_thread(n, env)?;
        Ok(Turn::Microthread(id))
    }

    /// When it wants its next turn after one of the main thread.
    pub(crate) fn after_main(&self, now: u64) -> Next {
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
