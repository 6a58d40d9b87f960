//! What one PE cannot do, as data: a kind with its numbers, and where in the source.

use fabsim_lowering::scalar::Undefined;
use fabsim_program::program::{Dsr, Opcode, Span};
use std::fmt;

/// An instruction of one PE that cannot be carried out.
///
/// The numbers are those of the program: queues, colors, tasks and microthreads by their ids,
/// addresses in bytes, lengths in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A call leads to no function.
    NoFunction,
    /// A call through a pointer that is null.
    NullFunction,
    /// Calls are nested so deep.
    CallDepth(usize),
    /// An assertion does not hold.
    AssertionFails,
    /// An integer is divided by 0.
    DivisionByZero,
    /// A bitwise operation on a float.
    BitsOfFloat,
    /// An instruction that there is not.
    UnknownInstruction,
    /// An address that is odd, of something that begins at even ones.
    OddAddress(u64),
    /// An address is read that nobody has written.
    Uninitialized(u64),
    /// An address beyond the memory of the program.
    OutsideMemory {
        /// The address.
        address: i64,
        /// The size of the memory.
        bytes: usize,
    },
    /// A DSD is used before it is set.
    NoDsd,
    /// A register is used before it is loaded.
    DsrNotLoaded(Dsr),
    /// An operand that has to be a fabout DSD is none.
    NotFabout,
    /// A fabout DSD is a source.
    FaboutRead,
    /// The destination cannot be written.
    NotWritable,
    /// More than two sources are fabin DSDs.
    TooManyFabin,
    /// More than one FIFO is a source.
    TooManyFifos,
    /// No FIFO has this number.
    NoFifo,
    /// The length of what is no FIFO is set.
    FifoLengthOfNone,
    /// An element is taken out of an empty FIFO.
    EmptyFifo,
    /// An element is put into a full FIFO.
    FullFifo,
    /// A FIFO is an operand of a `@map`.
    FifoInMap,
    /// A fabric operand of a `@map` has a SIMD mode.
    SimdInMap,
    /// A SIMD mode goes together with control wavelets or an index.
    SimdWithControl,
    /// An operation does not do what its operands' SIMD mode asks for.
    SimdWidth {
        /// The operation.
        opcode: Opcode,
        /// The elements it takes at once.
        width: u8,
        /// The elements the mode asks for.
        group: u8,
    },
    /// The operands of an operation have different SIMD modes.
    SimdModesDiffer(Opcode),
    /// An operation has no SIMD modes.
    SimdMode(Opcode),
    /// A control wavelet is the second of two that a SIMD operation takes.
    SimdSecondCommand(Opcode),
    /// An asynchronous operation has no fabric operand.
    AsyncWithoutFabric(Opcode),
    /// `@dfilt` has no fabin DSD.
    FilterWithoutFabin,
    /// A control wavelet reaches an operand that does not say what follows.
    ControlAtOperand {
        /// The color.
        color: u8,
        /// The operation.
        opcode: Opcode,
    },
    /// An operation is issued on a microthread in use.
    MicrothreadBusy {
        /// The microthread.
        thread: u8,
        /// The operation that runs on it.
        running: Opcode,
        /// Where that was issued.
        line: u32,
    },
    /// An operation is issued on a queue in use.
    QueueBusy {
        /// The queue.
        queue: Queue,
        /// The microthread that uses it.
        thread: u8,
        /// The operation that runs there.
        running: Opcode,
        /// Where that was issued.
        line: u32,
    },
    /// No color has this number.
    NoColor(u64),
    /// No queue has this number.
    NoQueue(u64),
    /// A queue that the program does not use.
    QueueNotInUse(Queue),
    /// A queue without a color.
    QueueUnbound(Queue),
    /// The machine has no output queue of this id.
    QueueMissing(u8),
    /// A DSD names another color than its queue is bound to.
    QueueOfOtherColor {
        /// The queue.
        queue: u8,
        /// The color it is bound to.
        bound: u8,
        /// The color the DSD names.
        named: u8,
    },
    /// An input queue gets another color while it holds wavelets.
    InputHoldsWavelets {
        /// The queue.
        queue: u64,
        /// The color of its wavelets.
        holds: u8,
        /// The color it is to get.
        bound_to: u8,
    },
    /// An output queue gets another color while it holds wavelets.
    OutputHoldsWavelets {
        /// The queue.
        queue: u64,
        /// The color it is to get.
        bound_to: u8,
    },
    /// A configuration register whose meaning is not known.
    UnknownRegister(u16),
    /// The configuration of a color changes under a wavelet.
    ColorInUse(u8),
    /// A color has no counter filter.
    NoCounterFilter(u16),
    /// The point-to-point bit of a color is set.
    PointToPoint,
    /// Bits of a microthread's word whose meaning is not public.
    ThreadWord {
        /// The microthread.
        thread: u8,
        /// The bits.
        bits: u16,
    },
}

