//! How fast the engine runs, and how much memory it takes.
//!
//! `cargo run --release --example speed [width height length]`: every row is a chain that adds up
//! `length` words from east to west.

use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;
use std::time::Instant;

const VECTOR: u16 = 16;

fn only(side: Direction) -> Directions {
    Directions(side.bit())
}

/// A PE that receives on one color and sends on the other, either or both.
fn program(receive: Option<u8>, send: Option<u8>, length: u16) -> TileProgram {
    let fabric_in = DsdShape::FabIn {
        queue: 2,
        color: receive,
        control_transform: false,
        simd: Simd::One,
    };
    let fabric_out = DsdShape::FabOut {
        queue: 2,
        color: send,
        control: false,
        advance_switch: false,
        wavelet_index_offset: false,
        control_transform: false,
        simd: Simd::One,
    };
    let memory = DsdShape::Mem1d {
        element_bytes: 4,
        wavelet_index_offset: false,
    };
    let dsd = |shape, base, stride| {
        Dsd {
            shape,
            base,
            extent: length,
            stride,
        }
        .pack()
    };
    let slots = [dsd(0, VECTOR, 1), dsd(1, 0, 0), dsd(2, 0, 0)];
    let mut code: Vec<Inst> = Vec::new();
    for (n, bits) in slots.into_iter().enumerate() {
        code.push(Inst::Const {
            dst: Slot(n as u16),
            bits,
        });
    }
    let (mem, fabin, fabout) = (
        Operand::Dsd(Slot(0)),
        Operand::Dsd(Slot(1)),
        Operand::Dsd(Slot(2)),
    );
    let (opcode, sources) = match receive {
        Some(_) => (Opcode::Fadds, vec![mem, fabin]),
        None => (Opcode::Fmovs, vec![mem]),
    };
    code.push(Inst::Operation(Box::new(DsdOperation {
        opcode,
        dest: if send.is_some() { fabout } else { mem },
        sources,
        options: OpOptions::default(),
        result: None,
    })));
    code.push(Inst::System {
        call: SystemCall::UnblockCmdStream,
        args: Box::new([]),
        dst: None,
    });
    let run = Function {
        name: "run".into(),
        slots: 3,
        spans: vec![Span::default(); code.len()],
        code,
        ..Function::default()
    };
    let mut program = TileProgram {
        file: "pe.csl".into(),
        functions: vec![run],
        memory_bytes: u32::from(VECTOR) + 4 * u32::from(length),
        memory: vec![(0, vec![VECTOR])],
        symbols: vec![Symbol {
            name: "run".into(),
            kind: SymbolKind::Function(FunctionId(0)),
        }],
        shapes: vec![memory, fabric_in, fabric_out],
        ..TileProgram::default()
    };
    if let Some(color) = receive {
        program.input_queues[2] = Some(InputQueueSetup {
            color,
            priority: Priority::Low,
            span: Span::default(),
        });
    }
    program
}

fn router(receive: Option<u8>, send: Option<u8>) -> RouterSetup {
    let mut colors = Vec::new();
    let setup = |rx, tx| ColorSetup {
        rx: only(rx),
        tx: only(tx),
        ..ColorSetup::default()
    };
    if let Some(color) = receive {
        colors.push((color, setup(Direction::East, Direction::Ramp)));
    }
    if let Some(color) = send {
        colors.push((color, setup(Direction::Ramp, Direction::West)));
    }
    colors.sort_by_key(|(color, _)| *color);
    RouterSetup { colors }
}

/// Chains along all rows; the programs and routers that differ are few.
fn chains(width: u16, height: u16, length: u16) -> Design {
    let last = u32::from(width) - 1;
    let kinds = [(0, None), (1, Some(0)), (0, Some(1))];
    let mut programs = Vec::new();
    let mut routers = Vec::new();
    for (receive, send) in kinds {
        programs.push(Arc::new(program(Some(receive), send, length)));
        routers.push(Arc::new(router(Some(receive), send)));
    }
    let tail = Some(if last % 2 == 1 { 0 } else { 1 });
    programs.push(Arc::new(program(None, tail, length)));
    routers.push(Arc::new(router(None, tail)));
    let kind = |x: u32| match x {
        0 => 0,
        x if x == last => 3,
        x if x % 2 == 1 => 1,
        _ => 2,
    };
    let row = (0..=last).map(|x| Tile {
        program: kind(x),
        router: kind(x),
    });
    let row: Vec<Tile> = row.collect();
    Design {
        arch: Arch::Wse2,
        width,
        height,
        fabric: (width + 7, height + 2),
        offsets: (4, 1),
        programs,
        routers,
        tiles: row.repeat(usize::from(height)),
        exports: Vec::new(),
        params: Vec::new(),
        files: vec!["pe.csl".into()],
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Result<Vec<u16>, _> = std::env::args().skip(1).map(|a| a.parse()).collect();
    let args = args?;
    let get = |n: usize, default| args.get(n).copied().unwrap_or(default);
    let (width, height, length) = (get(0, 512), get(1, 4), get(2, 4096));
    let begin = Instant::now();
    let mut simulator = Simulator::new(
        Arc::new(chains(width, height, length)),
        SimOptions::default(),
    )?;
    let loaded = begin.elapsed();
    let report = simulator.launch("run", &[])?;
    let ran = begin.elapsed() - loaded;
    println!(
        "{width} x {height} PEs, {length} words: {} cycles",
        report.cycles()
    );
    println!("loaded in {loaded:.2?}, ran in {ran:.2?}");
    println!(
        "{:.1} million active tile-cycles per second",
        report.tile_cycles as f64 / ran.as_secs_f64() / 1e6
    );
    Ok(())
}
