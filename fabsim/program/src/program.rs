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
    /// The CS-2.
    Wse2,
    /// The CS-3.
    Wse3,
}

/// A source position, for messages about running code. Lines and columns count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// Index into `Design::files`.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A whole compiled program: the rectangle, one program and one router set-up per PE.
#[derive(Clone, Debug)]
pub struct Design {
    /// What it was compiled for.
    pub arch: Arch,
    /// Whose cycles it counts.
    pub clock: Clock,
    /// Numbers other than those of the clock, by name: a table that was read from a file.
    pub constants: Vec<(String, u64)>,
    /// It uses forms of before 1.0, so the compiler of its time made its code.
    pub older: bool,
    /// Columns of the rectangle.
    pub width: u16,
    /// Rows of the rectangle.
    pub height: u16,
    /// Size of the simulated fabric and the position of PE (0, 0) in it, as given to the compiler.
    pub fabric: (u16, u16),
    /// The position of PE (0, 0) in the fabric.
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

/// What a PE runs and how its router is set up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// Index into `Design::programs`.
    pub program: u32,
    /// Index into `Design::routers`.
    pub router: u32,
}

/// One `@export_name`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The name that the host uses.
    pub name: String,
    /// What it names.
    pub kind: ExportKind,
}

/// What an exported name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportKind {
    /// A pointer variable the host copies to or from; `element` is what it points to.
    Tensor {
        /// The type of an element.
        element: ScalarType,
        /// The host may write it.
        mutable: bool,
    },
    /// A function that the host launches.
    Function {
        /// The types of its parameters.
        params: Vec<ScalarType>,
    },
}

// ---------------------------------------------------------------------------------------------
// Routers

/// What a router starts with.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct RouterSetup {
    /// (color, configuration), sorted by color, one entry a color.
    pub colors: Vec<(u8, ColorSetup)>,
}

/// What a color of a router starts with.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ColorSetup {
    /// The sides it accepts wavelets from at position 0.
    pub rx: Directions,
    /// The sides it sends them to at position 0.
    pub tx: Directions,
    /// `pos1..pos3` as declared; position 0 is `rx`/`tx` above. The side a position leaves out
    /// keeps what the previous valid position had (the fold is by index).
    pub positions: [Option<SwitchPosition>; 3],
    /// The position its switch starts at.
    pub start_position: u8,
    /// The last position is followed by the first one.
    pub ring_mode: bool,
    /// When a command is taken off a control wavelet.
    pub pop_mode: PopMode,
    /// It starts torn down.
    pub teardown: bool,
    /// What keeps wavelets from the compute element.
    pub filter: Option<Filter>,
    /// It swaps with the color whose number differs in the lowest bit, for wavelets that come along x.
    pub color_swap_x: bool,
    /// The same for wavelets that come along y.
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
    /// The sides wavelets are accepted from, if others than before.
    pub rx: Option<Directions>,
    /// The sides they are sent to, if others than before.
    pub tx: Option<Directions>,
}

/// When a router takes its command off a control wavelet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PopMode {
    /// Never.
    #[default]
    NoPop,
    /// Always.
    AlwaysPop,
    /// When the switch has moved.
    PopOnAdvance,
    /// When the switch has moved, or the command is none.
    PopOnAdvanceNop,
}

