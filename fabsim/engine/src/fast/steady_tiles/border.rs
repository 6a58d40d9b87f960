//! Where flows meet tiles that are visited: what passes between them, and what ends a flow.

use super::{Flows, Reverse, Site, Source, AHEAD};
use crate::fabric::router::Caught;
use crate::fabric::wavelet::Wavelet;
use fabsim_program::program::Direction;

impl Flows {
    /// Wavelets land at neighbours that are visited.
    pub(super) fn pour_out(&mut self, site: &mut Site) {
        for n in 0..self.outlets.len() {
            let id = self.outlets[n];
            let mut open = self.stream(id).open;
            if open == 0 || !self.stream(id).is_used {
                continue;
            }
            if self.stream(id).known() <= site.now {
                self.work_out(id, site.now + AHEAD, site);
            }
            let stream = self.stream(id);
            let payload = stream.span(site.now, site.now + 1).first().copied();
            let wavelet = Wavelet::data(payload.unwrap_or_default());
            let (pe, next) = (self.tile(stream.tile).pe, stream.current.next);
            while open != 0 {
                let side = Direction::from_code(open.trailing_zeros() as u8);
                open &= open - 1;
                let neighbour = site.moving.beside(pe, side);
                let channel = next[side as usize];
                let from = side.facing();
                site.moving
                    .land_from_flow(neighbour, channel, from, wavelet);
            }
        }
    }

    /// What landed at tiles in flows is noted; where it was not foreseen the flow ends.
    pub(super) fn take_in(&mut self, site: &mut Site) {
        let mut caught = std::mem::take(&mut self.caught);
        site.moving.swap_caught(&mut caught);
        let mut disturbed = std::mem::take(&mut self.disturbed);
        for landing in caught.drain(..) {
            if !self.foresees(&landing, site) {
                disturbed.push(landing);
            }
        }
        for landing in disturbed.drain(..) {
            let Caught {
                pe,
                channel,
                side,
                wavelet,
            } = landing;
            if let Some(tile) = site.moving.flow(pe) {
                self.leave(tile, site.now + 1, site);
            }
            site.moving.land_from_flow(pe, channel, side, wavelet);
        }
        (self.caught, self.disturbed) = (caught, disturbed);
    }

    fn foresees(&mut self, landing: &Caught, site: &mut Site) -> bool {
        let Some(tile) = site.moving.flow(landing.pe) else {
            return false;
        };
        let streams = self.tiles[tile as usize].streams.iter();
        let mut fits = streams.filter(|&&id| {
            let stream = &self.streams[id as usize];
            stream.current.channel == landing.channel
                && stream.source == Source::Landings
                && stream.current.from == landing.side
                && stream.known() == site.now + stream.delay
        });
        match fits.next() {
            Some(&id) if !landing.wavelet.control => {
                let payload = landing.wavelet.payload;
                self.stream_mut(id).values.push(payload);
                true
            }
            _ => false,
        }
    }

    /// Flows end that nothing has come into.
    pub(super) fn end_those_that_miss(&mut self, site: &mut Site) {
        let mut n = 0;
        while let Some(&id) = self.inlets.get(n) {
            let stream = self.stream_mut(id);
            if !stream.is_used || stream.source != Source::Landings {
                stream.is_inlet = false;
                self.inlets.swap_remove(n);
                continue;
            }
            if stream.known() <= site.now + stream.delay {
                let tile = stream.tile;
                self.leave(tile, site.now + 1, site);
                continue;
            }
            n += 1;
        }
    }

    pub(super) fn end_those_due(&mut self, site: &mut Site) {
        while let Some(&Reverse((at, tile))) = self.expiries.peek() {
            if at > site.now + 1 {
                break;
            }
            self.expiries.pop();
            let known = self.tile(tile);
            if known.is_used && known.expiry == at {
                self.leave(tile, at, site);
            }
        }
    }

    /// Flows end whose next wavelet would not be accepted.
    pub(super) fn end_those_refused(&mut self, site: &mut Site) {
        let mut n = 0;
        while let Some(&id) = self.outlets.get(n) {
            let stream = self.stream_mut(id);
            let mut open = stream.open;
            if open == 0 || !stream.is_used {
                stream.is_outlet = false;
                self.outlets.swap_remove(n);
                continue;
            }
            let (tile, next) = (stream.tile, stream.current.next);
            let mut accepted = true;
            while open != 0 {
                let side = Direction::from_code(open.trailing_zeros() as u8);
                open &= open - 1;
                let channel = next[side as usize];
                accepted &= site.moving.surely_accepts(channel, side.facing());
            }
            if !accepted {
                self.leave(tile, site.now + 1, site);
                continue;
            }
            n += 1;
        }
    }
}
