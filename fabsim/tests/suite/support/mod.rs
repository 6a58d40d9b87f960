//! Builds small designs by hand, so that the engine can be tested without the front end.
#![allow(dead_code)] // each test file uses its part

use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;

pub const W: Direction = Direction::West;
pub const E: Direction = Direction::East;
pub const S: Direction = Direction::South;
pub const N: Direction = Direction::North;
pub const R: Direction = Direction::Ramp;

pub fn set(sides: &[Direction]) -> Directions {
    Directions(sides.iter().fold(0, |bits, side| bits | side.bit()))
}

pub fn route(rx: &[Direction], tx: &[Direction]) -> ColorSetup {
    ColorSetup {
        rx: set(rx),
        tx: set(tx),
        ..ColorSetup::default()
    }
}

pub fn pos_rx(side: Direction) -> Option<SwitchPosition> {
    Some(SwitchPosition {
        rx: Some(set(&[side])),
        tx: None,
    })
}

pub fn pos_tx(side: Direction) -> Option<SwitchPosition> {
    Some(SwitchPosition {
        rx: None,
        tx: Some(set(&[side])),
    })
}

/// A control payload: (opcode, NOCE) per slot, the rest NOP+NOCE.
pub fn commands(slots: &[(u32, bool)], entry: u32) -> u32 {
    let places = [
        (22, 24),
        (25, 27),
        (28, 0),
        (1, 3),
        (4, 6),
        (7, 9),
        (10, 12),
        (13, 15),
    ];
    let mut payload = entry << 16;
    for (n, (opcode_at, noce_at)) in places.iter().enumerate() {
        let (opcode, noce) = slots.get(n).copied().unwrap_or((0, true));
        payload |= opcode << opcode_at | u32::from(noce) << noce_at;
    }
    payload
}

pub const NOP: u32 = 0;
pub const ADV: u32 = 1;
pub const RST: u32 = 2;
pub const TEARDOWN: u32 = 3;

/// Code of one function, with slots handed out as needed.
#[derive(Default, Clone)]
pub struct Code {
    pub code: Vec<Inst>,
    slots: u16,
}

impl Code {
    /// A function whose parameters take the first slots.
    pub fn with_params(params: u16) -> Code {
        Code {
            code: Vec::new(),
            slots: params,
        }
    }

    pub fn slot(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }

    pub fn constant(&mut self, bits: u64) -> Slot {
        let dst = self.slot();
        self.code.push(Inst::Const { dst, bits });
        dst
    }

    pub fn dsd(&mut self, dsd: Dsd) -> Operand {
        Operand::Dsd(self.constant(dsd.pack()))
    }

    pub fn u32(&mut self, value: u32) -> Operand {
        Operand::Scalar(self.constant(u64::from(value)), ScalarType::U32)
    }

    pub fn pointer(&mut self, address: u32, ty: ScalarType) -> Operand {
        Operand::Pointer(self.constant(u64::from(address)), ty)
    }

    pub fn op(&mut self, opcode: Opcode, dest: Operand, sources: &[Operand]) {
        self.op_with(opcode, dest, sources, OpOptions::default());
    }

    pub fn op_with(
        &mut self,
        opcode: Opcode,
        dest: Operand,
        sources: &[Operand],
        options: OpOptions,
    ) {
        self.code.push(Inst::Operation(Box::new(DsdOperation {
            opcode,
            dest,
            sources: sources.to_vec(),
            options,
            result: None,
        })));
    }

    /// An asynchronous operation that activates a local task.
    pub fn spawn(&mut self, opcode: Opcode, dest: Operand, sources: &[Operand], then: u64) {
        let id = self.constant(then);
        let options = OpOptions {
            is_async: true,
            on_done: Some(Completion::Activate(id)),
            ..OpOptions::default()
        };
        self.op_with(opcode, dest, sources, options);
    }

    pub fn load(&mut self, file: DsrFile, id: u8, dsd: Dsd) -> Operand {
        let slot = self.constant(dsd.pack());
        let dsr = Dsr { file, id };
        self.code.push(Inst::LoadDsr(Box::new(DsrLoad {
            dsr,
            dsd: slot,
            options: OpOptions::default(),
            save_address: false,
        })));
        Operand::Dsr(dsr)
    }

