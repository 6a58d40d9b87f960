//! How fast the engine runs, and how much memory it takes; one line of JSON for each run.
//!
//! `speed chains WIDTH HEIGHT LENGTH`: every row is a chain that adds up LENGTH words from east to
//! west. `speed bundle LAYOUT ARCH WIDTH HEIGHT LENGTH BYTES`: an emitted program that takes
//! LENGTH elements of BYTES bytes a PE in `x`. `speed code WIDTH HEIGHT TURNS CLOCK`: every PE runs a
//! task TURNS times, each of them a loop over two arrays with a branch and a call; PEs are busy all the
//! time, so that active tile-cycles are the PEs times the cycles.
//!
//! `--threads N` goes first, then `--reference`, the machine without its shortcuts. `cpu` counts the seconds the launch kept the main thread's processor busy, which says more than
//! `wall` on a machine that others use too; `million_per_s` is by `cpu`, with several threads by
//! `wall`. `checksum` is taken over all results.

use fabsim::csl::{compile, compile_sources, CompileOptions};
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::error::Error;
use std::path::Path;
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
        priority: None,
    };
    let fabric_out = DsdShape::FabOut {
        queue: 2,
        color: send,
        control: false,
        advance_switch: false,
        wavelet_index_offset: false,
        control_transform: false,
        simd: Simd::One,
        priority: None,
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
        functions: vec![Arc::new(run)],
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
        clock: Clock::default(),
        constants: Vec::new(),
        older: false,
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

/// Seconds this thread has kept a processor busy, where the system says so.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// The most memory this process has had, in MB, where the system says so.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kb.unwrap_or(0.0) / 1e3
}

