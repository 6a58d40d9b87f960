//! One tile program: instantiating the PE file, running its comptime blocks, lowering what is
//! reachable, and the checks that need all of it.

use crate::builtins::unnamed_queue;
use crate::compiler::{Compiler, Frame, Stage};
use crate::state::layout::{Declared, Order};
use crate::state::rule;
use crate::state::tile::{OwnColors, TileRequest, TileState};
use crate::types::value::{Elements, ModuleId, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{
    DsdShape, ExportKind, FunctionId, InputQueueSetup, Priority, Span, SymbolKind, TileProgram,
};
use std::sync::Arc;

impl Compiler {
    /// Compiles one tile program; the second part is the colors it configures itself.
    pub fn compile_tile(
        &mut self,
        request: &TileRequest,
        exports: &[Declared],
    ) -> Res<(TileProgram, OwnColors)> {
        let modules = self.modules.len();
        let compiled = self.compile_placed(request);
        if compiled.is_err() {
            self.modules.truncate(modules);
        }
        let mut tile = compiled?;
        for module in modules..self.modules.len() {
            self.check_unused_params(ModuleId(module as u32));
        }
        self.check_queues(&mut tile)?;
        self.check_activated(&tile);
        self.check_registers(&tile)?;
        self.check_teardown_task(&tile)?;
        self.check_memory_left(&tile)?;
        check_recursion(&tile)?;
        check_teardown(&tile)?;
        self.check_exports(&tile, exports)?;
        self.census_tile(&tile);
        let colors = tile.own_colors();
        self.share_functions(&mut tile.program);
        tile.program.half = self.options.fp16.scalar();
        tile.program.tasks = tile
            .bound
            .iter()
            .map(|(binding, _)| binding.clone())
            .collect();
        tile.program.symbols = tile
            .symbols
            .into_iter()
            .map(|(symbol, ..)| symbol)
            .collect();
        tile.program.variables = self.variables(modules);
        self.modules.truncate(modules);
        Ok((tile.program, colors))
    }

    /// Functions that another program has as well become one.
    fn share_functions(&mut self, program: &mut TileProgram) {
        for function in &mut program.functions {
            match self.functions.get(function) {
                Some(known) => *function = Arc::clone(known),
                None => {
                    self.functions.insert(Arc::clone(function));
                }
            }
        }
    }

    /// Evaluates the globals of the root module and of all it imports, then their comptime blocks;
    /// whether these succeeded. The globals of `order` get places in between.
    pub fn run_modules(&mut self, root: ModuleId, order: &Order) -> Res<bool> {
        let mut next = root.0 as usize;
        while next < self.modules.len() {
            self.evaluate_globals(ModuleId(next as u32));
            next += 1;
        }
        self.reserve(root, order)?;
        let failures = self.messages.failures;
        self.stage = Stage::Comptime;
        for module in root.0 as usize..self.modules.len() {
            let ast = self.modules[module].ast.clone();
            for (block, _) in &ast.comptime_blocks {
                let caller = self.modules[module].caller;
                self.part(|this| {
                    let mut frame = Frame::new(ast.clone(), ModuleId(module as u32), true);
                    let run = |this: &mut Self| this.exec_block(&mut frame, block).map(drop);
                    this.on_behalf(caller, run)
                });
            }
        }
        self.stage = Stage::Global;
        Ok(self.messages.failures == failures)
    }

    pub fn lower_all(&mut self, span: Span) -> Res<()> {
        self.stage = Stage::Run;
        loop {
            let next = match self.tile(span)?.pending.is_empty() {
                true => None,
                false => Some(self.tile(span)?.pending.remove(0)),
            };
            match next {
                Some(pending) => {
                    self.part(|this| this.on_behalf(pending.caller, |this| this.lower(&pending)))
                }
                None => {
                    // Initial values may refer to functions, which are lowered then.
                    self.write_pointers(span)?;
                    if self.tile(span)?.pending.is_empty() {
                        break;
                    }
                }
            }
        }
        self.stage = Stage::Global;
        Ok(())
    }

    /// Makes every function that an initial value points to an instance.
    fn write_pointers(&mut self, span: Span) -> Res<()> {
        let mut at = 0;
        while at < self.tile(span)?.initial.len() {
            let (_, value, _, place) = self.tile(span)?.initial[at].clone();
            self.resolve_pointers(&value, place)?;
            at += 1;
        }
        Ok(())
    }

    fn resolve_pointers(&mut self, value: &Value, span: Span) -> Res<()> {
        match value {
            Value::Pointer(_) => self.bits(value, span).map(drop),
            Value::Array(array) => match &array.elements {
                Elements::Same(value, _) => self.resolve_pointers(value, span),
                Elements::List(list) if list.first().is_some_and(is_scalar) => Ok(()),
                Elements::List(list) => list
                    .iter()
                    .try_for_each(|value| self.resolve_pointers(value, span)),
            },
            Value::Struct(fields) => fields
                .values
                .iter()
                .try_for_each(|value| self.resolve_pointers(value, span)),
            _ => Ok(()),
        }
    }

    /// On wse2 a fabin DSD that names a color binds its queue. A queue that nothing initialises is an
    /// error when an operation uses it: programs describe operands that only some of their PEs need.
    fn check_queues(&mut self, tile: &mut TileState) -> Res<()> {
        unnamed_queue::deal(tile);
        self.bind_input_queues(tile)?;
        if self.wse3() {
            check_output_colors(tile)?;
        }
        let program = &tile.program;
        for (shape, span) in program.shapes.iter().zip(&tile.shape_spans) {
            let (what, queue, ready) = match shape {
                DsdShape::FabOut { queue, .. } => {
                    let setup = &program.output_queues[usize::from(*queue) & 7];
                    ("output", queue, setup.is_some() || !self.wse3())
                }
                DsdShape::FabIn { queue, .. } => {
                    let setup = &program.input_queues[usize::from(*queue) & 7];
                    ("input", queue, setup.is_some())
                }
                _ => continue,
            };
            if !ready {
                self.warn(*span, format!("{what} queue {queue} is used but not initialised: call @initialize_queue for it"));
            }
        }
        Ok(())
    }

    /// Binds the queues of fabin DSDs. On wse2 DSDs of several colors may name one queue: an operation
    /// binds it to the color of its own.
    fn bind_input_queues(&mut self, tile: &mut TileState) -> Res<()> {
        let initialised = tile.program.input_queues.clone();
        for (shape, span) in tile.program.shapes.iter().zip(&tile.shape_spans) {
            let DsdShape::FabIn {
                queue,
                color: Some(color),
                ..
            } = shape
            else {
                continue;
            };
            let at = usize::from(*queue) & 7;
            let other = initialised[at].as_ref().filter(|q| q.color != *color);
            if let Some(setup) = other {
                let message = format!(
                    "this DSD wants color {color}, but input queue {queue} has color {}",
                    setup.color
                );
                if self.wse3() {
                    let error = Diagnostic::new(*span, message);
                    return Err(Box::new(error.note(setup.span, "initialised here")));
                }
                self.warn(
                    *span,
                    format!("{message}: an operation on it binds the queue anew"),
                );
            }
            let slot = &mut tile.program.input_queues[at];
            if slot.is_none() && !self.wse3() {
                *slot = Some(InputQueueSetup {
                    color: *color,
                    priority: Priority::High,
                    span: *span,
                });
            }
        }
        Ok(())
    }

    /// Warns of activating an id that no task is bound to.
    fn check_activated(&mut self, tile: &TileState) {
        for (id, span) in &tile.activated {
            if !tile.bound.iter().any(|(binding, _)| binding.id == *id) {
                self.warn(
                    *span,
                    format!("the local task id {id} is activated, but no task is bound to it"),
                );
            }
        }
    }

    /// Task 29 of a program with memcpy: its dispatcher of teardowns has the id, too.
    fn check_teardown_task(&mut self, tile: &TileState) -> Res<()> {
        let bound = tile.bound.iter().find(|(binding, _)| binding.id == 29);
        match bound {
            Some((binding, _)) if self.uses_memcpy() => self.doubt(
                rule::TEARDOWN_TASK,
                binding.span,
                "the task id 29 belongs to memcpy's dispatcher of teardowns: use @set_teardown_handler",
            ),
            _ => Ok(()),
        }
    }

    fn check_exports(&self, tile: &TileState, exports: &[Declared]) -> Res<()> {
        for (symbol, ty, mutable, span) in &tile.symbols {
            let name = &symbol.name;
            // Only debuggers look for these.
            if name.starts_with("$$csl_debug.") {
                continue;
            }
            let Some(declared) = exports
                .iter()
                .find(|declared| declared.export.name == *name)
            else {
                return err(
                    *span,
                    format!("the symbol '{name}' is not declared with @export_name in the layout"),
                );
            };
            let differs = |what: String| {
                let diagnostic = Diagnostic::new(*span, format!("the symbol '{name}' {what}"));
                Err(Box::new(diagnostic.note(declared.span, "declared here")))
            };
            let same = match (&symbol.kind, &declared.export.kind) {
                (
                    SymbolKind::Pointer { element, .. },
                    ExportKind::Tensor {
                        element: wanted,
                        mutable: writable,
                    },
                ) => {
                    if element == wanted && mutable != writable {
                        let is = if *mutable { "a variable" } else { "a constant" };
                        return differs(format!(
                            "is {is}, but its mutability is declared otherwise"
                        ));
                    }
                    let structs = self.exports_structs(*ty) || self.exports_structs(declared.ty);
                    element == wanted && (!structs || self.show(*ty) == self.show(declared.ty))
                }
                (SymbolKind::Function(_), ExportKind::Function { .. }) => *ty == declared.ty,
                _ => false,
            };
            if !same {
                let (found, wanted) = (self.show(*ty), self.show(declared.ty));
                return differs(format!(
                    "has type {found}, but is declared with type {wanted}"
                ));
            }
        }
        Ok(())
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Int(..) | Value::Float(..) | Value::Bool(_))
}

/// Functions that keep locals in static memory cannot run twice at once.
fn check_recursion(tile: &TileState) -> Res<()> {
    for (id, uses_memory, _, span) in &tile.calls {
        if *uses_memory && reaches(tile, *id) {
            return err(
                *span,
                "fabsim does not support recursive functions with variables in memory yet",
            );
        }
    }
    Ok(())
}

fn reaches(tile: &TileState, id: FunctionId) -> bool {
    let callees = |id: u32| {
        tile.calls
            .iter()
            .find(|(other, ..)| other.0 == id)
            .map(|(_, _, callees, _)| callees.clone())
            .unwrap_or_default()
    };
    let mut seen: Vec<u32> = callees(id.0);
    let mut at = 0;
    while at < seen.len() {
        if seen[at] == id.0 {
            return true;
        }
        for callee in callees(seen[at]) {
            if !seen.contains(&callee) {
                seen.push(callee);
            }
        }
        at += 1;
    }
    false
}

/// Task 29 belongs to the dispatcher of the handlers, if there are any.
fn check_teardown(tile: &TileState) -> Res<()> {
    let handlers =
        !tile.program.teardown_handlers.is_empty() || !tile.program.empty_queue_handlers.is_empty();
    match tile.bound.iter().find(|(binding, _)| binding.id == 29) {
        Some((binding, _)) if handlers => err(
            binding.span,
            "the task id 29 cannot be bound in a program with teardown or empty-queue handlers",
        ),
        _ => Ok(()),
    }
}

/// On wse3 the output queue has the color; a fabout DSD may name it as well.
fn check_output_colors(tile: &mut TileState) -> Res<()> {
    let program = &mut tile.program;
    for (shape, span) in program.shapes.iter_mut().zip(&tile.shape_spans) {
        let DsdShape::FabOut { queue, color, .. } = shape else {
            continue;
        };
        // A queue may get another color while the program runs, so the DSD does not keep one.
        let (Some(named), Some(setup)) = (
            color.take(),
            &program.output_queues[usize::from(*queue) & 7],
        ) else {
            continue;
        };
        if let Some(bound) = setup.color.filter(|bound| *bound != named) {
            let message =
                format!("this DSD wants color {named}, but output queue {queue} has color {bound}");
            let error = Diagnostic::new(*span, message);
            return Err(Box::new(error.note(setup.span, "initialised here")));
        }
    }
    Ok(())
}
