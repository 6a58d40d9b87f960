//! Tiles in flows are not visited, and nothing but the time it takes comes out differently: random
//! programs, with and without flows, up to a random cycle.

mod support;

use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;
use support::*;

const WIDTH: u16 = 7;
const HEIGHT: u16 = 4;
const BUFFER: u16 = 64;
const WORDS: u16 = 700;
const LENGTHS: [u16; 6] = [2, 9, 25, 70, 200, 640];

/// Knuth's MMIX generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// What a tile does with a color.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// Receives so many words, and may send them on, or what it makes of them, on another color.
    Receive(u8, u16, Option<u8>),
    Send(u8, u16),
    /// A task for every word.
    Task(u8),
}

#[derive(Clone, Default)]
struct Sketch {
    roles: Vec<Role>,
    colors: Colors,
}

/// A color that takes a random way, down the ramp at its end and at some places before.
fn lay(sketches: &mut [Sketch], color: u8, start: usize, length: u16, r: &mut Random) -> usize {
    let (width, height) = (i32::from(WIDTH), i32::from(HEIGHT));
    let mut at = (start as i32 % width, start as i32 / width);
    let mut from = R;
    let mut seen = vec![at];
    let steps = 1 + r.below(8);
    for step in 0..=steps {
        let ways = [(W, -1, 0), (E, 1, 0), (S, 0, 1), (N, 0, -1)];
        let (side, dx, dy) = ways[r.below(4)];
        let next = (at.0 + dx, at.1 + dy);
        let inside = (0..width).contains(&next.0) && (0..height).contains(&next.1);
        let ends = step == steps || !inside || seen.contains(&next);
        let sketch = &mut sketches[(at.1 * width + at.0) as usize];
        let taps = from != R && (ends || r.one_in(4));
        let mut outputs = Vec::new();
        if taps {
            outputs.push(R);
            let wrong = if r.one_in(25) { 1 } else { 0 };
            let role = match r.below(8) {
                0 => Role::Task(color),
                _ => Role::Receive(color, length + wrong, None),
            };
            sketch.roles.push(role);
        }
        if ends && from == R {
            return start;
        }
        if !ends {
            outputs.push(side);
        }
        sketch.colors.push((color, route(&[from], &outputs)));
        if ends {
            break;
        }
        (at, from) = (next, side.facing());
        seen.push(at);
    }
    (at.1 * width + at.0) as usize
}

/// Some colors from random places; one may begin where another ends and send its words on.
fn sketch(r: &mut Random) -> Vec<Sketch> {
    let count = usize::from(WIDTH * HEIGHT);
    let mut sketches = vec![Sketch::default(); count];
    let mut start = r.below(count);
    let mut length = LENGTHS[r.below(LENGTHS.len())];
    let mut before: Option<u8> = None;
    for color in 0..(2 + r.below(9)) as u8 {
        let roles = sketches[start].roles.len();
        let end = lay(&mut sketches, color, start, length, r);
        if end != start {
            let roles = &mut sketches[start].roles[..roles];
            let last = roles.iter_mut().rev().find_map(|role| match role {
                Role::Receive(color, _, send) if Some(*color) == before => Some(send),
                _ => None,
            });
            match last {
                Some(send) => *send = Some(color),
                None => sketches[start].roles.push(Role::Send(color, length)),
            }
        }
        before = Some(color);
        start = end;
        if r.one_in(3) {
            start = r.below(count);
            length = LENGTHS[r.below(LENGTHS.len())];
        }
    }
    sketches
}

/// A line of memory, in a random place with a random stride.
fn line(tile: &mut Tile1, count: u16, bytes: u8, r: &mut Random) -> Dsd {
    let stride = if count < 100 { 1 + r.below(3) } else { 1 };
    let room = usize::from(WORDS) - (usize::from(count) - 1) * stride - 1;
    let first = if r.one_in(2) { 0 } else { r.below(room.min(5)) };
    let mut dsd = tile.mem(BUFFER + 4 * first as u16, count, bytes);
    dsd.stride = stride as i16;
    dsd
}

const OPS: [(Opcode, u8); 8] = [
    (Opcode::Fadds, 4),
    (Opcode::Fadds, 4),
    (Opcode::Fsubs, 4),
    (Opcode::Fmuls, 4),
    (Opcode::Mov32, 4),
    (Opcode::Fmovs, 4),
    (Opcode::Add16, 2),
    (Opcode::Faddh, 2),
];

