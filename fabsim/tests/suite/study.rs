//! What a published instruction-level study of the WSE-3 read off traces of the vendor's simulator,
//! as programs of our own: what a DSD operation occupies, a message from send to receive, a chain of
//! relays, and a chain of sums on both machines.

use crate::support::*;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;

const STAMPS: u32 = 0;
const VECTOR: u16 = 64;
/// What a stamp of the WSE-3 takes itself.
const STAMP: u64 = 12;

fn by(clock: Clock, design: &Arc<Design>) -> Arc<Design> {
    Arc::new(Design {
        clock,
        ..(**design).clone()
    })
}

fn run(design: &Arc<Design>) -> Simulator {
    let options = SimOptions {
        trace_landings: true,
        ..SimOptions::default()
    };
    let mut sim = simulate_with(&by(Clock::Simfabric, design), options);
    sim.launch("run", &[]).expect("runs");
    sim.stop().expect("leaves nothing behind");
    sim
}

/// Cycles from the first register load of an operation in memory to the next instruction.
fn occupied(opcode: Opcode, bytes: u8, vectors: usize, elements: u16, scalar: bool) -> u64 {
    let size = u32::from(elements) * u32::from(bytes);
    let mut tile = Tile1::new(u32::from(VECTOR) + 4 * size);
    let mut code = Code::default();
    code.system(SystemCall::EnableTsc, &[]);
    let at = |n: usize| VECTOR + (n as u32 * size) as u16;
    let operands: Vec<Operand> = (0..vectors)
        .map(|n| code.dsd(tile.mem(at(n), elements, bytes)))
        .collect();
    let word = match bytes {
        2 => ScalarType::F16,
        _ => ScalarType::F32,
    };
    let sum = code.pointer(u32::from(at(3)), word);
    code.stamp(STAMPS);
    match scalar {
        true => code.op(opcode, sum, &[sum, operands[0]]),
        false => code.op(opcode, operands[0], &operands[1..]),
    }
    code.stamp(STAMPS + 6);
    code.unblock_host();
    tile.export("run", code);
    let sim = run(&design(Arch::Wse3, 1, vec![(tile, Vec::new())]));
    let stamps = [STAMPS, STAMPS + 6].map(|at| stamp(&sim, 0, 0, u64::from(at)));
    stamps[1] - stamps[0] - STAMP
}

#[track_caller]
fn assert_near(seen: u64, published: u64, tolerance: u64) {
    assert!(
        seen.abs_diff(published) <= tolerance,
        "{seen} cycles, published {published}"
    );
}

#[test]
fn a_sum_of_three_registers_occupies_the_pe_for_six_and_its_elements_by_four() {
    for (elements, next) in [(8, 8), (16, 10), (64, 22)] {
        assert_eq!(occupied(Opcode::Faddh, 2, 3, elements, false), next);
    }
}

#[test]
fn operations_of_eight_elements_take_what_the_isolated_build_took() {
    assert_eq!(occupied(Opcode::Fmovh, 2, 2, 8, false), 6);
    for opcode in [Opcode::Fmulh, Opcode::Add16] {
        assert_near(occupied(opcode, 2, 3, 8, false), 7, 1);
    }
    assert_near(occupied(Opcode::Fadds, 4, 3, 8, false), 9, 1);
    assert_near(occupied(Opcode::Faddh, 2, 1, 8, true), 24, 4);
}

#[test]
fn long_operations_run_at_the_measured_rates() {
    assert_near(occupied(Opcode::Add16, 2, 3, 2048, false), 514 + 6, 2);
    assert_near(occupied(Opcode::Fmovh, 2, 2, 2048, false), 256 + 5, 2);
    assert_near(occupied(Opcode::Fmovs, 4, 2, 1024, false), 256 + 5, 2);
    assert_near(occupied(Opcode::Faddh, 2, 1, 512, true), 2 * 512 + 4, 2);
}

/// The colors by which PE `x` of a row receives and sends.
fn colors(x: usize) -> (u8, u8) {
    match x % 2 {
        0 => (0, 1),
        _ => (1, 0),
    }
}

const BEGUN: u8 = 8;

/// PE 0 sends a message, each of the others passes it on when it has all of it, the last one keeps it. PE 0
/// stamps before it begins, the last one when it has all.
fn relays(stages: usize, words: u16) -> Arc<Design> {
    let tile = |x: usize| {
        let (receive, send) = colors(x);
        let mut tile = Tile1::new(u32::from(VECTOR) + 4 * u32::from(words));
        let mem = tile.mem(VECTOR, words, 4);
        let mut run = Code::default();
        let mut passed = Code::default();
        run.system(SystemCall::EnableTsc, &[]);
        let mut ends = Code::default();
        ends.unblock_host();
        tile.task(TaskKind::Local, BEGUN + 1, 0, ends);
        if x > 0 {
            tile.input_queue(2, receive);
            let fabin = run.dsd(tile.fabin(2, words));
            let to = run.dsd(mem);
            run.spawn(Opcode::Mov32, to, &[fabin], u64::from(BEGUN));
        }
        let sender = if x == 0 { &mut run } else { &mut passed };
        if x == 0 || x == stages {
            sender.stamp(STAMPS);
        }
        if x < stages {
            let out = tile.fabout(2, send, words);
            let shape = &mut tile.program.shapes[usize::from(out.shape)];
            if let DsdShape::FabOut { priority, .. } = shape {
                *priority = Some(Priority::High);
            }
            let (out, from) = (sender.dsd(out), sender.dsd(mem));
            sender.spawn(Opcode::Mov32, out, &[from], u64::from(BEGUN + 1));
        } else {
            sender.activate(u64::from(BEGUN + 1));
        }
        if x > 0 {
            tile.task(TaskKind::Local, BEGUN, 0, passed);
        }
        tile.export("run", run);
        let mut routes: Colors = Vec::new();
        if x > 0 {
            routes.push((receive, route(&[W], &[R])));
        }
        if x < stages {
            routes.push((send, route(&[R], &[E])));
        }
        (tile, routes)
    };
    let row: Vec<_> = (0..=stages).map(tile).collect();
    design(Arch::Wse3, stages as u16 + 1, row)
}

