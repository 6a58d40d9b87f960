//! A short cut for what layouts spend their time on: conditions and arithmetic on known integers.
//! It computes what `eval` would, or gives up before anything has happened: whatever is unusual, all
//! errors among them, is left to `eval`.

use crate::compiler::{Compiler, Ev, Frame, Storage, MAX_DEPTH};
use crate::parse::ast::{Arith, Expr, ExprId, GlobalKind, Unary};
use crate::parse::intern::Sym;
use crate::state::module::GlobalState;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use fabsim_program::program::CompareOp;

/// Deeper expressions are left to `eval`.
const LEVELS: u32 = 64;

/// A known value that fits a register.
#[derive(Clone, Copy)]
enum Small {
    Bool(bool),
    Int(i64, Ty),
}

/// Evaluation steps taken and levels of depth left.
struct Fuel {
    steps: u64,
    depth: u32,
    /// Bit per parameter that has been read.
    reads: u32,
}

impl Compiler {
    /// The value of an operator expression at compile time, if the short cut leads to one.
    #[inline]
    pub fn quick(&mut self, f: &mut Frame, e: ExprId) -> Option<Ev> {
        let deepest = self.depth + LEVELS;
        if deepest > MAX_DEPTH {
            return None;
        }
        let mut fuel = Fuel {
            steps: 0,
            depth: LEVELS,
            reads: 0,
        };
        let value = self.small(f, e, &mut fuel)?;
        let steps = self.steps + fuel.steps;
        if steps > self.options.comptime_step_limit {
            return None;
        }
        self.steps = steps;
        self.memo.deepest = self.memo.deepest.max(deepest);
        f.reads |= fuel.reads;
        Some(Ev::Val(match value {
            Small::Bool(value) => Value::Bool(value),
            Small::Int(value, ty) => Value::Int(i128::from(value), ty),
        }))
    }

    /// The value of a local that has one.
    #[inline]
    pub fn quick_name(&mut self, f: &mut Frame, name: Sym) -> Option<Ev> {
        let index = f.local(name)?;
        let Storage::Known(value) = &f.locals[index].storage else {
            return None;
        };
        let undefined = matches!(value, Value::Undefined(_));
        let deepest = self.depth + 1;
        if undefined || self.steps >= self.options.comptime_step_limit || deepest > MAX_DEPTH {
            return None;
        }
        let ev = Ev::Val(value.clone());
        self.steps += 1;
        self.memo.deepest = self.memo.deepest.max(deepest);
        f.mark_read(index);
        Some(ev)
    }

    fn small(&self, f: &Frame, e: ExprId, fuel: &mut Fuel) -> Option<Small> {
        fuel.steps += 1;
        fuel.depth = fuel.depth.checked_sub(1)?;
        let value = match f.ast.expr(e) {
            Expr::Int(value) => Small::Int(i64::try_from(*value).ok()?, Ty::COMPTIME_INT),
            Expr::Bool(value) => Small::Bool(*value),
            Expr::Name(name) => match f.local(*name) {
                Some(index) => {
                    fuel.reads |= 1u32.checked_shl(index as u32).unwrap_or(0);
                    match &f.locals[index].storage {
                        Storage::Known(value) => small_value(value)?,
                        _ => return None,
                    }
                }
                None => self.small_global(f, *name)?,
            },
            Expr::Arith(op, a, b) => {
                let (a, b) = (self.small(f, *a, fuel)?, self.small(f, *b, fuel)?);
                let (a, b, ty) = small_peers(a, b)?;
                Small::Int(small_arith(*op, a, b, ty)?, ty)
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.small(f, *a, fuel)?, self.small(f, *b, fuel)?);
                let (a, b, _) = small_peers(a, b)?;
                Small::Bool(small_compare(*op, a, b))
            }
            Expr::And(a, b) => Small::Bool(self.truth(f, *a, fuel)? && self.truth(f, *b, fuel)?),
            Expr::Or(a, b) => Small::Bool(self.truth(f, *a, fuel)? || self.truth(f, *b, fuel)?),
            Expr::Unary(Unary::Not, a) => Small::Bool(!self.truth(f, *a, fuel)?),
            _ => return None,
        };
        fuel.depth += 1;
        Some(value)
    }

    fn truth(&self, f: &Frame, e: ExprId, fuel: &mut Fuel) -> Option<bool> {
        match self.small(f, e, fuel)? {
            Small::Bool(value) => Some(value),
            Small::Int(..) => None,
        }
    }

    fn small_global(&self, f: &Frame, name: Sym) -> Option<Small> {
        let module = self.module(f.module);
        let index = module.find(name)? as usize;
        if module.ast.globals[index].kind == GlobalKind::Var {
            return None;
        }
        match &module.globals[index].state {
            GlobalState::Known(value, _) => small_value(value),
            _ => None,
        }
    }
}

fn small_value(value: &Value) -> Option<Small> {
    match value {
        Value::Bool(value) => Some(Small::Bool(*value)),
        Value::Int(value, ty) => Some(Small::Int(i64::try_from(*value).ok()?, *ty)),
        _ => None,
    }
}

/// Two integers and their common type.
fn small_peers(a: Small, b: Small) -> Option<(i64, i64, Ty)> {
    let (Small::Int(a, left), Small::Int(b, right)) = (a, b) else {
        return None;
    };
    match (left, right) {
        _ if left == right => Some((a, b, left)),
        (Ty::COMPTIME_INT, ty) if fits(a, ty) => Some((a, b, ty)),
        (ty, Ty::COMPTIME_INT) if fits(b, ty) => Some((a, b, ty)),
        _ => None,
    }
}

/// Whether a number is one of the fixed integer type `ty`.
fn fits(value: i64, ty: Ty) -> bool {
    if !ty.is_int() {
        return false;
    }
    let bits = ty.bits();
    match ty.is_signed() {
        true => bits == 64 || value >> (bits - 1) == value >> 63,
        false => value >= 0 && (bits == 64 || value >> bits == 0),
    }
}

fn small_arith(op: Arith, a: i64, b: i64, ty: Ty) -> Option<i64> {
    let result = match op {
        Arith::Add => a.checked_add(b)?,
        Arith::Sub => a.checked_sub(b)?,
        Arith::Mul => a.checked_mul(b)?,
        Arith::Div => a.checked_div(b)?,
        Arith::Rem => a.checked_rem(b)?,
        _ => return None,
    };
    (ty == Ty::COMPTIME_INT || fits(result, ty)).then_some(result)
}

fn small_compare(op: CompareOp, a: i64, b: i64) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}
