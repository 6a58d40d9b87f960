//! Expressions. One walk serves both worlds: what is known is computed, what is not becomes code.

use super::ast::{Arith, Expr, ExprId, Prong, Stmt, Unary};
use super::compiler::{Compiler, Ev, Frame};
use super::stmt::Flow;
use super::types::{Ty, TypeKind};
use super::value::Value;
use super::{err, ops, Res};
use crate::diagnostic::Diagnostic;
use crate::program::{BinaryOp, CompareOp, Inst, Slot, Span, UnaryOp};

impl Compiler {
    pub fn eval(&mut self, f: &mut Frame, e: ExprId) -> Res<Ev> {
        self.eval_as(f, e, None)
    }

    /// Evaluates `e`; `expect` is the type the context wants, which only serves values whose own
    /// type is still open.
    pub fn eval_as(&mut self, f: &mut Frame, e: ExprId, expect: Option<Ty>) -> Res<Ev> {
        let ast = f.ast.clone();
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
            Expr::TypeName(ty) => Ev::Val(Value::Type(*ty)),
            Expr::Direction(value) => Ev::Val(Value::Handle(u16::from(*value), Ty::DIRECTION)),
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) | Expr::Deref(_) => {
                let access = self.access(f, e)?;
                self.read(f, access, span)?
            }
            Expr::Builtin(name, args) => self.builtin(f, *name, args, span, expect)?,
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

