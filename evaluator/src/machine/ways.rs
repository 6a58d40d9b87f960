//! The routers that words come to, and what moves these on behind them.
//!
//! A router lets a color in from one side, so what is on one way is on no other, and no way comes to a
//! router twice. Routers that are open for good (in their last position, straight on, with nothing that
//! counts) are joined to the next one, and pointers are halved where they are followed.

use super::faults::{Checked, Kind};
use super::plan::{opposite, Advance, RAMP};
use super::state::{Due, Machine, Running, Waits, NONE};

/// The routers that the words of a PE come to, from its own on, but for those that are open, and the
/// slots of the PEs at which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub routers: Vec<u32>,
    pub ends: Vec<u32>,
    arrivals: Vec<(u32, u8)>,
}

impl Machine<'_> {
    /// Follow the words of a PE on a color; the router that does not let them in, if there is one. With
    /// `all` open routers are followed one by one, and open no longer.
    pub(super) fn follow(&mut self, op: &Running, all: bool) -> Checked<Option<u32>> {
        let color = op.op.sends_on().unwrap_or(0);
        let first = self.slot(op.pe as usize, color) as u32;
        let mut way = std::mem::take(&mut self.way);
        way.routers.clear();
        way.ends.clear();
        way.arrivals.clear();
        way.arrivals.push((first, RAMP));
        let mut closed = None;
        let mut next = 0;
        while let Some((slot, side)) = way.arrivals.get(next).copied() {
            next += 1;
            self.events += 1;
            let (slot, side) = if all {
                self.skips[slot as usize].to = NONE;
                (slot, side)
            } else {
                self.behind_open(slot, side)
            };
            let router = self.routers[slot as usize];
            let Some(route) = self.route(slot as usize) else {
                if self.given.torn_down[color as usize] {
                    closed = Some(slot);
                    break;
                }
                self.way = way;
                return Err(self.no_route(op, slot as usize));
            };
            if route.receive != side || op.stage < router.closed_to {
                closed = Some(slot);
                break;
            }
            let straight = route.passes().filter(|_| self.is_open(slot as usize));
            if straight.is_none() || all {
                way.routers.push(slot);
            }
            for to in 0..RAMP {
                if !route.sends_to(to) {
                    continue;
                }
                let pe = self.pe_of(slot as usize);
                let Some(neighbour) = self.given.neighbour(pe, to) else {
                    self.way = way;
                    let (name, color) = (self.name(pe), self.color(color));
                    let from = self.name(op.pe as usize);
                    let text = format!("words of {from} on {color} leave the grid at {name}");
                    return Err(self.fault_on_way(Kind::LeavesGrid, op, slot as usize, text));
                };
                let onward = self.slot(neighbour, color) as u32;
                if straight.is_some() && !all {
                    let skip = &mut self.skips[slot as usize];
                    (skip.to, skip.from_side, skip.to_side) = (onward, side, opposite(to));
                }
                way.arrivals.push((onward, opposite(to)));
            }
            if route.sends_to(RAMP) {
                way.ends.push(slot);
            }
        }
        self.way = way;
        Ok(closed)
    }

    fn no_route(&self, op: &Running, slot: usize) -> Box<super::faults::Fault> {
        let (pe, color) = (self.pe_of(slot), self.color_of(slot));
        let text = format!(
            "words of {} on {} come to {}, whose router has no route for them",
            self.name(op.pe as usize),
            self.color(color),
            self.name(pe)
        );
        self.fault_on_way(Kind::Lost, op, slot, text)
    }

    /// Whether nothing moves or sets a router any more before it is reset or torn down, nor counts
    /// what passes it.
    fn is_open(&self, slot: usize) -> bool {
        let router = self.routers[slot];
        let setting = &self.given.settings[router.setting as usize];
        router.filter == NONE
            && !setting.ring
            && router.position as usize + 1 == setting.positions.len()
    }

    /// The first router that is not known to be open, and the side from which words come to it.
    fn behind_open(&mut self, mut slot: u32, mut side: u8) -> (u32, u8) {
        loop {
            let skip = self.skips[slot as usize];
            if skip.to == NONE || skip.from_side != side {
                return (slot, side);
            }
            let next = self.skips[skip.to as usize];
            if next.to != NONE && next.from_side == skip.to_side {
                let own = &mut self.skips[slot as usize];
                (own.to, own.to_side) = (next.to, next.to_side);
                (slot, side) = (next.to, next.to_side);
            } else {
                (slot, side) = (skip.to, skip.to_side);
            }
            self.events += 1;
        }
    }

    /// What follows the last word of an operation moves routers on.
    pub(super) fn advance(&mut self, op: &Running) -> Checked<()> {
        let Some(color) = op.op.sends_on() else {
            return Ok(());
        };
        match op.op.advance {
            Advance::Nothing => Ok(()),
            Advance::OwnRouter => {
                let slot = self.slot(op.pe as usize, color);
                self.step(slot);
                Ok(())
            }
            // without a word a command does it, which those behind the PE have no position left for
            Advance::Turn if op.total > 0 => {
                let slot = self.slot(op.pe as usize, color);
                self.step(slot);
                Ok(())
            }
            Advance::Turn | Advance::Control => self.for_all(op, false, Machine::control),
            Advance::HandOver => self.hand_over(op),
            Advance::Reset => self.for_all(op, true, Machine::reset),
            Advance::Teardown => self.for_all(op, true, Machine::tear_down),
        }
    }

    /// Something happens to all routers on the way of an operation.
    fn for_all(
        &mut self,
        op: &Running,
        all: bool,
        each: fn(&mut Self, &Running, usize) -> Checked<()>,
    ) -> Checked<()> {
        if let Some(slot) = self.follow(op, all)? {
            return Err(self.stuck_command(op, slot as usize));
        }
        let routers = std::mem::take(&mut self.way.routers);
        for slot in &routers {
            each(self, op, *slot as usize)?;
        }
        self.way.routers = routers;
        Ok(())
    }

    fn stuck_command(&self, op: &Running, slot: usize) -> Box<super::faults::Fault> {
        let pe = self.pe_of(slot);
        let text = format!(
            "the command behind the words of {} does not come past the router of {}",
            self.name(op.pe as usize),
            self.name(pe)
        );
        self.fault_on_way(Kind::CommandRefused, op, slot, text)
    }

    /// A router takes its next position; in the last one it stays, unless that is a ring's.
    fn step(&mut self, slot: usize) {
        let router = &mut self.routers[slot];
        let setting = &self.given.settings[router.setting as usize];
        let count = setting.positions.len() as u32;
        if router.position + 1 < count {
            router.position += 1;
        } else if setting.ring {
            router.position = 0;
        }
        self.wake_at_router(slot);
    }

    fn control(&mut self, _: &Running, slot: usize) -> Checked<()> {
        self.step(slot);
        Ok(())
    }

    fn reset(&mut self, op: &Running, slot: usize) -> Checked<()> {
        if self.given.settings[self.routers[slot].setting as usize].ring {
            let pe = self.pe_of(slot);
            let text = format!(
                "the router of {} takes off the command that {} sends to all",
                self.name(pe),
                self.name(op.pe as usize)
            );
            return Err(self.fault_on_way(Kind::CommandRefused, op, slot, text));
        }
        let router = &mut self.routers[slot];
        (router.position, router.closed_to) = (0, op.stage + 1);
        self.wake_at_router(slot);
        Ok(())
    }

    fn tear_down(&mut self, op: &Running, slot: usize) -> Checked<()> {
        let (pe, color) = (self.pe_of(slot), self.color_of(slot));
        if !self.given.torn_down[color as usize] {
            let text = format!(
                "{} tears down {} at {}, which is never set again",
                self.name(op.pe as usize),
                self.color(color),
                self.name(pe)
            );
            return Err(self.fault_on_way(Kind::NotTornDown, op, slot, text));
        }
        self.routers[slot].setting = NONE;
        self.wake_at_router(slot);
        if self.pes[pe].down_first == slot as u32 {
            self.due.push(Due::Begin(pe as u32));
        }
        Ok(())
    }

    /// A control wavelet with a command for the own router, if that is a ring, and one for the next
    /// ring on its way. A ring takes off the command that moves it, other routers have to be static.
    fn hand_over(&mut self, op: &Running) -> Checked<()> {
        if let Some(slot) = self.follow(op, true)? {
            return Err(self.stuck_command(op, slot as usize));
        }
        let ring = |of: &Self, slot: usize| {
            let setting = &of.given.settings[of.routers[slot].setting as usize];
            (setting.ring, setting.positions.len())
        };
        let own = self.slot(op.pe as usize, op.op.sends_on().unwrap_or(0));
        let mut commands = 1 + i32::from(ring(self, own).0);
        let routers = std::mem::take(&mut self.way.routers);
        for slot in routers.iter().map(|slot| *slot as usize) {
            match ring(self, slot) {
                (true, _) if commands > 0 => {
                    commands -= 1;
                    self.step(slot);
                }
                (false, 2..) if commands > 0 => {
                    let pe = self.pe_of(slot);
                    let text = format!(
                        "the router of {} does not take off the command of {}",
                        self.name(pe),
                        self.name(op.pe as usize)
                    );
                    return Err(self.fault_on_way(Kind::CommandRefused, op, slot, text));
                }
                _ => {}
            }
        }
        self.way.routers = routers;
        Ok(())
    }

    /// An operation waits at a router, or at a PE that does not receive yet.
    pub(super) fn park(&mut self, index: u32, waits: Waits) {
        let head = match waits {
            Waits::Router(slot) => &mut self.at_router[slot as usize],
            Waits::Receiver(slot) => &mut self.at_receiver[slot as usize],
            Waits::No | Waits::Lane => return,
        };
        let op = &mut self.ops[index as usize];
        op.waits = waits;
        op.next = std::mem::replace(head, index);
    }
}
