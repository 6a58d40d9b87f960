//! However many threads do the work, everything comes out the same.

use crate::support::*;
use fabsim::host::{LaunchReport, SimOptions};
use fabsim::program::*;

const WIDTH: u16 = 90;
const HEIGHT: u16 = 80;
const BUFFER: u16 = 32;
const COUNT: u16 = 4;
const ROUNDS: usize = 2;

/// Sends its vector north, then takes what comes from the south, several times over. Rows take
/// turns with the colors.
fn tile(y: u16) -> (Tile1, Vec<(u8, ColorSetup)>) {
    let (out, inward) = ((y % 2) as u8, ((y + 1) % 2) as u8);
    let (sends, receives) = (y > 0, y + 1 < HEIGHT);
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(COUNT));
    let values = (0..COUNT).flat_map(|n| [100 * y + n, 0]).collect();
    tile.program.memory.push((u32::from(BUFFER), values));
    let mem = tile.mem(BUFFER, COUNT, 4);
    let mut code = Code::default();
    let mem = code.dsd(mem);
    let mut colors = Vec::new();
    let fabout = sends.then(|| tile.fabout_with(2, out, COUNT, false, false));
    let fabout = fabout.map(|dsd| code.dsd(dsd));
    if sends {
        colors.push((out, route(&[R], &[N])));
    }
    if receives {
        tile.input_queue(2, inward);
        colors.push((inward, route(&[S], &[R])));
    }
    let fabin = receives.then(|| tile.fabin(2, COUNT));
    let fabin = fabin.map(|dsd| code.dsd(dsd));
    for _ in 0..ROUNDS {
        if let Some(fabout) = fabout {
            code.op(Opcode::Mov32, fabout, &[mem]);
        }
        if let Some(fabin) = fabin {
            code.op(Opcode::Mov32, mem, &[fabin]);
        }
    }
    code.unblock_host();
    tile.export("run", code);
    (tile, colors)
}

type Seen = (LaunchReport, Vec<u32>, usize);

fn run(threads: usize) -> Seen {
    let tiles = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |_| tile(y)));
    let options = SimOptions {
        threads,
        trace_landings: true,
        ..SimOptions::default()
    };
    let mut sim = simulate_with(&design(Arch::Wse2, WIDTH, tiles.collect()), options);
    let report = sim.launch("run", &[]).unwrap();
    let column = (0..u32::from(HEIGHT)).map(|y| word(&sim, 7, y, u64::from(BUFFER)));
    let results = column.collect();
    let trace = sim.machine().fabric.trace.as_ref().unwrap().len();
    sim.stop().unwrap();
    (report, results, trace)
}

#[test]
fn zones_and_threads_change_nothing() {
    let alone = run(1);
    let moved = alone.1.iter().zip(alone.1.iter().skip(1));
    assert!(moved
        .clone()
        .take(HEIGHT as usize - 4)
        .all(|(a, b)| b - a == 100));
    for threads in [2, 7] {
        assert_eq!(run(threads), alone, "{threads} threads");
    }
}