    pub fn type_value(&mut self, f: &mut Frame, e: ExprId) -> Res<Ty> {
        if let Expr::TypeName(ty) = f.ast.expr(e) {
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

    fn if_expr(
        &mut self,
        f: &mut Frame,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
        expect: Option<Ty>,
        span: Span,
    ) -> Res<Ev> {
        let condition = self.condition(f, condition)?;
        if let Ev::Val(value) = &condition {
            return match (value.as_bool(), otherwise) {
                (Some(true), _) => self.eval_as(f, then, expect),
                (_, Some(otherwise)) => self.eval_as(f, otherwise, expect),
                (_, None) => Ok(Ev::Val(Value::Void)),
            };
        }
        let Some(otherwise) = otherwise else {
            return err(span, "an 'if' that gives a value needs an 'else'");
        };
        let mut choice = Choice::new(self.new_slot(span)?, expect);
        let (slot, _) = self.slot_of(&condition, span)?;
        let to_else = self.branch(slot, false, span)?;
        f.guarded += 1;
        let value = self.eval_as(f, then, expect)?;
        self.choose(&mut choice, value, f.ast.span(then))?;
        let to_end = self.jump(span)?;
        self.builder(span)?.land(&[to_else]);
        let value = self.eval_as(f, otherwise, expect)?;
        self.choose(&mut choice, value, f.ast.span(otherwise))?;
        f.guarded -= 1;
        self.builder(span)?.land(&[to_end]);
        self.chosen(choice, span)
    }

    /// Makes `ev` the outcome of one arm of a run-time choice.
    pub fn choose(&mut self, choice: &mut Choice, ev: Ev, span: Span) -> Res<()> {
        let ty = self.type_of_ev(&ev);
        if ty == Ty::VOID {
            choice.ty = Some(Ty::VOID);
            return Ok(());
        }
        if matches!(ty, Ty::COMPTIME_INT | Ty::COMPTIME_FLOAT) && choice.ty.is_none() {
            if let Ev::Val(value) = ev {
                // The type comes from another arm; the number is filled in then.
                let dst = choice.slot;
                let at = self.push(Inst::Const { dst, bits: 0 }, span)?;
                choice.open.push((at, value, span));
                return Ok(());
            }
        }
        let ty = *choice.ty.get_or_insert(ty);
        let ev = self.coerce(ev, ty, span)?;
        self.move_to(choice.slot, &ev, span)
    }

    pub fn chosen(&mut self, choice: Choice, span: Span) -> Res<Ev> {
        let Some(ty) = choice.ty else {
            return err(span, "a number chosen at run time needs a type, use @as");
        };
        for (at, value, span) in choice.open {
            let value = self.coerce_value(value, ty, span)?;
            let bits = self.bits(&value, span)?;
            let dst = choice.slot;
            self.builder(span)?.code[at] = Inst::Const { dst, bits };
        }
        if ty == Ty::VOID {
            return Ok(Ev::Val(Value::Void));
        }
        match self.types.in_slot(ty) {
            true => Ok(Ev::Slot(choice.slot, ty)),
            false => Ok(Ev::Memory(choice.slot, ty)),
        }
    }

    /// The value of a switch, and how control leaves it.
    pub fn switch(
        &mut self,
        f: &mut Frame,
        subject: ExprId,
        prongs: &[Prong],
        expect: Option<Ty>,
        span: Span,
    ) -> Res<(Ev, Flow)> {
        let at = f.ast.span(subject);
        let subject = self.eval(f, subject)?;
        let ty = self.type_of_ev(&subject);
        if !(ty.is_any_int() || self.types.is_enum(ty)) {
            let ty = self.show(ty);
            return err(
                at,
                format!("switch needs an integer or an enum, found {ty}"),
            );
        }
        let cases = self.switch_cases(f, prongs, ty, span)?;
        let otherwise = prongs.iter().position(|prong| prong.values.is_empty());
        if let Ev::Val(value) = &subject {
            let hit = cases.iter().position(|values| values.contains(value));
            return match hit.or(otherwise) {
                Some(index) => self.prong(f, &prongs[index], expect),
                None => err(span, "no arm of this switch fits the value"),
            };
        }
        let (slot, _) = self.slot_of(&subject, at)?;
        let mut choice = Choice::new(self.new_slot(span)?, expect);
        let mut ends = Vec::new();
        let mut open = otherwise.is_none() && prongs.is_empty();
        f.guarded += 1;
        let last = otherwise.map(|index| &prongs[index]);
        let tested = prongs
            .iter()
            .zip(&cases)
            .filter(|(_, values)| !values.is_empty());
        for (prong, values) in tested {
            let next = self.switch_test(slot, ty, values, prong.span)?;
            open |= self.run_time_prong(f, prong, expect, &mut choice)?;
            ends.push(self.jump(span)?);
            self.builder(span)?.land(&[next]);
        }
        if let Some(prong) = last {
            open |= self.run_time_prong(f, prong, expect, &mut choice)?;
        }
        f.guarded -= 1;
        self.builder(span)?.land(&ends);
        if !open {
            return Ok((Ev::Val(Value::Void), Flow::Stop));
        }
        Ok((self.chosen(choice, span)?, Flow::Next))
    }

    /// Lowers one arm; whether control goes on behind the switch from it.
    fn run_time_prong(
        &mut self,
        f: &mut Frame,
        prong: &Prong,
        expect: Option<Ty>,
        choice: &mut Choice,
    ) -> Res<bool> {
        let (value, flow) = self.prong(f, prong, expect)?;
        if !matches!(flow, Flow::Next) {
            return Ok(false);
        }
        self.choose(choice, value, prong.span)?;
        Ok(true)
    }

    /// The values of every arm, as values of the subject's type; checks that nothing is missing.
    fn switch_cases(
        &mut self,
        f: &mut Frame,
        prongs: &[Prong],
        ty: Ty,
        span: Span,
    ) -> Res<Vec<Vec<Value>>> {
        let mut cases: Vec<Vec<Value>> = Vec::new();
        for prong in prongs {
            let mut values = Vec::new();
            for expr in &prong.values {
                let at = f.ast.span(*expr);
                let value = self.comptime_value(f, *expr)?;
                let value = self.coerce_value(value, ty, at)?;
                if cases
                    .iter()
                    .flatten()
                    .chain(&values)
                    .any(|other| *other == value)
                {
                    return err(at, "this value appears twice in the switch");
                }
                values.push(value);
            }
            cases.push(values);
        }
        let has_else = prongs
            .iter()
            .filter(|prong| prong.values.is_empty())
            .count();
        if has_else > 1 {
            return err(span, "a switch has one 'else' arm");
        }
        let needed = match self.types.kind(ty) {
            TypeKind::Enum { members, .. } => members.len() as u128,
            _ if ty.is_int() => 1u128 << ty.bits(),
            _ => u128::MAX,
        };
        let given: usize = cases.iter().map(Vec::len).sum();
        if has_else == 0 && (given as u128) < needed {
            return err(
                span,
                "this switch does not cover all values: add an 'else' arm",
            );
        }
        Ok(cases)
    }

    /// Code that goes on if the slot holds one of `values`; the result is the jump taken otherwise.
    fn switch_test(&mut self, slot: Slot, ty: Ty, values: &[Value], span: Span) -> Res<usize> {
        let scalar = self.scalar(ty, span)?;
        let mut hits = Vec::new();
        for value in values {
            let bits = self.bits(value, span)?;
            let b = self.const_slot(bits, span)?;
            let dst = self.new_slot(span)?;
            let inst = Inst::Compare {
                op: CompareOp::Eq,
                ty: scalar,
                dst,
                a: slot,
                b,
            };
            self.push(inst, span)?;
            hits.push(self.branch(dst, true, span)?);
        }
        let next = self.jump(span)?;
        self.builder(span)?.land(&hits);
        Ok(next)
    }

    fn prong(&mut self, f: &mut Frame, prong: &Prong, expect: Option<Ty>) -> Res<(Ev, Flow)> {
        let ast = f.ast.clone();
        if let (Stmt::Expr(value), _) = ast.stmt(prong.body) {
            return Ok((self.eval_as(f, *value, expect)?, Flow::Next));
        }
        let flow = self.exec(f, prong.body)?;
        Ok((Ev::Val(Value::Void), flow))
    }
}

/// A value chosen at run time: the arms put it into one slot.
pub struct Choice {
    slot: Slot,
    ty: Option<Ty>,
    open: Vec<(usize, Value, Span)>,
}

impl Choice {
    pub fn new(slot: Slot, expect: Option<Ty>) -> Choice {
        Choice {
            slot,
            ty: expect.filter(|ty| *ty != Ty::COMPTIME_STRUCT),
            open: Vec::new(),
        }
    }
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
