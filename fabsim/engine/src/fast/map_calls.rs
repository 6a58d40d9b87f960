//! Calls of a `@map` whose call-back is an operation in memory and nothing else: most matrix products are
//! made of them. What the first call was issued as is kept (`repeated_operation`), and the next ones follow in a
//! loop of their own, each cycle after cycle as `run_ahead` would take it.

use super::interference::Interference;
use super::recent_results::written;
use super::repeated_operation::operands;
use super::run_ahead::{leaves_alone, register, RunAhead, SLACK, TURNS};
use crate::pe::env::Env;
use crate::pe::frames::{enter, refuse_deep_calls};
use crate::pe::main_thread::{Caller, Doing, Main};
use crate::pe::map::MapRun;
use crate::pe::operate::until_written;
use crate::pe::operation::Running;
use crate::pe::port::Port;
use crate::pe::slots::value;
use crate::pe::state::Core;
use fabsim_lowering::scalar::cut;
use fabsim_program::program::{DsdOperation, Inst, Operand};

/// Notes taken for microthreads in a call: its elements, registers, cycles and return.
const NOTES_OF_A_CALL: usize = 4;

/// The operation that a function consists of.
fn only_operation(insts: &[Inst]) -> Option<&DsdOperation> {
    match insts {
        [Inst::Operation(op), Inst::Return { src: None }] if op.result.is_none() => Some(op),
        _ => None,
    }
}

/// Whether the elements of the calls can be read, whatever is in them.
fn can_read(map: &MapRun, core: &Core, count: u32) -> bool {
    map.inputs.iter().all(|port| match *port {
        Port::Scalar { .. } => true,
        Port::Line { word, step, bytes } => core.memory.holds_line(word, step, bytes, count),
        _ => false,
    })
}

impl RunAhead {
    /// Takes calls in advance, from the turn of the cycle `env.now` on. Then `env.now` is the cycle of the turn
    /// that comes to the next call, or to the return from the last one, which ends the `@map`.
    pub(crate) fn repeat_calls(&mut self, main: &mut Main, core: &mut Core, env: &mut Env) {
        let (frames, slots) = (&mut main.frames, &mut main.slots);
        let Some(map) = main.maps.last_mut() else {
            return;
        };
        let count = map.remaining.unwrap_or(0);
        let code = env.plan.code.get(map.function.0 as usize);
        let Some(op) = code.and_then(|code| only_operation(&code.insts)) else {
            return;
        };
        let plain = map.output.is_none() && !core.memory.is_watched();
        let too_deep = refuse_deep_calls(frames.len()).is_err();
        if !plain || too_deep || count == 0 || !can_read(map, core, count) {
            return;
        }
        let Some(mut repeated) = self.repeated.take() else {
            return;
        };
        // One frame for all calls: only their arguments differ.
        let base = slots.len();
        enter(env.plan, map.function, &[], Caller::Map, (frames, slots));
        if repeated.again(op, (map.function.0, 0), core, &slots[base..]) {
            let mut calls = Calls {
                op,
                starts: repeated.running.words(),
                running: &mut repeated.running,
                slots: &mut slots[base..],
            };
            calls.repeat(map, core, env, self);
        }
        let returns = map.remaining == Some(0);
        if returns {
            frames.last_mut().into_iter().for_each(|frame| frame.pc = 1);
            main.doing = Doing::Code;
        } else {
            frames.pop();
            slots.truncate(base);
        }
        self.repeated = Some(repeated);
        main.set_ready(env.now);
    }
}

/// Calls of one operation, one after the other.
pub(crate) struct Calls<'a> {
    pub(crate) op: &'a DsdOperation,
    pub(crate) running: &'a mut Running,
    /// Where its vectors begin, destination first.
    starts: [i32; 4],
    slots: &'a mut [u64],
}

