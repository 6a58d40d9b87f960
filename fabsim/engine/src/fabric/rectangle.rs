//! All routers of the rectangle.

use super::channel::Channel;
use super::filter::FilterState;
use super::grid::{Grid, PeIndex, LINKS};
use super::router::{ChannelIndex, Landing, Router, NO_FLOW};
use super::settings::RouterSettings;
use super::view::{Place, View, Wires};
use super::wavelet::Wavelet;
use super::zone::Zone;
use fabsim_program::program::{Design, Direction};
use std::sync::Arc;

/// All routers.
#[derive(Debug)]
pub struct Fabric {
    /// The rectangle.
    pub grid: Grid,
    pub(crate) wires: Wires,
    pub(crate) routers: Vec<Router>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) zones: Vec<Zone>,
    /// Landings since the trace was switched on.
    pub trace: Option<Vec<Landing>>,
}

impl Fabric {
    /// The routers of a design, a hop of one cycle or two apart, divided into zones that end before the
    /// given PEs.
    pub fn new(design: &Design, depth: u8, hop_cycles: u64, ends: &[PeIndex]) -> Fabric {
        let grid = Grid {
            width: u32::from(design.width),
            height: u32::from(design.height),
        };
        let settings = design.routers.iter();
        let settings = settings.map(|setup| Arc::new(RouterSettings::new(setup)));
        let mut fabric = Fabric {
            grid,
            wires: Wires::new(grid, depth, hop_cycles, settings.collect()),
            routers: Vec::with_capacity(design.tiles.len()),
            channels: Vec::new(),
            zones: Vec::new(),
            trace: None,
        };
        let channels = design.tiles.iter().map(|tile| {
            let known = &fabric.wires.settings[tile.router as usize];
            known.colors.len()
        });
        fabric.channels.reserve_exact(channels.sum());
        for tile in &design.tiles {
            fabric.add_router(tile.router);
        }
        fabric.divide(ends);
        fabric.set_ways();
        fabric
    }

    pub(crate) fn set_ways(&mut self) {
        for n in 0..self.routers.len() {
            let end = match self.wires.places.get(n + 1) {
                Some(place) => place.first_channel as usize,
                None => self.channels.len(),
            };
            let first = self.wires.places[n].first_channel as usize;
            for channel in &mut self.channels[first..end] {
                self.wires.set_way(PeIndex(n as u32), channel);
            }
        }
    }

    fn add_router(&mut self, settings: u32) {
        let first_channel = self.channels.len() as u32;
        let sides = self.grid.sides(PeIndex(self.routers.len() as u32));
        let known = Arc::clone(&self.wires.settings[settings as usize]);
        for (local, color) in known.colors.iter().enumerate() {
            if let Some(filter) = &color.filter {
                let channel = ChannelIndex(self.channels.len() as u32);
                let state = FilterState::new(filter);
                self.wires.filters.insert(channel, state);
            }
            self.wires.swaps |= color.swap_x || color.swap_y;
            self.channels.push(Channel::new(local as u8, color));
        }
        self.wires.places.push(Place {
            first_channel,
            settings,
        });
        self.routers.push(Router {
            occupied: 0,
            turn: 0,
            sides,
            fed: false,
            flow: NO_FLOW,
            streak: 0,
            deed: 0,
            drained: 0,
        });
    }

    /// What can be looked at while nothing moves.
    pub fn view(&self) -> View<'_> {
        View {
            grid: self.grid,
            wires: &self.wires,
            channels: &self.channels,
        }
    }

    /// Makes sure the router of `pe` is visited in the next look.
    #[inline]
    pub fn wake(&mut self, pe: PeIndex) {
        self.zone_of(pe).active.insert(pe);
    }

    pub(crate) fn wake_neighbours(&mut self, pe: PeIndex, sides: u8) {
        for side in LINKS {
            if sides & side.bit() != 0 {
                if let Some(neighbour) = self.grid.neighbour(pe, side) {
                    self.wake(neighbour);
                }
            }
        }
    }

    /// Whether a tile is part of a flow.
    pub fn is_in_flow(&self, pe: PeIndex) -> bool {
        self.routers[pe.index()].flow != NO_FLOW
    }

    /// Whether some router swaps colors.
    pub fn swaps(&self) -> bool {
        self.wires.swaps
    }

    /// How many routers have something to do in the coming cycle.
    pub fn active(&self) -> usize {
        self.zones.iter().map(|zone| zone.active.len()).sum()
    }

    /// Whether no router has anything to do.
    pub fn is_idle(&self) -> bool {
        self.zones.iter().all(|zone| zone.active.is_empty())
    }

    /// The current state of a color at a PE, if the color is configured there.
    pub fn channel(&self, pe: PeIndex, color: u8) -> Option<&Channel> {
        let (index, _) = self.view().find(pe, color)?;
        Some(&self.channels[index.index()])
    }

    /// Wavelets that have left a queue of a router, so far.
    pub fn departures(&self) -> u64 {
        self.zones.iter().map(|zone| zone.departures).sum()
    }

    /// The wavelets of a color that landed in a router last, all in one cycle.
    pub fn youngest(&self, pe: PeIndex, color: u8) -> Vec<(Wavelet, Direction)> {
        let Some(channel) = self.channel(pe, color) else {
            return Vec::new();
        };
        let earlier = channel.len().saturating_sub(channel.landed_count);
        channel.entries().skip(usize::from(earlier)).collect()
    }

    /// Every channel that holds wavelets, by PE and color.
    pub fn occupied(&self) -> impl Iterator<Item = (PeIndex, u8, &Channel)> + '_ {
        self.routers.iter().enumerate().flat_map(move |(n, r)| {
            let place = self.wires.places[n];
            let known = &self.wires.settings[place.settings as usize].colors;
            let used = (0..32u8).filter(move |bit| r.occupied >> bit & 1 == 1);
            used.map(move |local| {
                let channel = &self.channels[place.first_channel as usize + usize::from(local)];
                (PeIndex(n as u32), known[usize::from(local)].color, channel)
            })
        })
    }
}
