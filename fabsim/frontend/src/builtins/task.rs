//! Binding tasks to ids.

use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::ExprId;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::FnRef;
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{Span, TaskBinding, TaskKind};

impl Compiler {
    pub fn bind_task(
        &mut self,
        f: &mut Frame,
        name: &str,
        kind: TaskKind,
        args: &[ExprId],
        span: Span,
    ) -> Res<()> {
        let function = self.function_argument(f, args[0])?;
        let ty = match kind {
            TaskKind::Data => Ty::DATA_TASK_ID,
            TaskKind::Local => Ty::LOCAL_TASK_ID,
            TaskKind::Control => Ty::CONTROL_TASK_ID,
        };
        let at = f.ast.span(args[1]);
        let id = self.value(f, args[1])?;
        let id = self.handle(
            &Ev::Val(id),
            ty,
            &format!("the second argument of @{name}"),
            at,
        )?;
        self.check_task_id(kind, id, at)?;
        self.bind(function, kind, id, span)
    }

    /// Binds a task to an id that nothing else has.
    pub fn bind(&mut self, function: FnRef, kind: TaskKind, id: u8, span: Span) -> Res<()> {
        self.check_task_params(kind, function, span)?;
        let tile = self.tile(span)?;
        if let Some((other, _)) = tile.bound.iter().find(|(bound, _)| bound.id == id) {
            let message = format!("the task id {id} is bound twice");
            return Err(Box::new(
                Diagnostic::new(span, message).note(other.span, "first bound here"),
            ));
        }
        if let Some((other, _)) = tile.bound.iter().find(|(_, task)| *task == function) {
            let message = "this task is bound twice".to_string();
            return Err(Box::new(
                Diagnostic::new(span, message).note(other.span, "first bound here"),
            ));
        }
        let id_of_function = self.instance(function, Vec::new(), span)?;
        let binding = TaskBinding {
            kind,
            id,
            function: id_of_function,
            span,
        };
        self.tile(span)?.bound.push((binding, function));
        Ok(())
    }

    /// Ids that belong to the runtime.
    fn check_task_id(&mut self, kind: TaskKind, id: u8, span: Span) -> Res<()> {
        let memcpy = self.options.memcpy;
        let reserved = match kind {
            TaskKind::Local => memcpy && matches!(id, 27 | 28 | 30),
            TaskKind::Control => memcpy && (33..=37).contains(&id),
            TaskKind::Data if self.wse3() => self.queue_reserved(id, true),
            TaskKind::Data => return self.check_color(id, span),
        };
        if reserved {
            return err(span, format!("the task id {id} is reserved for memcpy"));
        }
        Ok(())
    }

    fn check_task_params(&mut self, kind: TaskKind, function: FnRef, span: Span) -> Res<()> {
        let ty = self.function_type(function)?;
        let TypeKind::Function { params, .. } = self.types.kind(ty).clone() else {
            return Ok(());
        };
        let mut bits = 0;
        for param in params.iter() {
            match (param.is_int() || param.is_float(), self.types.size(*param)) {
                // Integers of 8 and of 64 bits are not among them.
                (true, Some(size @ (2 | 4))) if *param != Ty::I8 && *param != Ty::U8 => {
                    bits += size * 8
                }
                _ => {
                    let ty = self.show(*param);
                    return err(span, format!("a task cannot take an argument of type {ty}"));
                }
            }
        }
        let legal = match kind {
            TaskKind::Data => !params.is_empty() && bits <= 32,
            TaskKind::Local => params.is_empty(),
            TaskKind::Control => bits <= 32,
        };
        match (legal, kind) {
            (true, _) => Ok(()),
            (false, TaskKind::Data) => err(
                span,
                "a data task takes arguments of 32 bits in all, at least one",
            ),
            (false, TaskKind::Local) => err(span, "a local task takes no arguments"),
            (false, TaskKind::Control) => err(
                span,
                "a control task takes arguments of at most 32 bits in all",
            ),
        }
    }
}