impl Calls<'_> {
    /// Calls until none is left, or until enough has been done ahead.
    fn repeat(&mut self, map: &mut MapRun, core: &mut Core, env: &mut Env, ahead: &mut RunAhead) {
        let registers = operands(self.op).filter_map(register);
        let usable = registers.filter_map(|dsr| core.dsr(dsr).map(|loaded| loaded.usable));
        let usable = usable.max().unwrap_or(0);
        let mut left = map.remaining.unwrap_or(0);
        while left > 0 && ahead.turns < TURNS && self.running.length > 0 {
            self.running.remaining = self.running.length;
            let alike = self.take_alike(map, (left, usable), core, (env, ahead));
            left -= alike;
            if alike > 0 {
                continue;
            }
            if !self.is_clear(map, core, env, ahead) {
                break;
            }
            left -= 1;
            self.take_elements(map, core);
            self.call(usable, core, env, ahead);
            if left > 0 {
                self.come_back(env, ahead);
            }
            self.go_back();
        }
        map.remaining = Some(left);
        // What its registers keep.
        self.running.complete(core, env.plan);
    }

    /// Whether the next call concerns nobody else, does not fail, and waits for no result that microthreads
    /// may delay.
    fn is_clear(&self, map: &MapRun, core: &Core, env: &Env, ahead: &RunAhead) -> bool {
        let beside = ahead.schedule.as_deref().map_or(true, |beside| {
            let settled = env.now.saturating_sub(SLACK);
            beside.has_room_for(NOTES_OF_A_CALL)
                && leaves_alone(map, beside)
                && beside.may_run(self.running)
                && until_written(self.running, settled, core, env) == 0
        });
        beside && self.running.is_safe_in_memory(core)
    }

    pub(crate) fn take_elements(&mut self, map: &mut MapRun, core: &mut Core) {
        for (slot, port) in self.slots.iter_mut().zip(&mut map.inputs) {
            *slot = match port {
                Port::Scalar { bits, .. } => u64::from(*bits),
                Port::Line { word, step, bytes } => {
                    // All of it is inside.
                    let read = core.memory.element(i64::from(*word), *bytes);
                    *word = word.wrapping_add(*step);
                    u64::from(read.unwrap_or_default())
                }
                _ => 0,
            };
        }
        for (operand, port) in self.op.sources.iter().zip(&mut self.running.sources) {
            if let (Operand::Scalar(slot, ty), Port::Scalar { bits, .. }) = (operand, port) {
                *bits = cut(*ty, value(self.slots, *slot)) as u32;
            }
        }
    }

    /// The turns of a call, up to the one that returns from it.
    fn call(&mut self, usable: u64, core: &mut Core, env: &mut Env, ahead: &mut RunAhead) {
        let timing = &env.plan.timing;
        let (first, mut time) = (env.now, env.now + timing.map_cycles);
        let mut turns = u64::from(time > first);
        if let Some(beside) = &mut ahead.schedule {
            beside.elements(timing.map_cycles);
        }
        let wait = usable.saturating_sub(time) + timing.operation_issue_cycles;
        if wait > 0 {
            (time, turns) = (time + wait, turns + 1);
            if let Some(beside) = &mut ahead.schedule {
                let registers = operands(self.op).filter_map(register);
                beside.wait(wait, timing.operation_issue_cycles, registers);
            }
        }
        // Beside microthreads it has been seen to that nothing is waited for.
        let held = match ahead.schedule {
            Some(_) => 0,
            None => until_written(self.running, time, core, env),
        };
        (time, turns) = (time + held, turns + u64::from(held > 0));
        // A turn that takes elements of a `@map` takes none of an operation.
        let begins = time + u64::from(time == first);
        let written = written(self.running, timing);
        let cycles = self.running.all_in_memory(core, env.plan);
        let noted = ahead.schedule.as_mut().map(|beside| beside.turns(cycles));
        let after = timing.memory_result_cycles;
        core.recent.pass(written, begins + cycles - 1, after, noted);
        env.now = begins + cycles;
        ahead.turns += turns + env.now - time;
    }

    /// From the turn that returns to the one that takes the next elements.
    fn come_back(&mut self, env: &mut Env, ahead: &mut RunAhead) {
        let cycles = env.plan.timing.map_return_cycles;
        if let Some(beside) = &mut ahead.schedule {
            beside.step(cycles);
        }
        env.now += cycles;
        ahead.turns += u64::from(cycles > 0);
    }

    /// Vectors begin anew, where no register keeps how far they have come.
    pub(crate) fn go_back(&mut self) {
        let back = |port: &mut Port, n: usize| {
            if let Port::Line { word, .. } = port {
                *word = match self.running.saves[n] {
                    Some(_) => i32::from(word.wrapping_mul(2) as u16 / 2),
                    None => self.starts[n],
                };
            }
        };
        back(&mut self.running.dest, 0);
        for (n, port) in self.running.sources.iter_mut().enumerate() {
            back(port, n + 1);
        }
    }
}
