//! What holds between the registers of a program, its loads and its operations. A load and an operation
//! meet only when the program runs, so a register is judged by all loads it has in the program.

use crate::builtins::operations::Options;
use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::{Expr, ExprId};
use crate::state::registers::{Load, Operation, Registers};
use crate::state::rule;
use crate::state::tile::TileState;
use crate::types::kinds::dsr_type;
use crate::types::kinds::Ty;
use crate::types::value::{DsdValue, ModuleId, Value};
use crate::{err, Res};
use fabsim_program::program::{DsdShape, Dsr, DsrFile, Span};

impl Compiler {
    /// `@get_dsr` hands a register out.
    pub fn take_register(&mut self, dsr: Dsr, module: ModuleId, span: Span) -> Res<()> {
        let name = self.dsr_name(dsr);
        if self.tile.is_none() {
            return Ok(());
        }
        let first = *self
            .tile(span)?
            .registers
            .taken
            .entry(dsr)
            .or_insert((span, module));
        if first != (span, module) {
            self.doubt(
                rule::DSR_TWICE,
                span,
                format!("{name} is given twice to @get_dsr: hand the register on as a parameter"),
            )?;
        }
        Ok(())
    }

    fn dsr_name(&self, dsr: Dsr) -> String {
        format!("{} {}", self.show(dsr_type(dsr)), dsr.id)
    }

    /// Whether the program has the device's half of memcpy.
    pub fn uses_memcpy(&self) -> bool {
        let path = std::path::Path::new("<memcpy/memcpy>");
        self.options.memcpy && self.modules.iter().any(|module| module.path == path)
    }

    /// A load, whose DSD is at `span`.
    pub fn note_load(&mut self, dsr: Dsr, dsd: &Ev, options: &Options, span: Span) -> Res<()> {
        self.check_length("load_to_dsr", dsd, span)?;
        let load = Load {
            dsr,
            is_async: options.is_async,
            completes: options.activate.is_some() || options.unblock.is_some(),
            save_address: options.save_address,
            single_step: options.single_step,
        };
        self.tile(span)?.registers.loads.push(load);
        Ok(())
    }

    /// Takes down the registers of an operation and checks what can be said at once. An operation on
    /// registers only completes as its loads say: its own completion goes.
    pub fn note_operation(
        &mut self,
        f: &mut Frame,
        (name, args): (&str, &[ExprId]),
        evs: &[Ev],
        options: &mut Options,
        span: Span,
    ) -> Res<()> {
        let spans: Vec<Span> = args.iter().map(|arg| f.ast.span(*arg)).collect();
        for (arg, ev) in args.iter().zip(evs) {
            self.check_fabric_operand(f, (name, *arg), ev, options)?;
        }
        let dsrs: Vec<(Dsr, Span)> = evs
            .iter()
            .zip(&spans)
            .filter_map(|(ev, span)| match ev {
                Ev::Val(Value::Dsr(dsr) | Value::FifoDsr(dsr)) => Some((*dsr, *span)),
                _ => None,
            })
            .collect();
        if dsrs.is_empty() {
            return Ok(());
        }
        self.check_pair(name, &dsrs)?;
        let fabric = evs.iter().any(|ev| is_fabric(self.type_of_ev(ev)));
        let completes = options.activate.is_some() || options.unblock.is_some();
        if !fabric {
            (options.activate, options.unblock) = (None, None);
        }
        let operation = Operation {
            span,
            dsrs,
            is_map: false,
            is_async: options.is_async,
            completes: completes && !fabric,
        };
        self.tile(span)?.registers.operations.push(operation);
        Ok(())
    }

    /// A register as an operand of `@map`.
    pub fn note_mapped(&mut self, dsr: Dsr, span: Span) -> Res<()> {
        let operation = Operation {
            span,
            dsrs: vec![(dsr, span)],
            is_map: true,
            is_async: false,
            completes: false,
        };
        self.tile(span)?.registers.operations.push(operation);
        Ok(())
    }

    /// A fabric operand has a length of its own, and does not vary under an asynchronous operation.
    fn check_fabric_operand(
        &mut self,
        f: &mut Frame,
        (name, arg): (&str, ExprId),
        ev: &Ev,
        options: &Options,
    ) -> Res<()> {
        let (ty, span) = (self.type_of_ev(ev), f.ast.span(arg));
        if !is_fabric(ty) {
            return Ok(());
        }
        if matches!(ev, Ev::Val(_)) {
            return self.check_length(name, ev, span);
        }
        let message = format!(
            "@{name}: a {} that varies at run time is used by an asynchronous operation: load it to a DSR with @load_to_dsr",
            self.show(ty)
        );
        let ast = f.ast.clone();
        match ast.expr(arg) {
            _ if !options.is_async => Ok(()),
            // What a function of constants gives may be one.
            Expr::Call(..) => Ok(()),
            Expr::Name(variable) if f.local(*variable).is_some() => {
                self.doubt(rule::RUN_TIME_FABRIC, span, message)
            }
            Expr::Name(_) | Expr::Field(..) => {
                if let Ok(global) = self.global_of(f, arg) {
                    let used = (global, message, span);
                    self.tile(span)?.registers.fabric_variables.push(used);
                }
                Ok(())
            }
            _ => self.doubt(rule::RUN_TIME_FABRIC, span, message),
        }
    }

