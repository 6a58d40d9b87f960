//! Circles of waits: everybody waits for the next, and the last for the first.
//!
//! Nodes are compute elements and colors in routers. An operation without a wavelet waits for the compute
//! elements that can send on that color as the routes are; one without room waits for its router, a
//! router for the next one, for the compute element that reads its queue, or for those whose wavelets
//! have to pass before its switch moves.

use fabsim_engine::fabric::grid::{PeIndex, LINKS};
use fabsim_engine::machine::Machine;
use fabsim_engine::report::WaitsFor;
use fabsim_engine::trace::waits::{located, Wait};
use fabsim_program::program::{Direction, Span};
use std::collections::{HashMap, HashSet};

/// Steps of searching at most; a report must not take longer than the run.
const STEPS: usize = 2_000_000;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Node {
    Element(PeIndex),
    Router(PeIndex, u8),
}

/// Why one node waits for another.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// The operation at this place has no wavelet of a color.
    Wavelet(Span, u8),
    /// The operation at this place has no room for a color.
    Room(Span, u8),
    /// The next router has no room.
    NextRouter,
    /// Nobody reads the input queue.
    Reader,
    /// A switch moves only when these wavelets have passed.
    Switch,
}

/// One step of a depth-first search: a node, and whom it waits for.
struct Visit {
    node: Node,
    next: std::vec::IntoIter<(Node, Why)>,
    why: Why,
}

/// A circle link by link, if there is one.
pub fn links(machine: &Machine) -> Vec<WaitsFor> {
    let Some(circle) = Search::new(machine).run() else {
        return Vec::new();
    };
    let first = circle.iter().enumerate().min_by_key(|(_, (node, _))| *node);
    let first = first.map_or(0, |(n, _)| n);
    let count = circle.len();
    let link = |n: usize| {
        let ((node, why), (next, _)) = (circle[n % count], circle[(n + 1) % count]);
        WaitsFor {
            pe: place(machine, node),
            on: place(machine, next),
            color: color(node, why),
            text: describe(machine, node, why, next),
        }
    };
    (first..first + count).map(link).collect()
}

fn place(machine: &Machine, node: Node) -> (u32, u32) {
    let (Node::Element(pe) | Node::Router(pe, _)) = node;
    machine.fabric.grid.place(pe)
}

/// The color that is waited for, or that waits.
fn color(node: Node, why: Why) -> u8 {
    match (node, why) {
        (_, Why::Wavelet(_, color) | Why::Room(_, color)) | (Node::Router(_, color), _) => color,
        (Node::Element(_), _) => 0,
    }
}

fn describe(machine: &Machine, node: Node, why: Why, next: Node) -> String {
    let name = |node: Node| {
        let (x, y) = place(machine, node);
        format!("PE ({x}, {y})")
    };
    let (here, there) = (name(node), name(next));
    let color = color(node, why);
    match why {
        Why::Wavelet(span, color) => {
            let at = machine.location(span);
            format!("{here} waits at {at} for color {color}, which {there} has to send")
        }
        Why::Room(span, color) => {
            let at = machine.location(span);
            format!("{here} waits at {at} for room to send color {color}")
        }
        Why::NextRouter => {
            format!("color {color} in the router of {here} waits for room in that of {there}")
        }
        Why::Reader => format!("color {color} in the router of {here} waits to be read there"),
        Why::Switch => format!(
            "color {color} in the router of {here} waits for what {there} has to send before it"
        ),
    }
}

struct Search<'a> {
    machine: &'a Machine,
    senders: HashMap<(PeIndex, u8), Vec<PeIndex>>,
    done: HashSet<Node>,
    steps: usize,
}

