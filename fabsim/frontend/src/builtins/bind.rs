//! Builtins of top-level comptime blocks: binding tasks, initialising queues, exporting symbols,
//! handlers, the colors a PE configures itself.

use crate::compiler::{Compiler, Ev, Frame};
use crate::dialect::Form;
use crate::parse::ast::{Expr, ExprId, GlobalKind};
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{FnRef, GlobalRef, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::limits::COLORS;
use fabsim_program::program::{
    InputQueueSetup, OutputQueueSetup, Priority, ScalarType, Span, Symbol, SymbolKind, TaskKind,
};

impl Compiler {
    pub fn bind_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<Ev>> {
        match name {
            "bind_data_task" => self.bind_task(f, name, TaskKind::Data, args, span)?,
            "bind_local_task" => self.bind_task(f, name, TaskKind::Local, args, span)?,
            "bind_control_task" => self.bind_task(f, name, TaskKind::Control, args, span)?,
            "rpc" => self.rpc(f, args, span)?,
            "bind_task" => self.bind_task_to_color(f, args, span)?,
            "initialize_queue" => self.initialize_queue(f, args, span)?,
            "export_symbol" => self.export_symbol(f, args, span)?,
            "set_local_color_config" => self.local_color_config(f, args, span)?,
            "set_teardown_handler" => self.teardown_handler(f, args, span)?,
            "set_empty_queue_handler" => self.empty_queue_handler(f, args, span)?,
            _ => return Ok(None),
        }
        Ok(Some(Ev::Val(Value::Void)))
    }

    pub fn function_argument(&mut self, f: &mut Frame, e: ExprId) -> Res<FnRef> {
        let span = f.ast.span(e);
        match self.comptime_value(f, e)? {
            Value::Function(function) => Ok(function),
            other => {
                let ty = self.type_of(&other);
                let ty = self.show(ty);
                err(span, format!("expected a function or a task, found {ty}"))
            }
        }
    }

    /// A function that the runtime calls: it takes nothing and returns nothing.
    fn handler_argument(&mut self, f: &mut Frame, e: ExprId) -> Res<FnRef> {
        let function = self.function_argument(f, e)?;
        let ty = self.function_type(function)?;
        let params = Vec::new().into();
        let result = Ty::VOID;
        let wanted = self.types.intern(TypeKind::Function { params, result });
        match ty == wanted {
            true => Ok(function),
            false => self.mismatch(ty, wanted, f.ast.span(e)),
        }
    }

    /// Queues of memcpy. On wse2 programs share output queue 0 with it: a queue there has no color.
    pub fn queue_reserved(&self, queue: u8, input: bool) -> bool {
        let reserved = match (self.wse3(), input) {
            (true, true) => queue <= 1,
            (true, false) => queue == 0,
            (false, _) => queue == 0 && input,
        };
        self.options.memcpy && reserved
    }

    /// Colors that memcpy uses itself.
    pub fn check_color(&self, color: u8, span: Span) -> Res<()> {
        if usize::from(color) >= COLORS {
            return err(
                span,
                format!("the color {color} stands for none: it can have no route"),
            );
        }
        if self.options.memcpy && (21..=23).contains(&color) {
            return err(span, format!("the color {color} is reserved for memcpy"));
        }
        Ok(())
    }

    fn initialize_queue(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let name = "initialize_queue";
        let (queue, input) = match self.value(f, args[0])? {
            Value::Int(number, _) => return self.initialize_numbered(f, number, args, span),
            Value::Handle(queue, Ty::INPUT_QUEUE) => (queue as u8, true),
            Value::Handle(queue, Ty::OUTPUT_QUEUE) => (queue as u8, false),
            other => {
                let ty = self.type_of(&other);
                let ty = self.show(ty);
                return err(
                    span,
                    format!("@{name} needs an input_queue or an output_queue, found {ty}"),
                );
            }
        };
        let what = if input { "input queue" } else { "output queue" };
        if self.queue_reserved(queue, input) {
            return err(
                span,
                format!("{what} {queue} has already been set: it is reserved for memcpy"),
            );
        }
        let config = match args.get(1) {
            Some(arg) => {
                let at = f.ast.span(*arg);
                if !input && !self.wse3() {
                    self.expect(Form::OutputQueueWithoutColor, at)?;
                }
                let ev = self.eval(f, *arg)?;
                let allowed: &[&str] = match (self.wse3(), input) {
                    (true, true) => &["color", "ctrl_table_id"],
                    (true, false) => &["color"],
                    (false, true) => &["color", "priority"],
                    (false, false) => &[],
                };
                self.fields(&ev, allowed, "the configuration of this queue", at)?
            }
            None => Vec::new(),
        };
        let (mut color, mut priority) = (None, Priority::High);
        for (field, ev) in config {
            match field.as_str() {
                "color" => {
                    let id = self.handle(&ev, Ty::COLOR, "'color'", span)?;
                    self.check_color(id, span)?;
                    color = Some(id);
                }
                "priority" => priority = self.priority(&ev, span)?,
                _ => return err(span, "fabsim does not support 'ctrl_table_id' yet"),
            }
        }
        if color.is_none() && (input || self.wse3()) {
            let arch = self.arch_name();
            return err(
                span,
                format!("an {what} of {arch} needs a '.color' to be initialised"),
            );
        }
        self.set_queue(queue, input, color, priority, span)
    }

    pub fn set_queue(
        &mut self,
        queue: u8,
        input: bool,
        color: Option<u8>,
        priority: Priority,
        span: Span,
    ) -> Res<()> {
        let tile = self.tile(span)?;
        let at = usize::from(queue) & 7;
        let first = match input {
            true => tile.program.input_queues[at]
                .as_ref()
                .map(|setup| setup.span),
            false => tile.program.output_queues[at]
                .as_ref()
                .map(|setup| setup.span),
        };
        if let Some(first) = first {
            let what = if input { "input queue" } else { "output queue" };
            let message = format!("{what} {queue} is initialised twice");
            return Err(Box::new(
                Diagnostic::new(span, message).note(first, "first initialised here"),
            ));
        }
        match (input, color) {
            (true, Some(color)) => {
                tile.program.input_queues[at] = Some(InputQueueSetup {
                    color,
                    priority,
                    span,
                });
            }
            (_, color) => tile.program.output_queues[at] = Some(OutputQueueSetup { color, span }),
        }
        Ok(())
    }

    /// `.{ .high = true }` and the like.
    pub fn priority(&mut self, ev: &Ev, span: Span) -> Res<Priority> {
        let fields = self.fields(ev, &["high", "medium", "low"], "a priority", span)?;
        match fields.as_slice() {
            [(name, Ev::Val(Value::Bool(true)))] => Ok(match name.as_str() {
                "high" => Priority::High,
                "medium" => Priority::Medium,
                _ => Priority::Low,
            }),
            _ => err(
                span,
                "a priority is .{ .high = true }, .{ .medium = true } or .{ .low = true }",
            ),
        }
    }

    /// The global that an expression names.
    pub fn global_of(&mut self, f: &mut Frame, e: ExprId) -> Res<GlobalRef> {
        let ast = f.ast.clone();
        let span = ast.span(e);
        let found = match ast.expr(e) {
            Expr::Name(name) => self
                .module(f.module)
                .find(*name)
                .map(|index| (f.module, index)),
            Expr::Field(base, name) => match self.value(f, *base)? {
                Value::Module(module) => {
                    self.module(module).find(*name).map(|index| (module, index))
                }
                _ => None,
            },
            _ => None,
        };
        match found {
            Some((module, index)) => Ok(GlobalRef { module, index }),
            None => err(span, "expected the name of a global variable or function"),
        }
    }

    fn export_symbol(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let global = self.global_of(f, args[0])?;
        let decl_ast = self.module(global.module).ast.clone();
        let decl = &decl_ast.globals[global.index as usize];
        let name = match args.get(1) {
            Some(arg) => self.string_argument(f, *arg)?,
            None => self.text(decl.name).to_string(),
        };
        let (value, ty) = self.global(global, span)?;
        let (kind, ty) = match value {
            Value::Function(function) => {
                let ty = self.function_type(function)?;
                (
                    SymbolKind::Function(self.instance(function, Vec::new(), span)?),
                    ty,
                )
            }
            _ => {
                let Some(element) = self.exported_element(ty) else {
                    let ty = self.show(ty);
                    return err(
                        span,
                        format!(
                            "only pointers to scalars and functions can be exported, found {ty}"
                        ),
                    );
                };
                let pointer = self.global_address(global, span)?;
                (SymbolKind::Pointer { pointer, element }, ty)
            }
        };
        let mutable = decl.kind == GlobalKind::Var;
        let tile = self.tile(span)?;
        if let Some((_, _, _, first)) = tile.symbols.iter().find(|(symbol, ..)| symbol.name == name)
        {
            let message = format!("the symbol '{name}' is exported twice");
            return Err(Box::new(
                Diagnostic::new(span, message).note(*first, "first exported here"),
            ));
        }
        tile.symbols
            .push((Symbol { name, kind }, ty, mutable, span));
        Ok(())
    }

    /// The scalar that the host copies where an exported pointer leads to: the words of structs.
    pub fn exported_element(&self, ty: Ty) -> Option<ScalarType> {
        let (_, _, pointee) = self.types.as_pointer(ty)?;
        let element = self.types.as_array(pointee).map_or(pointee, |(_, of)| of);
        match self.exports_structs(ty) {
            true => Some(match self.types.size(element)? % 4 {
                0 => ScalarType::U32,
                _ => ScalarType::U16,
            }),
            false => self.types.scalar(element),
        }
    }

    /// Whether an exported pointer leads to structs.
    pub fn exports_structs(&self, ty: Ty) -> bool {
        let Some((_, _, pointee)) = self.types.as_pointer(ty) else {
            return false;
        };
        let element = self.types.as_array(pointee).map_or(pointee, |(_, of)| of);
        matches!(self.types.kind(element), TypeKind::Struct { .. })
    }

    fn local_color_config(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let color = self.value(f, args[0])?;
        let color = self.handle(&Ev::Val(color), Ty::COLOR, "the color", span)?;
        self.check_color(color, span)?;
        let config = self.value(f, args[1])?;
        let setup = self.color_setup(color, &config, span)?;
        let standard = self.module(f.module).standard;
        let tile = self.tile(span)?;
        if let Some((_, first)) = tile.colors.iter().find(|(other, _)| *other == color) {
            // Every import of a standard module says the same again.
            if standard && *first == setup {
                return Ok(());
            }
            let message = format!("the color {color} is configured twice");
            let first = first.span.0;
            return Err(Box::new(
                Diagnostic::new(span, message).note(first, "first configured here"),
            ));
        }
        tile.colors.push((color, setup));
        Ok(())
    }

    fn teardown_handler(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let function = self.handler_argument(f, args[0])?;
        let color = self.value(f, args[1])?;
        let color = self.handle(&Ev::Val(color), Ty::COLOR, "the color", span)?;
        let id = self.instance(function, Vec::new(), span)?;
        let tile = self.tile(span)?;
        if tile
            .program
            .teardown_handlers
            .iter()
            .any(|(other, _)| *other == color)
        {
            return err(span, format!("the color {color} has two teardown handlers"));
        }
        tile.program.teardown_handlers.push((color, id));
        Ok(())
    }

    fn empty_queue_handler(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let name = "set_empty_queue_handler";
        let function = self.handler_argument(f, args[0])?;
        let (input, queue) = match self.value(f, args[1])? {
            Value::Handle(queue, Ty::INPUT_QUEUE) => (true, queue as u8),
            Value::Handle(queue, Ty::OUTPUT_QUEUE) => (false, queue as u8),
            _ => return err(span, format!("@{name} needs a queue")),
        };
        let id = self.instance(function, Vec::new(), span)?;
        let handlers = &mut self.tile(span)?.program.empty_queue_handlers;
        if handlers.iter().any(|(i, q, _)| (*i, *q) == (input, queue)) {
            return err(span, format!("the queue {queue} has two handlers"));
        }
        handlers.push((input, queue, id));
        Ok(())
    }
}
