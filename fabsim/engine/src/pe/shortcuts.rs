//! Where the main thread's work may be done otherwise than instruction by instruction in its own cycle.
//!
//! The machine needs none of it: `NoShortcuts` is how a program runs. What `crate::fast` has instead must
//! come to the same results in the same cycles.

use super::env::Env;
use super::main_thread::{Flow, Main, Site, Threads};
use super::state::Core;
use crate::fault::Fault;
use fabsim_lowering::code::Cost;
use fabsim_program::program::{DsdOperation, Inst};

/// What is asked while the main thread runs code.
pub trait Shortcuts {
    /// Whether turns are noted, so that microthreads can have theirs although code is carried out before its cycle.
    fn is_noted(&self) -> bool;

    /// Carries out instructions from the program counter on, as long as it may: `time` is the cycle of the
    /// next one and `left` how many there may be.
    fn straight(
        &mut self,
        main: &mut Main,
        core: &mut Core,
        threads: &Threads,
        at: (&mut u64, &mut u32),
        env: &Env,
    ) -> Result<(), Fault>;

    /// Whether an instruction has to wait for its cycle.
    fn holds(&mut self, main: &Main, inst: &Inst, time: u64, env: &Env) -> bool;

    /// An operation whose operands are loaded, if it is carried out otherwise than issued in its cycle.
    fn operation(
        &mut self,
        main: &mut Main,
        op: &DsdOperation,
        at: (Site, u64),
        core: &mut Core,
        env: &Env,
    ) -> Option<Result<Flow, Fault>>;

    /// An instruction has been carried out, with this cost.
    fn carried_out(&mut self, main: &Main, inst: Option<&Inst>, did: (&Flow, Cost), env: &Env);

    /// Whether the turn ends behind the last instruction.
    fn ends_turn(&mut self) -> bool;

    /// The cycle in which an instruction of cycle `time` that fails in a turn of cycle `now` is to blame.
    fn fails_at(&self, time: u64, now: u64) -> u64;
}

/// Instruction by instruction.
#[derive(Clone, Copy, Debug)]
pub struct NoShortcuts;

impl Shortcuts for NoShortcuts {
    fn is_noted(&self) -> bool {
        false
    }

    fn straight(
        &mut self,
        _main: &mut Main,
        _core: &mut Core,
        _threads: &Threads,
        _at: (&mut u64, &mut u32),
        _env: &Env,
    ) -> Result<(), Fault> {
        Ok(())
    }

    fn holds(&mut self, _main: &Main, _inst: &Inst, _time: u64, _env: &Env) -> bool {
        false
    }

    fn operation(
        &mut self,
        _main: &mut Main,
        _op: &DsdOperation,
        _at: (Site, u64),
        _core: &mut Core,
        _env: &Env,
    ) -> Option<Result<Flow, Fault>> {
        None
    }

    fn carried_out(&mut self, _main: &Main, _inst: Option<&Inst>, _did: (&Flow, Cost), _env: &Env) {
    }

    fn ends_turn(&mut self) -> bool {
        false
    }

    fn fails_at(&self, _time: u64, now: u64) -> u64 {
        now
    }
}
