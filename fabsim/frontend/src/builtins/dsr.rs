//! DSRs: taking one and loading it.

use crate::builtins::operations::{Controlled, Options};
use crate::builtins::run::block_target;
use crate::compiler::{Compiler, Ev, Frame};
use crate::dialect::Form;
use crate::parse::ast::ExprId;
use crate::types::kinds::dsr_type;
use crate::types::kinds::Ty;
use crate::types::value::{DsdValue, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{
    ControlValue, Dsd, DsdShape, Dsr, DsrFile, DsrLoad, DsrLoadValue, Inst, Span, SystemCall,
};

impl Compiler {
    /// `@get_dsr(T, id)`
    pub fn get_dsr(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let ty = self.type_value(f, args[0])?;
        let file = match ty {
            Ty::DSR_DEST | Ty::DSR_FIFO_DEST => DsrFile::Dest,
            Ty::DSR_SRC0 => DsrFile::Src0,
            _ => DsrFile::Src1,
        };
        if ty.is_fifo_dsr() {
            // Another name for a register that is known.
            if let Ev::Val(Value::Dsr(dsr)) = self.eval(f, args[1])? {
                return match dsr.file == file {
                    true => Ok(Ev::Val(Value::FifoDsr(dsr))),
                    false => {
                        let (ty, found) = (self.show(ty), self.show(dsr_type(dsr)));
                        err(span, format!("a {found} cannot be a {ty}"))
                    }
                };
            }
        }
        let id = self.int_argument(f, args[1], 0, 15, "the number of a DSR")? as u8;
        let dsr = Dsr { file, id };
        self.take_register(dsr, f.module, span)?;
        Ok(Ev::Val(match ty.is_fifo_dsr() {
            true => Value::FifoDsr(dsr),
            false => Value::Dsr(dsr),
        }))
    }

    /// `@get_xdsr(id)` and `@get_sr(id)`; how many of them there are is not published.
    pub fn get_extension(&mut self, f: &mut Frame, args: &[ExprId], ty: Ty) -> Res<Ev> {
        let id = self.int_argument(f, args[0], 0, 255, "the number of a register")?;
        Ok(Ev::Val(Value::Handle(id as u16, ty)))
    }

    /// `@load_to_dsr_xdsr_sr(dsr, xdsr, .{sr, ...}, dsd[, config])`: the registers beside the DSR hold
    /// nothing that an operation would not know, but there have to be as many as the strides need.
    pub fn load_with_strides(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let given = match self.value(f, args[2])? {
            Value::Tuple(items) => items.to_vec(),
            Value::Anonymous(fields) if fields.names.is_empty() => Vec::new(),
            _ => {
                return err(
                    span,
                    "stride registers are given as a tuple of what @get_sr gives",
                )
            }
        };
        if !given
            .iter()
            .all(|sr| matches!(sr, Value::Handle(_, Ty::SR)))
        {
            return err(
                span,
                "stride registers are given as a tuple of what @get_sr gives",
            );
        }
        let needed = match self.eval(f, args[3])? {
            Ev::Val(Value::Dsd(dsd)) => stride_registers(&dsd.shape),
            _ => STRIDE_REGISTERS,
        };
        if given.len() != needed {
            let text = format!(
                "@load_to_dsr_xdsr_sr: this DSD needs {needed} stride registers, {} are given",
                given.len()
            );
            return err(span, text);
        }
        let mut loaded = vec![args[0], args[3]];
        loaded.extend(args.get(4));
        self.load_register(f, &loaded, true, span)
    }

    /// `@load_to_dsr(dsr, dsd[, config])`
    pub fn load_to_dsr(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        self.load_register(f, args, false, span)
    }

    /// `strides`: there are stride registers for a DSD of several dimensions.
    fn load_register(
        &mut self,
        f: &mut Frame,
        args: &[ExprId],
        strides: bool,
        span: Span,
    ) -> Res<Ev> {
        let Value::Dsr(dsr) = self.value(f, args[0])? else {
            let text = "@load_to_dsr does not load a register that is known to hold a FIFO";
            return err(span, text);
        };
        let at = f.ast.span(args[1]);
        let dsd = self.eval(f, args[1])?;
        let ty = self.type_of_ev(&dsd);
        if ty == Ty::MEM4D && !strides {
            self.require_of_user(Form::TensorLoad, f.module, at)?;
        }
        let wrong = matches!(
            (dsr.file, ty),
            (DsrFile::Dest, Ty::FABIN) | (DsrFile::Src0 | DsrFile::Src1, Ty::FABOUT)
        );
        if wrong {
            let (ty, file) = (self.show(ty), self.show(dsr_type(dsr)));
            return err(at, format!("a {file} cannot hold a value of type {ty}"));
        }
        // In a comptime block a task name is looked up when the bindings are complete.
        let options = self.operation_options(f, args.get(2), true, span)?;
        self.check_load_options(&options, ty, span)?;
        self.note_load(dsr, &dsd, &options, at)?;
        if f.comptime {
            self.load_known(dsr, &dsd, options, span)?;
            return Ok(Ev::Val(Value::Void));
        }
        let save_address = options.save_address;
        let (slot, _) = self.slot_of(&dsd, span)?;
        let options = self.lower_options(options, span)?;
        let load = DsrLoad {
            dsr,
            dsd: slot,
            options,
            save_address,
        };
        self.push(Inst::LoadDsr(Box::new(load)), span)?;
        Ok(Ev::Val(Value::Void))
    }

    /// Asynchronous settings are for fabric DSDs, saving the address for those of memory.
    fn check_load_options(&self, options: &Options, ty: Ty, span: Span) -> Res<()> {
        let fabric = matches!(ty, Ty::FABIN | Ty::FABOUT);
        if options.save_address && fabric {
            return err(span, "'.save_address' is for memory DSDs");
        }
        let settings = options.is_async || options.on_control.is_some();
        match settings && !fabric {
            true => err(span, "'.async', '.activate', '.unblock' and '.on_control' of @load_to_dsr are for fabric DSDs"),
            false => Ok(()),
        }
    }

    /// `@set_dsr_base_addr(dsr, base)` and `@set_dsr_length(dsr, n)` change what a register holds.
    pub fn set_dsr(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<Ev> {
        let Value::Dsr(dsr) = self.value(f, args[0])? else {
            return err(span, format!("the first argument of @{name} must be a DSR"));
        };
        let at = f.ast.span(args[1]);
        let (call, to) = match name {
            "set_dsr_length" => {
                let length = self.eval_as(f, args[1], Some(Ty::U16))?;
                let length = self.coerce(length, Ty::U16, at)?;
                (SystemCall::SetDsrLength, self.slot_of(&length, at)?.0)
            }
            _ => {
                let pointer = self.base_argument(f, args[1])?;
                (SystemCall::SetDsrBase, self.base_slot(pointer, at)?)
            }
        };
        let register = self.new_slot(span)?;
        let bits = u64::from(dsr.number());
        self.push(
            Inst::Const {
                dst: register,
                bits,
            },
            span,
        )?;
        let args = vec![register, to].into();
        self.push(
            Inst::System {
                call,
                args,
                dst: None,
            },
            span,
        )?;
        Ok(Ev::Val(Value::Void))
    }

    pub fn load_known(&mut self, dsr: Dsr, dsd: &Ev, options: Options, span: Span) -> Res<()> {
        self.only_comptime("load_to_dsr", span)?;
        let Ev::Val(Value::Dsd(value)) = dsd else {
            return err(span, "this DSD is not known at compile time");
        };
        let known = |ev: &Ev| match ev {
            Ev::Val(Value::Handle(id, _)) => Ok(*id as u8),
            _ => err(span, "this id is not known at compile time"),
        };
        let activate = options.activate.as_ref().map(known).transpose()?;
        let unblock = match &options.unblock {
            Some((kind, ev)) => Some(block_target(*kind, known(ev)?)),
            None => None,
        };
        let on_control = match &options.on_control {
            None => None,
            Some(Controlled::Terminate) => Some(ControlValue::Terminate),
            Some(Controlled::Activate(id)) => Some(ControlValue::Activate(known(id)?)),
            Some(Controlled::Unblock(kind, id)) => {
                Some(ControlValue::Unblock(block_target(*kind, known(id)?)))
            }
        };
        let ut_id = options.ut_id.as_ref().map(known).transpose()?;
        let dsd = Dsd::unpack(self.pack(value, span)?);
        self.add_load(DsrLoadValue {
            dsr,
            dsd,
            is_async: options.is_async,
            activate,
            unblock,
            on_control,
            ut_id,
            save_address: options.save_address,
            span,
        })
    }

    /// A register holds a FIFO before the program begins.
    pub fn hold_from_start(&mut self, dsr: Dsr, fifo: &DsdValue, span: Span) -> Res<()> {
        let dsd = Dsd::unpack(self.pack(fifo, span)?);
        self.add_load(DsrLoadValue {
            dsr,
            dsd,
            is_async: false,
            activate: None,
            unblock: None,
            on_control: None,
            ut_id: None,
            save_address: false,
            span,
        })
    }

    fn add_load(&mut self, load: DsrLoadValue) -> Res<()> {
        let tile = self.tile(load.span)?;
        let mut known = tile.program.dsrs.iter();
        if let Some(first) = known.find(|known| known.dsr == load.dsr) {
            let first = first.span;
            let error = Diagnostic::new(load.span, "this DSR is loaded twice at compile time");
            return Err(Box::new(error.note(first, "first loaded here")));
        }
        tile.program.dsrs.push(load);
        Ok(())
    }
}

/// The most stride registers that a DSD needs.
const STRIDE_REGISTERS: usize = 3;

/// How many stride registers a DSD needs: one for each dimension but the fastest, and none for the next
/// if the fastest goes in steps of one.
fn stride_registers(shape: &DsdShape) -> usize {
    let DsdShape::Mem4d { strides, .. } = shape else {
        return STRIDE_REGISTERS;
    };
    let dense = usize::from(strides.len() > 1 && strides.last() == Some(&1));
    strides.len().saturating_sub(1 + dense)
}
