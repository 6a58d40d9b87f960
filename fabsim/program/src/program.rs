//! What the CSL front end hands to the engine: a `Design`, complete and free of source syntax.
//!
//! Everything here is plain data. The front end (`csl/`) makes it, the engine (`fabric/`, `pe/`,
//! `host/`) runs it; neither knows the other. In reading order: the design and its tiles, the
//! router set-up, the tile program, scalar code, DSDs and their operations.
//!
//! Conventions: addresses are byte addresses in a PE's memory (16-bit words, little-endian);
//! a slot holds the raw bits of one scalar, zero-extended to 64 bits; ids of tasks, colors and
//! queues are the plain machine numbers.

pub use crate::clock::Clock;
pub use crate::direction::{Direction, Directions};
pub use crate::opcode::Opcode;
pub use crate::scalar_type::ScalarType;
use std::sync::Arc;

/// The two architectures fabsim knows; every difference between them is looked up in `timing` or
/// `limits` by this.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    Wse2,
    Wse3,
}

/// A source position, for messages about running code. Lines and columns count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// A whole compiled program: the rectangle, one program and one router set-up per PE.
#[derive(Clone, Debug)]
pub struct Design {
    pub arch: Arch,
    /// Whose cycles it counts.
    pub clock: Clock,
    /// Numbers other than those of the clock, by name: a table that was read from a file.
    pub constants: Vec<(String, u64)>,
    /// It uses forms of before 1.0, so the compiler of its time made its code.
    pub older: bool,
    pub width: u16,
    pub height: u16,
    /// Size of the simulated fabric and the position of PE (0, 0) in it, as given to the compiler.
    pub fabric: (u16, u16),
    pub offsets: (u16, u16),
    /// Distinct tile programs; `tiles[y * width + x].program` points in here.
    pub programs: Vec<Arc<TileProgram>>,
    /// Distinct router set-ups; `tiles[..].router` points in here.
    pub routers: Vec<Arc<RouterSetup>>,
    /// Row-major over the rectangle.
    pub tiles: Vec<Tile>,
    /// Host-visible names in declaration order; the index is the symbol id.
    pub exports: Vec<Export>,
    /// Root parameters as bound, for `out.json`.
    pub params: Vec<(String, String)>,
    /// Source file paths; `Span::file` points in here.
    pub files: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    pub program: u32,
    pub router: u32,
}

/// One `@export_name`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    pub name: String,
    pub kind: ExportKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportKind {
    /// A pointer variable the host copies to or from; `element` is what it points to.
    Tensor {
        element: ScalarType,
        mutable: bool,
    },
    Function {
        params: Vec<ScalarType>,
    },
}

