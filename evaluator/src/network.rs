//! The routers of a line in which several routes share a link: a link carries one wavelet a cycle, and
//! the colors that want it are served round-robin (docs/machine.md, M2-7).
//!
//! A cycle has two halves: what moves is decided by what was there when it began, then it moves.

use std::collections::VecDeque;

use crate::line::{Line, Machine};
use crate::wakes::NEVER;

/// The queue of a lane in one router of its way. The one of the next router is behind it in the
/// list; the last one's wavelets go down a ramp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Channel {
    lane: usize,
    link: Option<usize>,
    /// The cycles from which on its wavelets may leave.
    ready: VecDeque<i64>,
}

/// The channels whose wavelets a link carries, and the one that goes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Link {
    channels: Vec<usize>,
    turn: usize,
    waiting: usize,
}

/// What a move does to a lane at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// There is room again in the router of its sender.
    Left(usize),
    /// A wavelet is in the router of its receiver.
    Landed(usize),
}

#[derive(Clone, Debug, Default)]
pub struct Network {
    hop: i64,
    depth: usize,
    /// By lane, its first channel.
    first: Vec<usize>,
    channels: Vec<Channel>,
    links: Vec<Link>,
    moves: Vec<usize>,
    /// Links with wavelets, a bit for each.
    busy: Vec<u64>,
    /// Whether a wavelet came or went at a ramp in this cycle.
    stirred: bool,
}

impl Network {
    /// Without wavelets; where no link has several users, without routers either.
    pub fn new(line: &Line) -> Network {
        let Machine {
            hop, router_queue, ..
        } = line.machine;
        let mut made = Network {
            hop,
            depth: router_queue as usize,
            ..Network::default()
        };
        if line.shares_links {
            for (lane, given) in line.lanes.iter().enumerate() {
                made.first.push(made.channels.len());
                made.add(lane, &given.links);
            }
            made.busy = vec![0; made.links.len().div_ceil(64)];
        }
        made
    }

    fn add(&mut self, lane: usize, links: &[usize]) {
        for (at, &link) in links.iter().enumerate() {
            if link >= self.links.len() {
                self.links.resize_with(link + 1, Link::default);
            }
            self.links[link].channels.push(self.channels.len() + at);
        }
        for link in links.iter().copied().map(Some).chain([None]) {
            self.channels.push(Channel {
                lane,
                link,
                ready: VecDeque::new(),
            });
        }
    }

    /// A wavelet comes up the ramp of a lane's sender.
    pub fn enter(&mut self, lane: usize, now: i64) {
        self.arrive(self.first[lane], now + 1);
        self.stirred = true;
    }

    /// A wavelet goes down the ramp of the receiver of a lane, which is the sender's.
    pub fn leave(&mut self, lane: usize) {
        let beyond = self.first.get(lane + 1).copied();
        let last = beyond.unwrap_or(self.channels.len()) - 1;
        self.channels[last].ready.pop_front();
        self.stirred = true;
    }

    fn arrive(&mut self, channel: usize, ready: i64) {
        self.channels[channel].ready.push_back(ready);
        if let Some(link) = self.channels[channel].link {
            self.links[link].waiting += 1;
            self.busy[link / 64] |= 1 << (link % 64);
        }
    }

    /// What moves in this cycle; links that were looked at.
    pub fn decide(&mut self, now: i64) -> i64 {
        self.moves.clear();
        self.stirred = false;
        let links: Vec<usize> = self.busy_links().collect();
        for &link in &links {
            self.decide_for(link, now);
        }
        links.len() as i64
    }

    fn busy_links(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.busy.iter().enumerate();
        words.flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left > 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }

    /// The first color whose next router has room has the link; the first one that finds it taken
    /// goes first next time.
    fn decide_for(&mut self, link: usize, now: i64) {
        let Link { channels, turn, .. } = &self.links[link];
        let count = channels.len();
        let (mut taken, mut refused) = (None, None);
        for ahead in 0..count {
            let at = (turn + ahead) % count;
            let channel = channels[at];
            let first = self.channels[channel].ready.front();
            if first.is_none_or(|&ready| ready > now) {
                continue;
            }
            if taken.is_some() {
                refused = Some(at);
                break;
            }
            if self.channels[channel + 1].ready.len() < self.depth {
                taken = Some(channel);
            }
        }
        self.moves.extend(taken);
        self.links[link].turn = refused.unwrap_or(*turn);
    }

    /// What was decided moves; what that does at the ends of lanes.
    pub fn commit(&mut self, now: i64, mut tell: impl FnMut(Moved)) {
        for index in 0..self.moves.len() {
            let channel = self.moves[index];
            self.channels[channel].ready.pop_front();
            let Channel { lane, link, .. } = self.channels[channel];
            if let Some(link) = link {
                self.links[link].waiting -= 1;
                if self.links[link].waiting == 0 {
                    self.busy[link / 64] &= !(1 << (link % 64));
                }
            }
            self.arrive(channel + 1, now + self.hop);
            if channel == self.first[lane] {
                tell(Moved::Left(lane));
            }
            if self.channels[channel + 1].link.is_none() {
                tell(Moved::Landed(lane));
            }
        }
    }

    /// The next cycle in which something may move, unless something else changes before.
    pub fn next(&self, now: i64) -> i64 {
        if self.stirred || !self.moves.is_empty() {
            return now + 1;
        }
        let channels = self
            .busy_links()
            .flat_map(|link| &self.links[link].channels);
        let ready = channels.filter_map(|&one| self.channels[one].ready.front().copied());
        ready.filter(|&ready| ready > now).min().unwrap_or(NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::{Moved, Network};
    use crate::line::{Lane, Line, Machine};

    /// Each lane's links; links are as far as a wavelet goes in a cycle.
    fn network(lanes: &[&[usize]]) -> Network {
        let machine = Machine {
            hop: 1,
            router_queue: 4,
            ..Machine::default()
        };
        let lane = |links: &&[usize]| Lane {
            links: links.to_vec(),
            ..Lane::default()
        };
        let kind = crate::line::Kind {
            prepared: Vec::new(),
            actions: Vec::new(),
            ends: true,
        };
        let lanes = lanes.iter().map(lane).collect();
        let line = Line::new(machine, 1, 0, vec![kind], Vec::new(), lanes);
        Network::new(&line.expect("the line is whole"))
    }

    /// Lanes whose wavelets arrive at their receivers, cycle by cycle.
    fn landed(network: &mut Network, cycles: i64) -> Vec<usize> {
        let mut found = Vec::new();
        for now in 1..=cycles {
            network.decide(now);
            network.commit(now, |moved| {
                if let Moved::Landed(lane) = moved {
                    found.push(lane);
                }
            });
        }
        found
    }

    #[test]
    fn lanes_that_share_a_link_take_turns() {
        let mut network = network(&[&[0], &[0]]);
        for lane in [0, 0, 0, 1, 1, 1] {
            network.enter(lane, 0);
        }
        assert_eq!(landed(&mut network, 6), [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_lane_that_is_alone_on_a_link_does_not_wait() {
        let mut network = network(&[&[0, 1], &[0, 2]]);
        network.enter(0, 0);
        network.enter(0, 0);
        assert_eq!(landed(&mut network, 3), [0, 0]);
    }

    #[test]
    fn what_the_receiver_does_not_take_stays_in_the_routers() {
        let mut network = network(&[&[0], &[0]]);
        for _ in 0..6 {
            network.enter(0, 0);
        }
        assert_eq!(landed(&mut network, 8), [0, 0, 0, 0]);
        network.leave(0);
        assert_eq!(landed(&mut network, 8), [0]);
    }
}
