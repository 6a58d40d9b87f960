//! FIFOs: `@allocate_fifo` and the lengths of the operations that use one.

use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::ExprId;
use crate::types::kinds::Ty;
use crate::types::value::{DsdValue, Value};
use crate::{err, Res};
use fabsim_program::program::{DsdShape, Dsr, DsrFile, FifoSetup, Inst, Span, SystemCall};
use std::rc::Rc;

/// One program has at most this many: a FIFO takes a register of its own.
const MAX_FIFOS: usize = 16;

impl Compiler {
    /// `@allocate_fifo(buffer[, config])`
    pub fn allocate_fifo(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let at = f.ast.span(args[0]);
        let Ev::Val(Value::Pointer(pointer)) = self.address_of(f, args[0], at)? else {
            return err(at, "@allocate_fifo needs a global array");
        };
        let array = self.types.as_pointer(pointer.ty);
        let (_, mutable, ty) = array.unwrap_or((false, false, pointer.ty));
        if !mutable {
            return err(at, "the buffer of a FIFO must be a variable");
        }
        let Some((dims, element)) = self.types.as_array(ty) else {
            let ty = self.show(ty);
            return err(span, format!("@allocate_fifo needs an array, found {ty}"));
        };
        let element_bytes = self.dsd_element_bytes(element, span)?;
        let count: u32 = dims.iter().product();
        let mut setup = FifoSetup {
            // Memory is taken by the first use.
            buffer: 0,
            bytes: count * u32::from(element_bytes),
            element_bytes,
            activate_pop: None,
            activate_push: None,
        };
        let held = match args.get(1) {
            Some(config) => self.fifo_config(f, *config, &mut setup)?,
            None => Vec::new(),
        };
        let tile = self.tile(span)?;
        if tile.program.fifos.len() == MAX_FIFOS {
            return err(span, format!("a program has at most {MAX_FIFOS} FIFOs"));
        }
        let fifo = tile.program.fifos.len() as u8;
        tile.program.fifos.push(setup);
        let made = Rc::new(DsdValue {
            ty: Ty::FIFO,
            shape: DsdShape::Fifo { fifo },
            base: Some((pointer.target, pointer.offset)),
            extent: 0,
            stride: 0,
            span,
        });
        for dsr in held {
            self.hold_from_start(dsr, &made, span)?;
        }
        Ok(Ev::Val(Value::Dsd(made)))
    }

    /// What is said of a FIFO, and the registers that hold its ends.
    fn fifo_config(
        &mut self,
        f: &mut Frame,
        config: ExprId,
        setup: &mut FifoSetup,
    ) -> Res<Vec<Dsr>> {
        let mut held = Vec::new();
        let at = f.ast.span(config);
        let ev = self.eval(f, config)?;
        let allowed = [
            "activate_pop",
            "activate_push",
            "dest",
            "src",
            "xdsr",
            "priority",
        ];
        for (name, ev) in self.fields(&ev, &allowed, "the configuration of a FIFO", at)? {
            match name.as_str() {
                "activate_pop" => setup.activate_pop = Some(self.fifo_task(ev, at)?),
                "activate_push" => setup.activate_push = Some(self.fifo_task(ev, at)?),
                "dest" => held.push(fifo_register(&ev, "dest", DsrFile::Dest, at)?),
                "src" => held.push(fifo_register(&ev, "src", DsrFile::Src1, at)?),
                // Which extended register it takes makes no difference here.
                "xdsr" if !matches!(ev, Ev::Val(Value::Handle(_, Ty::XDSR))) => {
                    return err(at, "'.xdsr' of a FIFO is what @get_xdsr gives");
                }
                _ => {}
            }
        }
        Ok(held)
    }

    fn fifo_task(&mut self, ev: Ev, span: Span) -> Res<u8> {
        let id = self.local_id(ev, "a FIFO", span)?;
        self.handle(&id, Ty::LOCAL_TASK_ID, "the task of a FIFO", span)
    }

    /// `@set_fifo_read_length(fifo, n)` and `@set_fifo_write_length`
    pub fn set_fifo_length(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let fifo = self.eval(f, args[0])?;
        let length = self.eval_as(f, args[1], Some(Ty::U16))?;
        let length = self.coerce(length, Ty::U16, f.ast.span(args[1]))?;
        let call = match name {
            "set_fifo_read_length" => SystemCall::SetFifoReadLength,
            _ => SystemCall::SetFifoWriteLength,
        };
        let slots = [self.slot_of(&fifo, span)?.0, self.slot_of(&length, span)?.0];
        let args = slots.into();
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

    /// Whether an operation has a FIFO; only one of its sources may be one.
    pub fn check_fifos(&mut self, name: &str, evs: &[Ev], span: Span) -> Res<bool> {
        let fifos: Vec<bool> = evs
            .iter()
            .map(|ev| {
                let ty = self.type_of_ev(ev);
                ty == Ty::FIFO || ty.is_fifo_dsr()
            })
            .collect();
        if fifos.iter().skip(1).filter(|is| **is).count() > 1 {
            return err(span, format!("@{name}: only one source may be a FIFO"));
        }
        // A scalar beside it is no second stream.
        let vectors = evs.iter().skip(2).any(|ev| {
            let ty = self.type_of_ev(ev);
            ty.is_dsd() || ty.is_dsr()
        });
        if vectors && fifos[1] {
            return err(
                span,
                format!("@{name}: of several sources the first cannot be a FIFO"),
            );
        }
        Ok(fifos.contains(&true))
    }
}

/// The register of one end of a FIFO, which has to be of that end's file.
fn fifo_register(ev: &Ev, field: &str, file: DsrFile, span: Span) -> Res<Dsr> {
    match ev {
        Ev::Val(Value::Dsr(dsr) | Value::FifoDsr(dsr)) if dsr.file == file => Ok(*dsr),
        _ => {
            let file = if file == DsrFile::Dest {
                "dest"
            } else {
                "src1"
            };
            let wanted = format!("a dsr_{file} or a dsr_fifo_{file}");
            err(span, format!("'.{field}' of a FIFO must be {wanted}"))
        }
    }
}