/// A queue of a compute element, by its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// An input queue.
    Input(u64),
    /// An output queue.
    Output(u64),
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Queue::Input(id) => write!(f, "input queue {id}"),
            Queue::Output(id) => write!(f, "output queue {id}"),
        }
    }
}

/// A fault and its place in the source; the machine adds which PE and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What cannot be done.
    pub kind: FaultKind,
    /// Where it is in the source, if that is known.
    pub span: Option<Span>,
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Fault {
        Fault { kind, span: None }
    }
}

impl From<Undefined> for FaultKind {
    fn from(undefined: Undefined) -> FaultKind {
        match undefined {
            Undefined::DivisionByZero => FaultKind::DivisionByZero,
            Undefined::BitsOfFloat => FaultKind::BitsOfFloat,
        }
    }
}

impl Fault {
    /// With the place in the source, unless a more exact one is known.
    pub fn at(self, span: Span) -> Fault {
        Fault {
            span: self.span.or(Some(span)),
            ..self
        }
    }
}

impl FaultKind {
    /// A name that programs can rely on.
    pub fn code(&self) -> &'static str {
        use FaultKind as K;
        match self {
            K::NoFunction | K::NullFunction => "null-function",
            K::CallDepth(_) => "call-depth",
            K::AssertionFails => "assertion",
            K::DivisionByZero => "division-by-zero",
            K::BitsOfFloat | K::UnknownInstruction => "unknown-instruction",
            K::OddAddress(_) => "odd-address",
            K::Uninitialized(_) => "uninitialized-read",
            K::OutsideMemory { .. } => "outside-memory",
            K::NoDsd => "dsd-not-set",
            K::DsrNotLoaded(_) => "dsr-not-loaded",
            K::NotFabout | K::FaboutRead | K::NotWritable | K::TooManyFabin => "operand-kind",
            K::TooManyFifos
            | K::NoFifo
            | K::FifoLengthOfNone
            | K::EmptyFifo
            | K::FullFifo
            | K::FifoInMap => "fifo",
            K::SimdInMap
            | K::SimdWithControl
            | K::SimdWidth { .. }
            | K::SimdModesDiffer(_)
            | K::SimdMode(_)
            | K::SimdSecondCommand(_) => "simd-mode",
            K::AsyncWithoutFabric(_) => "async-without-fabric",
            K::FilterWithoutFabin => "dfilt-without-fabin",
            K::ControlAtOperand { .. } => "control-at-operand",
            K::MicrothreadBusy { .. } => "microthread-busy",
            K::QueueBusy { .. } => "queue-busy",
            K::NoColor(_) => "no-color",
            K::NoQueue(_) | K::QueueMissing(_) => "no-queue",
            K::QueueNotInUse(_) | K::QueueUnbound(_) => "queue-unbound",
            K::QueueOfOtherColor { .. } => "queue-of-other-color",
            K::InputHoldsWavelets { .. } | K::OutputHoldsWavelets { .. } => "queue-not-empty",
            K::UnknownRegister(_) => "unknown-register",
            K::ColorInUse(_) => "color-in-use",
            K::NoCounterFilter(_) => "no-counter-filter",
            K::PointToPoint => "point-to-point",
            K::ThreadWord { .. } => "unknown-register",
        }
    }

    /// The color it is about, if it is about one.
    pub fn color(&self) -> Option<u8> {
        use FaultKind as K;
        match *self {
            K::ControlAtOperand { color, .. } | K::ColorInUse(color) => Some(color),
            K::QueueOfOtherColor { named, .. } => Some(named),
            K::InputHoldsWavelets { bound_to, .. } | K::OutputHoldsWavelets { bound_to, .. } => {
                Some(bound_to)
            }
            K::NoCounterFilter(color) => u8::try_from(color).ok(),
            _ => None,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FaultKind as K;
        match self {
            K::CallDepth(deep) => write!(f, "calls are nested {deep} deep"),
            K::OddAddress(at) => {
                write!(f, "address {at} is odd; memory is made of 16-bit words")
            }
            K::Uninitialized(at) => write!(
                f,
                "address {at} is read, which has no initial value and has not been written"
            ),
            K::OutsideMemory { address, bytes } => write!(
                f,
                "address {address} is outside the {bytes} bytes of memory the program declares"
            ),
            K::DsrNotLoaded(dsr) => write!(
                f,
                "{:?} register {} is used before it is loaded",
                dsr.file, dsr.id
            ),
            K::AsyncWithoutFabric(opcode) => write!(
                f,
                "{} is asynchronous but has no fabric operand",
                opcode.name()
            ),
            K::ControlAtOperand { color, opcode } => write!(
                f,
                "a control wavelet of color {color} reaches the fabin operand of {}, which has \
                 no on_control; send it with the ce-ignore flag or give the operation an on_control",
                opcode.name()
            ),
            K::MicrothreadBusy {
                thread,
                running,
                line,
            } => write!(
                f,
                "re-entry of microthread {thread}: it still runs the {} of line {line}",
                running.name()
            ),
            K::QueueBusy {
                queue,
                thread,
                running,
                line,
            } => write!(
                f,
                "two operations use {queue} at once: microthread {thread} (re-entry) still runs \
                 the {} of line {line}",
                running.name()
            ),
            K::SimdWidth { .. }
            | K::SimdModesDiffer(_)
            | K::SimdMode(_)
            | K::SimdSecondCommand(_) => self.write_simd(f),
            K::NoColor(_)
            | K::NoQueue(_)
            | K::QueueNotInUse(_)
            | K::QueueUnbound(_)
            | K::QueueMissing(_)
            | K::QueueOfOtherColor { .. }
            | K::InputHoldsWavelets { .. }
            | K::OutputHoldsWavelets { .. }
            | K::UnknownRegister(_)
            | K::ThreadWord { .. }
            | K::ColorInUse(_)
            | K::NoCounterFilter(_) => self.write_settings(f),
            _ => f.write_str(self.plain_text()),
        }
    }
}

