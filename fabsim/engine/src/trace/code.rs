//! Names and addresses for instructions. There is no instruction set to imitate: addresses number the
//! instructions of a program, names follow the vendor's mnemonics where there is one.

use crate::pe::operation::Running;
use crate::pe::plan::PePlan;
use crate::pe::port::Port;
use crate::pe::state::Core;
use fabsim_program::program::{
    BinaryOp, CompareOp, DsrFile, FunctionId, Inst, Opcode, ScalarType, Span, UnaryOp,
};
use std::collections::HashMap;

/// The instructions of one program.
#[derive(Debug)]
pub struct CodeMap {
    /// Address of the first instruction of every function.
    first: Vec<u32>,
    /// Address of the DSD operation at a place in the source.
    operations: HashMap<Span, u32>,
    /// Ids of tasks by function.
    tasks: HashMap<FunctionId, u8>,
}

impl CodeMap {
    pub fn new(plan: &PePlan) -> CodeMap {
        let mut map = CodeMap {
            first: Vec::new(),
            operations: HashMap::new(),
            tasks: HashMap::new(),
        };
        let mut next = 0;
        for function in &plan.program.functions {
            map.first.push(next);
            for (n, inst) in function.code.iter().enumerate() {
                let is_operation = matches!(inst, Inst::Operation(_) | Inst::Map(_));
                if let (true, Some(span)) = (is_operation, function.spans.get(n)) {
                    map.operations.entry(*span).or_insert(next + n as u32);
                }
            }
            next += function.code.len() as u32 + 1;
        }
        for task in &plan.program.tasks {
            map.tasks.entry(task.function).or_insert(task.id);
        }
        map
    }

    /// The id of the task a function is; none if it is only called.
    pub fn task(&self, function: u32) -> Option<u8> {
        self.tasks.get(&FunctionId(function)).copied()
    }

    pub fn address(&self, function: u32, pc: u32) -> u16 {
        let first = self.first.get(function as usize).copied().unwrap_or(0);
        short(first + pc)
    }

    pub fn operation(&self, span: Span) -> u16 {
        short(self.operations.get(&span).copied().unwrap_or(u32::MAX))
    }
}

/// The last address stands for all beyond it: viewers know 16 bits.
fn short(address: u32) -> u16 {
    address.min(0xfffe) as u16
}

/// The name of a DSD operation.
pub fn operation_name(opcode: Opcode) -> String {
    opcode.name().trim_start_matches('@').to_uppercase()
}

/// The name of an instruction; `issuing`: a DSD operation has its operands.
pub fn instruction_name(inst: Option<&Inst>, issuing: bool) -> String {
    let fixed = match inst {
        None | Some(Inst::Return { .. }) => "RET",
        Some(Inst::Const { .. } | Inst::Copy { .. } | Inst::Select { .. }) => "MOV16",
        Some(Inst::Unary { op, ty, .. }) => return unary_name(*op, *ty),
        Some(Inst::Binary { op, ty, .. }) => return binary_name(*op, *ty),
        Some(Inst::Compare { op, ty, .. }) => return compare_name(*op, *ty),
        Some(Inst::Convert { .. }) => "CVT",
        Some(Inst::Load { ty, .. }) => return format!("LD{}", width(*ty)),
        Some(Inst::Store { ty, .. }) => return format!("ST{}", width(*ty)),
        Some(Inst::LoadDsd { .. }) => "LD64",
        Some(Inst::StoreDsd { .. }) => "ST64",
        Some(Inst::CopyMemory { .. }) => "MOVMEM",
        Some(Inst::Jump { .. } | Inst::Branch { .. }) => "JMP",
        Some(Inst::Call { .. } | Inst::CallPointer { .. }) => "CALL",
        Some(Inst::DsdSetBase { .. } | Inst::DsdAdvance { .. }) => "SETDA",
        Some(Inst::DsdSetLength { .. } | Inst::DsdSetStride { .. }) => "SETDL",
        Some(Inst::Operation(op)) if issuing => return operation_name(op.opcode),
        Some(Inst::Operation(_) | Inst::Map(_)) if !issuing => "LDDDS",
        Some(Inst::Operation(_) | Inst::Map(_)) => "MAP",
        Some(Inst::LoadDsr(load)) => match load.dsr.file {
            DsrFile::Dest => "LDDDS",
            DsrFile::Src0 => "LDS0DS",
            DsrFile::Src1 => "LDS1DS",
        },
        Some(Inst::Activate { .. }) => "ACTVT",
        Some(Inst::Block { .. }) => "BLK",
        Some(Inst::Unblock { .. }) => "UBLK",
        Some(Inst::ReadConfig { .. }) => "LDCFG32",
        Some(Inst::WriteConfig { .. }) => "STCFG32",
        Some(Inst::System { .. }) => "SYSTEM",
        Some(Inst::Assert { .. }) => "ASSERT",
    };
    fixed.to_string()
}

