//! Tiles in flows are not visited, and nothing but the time it takes comes out differently: random
//! programs, with and without flows, up to a random cycle.

use crate::flows_support::{program, Random, BUFFER, WORDS};
use crate::support::*;
use fabsim::fabric::observer::Observer;
use fabsim::host::{SimOptions, Simulator, VisitOrder};
use fabsim::probe::{Probe, Recorder};
use fabsim::program::*;
use std::any::Any;
use std::sync::Arc;

/// What comes out of two launches: what they say, and all that is to be known of the machine.
#[derive(PartialEq, Debug)]
struct Outcome {
    said: Vec<String>,
    queues: Vec<String>,
    memories: Vec<Vec<u64>>,
}

/// What is in queues and operations.
fn queues(sim: &Simulator) -> Vec<String> {
    let machine = sim.machine();
    let mut all = Vec::new();
    for (pe, color, channel) in machine.fabric.occupied() {
        let entries: Vec<_> = channel.entries().collect();
        let landed = (channel.landed, channel.position);
        all.push(format!("{pe:?} {color} {landed:?} {entries:?}"));
    }
    for (n, pe) in machine.pes.iter().enumerate() {
        let core = &pe.core;
        let rings = core.inputs.iter().map(|queue| &queue.ring);
        for ring in rings.chain(core.outputs.iter().map(|queue| &queue.ring)) {
            let entries: Vec<_> = (0..8).map_while(|n| ring.get(n)).collect();
            all.push(format!("{n} {entries:?} {}", ring.last_ready()));
        }
        let running = pe.threads.iter().chain(pe.main.running.as_deref());
        all.push(format!("{n} {:?}", running.collect::<Vec<_>>()));
    }
    all
}

fn memories(sim: &Simulator) -> Vec<Vec<u64>> {
    let memories = sim.machine().pes.iter().map(|pe| &pe.core.memory);
    let words = memories.map(|memory| {
        let words = 0..memory.len_words() as u64;
        words.map(|at| memory.load(2 * at, 2).unwrap()).collect()
    });
    words.collect()
}

/// What comes out of two launches that may be cut off, and how often a tile has joined a flow.
fn run(
    design: &Arc<Design>,
    max_cycles: u64,
    flows: bool,
    (threads, visit_order): (usize, VisitOrder),
) -> (Outcome, u64) {
    let options = SimOptions {
        flows,
        visit_order,
        lenient: max_cycles % 4 == 0,
        threads,
        max_cycles,
        ..SimOptions::default()
    };
    let mut sim = simulate_with(design, options);
    let mut said = vec![
        format!("{:?}", sim.launch("run", &[])),
        format!("{:?}", sim.launch("run", &[])),
    ];
    let machine = sim.machine();
    let departures = machine.fabric.departures();
    let figures = (machine.cycle, machine.tile_cycles, departures);
    said.push(format!("{figures:?} {:?}", machine.command));
    let (queues, memories) = (queues(&sim), memories(&sim));
    said.push(format!("{:?}", sim.stop()));
    let outcome = Outcome {
        said,
        queues,
        memories,
    };
    (outcome, sim.machine().joined_flows())
}

/// One thread, and tiles visited in the usual order.
const ALONE: (usize, VisitOrder) = (1, VisitOrder::AsWoken);

/// A design that counts cycles by another clock.
fn by(clock: Clock, design: &Arc<Design>) -> Arc<Design> {
    Arc::new(Design {
        clock,
        ..(**design).clone()
    })
}

/// How often a tile has joined a flow.
fn compare(seed: u64, clock: Clock) -> u64 {
    let design = by(clock, &program(seed));
    let mut r = Random(seed ^ 0x5eed);
    let full = 3_000;
    let mut joined = 0;
    for max_cycles in [full, 30 + r.below(1_000) as u64] {
        let (plain, none) = run(&design, max_cycles, false, ALONE);
        assert_eq!(none, 0);
        for how in [
            ALONE,
            (3, VisitOrder::AsWoken),
            (1, VisitOrder::Shuffled(seed)),
        ] {
            let (flowing, times) = run(&design, max_cycles, true, how);
            joined += times;
            let place = format!("seed {seed}, {clock:?}, {how:?}, {max_cycles}");
            assert_eq!(flowing.said, plain.said, "{place}");
            for (flowing, plain) in flowing.queues.iter().zip(&plain.queues) {
                assert_eq!(flowing, plain, "{place}");
            }
            assert_eq!(flowing, plain, "{place}");
        }
    }
    joined
}

