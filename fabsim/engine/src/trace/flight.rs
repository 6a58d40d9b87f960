//! Which wavelet is which: routers and queues only know payloads, a trace follows each wavelet from its
//! source. The books kept here mirror the queues of routers.

use super::event::Visit;
use crate::fabric::grid::{Grid, PeIndex};
use crate::fabric::observer::Passage;
use crate::fabric::wavelet::Wavelet;
use fabsim_program::program::{Direction, Directions};
use std::collections::{HashMap, VecDeque};

/// A wavelet in a router's queue.
#[derive(Clone, Copy, Debug)]
struct Flying {
    ident: u64,
    wavelet: Wavelet,
    side: Direction,
    landed: u64,
}

/// All wavelets in routers.
#[derive(Debug)]
pub struct Flights {
    grid: Grid,
    queues: HashMap<(PeIndex, u8), VecDeque<Flying>>,
    /// Wavelets sent so far, by source.
    sent: Vec<u32>,
    /// What has left a router or an output queue in this cycle, by the router and the side it lands on. A
    /// link carries one wavelet a cycle, and may change its color.
    under_way: HashMap<(PeIndex, Direction), u64>,
    /// Where wavelets landed, and in which cycle; until that cycle has been told of.
    landed: Vec<(u64, PeIndex, u8)>,
}

impl Flights {
    pub fn new(grid: Grid) -> Flights {
        Flights {
            grid,
            queues: HashMap::new(),
            sent: vec![0; grid.len()],
            under_way: HashMap::new(),
            landed: Vec::new(),
        }
    }

    /// The identity of the next wavelet from `pe`: source, color, number.
    fn next_ident(&mut self, pe: PeIndex, color: u8) -> u64 {
        let number = &mut self.sent[pe.index()];
        let ident = u64::from(pe.0) << 40 | u64::from(color) << 32 | u64::from(*number);
        *number = number.wrapping_add(1);
        ident
    }

    /// A wavelet goes up the ramp; its identity.
    pub fn went_up(&mut self, pe: PeIndex, color: u8) -> u64 {
        let ident = self.next_ident(pe, color);
        self.under_way.insert((pe, Direction::Ramp), ident);
        ident
    }

    /// A wavelet leaves a router. The host puts wavelets into routers unseen: what the books lack, it
    /// has put.
    pub fn left(&mut self, passage: Passage, over: Directions) -> Visit {
        let (pe, color) = (passage.pe, passage.color);
        let known = self.queues.get_mut(&(pe, color));
        let known = known.and_then(VecDeque::pop_front);
        let flying = known.unwrap_or_else(|| Flying {
            ident: self.next_ident(pe, color),
            wavelet: passage.wavelet,
            side: Direction::Ramp,
            landed: passage.cycle,
        });
        for side in crate::fabric::grid::LINKS {
            if let (true, Some(there)) = (over.has(side), self.grid.neighbour(pe, side)) {
                self.under_way.insert((there, side.facing()), flying.ident);
            }
        }
        Visit {
            color,
            wavelet: passage.wavelet,
            ident: flying.ident,
            landing: (flying.landed == passage.cycle).then_some(flying.side),
            departing: over,
        }
    }

    /// A wavelet lands in a router.
    pub fn landed(&mut self, passage: Passage, side: Direction) {
        let (pe, color) = (passage.pe, passage.color);
        let known = self.under_way.remove(&(pe, side));
        let ident = known.unwrap_or_else(|| self.next_ident(pe, color));
        let queue = self.queues.entry((pe, color)).or_default();
        // Two that land at once queue by side, as in the router.
        let together = queue.iter().rev().take_while(|f| f.landed == passage.cycle);
        let behind = together.filter(|f| f.side > side).count();
        let flying = Flying {
            ident,
            wavelet: passage.wavelet,
            side,
            landed: passage.cycle,
        };
        queue.insert(queue.len() - behind, flying);
        // The host takes wavelets out of routers unseen, too.
        while queue.len() > usize::from(passage.level) {
            queue.pop_front();
        }
        self.landed.push((passage.cycle, pe, color));
    }

    /// Tells of the wavelets that landed up to `cycle` and have not left since.
    pub fn waiting(&mut self, cycle: u64, mut see: impl FnMut(u64, PeIndex, Visit)) {
        let mut places = std::mem::take(&mut self.landed);
        let later = places.split_off(places.partition_point(|(at, _, _)| *at <= cycle));
        places.sort_unstable();
        places.dedup();
        for (at, pe, color) in places {
            let queue = self.queues.get(&(pe, color));
            for flying in queue.into_iter().flatten().filter(|f| f.landed == at) {
                let visit = Visit {
                    color,
                    wavelet: flying.wavelet,
                    ident: flying.ident,
                    landing: Some(flying.side),
                    departing: Directions(0),
                };
                see(at, pe, visit);
            }
        }
        self.landed = later;
    }

    /// The identity of the wavelet of a color that landed in a router last from a side.
    pub fn last_from(&self, pe: PeIndex, color: u8, side: Direction) -> Option<u64> {
        let queue = self.queues.get(&(pe, color))?;
        let flying = queue.iter().rev().find(|flying| flying.side == side)?;
        Some(flying.ident)
    }
}
