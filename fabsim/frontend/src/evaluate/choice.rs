//! Values chosen by a condition: `if` and `switch` as expressions. A run-time choice puts the value
//! of each arm into one slot.

use crate::compiler::{Compiler, Ev, Frame};
use crate::evaluate::statements::Flow;
use crate::parse::ast::{ExprId, Prong, Stmt};
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{CompareOp, Inst, Slot, Span};

impl Compiler {
    pub fn if_expr(
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
    pub fn run_time_prong(
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
    pub fn switch_cases(
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
    pub fn switch_test(&mut self, slot: Slot, ty: Ty, values: &[Value], span: Span) -> Res<usize> {
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

    pub fn prong(&mut self, f: &mut Frame, prong: &Prong, expect: Option<Ty>) -> Res<(Ev, Flow)> {
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