    /// A known fabric DSD has a length of its own.
    fn check_length(&mut self, name: &str, ev: &Ev, span: Span) -> Res<()> {
        match ev {
            Ev::Val(Value::Dsd(dsd)) if is_fabric(dsd.ty) && dsd.extent == 0 => self.doubt(
                rule::EXTENT_ZERO,
                span,
                format!("@{name}: this fabric DSD has extent 0, which no source describes: give it its length"),
            ),
            _ => Ok(()),
        }
    }

    fn check_pair(&mut self, name: &str, dsrs: &[(Dsr, Span)]) -> Res<()> {
        let of = |file| dsrs.iter().find(move |(dsr, _)| dsr.file == file);
        let (Some((dest, _)), Some((own, span))) = (of(DsrFile::Dest), of(DsrFile::Src0)) else {
            return Ok(());
        };
        if dest.id == own.id {
            return Ok(());
        }
        let (a, b) = (self.dsr_name(*dest), self.dsr_name(*own));
        self.doubt(
            rule::DSR_PAIR,
            *span,
            format!("@{name}: {a} and {b} are no valid pair: give them the same number"),
        )
    }

    /// `@map` steps one element at a time: what an end action does then is not described.
    pub fn check_mapped_output(&mut self, dsd: &DsdValue, span: Span) -> Res<()> {
        match dsd.shape {
            DsdShape::FabOut {
                advance_switch: true,
                ..
            } => self.doubt(
                rule::MAP_ADVANCE,
                span,
                "@map steps one element at a time: no source says when '.advance_switch' acts then",
            ),
            _ => Ok(()),
        }
    }

    /// Compares loads and operations, when all are known.
    pub fn check_registers(&mut self, tile: &TileState) -> Res<()> {
        let registers = &tile.registers;
        self.check_taken(registers)?;
        for (variable, message, span) in &registers.fabric_variables {
            if registers.assigned.contains(variable) {
                self.doubt(rule::RUN_TIME_FABRIC, *span, message.clone())?;
            }
        }
        for operation in &registers.operations {
            for (n, (dsr, span)) in operation.dsrs.iter().enumerate() {
                let loads = registers.loads_of(*dsr);
                if loads.is_empty() {
                    continue;
                }
                self.check_steps(operation, *dsr, &loads, *span)?;
                let twice = operation.dsrs[..n].iter().any(|(other, _)| other == dsr);
                let shared = match (registers.is_async(operation), twice) {
                    (true, _) => "of an asynchronous operation",
                    (_, true) => "that is source and destination",
                    _ => continue,
                };
                if loads.iter().any(|load| load.save_address) {
                    let name = self.dsr_name(*dsr);
                    self.doubt(
                        rule::SAVE_ADDRESS,
                        *span,
                        format!("{name} is loaded with '.save_address': no source shows it on a register {shared}"),
                    )?;
                }
            }
            if registers.lacks_completion(operation) {
                self.doubt(
                    rule::DSR_COMPLETION,
                    operation.span,
                    "an operation on DSRs completes as its registers were loaded: give '.activate' or '.unblock' to the @load_to_dsr of the fabric DSD, too",
                )?;
            }
        }
        Ok(())
    }

    /// Number 0 of every class belongs to memcpy's own code.
    fn check_taken(&mut self, registers: &Registers) -> Res<()> {
        let taken = registers.taken.iter().filter(|(dsr, _)| dsr.id == 0);
        let mut zeros: Vec<(Span, Dsr)> = taken.map(|(dsr, at)| (at.0, *dsr)).collect();
        zeros.sort_by_key(|(span, _)| (span.file, span.line, span.column));
        for (span, dsr) in zeros {
            if self.uses_memcpy() {
                let name = self.dsr_name(dsr);
                self.doubt(
                    rule::DSR_ZERO,
                    span,
                    format!(
                        "{name}: memcpy's own code takes number 0 of every class; take another"
                    ),
                )?;
            }
        }
        Ok(())
    }

    /// `@map` takes registers loaded with `.single_step`, and nothing else does.
    fn check_steps(&self, operation: &Operation, dsr: Dsr, loads: &[&Load], span: Span) -> Res<()> {
        let stepped = loads.iter().filter(|load| load.single_step).count();
        let name = self.dsr_name(dsr);
        match operation.is_map {
            true if stepped == 0 => err(span, format!("@map: {name} is never loaded with '.single_step = true', as a register of @map has to be")),
            false if stepped == loads.len() => err(span, format!("{name} is loaded with '.single_step = true', which is for @map alone")),
            _ => Ok(()),
        }
    }
}

fn is_fabric(ty: Ty) -> bool {
    matches!(ty, Ty::FABIN | Ty::FABOUT)
}
