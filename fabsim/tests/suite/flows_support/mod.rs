//! Random programs whose tiles are in steady streams most of the time, with all that may disturb them.

use crate::support::*;
use fabsim::program::*;
use std::sync::Arc;

const WIDTH: u16 = 7;
const HEIGHT: u16 = 4;
pub const BUFFER: u16 = 64;
pub const WORDS: u16 = 700;
/// The local task at the end of some operations.
const DONE: u8 = 25;
/// The word address of the configuration register of color 0.
const COLOR_REGISTERS: u64 = 0x7f20;
const LENGTHS: [u16; 6] = [2, 9, 25, 70, 200, 640];

/// Knuth's MMIX generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
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
    /// Sends, then a control wavelet or the last word's `advance_switch`.
    Command(u8, u16),
    /// A task for every word.
    Task(u8),
    /// A microthread puts what arrives into a FIFO, another one takes it out.
    Fifo(u8, u16),
    /// Sends to itself what it makes of what it has sent.
    Loop(u8, u16),
}

#[derive(Clone, Default)]
struct Sketch {
    roles: Vec<Role>,
    colors: Colors,
}

/// What a tile does that a color ends at or passes.
fn tap(color: u8, length: u16, r: &mut Random) -> Role {
    let wrong = if r.one_in(30) { 1 } else { 0 };
    match r.below(16) {
        0 | 1 => Role::Task(color),
        2 => Role::Fifo(color, length),
        _ => Role::Receive(color, length + wrong, None),
    }
}