/// Which wavelets of a color a compute element gets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Filter {
    /// By counting them up to a limit.
    Counter {
        /// Data wavelets count.
        count_data: bool,
        /// Control wavelets count.
        count_control: bool,
        /// Only a control wavelet passes, and only while the count is `max`.
        filter_control: bool,
        /// The count at the start.
        initial: u32,
        /// The count after which it begins at 0 again.
        limit: u32,
        /// The highest count at which a wavelet passes.
        max: u32,
    },
    /// By counting them up to one limit, then to the other.
    SparseCounter {
        /// Data wavelets count.
        count_data: bool,
        /// Control wavelets count.
        count_control: bool,
        /// The count at the start.
        initial: u32,
        /// The count after which the second period begins.
        limit1: Option<u32>,
        /// The count after which everything passes.
        limit2: Option<u32>,
        /// The highest count at which a wavelet passes.
        max: u32,
    },
    /// By the index in their high half.
    Range {
        /// The lowest index that passes.
        min: u16,
        /// The highest index that passes.
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
    /// The tasks and their ids.
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
    /// The input queues in use, by id.
    pub input_queues: [Option<InputQueueSetup>; 8],
    /// The output queues in use, by id.
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
    /// The FIFOs; `DsdShape::Fifo` points in here.
    pub fifos: Vec<FifoSetup>,
    /// (color, function) of `@set_teardown_handler`.
    pub teardown_handlers: Vec<(u8, FunctionId)>,
    /// (queue is an input queue, queue, function) of `@set_empty_queue_handler`.
    pub empty_queue_handlers: Vec<(bool, u8, FunctionId)>,
    /// Configuration words written at comptime, in order.
    pub config: Vec<(u16, u16)>,
}

/// Index into `TileProgram::functions`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionId(pub u32);

/// What activates a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TaskKind {
    /// Id: the color on wse2, the input queue on wse3.
    Data,
    /// Code, or an operation that ends.
    Local,
    /// A control wavelet with its id.
    Control,
}

/// A task and its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskBinding {
    /// What activates it.
    pub kind: TaskKind,
    /// The number it is bound to.
    pub id: u8,
    /// Its body.
    pub function: FunctionId,
    /// Where it was bound.
    pub span: Span,
}

/// What a host finds by a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it names.
    pub kind: SymbolKind,
}

/// What a symbol stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A pointer variable at `pointer`: the host reads the 16-bit byte address stored there.
    Pointer {
        /// The byte address of the pointer variable.
        pointer: u32,
        /// The type it points to.
        element: ScalarType,
    },
    /// A function that can be launched.
    Function(FunctionId),
}

/// A variable by its name in the source; `module.name` where it is imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The byte address of its first byte.
    pub address: u32,
    /// Its size.
    pub bytes: u32,
}

/// An input queue in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputQueueSetup {
    /// The color whose wavelets it takes.
    pub color: u8,
    /// That of microthreads that read it, unless they have one.
    pub priority: Priority,
    /// Where it was initialised.
    pub span: Span,
}

/// An output queue in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputQueueSetup {
    /// wse3 binds the color here; on wse2 the fabout DSD carries it.
    pub color: Option<u8>,
    /// Where it was initialised.
    pub span: Span,
}

/// Which microthreads go first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Priority {
    /// After the main thread.
    #[default]
    Low,
    /// Before the main thread.
    Medium,
    /// Before all others.
    High,
}

/// What is blocked or unblocked, its id known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockTarget {
    /// The tasks of a color.
    Color(u8),
    /// The tasks of an input queue.
    InputQueue(u8),
    /// A data task.
    Data(u8),
    /// A local task.
    Local(u8),
    /// A microthread.
    Microthread(u8),
}

/// A FIFO in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FifoSetup {
    /// The byte address of its buffer.
    pub buffer: u32,
    /// The size of its buffer.
    pub bytes: u32,
    /// The size of an element.
    pub element_bytes: u8,
    /// The local task that is activated when an element is taken out.
    pub activate_pop: Option<u8>,
    /// The local task that is activated when an element is put in.
    pub activate_push: Option<u8>,
}

// ---------------------------------------------------------------------------------------------
// Scalar code

/// A function or task body. Slots `0..params` hold the arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// How many slots hold arguments.
    pub params: u16,
    /// How many slots it has.
    pub slots: u16,
    /// Its instructions.
    pub code: Vec<Inst>,
    /// One span per instruction.
    pub spans: Vec<Span>,
}

/// The number of a slot of the running function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot(pub u16);

/// An operation on one scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-a`
    Negate,
    /// `~a`
    BitNot,
    /// `!a`
    Not,
}

/// An operation on two scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, towards zero.
    Div,
    /// `a % b`, with the sign of `a`.
    Rem,
    /// `a << b`
    Shl,
    /// Arithmetic on signed types.
    Shr,
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
}

/// A comparison of two scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompareOp {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

