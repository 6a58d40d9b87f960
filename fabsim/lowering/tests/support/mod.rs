//! A small machine for code: slots and a memory, nothing else.
#![allow(dead_code)]

use fabsim_lowering::code::Code;
use fabsim_lowering::cost::{ScalarTiming, PIPELINE, UNOPTIMIZED};
use fabsim_lowering::scalar::{binary, compare, convert, cut, unary};
use fabsim_lowering::Lowering;
use fabsim_program::program::*;
use std::sync::Arc;

pub const MEMORY: usize = 256;

/// What a run leaves: the result, memory, cycles; or that it failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub result: Option<u64>,
    pub memory: Vec<u16>,
    pub failed: bool,
    pub cycles: u64,
    pub steps: u64,
}

pub fn function(params: u16, code: Vec<Inst>) -> Function {
    Function {
        name: "f".into(),
        params,
        slots: 64,
        spans: vec![Span::default(); code.len()],
        code,
    }
}

pub fn program(functions: Vec<Function>, variables: Vec<(u32, u32)>) -> TileProgram {
    let variable = |(address, bytes)| Variable {
        name: "v".into(),
        address,
        bytes,
    };
    let launched = |id| Symbol {
        name: format!("f{id}"),
        kind: SymbolKind::Function(FunctionId(id)),
    };
    TileProgram {
        symbols: (0..functions.len() as u32).map(launched).collect(),
        functions: functions.into_iter().map(Arc::new).collect(),
        memory_bytes: 2 * MEMORY as u32,
        variables: variables.into_iter().map(variable).collect(),
        ..TileProgram::default()
    }
}

pub fn optimized(program: &TileProgram) -> Vec<Arc<Code>> {
    Lowering::new(PIPELINE).lower(program)
}

pub fn plain(program: &TileProgram) -> Vec<Arc<Code>> {
    Lowering::new(UNOPTIMIZED).lower(program)
}

pub fn by(table: ScalarTiming, program: &TileProgram) -> Vec<Arc<Code>> {
    Lowering::new(table).lower(program)
}

/// Runs function 0 on a memory of counted words.
pub fn run(code: &[Arc<Code>], args: &[u64]) -> Outcome {
    let mut machine = Machine {
        memory: (0..MEMORY as u16).map(|n| n.wrapping_mul(7919)).collect(),
        cycles: 0,
        steps: 0,
    };
    let result = machine.call(code, 0, args);
    Outcome {
        result: result.unwrap_or(None),
        memory: machine.memory,
        failed: result.is_err(),
        cycles: machine.cycles,
        steps: machine.steps,
    }
}

struct Machine {
    memory: Vec<u16>,
    cycles: u64,
    steps: u64,
}

impl Machine {
    fn call(&mut self, all: &[Arc<Code>], id: usize, args: &[u64]) -> Result<Option<u64>, ()> {
        let code = &all[id];
        let mut slots = vec![0; usize::from(code.slots)];
        slots.extend(&code.constants);
        slots[..args.len()].copy_from_slice(args);
        let mut at = 0;
        loop {
            self.steps += 1;
            if self.steps > 1_000_000 {
                return Err(());
            }
            let cost = code.costs[at];
            let get = |slot: Slot| slots[usize::from(slot.0)];
            let (to, value) = match &code.insts[at] {
                Inst::Const { dst, bits } => (*dst, *bits),
                Inst::Copy { dst, src } => (*dst, get(*src)),
                Inst::Unary { op, ty, dst, a } => (*dst, unary(*op, *ty, get(*a))),
                Inst::Binary { op, ty, dst, a, b } => {
                    (*dst, binary(*op, *ty, get(*a), get(*b)).map_err(|_| ())?)
                }
                Inst::Compare { op, ty, dst, a, b } => {
                    (*dst, u64::from(compare(*op, *ty, get(*a), get(*b))))
                }
                Inst::Convert { from, to, dst, a } => (*dst, convert(*from, *to, get(*a))),
                Inst::Select {
                    dst,
                    condition,
                    a,
                    b,
                } => (*dst, get(if get(*condition) & 1 == 1 { *a } else { *b })),
                Inst::Load { ty, dst, address } => (*dst, self.load(*ty, get(*address))?),
                Inst::Store { ty, address, src } => {
                    self.store(*ty, get(*address), get(*src))?;
                    self.cycles += u64::from(cost.next);
                    at += 1;
                    continue;
                }
                Inst::Jump { to } => {
                    self.cycles += u64::from(cost.taken);
                    at = *to as usize;
                    continue;
                }
                Inst::Branch {
                    condition,
                    when,
                    to,
                } => {
                    let taken = (get(*condition) & 1 == 1) == *when;
                    self.cycles += u64::from(if taken { cost.taken } else { cost.next });
                    at = if taken { *to as usize } else { at + 1 };
                    continue;
                }
                Inst::Call {
                    function,
                    args,
                    dst,
                } => {
                    let args: Vec<u64> = args.iter().map(|&slot| get(slot)).collect();
                    self.cycles += u64::from(cost.taken);
                    let value = self.call(all, function.0 as usize, &args)?;
                    if let Some(dst) = dst {
                        slots[usize::from(dst.0)] = value.unwrap_or(0);
                    }
                    at += 1;
                    continue;
                }
                Inst::Return { src } => return Ok(src.map(get)),
                other => panic!("not here: {other:?}"),
            };
            slots[usize::from(to.0)] = value;
            self.cycles += u64::from(cost.next);
            at += 1;
        }
    }

    fn load(&self, ty: ScalarType, address: u64) -> Result<u64, ()> {
        let at = (address & 0xffff) as usize / 2;
        let words = self
            .memory
            .get(at..at + ty.size_bytes() as usize / 2)
            .ok_or(())?;
        Ok(words
            .iter()
            .rev()
            .fold(0, |bits, word| bits << 16 | u64::from(*word)))
    }

    fn store(&mut self, ty: ScalarType, address: u64, bits: u64) -> Result<(), ()> {
        let at = (address & 0xffff) as usize / 2;
        let words = self
            .memory
            .get_mut(at..at + ty.size_bytes() as usize / 2)
            .ok_or(())?;
        for (n, word) in words.iter_mut().enumerate() {
            *word = (cut(ty, bits) >> (16 * n)) as u16;
        }
        Ok(())
    }
}
