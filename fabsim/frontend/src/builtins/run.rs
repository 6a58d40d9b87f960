//! Builtins that act while a PE runs: activating, blocking, configuration registers, assertions, and
//! the intrinsic through which standard modules reach the machine.

use crate::compiler::{Compiler, Ev, Frame, Stage};
use crate::parse::ast::ExprId;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{
    BlockKind, BlockTarget, FloatFunction, Inst, Slot, Span, SystemCall,
};

/// The natives by the name that standard modules use, with their result types.
const NATIVES: [(&str, SystemCall, usize, Ty); 26] = [
    (
        "unblock_cmd_stream",
        SystemCall::UnblockCmdStream,
        0,
        Ty::VOID,
    ),
    ("x_coordinate", SystemCall::XCoordinate, 0, Ty::U16),
    ("y_coordinate", SystemCall::YCoordinate, 0, Ty::U16),
    ("enable_tsc", SystemCall::EnableTsc, 0, Ty::VOID),
    ("disable_tsc", SystemCall::DisableTsc, 0, Ty::VOID),
    ("reset_tsc", SystemCall::ResetTsc, 0, Ty::VOID),
    ("get_timestamp", SystemCall::GetTimestamp, 1, Ty::VOID),
    ("sqrt", SystemCall::Sqrt, 1, Ty::F32),
    ("sin", SystemCall::Float(FloatFunction::Sin), 1, Ty::F32),
    ("cos", SystemCall::Float(FloatFunction::Cos), 1, Ty::F32),
    ("exp", SystemCall::Float(FloatFunction::Exp), 1, Ty::F32),
    ("log", SystemCall::Float(FloatFunction::Log), 1, Ty::F32),
    ("tanh", SystemCall::Float(FloatFunction::Tanh), 1, Ty::F32),
    ("pow", SystemCall::Float(FloatFunction::Pow), 2, Ty::F32),
    ("seed_random", SystemCall::SeedRandom, 1, Ty::VOID),
    ("print_number", SystemCall::PrintNumber, 2, Ty::VOID),
    (
        "pending_teardowns",
        SystemCall::PendingTeardowns,
        0,
        Ty::U32,
    ),
    ("exit_flush", SystemCall::ExitFlush, 2, Ty::VOID),
    ("flushed", SystemCall::Flushed, 1, Ty::U16),
    ("queue_status", SystemCall::QueueStatus, 1, Ty::U16),
    ("set_switch_sides", SystemCall::SetSwitchSides, 4, Ty::VOID),
    ("set_filter", SystemCall::SetFilter, 3, Ty::VOID),
    ("bind_input_queue", SystemCall::BindInputQueue, 3, Ty::VOID),
    ("task_priority", SystemCall::TaskPriority, 2, Ty::VOID),
    ("main_priority", SystemCall::MainPriority, 1, Ty::VOID),
    ("get_clock", SystemCall::GetClock, 1, Ty::VOID),
];

impl Compiler {
    pub fn run_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<Ev>> {
        match name {
            "activate" => self.activate(f, args, span)?,
            "block" | "unblock" => self.block_builtin(f, name, args, span)?,
            "assert" => self.assert_builtin(f, args, span)?,
            "set_config" => self.set_config(f, args, span)?,
            "get_config" => {
                let address = self.config_address(f, args[0])?;
                let dst = self.new_slot(span)?;
                self.push(Inst::ReadConfig { dst, address }, span)?;
                return Ok(Some(Ev::Slot(dst, Ty::U16)));
            }
            // A filter goes by the number of its color.
            "get_filter_id" => {
                let color = self.value(f, args[0])?;
                let color = self.handle(&Ev::Val(color), Ty::COLOR, "the color", span)?;
                return Ok(Some(Ev::Val(Value::Int(i128::from(color), Ty::U16))));
            }
            "random16" => {
                return self
                    .system(SystemCall::Random16, Vec::new(), Ty::U16, span)
                    .map(Some);
            }
            "queue_flush" => {
                let ev = self.eval(f, args[0])?;
                let ty = self.type_of_ev(&ev);
                let (queue, _) = self.slot_of(&ev, span)?;
                let is_input = self.new_slot(span)?;
                let bits = u64::from(ty == Ty::INPUT_QUEUE);
                self.push(
                    Inst::Const {
                        dst: is_input,
                        bits,
                    },
                    span,
                )?;
                return self
                    .system(
                        SystemCall::QueueFlush,
                        vec![queue, is_input],
                        Ty::VOID,
                        span,
                    )
                    .map(Some);
            }
            "fabsim_system" if self.module(f.module).standard => {
                return self.native(f, args, span).map(Some)
            }
            _ => return Ok(None),
        }
        Ok(Some(Ev::Val(Value::Void)))
    }

