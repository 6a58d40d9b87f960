//! The rectangle in zones: what each thread may change in either half of a cycle, and how they come together.

use super::commit::Moving;
use super::grid::PeIndex;
use super::look::Looking;
use super::observer::Observer;
use super::rectangle::Fabric;
use super::router::Collision;
use super::view::View;
use super::zone::{Crossing, Zone};

impl Fabric {
    pub(crate) fn divide(&mut self, ends: &[PeIndex]) {
        let mut first = PeIndex(0);
        for &end in ends {
            self.zones.push(Zone::new(first, end));
            first = end;
        }
    }

    /// Which zone a PE belongs to.
    pub fn zone_number(&self, pe: PeIndex) -> usize {
        self.zones.partition_point(|zone| zone.end <= pe)
    }

    pub(crate) fn zone_of(&mut self, pe: PeIndex) -> &mut Zone {
        let number = self.zone_number(pe);
        &mut self.zones[number]
    }

    /// The zones, each with what its thread may change in the first half of cycle `now`.
    pub fn looking(&mut self, now: u64) -> impl Iterator<Item = Looking<'_>> {
        let view = View {
            grid: self.grid,
            wires: &self.wires,
            channels: &self.channels,
        };
        let mut routers = self.routers.as_mut_slice();
        self.zones.iter_mut().map(move |zone| {
            let count = zone.end.index() - zone.first.index();
            let own = split_front(&mut routers, count);
            Looking {
                view,
                now,
                routers: own,
                zone,
            }
        })
    }

    /// The zones, each with what its thread may change in the second half; what lands is in its
    /// queue from cycle `next` on.
    pub fn moving(&mut self, next: u64) -> impl Iterator<Item = Moving<'_>> {
        let trace = self.trace.is_some();
        let wires = &self.wires;
        let mut routers = self.routers.as_mut_slice();
        let mut channels = self.channels.as_mut_slice();
        let mut first_channel = 0;
        self.zones.iter_mut().map(move |zone| {
            if trace && zone.landings.is_none() {
                zone.landings = Some(Vec::new());
            }
            let count = zone.end.index() - zone.first.index();
            let behind = wires.places.get(zone.end.index());
            let end_channel = behind.map_or(first_channel + channels.len(), |place| {
                place.first_channel as usize
            });
            let own = split_front(&mut channels, end_channel - first_channel);
            let moving = Moving {
                wires,
                routers: split_front(&mut routers, count),
                first_channel,
                channels: own,
                zone,
                next,
            };
            first_channel = end_channel;
            moving
        })
    }

    /// After the second half of all zones: what goes from one to another arrives, and what they
    /// noted comes together.
    pub fn exchange<P: Observer>(&mut self, next: u64, probe: &mut P) {
        if self.hand_over() > 0 {
            self.moving(next).for_each(|mut zone| zone.receive(probe));
        }
        self.settle();
    }

    /// Hands over what goes from one zone to another, for `Moving::receive`; how much that is.
    pub fn hand_over(&mut self) -> usize {
        let mut all = 0;
        for n in 0..self.zones.len() {
            let mut crossings = std::mem::take(&mut self.zones[n].crossings);
            all += crossings.len();
            for crossing in crossings.drain(..) {
                let (Crossing::Wake(pe) | Crossing::Landing { pe, .. }) = crossing;
                self.zone_of(pe).arrivals.push(crossing);
            }
            self.zones[n].crossings = crossings;
        }
        all
    }

    /// What zones have noted comes together, once all have received what was handed over.
    pub fn settle(&mut self) {
        for n in 0..self.zones.len() {
            self.count(n);
        }
        if let Some(trace) = &mut self.trace {
            let before = trace.len();
            let landings = self.zones.iter_mut().flat_map(|zone| &mut zone.landings);
            landings.for_each(|landings| trace.append(landings));
            trace[before..].sort_unstable();
        }
    }

    /// Filters count what has left.
    fn count(&mut self, zone: usize) {
        let mut counted = std::mem::take(&mut self.zones[zone].counted);
        for (pe, index, wavelet) in counted.drain(..) {
            let filter = self.wires.settings_of(pe, index).filter.clone();
            if let Some((filter, state)) = filter.zip(self.wires.filters.get_mut(&index)) {
                state.count(&filter, wavelet);
            }
        }
        self.zones[zone].counted = counted;
    }

    /// Colors torn down since the last call.
    pub fn take_torn_down(&mut self) -> Vec<(PeIndex, u8)> {
        let all = self.zones.iter_mut().map(|zone| &mut zone.torn_down);
        all.flat_map(std::mem::take).collect()
    }

    /// The first color, by PE, whose `advance_switch` led to a position with other outputs.
    pub fn first_retargeted(&self) -> Option<(PeIndex, u8)> {
        let all = self.zones.iter().flat_map(|zone| &zone.retargeted);
        all.min().copied()
    }

    /// Where a wavelet left the rectangle, and its color; by PE, and meant for the first cycle of all
    /// in which one did.
    pub fn first_lost(&self) -> Option<(PeIndex, u8)> {
        self.zones.iter().filter_map(|zone| zone.lost).min()
    }

    /// Collisions since the last call.
    pub fn take_collisions(&mut self) -> Vec<Collision> {
        let all = self.zones.iter_mut().map(|zone| &mut zone.collisions);
        all.flat_map(std::mem::take).collect()
    }
}

/// Takes the first `count` elements off a slice.
pub fn split_front<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let all = std::mem::take(rest);
    let (front, back) = all.split_at_mut(count.min(all.len()));
    *rest = back;
    front
}
