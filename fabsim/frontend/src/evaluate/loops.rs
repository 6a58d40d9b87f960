//! `for` and `while`: executed, unrolled (`inline`) or lowered.

use crate::compiler::{Compiler, Ev, Frame, Local, Storage, Target};
use crate::evaluate::statements::Flow;
use crate::parse::ast::{For, While};
use crate::types::kinds::Ty;
use crate::types::value::{RangeValue, Value};
use crate::{err, Res};
use fabsim_program::program::{BinaryOp, CompareOp, Inst, Slot, Span};

/// What a loop does next.
enum After {
    Again,
    Leave,
    Out(Flow),
}

impl Compiler {
    pub fn for_stmt(&mut self, f: &mut Frame, stmt: &For, span: Span) -> Res<Flow> {
        let mark = self.mark();
        let over = self.eval(f, stmt.over)?;
        let at = f.ast.span(stmt.over);
        let flow = match (&over, f.comptime || stmt.inline) {
            (Ev::Val(Value::Range(range)), true) => {
                let (range, count) = (range.clone(), range.count());
                self.unroll(f, stmt, count, |i| Some(range_item(&range, i)), span)?
            }
            (Ev::Val(Value::Array(array)), true) => {
                let array = array.clone();
                let count = array.elements.len() as u64;
                self.unroll(
                    f,
                    stmt,
                    count,
                    |i| array.elements.get(i as usize).cloned(),
                    span,
                )?
            }
            (Ev::Val(Value::Tuple(items)), true) => {
                let items = items.clone();
                self.unroll(
                    f,
                    stmt,
                    items.len() as u64,
                    |i| items.get(i as usize).cloned(),
                    span,
                )?
            }
            (Ev::Val(Value::Range(range)), false) => {
                let range = range.clone();
                if range.ty == Ty::COMPTIME_INT {
                    return err(
                        at,
                        "the elements of this range are comptime_int, and this loop is lowered: write 'inline for', or a range of a type like u16",
                    );
                }
                let bits = |v| self.bits_of_int(v, range.ty);
                let (start, stop, step) = (bits(range.start), bits(range.stop), bits(range.step));
                let start = self.const_slot(start, at)?;
                let stop = self.const_slot(stop, at)?;
                let step = self.const_slot(step, at)?;
                self.run_time_range(f, stmt, range.ty, [start, stop, step], range.step > 0, span)?
            }
            (Ev::TupleParts(parts), _) if parts.len() == 4 => {
                // A range with run-time bounds, as `@range` makes it.
                self.run_time_parts(f, stmt, parts, span)?
            }
            (Ev::Val(Value::Array(_)) | Ev::Memory(..), false) => {
                self.for_array(f, stmt, over, span)?
            }
            _ => {
                let ty = self.type_of_ev(&over);
                let ty = self.show(ty);
                return err(
                    at,
                    format!("'for' goes over arrays and ranges, not over {ty}"),
                );
            }
        };
        self.release(mark);
        Ok(flow)
    }

    fn bits_of_int(&self, value: i128, ty: Ty) -> u64 {
        (value & ((1i128 << ty.bits()) - 1)) as u64
    }

    fn unroll(
        &mut self,
        f: &mut Frame,
        stmt: &For,
        count: u64,
        item: impl Fn(u64) -> Option<Value>,
        span: Span,
    ) -> Res<Flow> {
        if !f.comptime && count > u64::from(self.options.max_inlined_iterations) {
            let most = self.options.max_inlined_iterations;
            return err(
                span,
                format!(
                    "this inline loop has more than {most} iterations (--max-inlined-iterations)"
                ),
            );
        }
        let at = self.enter_loop(f, stmt.label);
        let mut out = Flow::Next;
        for i in 0..count {
            let Some(value) = item(i) else { break };
            let locals = f.locals.len();
            let ty = match &value {
                Value::Int(_, ty) => *ty,
                other => self.type_of(other),
            };
            f.known(stmt.item, ty, value);
            if let Some(index) = stmt.index {
                f.known(index, Ty::U16, Value::Int(i128::from(i), Ty::U16));
            }
            let flow = self.scoped(f, stmt.body)?;
            f.locals.truncate(locals);
            match self.after(f, at, flow, span)? {
                After::Again => {}
                After::Leave => break,
                After::Out(flow) => {
                    out = flow;
                    break;
                }
            }
        }
        self.leave_target(f, at, out, span)
    }

    fn enter_loop(&mut self, f: &mut Frame, label: Option<crate::parse::intern::Sym>) -> usize {
        f.targets.push(Target {
            label,
            is_loop: true,
            known: f.comptime,
            ..Target::default()
        });
        f.targets.len() - 1
    }