    fn native(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let Some((first, rest)) = args.split_first() else {
            return err(span, "@fabsim_system needs the name of a native");
        };
        let name = self.string_argument(f, *first)?;
        match name.as_str() {
            "print_text" => return self.text_native(f, SystemCall::PrintText, rest, span),
            "store_text" => return self.text_native(f, SystemCall::StoreText, rest, span),
            "tuple_length" => return self.tuple_length(f, rest, span),
            "unused_stream" => return Ok(Ev::Val(self.unused_stream())),
            "changes_routes" => {
                self.tile(span)?.changes_routes = true;
                return Ok(Ev::Val(Value::Void));
            }
            _ => {}
        }
        let Some((_, call, count, result)) = NATIVES.iter().find(|native| native.0 == name) else {
            return err(span, format!("@fabsim_system does not know '{name}'"));
        };
        native_arity(rest, *count, span)?;
        let at_start = matches!(call, SystemCall::TaskPriority | SystemCall::MainPriority);
        if f.comptime && at_start && self.stage == Stage::Comptime {
            return self.priority_at_start(f, *call, rest, span);
        }
        let mut slots = Vec::with_capacity(rest.len());
        for arg in rest {
            let ev = self.eval(f, *arg)?;
            slots.push(self.slot_of(&ev, span)?.0);
        }
        self.system(*call, slots, *result, span)
    }

    /// What a comptime block says of priorities holds from the start.
    fn priority_at_start(
        &mut self,
        f: &mut Frame,
        call: SystemCall,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let numbers: Res<Vec<i128>> = args.iter().map(|arg| self.comptime_int(f, *arg)).collect();
        let numbers = numbers?;
        let program = &mut self.tile(span)?.program;
        match (call, numbers.as_slice()) {
            (SystemCall::TaskPriority, [id, level]) => {
                let bit = 1u64.checked_shl(*id as u32).unwrap_or(0);
                let others = program.high_tasks & !bit;
                program.high_tasks = others | if *level == 0 { 0 } else { bit };
            }
            (_, [level, ..]) => program.main_priority = *level as u8,
            _ => {}
        }
        Ok(Ev::Val(Value::Void))
    }

    /// How many values a tuple has, which the language itself cannot say.
    fn tuple_length(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        native_arity(args, 1, span)?;
        let ty = self.type_of_expr(f, args[0])?;
        let length = match self.types.kind(ty) {
            TypeKind::Tuple(types) => types.len() as i128,
            // What is written `.{}` may be either.
            _ if self
                .types
                .as_struct(ty)
                .is_some_and(|fields| fields.is_empty()) =>
            {
                0
            }
            _ => return err(span, "the values are given as a tuple, as in .{ a, b }"),
        };
        Ok(Ev::Val(Value::Int(length, Ty::U16)))
    }