/// Order-dependent, so that no two results can be exchanged unseen (FNV-1a).
fn checksum(words: &[u32]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ u64::from(*word)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Small numbers that add up without rounding, also in 16 bits.
fn input(count: usize, bytes: usize) -> Vec<u32> {
    let number = |n: usize| (n * 7919 % 13) as f32 / 8.0;
    let bits = |value: f32| match bytes {
        2 => u32::from(half::f16::from_f32(value).to_bits()),
        _ => value.to_bits(),
    };
    (0..count).map(|n| bits(number(n))).collect()
}

/// What is run, and on what.
struct Job {
    design: Design,
    /// Elements a PE and their size, if there is input.
    vector: Option<(usize, usize)>,
    /// Seconds the front end took.
    compiled: f64,
    /// All PEs execute all the time.
    busy: bool,
}

fn run(job: Job, options: SimOptions) -> Result<String, Box<dyn Error>> {
    let (width, height) = (job.design.width, job.design.height);
    let begin = Instant::now();
    let mut simulator = Simulator::new(Arc::new(job.design), options.clone())?;
    let loaded = begin.elapsed().as_secs_f64();
    if let Some((length, bytes)) = job.vector {
        let words = input(length * usize::from(width) * usize::from(height), bytes);
        let is16 = bytes == 2;
        simulator.memcpy_h2d("x", 0, 0, width, height, length, &words, is16, false)?;
    }
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let launched = simulator.launch("run", &[]);
    let wall = begin.elapsed().as_secs_f64();
    let cpu = cpu_seconds()
        .zip(cpu)
        .map_or(wall, |(end, begin)| end - begin);
    let report = launched?;
    let seconds = if options.threads == 1 { cpu } else { wall };
    let mut results = Vec::new();
    if let Some((length, bytes)) = job.vector {
        results = simulator.memcpy_d2h("x", 0, 0, width, height, length, bytes == 2, false)?;
    }
    let pes = u64::from(width) * u64::from(height);
    let active = if job.busy {
        pes * report.cycles()
    } else {
        report.tile_cycles
    };
    let end = simulator.stop()?;
    Ok(format!(
        "{{\"pes\": {}, \"cycles\": {}, \"first\": {}, \"end\": {}, \"tile_cycles\": {}, \
         \"compile\": {:.4}, \"load\": {loaded:.4}, \"wall\": {wall:.4}, \"cpu\": {cpu:.4}, \
         \"million_per_s\": {:.2}, \"peak_mb\": {:.0}, \"checksum\": \"{:016x}\"}}",
        usize::from(width) * usize::from(height),
        report.cycles(),
        report.first_completion,
        end.cycles,
        active,
        job.compiled,
        active as f64 / seconds.max(1e-6) / 1e6,
        peak_mb(),
        checksum(&results),
    ))
}

/// A task that starts itself again; its loop is of the kind that kernels spend their time in.
const CODE: &str = "
param memcpy_params;
const sys = @import_module(\"<memcpy/memcpy>\", memcpy_params);
param turns: u16;
const step_id = @get_local_task_id(9);
var x = @zeros([64]f32);
var y = @zeros([64]f32);
var left: u16 = turns;
fn scaled(a: f32, i: u16) f32 { return a * 0.5 + @as(f32, i); }
task step() void {
  var i: u16 = 0;
  while (i < 64) : (i += 1) {
    y[i] = scaled(x[i], i) + y[i];
    if (y[i] > 100.0) { y[i] -= 100.0; }
  }
  left -= 1;
  if (left > 0) { @activate(step_id); } else { sys.unblock_cmd_stream(); }
}
fn run() void { @activate(step_id); }
comptime { @bind_local_task(step, step_id); @export_symbol(run); }
";

const CODE_LAYOUT: &str = "
param width: u16; param height: u16; param turns: u16;
const memcpy = @import_module(\"<memcpy/get_params>\", .{ .width = width, .height = height });
layout {
  @set_rectangle(width, height);
  for (@range(u16, width)) |x| {
    for (@range(u16, height)) |y| {
      @set_tile_code(x, y, \"pe.csl\", .{ .memcpy_params = memcpy.get_params(x), .turns = turns });
    }
  }
  @export_name(\"run\", fn()void);
}
";

/// The program of `speed code`.
fn code(width: u16, height: u16, turns: u16, clock: Clock) -> Result<Design, Box<dyn Error>> {
    let files = [("layout.csl", CODE_LAYOUT), ("pe.csl", CODE)];
    let files = files.map(|(name, text)| (name.into(), text.to_string()));
    let param = |name: &str, value: u16| (name.to_string(), i64::from(value));
    let options = CompileOptions {
        clock,
        params: vec![
            param("width", width),
            param("height", height),
            param("turns", turns),
        ],
        ..CompileOptions::new(Arch::Wse3)
    };
    let compiled = compile_sources(&files.into(), Path::new("layout.csl"), &options);
    compiled.design.map_err(|said| {
        let texts: Vec<String> = said.iter().map(ToString::to_string).collect();
        texts.join("\n").into()
    })
}

fn job(args: &[String]) -> Result<Job, Box<dyn Error>> {
    let number = |n: usize| args.get(n).map_or(Ok(0), |text| text.parse::<u16>());
    match args.first().map(String::as_str) {
        Some("chains") => Ok(Job {
            design: chains(number(1)?.max(2), number(2)?.max(1), number(3)?.max(1)),
            vector: None,
            compiled: 0.0,
            busy: false,
        }),
        Some("code") => Ok(Job {
            design: code(
                number(1)?.max(1),
                number(2)?.max(1),
                number(3)?.max(1),
                args.get(4)
                    .and_then(|name| Clock::named(name))
                    .unwrap_or_default(),
            )?,
            vector: None,
            compiled: 0.0,
            busy: true,
        }),
        Some("bundle") if args.len() >= 7 => {
            let arch = match args[2].as_str() {
                "wse3" => Arch::Wse3,
                _ => Arch::Wse2,
            };
            let begin = Instant::now();
            let design = compile(Path::new(&args[1]), &CompileOptions::new(arch));
            let compiled = begin.elapsed().as_secs_f64();
            let messages = |all: Vec<fabsim::diagnostic::Diagnostic>| {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                all.join("\n")
            };
            Ok(Job {
                design: design.map_err(messages)?,
                vector: Some((usize::from(number(5)?), usize::from(number(6)?))),
                compiled,
                busy: false,
            })
        }
        _ => Err(
            "usage: speed [--threads N] [--reference] chains WIDTH HEIGHT LENGTH \
                  | code WIDTH HEIGHT TURNS CLOCK | bundle LAYOUT ARCH WIDTH HEIGHT LENGTH BYTES"
                .into(),
        ),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut options = SimOptions::default();
    if args.first().is_some_and(|arg| arg == "--threads") && args.len() > 2 {
        options.threads = args[1].parse()?;
        args.drain(..2);
    }
    if args.first().is_some_and(|arg| arg == "--reference") {
        options.reference = true;
        args.remove(0);
    }
    println!("{}", run(job(&args)?, options)?);
    Ok(())
}