    /// Lands the `continue`s of one iteration and tells what its end means.
    fn after(&mut self, f: &mut Frame, at: usize, flow: Flow, span: Span) -> Res<After> {
        let continues = std::mem::take(&mut f.targets[at].continues);
        let continued = !continues.is_empty();
        if continued {
            self.builder(span)?.land(&continues);
        }
        Ok(match flow {
            Flow::Next => After::Again,
            Flow::Continue(to) if to == at => After::Again,
            _ if continued => After::Again,
            Flow::Break(to, _) if to == at => After::Leave,
            flow => After::Out(flow),
        })
    }

    fn run_time_parts(&mut self, f: &mut Frame, stmt: &For, parts: &[Ev], span: Span) -> Res<Flow> {
        let Ev::Val(Value::Type(ty)) = parts[0] else {
            return err(span, "'for' goes over arrays and ranges");
        };
        let upwards = match parts[3] {
            Ev::Val(Value::Int(step, _)) => step > 0,
            _ if !ty.is_signed() => true,
            _ => {
                return err(
                    span,
                    "fabsim does not support a range with a signed run-time step yet",
                )
            }
        };
        if f.comptime {
            return err(span, "this range is not known at compile time");
        }
        let (start, _) = self.slot_of(&parts[1], span)?;
        // The bounds are those of the start, even if the body changes the variables they came from.
        let stop = self.new_slot(span)?;
        self.move_to(stop, &parts[2], span)?;
        let by = self.new_slot(span)?;
        self.move_to(by, &parts[3], span)?;
        self.run_time_range(f, stmt, ty, [start, stop, by], upwards, span)
    }

    /// A counting loop. The variable is copied for the body, so that the count is its own.
    fn run_time_range(
        &mut self,
        f: &mut Frame,
        stmt: &For,
        ty: Ty,
        [start, stop, step]: [Slot; 3],
        upwards: bool,
        span: Span,
    ) -> Res<Flow> {
        let scalar = self.scalar(ty, span)?;
        let counter = self.new_slot(span)?;
        self.push(
            Inst::Copy {
                dst: counter,
                src: start,
            },
            span,
        )?;
        let index = self.index_slot(stmt, span)?;
        let head = self.builder(span)?.here();
        let op = if upwards {
            CompareOp::Lt
        } else {
            CompareOp::Gt
        };
        let more = self.new_slot(span)?;
        let inst = Inst::Compare {
            op,
            ty: scalar,
            dst: more,
            a: counter,
            b: stop,
        };
        self.push(inst, span)?;
        let exit = self.branch(more, false, span)?;
        let at = self.enter_loop(f, stmt.label);
        let locals = f.locals.len();
        self.loop_variable(f, stmt.item, ty, counter);
        if let (Some(name), Some(slot)) = (stmt.index, index) {
            self.loop_variable(f, name, Ty::U16, slot);
        }
        f.guarded += 1;
        self.scoped(f, stmt.body)?;
        f.guarded -= 1;
        f.locals.truncate(locals);
        self.after(f, at, Flow::Next, span)?;
        let inst = Inst::Binary {
            op: BinaryOp::Add,
            ty: scalar,
            dst: counter,
            a: counter,
            b: step,
        };
        self.push(inst, span)?;
        if let Some(slot) = index {
            self.increment(slot, span)?;
        }
        self.push(Inst::Jump { to: head }, span)?;
        self.builder(span)?.land(&[exit]);
        self.leave_target(f, at, Flow::Next, span)
    }

    fn loop_variable(&self, f: &mut Frame, name: crate::parse::intern::Sym, ty: Ty, slot: Slot) {
        f.locals.push(Local {
            name,
            ty,
            mutable: false,
            guarded: f.guarded,
            storage: Storage::Slot(slot),
        });
    }

    fn index_slot(&mut self, stmt: &For, span: Span) -> Res<Option<Slot>> {
        match stmt.index {
            Some(_) => Ok(Some(self.const_slot(0, span)?)),
            None => Ok(None),
        }
    }

    fn increment(&mut self, slot: Slot, span: Span) -> Res<()> {
        let one = self.const_slot(1, span)?;
        let inst = Inst::Binary {
            op: BinaryOp::Add,
            ty: fabsim_program::program::ScalarType::U16,
            dst: slot,
            a: slot,
            b: one,
        };
        self.push(inst, span)?;
        Ok(())
    }

