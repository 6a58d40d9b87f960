//! Streams between the host and the fabric, one wavelet a PE and cycle.
//!
//! Commands run one after the other: a stream to the PEs ends when its last wavelet is on the fabric,
//! and only then does the next command begin. So a program must be able to hold what it has been
//! sent before anybody reads its results.

use super::{Area, Progress, Simulator};
use fabsim_engine::fabric::grid::PeIndex;
use fabsim_engine::report::{During, HostFault, SimError};
use fabsim_program::limits::COLORS;

/// What one PE of a stream has sent or received.
struct Lane {
    pe: PeIndex,
    place: (usize, usize),
    done: usize,
}

impl Simulator {
    /// Sends `per_pe` wavelets to every PE of the area on a color that the host feeds.
    pub fn stream_in(
        &mut self,
        color: u8,
        area: Area,
        data: &[u32],
        col_major: bool,
        progress: Progress,
    ) -> Result<(), SimError> {
        if data.len() != area.len() {
            let fault = HostFault::StreamElements {
                elements: data.len(),
                size: (area.width, area.height),
                per_pe: area.per_pe,
            };
            return Err(SimError::from(fault).of_color(Some(color)));
        }
        self.wait_for_host()?;
        let lanes = self.lanes("h2d", color, area)?;
        self.stream("h2d", color, area, lanes, progress, |simulator, lane| {
            let (x, y) = lane.place;
            let word = data[area.index(x, y, lane.done, col_major)];
            let fabric = &mut simulator.machine.fabric;
            fabric.put_from_host(lane.pe, color, word)
        })
    }

    /// Receives `per_pe` wavelets from every PE of the area on a color that ends at the host.
    pub fn stream_out(
        &mut self,
        color: u8,
        area: Area,
        col_major: bool,
        progress: Progress,
    ) -> Result<Vec<u32>, SimError> {
        let lanes = self.lanes("d2h", color, area)?;
        let mut data = vec![0; area.len()];
        self.stream("d2h", color, area, lanes, progress, |simulator, lane| {
            let fabric = &mut simulator.machine.fabric;
            let Some(word) = fabric.take_for_host(lane.pe, color) else {
                return false;
            };
            let (x, y) = lane.place;
            data[area.index(x, y, lane.done, col_major)] = word;
            true
        })?;
        Ok(data)
    }

    /// One lane a PE, if the color is such a stream on each of them.
    fn lanes(&self, direction: &'static str, color: u8, area: Area) -> Result<Vec<Lane>, SimError> {
        let grid = self.machine.fabric.grid;
        area.check(direction, &format!("color {color}"), grid)?;
        let mut lanes = Vec::new();
        for y in 0..area.height {
            for x in 0..area.width {
                let pe = grid.at(u32::from(area.x + x), u32::from(area.y + y));
                let fabric = &self.machine.fabric;
                let streams = usize::from(color) < COLORS
                    && match direction {
                        "h2d" => fabric.is_from_host(pe, color),
                        _ => fabric.is_to_host(pe, color),
                    };
                if !streams {
                    let fault = HostFault::NoStream(direction);
                    return Err(SimError::from(fault)
                        .on(grid.place(pe))
                        .of_color(Some(color)));
                }
                let place = (usize::from(x), usize::from(y));
                lanes.push(Lane { pe, place, done: 0 });
            }
        }
        Ok(lanes)
    }

    /// Moves one wavelet a lane and cycle until every lane is done.
    fn stream(
        &mut self,
        direction: &'static str,
        color: u8,
        area: Area,
        mut lanes: Vec<Lane>,
        progress: Progress,
        mut one: impl FnMut(&mut Simulator, &Lane) -> bool,
    ) -> Result<(), SimError> {
        self.settle(progress)?;
        let last = self.machine.cycle.saturating_add(self.options.max_cycles);
        loop {
            for lane in &mut lanes {
                if lane.done < area.per_pe && one(self, lane) {
                    lane.done += 1;
                }
            }
            lanes.retain(|lane| lane.done < area.per_pe);
            let Some(lane) = lanes.first() else {
                return Ok(());
            };
            if self.machine.is_quiet() {
                let during = During::Stream {
                    direction,
                    color,
                    pe: self.machine.fabric.grid.place(lane.pe),
                    done: lane.done,
                    all: area.per_pe,
                };
                self.failed = true;
                return Err(self.stuck(during));
            }
            if !progress(self.machine.cycle) {
                self.failed = true;
                return Err(SimError::interrupted(self.machine.cycle));
            }
            let next = self.machine.cycle + 1;
            self.run(progress, |machine| machine.cycle >= next)?;
            if self.machine.cycle >= last {
                self.failed = true;
                return Err(self.cycle_limit(None));
            }
        }
    }
}
