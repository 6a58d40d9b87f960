//! Expressions. One walk serves both worlds: what is known is computed, what is not becomes code.

use crate::compiler::{Compiler, Ev, Frame};
use crate::dialect::Form;
use crate::evaluate::statements::Flow;
use crate::parse::ast::{Arith, Expr, ExprId, Unary};
use crate::types::kinds::Ty;
use crate::types::ops;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{BinaryOp, CompareOp, Inst, Span, UnaryOp};

impl Compiler {
    pub fn eval(&mut self, f: &mut Frame, e: ExprId) -> Res<Ev> {
        self.eval_as(f, e, None)
    }

    /// Evaluates `e`; `expect` is the type the context wants, which only serves values whose own
    /// type is still open.
    pub fn eval_as(&mut self, f: &mut Frame, e: ExprId, expect: Option<Ty>) -> Res<Ev> {
        if let Some(wanted) = f.take_wanted(e) {
            return self.eval_wanted(f, wanted, expect);
        }
        let ast = f.ast.clone();
        if f.comptime {
            let known = match ast.expr(e) {
                Expr::Name(name) => self.quick_name(f, *name),
                operator if is_operator(operator) => self.quick(f, e),
                _ => None,
            };
            if let Some(ev) = known {
                return Ok(ev);
            }
        }
        let span = ast.span(e);
        self.enter(span)?;
        let result = self.eval_expr(f, ast.expr(e), e, span, expect)?;
        self.leave();
        Ok(result)
    }

