//! Calls into what is hardware or host on the machine: command stream, clock, random numbers.

use super::env::Env;
use super::fifo::End;
use super::state::Core;
use crate::fault::{Fault, FaultKind};
use fabsim_lowering::scalar::float_bits;
use fabsim_program::program::{Dsd, DsdShape, Dsr, FloatFunction, ScalarType, SystemCall};

/// A line longer than this is printed before its end.
const LINE: usize = 1000;

/// Characters packed eight a word, without the padding.
fn text(words: &[u64]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.filter(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number(bits: u32, style: u64) -> String {
    match style {
        1 => format!("{bits:04X}"),
        2 => format!("{bits:08X}"),
        3 => format!("{bits:016b}"),
        4 => format!("{bits:032b}"),
        5 => format!("{:.6}", f32::from_bits(bits)),
        _ => bits.to_string(),
    }
}

fn float(function: FloatFunction, args: &[u64]) -> f32 {
    let number = |n: usize| f64::from(f32::from_bits(args.get(n).copied().unwrap_or(0) as u32));
    let x = number(0);
    let result = match function {
        FloatFunction::Sin => x.sin(),
        FloatFunction::Cos => x.cos(),
        FloatFunction::Exp => x.exp(),
        FloatFunction::Log => x.ln(),
        FloatFunction::Tanh => x.tanh(),
        FloatFunction::Pow => x.powf(number(1)),
    };
    result as f32
}

/// The counter has 48 bits.
const STAMP_BITS: u64 = (1 << 48) - 1;

/// The clock and the random numbers of one PE.
#[derive(Clone, Debug)]
pub struct SystemState {
    /// The cycle the running time-stamp counter counts from.
    pub(crate) counting_from: Option<u64>,
    /// What the stopped counter shows.
    pub(crate) stopped_at: u64,
    random: u32,
    /// What has been printed of a line.
    line: String,
}

impl Default for SystemState {
    fn default() -> SystemState {
        SystemState {
            counting_from: None,
            stopped_at: 0,
            // The documented start state, cut to the register's 23 bits.
            random: 0xdead_beef & 0x7f_ffff,
            line: String::new(),
        }
    }
}

impl SystemState {
    /// Result and cost in cycles.
    pub fn call(
        &mut self,
        call: SystemCall,
        args: &[u64],
        time: u64,
        core: &mut Core,
        env: &mut Env,
    ) -> Result<(u64, u64), Fault> {
        let mut cost = env.plan.timing.scalar_cycles;
        let arg = args.first().copied().unwrap_or(0);
        let result = match call {
            SystemCall::UnblockCmdStream => {
                env.unblocked_at = Some(time);
                0
            }
            SystemCall::XCoordinate => u64::from(env.fabric.grid.place(env.index).0),
            SystemCall::YCoordinate => u64::from(env.fabric.grid.place(env.index).1),
            SystemCall::EnableTsc => {
                self.counting_from = Some(time);
                0
            }
            SystemCall::DisableTsc => {
                self.stopped_at = self.stamp(time);
                self.counting_from = None;
                0
            }
            SystemCall::ResetTsc => {
                self.stopped_at = 0;
                self.counting_from = self.counting_from.map(|_| time);
                0
            }
            SystemCall::GetTimestamp => {
                cost = env.plan.timing.stamp_cycles;
                let stamp = self.stamp(time);
                for word in 0..3 {
                    let address = (arg & 0xffff) + 2 * word;
                    core.memory.store(address, 2, stamp >> (16 * word))?;
                }
                0
            }
            SystemCall::Random16 => u64::from(self.random16()),
            SystemCall::Sqrt => {
                cost = env.plan.timing.float_divide_cycles;
                float_bits(ScalarType::F32, f32::from_bits(arg as u32).sqrt())
            }
            SystemCall::Float(function) => {
                cost = env.plan.timing.float_divide_cycles;
                float_bits(ScalarType::F32, float(function, args))
            }
            SystemCall::SeedRandom => {
                // A register of zeros would stay so.
                self.random = (arg as u32 & 0x7f_ffff).max(1);
                0
            }
            SystemCall::PrintText => {
                self.print(&text(args), time, env);
                0
            }
            SystemCall::PrintNumber => {
                let style = args.get(1).copied().unwrap_or(0);
                self.print(&number(arg as u32, style), time, env);
                0
            }
            SystemCall::StoreText => {
                let characters = text(args.get(1..).unwrap_or_default());
                for (n, pair) in characters.as_bytes().chunks(2).enumerate() {
                    let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 8;
                    core.memory.store((arg & 0xffff) + 2 * n as u64, 2, word)?;
                }
                0
            }
            SystemCall::GetClock => {
                for word in 0..3 {
                    let address = (arg & 0xffff) + 2 * word;
                    core.memory
                        .store(address, 2, time >> (16 * word) & 0xffff)?;
                }
                0
            }
            SystemCall::SetFifoReadLength | SystemCall::SetFifoWriteLength => {
                let shape = env
                    .plan
                    .program
                    .shapes
                    .get(usize::from(Dsd::unpack(arg).shape));
                let Some(DsdShape::Fifo { fifo }) = shape else {
                    return Err(FaultKind::FifoLengthOfNone.into());
                };
                let end = match call {
                    SystemCall::SetFifoReadLength => End::Read,
                    _ => End::Write,
                };
                let length = args.get(1).copied().unwrap_or(0) as u16;
                *core.fifos[usize::from(*fifo)].length(end) = length;
                0
            }
            SystemCall::SetDsrBase | SystemCall::SetDsrLength => {
                let dsr = Dsr::of_number(arg as u8);
                let value = args.get(1).copied().unwrap_or(0) as u16;
                let loaded = core.dsrs.iter_mut().find(|known| known.dsr == dsr);
                let loaded = loaded.ok_or(FaultKind::DsrNotLoaded(dsr))?;
                match call {
                    SystemCall::SetDsrBase => loaded.dsd.base = value,
                    _ => loaded.dsd.extent = value,
                }
                let wait = cost + env.plan.timing.dsr_use_cycles - 1;
                loaded.usable = loaded.usable.max(time + wait);
                0
            }
            SystemCall::QueueFlush
            | SystemCall::ExitFlush
            | SystemCall::Flushed
            | SystemCall::QueueStatus
            | SystemCall::PendingTeardowns
            | SystemCall::SetSwitchSides
            | SystemCall::SetFilter
            | SystemCall::BindInputQueue
            | SystemCall::TaskPriority
            | SystemCall::MainPriority => core.change_settings(call, args, env)?,
        };
        Ok((result, cost))
    }

    /// Adds to the line; whole lines go to the log.
    fn print(&mut self, text: &str, time: u64, env: &mut Env) {
        self.line.push_str(text);
        while let Some((line, rest)) = self.line.split_once('\n') {
            env.log.push((time, env.index, line.to_string()));
            self.line = rest.to_string();
        }
        if self.line.len() > LINE {
            env.log
                .push((time, env.index, std::mem::take(&mut self.line)));
        }
    }

    pub(crate) fn stamp(&self, time: u64) -> u64 {
        match self.counting_from {
            // It may have been set to more than the cycles so far.
            Some(start) => time.wrapping_sub(start) & STAMP_BITS,
            None => self.stopped_at,
        }
    }

    /// A linear-feedback register of polynomial x^23 + x^18 + 1, stepped 128 times a number. It shifts
    /// to the right: docs/machine.md says why.
    fn random16(&mut self) -> u16 {
        for _ in 0..128 {
            let bit = (self.random ^ self.random >> 5) & 1;
            self.random = self.random >> 1 | bit << 22;
        }
        self.random as u16
    }
}
