//! DSD operations: the table of forms, the options, `@map`, `@load_to_dsr`.

use super::access::{Access, Addr};
use super::ast::{Ast, Expr, ExprId};
use super::compiler::{Compiler, Ev, Frame};
use super::types::Ty;
use super::value::Value;
use super::{err, Res};
use fabsim_program::program::*;

/// The scalar an operation takes where a form has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Double,
    Half,
    Single,
}

/// One operation: dest class, source class, and its forms. In a form, the first letter is the
/// destination (D: DSD or DSR, P: pointer to scalar), the others the sources (s: DSD or DSR, v: scalar).
struct Row(&'static str, Opcode, Class, Class, &'static [&'static str]);

const TWO: &[&str] = &["Dss", "Dvs", "Dsv"];
const FLOAT_TWO: &[&str] = &["Dss", "Dvs", "Dsv", "Pvs"];
const ONE: &[&str] = &["Ds", "Dv"];
const MOVE: &[&str] = &["Ds", "Ps", "Dv"];
const FUSED: &[&str] = &["Dssv"];
/// The last source is an exponent, an i16.
const SCALE: &[&str] = &["Pvv"];
const TO_INT: &[&str] = &["Ds", "Dv", "Pv"];

use Class::*;

/// Every operation of the language with its operand forms.
const ROWS: &[Row] = &[
    Row("add16", Opcode::Add16, Word, Word, TWO),
    Row("addc16", Opcode::Addc16, Word, Word, TWO),
    Row("and16", Opcode::And16, Word, Word, TWO),
    Row("or16", Opcode::Or16, Word, Word, TWO),
    Row("xor16", Opcode::Xor16, Word, Word, TWO),
    Row("sar16", Opcode::Sar16, Word, Word, TWO),
    Row("sll16", Opcode::Sll16, Word, Word, TWO),
    Row("slr16", Opcode::Slr16, Word, Word, TWO),
    Row("sub16", Opcode::Sub16, Word, Word, &["Dss", "Dsv"]),
    Row("clz", Opcode::Clz, Word, Word, ONE),
    Row("ctz", Opcode::Ctz, Word, Word, ONE),
    Row("popcnt", Opcode::Popcnt, Word, Word, ONE),
    Row("mov16", Opcode::Mov16, Word, Word, MOVE),
    Row("mov32", Opcode::Mov32, Double, Double, MOVE),
    Row("fmovh", Opcode::Fmovh, Half, Half, MOVE),
    Row("fmovs", Opcode::Fmovs, Single, Single, MOVE),
    Row("faddh", Opcode::Faddh, Half, Half, FLOAT_TWO),
    Row("fadds", Opcode::Fadds, Single, Single, FLOAT_TWO),
    Row("fsubh", Opcode::Fsubh, Half, Half, FLOAT_TWO),
    Row("fsubs", Opcode::Fsubs, Single, Single, FLOAT_TWO),
    Row("fmulh", Opcode::Fmulh, Half, Half, FLOAT_TWO),
    Row("fmuls", Opcode::Fmuls, Single, Single, FLOAT_TWO),
    Row("fmaxh", Opcode::Fmaxh, Half, Half, FLOAT_TWO),
    Row("fmaxs", Opcode::Fmaxs, Single, Single, FLOAT_TWO),
    Row("faddhs", Opcode::Faddhs, Single, Single, FLOAT_TWO),
    Row("fmach", Opcode::Fmach, Half, Half, FUSED),
    Row("fmacs", Opcode::Fmacs, Single, Single, FUSED),
    Row("fmachs", Opcode::Fmachs, Single, Half, FUSED),
    Row("fabsh", Opcode::Fabsh, Half, Half, ONE),
    Row("fabss", Opcode::Fabss, Single, Single, ONE),
    Row("fnegh", Opcode::Fnegh, Half, Half, ONE),
    Row("fnegs", Opcode::Fnegs, Single, Single, ONE),
    Row("fnormh", Opcode::Fnormh, Half, Half, &["Pv"]),
    Row("fnorms", Opcode::Fnorms, Single, Single, &["Pv"]),
    Row("fscaleh", Opcode::Fscaleh, Half, Half, SCALE),
    Row("fscales", Opcode::Fscales, Single, Single, SCALE),
    Row("fh2s", Opcode::Fh2s, Single, Half, ONE),
    Row("fs2h", Opcode::Fs2h, Half, Single, ONE),
    Row("fh2xp16", Opcode::Fh2xp16, Word, Half, TO_INT),
    Row("fs2xp16", Opcode::Fs2xp16, Word, Single, TO_INT),
    Row("xp162fh", Opcode::Xp162fh, Half, Word, ONE),
    Row("xp162fs", Opcode::Xp162fs, Single, Word, ONE),
];

impl Class {
    fn accepts(self, ty: Ty, half: Ty) -> bool {
        match self {
            Word => matches!(ty, Ty::I16 | Ty::U16),
            Double => matches!(ty, Ty::I32 | Ty::U32),
            Half => ty == half,
            Single => ty == Ty::F32,
        }
    }

    fn bytes(self) -> u8 {
        match self {
            Word | Half => 2,
            Double | Single => 4,
        }
    }

    fn name(self, half: Ty) -> &'static str {
        match self {
            Word => "i16 or u16",
            Double => "i32 or u32",
            Half => half.fp16_name(),
            Single => "f32",
        }
    }
}

/// The options of an operation, while ids may still be known.
#[derive(Default)]
pub struct Options {
    pub is_async: bool,
    pub activate: Option<Ev>,
    pub unblock: Option<(BlockKind, Ev)>,
    pub on_control: Option<OnControl>,
    pub index: Option<Ev>,
    pub ut_id: Option<Ev>,
    pub priority: Option<Priority>,
    pub save_address: bool,
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
        if f.comptime {
            return err(
                span,
                format!("@{name} runs on a PE: it cannot be evaluated at compile time"),
            );
        }
        let operands = row.4[0].len();
        if args.len() != operands && args.len() != operands + 1 {
            let found = args.len();
            return err(span, format!("@{name} takes {operands} operands and optionally a configuration, found {found} arguments"));
        }
        let mut evs = vec![self.eval(f, args[0])?];
        let mut accumulates = vec![false];
        for arg in &args[1..operands] {
            let (ev, same) = self.source(f, (args[0], &evs[0]), *arg)?;
            evs.push(ev);
            accumulates.push(same);
        }
        let spans: Vec<Span> = args.iter().map(|arg| f.ast.span(*arg)).collect();
        let letters = self.letters(name, &evs, &spans)?;
        if !row.4.contains(&letters.as_str()) {
            let forms = row.4.join(", ");
            return err(span, format!("@{name} has no form with these operands (forms: {forms}; D: DSD or DSR, P: pointer, s: source DSD or DSR, v: scalar)"));
        }
        let options = self.operation_options(f, args.get(operands), false, span)?;
        self.check_fabric(name, &evs, &options, span)?;
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

    /// The form of the operands: see `Row`.
    fn letters(&mut self, name: &str, evs: &[Ev], spans: &[Span]) -> Res<String> {
        let mut letters = String::new();
        for (at, (ev, span)) in evs.iter().zip(spans).enumerate() {
            let ty = self.type_of_ev(ev);
            let wrong = match (at, ty) {
                (0, Ty::FABIN) => Some("a fabin_dsd cannot be a destination"),
                (0, Ty::DSR_SRC1) => Some("a dsr_src1 cannot be a destination"),
                (0, _) => None,
                (_, Ty::FABOUT) => Some("a fabout_dsd cannot be a source"),
                (_, Ty::DSR_DEST) => Some("a dsr_dest cannot be a source"),
                _ => None,
            };
            if let Some(wrong) = wrong {
                return err(*span, format!("@{name}: {wrong}"));
            }
            letters.push(match (at, ty.is_dsd() || ty.is_dsr()) {
                (0, true) => 'D',
                (0, false) => 'P',
                (_, true) => 's',
                (_, false) => 'v',
            });
        }
        Ok(letters)
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
        if let Ev::Val(Value::Dsr(dsr)) = ev {
            return Ok(Operand::Dsr(*dsr));
        }
        let half = self.options.fp16.ty();
        let ty = self.type_of_ev(ev);
        if ty.is_dsd() {
            self.check_width(name, ev, class, span);
            return Ok(Operand::Dsd(self.slot_of(ev, span)?.0));
        }
        if let Some((_, mutable, pointee)) = self.types.as_pointer(ty).filter(|_| pointer) {
            if !mutable || !class.accepts(pointee, half) {
                let (ty, wanted) = (self.show(ty), class.name(half));
                return err(
                    span,
                    format!("@{name}: the destination must be a pointer to {wanted}, found {ty}"),
                );
            }
            let scalar = self.scalar(pointee, span)?;
            return Ok(Operand::Pointer(self.slot_of(ev, span)?.0, scalar));
        }
        let ev = self.scalar_operand(ev.clone(), class, span)?;
        let ty = self.type_of_ev(&ev);
        if !class.accepts(ty, half) {
            let (ty, wanted) = (self.show(ty), class.name(half));
            return err(
                span,
                format!("@{name}: expected a scalar of type {wanted}, found {ty}"),
            );
        }
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
                "activate" => options.activate = Some(self.local_id(ev, "'.activate'", at)?),
                "unblock" => options.unblock = Some(self.block_kind(ev, "'.unblock'", at)?),
                "index" => options.index = Some(ev),
                "priority" => options.priority = Some(self.priority(&ev, at)?),
                "ut_id" => {
                    self.only_wse3("get_ut_id", at)?;
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

    fn on_control(&mut self, ev: Ev, span: Span) -> Res<OnControl> {
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
                true => Ok(OnControl::Terminate),
                false => err(
                    span,
                    "'on_control' has one of 'terminate', 'activate' and 'unblock'",
                ),
            },
            "activate" => {
                let id = self.local_id(ev.clone(), "'on_control'", span)?;
                Ok(OnControl::Activate(self.slot_of(&id, span)?.0))
            }
            _ => {
                let (kind, id) = self.block_kind(ev.clone(), "'on_control'", span)?;
                Ok(OnControl::Unblock(kind, self.slot_of(&id, span)?.0))
            }
        }
    }

    pub fn lower_options(&mut self, options: Options, span: Span) -> Res<OpOptions> {
        let mut out = OpOptions {
            is_async: options.is_async,
            on_control: options.on_control,
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
        self.arity("dfilt", args, 1, 2, span)?;
        let ev = self.eval(f, args[0])?;
        let ty = self.type_of_ev(&ev);
        if !matches!(ty, Ty::FABIN | Ty::DSR_SRC1) {
            let ty = self.show(ty);
            return err(
                span,
                format!("@dfilt needs a fabin_dsd or a dsr_src1, found {ty}"),
            );
        }
        let options = self.operation_options(f, args.get(1), false, span)?;
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
