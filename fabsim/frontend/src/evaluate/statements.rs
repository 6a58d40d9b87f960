//! Statements: executed where everything is known, lowered where not. Loops are in `stmt_loop`.

use crate::compiler::{Compiler, Ev, Frame, Target};
use crate::parse::ast::{Ast, Expr, ExprId, Stmt, StmtId};
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{Inst, Span};

/// How control leaves a statement. While lowering, the jump has already been emitted.
#[derive(Clone, Debug)]
pub enum Flow {
    Next,
    Return(Value),
    /// To the end of `targets[.0]`.
    Break(usize, Option<Value>),
    Continue(usize),
    /// Run-time control never gets to what follows.
    Stop,
}

impl Compiler {
    pub fn exec(&mut self, f: &mut Frame, s: StmtId) -> Res<Flow> {
        let ast = f.ast.clone();
        let (stmt, span) = ast.stmt(s);
        self.enter(span)?;
        let flow = self.exec_stmt(f, stmt, span)?;
        self.leave();
        Ok(flow)
    }

    fn exec_stmt(&mut self, f: &mut Frame, stmt: &Stmt, span: Span) -> Res<Flow> {
        match stmt {
            Stmt::Declare(declare) => self.declare(f, declare, span)?,
            Stmt::Assign(op, left, right) => {
                let mark = self.mark();
                self.assign(f, *op, *left, *right, span)?;
                self.release(mark);
            }
            Stmt::Expr(expr) => return self.expr_stmt(f, *expr),
            Stmt::Block(label, block) => return self.block_stmt(f, *label, block, span),
            Stmt::If(condition, then, otherwise) => {
                return self.if_stmt(f, *condition, *then, *otherwise, span)
            }
            Stmt::For(stmt) => return self.for_stmt(f, stmt, span),
            Stmt::While(stmt) => return self.while_stmt(f, stmt, span),
            Stmt::Return(value) => return self.return_stmt(f, *value, span),
            Stmt::Break(label, value) => return self.break_stmt(f, *label, *value, span),
            Stmt::Continue(label) => {
                let target = self.find_target(f, *label, true, span)?;
                if !f.targets[target].known {
                    let jump = self.jump(span)?;
                    f.targets[target].continues.push(jump);
                }
                return Ok(Flow::Continue(target));
            }
            Stmt::Comptime(inner) => {
                let before = std::mem::replace(&mut f.comptime, true);
                let flow = self.exec(f, *inner)?;
                f.comptime = before;
                if !matches!(flow, Flow::Next) && !before {
                    return err(span, "control cannot leave a comptime block");
                }
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn expr_stmt(&mut self, f: &mut Frame, expr: ExprId) -> Res<Flow> {
        let ast = f.ast.clone();
        let span = ast.span(expr);
        let mark = self.mark();
        let (ev, flow) = match ast.expr(expr) {
            Expr::Switch(subject, prongs) => self.switch(f, *subject, prongs, None, span)?,
            Expr::Comptime(inner) => (Ev::Val(self.comptime_value(f, *inner)?), Flow::Next),
            _ => (self.eval(f, expr)?, Flow::Next),
        };
        self.release(mark);
        let droppable = matches!(
            ast.expr(expr),
            Expr::Builtin(..)
                | Expr::Call(..)
                | Expr::Switch(..)
                | Expr::If(..)
                | Expr::Comptime(_)
        );
        if !droppable && self.type_of_ev(&ev) != Ty::VOID {
            // A published program compares the result of a call and drops what comes out.
            match calls(&ast, expr) {
                true => self.warn(span, "this value is not used"),
                false => return err(span, "this value is not used"),
            }
        }
        Ok(flow)
    }

    pub fn mark(&self) -> u16 {
        self.builder.as_ref().map_or(0, |builder| builder.mark())
    }

    pub fn release(&mut self, mark: u16) {
        if let Some(builder) = self.builder.as_mut() {
            builder.release(mark);
        }
    }

    fn block_stmt(
        &mut self,
        f: &mut Frame,
        label: Option<Sym>,
        block: &[StmtId],
        span: Span,
    ) -> Res<Flow> {
        let Some(label) = label else {
            return self.exec_block(f, block);
        };
        let target = Target {
            label: Some(label),
            known: f.comptime,
            ..Target::default()
        };
        f.targets.push(target);
        let at = f.targets.len() - 1;
        let flow = self.exec_block(f, block)?;
        self.leave_target(f, at, flow, span)
    }

    /// Ends a labelled block: control arrives at its end if it falls through or a break leads there.
    pub fn leave_target(&mut self, f: &mut Frame, at: usize, flow: Flow, span: Span) -> Res<Flow> {
        let target = f.targets.pop().unwrap_or_default();
        let broken = !target.breaks.is_empty();
        if broken {
            self.builder(span)?.land(&target.breaks);
        }
        Ok(match flow {
            Flow::Break(to, _) if to == at => Flow::Next,
            _ if broken => Flow::Next,
            flow => flow,
        })
    }

    /// Runs the statements in a scope of their own.
    pub fn exec_block(&mut self, f: &mut Frame, block: &[StmtId]) -> Res<Flow> {
        let (locals, mark) = (f.locals.len(), self.mark());
        let outer = std::mem::replace(&mut f.scope, locals);
        let mut flow = Flow::Next;
        for stmt in block {
            flow = self.exec(f, *stmt)?;
            if !matches!(flow, Flow::Next) {
                break;
            }
        }
        f.locals.truncate(locals);
        f.scope = outer;
        self.release(mark);
        Ok(flow)
    }

    pub fn block_expr(
        &mut self,
        f: &mut Frame,
        label: Option<Sym>,
        block: &[StmtId],
        expect: Option<Ty>,
        span: Span,
    ) -> Res<Ev> {
        let result = match f.comptime {
            true => None,
            false => Some(self.new_slot(span)?),
        };
        f.targets.push(Target {
            label,
            known: f.comptime,
            result,
            expect,
            ..Target::default()
        });
        let at = f.targets.len() - 1;
        let flow = self.exec_block(f, block)?;
        let target = f.targets.pop().unwrap_or_default();
        if target.known {
            return match flow {
                Flow::Break(to, value) if to == at => Ok(Ev::Val(value.unwrap_or(Value::Void))),
                Flow::Next => Ok(Ev::Val(Value::Void)),
                _ => err(
                    span,
                    "fabsim does not support leaving a block that is a value yet",
                ),
            };
        }
        self.builder(span)?.land(&target.breaks);
        match (target.value, target.result, target.result_ty) {
            (Some(value), _, _) if target.values == 1 => Ok(Ev::Val(value)),
            (_, Some(slot), Some(ty)) if self.types.in_slot(ty) => Ok(Ev::Slot(slot, ty)),
            (_, Some(slot), Some(ty)) => Ok(Ev::Memory(slot, ty)),
            _ => Ok(Ev::Val(Value::Void)),
        }
    }

    fn if_stmt(
        &mut self,
        f: &mut Frame,
        condition: ExprId,
        then: StmtId,
        otherwise: Option<StmtId>,
        span: Span,
    ) -> Res<Flow> {
        let mark = self.mark();
        let condition = self.condition(f, condition)?;
        if let Ev::Val(value) = &condition {
            self.release(mark);
            return match (value.as_bool(), otherwise) {
                (Some(true), _) => self.scoped(f, then),
                (_, Some(otherwise)) => self.scoped(f, otherwise),
                _ => Ok(Flow::Next),
            };
        }
        let (slot, _) = self.slot_of(&condition, span)?;
        let to_else = self.branch(slot, false, span)?;
        self.release(mark);
        f.guarded += 1;
        let first = self.scoped(f, then)?;
        let second = match otherwise {
            Some(otherwise) => {
                let to_end = match first {
                    Flow::Next => Some(self.jump(span)?),
                    _ => None,
                };
                self.builder(span)?.land(&[to_else]);
                let second = self.scoped(f, otherwise)?;
                if let Some(to_end) = to_end {
                    self.builder(span)?.land(&[to_end]);
                }
                second
            }
            None => {
                self.builder(span)?.land(&[to_else]);
                Flow::Next
            }
        };
        f.guarded -= 1;
        Ok(match (first, second) {
            (Flow::Next, _) | (_, Flow::Next) => Flow::Next,
            _ => Flow::Stop,
        })
    }

    /// One statement in a scope of its own.
    pub fn scoped(&mut self, f: &mut Frame, stmt: StmtId) -> Res<Flow> {
        self.exec_block(f, &[stmt])
    }

    pub fn find_target(
        &self,
        f: &Frame,
        label: Option<Sym>,
        only_loops: bool,
        span: Span,
    ) -> Res<usize> {
        let found = f.targets.iter().rposition(|target| match label {
            Some(label) => target.label == Some(label) && (target.is_loop || !only_loops),
            None => target.is_loop,
        });
        match (found, label) {
            (Some(found), _) => Ok(found),
            (None, Some(label)) => {
                let label = self.text(label);
                err(
                    span,
                    format!("there is no block or loop with the label '{label}' here"),
                )
            }
            (None, None) => err(span, "there is no loop to leave here"),
        }
    }

    fn break_stmt(
        &mut self,
        f: &mut Frame,
        label: Option<Sym>,
        value: Option<ExprId>,
        span: Span,
    ) -> Res<Flow> {
        let at = self.find_target(f, label, false, span)?;
        let expect = f.targets[at].expect;
        let ev = match value {
            Some(value) => Some(self.eval_as(f, value, expect)?),
            None => None,
        };
        if f.targets[at].known {
            return match ev {
                Some(Ev::Val(value)) => Ok(Flow::Break(at, Some(value))),
                None => Ok(Flow::Break(at, None)),
                Some(_) => err(span, "this value is not known at compile time"),
            };
        }
        if let Some(ev) = ev {
            self.break_value(f, at, ev, span)?;
        }
        let jump = self.jump(span)?;
        f.targets[at].breaks.push(jump);
        Ok(Flow::Break(at, None))
    }

    fn break_value(&mut self, f: &mut Frame, at: usize, ev: Ev, span: Span) -> Res<()> {
        let ev = match f.targets[at].result_ty.or(f.targets[at].expect) {
            Some(ty) => self.coerce(ev, ty, span)?,
            None => ev,
        };
        let ty = self.type_of_ev(&ev);
        f.targets[at].values += 1;
        if let Ev::Val(value) = &ev {
            f.targets[at].value = Some(value.clone());
        } else {
            f.targets[at].values += 1;
        }
        match f.targets[at].result {
            Some(slot) if self.types.is_runtime(ty) => {
                f.targets[at].result_ty = Some(ty);
                self.move_to(slot, &ev, span)
            }
            _ if f.targets[at].values > 1 => err(
                span,
                "a value chosen at run time needs a run-time type, use @as",
            ),
            _ => Ok(()),
        }
    }

    fn return_stmt(&mut self, f: &mut Frame, value: Option<ExprId>, span: Span) -> Res<Flow> {
        let Some(result) = f.result else {
            return err(span, "there is no function to return from here");
        };
        let mark = self.mark();
        let ev = match value {
            Some(value) => {
                let at = f.ast.span(value);
                let ev = self.eval_as(f, value, Some(result))?;
                self.coerce(ev, result, at)?
            }
            None if result == Ty::VOID => Ev::Val(Value::Void),
            None => return err(span, "this function must return a value"),
        };
        if f.comptime {
            return match ev {
                Ev::Val(value) => Ok(Flow::Return(value)),
                _ => err(span, "this value is not known at compile time"),
            };
        }
        if f.inline.is_some() {
            return self.inline_return(f, ev, result, span);
        }
        let src = match result {
            Ty::VOID => None,
            _ => Some(self.slot_of(&ev, span)?.0),
        };
        self.push(Inst::Return { src }, span)?;
        self.release(mark);
        Ok(Flow::Stop)
    }

    fn inline_return(&mut self, f: &mut Frame, ev: Ev, result: Ty, span: Span) -> Res<Flow> {
        let guarded = f.guarded;
        let Some(mut inline) = f.inline.take() else {
            return Ok(Flow::Stop);
        };
        inline.returns += 1;
        match &ev {
            Ev::Val(value) if guarded == 0 && inline.returns == 1 => {
                inline.value = Some(value.clone())
            }
            _ => inline.value = None,
        }
        if result != Ty::VOID && self.types.is_runtime(result) {
            self.move_to(inline.slot, &ev, span)?;
        } else if inline.value.is_none() && result != Ty::VOID {
            return err(
                span,
                "an inline function with a comptime-only result must return once",
            );
        }
        inline.jumps.push(self.jump(span)?);
        f.inline = Some(inline);
        Ok(Flow::Stop)
    }
}

/// Whether an operator's operand is a call, which may be what an expression is for.
fn calls(ast: &Ast, e: ExprId) -> bool {
    match ast.expr(e) {
        Expr::Call(..) | Expr::Builtin(..) => true,
        Expr::Arith(_, a, b) | Expr::Compare(_, a, b) => calls(ast, *a) || calls(ast, *b),
        Expr::Unary(_, a) => calls(ast, *a),
        _ => false,
    }
}