impl FaultKind {
    /// The text of what has no numbers.
    fn plain_text(&self) -> &'static str {
        use FaultKind as K;
        match self {
            K::NoFunction => "a call to no function",
            K::NullFunction => "a null function pointer is called",
            K::AssertionFails => "an assertion does not hold",
            K::DivisionByZero => "an integer is divided by zero",
            K::BitsOfFloat => "a bit operation on a floating-point number",
            K::NoDsd => "a DSD is used before it is set",
            K::NotFabout => "not a fabout operand",
            K::FaboutRead => "a fabout operand is read",
            K::NotWritable => "an operand that cannot be written is a destination",
            K::TooManyFabin => "more than two fabin operands",
            K::TooManyFifos => "more than one FIFO is a source",
            K::NoFifo => "a FIFO that does not exist",
            K::FifoLengthOfNone => "a FIFO length is set of what is no FIFO",
            K::EmptyFifo => "an empty FIFO is read",
            K::FullFifo => "a full FIFO is written",
            K::FifoInMap => "fabsim does not support FIFOs in @map yet",
            K::SimdInMap => "a SIMD mode at @map: what that does is not documented",
            K::SimdWithControl => {
                "a fabout operand with a SIMD mode and 'control' or 'wavelet_index_offset': what \
                 that does is not documented"
            }
            K::FilterWithoutFabin => "@dfilt without a fabin operand",
            K::PointToPoint => "fabsim does not support the point-to-point bit of a color yet",
            _ => "an instruction the engine does not know",
        }
    }

    fn write_simd(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FaultKind as K;
        let open = |f: &mut fmt::Formatter<'_>, what: &str, opcode: Opcode| {
            let name = opcode.name();
            write!(f, "{what} at {name}: what that does is not documented")
        };
        match *self {
            K::SimdWidth {
                opcode,
                width,
                group,
            } => write!(
                f,
                "{} handles {width} of the {group} elements that its SIMD mode asks of an instruction",
                opcode.name()
            ),
            K::SimdModesDiffer(opcode) => {
                open(f, "fabric operands of different SIMD modes", opcode)
            }
            K::SimdSecondCommand(opcode) => {
                open(f, "a command as the second of two wavelets", opcode)
            }
            K::SimdMode(opcode) => open(f, "a SIMD mode", opcode),
            _ => Ok(()),
        }
    }

    fn write_settings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FaultKind as K;
        match *self {
            K::NoColor(color) => write!(f, "there is no color {color}"),
            K::NoQueue(queue) => write!(f, "there is no queue {queue}"),
            K::QueueNotInUse(queue) => write!(f, "{queue} is not in use"),
            K::QueueUnbound(queue) => write!(f, "{queue} is used but bound to no color"),
            K::ThreadWord { thread, bits } => write!(
                f,
                "the bits {bits:#06x} are written to the word of microthread {thread}: of that \
                 word only the priority is public, 0x100 for medium and 0x200 for high"
            ),
            K::QueueMissing(id) => {
                write!(f, "output queue {id} does not exist on this machine")
            }
            K::QueueOfOtherColor {
                queue,
                bound,
                named,
            } => write!(
                f,
                "a fabin operand names color {named}, but input queue {queue} is bound to color {bound}"
            ),
            K::InputHoldsWavelets {
                queue,
                holds,
                bound_to,
            } => write!(
                f,
                "input queue {queue} is bound to color {bound_to} while it holds wavelets of color {holds}"
            ),
            K::OutputHoldsWavelets { queue, bound_to } => write!(
                f,
                "output queue {queue} is bound to color {bound_to} while it holds wavelets; flush it before"
            ),
            K::UnknownRegister(address) => write!(
                f,
                "configuration word {address:#06x} is no register fabsim has, or its color has no \
                 configuration on this PE"
            ),
            K::ColorInUse(color) => write!(
                f,
                "color {color} is configured while it is live: wavelets of it wait in the router, and \
                 which way they go is undefined; tear it down before"
            ),
            K::NoCounterFilter(color) => {
                write!(f, "color {color} has no counter filter on this PE")
            }
            _ => Ok(()),
        }
    }
}