/// Where a command leads to, now and then: back to the route, or to one that differs.
fn switched(setup: ColorSetup, r: &mut Random) -> ColorSetup {
    if !r.one_in(15) {
        return setup;
    }
    let sides = [W, E, S, N, R];
    let position = match r.below(4) {
        0 => pos_rx(sides[r.below(5)]),
        1 => pos_tx(sides[r.below(5)]),
        _ => Some(SwitchPosition {
            rx: Some(setup.rx),
            tx: Some(setup.tx),
        }),
    };
    ColorSetup {
        positions: [position, None, None],
        ring_mode: r.one_in(2),
        pop_mode: [PopMode::NoPop, PopMode::AlwaysPop][r.below(2)],
        ..setup
    }
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
        let mut inputs = vec![from];
        if taps {
            outputs.push(R);
            sketch.roles.push(tap(color, length, r));
        }
        if ends && from == R {
            return start;
        }
        if !ends {
            outputs.push(side);
        }
        if from == R && r.one_in(30) {
            outputs.push(R);
            sketch.roles.push(Role::Loop(color, length));
        }
        if from != R && r.one_in(80) {
            inputs.push(R);
            sketch.roles.push(Role::Send(color, 9));
        }
        let setup = switched(route(&inputs, &outputs), r);
        sketch.colors.push((color, setup));
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
    for color in 0..(2 + r.below(7)) as u8 {
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
                None if r.one_in(8) => sketches[start].roles.push(Role::Command(color, length)),
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

/// A line of memory, in a random place with a random stride; seldom one that leads out of memory.
fn line(tile: &mut Tile1, count: u16, bytes: u8, r: &mut Random) -> Dsd {
    let stride = if count < 100 { 1 + r.below(3) } else { 1 };
    let room = usize::from(WORDS) - (usize::from(count) - 1) * stride - 1;
    let first = match r.below(60) {
        0 if r.one_in(3) => room + 1 + r.below(usize::from(count)),
        1..=30 => 0,
        _ => r.below(room.min(5) + 1),
    };
    let mut dsd = tile.mem(BUFFER + 4 * first as u16, count, bytes);
    dsd.stride = stride as i16;
    if r.one_in(8) {
        dsd.base += 4 * (count - 1) * stride as u16;
        dsd.stride = -dsd.stride;
    }
    dsd
}

/// Operations, and how many sources they have.
const OPS: [(Opcode, usize); 22] = [
    (Opcode::Fadds, 2),
    (Opcode::Fadds, 2),
    (Opcode::Fadds, 2),
    (Opcode::Fsubs, 2),
    (Opcode::Fmuls, 2),
    (Opcode::Fmaxs, 2),
    (Opcode::Faddhs, 2),
    (Opcode::Fmacs, 3),
    (Opcode::Fmachs, 3),
    (Opcode::Fmach, 3),
    (Opcode::Mov32, 1),
    (Opcode::Mov32, 1),
    (Opcode::Fmovs, 1),
    (Opcode::Fnegs, 1),
    (Opcode::Mov16, 1),
    (Opcode::Fh2s, 1),
    (Opcode::Fs2h, 1),
    (Opcode::Add16, 2),
    (Opcode::Sll16, 2),
    (Opcode::Faddh, 2),
    (Opcode::Fmulh, 2),
    (Opcode::Xp162fs, 1),
];

/// An operand that is not in the fabric: a line, or now and then a value or one place in memory.
fn local(tile: &mut Tile1, code: &mut Code, count: u16, bytes: u8, r: &mut Random) -> Operand {
    match r.below(8) {
        0 => code.u32(r.below(1 << 31) as u32),
        1 => code.pointer(u32::from(BUFFER) + 4 * r.below(9) as u32, ScalarType::F32),
        _ => {
            let dsd = line(tile, count, bytes, r);
            code.dsd(dsd)
        }
    }
}

/// Whether it is asynchronous, on which microthread, how urgent, and what ends it.
fn options(code: &mut Code, color: u8, may_wait: bool, r: &mut Random) -> OpOptions {
    let is_async = may_wait && r.one_in(3);
    let thread = code.constant(u64::from(color));
    let priorities = [Priority::Low, Priority::Medium, Priority::High];
    let done = code.constant(u64::from(DONE));
    OpOptions {
        is_async,
        ut_id: is_async.then_some(thread),
        priority: r.one_in(2).then(|| priorities[r.below(3)]),
        on_done: r.one_in(5).then_some(Completion::Activate(done)),
        on_control: r.one_in(4).then_some(OnControl::Terminate),
        ..OpOptions::default()
    }
}

/// The operation of a role and what it leads to.
fn act(tile: &mut Tile1, code: &mut Code, role: Role, r: &mut Random) {
    match role {
        Role::Task(_) => {}
        Role::Send(color, count) => {
            let out = tile.fabout(color % 6, color, count);
            work(tile, code, (None, Some(out)), (color, count), r);
        }
        Role::Command(color, count) => command(tile, code, color, count, r),
        Role::Receive(color, count, send) => {
            let endless = if r.one_in(25) { 0x7fff } else { count };
            let fabin = tile.fabin(color % 8, endless);
            let out = send.map(|color| tile.fabout(color % 6, color, count));
            work(tile, code, (Some(fabin), out), (color, count), r);
        }
        Role::Fifo(color, count) => through_fifo(tile, code, color, count, r),
        Role::Loop(color, count) => {
            let first = 4 + r.below(6) as u16;
            let (mem, out) = (
                tile.mem(BUFFER, first, 4),
                tile.fabout(color % 6, color, first),
            );
            let (mem, out) = (code.dsd(mem), code.dsd(out));
            code.op(Opcode::Mov32, out, &[mem]);
            let fabin = tile.fabin(color % 8, count);
            let out = tile.fabout(color % 6, color, count);
            work(tile, code, (Some(fabin), Some(out)), (color, count), r);
        }
    }
}

/// A random operation with these fabric operands.
fn work(
    tile: &mut Tile1,
    code: &mut Code,
    (fabin, out): (Option<Dsd>, Option<Dsd>),
    (color, count): (u8, u16),
    r: &mut Random,
) {
    let (opcode, source_count) = OPS[r.below(OPS.len())];
    let bytes = [4, 2][r.below(4) / 3];
    let options = options(code, color, fabin.is_some() || out.is_some(), r);
    let dest = match out {
        Some(out) => code.dsd(out),
        None if r.one_in(8) => code.pointer(u32::from(BUFFER) + 8, ScalarType::F32),
        None => {
            let dsd = line(tile, count, bytes, r);
            code.dsd(dsd)
        }
    };
    let mut sources: Vec<Operand> = (0..source_count)
        .map(|_| local(tile, code, count, bytes, r))
        .collect();
    match (fabin, r.one_in(5)) {
        (Some(fabin), _) => {
            let place = r.below(source_count);
            sources[place] = code.dsd(fabin);
        }
        (None, true) if out.is_none() => sources[0] = dest,
        _ => {}
    }
    code.op_with(opcode, dest, &sources, options);
}

/// Sends on a color, and moves switches behind it.
fn command(tile: &mut Tile1, code: &mut Code, color: u8, count: u16, r: &mut Random) {
    let advances = r.one_in(3);
    for round in 0..1 + r.below(2) {
        let queue = (color + round as u8) % 6;
        let out = tile.fabout_with(queue, color, count, false, advances);
        work(
            tile,
            code,
            (None, Some(out)),
            (color + round as u8, count),
            r,
        );
        if !advances {
            let out = tile.fabout_with(queue, color, 1, true, false);
            let opcode = [ADV, NOP, RST, TEARDOWN][r.below(9) % 4];
            let payload = code.u32(commands(&[(opcode, !r.one_in(3)); 8], 0));
            let out = code.dsd(out);
            code.op(Opcode::Mov32, out, &[payload]);
        }
    }
}

/// What arrives goes through a FIFO into memory.
fn through_fifo(tile: &mut Tile1, code: &mut Code, color: u8, count: u16, r: &mut Random) {
    tile.program.fifos.push(FifoSetup {
        buffer: u32::from(BUFFER) + 4 * u32::from(WORDS) - 64,
        bytes: 4 << r.below(5),
        element_bytes: 4,
        activate_pop: None,
        activate_push: None,
    });
    let fifo = tile.program.fifos.len() as u8 - 1;
    tile.program.shapes.push(DsdShape::Fifo { fifo });
    let fifo = Dsd {
        shape: tile.program.shapes.len() as u16 - 1,
        base: 0,
        extent: 0,
        stride: 0,
    };
    let (fabin, mem) = (tile.fabin(color % 8, count), tile.mem(BUFFER, count, 4));
    let (fabin, mem, fifo) = (code.dsd(fabin), code.dsd(mem), code.dsd(fifo));
    let thread = code.constant(u64::from(color % 8));
    let options = OpOptions {
        is_async: true,
        ut_id: Some(thread),
        ..OpOptions::default()
    };
    code.op_with(Opcode::Mov32, fifo, &[fabin], options);
    code.op(Opcode::Mov32, mem, &[fifo]);
}

/// What memory holds at first: small numbers, or any bits, NaNs among them.
fn initial(number: u16, r: &mut Random) -> Vec<u16> {
    let wild = r.one_in(4);
    let bits = |n: u16| match wild {
        true => (r.below(1 << 31) as u32) << 1 | (r.below(2) as u32),
        false => (f32::from(number % 5 + n % 7) / 4.0).to_bits(),
    };
    let bits: Vec<u32> = (0..WORDS).map(bits).collect();
    let halves = bits
        .iter()
        .flat_map(|&bits| [bits as u16, (bits >> 16) as u16]);
    halves.collect()
}

/// Writes the register of a color: what it holds, or what makes the color end here as well, or no longer.
fn write_register(code: &mut Code, colors: &Colors, r: &mut Random) {
    if colors.is_empty() {
        return;
    }
    let (color, setup) = &colors[r.below(colors.len())];
    let address = code.constant(COLOR_REGISTERS + u64::from(*color));
    let src = if r.one_in(3) {
        let ends = Directions(setup.tx.0 ^ R.bit());
        code.constant(u64::from(ends.0) | u64::from(setup.rx.0) << 5)
    } else {
        let dst = code.slot();
        code.code.push(Inst::ReadConfig { dst, address });
        dst
    };
    code.code.push(Inst::WriteConfig { address, src });
}

fn build(sketch: &Sketch, number: u16, r: &mut Random) -> (Tile1, Colors) {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(WORDS));
    let values = initial(number, r);
    tile.program.memory.push((u32::from(BUFFER), values));
    for role in &sketch.roles {
        match *role {
            Role::Receive(color, ..) | Role::Fifo(color, _) | Role::Loop(color, _) => {
                tile.input_queue(color % 8, color);
            }
            Role::Task(color) => {
                tile.input_queue(color % 8, color);
                let mut code = Code::with_params(1);
                code.store(ScalarType::U32, 8 + 4 * u32::from(color), Slot(0));
                tile.task(TaskKind::Data, color, 1, code);
            }
            Role::Send(..) | Role::Command(..) => {}
        }
    }
    let mut done = Code::default();
    done.note(u32::from(BUFFER) + 12, 3);
    tile.task(TaskKind::Local, DONE, 0, done);
    let mut code = Code::default();
    for &role in &sketch.roles {
        if r.one_in(3) {
            let at = [0, u32::from(BUFFER) + 40][r.below(2)];
            (0..r.below(150)).for_each(|_| code.note(at, 1));
        }
        act(&mut tile, &mut code, role, r);
        if r.one_in(6) {
            write_register(&mut code, &sketch.colors, r);
        }
        if r.one_in(6) {
            work(&mut tile, &mut code, (None, None), (0, 70), r);
        }
    }
    code.unblock_host();
    tile.export("run", code);
    (tile, sketch.colors.clone())
}

/// A random program.
pub fn program(seed: u64) -> Arc<Design> {
    let mut r = Random(seed);
    r.below(2);
    let sketches = sketch(&mut r);
    let arch = if r.one_in(3) { Arch::Wse3 } else { Arch::Wse2 };
    let tiles = sketches.iter().enumerate();
    let tiles = tiles.map(|(n, sketch)| build(sketch, n as u16, &mut r));
    design(arch, WIDTH, tiles.collect())
}
