//! What flows know and change of routers.

use crate::fabric::channel::{Channel, NOWHERE};
use crate::fabric::grid::{PeIndex, LINKS};
use crate::fabric::observer::Silent;
use crate::fabric::router::{Caught, ChannelIndex, NO_FLOW};
use crate::fabric::wavelet::Wavelet;
use crate::fabric::Moving;
use fabsim_program::program::Direction;

/// A channel through which a data wavelet passes every cycle.
#[derive(Clone, Copy, Debug)]
pub struct Current {
    /// The channel.
    pub channel: ChannelIndex,
    /// Its color.
    pub color: u8,
    /// Where its wavelets come from.
    pub from: Direction,
    /// The sides they leave by.
    pub outputs: u8,
    /// The neighbours' channels where they land, by link.
    pub next: [ChannelIndex; 4],
    /// Wavelets in the queue, the same every cycle.
    pub held: u8,
}

impl Moving<'_> {
    /// The currents of a router each of whose channels has lost a wavelet and got one in this cycle;
    /// none if there is anything else in its queues, or if they cross the border of the zone.
    pub fn currents(&mut self, pe: PeIndex) -> Option<Vec<Current>> {
        let mut occupied = self.router(pe).occupied;
        if occupied != self.router(pe).drained {
            return None;
        }
        let first = self.wires.places[pe.index()].first_channel;
        let mut currents = Vec::with_capacity(occupied.count_ones() as usize);
        while occupied != 0 {
            let channel = ChannelIndex(first + occupied.trailing_zeros());
            occupied &= occupied - 1;
            currents.push(self.current(pe, channel)?);
        }
        Some(currents)
    }

    fn current(&mut self, pe: PeIndex, index: ChannelIndex) -> Option<Current> {
        let (next_cycle, registered) = (self.next, self.wires.registered);
        let sides = self.router(pe).sides;
        let channel = self.channel(index);
        let fresh = channel.landed == next_cycle && channel.landed_count == 1;
        if !fresh || channel.torn_down || channel.filtered || channel.tx.0 == 0 {
            return None;
        }
        let (color, outputs) = (channel.color, channel.tx.0);
        let (from, held) = (channel.only_side()?, channel.len());
        // One that has just come over a link with a register stays for a cycle: there is a gap.
        let gap = registered && from != Direction::Ramp && held < 2;
        (!gap).then_some(())?;
        // The last wavelet may have moved the switch, and then no other one may follow it.
        channel.rx.has(from).then_some(())?;
        let mut next = [NOWHERE; 4];
        for side in LINKS {
            if outputs & side.bit() != 0 {
                let neighbour = sides.has(side).then(|| self.wires.grid.step(pe, side))?;
                let (channel, _) = self.wires.find(neighbour, color)?;
                next[side as usize] = channel;
                self.holds(neighbour).then_some(())?;
            }
        }
        if from != Direction::Ramp && !self.holds(self.wires.grid.step(pe, from)) {
            return None;
        }
        Some(Current {
            channel: index,
            color,
            from,
            outputs,
            next,
            held,
        })
    }

    /// The neighbour on a side that has one.
    pub fn beside(&self, pe: PeIndex, side: Direction) -> PeIndex {
        self.wires.grid.step(pe, side)
    }

    /// What a compute element has done in the last cycle.
    pub fn deed(&mut self, pe: PeIndex) -> u8 {
        self.router(pe).deed
    }

    /// The flow that a tile is part of.
    pub fn flow(&mut self, pe: PeIndex) -> Option<u32> {
        let flow = self.router(pe).flow;
        (flow != NO_FLOW).then_some(flow)
    }

    /// A tile becomes part of a flow and is no longer visited.
    pub fn join(&mut self, pe: PeIndex, flow: u32) {
        self.router(pe).flow = flow;
        self.zone.active.remove(pe);
    }

    /// A tile is visited again from the next cycle on; so many wavelets have left its queues.
    pub fn part(&mut self, pe: PeIndex, departures: u64) {
        let router = self.router(pe);
        (router.flow, router.streak) = (NO_FLOW, 0);
        self.zone.active.insert(pe);
        self.zone.departures += departures;
    }

    /// It will be long before this tile can be part of a flow.
    pub fn forget_streak(&mut self, pe: PeIndex) {
        self.router(pe).streak = 0;
    }

    /// Whether a wavelet from a side may land in the next cycle, as far as is quickly known.
    pub fn surely_accepts(&mut self, index: ChannelIndex, side: Direction) -> bool {
        let depth = self.wires.depth;
        let channel: &Channel = self.channel(index);
        channel.len() < depth
            && !channel.torn_down
            && !channel.has_control()
            && channel.rx.has(side)
    }

    /// A wavelet lands that comes from a flow or was caught.
    pub fn land_from_flow(
        &mut self,
        pe: PeIndex,
        index: ChannelIndex,
        side: Direction,
        wavelet: Wavelet,
    ) {
        self.land(pe, index, side, wavelet, &mut Silent);
    }

    /// The payloads in the queue of a channel, oldest first.
    pub fn queued(&mut self, index: ChannelIndex, found: &mut Vec<u32>) {
        let channel = self.channel(index);
        found.extend(channel.entries().map(|(wavelet, _)| wavelet.payload));
    }

    /// What a current leaves in its queue.
    pub fn refill(&mut self, pe: PeIndex, current: &Current, payloads: &[u32], landed: u64) {
        let channel = self.channel(current.channel);
        channel.refill(payloads, current.from, landed);
        let local = channel.local;
        if payloads.is_empty() {
            self.router(pe).occupied &= !(1 << local);
        }
    }

    /// Exchanges the landings at tiles that are part of a flow for an empty list.
    pub fn swap_caught(&mut self, list: &mut Vec<Caught>) {
        std::mem::swap(&mut self.zone.caught, list);
    }
}
