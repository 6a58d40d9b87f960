//! The measured reduce: P x 1 PEs, two phases with groups of S (S = P is a pure chain).
//!
//! The program is the one whose cycles were measured on the official simulator; see
//! docs/machine.md. Every PE owns a receive and a send color; the value is the difference of two
//! stamps at PE 0, before and after its operations.

use crate::support::*;
use fabsim::host::{SimOptions, VisitOrder};
use fabsim::program::*;
use std::sync::Arc;

const STAMPS: u32 = 0;
const POINTER: u32 = 16;
const VECTOR: u16 = 32;

/// (receive, send) colors of PE x.
fn colors(x: usize, s: usize) -> (u8, u8) {
    let receives_on_a = if x % (2 * s) < s {
        x % 2 == 0
    } else {
        x % 2 != s % 2
    };
    if receives_on_a {
        (0, 1)
    } else {
        (1, 0)
    }
}

/// The last PE of a group of S; the last group is shorter where S does not divide P.
fn is_tail(x: usize, p: usize, s: usize) -> bool {
    x % s == s - 1 || x + 1 == p
}

fn routes(x: usize, p: usize, s: usize) -> Colors {
    let (receive, send) = colors(x, s);
    let last_of_group = is_tail(x, p, s);
    let toward = if last_of_group { W } else { R };
    let mut receives = route(&[E], &[toward]);
    receives.positions[0] = pos_tx(W);
    let mut sends = route(&[R], &[W]);
    sends.positions[0] = pos_rx(E);
    let mut all = Vec::new();
    if x > 0 {
        all.push((send, sends));
    }
    if x + 1 < p {
        all.push((receive, receives));
    }
    all
}

/// What starts a PE's operations.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Launch,
    Task,
}

const STARTED: u8 = 8; // a local task

fn program(x: usize, p: usize, s: usize, b: u16, start: Start) -> Tile1 {
    let (receive, send) = colors(x, s);
    let mut tile = Tile1::new(u32::from(VECTOR) + 4 * u32::from(b));
    tile.pointer("x", POINTER, VECTOR);
    tile.input_queue(2, receive);
    let mem = tile.mem(VECTOR, b, 4);
    let fabin = tile.fabin(2, b);
    let in_group = x % s;
    let out = tile.fabout_with(2, send, b, false, in_group == 1 && s > 1);
    let control = tile.fabout_with(2, send, 1, true, false);
    let mut code = Code::default();
    code.system(SystemCall::EnableTsc, &[]);
    code.stamp(STAMPS);
    let src0 = code.load(DsrFile::Src0, 1, mem);
    let src1 = code.load(DsrFile::Src1, 1, fabin);
    let mem = code.dsd(mem);
    let last_leader = x + s >= p;
    if x == 0 {
        code.op(Opcode::Fadds, mem, &[src0, src1]);
        if !last_leader {
            code.op(Opcode::Fadds, mem, &[src0, src1]);
        }
    } else if in_group == 0 {
        if !last_leader {
            code.op(Opcode::Fadds, mem, &[src0, src1]);
        }
        let out = code.dsd(out);
        code.op(Opcode::Fadds, out, &[src0, src1]);
    } else {
        let out = code.dsd(out);
        if is_tail(x, p, s) {
            code.op(Opcode::Fmovs, out, &[src0]);
        } else {
            code.op(Opcode::Fadds, out, &[src0, src1]);
        }
        if in_group != 1 {
            let control = code.dsd(control);
            let advance = code.u32(commands(&[(ADV, true)], 0));
            code.op(Opcode::Mov32, control, &[advance]);
        }
    }
    code.stamp(STAMPS + 6);
    if start == Start::Task {
        tile.task(TaskKind::Local, STARTED, 0, code);
        tile.program.active_at_start.push(STARTED);
    } else {
        code.unblock_host();
        tile.export("run", code);
    }
    tile
}

fn reduce(p: usize, s: usize, b: u16, clock: Clock) -> Arc<Design> {
    let design = reduce_from(p, s, b, Start::Launch);
    // It was compiled by the tools of its time.
    let older = true;
    Arc::new(Design {
        clock,
        older,
        ..(*design).clone()
    })
}

fn reduce_from(p: usize, s: usize, b: u16, start: Start) -> Arc<Design> {
    let tiles = (0..p).map(|x| (program(x, p, s, b, start), routes(x, p, s)));
    design(Arch::Wse2, p as u16, tiles.collect())
}

/// The clocks, and how near each comes to what was measured.
const CLOCKS: [(Clock, u64); 2] = [(Clock::Streams, 2), (Clock::Simfabric, 5)];

/// Cycles between the stamps; checks the sums as well.
fn measure(p: usize, s: usize, b: u16, clock: Clock) -> u64 {
    let mut sim = simulate_with(&reduce(p, s, b, clock), SimOptions::default());
    let count = usize::from(b);
    let value = |x: usize, i: usize| ((x * 7 + i * 3) % 11) as f32;
    let data: Vec<f32> = (0..p * count)
        .map(|n| value(n / count, n % count))
        .collect();
    sim.memcpy_h2d("x", 0, 0, p as u16, 1, count, &words(data), false, false)
        .expect("copies in");
    sim.launch("run", &[]).expect("runs");
    sim.stop().expect("leaves nothing behind");
    let sums = sim
        .memcpy_d2h("x", 0, 0, 1, 1, count, false, false)
        .expect("copies out");
    for (i, sum) in sums.iter().enumerate() {
        let expected: f32 = (0..p).map(|x| value(x, i)).sum();
        assert_eq!(f32::from_bits(*sum), expected, "element {i}");
    }
    // The published values are without what their stamps take, ours with the first one.
    let own = match clock {
        Clock::Streams => 0,
        _ => 6 - 1,
    };
    stamp(&sim, 0, 0, u64::from(STAMPS) + 6) - stamp(&sim, 0, 0, u64::from(STAMPS)) - own
}