/// Cycles from the first instruction behind the first stamp to the last stamp.
fn relayed(stages: usize, words: u16) -> u64 {
    let sim = run(&relays(stages, words));
    let at = u64::from(STAMPS);
    let (first, last) = (stamp(&sim, 0, 0, at), stamp(&sim, stages as u32, 0, at));
    last - first - STAMP
}

#[test]
fn a_message_takes_seven_cycles_to_leave_two_a_hop_and_three_to_complete() {
    let design = relays(1, 8);
    let sim = run(&design);
    let begun = stamp(&sim, 0, 0, u64::from(STAMPS)) + STAMP;
    let (receive, _) = colors(1);
    let sent = landings(&sim, 0, 0, receive);
    let leaves: Vec<u64> = sent.iter().map(|(cycle, ..)| *cycle).collect();
    let apart = leaves.windows(2).all(|pair| pair[1] == pair[0] + 1);
    assert!(apart && leaves.len() == 8, "one a cycle: {leaves:?}");
    // Counters run from the launch, which both PEs get in the same cycle.
    let last = stamp(&sim, 1, 0, u64::from(STAMPS));
    // Dispatch 5, router 7, hop 2, seven more wavelets, completion 3.
    assert_eq!(last - begun, 5 + 7 + 2 + 7 + 3);
}

#[test]
fn a_stage_that_stores_and_forwards_takes_its_wavelets_and_sixteen() {
    for words in [64, 512] {
        let one = relayed(1, words);
        for stages in [2, 4, 8] {
            let each = (relayed(stages, words) - one) as f64 / (stages as f64 - 1.0);
            let published = 1.001 * f64::from(words) + 16.1;
            let error = each / published - 1.0;
            assert!(error.abs() < 0.01, "{each} a stage, published {published}");
        }
    }
}

/// The published fit is of stamps, which take 12 cycles beside what they enclose: 36 were stamped around the 24
/// that the trace of one message of 8 words shows.
#[test]
fn a_chain_of_relays_follows_the_published_fit() {
    for stages in [1, 2, 4, 8] {
        for words in [64, 512] {
            let (n, b) = (stages as f64, f64::from(words));
            let fit = 1.001 * n * b + 16.1 * n + 16.5;
            let seen = (relayed(stages, words) + STAMP) as f64;
            let error = seen / fit - 1.0;
            assert!(
                error.abs() < 0.05,
                "{stages} stages of {words}: {seen}, published {fit}"
            );
        }
    }
}

/// A chain of sums over `p` PEs: each adds what comes from the east to its own and sends it on.
fn chain(arch: Arch, p: usize, words: u16) -> u64 {
    let tile = |x: usize| {
        let (receive, send) = colors(x);
        let mut tile = Tile1::new(u32::from(VECTOR) + 4 * u32::from(words));
        let mem = tile.mem(VECTOR, words, 4);
        let mut code = Code::default();
        code.system(SystemCall::EnableTsc, &[]);
        code.stamp(STAMPS);
        let own = code.dsd(mem);
        let mut routes: Colors = Vec::new();
        let mut sources = vec![own];
        if x + 1 < p {
            tile.input_queue(2, receive);
            sources.push(code.dsd(tile.fabin(2, words)));
            routes.push((receive, route(&[E], &[R])));
        }
        let dest = match x {
            0 => own,
            _ => {
                routes.push((send, route(&[R], &[W])));
                code.dsd(tile.fabout(2, send, words))
            }
        };
        let opcode = if x + 1 < p {
            Opcode::Fadds
        } else {
            Opcode::Fmovs
        };
        code.op(opcode, dest, &sources);
        code.stamp(STAMPS + 6);
        code.unblock_host();
        tile.export("run", code);
        (tile, routes)
    };
    let row: Vec<_> = (0..p).map(tile).collect();
    let sim = run(&design(arch, p as u16, row));
    let stamps = [STAMPS, STAMPS + 6].map(|at| stamp(&sim, 0, 0, u64::from(at)));
    let own = match arch {
        Arch::Wse2 => 6,
        Arch::Wse3 => STAMP,
    };
    stamps[1] - stamps[0] - own
}

/// A public compiler's chain of 15 PEs and 128 words takes 317 cycles on the WSE-2 and 343 on the WSE-3: 13 PEs
/// in between and 14 links that take two cycles more each but for the last.
#[test]
fn a_chain_takes_six_cycles_a_pe_on_the_wse2_and_eight_on_the_wse3() {
    let of = |p| [Arch::Wse2, Arch::Wse3].map(|arch| chain(arch, p, 128));
    let (short, long) = (of(2), of(15));
    println!("{long:?} cycles");
    assert_eq!(long[0] - short[0], 13 * 6);
    assert_eq!(long[1] - short[1], 13 * 8);
    assert_near(long[1] - long[0], 343 - 317, 5);
}