/// An instruction of scalar code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Inst {
    /// A known value.
    Const {
        /// Where the result goes.
        dst: Slot,
        /// Its bits.
        bits: u64,
    },
    /// The value of another slot.
    Copy {
        /// Where the result goes.
        dst: Slot,
        /// What is taken.
        src: Slot,
    },
    /// An operation on one scalar.
    Unary {
        /// What is done.
        op: UnaryOp,
        /// The type of the operands.
        ty: ScalarType,
        /// Where the result goes.
        dst: Slot,
        /// The first operand.
        a: Slot,
    },
    /// An operation on two scalars.
    Binary {
        /// What is done.
        op: BinaryOp,
        /// The type of the operands.
        ty: ScalarType,
        /// Where the result goes.
        dst: Slot,
        /// The first operand.
        a: Slot,
        /// The second operand.
        b: Slot,
    },
    /// A comparison of two scalars.
    Compare {
        /// What is done.
        op: CompareOp,
        /// The type of the operands.
        ty: ScalarType,
        /// Where the result goes.
        dst: Slot,
        /// The first operand.
        a: Slot,
        /// The second operand.
        b: Slot,
    },
    /// `a` if the condition holds, else `b`: a predicated move. Made by lowering only.
    Select {
        /// Where the result goes.
        dst: Slot,
        /// A truth value.
        condition: Slot,
        /// The first operand.
        a: Slot,
        /// The second operand.
        b: Slot,
    },
    /// `@as` between run-time scalars.
    Convert {
        /// The type before.
        from: ScalarType,
        /// The type after.
        to: ScalarType,
        /// Where the result goes.
        dst: Slot,
        /// The first operand.
        a: Slot,
    },
    /// A scalar out of memory.
    Load {
        /// The type of the operands.
        ty: ScalarType,
        /// Where the result goes.
        dst: Slot,
        /// A byte address.
        address: Slot,
    },
    /// A scalar into memory.
    Store {
        /// The type of the operands.
        ty: ScalarType,
        /// A byte address.
        address: Slot,
        /// What is taken.
        src: Slot,
    },
    /// A packed `Dsd` (8 bytes) in memory.
    LoadDsd {
        /// Where the result goes.
        dst: Slot,
        /// A byte address.
        address: Slot,
    },
    /// A packed `Dsd` into memory.
    StoreDsd {
        /// A byte address.
        address: Slot,
        /// What is taken.
        src: Slot,
    },
    /// Copies `bytes` between memory places (struct and array assignment).
    CopyMemory {
        /// The address of the destination.
        to: Slot,
        /// The address of the source.
        from: Slot,
        /// How many bytes.
        bytes: u32,
    },
    /// Goes on elsewhere.
    Jump {
        /// The number of the next instruction.
        to: u32,
    },
    /// Goes on elsewhere if the condition is `when`.
    Branch {
        /// A truth value.
        condition: Slot,
        /// The value of the condition that takes the branch.
        when: bool,
        /// The number of the next instruction.
        to: u32,
    },
    /// Calls a function.
    Call {
        /// What is called.
        function: FunctionId,
        /// The arguments, in order.
        args: Box<[Slot]>,
        /// Where the result goes.
        dst: Option<Slot>,
    },
    /// Through a function pointer: the slot holds the `FunctionId` plus one; 0 is null.
    CallPointer {
        /// What is called.
        function: Slot,
        /// The arguments, in order.
        args: Box<[Slot]>,
        /// Where the result goes.
        dst: Option<Slot>,
    },
    /// Returns to the caller.
    Return {
        /// The result, if there is one.
        src: Option<Slot>,
    },
    /// DSD arithmetic on packed values.
    DsdSetBase {
        /// Where the result goes.
        dst: Slot,
        /// The DSD it is made of.
        dsd: Slot,
        /// A byte address.
        address: Slot,
    },
    /// `@set_dsd_length`
    DsdSetLength {
        /// Where the result goes.
        dst: Slot,
        /// The DSD it is made of.
        dsd: Slot,
        /// Its new length.
        length: Slot,
    },
    /// `@set_dsd_stride`
    DsdSetStride {
        /// Where the result goes.
        dst: Slot,
        /// The DSD it is made of.
        dsd: Slot,
        /// Its new stride.
        stride: Slot,
    },
    /// `by` counts elements of `element_bytes`.
    DsdAdvance {
        /// Where the result goes.
        dst: Slot,
        /// The DSD it is made of.
        dsd: Slot,
        /// So many elements.
        by: Slot,
        /// The size of an element.
        element_bytes: u8,
    },
    /// Issues an operation on DSDs.
    Operation(Box<DsdOperation>),
    /// Begins a `@map`.
    Map(Box<MapOperation>),
    /// Loads a register.
    LoadDsr(Box<DsrLoad>),
    /// Activates a local task.
    Activate {
        /// The id of the task.
        id: Slot,
    },
    /// Blocks tasks or a microthread.
    Block {
        /// What is blocked.
        target: BlockKind,
        /// Its id.
        id: Slot,
    },
    /// Unblocks tasks or a microthread.
    Unblock {
        /// What is unblocked.
        target: BlockKind,
        /// Its id.
        id: Slot,
    },
    /// Reads a configuration register.
    ReadConfig {
        /// Where the result goes.
        dst: Slot,
        /// A byte address.
        address: Slot,
    },
    /// Writes a configuration register.
    WriteConfig {
        /// A byte address.
        address: Slot,
        /// What is taken.
        src: Slot,
    },
    /// A call into what is hardware or host on the machine.
    System {
        /// What is called.
        call: SystemCall,
        /// The arguments, in order.
        args: Box<[Slot]>,
        /// Where the result goes.
        dst: Option<Slot>,
    },
    /// Ends the run unless the condition holds.
    Assert {
        /// A truth value.
        condition: Slot,
    },
}

