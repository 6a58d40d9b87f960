//! Forms of CSL before 1.0, on wse2: colors that are task ids, queues that are numbers.

use crate::compiler::{Compiler, Ev, Frame};
use crate::dialect::Form;
use crate::parse::ast::ExprId;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{Priority, Span, TaskKind};
use fabsim_program::sdk::Sdk;

impl Compiler {
    /// `@bind_task(t, color)`: a data task of the color, or without parameters a local task that has
    /// the color's number.
    pub fn bind_task_to_color(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let name = "bind_task";
        self.only_older(name, span)?;
        let task = self.function_argument(f, args[0])?;
        let color = self.value(f, args[1])?;
        let what = "the second argument of @bind_task";
        let id = self.handle(&Ev::Val(color), Ty::COLOR, what, f.ast.span(args[1]))?;
        let ty = self.function_type(task)?;
        let takes_data = match self.types.kind(ty) {
            TypeKind::Function { params, .. } => !params.is_empty(),
            _ => false,
        };
        let kind = if takes_data {
            TaskKind::Data
        } else {
            TaskKind::Local
        };
        self.bind(task, kind, id, span)
    }

    /// A color where a local task id is wanted.
    pub fn color_as_task_id(&self, ev: Ev) -> Ev {
        match ev {
            Ev::Val(Value::Handle(id, Ty::COLOR)) if !self.wse3() => {
                Ev::Val(Value::Handle(id, Ty::LOCAL_TASK_ID))
            }
            Ev::Slot(slot, Ty::COLOR) if !self.wse3() => Ev::Slot(slot, Ty::LOCAL_TASK_ID),
            other => other,
        }
    }

    /// A number where a queue is wanted.
    pub fn number_as_queue(&self, ev: Ev, ty: Ty) -> Ev {
        let last = if ty == Ty::OUTPUT_QUEUE { 5 } else { 7 };
        match ev {
            Ev::Val(Value::Int(id, _)) if !self.wse3() && (0..=last).contains(&id) => {
                Ev::Val(Value::Handle(id as u16, ty))
            }
            other => other,
        }
    }

    /// `@initialize_queue(number, color)`
    pub fn initialize_numbered(
        &mut self,
        f: &mut Frame,
        number: i128,
        args: &[ExprId],
        span: Span,
    ) -> Res<()> {
        self.only_older("initialize_queue with a number", span)?;
        let queue = self.number_as_queue(Ev::Val(Value::int(number)), Ty::INPUT_QUEUE);
        let queue = self.handle(&queue, Ty::INPUT_QUEUE, "the queue", span)?;
        if self.queue_reserved(queue, true) {
            return err(span, format!("input queue {queue} is reserved for memcpy"));
        }
        let color = self.value(f, args[1])?;
        let color = self.handle(&Ev::Val(color), Ty::COLOR, "the color", span)?;
        self.check_color(color, span)?;
        self.set_queue(queue, true, Some(color), Priority::High, span)
    }

    /// `@rpc(id)`: lets memcpy start functions by a task, which it does by itself since SDK 1.1.
    pub fn rpc(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        self.only_comptime("rpc", span)?;
        let id = self.value(f, args[0])?;
        let at = f.ast.span(args[0]);
        let kind = match self.type_of(&id) {
            Ty::COLOR => {
                self.require(Form::RpcOfColor, at)?;
                Ty::COLOR
            }
            _ => Ty::DATA_TASK_ID,
        };
        self.handle(&Ev::Val(id), kind, "the argument of @rpc", at)?;
        if self.sdk() > Sdk::V1_0 {
            let text = "@rpc does nothing since SDK 1.1: memcpy calls it itself";
            self.warn(span, text);
        }
        Ok(())
    }

    fn only_older(&mut self, form: &str, span: Span) -> Res<()> {
        self.has_older_forms = true;
        match self.wse3() {
            true => err(span, format!("@{form} is older than wse3")),
            false => Ok(()),
        }
    }
}
