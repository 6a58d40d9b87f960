//! Where the host's streams meet the fabric: it puts wavelets into a color that no router feeds, and
//! takes them from one that leads nowhere.

use super::grid::PeIndex;
use super::wavelet::Wavelet;
use super::Fabric;
use crate::program::{Direction, Directions};

const RAMP: Directions = Directions(1 << Direction::Ramp as u8);

impl Fabric {
    /// Whether the host feeds this color at this PE.
    pub fn is_from_host(&self, pe: PeIndex, color: u8) -> bool {
        let channel = self.channel(pe, color);
        channel.is_some_and(|c| (c.rx, c.tx) == (Directions(0), RAMP))
    }

    /// Whether this color of this PE ends at the host.
    pub fn is_to_host(&self, pe: PeIndex, color: u8) -> bool {
        let channel = self.channel(pe, color);
        channel.is_some_and(|c| (c.rx, c.tx) == (RAMP, Directions(0)))
    }

    /// Puts a wavelet into the router's queue; false if it is full.
    pub fn put_from_host(&mut self, pe: PeIndex, color: u8, payload: u32) -> bool {
        let Some((index, local)) = self.view().find(pe, color) else {
            return false;
        };
        let channel = &mut self.channels[index.index()];
        let wavelet = Wavelet {
            payload,
            control: false,
        };
        if channel.len() >= self.wires.depth || !channel.push(wavelet, Direction::West) {
            return false;
        }
        self.routers[pe.index()].occupied |= 1 << local;
        self.wake(pe);
        true
    }

    /// Takes the oldest wavelet from the router's queue.
    pub fn take_for_host(&mut self, pe: PeIndex, color: u8) -> Option<u32> {
        let (index, local) = self.view().find(pe, color)?;
        let channel = &mut self.channels[index.index()];
        let wavelet = channel.pop()?;
        if channel.is_empty() {
            self.routers[pe.index()].occupied &= !(1 << local);
        }
        // The compute element may have waited for room.
        self.wake(pe);
        Some(wavelet.payload)
    }
}