impl<'a> Search<'a> {
    fn new(machine: &'a Machine) -> Search<'a> {
        Search {
            machine,
            senders: HashMap::new(),
            done: HashSet::new(),
            steps: 0,
        }
    }

    fn run(&mut self) -> Option<Vec<(Node, Why)>> {
        for n in 0..self.machine.pes.len() {
            let found = self.from(Node::Element(PeIndex(n as u32)));
            if found.is_some() || self.steps > STEPS {
                return found;
            }
        }
        None
    }

    /// The first circle met on the way from a node.
    fn from(&mut self, start: Node) -> Option<Vec<(Node, Why)>> {
        let mut path = vec![self.visit(start)?];
        while let Some(last) = path.last_mut() {
            let Some((node, why)) = last.next.next() else {
                path.pop();
                continue;
            };
            last.why = why;
            if let Some(from) = path.iter().position(|visit| visit.node == node) {
                return Some(path[from..].iter().map(|v| (v.node, v.why)).collect());
            }
            path.extend(self.visit(node));
        }
        None
    }

    /// Begins with a node that was not seen before.
    fn visit(&mut self, node: Node) -> Option<Visit> {
        self.steps += 1;
        if self.steps > STEPS || !self.done.insert(node) {
            return None;
        }
        let next = match node {
            Node::Element(pe) => self.after_element(pe),
            Node::Router(pe, color) => self.after_router(pe, color),
        };
        Some(Visit {
            node,
            next: next.into_iter(),
            why: Why::Reader,
        })
    }

    fn after_element(&mut self, pe: PeIndex) -> Vec<(Node, Why)> {
        let state = &self.machine.pes[pe.index()];
        let plan = &self.machine.plans[state.plan as usize];
        let mut next = Vec::new();
        for (wait, span) in located(state, plan, self.machine.cycle) {
            match wait {
                Wait::Input { color, .. } => {
                    let senders = self.senders(pe, color).into_iter();
                    let why = Why::Wavelet(span, color);
                    next.extend(senders.map(|sender| (Node::Element(sender), why)));
                }
                Wait::Output { queue } => {
                    let queue = state.core.outputs.iter().find(|q| q.id == queue);
                    let head = queue.and_then(|queue| queue.ring.first());
                    let color = head.map(|head| head.color());
                    next.extend(color.map(|c| (Node::Router(pe, c), Why::Room(span, c))));
                }
                Wait::Fifo | Wait::Blocked { .. } => {}
            }
        }
        next
    }

    fn after_router(&mut self, pe: PeIndex, color: u8) -> Vec<(Node, Why)> {
        let fabric = &self.machine.fabric;
        let Some(channel) = fabric.channel(pe, color) else {
            return Vec::new();
        };
        if channel.is_empty() {
            return self.before_switch(pe, color);
        }
        let mut next = Vec::new();
        if channel.tx.has(Direction::Ramp) {
            next.push((Node::Element(pe), Why::Reader));
        }
        for side in LINKS.into_iter().filter(|&side| channel.tx.has(side)) {
            let Some(there) = fabric.grid.neighbour(pe, side) else {
                continue;
            };
            let Some(beyond) = fabric.channel(there, color) else {
                continue;
            };
            if !beyond.rx.has(side.facing()) {
                next.extend(self.before_switch(there, color));
            } else if !beyond.is_empty() {
                next.push((Node::Router(there, color), Why::NextRouter));
            }
        }
        next
    }

    /// Who has to send before the switch of a router moves.
    fn before_switch(&mut self, pe: PeIndex, color: u8) -> Vec<(Node, Why)> {
        let senders = self.senders(pe, color).into_iter();
        let nodes = senders.map(|sender| (Node::Element(sender), Why::Switch));
        nodes.collect()
    }

    /// The compute elements whose wavelets get to a router as the routes are now.
    fn senders(&mut self, pe: PeIndex, color: u8) -> Vec<PeIndex> {
        if let Some(known) = self.senders.get(&(pe, color)) {
            return known.clone();
        }
        let fabric = &self.machine.fabric;
        let (mut found, mut seen, mut open) = (Vec::new(), HashSet::new(), vec![pe]);
        while let Some(at) = open.pop() {
            let Some(channel) = fabric.channel(at, color).filter(|_| seen.insert(at)) else {
                continue;
            };
            self.steps += 1;
            if channel.rx.has(Direction::Ramp) {
                found.push(at);
            }
            for side in LINKS.into_iter().filter(|&side| channel.rx.has(side)) {
                let there = fabric.grid.neighbour(at, side);
                let leads_here = there.is_some_and(|there| {
                    let channel = fabric.channel(there, color);
                    channel.is_some_and(|c| c.tx.has(side.facing()))
                });
                open.extend(there.filter(|_| leads_here && self.steps <= STEPS));
            }
        }
        found.sort_unstable();
        self.senders.insert((pe, color), found.clone());
        found
    }
}