    fn eval_expr(
        &mut self,
        f: &mut Frame,
        expr: &Expr,
        e: ExprId,
        span: Span,
        expect: Option<Ty>,
    ) -> Res<Ev> {
        Ok(match expr {
            Expr::Int(value) => Ev::Val(Value::int(*value)),
            Expr::Float(value) => Ev::Val(Value::Float(*value, Ty::COMPTIME_FLOAT)),
            Expr::Str(bytes) => Ev::Val(Value::Str(bytes.clone())),
            Expr::Bool(value) => Ev::Val(Value::Bool(*value)),
            Expr::Void => Ev::Val(Value::Void),
            Expr::TypeName(ty) => {
                self.require_type(f, *ty, span)?;
                Ev::Val(Value::Type(*ty))
            }
            Expr::Direction(value) => Ev::Val(Value::Handle(u16::from(*value), Ty::DIRECTION)),
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) | Expr::Deref(_) => {
                let access = self.access(f, e)?;
                self.read(f, access, span)?
            }
            Expr::Builtin(name, args) => self.builtin(f, *name, args, span)?,
            Expr::Call(callee, args) => self.call(f, *callee, args, span)?,
            Expr::AddressOf(inner) => self.address_of(f, *inner, span)?,
            Expr::Unary(op, inner) => {
                let value = self.eval_as(f, *inner, expect)?;
                self.unary(*op, value, span)?
            }
            Expr::Arith(op, a, b) => {
                let left = self.eval_as(f, *a, expect)?;
                let shift = matches!(op, Arith::Shl | Arith::Shr);
                let right = self.eval_as(f, *b, if shift { None } else { expect })?;
                self.arith(*op, left, right, span)?
            }
            Expr::Compare(op, a, b) => {
                let (left, right) = (self.eval(f, *a)?, self.eval(f, *b)?);
                self.compare(*op, left, right, span)?
            }
            Expr::And(a, b) => self.short_circuit(f, *a, *b, false, span)?,
            Expr::Or(a, b) => self.short_circuit(f, *a, *b, true, span)?,
            Expr::Struct(ty, names, values) => self.struct_literal(f, *ty, names, values, span)?,
            Expr::Tuple(values) => self.tuple_literal(f, values)?,
            Expr::Array(ty, values) => self.array_literal(f, *ty, values, span)?,
            Expr::Comptime(inner) => Ev::Val(self.comptime_value(f, *inner)?),
            Expr::If(condition, then, otherwise) => {
                self.if_expr(f, *condition, *then, *otherwise, expect, span)?
            }
            Expr::Switch(subject, prongs) => {
                let (ev, flow) = self.switch(f, *subject, prongs, expect, span)?;
                if f.comptime && !matches!(flow, Flow::Next) {
                    return err(
                        span,
                        "fabsim does not support leaving a switch that is a value yet",
                    );
                }
                ev
            }
            Expr::Block(label, block) => self.block_expr(f, *label, block, expect, span)?,
            Expr::ArrayType(..)
            | Expr::PointerType { .. }
            | Expr::FnType(..)
            | Expr::StructType(_)
            | Expr::EnumType(..) => self.type_literal(f, e, span)?,
            Expr::Tensor { .. } => self.tensor_access(f, e, span)?,
        })
    }

    /// The known value of `e`.
    pub fn value(&mut self, f: &mut Frame, e: ExprId) -> Res<Value> {
        self.value_as(f, e, None)
    }

    pub fn value_as(&mut self, f: &mut Frame, e: ExprId, expect: Option<Ty>) -> Res<Value> {
        let span = f.ast.span(e);
        match self.eval_as(f, e, expect)? {
            Ev::Val(value) => Ok(value),
            _ => err(span, "this value is not known at compile time"),
        }
    }

    /// Evaluates `e` as a whole at compile time, calls included.
    pub fn comptime_value(&mut self, f: &mut Frame, e: ExprId) -> Res<Value> {
        let before = std::mem::replace(&mut f.comptime, true);
        let result = self.value(f, e);
        f.comptime = before;
        result
    }

    pub fn comptime_int(&mut self, f: &mut Frame, e: ExprId) -> Res<i128> {
        let span = f.ast.span(e);
        match self.comptime_value(f, e)? {
            Value::Int(value, _) => Ok(value),
            other => {
                let ty = self.type_of(&other);
                self.mismatch(ty, Ty::COMPTIME_INT, span)
            }
        }
    }

    /// Refuses the name of a type that the release has no longer, and doubts one that it does not have yet.
    pub(crate) fn require_type(&mut self, f: &Frame, ty: Ty, span: Span) -> Res<()> {
        match ty {
            Ty::COMPTIME_STRUCT => self.require_of_user(Form::ComptimeStruct, f.module, span),
            Ty::I64 | Ty::U64 => self.expect(Form::WideInteger, span),
            _ => Ok(()),
        }
    }

    pub fn type_value(&mut self, f: &mut Frame, e: ExprId) -> Res<Ty> {
        if let (Expr::TypeName(ty), true) = (f.ast.expr(e), f.wanted.is_empty()) {
            self.require_type(f, *ty, f.ast.span(e))?;
            return Ok(*ty);
        }
        let span = f.ast.span(e);
        match self.comptime_value(f, e)? {
            Value::Type(ty) => Ok(ty),
            other => {
                let ty = self.type_of(&other);
                let ty = self.show(ty);
                err(span, format!("expected a type, found a value of type {ty}"))
            }
        }
    }

    fn unary(&mut self, op: Unary, ev: Ev, span: Span) -> Res<Ev> {
        let ty = self.type_of_ev(&ev);
        let legal = match op {
            Unary::Negate => ty.is_any_int() || ty.is_any_float(),
            Unary::BitNot => ty.is_int(),
            Unary::Not => ty == Ty::BOOL,
        };
        if !legal {
            let (symbol, ty) = (unary_symbol(op), self.show(ty));
            return err(
                span,
                format!("the operator '{symbol}' is not defined on {ty}"),
            );
        }
        match ev {
            Ev::Val(Value::Int(value, ty)) => {
                let value = if op == Unary::Negate { -value } else { !value };
                Ok(Ev::Val(Value::Int(ops::wrap(value, ty), ty)))
            }
            Ev::Val(Value::Float(value, ty)) => Ok(Ev::Val(Value::Float(-value, ty))),
            Ev::Val(Value::Bool(value)) => Ok(Ev::Val(Value::Bool(!value))),
            other => {
                let (a, ty) = self.slot_of(&other, span)?;
                let (dst, scalar) = (self.new_slot(span)?, self.scalar(ty, span)?);
                let op = match op {
                    Unary::Negate => UnaryOp::Negate,
                    Unary::BitNot => UnaryOp::BitNot,
                    Unary::Not => UnaryOp::Not,
                };
                self.push(
                    Inst::Unary {
                        op,
                        ty: scalar,
                        dst,
                        a,
                    },
                    span,
                )?;
                Ok(Ev::Slot(dst, ty))
            }
        }
    }

    pub fn arith(&mut self, op: Arith, a: Ev, b: Ev, span: Span) -> Res<Ev> {
        let shift = matches!(op, Arith::Shl | Arith::Shr);
        let (a, b, ty) = match shift {
            true => self.shift_operands(a, b, span)?,
            false => self.peers(a, b, span)?,
        };
        let bitwise = shift || matches!(op, Arith::And | Arith::Or | Arith::Xor | Arith::Rem);
        let legal = ty.is_any_int() || (ty.is_any_float() && !bitwise);
        if !legal {
            let ty = self.show(ty);
            let symbol = arith_symbol(op);
            return err(
                span,
                format!("the operator '{symbol}' is not defined on {ty}"),
            );
        }
        if let (Ev::Val(Value::Undefined(_)), _) | (_, Ev::Val(Value::Undefined(_))) = (&a, &b) {
            return err(span, "this variable has no value yet");
        }
        if let (Ev::Val(a), Ev::Val(b)) = (&a, &b) {
            let result = ops::arith(op, a, b);
            return result
                .map(Ev::Val)
                .map_err(|why| Box::new(Diagnostic::new(span, why)));
        }
        if let (Arith::Div | Arith::Rem, Ev::Val(Value::Int(0, _))) = (op, &b) {
            return err(span, "division by zero");
        }
        let (a, _) = self.slot_of(&a, span)?;
        let (b, _) = self.slot_of(&b, span)?;
        let (dst, scalar) = (self.new_slot(span)?, self.scalar(ty, span)?);
        let op = run_time_op(op);
        self.push(
            Inst::Binary {
                op,
                ty: scalar,
                dst,
                a,
                b,
            },
            span,
        )?;
        Ok(Ev::Slot(dst, ty))
    }

    /// The shift count may have any unsigned type; the machine takes it in the type of the value.
    fn shift_operands(&mut self, a: Ev, b: Ev, span: Span) -> Res<(Ev, Ev, Ty)> {
        let (ty, count) = (self.type_of_ev(&a), self.type_of_ev(&b));
        if count.is_signed() || !count.is_any_int() {
            let count = self.show(count);
            return err(
                span,
                format!("a shift count must be unsigned, found {count}"),
            );
        }
        let known = matches!((&a, &b), (Ev::Val(_), Ev::Val(_)));
        if known || ty == count {
            return Ok((a, b, ty));
        }
        if ty == Ty::COMPTIME_INT {
            return err(span, "the shifted value needs a fixed-width type, use @as");
        }
        if !ty.is_int() {
            return Ok((a, b, ty));
        }
        if let Ev::Val(Value::Int(number, _)) = &b {
            if *number < 0 || *number >= i128::from(ty.bits()) {
                let most = ty.bits() - 1;
                return err(
                    span,
                    format!("shift count {number} is not between 0 and {most}"),
                );
            }
        }
        let b = self.cast(b, ty, span)?;
        Ok((a, b, ty))
    }

    fn compare(&mut self, op: CompareOp, a: Ev, b: Ev, span: Span) -> Res<Ev> {
        let (a, b, ty) = self.peers(a, b, span)?;
        let ordered = ty.is_any_int() || ty.is_any_float();
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let comparable = ordered
            || (equality
                && (ty == Ty::BOOL
                    || ty == Ty::TYPE
                    || ty == Ty::VOID
                    || ty == Ty::COMPTIME_STRING
                    || ty.is_handle()
                    || self.types.is_enum(ty)
                    || self.types.as_pointer(ty).is_some()));
        if !comparable {
            let ty = self.show(ty);
            return err(span, format!("values of type {ty} cannot be compared so"));
        }
        if let (Ev::Val(left), Ev::Val(right)) = (&a, &b) {
            if !matches!(left, Value::Pointer(_)) {
                if let Some(result) = ops::compare(op, left, right) {
                    return Ok(Ev::Val(Value::Bool(result)));
                }
            }
        }
        let (a, _) = self.slot_of(&a, span)?;
        let (b, _) = self.slot_of(&b, span)?;
        let (dst, ty) = (self.new_slot(span)?, self.scalar(ty, span)?);
        self.push(Inst::Compare { op, ty, dst, a, b }, span)?;
        Ok(Ev::Slot(dst, Ty::BOOL))
    }

    /// `and` (until is false) and `or` (until is true).
    fn short_circuit(
        &mut self,
        f: &mut Frame,
        a: ExprId,
        b: ExprId,
        until: bool,
        span: Span,
    ) -> Res<Ev> {
        let left = self.condition(f, a)?;
        if let Ev::Val(Value::Bool(value)) = left {
            return match value == until {
                true => Ok(left),
                false => self.condition(f, b),
            };
        }
        let dst = self.new_slot(span)?;
        self.move_to(dst, &left, span)?;
        let jump = self.branch(dst, until, span)?;
        f.guarded += 1;
        let right = self.condition(f, b)?;
        f.guarded -= 1;
        self.move_to(dst, &right, span)?;
        self.builder(span)?.land(&[jump]);
        Ok(Ev::Slot(dst, Ty::BOOL))
    }

    /// A boolean.
    pub fn condition(&mut self, f: &mut Frame, e: ExprId) -> Res<Ev> {
        let span = f.ast.span(e);
        let ev = self.eval(f, e)?;
        let ty = self.type_of_ev(&ev);
        match ty == Ty::BOOL {
            true => Ok(ev),
            false => self.mismatch(ty, Ty::BOOL, span),
        }
    }
}