/// What is blocked or unblocked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockKind {
    /// The tasks of a color.
    Color,
    /// The tasks of an input queue.
    InputQueue,
    /// A data task.
    Data,
    /// A local task.
    Local,
    /// A microthread.
    Microthread,
}

/// A function of `<math>` that is carried out at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatFunction {
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The exponential.
    Exp,
    /// The natural logarithm.
    Log,
    /// The hyperbolic tangent.
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
    /// The same of the row.
    YCoordinate,
    /// `<time>`
    EnableTsc,
    /// The same: the counter stops.
    DisableTsc,
    /// The same: the counter is 0.
    ResetTsc,
    /// Argument: address of `[3]u16`.
    GetTimestamp,
    /// `<random>`: 16 random bits.
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
    /// The same of its length.
    SetDsrLength,
    /// The same of the end that is written.
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
    /// As the bits of a slot.
    pub fn pack(self) -> u64 {
        u64::from(self.shape)
            | u64::from(self.base) << 16
            | u64::from(self.extent) << 32
            | u64::from(self.stride as u16) << 48
    }

    /// Out of the bits of a slot.
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
    /// A line of memory.
    Mem1d {
        /// The size of an element.
        element_bytes: u8,
        /// The index of an operation counts.
        wavelet_index_offset: bool,
    },
    /// `extents` outermost first; `strides` incremental, in elements, one per extent in the same
    /// order: after the last element of all inner dimensions the address moves by `strides[d]`.
    Mem4d {
        /// The size of an element.
        element_bytes: u8,
        /// Elements of each dimension.
        extents: Vec<u16>,
        /// What the address moves by at the end of each dimension.
        strides: Vec<i16>,
        /// The index of an operation counts.
        wavelet_index_offset: bool,
    },
    /// What comes from the fabric.
    FabIn {
        /// The id of its queue.
        queue: u8,
        /// The color it names, if it does.
        color: Option<u8>,
        /// The field of that name, which the engine refuses.
        control_transform: bool,
        /// What an instruction takes of it.
        simd: Simd,
        /// That of operations on it, if it names one.
        priority: Option<Priority>,
    },
    /// What goes to the fabric.
    FabOut {
        /// The id of its queue.
        queue: u8,
        /// The color it names, if it does.
        color: Option<u8>,
        /// It sends control wavelets.
        control: bool,
        /// The last wavelet moves the switch of the own router.
        advance_switch: bool,
        /// The index of an operation counts.
        wavelet_index_offset: bool,
        /// The field of that name, which the engine refuses.
        control_transform: bool,
        /// What an instruction takes of it.
        simd: Simd,
        /// That of operations on it, if it names one.
        priority: Option<Priority>,
    },
    /// A FIFO.
    Fifo {
        /// Index into `TileProgram::fifos`.
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

/// What an instruction takes of a fabric operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Simd {
    /// An element.
    #[default]
    One,
    /// A wavelet.
    Simd32,
    /// Two wavelets.
    Simd64,
    /// One wavelet or two, as they are there.
    Simd32Or64,
}

