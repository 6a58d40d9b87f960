//! DSD operations: the table of forms, the options, `@map`, `@load_to_dsr`.

use crate::compiler::{Compiler, Ev, Frame};
use crate::evaluate::access::{Access, Addr};
use crate::parse::ast::{Ast, Expr, ExprId};
use crate::types::kinds::Ty;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::*;

/// The scalar an operation takes where a form has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Double,
    Half,
    Single,
}

/// One operation: dest class, source class, number of operands. The forms are in `signatures/`.
struct Row(&'static str, Opcode, Class, Class, usize);

use Class::*;

/// Every operation of the language.
const ROWS: &[Row] = &[
    Row("add16", Opcode::Add16, Word, Word, 3),
    Row("addc16", Opcode::Addc16, Word, Word, 3),
    Row("and16", Opcode::And16, Word, Word, 3),
    Row("or16", Opcode::Or16, Word, Word, 3),
    Row("xor16", Opcode::Xor16, Word, Word, 3),
    Row("sar16", Opcode::Sar16, Word, Word, 3),
    Row("sll16", Opcode::Sll16, Word, Word, 3),
    Row("slr16", Opcode::Slr16, Word, Word, 3),
    Row("sub16", Opcode::Sub16, Word, Word, 3),
    Row("clz", Opcode::Clz, Word, Word, 2),
    Row("ctz", Opcode::Ctz, Word, Word, 2),
    Row("popcnt", Opcode::Popcnt, Word, Word, 2),
    Row("mov16", Opcode::Mov16, Word, Word, 2),
    Row("mov32", Opcode::Mov32, Double, Double, 2),
    Row("fmovh", Opcode::Fmovh, Half, Half, 2),
    Row("fmovs", Opcode::Fmovs, Single, Single, 2),
    Row("faddh", Opcode::Faddh, Half, Half, 3),
    Row("fadds", Opcode::Fadds, Single, Single, 3),
    Row("fsubh", Opcode::Fsubh, Half, Half, 3),
    Row("fsubs", Opcode::Fsubs, Single, Single, 3),
    Row("fmulh", Opcode::Fmulh, Half, Half, 3),
    Row("fmuls", Opcode::Fmuls, Single, Single, 3),
    Row("fmaxh", Opcode::Fmaxh, Half, Half, 3),
    Row("fmaxs", Opcode::Fmaxs, Single, Single, 3),
    Row("faddhs", Opcode::Faddhs, Single, Single, 3),
    Row("fmach", Opcode::Fmach, Half, Half, 4),
    Row("fmacs", Opcode::Fmacs, Single, Single, 4),
    Row("fmachs", Opcode::Fmachs, Single, Half, 4),
    Row("fabsh", Opcode::Fabsh, Half, Half, 2),
    Row("fabss", Opcode::Fabss, Single, Single, 2),
    Row("fnegh", Opcode::Fnegh, Half, Half, 2),
    Row("fnegs", Opcode::Fnegs, Single, Single, 2),
    Row("fnormh", Opcode::Fnormh, Half, Half, 2),
    Row("fnorms", Opcode::Fnorms, Single, Single, 2),
    Row("fscaleh", Opcode::Fscaleh, Half, Half, 3),
    Row("fscales", Opcode::Fscales, Single, Single, 3),
    Row("fh2s", Opcode::Fh2s, Single, Half, 2),
    Row("fs2h", Opcode::Fs2h, Half, Single, 2),
    Row("fh2xp16", Opcode::Fh2xp16, Word, Half, 2),
    Row("fs2xp16", Opcode::Fs2xp16, Word, Single, 2),
    Row("xp162fh", Opcode::Xp162fh, Half, Word, 2),
    Row("xp162fs", Opcode::Xp162fs, Single, Word, 2),
];

impl Class {
    fn bytes(self) -> u8 {
        match self {
            Word | Half => 2,
            Double | Single => 4,
        }
    }
}

/// What a control wavelet does to an operation, while ids may still be known.
pub enum Controlled {
    Terminate,
    Activate(Ev),
    Unblock(BlockKind, Ev),
}

/// The options of an operation, while ids may still be known.
#[derive(Default)]
pub struct Options {
    pub is_async: bool,
    pub activate: Option<Ev>,
    pub unblock: Option<(BlockKind, Ev)>,
    pub on_control: Option<Controlled>,
    pub index: Option<Ev>,
    pub ut_id: Option<Ev>,
    pub priority: Option<Priority>,
    pub save_address: bool,
    pub single_step: bool,
}

impl Compiler {
    pub fn dsd_operation(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<Ev>> {
        match name {
            "map" => return self.map(f, args, span).map(Some),
            "dfilt" => return self.dfilt(f, args, span).map(Some),
            _ => {}
        }
        let Some(row) = ROWS.iter().find(|row| row.0 == name) else {
            return Ok(None);
        };
        let operands = row.4;
        let mut evs = vec![self.eval(f, args[0])?];
        let mut accumulates = vec![false];
        for arg in &args[1..operands] {
            let (ev, same) = self.source(f, (args[0], &evs[0]), *arg)?;
            evs.push(ev);
            accumulates.push(same);
        }
        let spans: Vec<Span> = args.iter().map(|arg| f.ast.span(*arg)).collect();
        let values = self.operand_values(&evs, &accumulates);
        self.check_operands(name, &values, &spans[..operands], span)?;
        let mut options = self.operation_options(f, args.get(operands), false, span)?;
        self.check_fabric(name, &evs, &options, span)?;
        let operands_of = (name, &args[..operands]);
        self.note_operation(f, operands_of, &evs, &mut options, span)?;
        let fifo = self.check_fifos(name, &evs, span)?;
        // Whether a full or empty FIFO has stopped it.
        let result = match fifo && !options.is_async {
            true => Some(self.new_slot(span)?),
            false => None,
        };
        let mut list = Vec::with_capacity(operands);
        for (at, ev) in evs.iter().enumerate() {
            let class = match (at, row.1) {
                (0, _) => row.2,
                (1, Opcode::Fmachs) => row.2,
                // The power of two.
                (2, Opcode::Fscaleh | Opcode::Fscales) => Word,
                _ => row.3,
            };
            let pointer = at == 0 || accumulates[at];
            list.push(self.operand(name, ev, class, pointer, spans[at])?);
        }
        let options = self.lower_options(options, span)?;
        let dest = list.remove(0);
        let operation = DsdOperation {
            opcode: row.1,
            dest,
            sources: list,
            options,
            result,
        };
        self.push(Inst::Operation(Box::new(operation)), span)?;
        Ok(Some(result.map_or(Ev::Val(Value::Void), |slot| {
            Ev::Slot(slot, Ty::BOOL)
        })))
    }

    /// The operands as the forms see them: a source that accumulates is the scalar behind the pointer.
    fn operand_values(&mut self, evs: &[Ev], accumulates: &[bool]) -> Vec<Ev> {
        let pairs = evs.iter().zip(accumulates);
        let value = |this: &mut Self, ev: &Ev, accumulates: bool| {
            let ty = this.type_of_ev(ev);
            match this.types.as_pointer(ty).filter(|_| accumulates) {
                Some((_, _, pointee)) => Ev::Val(Value::Undefined(pointee)),
                None => ev.clone(),
            }
        };
        pairs.map(|(ev, is)| value(self, ev, *is)).collect()
    }

    fn check_fabric(&mut self, name: &str, evs: &[Ev], options: &Options, span: Span) -> Res<()> {
        let types: Vec<Ty> = evs.iter().map(|ev| self.type_of_ev(ev)).collect();
        let fabric = types.iter().any(|ty| matches!(*ty, Ty::FABIN | Ty::FABOUT));
        let dsr = types.iter().any(|ty| ty.is_dsr());
        if options.is_async && !fabric && !dsr {
            return err(
                span,
                format!("@{name}: an asynchronous operation needs a fabric operand"),
            );
        }
        if options.is_async {
            self.require_queues(name, evs, span)?;
        }
        let inputs = types.iter().filter(|ty| **ty == Ty::FABIN).count();
        if self.wse3() && inputs > 1 {
            return err(
                span,
                format!("@{name}: wse3 allows one fabin_dsd in an operation"),
            );
        }
        Ok(())
    }

    /// One operand; only a destination and a source that accumulates into it may be a `pointer`.
    fn operand(
        &mut self,
        name: &str,
        ev: &Ev,
        class: Class,
        pointer: bool,
        span: Span,
    ) -> Res<Operand> {
        if let Ev::Val(Value::Dsr(dsr) | Value::FifoDsr(dsr)) = ev {
            return Ok(Operand::Dsr(*dsr));
        }
        let ty = self.type_of_ev(ev);
        if ty.is_dsd() {
            self.check_width(name, ev, class, span);
            return Ok(Operand::Dsd(self.slot_of(ev, span)?.0));
        }
        if let Some((_, _, pointee)) = self.types.as_pointer(ty).filter(|_| pointer) {
            let scalar = self.scalar(pointee, span)?;
            return Ok(Operand::Pointer(self.slot_of(ev, span)?.0, scalar));
        }
        let ev = self.scalar_operand(ev.clone(), class, span)?;
        let ty = self.type_of_ev(&ev);
        let scalar = self.scalar(ty, span)?;
        Ok(Operand::Scalar(self.slot_of(&ev, span)?.0, scalar))
    }

    /// A DSD has no element type, but a known one was made for elements of some width.
    fn check_width(&mut self, name: &str, ev: &Ev, class: Class, span: Span) {
        let Ev::Val(Value::Dsd(dsd)) = ev else { return };
        let (DsdShape::Mem1d { element_bytes, .. } | DsdShape::Mem4d { element_bytes, .. }) =
            dsd.shape
        else {
            return;
        };
        if element_bytes != class.bytes() {
            let wanted = class.bytes();
            self.warn(span, format!("@{name} works on elements of {wanted} bytes, but this DSD describes elements of {element_bytes}"));
        }
    }

    /// A source operand. The variable that the destination points at accumulates: it is given as the
    /// pointer (the second result says so), since its value changes with every element.
    fn source(&mut self, f: &mut Frame, dest: (ExprId, &Ev), e: ExprId) -> Res<(Ev, bool)> {
        let ast = f.ast.clone();
        let to_pointer = {
            let ty = self.type_of_ev(dest.1);
            self.types.as_pointer(ty).is_some()
        };
        let path = matches!(
            ast.expr(e),
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) | Expr::Deref(_)
        );
        if !to_pointer || !path {
            return Ok((self.eval(f, e)?, false));
        }
        let written_alike = match (ast.expr(dest.0), ast.expr(e)) {
            (Expr::AddressOf(place), _) => same_path(&ast, *place, e),
            (_, Expr::Deref(pointer)) => same_path(&ast, dest.0, *pointer),
            _ => false,
        };
        if written_alike {
            return Ok((dest.1.clone(), true));
        }
        let access = self.access(f, e)?;
        let same = match (&access, dest.1) {
            (Access::Memory(Addr::Known(target, at), ..), Ev::Val(Value::Pointer(pointer))) => {
                (*target, *at) == (pointer.target, pointer.offset)
            }
            (Access::Memory(Addr::Slot(address), ..), Ev::Slot(slot, _)) => address == slot,
            _ => false,
        };
        match same {
            true => Ok((dest.1.clone(), true)),
            false => Ok((self.read(f, access, ast.span(e))?, false)),
        }
    }

    /// Gives a literal the type its class wants.
    fn scalar_operand(&mut self, ev: Ev, class: Class, span: Span) -> Res<Ev> {
        let target = match (&ev, class) {
            (Ev::Val(Value::Int(number, Ty::COMPTIME_INT)), Word) => {
                if *number < 0 {
                    Ty::I16
                } else {
                    Ty::U16
                }
            }
            (Ev::Val(Value::Int(number, Ty::COMPTIME_INT)), Double) => {
                if *number < 0 {
                    Ty::I32
                } else {
                    Ty::U32
                }
            }
            (Ev::Val(Value::Float(_, Ty::COMPTIME_FLOAT)), Half) => self.options.fp16.ty(),
            (Ev::Val(Value::Float(_, Ty::COMPTIME_FLOAT)), Single) => Ty::F32,
            _ => return Ok(ev),
        };
        self.coerce(ev, target, span)
    }

    pub fn operation_options(
        &mut self,
        f: &mut Frame,
        arg: Option<&ExprId>,
        loads: bool,
        span: Span,
    ) -> Res<Options> {
        let mut options = Options::default();
        let Some(arg) = arg else {
            return Ok(options);
        };
        let at = f.ast.span(*arg);
        let ev = self.eval(f, *arg)?;
        let allowed: &[&str] = match (loads, self.wse3()) {
            (true, _) => &[
                "async",
                "activate",
                "unblock",
                "on_control",
                "ut_id",
                "save_address",
                "single_step",
            ],
            (false, true) => &[
                "async",
                "activate",
                "unblock",
                "on_control",
                "index",
                "ut_id",
            ],
            (false, false) => &[
                "async",
                "activate",
                "unblock",
                "on_control",
                "index",
                "priority",
            ],
        };
        for (name, ev) in self.fields(&ev, allowed, "the configuration of an operation", at)? {
            match name.as_str() {
                "async" => options.is_async = self.flag(&ev, "async", at)?,
                "save_address" => options.save_address = self.flag(&ev, "save_address", at)?,
                "single_step" => options.single_step = self.flag(&ev, "single_step", at)?,
                "activate" => options.activate = Some(self.local_id(ev, "'.activate'", at)?),
                "unblock" => options.unblock = Some(self.block_kind(ev, "'.unblock'", at)?),
                "index" => options.index = Some(ev),
                "priority" => options.priority = Some(self.priority(&ev, at)?),
                "ut_id" => {
                    if !self.wse3() {
                        return err(at, "'.ut_id' exists only on wse3");
                    }
                    if self.type_of_ev(&ev) != Ty::UT_ID {
                        return err(at, "'.ut_id' must be a ut_id");
                    }
                    options.ut_id = Some(ev);
                }
                "on_control" => options.on_control = Some(self.on_control(ev, at)?),
                _ => return err(at, format!("fabsim does not support '.{name}' yet")),
            }
        }
        if options.activate.is_some() && options.unblock.is_some() {
            return err(
                at,
                "an operation has at most one of '.activate' and '.unblock'",
            );
        }
        let completes = options.activate.is_some() || options.unblock.is_some();
        if completes && !options.is_async {
            return err(span, "'.activate' and '.unblock' need '.async = true'");
        }
        Ok(options)
    }

    fn on_control(&mut self, ev: Ev, span: Span) -> Res<Controlled> {
        let fields = self.fields(
            &ev,
            &["terminate", "activate", "unblock"],
            "'on_control'",
            span,
        )?;
        let [(name, ev)] = fields.as_slice() else {
            return err(
                span,
                "'on_control' has one of 'terminate', 'activate' and 'unblock'",
            );
        };
        match name.as_str() {
            "terminate" => match self.flag(ev, "terminate", span)? {
                true => Ok(Controlled::Terminate),
                false => err(
                    span,
                    "'on_control' has one of 'terminate', 'activate' and 'unblock'",
                ),
            },
            "activate" => {
                let id = self.local_id(ev.clone(), "'on_control'", span)?;
                Ok(Controlled::Activate(id))
            }
            _ => {
                let (kind, id) = self.block_kind(ev.clone(), "'on_control'", span)?;
                Ok(Controlled::Unblock(kind, id))
            }
        }
    }

    fn lower_on_control(
        &mut self,
        controlled: Option<Controlled>,
        span: Span,
    ) -> Res<Option<OnControl>> {
        Ok(Some(match controlled {
            None => return Ok(None),
            Some(Controlled::Terminate) => OnControl::Terminate,
            Some(Controlled::Activate(id)) => OnControl::Activate(self.slot_of(&id, span)?.0),
            Some(Controlled::Unblock(kind, id)) => {
                OnControl::Unblock(kind, self.slot_of(&id, span)?.0)
            }
        }))
    }

    pub fn lower_options(&mut self, options: Options, span: Span) -> Res<OpOptions> {
        let mut out = OpOptions {
            is_async: options.is_async,
            on_control: self.lower_on_control(options.on_control, span)?,
            priority: options.priority,
            ..OpOptions::default()
        };
        if let Some(id) = options.activate {
            out.on_done = Some(Completion::Activate(self.slot_of(&id, span)?.0));
        }
        if let Some((kind, id)) = options.unblock {
            out.on_done = Some(Completion::Unblock(kind, self.slot_of(&id, span)?.0));
        }
        if let Some(index) = options.index {
            let index = match index {
                Ev::Val(value) => Ev::Val(self.coerce_value(value, Ty::U16, span)?),
                other => other,
            };
            out.index = Some(self.u16_slot(&index, span)?);
        }
        if let Some(ut_id) = options.ut_id {
            out.ut_id = Some(self.slot_of(&ut_id, span)?.0);
        }
        Ok(out)
    }

    fn dfilt(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let ev = self.eval(f, args[0])?;
        let mut options = self.operation_options(f, args.get(1), false, span)?;
        if !options.is_async {
            return err(span, "@dfilt needs '.async = true'");
        }
        if options.on_control.is_some() || options.index.is_some() {
            return err(span, "@dfilt has no '.on_control' and no '.index'");
        }
        let operand = std::slice::from_ref(&ev);
        self.note_operation(f, ("dfilt", &args[..1]), operand, &mut options, span)?;
        let dest = self.operand("dfilt", &ev, Word, false, span)?;
        let options = self.lower_options(options, span)?;
        let operation = DsdOperation {
            opcode: Opcode::Dfilt,
            dest,
            sources: vec![dest],
            options,
            result: None,
        };
        self.push(Inst::Operation(Box::new(operation)), span)?;
        Ok(Ev::Val(Value::Void))
    }
}

/// Longest access path that is compared.
const MAX_PATH: u32 = 32;

/// Whether two access paths are written alike, so that they lead to one place.
fn same_path(ast: &Ast, a: ExprId, b: ExprId) -> bool {
    fn same(ast: &Ast, a: ExprId, b: ExprId, left: u32) -> bool {
        let Some(left) = left.checked_sub(1) else {
            return false;
        };
        match (ast.expr(a), ast.expr(b)) {
            (Expr::Name(a), Expr::Name(b)) => a == b,
            (Expr::Int(a), Expr::Int(b)) => a == b,
            (Expr::Field(a, name), Expr::Field(b, other)) => {
                name == other && same(ast, *a, *b, left)
            }
            (Expr::Deref(a), Expr::Deref(b)) => same(ast, *a, *b, left),
            (Expr::Index(a, indices), Expr::Index(b, others)) => {
                let mut pairs = indices.iter().zip(others);
                indices.len() == others.len()
                    && same(ast, *a, *b, left)
                    && pairs.all(|(a, b)| same(ast, *a, *b, left))
            }
            _ => false,
        }
    }
    same(ast, a, b, MAX_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::signature::table;

    #[test]
    fn every_operation_has_forms_of_as_many_operands() {
        for Row(name, .., operands) in ROWS {
            let forms = table().forms(name);
            assert!(!forms.is_empty(), "@{name} has no form");
            for form in forms {
                assert_eq!(form.arity, (*operands, Some(operands + 1)), "@{name}");
            }
        }
    }
}