    /// A loop over the elements of an array in memory, row after row.
    fn for_array(&mut self, f: &mut Frame, stmt: &For, over: Ev, span: Span) -> Res<Flow> {
        let (base, ty) = self.slot_of(&over, span)?;
        let Some((dims, element)) = self.types.as_array(ty) else {
            return err(span, "'for' goes over arrays and ranges");
        };
        let size = self.element_size(element, span)?;
        let address = self.new_slot(span)?;
        self.push(
            Inst::Copy {
                dst: address,
                src: base,
            },
            span,
        )?;
        let count = self.const_slot(dims.iter().map(|dim| u64::from(*dim)).product(), span)?;
        let counter = self.const_slot(0, span)?;
        let head = self.builder(span)?.here();
        let more = self.new_slot(span)?;
        let inst = Inst::Compare {
            op: CompareOp::Lt,
            ty: fabsim_program::program::ScalarType::U16,
            dst: more,
            a: counter,
            b: count,
        };
        self.push(inst, span)?;
        let exit = self.branch(more, false, span)?;
        let at = self.enter_loop(f, stmt.label);
        let locals = f.locals.len();
        let item = self.load(address, element, span)?;
        f.locals.push(Local {
            name: stmt.item,
            ty: element,
            mutable: false,
            guarded: f.guarded,
            storage: match item {
                Ev::Slot(slot, _) => Storage::Slot(slot),
                other => Storage::Parts(other),
            },
        });
        if let Some(name) = stmt.index {
            self.loop_variable(f, name, Ty::U16, counter);
        }
        f.guarded += 1;
        self.scoped(f, stmt.body)?;
        f.guarded -= 1;
        f.locals.truncate(locals);
        self.after(f, at, Flow::Next, span)?;
        let by = self.const_slot(u64::from(size), span)?;
        let inst = Inst::Binary {
            op: BinaryOp::Add,
            ty: fabsim_program::program::ScalarType::U16,
            dst: address,
            a: address,
            b: by,
        };
        self.push(inst, span)?;
        self.increment(counter, span)?;
        self.push(Inst::Jump { to: head }, span)?;
        self.builder(span)?.land(&[exit]);
        self.leave_target(f, at, Flow::Next, span)
    }

    pub fn while_stmt(&mut self, f: &mut Frame, stmt: &While, span: Span) -> Res<Flow> {
        match f.comptime || stmt.inline {
            true => self.while_known(f, stmt, span),
            false => self.while_run_time(f, stmt, span),
        }
    }

    fn while_known(&mut self, f: &mut Frame, stmt: &While, span: Span) -> Res<Flow> {
        let at = self.enter_loop(f, stmt.label);
        let mut out = Flow::Next;
        let mut count = 0u32;
        loop {
            match self.condition(f, stmt.condition)? {
                Ev::Val(Value::Bool(true)) => {}
                Ev::Val(_) => break,
                _ => {
                    return err(
                        span,
                        "the condition of an inline loop must be known at compile time",
                    )
                }
            }
            count += 1;
            if !f.comptime && count > self.options.max_inlined_iterations {
                let most = self.options.max_inlined_iterations;
                return err(span, format!("this inline loop has more than {most} iterations (--max-inlined-iterations)"));
            }
            let flow = self.scoped(f, stmt.body)?;
            match self.after(f, at, flow, span)? {
                After::Again => {}
                After::Leave => break,
                After::Out(flow) => {
                    out = flow;
                    break;
                }
            }
            if let Some(step) = stmt.step {
                self.exec(f, step)?;
            }
        }
        self.leave_target(f, at, out, span)
    }

    fn while_run_time(&mut self, f: &mut Frame, stmt: &While, span: Span) -> Res<Flow> {
        let mark = self.mark();
        let head = self.builder(span)?.here();
        let condition = self.condition(f, stmt.condition)?;
        let endless = matches!(condition, Ev::Val(Value::Bool(true)));
        if matches!(condition, Ev::Val(Value::Bool(false))) {
            return Ok(Flow::Next);
        }
        let (slot, _) = self.slot_of(&condition, span)?;
        let exit = self.branch(slot, false, span)?;
        self.release(mark);
        let at = self.enter_loop(f, stmt.label);
        f.guarded += 1;
        self.scoped(f, stmt.body)?;
        self.after(f, at, Flow::Next, span)?;
        if let Some(step) = stmt.step {
            self.exec(f, step)?;
        }
        f.guarded -= 1;
        self.push(Inst::Jump { to: head }, span)?;
        self.builder(span)?.land(&[exit]);
        let flow = if endless { Flow::Stop } else { Flow::Next };
        self.leave_target(f, at, flow, span)
    }
}

fn range_item(range: &RangeValue, index: u64) -> Value {
    Value::Int(range.start + range.step * i128::from(index), range.ty)
}