// ---------------------------------------------------------------------------------------------
// Routers

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct RouterSetup {
    /// (color, configuration), sorted by color, one entry a color.
    pub colors: Vec<(u8, ColorSetup)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ColorSetup {
    pub rx: Directions,
    pub tx: Directions,
    /// `pos1..pos3` as declared; position 0 is `rx`/`tx` above. The side a position leaves out
    /// keeps what the previous valid position had (the fold is by index).
    pub positions: [Option<SwitchPosition>; 3],
    pub start_position: u8,
    pub ring_mode: bool,
    pub pop_mode: PopMode,
    pub teardown: bool,
    pub filter: Option<Filter>,
    pub color_swap_x: bool,
    pub color_swap_y: bool,
    /// Where the configuration was declared.
    pub span: SpanKey,
}

impl ColorSetup {
    /// Inputs and outputs at each declared position, with its number, position 0 first.
    pub fn sides(&self) -> Vec<(u8, Directions, Directions)> {
        let (mut rx, mut tx) = (self.rx, self.tx);
        let mut all = vec![(0, rx, tx)];
        for (number, position) in (1..).zip(&self.positions) {
            if let Some(position) = position {
                rx = position.rx.unwrap_or(rx);
                tx = position.tx.unwrap_or(tx);
                all.push((number, rx, tx));
            }
        }
        all
    }
}

/// A span that is ignored by equality and hashing, so that equal set-ups stay one.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpanKey(pub Span);
impl PartialEq for SpanKey {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for SpanKey {}
impl std::hash::Hash for SpanKey {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// One switch position: the sides it overrides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SwitchPosition {
    pub rx: Option<Directions>,
    pub tx: Option<Directions>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PopMode {
    #[default]
    NoPop,
    AlwaysPop,
    PopOnAdvance,
    PopOnAdvanceNop,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Filter {
    Counter {
        count_data: bool,
        count_control: bool,
        filter_control: bool,
        initial: u32,
        limit: u32,
        max: u32,
    },
    SparseCounter {
        count_data: bool,
        count_control: bool,
        initial: u32,
        limit1: Option<u32>,
        limit2: Option<u32>,
        max: u32,
    },
    Range {
        min: u16,
        max: u16,
    },
}

// ---------------------------------------------------------------------------------------------
// Tile programs

/// Everything one compute element starts with.
#[derive(Clone, Debug, Default)]
pub struct TileProgram {
    /// The file given to `@set_tile_code`.
    pub file: String,
    /// Programs share functions that are alike, so that those of many PEs stay in the caches.
    pub functions: Vec<Arc<Function>>,
    /// The float format of 16 bits.
    pub half: ScalarType,
    pub tasks: Vec<TaskBinding>,
    /// Bytes of data memory in use, globals and static locals; addresses are below this.
    pub memory_bytes: u32,
    /// Initial contents as (byte address, words); what is not listed starts as zero words but
    /// counts as uninitialised.
    pub memory: Vec<(u32, Vec<u16>)>,
    /// What `@export_symbol` attached; `name` is the host-visible name.
    pub symbols: Vec<Symbol>,
    /// Variables with a place in memory, for debuggers.
    pub variables: Vec<Variable>,
    pub input_queues: [Option<InputQueueSetup>; 8],
    pub output_queues: [Option<OutputQueueSetup>; 8],
    /// Local task ids activated at comptime.
    pub active_at_start: Vec<u8>,
    /// What was blocked or unblocked at comptime, in order; `true` is blocked.
    pub blocked_at_start: Vec<(BlockTarget, bool)>,
    /// Bit per task id of high priority at start.
    pub high_tasks: u64,
    /// Priority of the main thread at start, from medium low, the usual one, up.
    pub main_priority: u8,
    /// DSRs loaded at comptime.
    pub dsrs: Vec<DsrLoadValue>,
    /// Static parts of DSDs; `Dsd::shape` points in here.
    pub shapes: Vec<DsdShape>,
    pub fifos: Vec<FifoSetup>,
    /// (color, function) of `@set_teardown_handler`.
    pub teardown_handlers: Vec<(u8, FunctionId)>,
    /// (queue is an input queue, queue, function) of `@set_empty_queue_handler`.
    pub empty_queue_handlers: Vec<(bool, u8, FunctionId)>,
    /// Configuration words written at comptime, in order.
    pub config: Vec<(u16, u16)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TaskKind {
    /// Id: the color on wse2, the input queue on wse3.
    Data,
    Local,
    Control,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskBinding {
    pub kind: TaskKind,
    pub id: u8,
    pub function: FunctionId,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A pointer variable at `pointer`: the host reads the 16-bit byte address stored there.
    Pointer {
        pointer: u32,
        element: ScalarType,
    },
    Function(FunctionId),
}

/// A variable by its name in the source; `module.name` where it is imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    pub name: String,
    pub address: u32,
    pub bytes: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputQueueSetup {
    pub color: u8,
    pub priority: Priority,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputQueueSetup {
    /// wse3 binds the color here; on wse2 the fabout DSD carries it.
    pub color: Option<u8>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Priority {
    #[default]
    Low,
    Medium,
    High,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockTarget {
    Color(u8),
    InputQueue(u8),
    Data(u8),
    Local(u8),
    Microthread(u8),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FifoSetup {
    pub buffer: u32,
    pub bytes: u32,
    pub element_bytes: u8,
    pub activate_pop: Option<u8>,
    pub activate_push: Option<u8>,
}

// ---------------------------------------------------------------------------------------------
// Scalar code

/// A function or task body. Slots `0..params` hold the arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Function {
    pub name: String,
    pub params: u16,
    pub slots: u16,
    pub code: Vec<Inst>,
    /// One span per instruction.
    pub spans: Vec<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot(pub u16);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Negate,
    BitNot,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    /// Arithmetic on signed types.
    Shr,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Inst {
    Const {
        dst: Slot,
        bits: u64,
    },
    Copy {
        dst: Slot,
        src: Slot,
    },
    Unary {
        op: UnaryOp,
        ty: ScalarType,
        dst: Slot,
        a: Slot,
    },
    Binary {
        op: BinaryOp,
        ty: ScalarType,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Compare {
        op: CompareOp,
        ty: ScalarType,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    /// `a` if the condition holds, else `b`: a predicated move. Made by lowering only.
    Select {
        dst: Slot,
        condition: Slot,
        a: Slot,
        b: Slot,
    },
    /// `@as` between run-time scalars.
    Convert {
        from: ScalarType,
        to: ScalarType,
        dst: Slot,
        a: Slot,
    },
    Load {
        ty: ScalarType,
        dst: Slot,
        address: Slot,
    },
    Store {
        ty: ScalarType,
        address: Slot,
        src: Slot,
    },
    /// A packed `Dsd` (8 bytes) in memory.
    LoadDsd {
        dst: Slot,
        address: Slot,
    },
    StoreDsd {
        address: Slot,
        src: Slot,
    },
    /// Copies `bytes` between memory places (struct and array assignment).
    CopyMemory {
        to: Slot,
        from: Slot,
        bytes: u32,
    },
    Jump {
        to: u32,
    },
    Branch {
        condition: Slot,
        when: bool,
        to: u32,
    },
    Call {
        function: FunctionId,
        args: Box<[Slot]>,
        dst: Option<Slot>,
    },
    /// Through a function pointer: the slot holds the `FunctionId` plus one; 0 is null.
    CallPointer {
        function: Slot,
        args: Box<[Slot]>,
        dst: Option<Slot>,
    },
    Return {
        src: Option<Slot>,
    },
    /// DSD arithmetic on packed values.
    DsdSetBase {
        dst: Slot,
        dsd: Slot,
        address: Slot,
    },
    DsdSetLength {
        dst: Slot,
        dsd: Slot,
        length: Slot,
    },
    DsdSetStride {
        dst: Slot,
        dsd: Slot,
        stride: Slot,
    },
    /// `by` counts elements of `element_bytes`.
    DsdAdvance {
        dst: Slot,
        dsd: Slot,
        by: Slot,
        element_bytes: u8,
    },
    Operation(Box<DsdOperation>),
    Map(Box<MapOperation>),
    LoadDsr(Box<DsrLoad>),
    Activate {
        id: Slot,
    },
    Block {
        target: BlockKind,
        id: Slot,
    },
    Unblock {
        target: BlockKind,
        id: Slot,
    },
    ReadConfig {
        dst: Slot,
        address: Slot,
    },
    WriteConfig {
        address: Slot,
        src: Slot,
    },
    /// A call into what is hardware or host on the machine.
    System {
        call: SystemCall,
        args: Box<[Slot]>,
        dst: Option<Slot>,
    },
    Assert {
        condition: Slot,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockKind {
    Color,
    InputQueue,
    Data,
    Local,
    Microthread,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatFunction {
    Sin,
    Cos,
    Exp,
    Log,
    Tanh,
    /// Of two numbers.
    Pow,
}

/// Natives behind the standard modules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SystemCall {
    /// `<memcpy/memcpy>.unblock_cmd_stream()`
    UnblockCmdStream,
    /// `<layout>`: coordinates in the rectangle.
    XCoordinate,
    YCoordinate,
    /// `<time>`
    EnableTsc,
    DisableTsc,
    ResetTsc,
    /// Argument: address of `[3]u16`.
    GetTimestamp,
    Random16,
    /// `f32` square root; argument and result are raw bits.
    Sqrt,
    /// Another function from `f32` to `f32`.
    Float(FloatFunction),
    /// Argument: the seed.
    SeedRandom,
    /// `<simprint>`. Arguments: eight characters each.
    PrintText,
    /// Arguments: the number, and 0 decimal, 1 and 2 hexadecimal, 3 and 4 binary (of 16 and 32 bits),
    /// 5 the bits of an `f32`.
    PrintNumber,
    /// `<debug>`. Arguments: an address, then eight characters each; whole words are stored.
    StoreText,
    /// The cycle itself; argument: address of `[3]u16`.
    GetClock,
    /// Arguments: the queue, whether it is an input queue.
    QueueFlush,
    /// `<tile_config>`: forgets that a queue was flushed; arguments as above.
    ExitFlush,
    /// Bit by queue, which are flushed; argument: whether of the input queues.
    Flushed,
    /// Bit by queue, which are empty and, in the high half, which are full; argument as above.
    QueueStatus,
    /// Bit by color, teardowns since the last call.
    PendingTeardowns,
    /// Arguments: color, position from 0, direction in, direction out.
    SetSwitchSides,
    /// Arguments: color; 0 limit, 1 highest count that passes, 2 count; value.
    SetFilter,
    /// Arguments: the queue, the color, whether its filter is in force.
    BindInputQueue,
    /// Arguments: the task id, 0 low or 1 high.
    TaskPriority,
    /// Argument: 0 between low and medium microthreads, to 3 high.
    MainPriority,
    /// Arguments: the FIFO's packed DSD, the length.
    SetFifoReadLength,
    /// Of a register, by its number: the base address of what it holds, its length.
    SetDsrBase,
    SetDsrLength,
    SetFifoWriteLength,
}

// ---------------------------------------------------------------------------------------------
// DSDs

/// A DSD value, packed into a slot as `pack()` says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dsd {
    /// Index into `TileProgram::shapes`.
    pub shape: u16,
    /// mem DSDs: byte address of the first element (offset included). Others: 0.
    pub base: u16,
    /// Elements; for mem4d the shape's extents count and this is their product, saturated.
    pub extent: u16,
    /// mem1d: stride in elements. Others: 0.
    pub stride: i16,
}

impl Dsd {
    pub fn pack(self) -> u64 {
        u64::from(self.shape)
            | u64::from(self.base) << 16
            | u64::from(self.extent) << 32
            | u64::from(self.stride as u16) << 48
    }

    pub fn unpack(bits: u64) -> Dsd {
        Dsd {
            shape: bits as u16,
            base: (bits >> 16) as u16,
            extent: (bits >> 32) as u16,
            stride: (bits >> 48) as u16 as i16,
        }
    }
}

/// The parts of a DSD that stay comptime.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DsdShape {
    Mem1d {
        element_bytes: u8,
        wavelet_index_offset: bool,
    },
    /// `extents` outermost first; `strides` incremental, in elements, one per extent in the same
    /// order: after the last element of all inner dimensions the address moves by `strides[d]`.
    Mem4d {
        element_bytes: u8,
        extents: Vec<u16>,
        strides: Vec<i16>,
        wavelet_index_offset: bool,
    },
    FabIn {
        queue: u8,
        color: Option<u8>,
        control_transform: bool,
        simd: Simd,
        priority: Option<Priority>,
    },
    FabOut {
        queue: u8,
        color: Option<u8>,
        control: bool,
        advance_switch: bool,
        wavelet_index_offset: bool,
        control_transform: bool,
        simd: Simd,
        priority: Option<Priority>,
    },
    Fifo {
        fifo: u8,
    },
}

impl DsdShape {
    /// The mode of a fabric operand.
    pub fn simd(&self) -> Option<Simd> {
        match self {
            DsdShape::FabIn { simd, .. } | DsdShape::FabOut { simd, .. } => Some(*simd),
            _ => None,
        }
    }

    /// That of operations on it, if it names one.
    pub fn priority(&self) -> Option<Priority> {
        match self {
            DsdShape::FabIn { priority, .. } | DsdShape::FabOut { priority, .. } => *priority,
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Simd {
    #[default]
    One,
    Simd32,
    Simd64,
    Simd32Or64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DsrFile {
    Dest,
    Src0,
    Src1,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dsr {
    pub file: DsrFile,
    pub id: u8,
}

impl Dsr {
    /// A number of its own, for slots.
    pub fn number(self) -> u8 {
        (self.file as u8) << 4 | self.id & 15
    }

    /// The register of a number.
    pub fn of_number(number: u8) -> Dsr {
        let file = match number >> 4 {
            0 => DsrFile::Dest,
            1 => DsrFile::Src0,
            _ => DsrFile::Src1,
        };
        Dsr {
            file,
            id: number & 15,
        }
    }
}

/// An operand of a DSD operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The slot holds a packed `Dsd`.
    Dsd(Slot),
    Dsr(Dsr),
    Scalar(Slot, ScalarType),
    /// The slot holds the address of a scalar.
    Pointer(Slot, ScalarType),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DsdOperation {
    pub opcode: Opcode,
    pub dest: Operand,
    pub sources: Vec<Operand>,
    pub options: OpOptions,
    /// Where the result (false: stopped by a FIFO) goes, if anybody reads it.
    pub result: Option<Slot>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OpOptions {
    pub is_async: bool,
    pub on_done: Option<Completion>,
    pub on_control: Option<OnControl>,
    pub index: Option<Slot>,
    pub ut_id: Option<Slot>,
    pub priority: Option<Priority>,
}

/// What a finished operation does; the slot holds the id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Completion {
    Activate(Slot),
    Unblock(BlockKind, Slot),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OnControl {
    Terminate,
    Activate(Slot),
    Unblock(BlockKind, Slot),
}

/// `@map`: one call of `function` per element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MapOperation {
    pub function: FunctionId,
    /// One per parameter, with the element type the callback takes.
    pub inputs: Vec<(Operand, ScalarType)>,
    pub output: Option<(Operand, ScalarType)>,
}

/// `@load_to_dsr` at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DsrLoad {
    pub dsr: Dsr,
    pub dsd: Slot,
    pub options: OpOptions,
    pub save_address: bool,
}

/// `@load_to_dsr` at comptime: all ids are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DsrLoadValue {
    pub dsr: Dsr,
    pub dsd: Dsd,
    pub is_async: bool,
    pub activate: Option<u8>,
    pub unblock: Option<BlockTarget>,
    pub on_control: Option<ControlValue>,
    pub ut_id: Option<u8>,
    pub save_address: bool,
    pub span: Span,
}

/// What a control wavelet does to an operation, ids known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlValue {
    Terminate,
    Activate(u8),
    Unblock(BlockTarget),
}