    /// A native whose last argument is a known text: it is handed over eight characters a slot.
    fn text_native(
        &mut self,
        f: &mut Frame,
        call: SystemCall,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let Some((text, rest)) = args.split_last() else {
            return err(span, "this native needs a text");
        };
        let mut slots = Vec::new();
        for arg in rest {
            let ev = self.eval(f, *arg)?;
            slots.push(self.slot_of(&ev, span)?.0);
        }
        let text = self.string_argument(f, *text)?;
        for part in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..part.len()].copy_from_slice(part);
            let dst = self.new_slot(span)?;
            let bits = u64::from_le_bytes(bytes);
            self.push(Inst::Const { dst, bits }, span)?;
            slots.push(dst);
        }
        self.system(call, slots, Ty::VOID, span)
    }

    fn system(&mut self, call: SystemCall, args: Vec<Slot>, result: Ty, span: Span) -> Res<Ev> {
        let dst = match result {
            Ty::VOID => None,
            _ => Some(self.new_slot(span)?),
        };
        let args = args.into();
        self.push(Inst::System { call, args, dst }, span)?;
        Ok(dst.map_or(Ev::Val(Value::Void), |slot| Ev::Slot(slot, result)))
    }

    /// The local task id that an expression names: an id, or a task bound to one.
    pub fn local_id(&mut self, ev: Ev, what: &str, span: Span) -> Res<Ev> {
        if let Ev::Val(Value::Function(function)) = ev {
            let found = self
                .tile(span)?
                .bound
                .iter()
                .find(|(_, task)| *task == function);
            return match found {
                Some((binding, _)) if binding.kind == fabsim_program::program::TaskKind::Local => {
                    Ok(Ev::Val(Value::Handle(
                        u16::from(binding.id),
                        Ty::LOCAL_TASK_ID,
                    )))
                }
                _ => err(span, "this task is not bound to a local task id"),
            };
        }
        let ev = self.color_as_task_id(ev);
        let ty = self.type_of_ev(&ev);
        match ty {
            Ty::LOCAL_TASK_ID => {
                if let Ev::Val(Value::Handle(id, _)) = &ev {
                    self.tile(span)?.activated.push((*id as u8, span));
                }
                Ok(ev)
            }
            _ => {
                let ty = self.show(ty);
                err(span, format!("{what} needs a local_task_id, found {ty}"))
            }
        }
    }

    fn activate(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let ev = self.eval(f, args[0])?;
        let ev = self.local_id(ev, "@activate", f.ast.span(args[0]))?;
        if f.comptime {
            self.only_comptime("activate", span)?;
            let id = self.handle(&ev, Ty::LOCAL_TASK_ID, "the id", span)?;
            self.tile(span)?.program.active_at_start.push(id);
            return Ok(());
        }
        let (id, _) = self.slot_of(&ev, span)?;
        self.push(Inst::Activate { id }, span)?;
        Ok(())
    }

    /// What can be blocked: queues, data ids, local ids, colors (wse2) and microthreads (wse3).
    pub fn block_kind(&mut self, ev: Ev, what: &str, span: Span) -> Res<(BlockKind, Ev)> {
        if let Ev::Val(Value::Function(function)) = ev {
            let found = self
                .tile(span)?
                .bound
                .iter()
                .find(|(_, task)| *task == function);
            let (kind, id) = match found {
                Some((binding, _)) => (binding.kind, u16::from(binding.id)),
                None => return err(span, "this task is not bound to an id"),
            };
            return match kind {
                fabsim_program::program::TaskKind::Local => Ok((
                    BlockKind::Local,
                    Ev::Val(Value::Handle(id, Ty::LOCAL_TASK_ID)),
                )),
                fabsim_program::program::TaskKind::Data => Ok((
                    BlockKind::Data,
                    Ev::Val(Value::Handle(id, Ty::DATA_TASK_ID)),
                )),
                fabsim_program::program::TaskKind::Control => {
                    err(span, format!("{what} cannot name a control task"))
                }
            };
        }
        let ty = self.type_of_ev(&ev);
        let kind = match ty {
            Ty::LOCAL_TASK_ID => BlockKind::Local,
            Ty::DATA_TASK_ID => BlockKind::Data,
            Ty::COLOR if !self.wse3() => BlockKind::Color,
            Ty::INPUT_QUEUE if self.wse3() => BlockKind::InputQueue,
            Ty::UT_ID if self.wse3() => BlockKind::Microthread,
            _ => {
                let (arch, ty) = (self.arch_name(), self.show(ty));
                return err(
                    span,
                    format!("{what} cannot take a value of type {ty} on {arch}"),
                );
            }
        };
        Ok((kind, ev))
    }

    fn block_builtin(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<()> {
        let ev = self.eval(f, args[0])?;
        let (target, ev) = self.block_kind(ev, &format!("@{name}"), span)?;
        let blocks = name == "block";
        if f.comptime {
            self.only_comptime(name, span)?;
            let Ev::Val(Value::Handle(id, _)) = ev else {
                return err(span, "this id is not known at compile time");
            };
            let target = block_target(target, id as u8);
            self.tile(span)?
                .program
                .blocked_at_start
                .push((target, blocks));
            return Ok(());
        }
        let (id, _) = self.slot_of(&ev, span)?;
        let inst = match blocks {
            true => Inst::Block { target, id },
            false => Inst::Unblock { target, id },
        };
        self.push(inst, span)?;
        Ok(())
    }

    fn assert_builtin(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        match self.condition(f, args[0])? {
            Ev::Val(Value::Bool(true)) => Ok(()),
            Ev::Val(_) if f.comptime => err(span, "assertion failed"),
            ev => {
                let (condition, _) = self.slot_of(&ev, span)?;
                self.push(Inst::Assert { condition }, span)?;
                Ok(())
            }
        }
    }

    fn config_address(&mut self, f: &mut Frame, e: ExprId) -> Res<Slot> {
        let span = f.ast.span(e);
        let ev = self.eval_as(f, e, Some(Ty::U16))?;
        let ev = match ev {
            Ev::Val(value) => Ev::Val(self.coerce_value(value, Ty::U16, span)?),
            other => self.coerce(other, Ty::U16, span)?,
        };
        Ok(self.slot_of(&ev, span)?.0)
    }

    fn set_config(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        if f.comptime {
            if self.stage != Stage::Comptime {
                return self.only_comptime("set_config", span);
            }
            let address = self.int_argument(f, args[0], 0, 65535, "a configuration address")?;
            let value = self.int_argument(f, args[1], 0, 65535, "a configuration word")?;
            self.tile(span)?
                .program
                .config
                .push((address as u16, value as u16));
            return Ok(());
        }
        let address = self.config_address(f, args[0])?;
        let src = self.config_address(f, args[1])?;
        self.push(Inst::WriteConfig { address, src }, span)?;
        Ok(())
    }
}

fn native_arity(args: &[ExprId], count: usize, span: Span) -> Res<()> {
    match args.len() == count {
        true => Ok(()),
        false => err(span, format!("this native takes {count} arguments")),
    }
}

pub fn block_target(kind: BlockKind, id: u8) -> BlockTarget {
    match kind {
        BlockKind::Color => BlockTarget::Color(id),
        BlockKind::InputQueue => BlockTarget::InputQueue(id),
        BlockKind::Data => BlockTarget::Data(id),
        BlockKind::Local => BlockTarget::Local(id),
        BlockKind::Microthread => BlockTarget::Microthread(id),
    }
}