#[test]
fn nothing_comes_out_differently_with_flows() {
    let seeds = std::env::var("FLOW_SEEDS").ok();
    let seeds = seeds.and_then(|text| text.parse().ok()).unwrap_or(120);
    for clock in Clock::ALL {
        let joined: u64 = (0..seeds).map(|seed| compare(seed, clock)).sum();
        assert!(joined > 4 * seeds, "{joined} in {seeds} by {clock:?}");
    }
}

/// A program that must end without an error, with and without flows.
fn same_either_way(design: &Arc<Design>) {
    for clock in Clock::ALL {
        let design = &by(clock, design);
        let (plain, _) = run(design, 3_000, false, ALONE);
        let (flowing, joined) = run(design, 3_000, true, ALONE);
        assert_eq!(flowing, plain, "{clock:?}");
        assert!(joined > 0, "{clock:?}");
    }
}

/// Words from memory to a color by a microthread or the main thread.
fn send(tile: &mut Tile1, code: &mut Code, out: Dsd, count: u16, thread: Option<u64>) {
    let mem = tile.mem(BUFFER, count, 4);
    let (mem, out) = (code.dsd(mem), code.dsd(out));
    let options = OpOptions {
        is_async: thread.is_some(),
        ut_id: thread.map(|thread| code.constant(thread)),
        priority: thread.map(|_| Priority::High),
        ..OpOptions::default()
    };
    code.op_with(Opcode::Mov32, out, &[mem], options);
}

fn tile_of_words() -> Tile1 {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(WORDS));
    let words = (0..2 * WORDS).collect();
    tile.program.memory.push((u32::from(BUFFER), words));
    tile
}

/// The last word of one operation turns the switch against what another one sends behind it.
#[test]
fn nothing_flows_past_a_switch_that_its_own_tile_has_moved() {
    for arch in [Arch::Wse2, Arch::Wse3] {
        let mut tile = tile_of_words();
        let mut code = Code::default();
        let first = tile.fabout_with(1, 0, 100, false, true);
        send(&mut tile, &mut code, first, 100, Some(1));
        let second = tile.fabout(2, 0, 100);
        send(&mut tile, &mut code, second, 100, None);
        code.unblock_host();
        tile.export("run", code);
        let switched = ColorSetup {
            positions: [pos_rx(W), None, None],
            ..route(&[R], &[E])
        };
        let mut end = tile_of_words();
        end.input_queue(1, 0);
        let (mem, fabin) = (end.mem(BUFFER, 200, 4), end.fabin(1, 200));
        let mut code = Code::default();
        let (mem, fabin) = (code.dsd(mem), code.dsd(fabin));
        code.op(Opcode::Mov32, mem, &[fabin]);
        code.unblock_host();
        end.export("run", code);
        let idle = (Tile1::idle(), Colors::new());
        let end = (end, vec![(0, route(&[W], &[R]))]);
        same_either_way(&design(
            arch,
            3,
            vec![idle, (tile, vec![(0, switched)]), end],
        ));
    }
}

/// What an operation sends comes back to it.
#[test]
fn an_operation_that_feeds_itself_flows() {
    let mut tile = tile_of_words();
    tile.input_queue(1, 0);
    let mut code = Code::default();
    let first = tile.fabout(2, 0, 6);
    send(&mut tile, &mut code, first, 6, None);
    let (fabin, out) = (tile.fabin(1, 600), tile.fabout(2, 0, 600));
    let mem = tile.mem(BUFFER, 600, 4);
    let (fabin, mem, out) = (code.dsd(fabin), code.dsd(mem), code.dsd(out));
    code.op(Opcode::Fadds, out, &[mem, fabin]);
    code.unblock_host();
    tile.export("run", code);
    same_either_way(&design(
        Arch::Wse2,
        1,
        vec![(tile, vec![(0, route(&[R], &[R]))])],
    ));
}

/// A recorder that looks at nothing.
#[derive(Debug)]
struct Deaf;

impl Observer for Deaf {}

impl Probe for Deaf {}

impl Recorder for Deaf {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// While a recorder is attached nothing flows, and nothing of that time is left when it is gone.
#[test]
fn nothing_comes_out_differently_after_a_recorder() {
    for seed in 0..20 {
        let design = program(seed);
        let ends = [false, true].map(|flows| {
            let options = SimOptions {
                flows,
                max_cycles: 30_000,
                ..SimOptions::default()
            };
            let mut sim = simulate_with(&design, options);
            sim.attach(Box::new(Deaf));
            let first = format!("{:?}", sim.launch("run", &[]));
            assert_eq!(sim.machine().joined_flows(), 0);
            sim.detach();
            let second = format!("{:?}", sim.launch("run", &[]));
            let cycles = (sim.cycle(), sim.tile_cycles());
            (first, second, cycles, queues(&sim), memories(&sim))
        });
        assert_eq!(ends[1], ends[0], "seed {seed}");
    }
}
