//! The time-stamp counter as registers of wse2, which programs of SDK 1.0 read and write by pointers.
//!
//! Their numbers are not public; the ones here are free among those that are, and programs take them
//! from `<tile_config>`. [guess]

use super::plan::PePlan;
use super::system::SystemState;
use fabsim_program::program::Arch;

/// Word addresses: whether the counter runs, then its three words, the low one first.
const CONTROL: u16 = 0x7d00;
const FIRST: u16 = 0x7d01;
const LAST: u16 = 0x7d03;

/// Whether the word is one of the counter's.
pub fn is_clock(plan: &PePlan, address: u16) -> bool {
    plan.arch == Arch::Wse2 && (CONTROL..=LAST).contains(&address)
}

impl SystemState {
    /// What a register of the counter holds at `time`.
    pub(crate) fn read_clock(&self, address: u16, time: u64) -> u16 {
        match address {
            CONTROL => u16::from(self.counting_from.is_some()),
            word => (self.stamp(time) >> shift(word)) as u16,
        }
    }

    /// Starts, stops or sets the counter.
    pub(crate) fn write_clock(&mut self, address: u16, value: u16, time: u64) {
        let mut stamp = self.stamp(time);
        let mut counts = self.counting_from.is_some();
        match address {
            CONTROL => counts = value != 0,
            word => {
                stamp &= !(0xffff << shift(word));
                stamp |= u64::from(value) << shift(word);
            }
        }
        self.stopped_at = stamp;
        self.counting_from = counts.then(|| time.wrapping_sub(stamp));
    }
}

fn shift(word: u16) -> u16 {
    16 * (word - FIRST)
}