fn chain_fit(p: u64, b: u64) -> u64 {
    (p - 1) * 6 + b + 56
}

/// The published fit of all measured points, for groups of s < p.
fn two_phase_fit(p: u64, s: u64, b: u64) -> u64 {
    let leaders = 6 * (s - 1) + 2 * b + 77 + (p - 2 * s) + 5 * (p / s - 2);
    let path = p + (s + p / s - 2) * 5 + b - 1 + 59;
    leaders.max(path)
}

#[track_caller]
fn assert_near(seen: u64, expected: u64, tolerance: u64) {
    println!("{seen} cycles, expected {expected}");
    assert!(
        seen.abs_diff(expected) <= tolerance,
        "{seen} cycles, expected {expected}"
    );
}

#[test]
fn a_chain_takes_six_cycles_a_step_and_one_an_element() {
    for (p, b) in [(2, 16), (16, 64), (64, 32)] {
        for (clock, tolerance) in CLOCKS {
            let seen = measure(p, p, b, clock);
            assert_near(seen, chain_fit(p as u64, u64::from(b)), tolerance);
        }
    }
}

#[test]
fn two_phases_follow_the_published_fit() {
    for (p, s, b) in [(64, 8, 64), (64, 16, 128), (64, 4, 32)] {
        let fit = two_phase_fit(p as u64, s as u64, u64::from(b));
        assert_near(measure(p, s, b, Clock::Streams), fit, 3);
        assert_near(measure(p, s, b, Clock::Simfabric), fit, 5);
    }
}

/// Every measured point of 512 PEs: (B, S, cycles).
const MEASURED: [(u16, usize, u64); 22] = [
    (64, 2, 1991),
    (64, 4, 1357),
    (64, 8, 1053),
    (64, 16, 925),
    (64, 28, 928),
    (64, 32, 909),
    (64, 64, 997),
    (64, 128, 1284),
    (64, 256, 1914),
    (256, 32, 1293),
    (256, 64, 1381),
    (2048, 32, 4877),
    (2048, 64, 4965),
    (4096, 2, 10055),
    (4096, 4, 9421),
    (4096, 8, 9117),
    (4096, 16, 8989),
    (4096, 32, 8973),
    (4096, 64, 9061),
    (4096, 128, 9297),
    (4096, 256, 9800),
    (4096, 512, 7218),
];

#[test]
fn every_measured_reduce_of_512_comes_out() {
    for (b, s, measured) in MEASURED {
        // Unoptimised, one point is enough to wait for.
        if cfg!(debug_assertions) && (b, s) != (64, 32) {
            continue;
        }
        for (clock, tolerance) in CLOCKS {
            assert_near(measure(512, s, b, clock), measured, tolerance);
        }
    }
}

#[test]
fn the_order_of_visits_changes_nothing() {
    let run = |visit_order| {
        let options = SimOptions {
            visit_order,
            trace_landings: true,
            ..SimOptions::default()
        };
        let mut sim = simulate_with(&reduce(32, 8, 20, Clock::Streams), options);
        let report = sim.launch("run", &[]).expect("runs");
        let end = sim.stop().expect("leaves nothing behind");
        let machine = sim.machine();
        let mut trace = machine.fabric.trace.clone().expect("is kept");
        trace.sort_unstable();
        let memory: Vec<u32> = (0..32)
            .flat_map(|x| (0..28).map(move |n| (x, n)))
            .map(|(x, n)| word(&sim, x, 0, 4 * n))
            .collect();
        (report, end, trace, memory)
    };
    let as_woken = run(VisitOrder::AsWoken);
    assert!(as_woken.2.len() > 31 * 20);
    assert_eq!(as_woken, run(VisitOrder::Reversed));
    for seed in 0..10 {
        assert_eq!(as_woken, run(VisitOrder::Shuffled(seed)), "seed {seed}");
    }
}

/// Cycles of one of the measured program's stamps, which ours are without.
const STAMP: u64 = 48;
/// Cycles without movement after which the official simulator stops.
const SUNSET: u64 = 50;

/// Where the official simulator ended the program: the value, a stamp, what is before the first and
/// behind the last one, and the cycles until it stops.
fn measured_end(value: u64) -> u64 {
    value + 135
}

#[test]
fn the_program_ends_where_it_did() {
    for (b, s, value) in MEASURED {
        if b > 64 || s == 2 {
            continue; // long to wait for, and alike; of s = 2 the value differs by 2
        }
        let design = reduce_from(512, s, b, Start::Task);
        let mut sim = simulate_with(&design, SimOptions::default());
        let end = sim.stop().expect("leaves nothing behind").cycles;
        assert_near(end + STAMP + SUNSET, measured_end(value), 10);
    }
}

#[test]
fn every_wavelet_lands_as_often_as_it_did() {
    for b in [1, 64] {
        let design = reduce_from(512, 32, b, Start::Task);
        let mut sim = traced(&design);
        sim.stop().expect("leaves nothing behind");
        let landings = sim.machine().fabric.trace.as_ref().map_or(0, Vec::len);
        assert_eq!(landings as u64, 960 + 1487 * u64::from(b));
    }
}