    pub fn system(&mut self, call: SystemCall, args: &[Slot]) {
        self.code.push(Inst::System {
            call,
            args: args.into(),
            dst: None,
        });
    }

    pub fn stamp(&mut self, address: u32) {
        let at = self.constant(u64::from(address));
        self.system(SystemCall::GetTimestamp, &[at]);
    }

    pub fn store(&mut self, ty: ScalarType, address: u32, src: Slot) {
        let address = self.constant(u64::from(address));
        self.code.push(Inst::Store { ty, address, src });
    }

    /// Appends a digit to the decimal number at `address`: a trace of what ran.
    pub fn note(&mut self, address: u32, digit: u64) {
        let (at, ty) = (self.constant(u64::from(address)), ScalarType::U32);
        let (old, ten, digit) = (self.slot(), self.constant(10), self.constant(digit));
        self.code.push(Inst::Load {
            ty,
            dst: old,
            address: at,
        });
        for (op, b) in [(BinaryOp::Mul, ten), (BinaryOp::Add, digit)] {
            self.code.push(Inst::Binary {
                op,
                ty,
                dst: old,
                a: old,
                b,
            });
        }
        self.code.push(Inst::Store {
            ty,
            address: at,
            src: old,
        });
    }

    pub fn activate(&mut self, id: u64) {
        let id = self.constant(id);
        self.code.push(Inst::Activate { id });
    }

    pub fn unblock_host(&mut self) {
        self.system(SystemCall::UnblockCmdStream, &[]);
    }
}

/// One tile program under construction.
pub struct Tile1 {
    pub program: TileProgram,
}

impl Tile1 {
    pub fn new(memory_bytes: u32) -> Tile1 {
        Tile1 {
            program: TileProgram {
                file: "pe.csl".into(),
                memory_bytes,
                ..TileProgram::default()
            },
        }
    }

    /// A program whose only function lets the next command in.
    pub fn idle() -> Tile1 {
        let mut tile = Tile1::new(0);
        let mut code = Code::default();
        code.unblock_host();
        tile.export("run", code);
        tile
    }

    /// Adds a function; its line in "pe.csl" is its number times 10 plus the instruction's.
    pub fn function(&mut self, params: u16, code: Code) -> FunctionId {
        let id = self.program.functions.len() as u32;
        let spans = (0..code.code.len() as u32).map(|n| Span {
            file: 0,
            line: (id + 1) * 10 + n,
            column: 1,
        });
        self.program.functions.push(Arc::new(Function {
            name: format!("f{id}"),
            params,
            slots: code.slots.max(params),
            spans: spans.collect(),
            code: code.code,
        }));
        FunctionId(id)
    }

    pub fn export(&mut self, name: &str, code: Code) {
        let id = self.function(0, code);
        self.program.symbols.push(Symbol {
            name: name.into(),
            kind: SymbolKind::Function(id),
        });
    }

    /// Exports a pointer stored at `at` to `target`.
    pub fn pointer(&mut self, name: &str, at: u32, target: u16) {
        self.program.memory.push((at, vec![target]));
        self.program.symbols.push(Symbol {
            name: name.into(),
            kind: SymbolKind::Pointer {
                pointer: at,
                element: ScalarType::F32,
            },
        });
    }

    pub fn task(&mut self, kind: TaskKind, id: u8, params: u16, code: Code) {
        let function = self.function(params, code);
        self.program.tasks.push(TaskBinding {
            kind,
            id,
            function,
            span: Span::default(),
        });
    }

    /// A local task that lets the next command in.
    pub fn finish_task(&mut self, id: u8) {
        let mut code = Code::default();
        code.unblock_host();
        self.task(TaskKind::Local, id, 0, code);
    }

    pub fn input_queue(&mut self, id: u8, color: u8) {
        self.program.input_queues[usize::from(id)] = Some(InputQueueSetup {
            color,
            priority: Priority::Low,
            span: Span::default(),
        });
    }

    fn shape(&mut self, shape: DsdShape) -> u16 {
        self.program.shapes.push(shape);
        self.program.shapes.len() as u16 - 1
    }

