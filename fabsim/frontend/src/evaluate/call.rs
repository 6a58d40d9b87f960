//! Function calls: executed at compile time, lowered in place (`inline`), or calls of an instance. A
//! function has one instance per set of known arguments and argument types.

use crate::compiler::{Compiler, Ev, Frame, InlineReturn, Local, Storage};
use crate::evaluate::statements::Flow;
use crate::parse::ast::{Expr, ExprId, FnDecl};
use crate::state::builder::Builder;
use crate::state::memo::Recall;
use crate::state::tile::{Argument, Pending};
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{FnRef, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{FunctionId, Inst, Slot, Span};
use std::rc::Rc;
use std::sync::Arc;

/// More function instances in one program are refused.
const MAX_INSTANCES: usize = 4000;

impl Compiler {
    /// The declaration of a function, which lives as long as the returned tree.
    pub fn decl(&self, function: FnRef) -> (Rc<crate::parse::ast::Ast>, usize) {
        (
            self.module(function.module).ast.clone(),
            function.function.0 as usize,
        )
    }

    /// The type of a function without generic parameters.
    pub fn function_type(&mut self, function: FnRef) -> Res<Ty> {
        let (ast, index) = self.decl(function);
        let decl = &ast.functions[index];
        let mut frame = Frame::new(ast.clone(), function.module, true);
        let mut params = Vec::with_capacity(decl.params.len());
        for param in &decl.params {
            let Some(ty) = param.ty else {
                let name = self.text(decl.name);
                return err(
                    param.span,
                    format!("the generic function '{name}' has no type of its own"),
                );
            };
            params.push(self.type_value(&mut frame, ty)?);
        }
        let result = self.type_value(&mut frame, decl.result)?;
        let params = params.into();
        Ok(self.types.intern(TypeKind::Function { params, result }))
    }

    pub fn call(&mut self, f: &mut Frame, callee: ExprId, args: &[ExprId], span: Span) -> Res<Ev> {
        match self.eval(f, callee)? {
            Ev::Val(Value::Function(function)) => self.call_function(f, function, args, span),
            Ev::Val(Value::Pointer(pointer)) => match pointer.target {
                crate::types::value::Target::Function(function) => {
                    self.call_function(f, function, args, span)
                }
                _ => err(span, "this pointer does not lead to a function"),
            },
            Ev::Slot(slot, ty) => self.call_pointer(f, slot, ty, args, span),
            other => {
                let ty = self.type_of_ev(&other);
                let ty = self.show(ty);
                err(span, format!("a value of type {ty} cannot be called"))
            }
        }
    }

    fn call_pointer(
        &mut self,
        f: &mut Frame,
        function: Slot,
        ty: Ty,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let Some((params, result)) = self.types.as_function_pointer(ty) else {
            let ty = self.show(ty);
            return err(span, format!("a value of type {ty} cannot be called"));
        };
        if params.len() != args.len() {
            return err(
                span,
                format!("expected {} arguments, found {}", params.len(), args.len()),
            );
        }
        let mut slots = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(params.iter()) {
            let at = f.ast.span(*arg);
            let ev = self.eval_as(f, *arg, Some(*ty))?;
            let ev = self.coerce(ev, *ty, at)?;
            let ev = self.own_copy(ev, at)?;
            slots.push(self.slot_of(&ev, at)?.0);
        }
        let dst = self.result_slot(result, span)?;
        let args = slots.into();
        self.push(
            Inst::CallPointer {
                function,
                args,
                dst,
            },
            span,
        )?;
        self.called(dst, result, span)
    }

    /// The value of a call. An aggregate lies in the callee's memory, which the next call overwrites.
    fn called(&mut self, dst: Option<Slot>, result: Ty, span: Span) -> Res<Ev> {
        match dst {
            None => Ok(Ev::Val(Value::Void)),
            Some(slot) if self.types.in_slot(result) => Ok(Ev::Slot(slot, result)),
            Some(slot) => self.own_copy(Ev::Memory(slot, result), span),
        }
    }

    fn result_slot(&mut self, result: Ty, span: Span) -> Res<Option<Slot>> {
        match result {
            Ty::VOID => Ok(None),
            _ => Ok(Some(self.new_slot(span)?)),
        }
    }

    /// A standard module works on behalf of the user's call.
    fn call_function(
        &mut self,
        f: &mut Frame,
        function: FnRef,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        match self.module(function.module).standard && !self.is_inside(span) {
            true => self.on_behalf(Some(span), |this| this.call_plain(f, function, args, span)),
            false => self.call_plain(f, function, args, span),
        }
    }

    fn call_plain(
        &mut self,
        f: &mut Frame,
        function: FnRef,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let (ast, index) = self.decl(function);
        let decl = &ast.functions[index];
        let name = self.text(decl.name);
        if decl.task {
            return err(
                span,
                format!("the task '{name}' cannot be called: activate it instead"),
            );
        }
        let row = self.called_outside(function, &name, args.len(), span)?;
        if decl.params.len() != args.len() {
            let (wanted, found) = (decl.params.len(), args.len());
            let message = format!("'{name}' takes {wanted} arguments, found {found}");
            return Err(Box::new(
                Diagnostic::new(span, message).note(decl.span, "declared here"),
            ));
        }
        if decl.body.is_none() {
            return err(
                span,
                format!("fabsim does not support the extern function '{name}' yet"),
            );
        }
        // The callee's frame, filled parameter by parameter: later types may use earlier values.
        let mut callee = Frame::new(ast.clone(), function.module, true);
        callee.function = Some(function.function);
        let mut evs = Vec::with_capacity(args.len());
        let mut passed = Vec::with_capacity(args.len());
        for (param, arg) in decl.params.iter().zip(args) {
            let at = f.ast.span(*arg);
            let ty = match param.ty {
                Some(ty) => Some(self.type_value(&mut callee, ty)?),
                None => None,
            };
            let before = std::mem::replace(&mut f.reads, 0);
            let ev = self.eval_as(f, *arg, ty)?;
            if let Some(row) = row {
                self.check_outside(row, evs.len(), &ev, function, at)?;
            }
            let read = std::mem::replace(&mut f.reads, before);
            // A name that is passed on as it is counts as read only if the callee reads it.
            if matches!(f.ast.expr(*arg), Expr::Name(_)) && ty == Some(self.type_of_ev(&ev)) {
                passed.push(read);
            } else {
                f.reads |= read;
                passed.push(0);
            }
            let ev = match ty {
                Some(ty) => self.coerce(ev, ty, at)?,
                None => ev,
            };
            if param.comptime && !matches!(ev, Ev::Val(_)) {
                let name = self.text(param.name);
                return err(
                    at,
                    format!("the argument '{name}' must be known at compile time"),
                );
            }
            let ty = self.type_of_ev(&ev);
            let value = match &ev {
                Ev::Val(value) if f.comptime || param.comptime => Some(value.clone()),
                _ => None,
            };
            callee.locals.push(Local {
                name: param.name,
                ty,
                mutable: false,
                guarded: 0,
                storage: match value {
                    Some(value) => Storage::Known(value),
                    None => Storage::Parts(ev.clone()),
                },
            });
            evs.push(ev);
        }
        if let Some(row) = row {
            self.census_member_call(row, function.module, &evs, span);
        }
        let watch = match f.comptime {
            true => self.recall(&mut callee, function),
            false => Recall::No,
        };
        if let Recall::Found(value) = watch {
            f.reads |= passed_on(&passed, callee.reads);
            return Ok(Ev::Val(value));
        }
        let result = self.type_value(&mut callee, decl.result)?;
        callee.result = Some(result);
        if f.comptime {
            let result = self.call_known(&mut callee, decl, span);
            f.reads |= passed_on(&passed, callee.reads);
            if let Recall::Watched(watch) = watch {
                self.remember(watch, &callee, &result);
            }
            return result.map(Ev::Val);
        }
        f.reads |= passed_on(&passed, u32::MAX);
        if result != Ty::VOID && !self.types.is_runtime(result) && !decl.inline {
            return self.call_known(&mut callee, decl, span).map(Ev::Val);
        }
        if decl.inline {
            return self.call_inline(callee, decl, result, span);
        }
        self.call_instance(function, decl, evs, result, span)
    }

    fn call_known(&mut self, callee: &mut Frame, decl: &FnDecl, span: Span) -> Res<Value> {
        for local in &mut callee.locals {
            if let Storage::Parts(ev) = &local.storage {
                match ev {
                    Ev::Val(value) => local.storage = Storage::Known(value.clone()),
                    _ => {
                        return err(
                            span,
                            "this call must happen at compile time, but an argument is not known",
                        )
                    }
                }
            }
        }
        let Some(body) = &decl.body else {
            return Ok(Value::Void);
        };
        self.calls += 1;
        let flow = match self.options.comptime_func_depth_limit {
            Some(limit) if self.calls > limit => {
                let name = self.text(decl.name);
                let message = format!(
                    "the call of '{name}' is nested more than {limit} deep at compile time; \
                     --comptime-func-depth-limit raises the limit"
                );
                err(span, message)
            }
            _ => self.exec_block(callee, body),
        };
        self.calls -= 1;
        match flow? {
            Flow::Return(value) => Ok(value),
            _ if callee.result == Some(Ty::VOID) => Ok(Value::Void),
            _ => {
                let name = self.text(decl.name);
                err(
                    decl.span,
                    format!("'{name}' ends without returning a value"),
                )
            }
        }
    }

    fn call_inline(&mut self, mut callee: Frame, decl: &FnDecl, result: Ty, span: Span) -> Res<Ev> {
        callee.comptime = false;
        for local in &mut callee.locals {
            if let Storage::Parts(ev) = &local.storage {
                local.storage = match ev.clone() {
                    Ev::Val(value) => Storage::Known(value),
                    Ev::Slot(slot, _) => Storage::Slot(slot),
                    // The body may write to where the argument came from.
                    other => Storage::Parts(self.own_copy(other, span)?),
                }
            }
        }
        callee.inline = Some(InlineReturn {
            slot: self.new_slot(span)?,
            jumps: Vec::new(),
            value: None,
            returns: 0,
        });
        let Some(body) = &decl.body else {
            return Ok(Ev::Val(Value::Void));
        };
        let flow = self.exec_block(&mut callee, body)?;
        let Some(inline) = callee.inline else {
            return Ok(Ev::Val(Value::Void));
        };
        self.builder(span)?.land(&inline.jumps);
        if result == Ty::VOID {
            return Ok(Ev::Val(Value::Void));
        }
        if matches!(flow, Flow::Next) {
            let name = self.text(decl.name);
            return err(
                decl.span,
                format!("'{name}' ends without returning a value"),
            );
        }
        if let Some(value) = inline.value {
            return Ok(Ev::Val(value));
        }
        match self.types.in_slot(result) {
            true => Ok(Ev::Slot(inline.slot, result)),
            false => Ok(Ev::Memory(inline.slot, result)),
        }
    }

    fn call_instance(
        &mut self,
        function: FnRef,
        decl: &FnDecl,
        evs: Vec<Ev>,
        result: Ty,
        span: Span,
    ) -> Res<Ev> {
        let mut arguments = Vec::with_capacity(evs.len());
        let mut slots = Vec::new();
        for (param, ev) in decl.params.iter().zip(evs) {
            let ty = self.type_of_ev(&ev);
            let run_time = self.types.is_runtime(ty) && !param.comptime;
            match ev {
                Ev::Val(value) if !run_time => arguments.push(Argument::Known(value)),
                ev => {
                    if !self.types.is_runtime(ty) {
                        return err(
                            span,
                            "an anonymous struct with run-time fields cannot be an argument",
                        );
                    }
                    let ev = self.own_copy(ev, span)?;
                    slots.push(self.slot_of(&ev, span)?.0);
                    arguments.push(Argument::Run(ty));
                }
            }
        }
        let id = self.instance(function, arguments, span)?;
        let dst = self.result_slot(result, span)?;
        let builder = self.builder(span)?;
        builder.callees.push(id.0);
        let inst = Inst::Call {
            function: id,
            args: slots.into(),
            dst,
        };
        self.push(inst, span)?;
        self.called(dst, result, span)
    }

    /// An array or struct in memory that nobody else writes.
    fn own_copy(&mut self, ev: Ev, span: Span) -> Res<Ev> {
        let Ev::Memory(_, ty) = ev else {
            return Ok(ev);
        };
        self.builder(span)?.uses_memory = true;
        let address = self.static_memory(ty, 1, span)?;
        let to = self.const_slot(u64::from(address), span)?;
        self.store(to, ty, &ev, span)?;
        Ok(Ev::Memory(to, ty))
    }

    /// The number of a function's instance; it is lowered later if it is new. Without arguments given,
    /// all parameters are run-time ones of their declared types.
    pub fn instance(
        &mut self,
        function: FnRef,
        mut arguments: Vec<Argument>,
        span: Span,
    ) -> Res<FunctionId> {
        let (ast, index) = self.decl(function);
        let decl = &ast.functions[index];
        if arguments.is_empty() && !decl.params.is_empty() {
            let mut frame = Frame::new(ast.clone(), function.module, true);
            for param in &decl.params {
                let Some(ty) = param.ty.filter(|_| !param.comptime) else {
                    return err(span, "a generic function has no address and cannot be a task or an exported function");
                };
                arguments.push(Argument::Run(self.type_value(&mut frame, ty)?));
            }
        }
        if decl.inline {
            return err(span, "an inline function has no address");
        }
        let tile = self.tile(span)?;
        let key = (function, arguments);
        if let Some(id) = tile.instances.get(&key) {
            return Ok(*id);
        }
        let id = FunctionId(tile.instances.len() as u32);
        if tile.instances.len() >= MAX_INSTANCES {
            return err(span, "this program needs too many function instances");
        }
        tile.instances.insert(key.clone(), id);
        let standard = self.module(key.0.module).standard;
        let caller = self.user_place(span).filter(|_| standard);
        let tile = self.tile(span)?;
        tile.pending.push(Pending {
            function: key.0,
            arguments: key.1,
            id,
            caller,
        });
        Ok(id)
    }

    /// Lowers one function.
    pub fn lower(&mut self, pending: &Pending) -> Res<()> {
        let (ast, index) = self.decl(pending.function);
        let decl = &ast.functions[index];
        let mut frame = Frame::new(ast.clone(), pending.function.module, false);
        frame.function = Some(pending.function.function);
        let mut builder = Builder::default();
        let mut params = 0;
        for (param, argument) in decl.params.iter().zip(&pending.arguments) {
            let (ty, storage) = match argument {
                Argument::Known(value) => (self.type_of(value), Storage::Known(value.clone())),
                Argument::Run(ty) => {
                    params += 1;
                    let slot = builder.slot(param.span)?;
                    let storage = match self.types.in_slot(*ty) {
                        true => Storage::Slot(slot),
                        false => Storage::Parts(Ev::Memory(slot, *ty)),
                    };
                    (*ty, storage)
                }
            };
            frame.locals.push(Local {
                name: param.name,
                ty,
                mutable: false,
                guarded: 0,
                storage,
            });
        }
        let result = self.type_value(&mut frame, decl.result)?;
        frame.result = Some(result);
        if decl.task && result != Ty::VOID {
            return err(decl.span, "a task returns void");
        }
        let name = self.text(decl.name);
        let Some(body) = &decl.body else {
            return err(
                decl.span,
                format!("fabsim does not support the extern function '{name}' yet"),
            );
        };
        self.builder = Some(builder);
        let flow = self.exec_block(&mut frame, body)?;
        if matches!(flow, Flow::Next) && result != Ty::VOID {
            return err(
                decl.span,
                format!("'{name}' can end without returning a value"),
            );
        }
        let Some(builder) = self.builder.take() else {
            return Ok(());
        };
        let span = decl.span;
        let tile = self.tile(span)?;
        tile.calls.push((
            pending.id,
            builder.uses_memory,
            builder.callees.clone(),
            span,
        ));
        let function = builder.finish(name.to_string(), params, span);
        let at = pending.id.0 as usize;
        if tile.program.functions.len() <= at {
            tile.program.functions.resize_with(at + 1, Default::default);
        }
        tile.program.functions[at] = Arc::new(function);
        Ok(())
    }
}

/// What a caller's names that were passed on make it read, given the parameters the callee reads.
fn passed_on(passed: &[u32], reads: u32) -> u32 {
    let read = passed.iter().enumerate();
    let read = read.filter(|(n, _)| *n >= 32 || reads >> n & 1 == 1);
    read.fold(0, |all, (_, bits)| all | bits)
}
