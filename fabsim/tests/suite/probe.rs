//! What a recorder is told.

use crate::support::*;
use fabsim::fabric::grid::PeIndex;
use fabsim::fabric::observer::{Observer, Passage};
use fabsim::host::SimOptions;
use fabsim::pe::event::Turn;
use fabsim::pe::plan::PePlan;
use fabsim::pe::Pe;
use fabsim::probe::{Probe, RampPassage, Recorder};
use fabsim::program::*;
use std::any::Any;

const BUFFER: u16 = 32;
const COUNT: u16 = 20;

#[derive(Debug, Default)]
struct Everything {
    turns: Vec<(u64, PeIndex, Turn)>,
    landed: Vec<(u64, PeIndex, Direction, u32)>,
    left: Vec<(u64, PeIndex, Directions)>,
    up: Vec<RampPassage>,
    down: Vec<RampPassage>,
}

impl Observer for Everything {
    fn landed(&mut self, passage: Passage, from: Direction) {
        let payload = passage.wavelet.payload;
        self.landed.push((passage.cycle, passage.pe, from, payload));
    }

    fn left(&mut self, passage: Passage, over: Directions) {
        self.left.push((passage.cycle, passage.pe, over));
    }
}

impl Probe for Everything {
    fn turn(&mut self, cycle: u64, pe: PeIndex, _: &Pe, _: &PePlan, turn: Turn) {
        self.turns.push((cycle, pe, turn));
    }

    fn went_up(&mut self, passage: RampPassage) {
        self.up.push(passage);
    }

    fn came_down(&mut self, passage: RampPassage) {
        self.down.push(passage);
    }
}

impl Recorder for Everything {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The first PE sends, the last one receives, the ones between pass on.
fn stream(width: u16) -> std::sync::Arc<Design> {
    let mut sender = Tile1::new(u32::from(BUFFER) + 4 * u32::from(COUNT));
    let mem = sender.mem(BUFFER, COUNT, 4);
    let out = sender.fabout_with(2, 0, COUNT, false, false);
    let mut code = Code::default();
    let (out, mem) = (code.dsd(out), code.dsd(mem));
    code.op(Opcode::Mov32, out, &[mem]);
    code.unblock_host();
    sender.export("run", code);
    let mut receiver = Tile1::new(u32::from(BUFFER) + 4 * u32::from(COUNT));
    receiver.input_queue(2, 0);
    let mem = receiver.mem(BUFFER, COUNT, 4);
    let fabin = receiver.fabin(2, COUNT);
    let mut code = Code::default();
    let (mem, fabin) = (code.dsd(mem), code.dsd(fabin));
    code.op(Opcode::Mov32, mem, &[fabin]);
    code.unblock_host();
    receiver.export("run", code);
    let mut tiles = vec![(sender, vec![(0, route(&[R], &[E]))])];
    tiles.extend((2..width).map(|_| (Tile1::idle(), vec![(0, route(&[W], &[E]))])));
    tiles.push((receiver, vec![(0, route(&[W], &[R]))]));
    design(Arch::Wse2, width, tiles)
}

fn recorded(width: u16) -> (Everything, fabsim::host::Simulator) {
    let mut sim = traced(&stream(width));
    sim.attach(Box::<Everything>::default());
    sim.launch("run", &[]).unwrap();
    let recorder = sim.detach().unwrap().into_any();
    (*recorder.downcast::<Everything>().unwrap(), sim)
}

#[test]
fn a_recorder_sees_every_landing_the_trace_keeps() {
    let (seen, sim) = recorded(5);
    let trace = sim.machine().fabric.trace.as_ref().unwrap();
    let kept = trace
        .iter()
        .map(|l| (l.cycle, l.pe, l.side, l.wavelet.payload));
    let mut landed = seen.landed;
    landed.sort_unstable();
    assert_eq!(landed, kept.collect::<Vec<_>>());
}

#[test]
fn every_wavelet_goes_up_over_each_link_and_down_once() {
    let (seen, _) = recorded(5);
    let count = usize::from(COUNT);
    assert_eq!((seen.up.len(), seen.down.len()), (count, count));
    for pe in 0..5 {
        let mut over = seen.left.iter().filter(|(_, at, _)| at.0 == pe);
        let side = if pe == 4 { R } else { E };
        assert!(over.all(|(_, _, sides)| *sides == set(&[side])));
        let landed = seen.landed.iter().filter(|(_, at, _, _)| at.0 == pe);
        assert_eq!(landed.count(), count);
    }
    assert!(seen.down.iter().all(|p| p.queue == 2 && p.level >= 1));
}

#[test]
fn a_compute_element_that_issues_every_cycle_has_a_turn_in_every_cycle() {
    let (seen, _) = recorded(2);
    let sent: Vec<u64> = seen.up.iter().map(|p| p.cycle).collect();
    let turn_at = |cycle: u64| (cycle - 2, PeIndex(0), Turn::Main);
    assert!(sent.iter().all(|&at| seen.turns.contains(&turn_at(at))));
}

#[test]
fn a_run_with_a_recorder_takes_as_long_as_one_without() {
    let mut plain = fabsim::host::Simulator::new(stream(5), SimOptions::default()).unwrap();
    let report = plain.launch("run", &[]).unwrap();
    let mut watched = fabsim::host::Simulator::new(stream(5), SimOptions::default()).unwrap();
    watched.attach(Box::<Everything>::default());
    assert_eq!(watched.launch("run", &[]).unwrap(), report);
}