    pub fn mem(&mut self, base: u16, extent: u16, element_bytes: u8) -> Dsd {
        let shape = self.shape(DsdShape::Mem1d {
            element_bytes,
            wavelet_index_offset: false,
        });
        Dsd {
            shape,
            base,
            extent,
            stride: 1,
        }
    }

    pub fn fabin(&mut self, queue: u8, extent: u16) -> Dsd {
        let shape = self.shape(DsdShape::FabIn {
            queue,
            color: None,
            control_transform: false,
            simd: Simd::One,
            priority: None,
        });
        Dsd {
            shape,
            base: 0,
            extent,
            stride: 0,
        }
    }

    pub fn fabout(&mut self, queue: u8, color: u8, extent: u16) -> Dsd {
        self.fabout_with(queue, color, extent, false, false)
    }

    pub fn fabout_with(
        &mut self,
        queue: u8,
        color: u8,
        extent: u16,
        control: bool,
        advance_switch: bool,
    ) -> Dsd {
        let shape = self.shape(DsdShape::FabOut {
            queue,
            color: Some(color),
            control,
            advance_switch,
            wavelet_index_offset: false,
            control_transform: false,
            simd: Simd::One,
            priority: None,
        });
        Dsd {
            shape,
            base: 0,
            extent,
            stride: 0,
        }
    }
}

/// Colors of one router.
pub type Colors = Vec<(u8, ColorSetup)>;

/// A design of one row or more, tile by tile.
pub fn design(arch: Arch, width: u16, tiles: Vec<(Tile1, Colors)>) -> Arc<Design> {
    let height = (tiles.len() / usize::from(width)) as u16;
    let (programs, routers): (Vec<_>, Vec<_>) = tiles
        .into_iter()
        .map(|(tile, mut colors)| {
            colors.sort_by_key(|(color, _)| *color);
            (Arc::new(tile.program), Arc::new(RouterSetup { colors }))
        })
        .unzip();
    let count = programs.len() as u32;
    Arc::new(Design {
        arch,
        clock: Clock::Streams, // what a unit does in a cycle, whatever code around it takes
        constants: Vec::new(),
        older: false,
        width,
        height,
        fabric: (width + 7, height + 2),
        offsets: (4, 1),
        programs,
        routers,
        tiles: (0..count)
            .map(|n| Tile {
                program: n,
                router: n,
            })
            .collect(),
        exports: Vec::new(),
        params: Vec::new(),
        files: vec!["pe.csl".into()],
    })
}

pub fn simulate(design: &Arc<Design>) -> Simulator {
    simulate_with(design, SimOptions::default())
}

/// A simulator that keeps the landings.
pub fn traced(design: &Arc<Design>) -> Simulator {
    let options = SimOptions {
        trace_landings: true,
        ..SimOptions::default()
    };
    simulate_with(design, options)
}

pub fn simulate_with(design: &Arc<Design>, options: SimOptions) -> Simulator {
    Simulator::new(Arc::clone(design), options).expect("the design loads")
}

/// f32 values as the host's words.
pub fn words(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

/// The word at a byte address of a PE.
pub fn word(sim: &Simulator, x: u32, y: u32, address: u64) -> u32 {
    let pe = sim.machine().fabric.grid.at(x, y);
    let memory = &sim.machine().pes[pe.index()].core.memory;
    memory.load(address, 4).expect("in memory") as u32
}

/// A time stamp at a byte address of a PE.
pub fn stamp(sim: &Simulator, x: u32, y: u32, address: u64) -> u64 {
    let pe = sim.machine().fabric.grid.at(x, y);
    let memory = &sim.machine().pes[pe.index()].core.memory;
    (0..3).fold(0, |all, n| {
        all | memory.load(address + 2 * n, 2).expect("in memory") << (16 * n)
    })
}

/// Landings of a color at a PE as (cycle, side, payload).
pub fn landings(sim: &Simulator, x: u32, y: u32, color: u8) -> Vec<(u64, Direction, u32)> {
    let machine = sim.machine();
    let pe = machine.fabric.grid.at(x, y);
    let trace = machine.fabric.trace.iter().flatten();
    trace
        .filter(|landing| landing.pe == pe && landing.color == color)
        .map(|landing| (landing.cycle, landing.side, landing.wavelet.payload))
        .collect()
}