/// A class of DSRs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DsrFile {
    /// Destinations, `dsr_dest`.
    Dest,
    /// Sources, and destinations that are read: `dsr_src0`.
    Src0,
    /// Sources, `dsr_src1`.
    Src1,
}

/// A register that holds a DSD.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dsr {
    /// Its class.
    pub file: DsrFile,
    /// Its number in the class.
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
    /// What a register holds.
    Dsr(Dsr),
    /// The value of the slot for every element.
    Scalar(Slot, ScalarType),
    /// The slot holds the address of a scalar.
    Pointer(Slot, ScalarType),
}

/// An operation on DSDs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DsdOperation {
    /// What is done with the elements.
    pub opcode: Opcode,
    /// Where results go.
    pub dest: Operand,
    /// Where operands come from, three at most.
    pub sources: Vec<Operand>,
    /// What the call says beside its operands.
    pub options: OpOptions,
    /// Where the result (false: stopped by a FIFO) goes, if anybody reads it.
    pub result: Option<Slot>,
}

/// What a call of an operation says beside its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OpOptions {
    /// `.async`
    pub is_async: bool,
    /// `.activate` or `.unblock`.
    pub on_done: Option<Completion>,
    /// `.on_control`
    pub on_control: Option<OnControl>,
    /// `.index`
    pub index: Option<Slot>,
    /// `.ut_id`
    pub ut_id: Option<Slot>,
    /// `.priority`
    pub priority: Option<Priority>,
}

/// What a finished operation does; the slot holds the id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Completion {
    /// It activates a local task.
    Activate(Slot),
    /// It unblocks tasks or a microthread.
    Unblock(BlockKind, Slot),
}

/// What a control wavelet does to an operation; the slot holds the id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OnControl {
    /// It ends it.
    Terminate,
    /// It activates a local task.
    Activate(Slot),
    /// It unblocks tasks or a microthread.
    Unblock(BlockKind, Slot),
}

/// `@map`: one call of `function` per element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MapOperation {
    /// The call-back.
    pub function: FunctionId,
    /// One per parameter, with the element type the callback takes.
    pub inputs: Vec<(Operand, ScalarType)>,
    /// Where results go, with their type.
    pub output: Option<(Operand, ScalarType)>,
}

/// `@load_to_dsr` at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DsrLoad {
    /// The register.
    pub dsr: Dsr,
    /// The slot with what it is to hold.
    pub dsd: Slot,
    /// What holds for operations on it.
    pub options: OpOptions,
    /// It keeps the address that an operation ends at.
    pub save_address: bool,
}

/// `@load_to_dsr` at comptime: all ids are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DsrLoadValue {
    /// The register.
    pub dsr: Dsr,
    /// What it holds.
    pub dsd: Dsd,
    /// Operations on it are asynchronous.
    pub is_async: bool,
    /// The task that their end activates.
    pub activate: Option<u8>,
    /// What their end unblocks.
    pub unblock: Option<BlockTarget>,
    /// What a control wavelet does to them.
    pub on_control: Option<ControlValue>,
    /// The microthread they run on.
    pub ut_id: Option<u8>,
    /// It keeps the address that an operation ends at.
    pub save_address: bool,
    /// Where it is loaded.
    pub span: Span,
}

/// What a control wavelet does to an operation, ids known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlValue {
    /// It ends it.
    Terminate,
    /// It activates a local task.
    Activate(u8),
    /// It unblocks tasks or a microthread.
    Unblock(BlockTarget),
}
