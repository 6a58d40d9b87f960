//! Where the host's streams meet the fabric: it puts wavelets into a color that no router feeds, and
//! takes them from one that leads nowhere.

use super::channel::NOWHERE;
use super::grid::PeIndex;
use super::observer::Silent;
use super::rectangle::Fabric;
use super::router::Move;
use super::wavelet::Wavelet;
use fabsim_program::program::{Direction, Directions};

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

    /// Whether a port of the host can feed this color at this PE: no router does.
    pub fn comes_from_host(&self, pe: PeIndex, color: u8) -> bool {
        let channel = self.channel(pe, color);
        channel.is_some_and(|c| c.rx.0 == 0 && c.tx.0 != 0)
    }

    /// Whether a port of the host can drain this color at this PE: no router does.
    pub fn leads_to_host(&self, pe: PeIndex, color: u8) -> bool {
        let channel = self.channel(pe, color);
        channel.is_some_and(|c| c.rx.0 != 0 && c.tx.0 == 0)
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

    /// Takes the oldest wavelet through a port that is not hidden from compute elements, which a port takes the
    /// place of; hidden ones before it end here.
    pub fn take_data_for_host(&mut self, pe: PeIndex, color: u8) -> Option<u32> {
        self.end_hidden(pe, color);
        self.take_through_port(pe, color)
    }

    /// Ends hidden control wavelets that are next at a port; whether there were any.
    pub fn end_hidden(&mut self, pe: PeIndex, color: u8) -> bool {
        let mut any = false;
        while self.channel(pe, color).is_some_and(|c| c.is_next_hidden()) {
            self.take_through_port(pe, color);
            any = true;
        }
        any
    }

    /// Takes the oldest wavelet; a control wavelet takes effect on this router as on any other.
    fn take_through_port(&mut self, pe: PeIndex, color: u8) -> Option<u32> {
        let (index, _) = self.view().find(pe, color)?;
        let channel = &self.channels[index.index()];
        if channel.is_empty() {
            return None;
        }
        let (sides, first) = (channel.rx.0, channel.first());
        let (leaves, command, position) = self.view().executed(pe, index, first);
        let color = channel.color;
        let payload = self.take_for_host(pe, color);
        self.wake_neighbours(pe, sides);
        if first.control {
            self.obey_at_port(&Move {
                pe,
                channel: index,
                next: NOWHERE,
                payload: leaves.payload,
                control: leaves.control,
                color,
                outputs: 0,
                command,
                position,
                was_full: true,
                plain: false,
            });
        }
        payload
    }

    fn obey_at_port(&mut self, decided: &Move) {
        // Nothing lands by it, so the cycle does not matter.
        let mut zones = self.moving(0);
        if let Some(mut zone) = zones.find(|moving| moving.holds(decided.pe)) {
            zone.obey(decided);
        }
        drop(zones);
        // Neighbours in other zones have to be awake before anybody asks whether all is quiet.
        self.exchange(0, &mut Silent);
    }
}