fn is_operator(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Arith(..) | Expr::Compare(..) | Expr::And(..) | Expr::Or(..)
    )
}

fn run_time_op(op: Arith) -> BinaryOp {
    match op {
        Arith::Add => BinaryOp::Add,
        Arith::Sub => BinaryOp::Sub,
        Arith::Mul => BinaryOp::Mul,
        Arith::Div => BinaryOp::Div,
        Arith::Rem => BinaryOp::Rem,
        Arith::Shl => BinaryOp::Shl,
        Arith::Shr => BinaryOp::Shr,
        Arith::And => BinaryOp::And,
        Arith::Or => BinaryOp::Or,
        Arith::Xor => BinaryOp::Xor,
    }
}

fn arith_symbol(op: Arith) -> &'static str {
    match op {
        Arith::Add => "+",
        Arith::Sub => "-",
        Arith::Mul => "*",
        Arith::Div => "/",
        Arith::Rem => "%",
        Arith::Shl => "<<",
        Arith::Shr => ">>",
        Arith::And => "&",
        Arith::Or => "|",
        Arith::Xor => "^",
    }
}

fn unary_symbol(op: Unary) -> &'static str {
    match op {
        Unary::Negate => "-",
        Unary::BitNot => "~",
        Unary::Not => "!",
    }
}