/// The operation of a role and what it leads to.
fn act(tile: &mut Tile1, code: &mut Code, role: Role, r: &mut Random) {
    let (opcode, bytes) = OPS[r.below(OPS.len())];
    let alone = matches!(opcode, Opcode::Mov32 | Opcode::Fmovs);
    let is_async = r.one_in(3);
    let thread = code.constant(u64::from(match role {
        Role::Receive(color, ..) | Role::Send(color, _) | Role::Task(color) => color % 8,
    }));
    let options = OpOptions {
        is_async,
        ut_id: is_async.then_some(thread),
        ..OpOptions::default()
    };
    let (dest, sources) = match role {
        Role::Task(_) => return,
        Role::Send(color, count) => {
            let (mem, more) = (line(tile, count, bytes, r), line(tile, count, bytes, r));
            let out = tile.fabout(color % 6, color, count);
            (out, if alone { vec![mem] } else { vec![mem, more] })
        }
        Role::Receive(color, count, send) => {
            let fabin = tile.fabin(color % 8, count);
            let dest = match send {
                Some(color) => tile.fabout(color % 6, color, count),
                None => line(tile, count, bytes, r),
            };
            let mem = line(tile, count, bytes, r);
            (dest, if alone { vec![fabin] } else { vec![mem, fabin] })
        }
    };
    let dest = code.dsd(dest);
    let sources: Vec<Operand> = sources.into_iter().map(|dsd| code.dsd(dsd)).collect();
    code.op_with(opcode, dest, &sources, options);
}

fn build(sketch: &Sketch, number: u16, r: &mut Random) -> (Tile1, Colors) {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(WORDS));
    let number = |n: u16| f32::from(number % 5 + n % 7) / 4.0;
    let values = (0..WORDS).flat_map(|n| {
        let bits = number(n).to_bits();
        [bits as u16, (bits >> 16) as u16]
    });
    tile.program
        .memory
        .push((u32::from(BUFFER), values.collect()));
    for role in &sketch.roles {
        match *role {
            Role::Receive(color, ..) => tile.input_queue(color % 8, color),
            Role::Task(color) => {
                tile.input_queue(color % 8, color);
                let mut code = Code::with_params(1);
                code.store(ScalarType::U32, 8 + 4 * u32::from(color), Slot(0));
                tile.task(TaskKind::Data, color, 1, code);
            }
            Role::Send(..) => {}
        }
    }
    let mut code = Code::default();
    for &role in &sketch.roles {
        if r.one_in(3) {
            (0..r.below(150)).for_each(|_| code.note(0, 1));
        }
        act(&mut tile, &mut code, role, r);
    }
    code.unblock_host();
    tile.export("run", code);
    (tile, sketch.colors.clone())
}

fn program(seed: u64) -> Arc<Design> {
    let mut r = Random(seed);
    r.below(2);
    let sketches = sketch(&mut r);
    let arch = if r.one_in(3) { Arch::Wse3 } else { Arch::Wse2 };
    let tiles = sketches.iter().enumerate();
    let tiles = tiles.map(|(n, sketch)| build(sketch, n as u16, &mut r));
    design(arch, WIDTH, tiles.collect())
}

/// All there is to be known of a machine.
fn state(sim: &Simulator) -> Vec<String> {
    let machine = sim.machine();
    let figures = (
        machine.cycle,
        machine.tile_cycles,
        machine.fabric.departures(),
    );
    let mut all = vec![format!("{figures:?} {:?}", machine.command)];
    for (pe, color, channel) in machine.fabric.occupied() {
        let entries: Vec<_> = channel.entries().collect();
        all.push(format!("{pe:?} {color} {} {entries:?}", channel.landed));
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
        let bytes = core.memory.len_words() as u64 * 2;
        let words = (0..bytes / 2).map(|at| core.memory.load(2 * at, 2).unwrap());
        all.push(format!("{n} {:?}", words.collect::<Vec<_>>()));
    }
    all
}

/// What comes out of two launches that may be cut off, and how often a tile has joined a flow.
fn run(design: &Arc<Design>, max_cycles: u64, flows: bool, threads: usize) -> (Vec<String>, u64) {
    let options = SimOptions {
        flows,
        threads,
        max_cycles,
        ..SimOptions::default()
    };
    let mut sim = simulate_with(design, options);
    let first = format!("{:?}", sim.launch("run", &[]));
    let second = format!("{:?}", sim.launch("run", &[]));
    let mut all = vec![first, second];
    all.extend(state(&sim));
    all.push(format!("{:?}", sim.stop()));
    (all, sim.machine().joined_flows())
}

/// How often a tile has joined a flow.
fn compare(seed: u64) -> u64 {
    let design = program(seed);
    let mut r = Random(seed ^ 0x5eed);
    let full = 3_000;
    let mut joined = 0;
    for max_cycles in [full, 30 + r.below(1_000) as u64] {
        let (plain, none) = run(&design, max_cycles, false, 1);
        assert_eq!(none, 0);
        for threads in [1, 3] {
            let (flowing, times) = run(&design, max_cycles, true, threads);
            joined += times;
            for (flowing, plain) in flowing.iter().zip(&plain) {
                assert_eq!(
                    flowing, plain,
                    "seed {seed}, {threads} threads, {max_cycles}"
                );
            }
        }
    }
    joined
}

#[test]
fn nothing_comes_out_differently_with_flows() {
    let seeds = std::env::var("FLOW_SEEDS").ok();
    let seeds = seeds.and_then(|text| text.parse().ok()).unwrap_or(100);
    let joined: u64 = (0..seeds).map(compare).sum();
    assert!(joined > 10 * seeds);
}