fn width(ty: ScalarType) -> u32 {
    ty.size_bytes() * 8
}

/// The letter that ends the name of a floating-point instruction.
fn letter(ty: ScalarType) -> Option<char> {
    match ty {
        ScalarType::F32 => Some('S'),
        ScalarType::F16 | ScalarType::Bf16 | ScalarType::Cb16 => Some('H'),
        _ => None,
    }
}

fn unary_name(op: UnaryOp, ty: ScalarType) -> String {
    match (op, letter(ty)) {
        (UnaryOp::Negate, Some(letter)) => format!("FNEG{letter}"),
        (UnaryOp::Negate, None) => format!("NEG{}", width(ty)),
        _ => format!("NOT{}", width(ty)),
    }
}

fn binary_name(op: BinaryOp, ty: ScalarType) -> String {
    let stem = match op {
        BinaryOp::Add => "ADD",
        BinaryOp::Sub => "SUB",
        BinaryOp::Mul => "MUL",
        BinaryOp::Div => "DIV",
        BinaryOp::Rem => "REM",
        BinaryOp::Shl => "SLL",
        BinaryOp::Shr => "SLR",
        BinaryOp::And => "AND",
        BinaryOp::Or => "OR",
        BinaryOp::Xor => "XOR",
    };
    match letter(ty) {
        Some('S') if op == BinaryOp::Div => "FDIVSS".to_string(),
        Some('H') if op == BinaryOp::Div => "FDIVSH".to_string(),
        Some(letter) => format!("F{stem}{letter}"),
        None => format!("{stem}{}", width(ty)),
    }
}

fn compare_name(op: CompareOp, ty: ScalarType) -> String {
    let stem = match op {
        CompareOp::Eq | CompareOp::Ne => "EQ",
        CompareOp::Lt | CompareOp::Gt => "LT",
        CompareOp::Le | CompareOp::Ge => "LTEQ",
    };
    match letter(ty) {
        Some(letter) => format!("F{stem}{letter}"),
        None => format!("{stem}{}", width(ty)),
    }
}

/// The operands of an issued operation, as issue lines show them. It may have done its first elements
/// already.
pub fn operands(op: &Running, plan: &PePlan, core: &Core) -> String {
    let done = op.length.saturating_sub(op.remaining);
    let operand = |port| operand(port, (plan, core), done);
    let mut text = format!("Dest:{}", operand(&op.dest));
    let sources = op.sources.iter().take(usize::from(op.source_count));
    for (n, source) in sources.enumerate() {
        text += &format!("  Src{n}:{}", operand(source));
    }
    text
}

fn operand(port: &Port, (plan, core): (&PePlan, &Core), done: u32) -> String {
    let memory = |word: i64, bytes: u8| format!("addr{}({:04x})", u32::from(bytes) * 8, word * 2);
    match port {
        Port::Scalar { bits, .. } => format!("imm({bits:x})"),
        Port::Line { word, step, bytes } => memory(
            i64::from(*word) - i64::from(*step) * i64::from(done),
            *bytes,
        ),
        Port::Tensor(tensor) => memory(tensor.word - tensor.offset(done), tensor.bytes),
        Port::Input { queue, .. } => {
            let queue = &core.inputs[usize::from(*queue)];
            format!("C{},IN_Q[{}]", queue.color, queue.id)
        }
        Port::Output(sender) => {
            let queue = plan.outputs[usize::from(sender.queue)];
            format!("C{},OUT_Q[{}]", sender.color, queue.id)
        }
        Port::Fifo { fifo, .. } => format!("FIFO[{fifo}]"),
    }
}
