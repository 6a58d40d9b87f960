//! Calls into what is hardware or host on the machine: command stream, clock, random numbers.

use super::core::Core;
use super::fifo::End;
use super::Env;
use crate::program::{Dsd, DsdShape, SystemCall};
use crate::report::Fault;

/// The clock and the random numbers of one PE.
#[derive(Clone, Debug)]
pub struct SystemState {
    /// The cycle the running time-stamp counter counts from.
    counting_from: Option<u64>,
    /// What the stopped counter shows.
    stopped_at: u64,
    random: u32,
}

impl Default for SystemState {
    fn default() -> SystemState {
        SystemState {
            counting_from: None,
            stopped_at: 0,
            // The documented start state, cut to the register's 23 bits.
            random: 0xdead_beef & 0x7f_ffff,
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
                u64::from(f32::from_bits(arg as u32).sqrt().to_bits())
            }
            SystemCall::SetFifoReadLength | SystemCall::SetFifoWriteLength => {
                let shape = env
                    .plan
                    .program
                    .shapes
                    .get(usize::from(Dsd::unpack(arg).shape));
                let Some(DsdShape::Fifo { fifo }) = shape else {
                    return Err(Fault::new("a FIFO length is set of what is no FIFO"));
                };
                let end = match call {
                    SystemCall::SetFifoReadLength => End::Read,
                    _ => End::Write,
                };
                let length = args.get(1).copied().unwrap_or(0) as u16;
                *core.fifos[usize::from(*fifo)].length(end) = length;
                0
            }
            SystemCall::QueueFlush => {
                return Err(Fault::new("fabsim does not support @queue_flush yet"));
            }
        };
        Ok((result, cost))
    }

    fn stamp(&self, time: u64) -> u64 {
        match self.counting_from {
            Some(start) => time - start,
            None => self.stopped_at,
        }
    }

    /// A linear-feedback register of polynomial x^23 + x^18 + 1, stepped 128 times a number.
    fn random16(&mut self) -> u16 {
        for _ in 0..128 {
            let bit = (self.random >> 22 ^ self.random >> 17) & 1;
            self.random = (self.random << 1 | bit) & 0x7f_ffff;
        }
        self.random as u16
    }
}
