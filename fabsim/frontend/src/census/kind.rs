//! What an argument is: its type as far as it matters, and whether it is known at compile time where
//! that matters.

use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::{Ast, Expr, ExprId};
use crate::state::census::{Part, Seen, SeenDsd};
use crate::types::kinds::{dsr_type, fifo_dsr_type};
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{DsdValue, Value};
use fabsim_program::program::{DsdShape, Simd};

/// The task id of the teardown dispatcher.
const TEARDOWN_TASK: u16 = 29;

impl Compiler {
    /// The kind of the value that the expression `e` has given.
    pub fn seen(&mut self, f: &mut Frame, e: ExprId, ev: &Ev) -> Seen {
        match ev {
            Ev::Val(Value::Dsr(dsr)) => Seen::Dsr(*dsr),
            Ev::Val(Value::Dsd(dsd)) => Seen::Dsd(known(dsd)),
            _ if self.type_of_ev(ev).is_dsd() => {
                let ty = self.type_of_ev(ev);
                Seen::Dsd(self.seen_at_run_time(f, e, ty))
            }
            _ => Seen::Other(self.kind(ev)),
        }
    }

    /// A DSD that code computes or reads. What it does is that of the DSD it is derived from.
    fn seen_at_run_time(&mut self, f: &mut Frame, e: ExprId, ty: Ty) -> SeenDsd {
        let mut class = vec![Part::Text(self.show(ty))];
        let ast = f.ast.clone();
        let (variable, flags) = match ast.expr(e) {
            Expr::Name(name) if f.local(*name).is_some() => (None, Vec::new()),
            Expr::Name(_) | Expr::Field(..) if is_path(&ast, e) => match self.global_of(f, e) {
                Ok(global) => {
                    let initial = self.global(global, ast.span(e));
                    let flags = match initial {
                        Ok((Value::Dsd(dsd), _)) => flags(&dsd.shape),
                        _ => Vec::new(),
                    };
                    (Some(global), flags)
                }
                Err(_) => (None, Vec::new()),
            },
            Expr::Builtin(_, args) if !args.is_empty() => {
                (None, self.seen_at_run_time(f, args[0], ty).flags)
            }
            _ => (None, Vec::new()),
        };
        if ty == Ty::FABIN || ty == Ty::FABOUT {
            class.push(match variable {
                Some(global) => Part::Variable(global),
                None => Part::Text(" (run time)".into()),
            });
        }
        SeenDsd { class, flags }
    }

    /// The kind of a value that is no DSD and no DSR.
    pub fn kind(&mut self, ev: &Ev) -> String {
        let value = match ev {
            Ev::Val(value) => value,
            Ev::Parts(..) | Ev::TupleParts(_) => return "struct".into(),
            Ev::Slot(_, ty) | Ev::Memory(_, ty) => {
                let kind = self.kind_of_type(*ty);
                return match ty.is_handle() {
                    true => format!("{kind} (run time)"),
                    false => kind,
                };
            }
        };
        match value {
            Value::Void => "void".into(),
            Value::Str(_) => "string".into(),
            Value::Bool(value) => value.to_string(),
            Value::Type(ty) => self.kind_of_type_value(*ty),
            Value::Handle(TEARDOWN_TASK, Ty::LOCAL_TASK_ID) => "local_task_id of teardowns".into(),
            Value::Array(_) => "array".into(),
            Value::Struct(_) | Value::Anonymous(_) | Value::Tuple(_) => "struct".into(),
            Value::Function(_) if self.is_function(ev, true) => "task".into(),
            Value::Function(_) => "function".into(),
            Value::Module(_) => "module".into(),
            Value::Pointer(_) => "pointer".into(),
            Value::Range(_) => "range".into(),
            Value::Dsr(dsr) => self.show(dsr_type(*dsr)),
            Value::FifoDsr(dsr) => self.show(fifo_dsr_type(*dsr)),
            Value::Dsd(dsd) => self.show(dsd.ty),
            Value::Undefined(ty) | Value::Int(_, ty) | Value::Float(_, ty) => {
                self.kind_of_type(*ty)
            }
            Value::Handle(_, ty) => self.show(*ty),
            Value::Enum(..) => "enum".into(),
        }
    }

    fn kind_of_type(&self, ty: Ty) -> String {
        match self.types.kind(ty) {
            _ if ty.is_any_int() => "int".into(),
            _ if ty.is_any_float() => "float".into(),
            TypeKind::Primitive => self.show(ty),
            TypeKind::Array { .. } => "array".into(),
            TypeKind::Pointer { .. } => "pointer".into(),
            TypeKind::Function { .. } => "function".into(),
            TypeKind::Enum { .. } => "enum".into(),
            TypeKind::Struct { .. } | TypeKind::Anonymous(_) | TypeKind::Tuple(_) => {
                "struct".into()
            }
        }
    }

    /// A type as an argument: DSDs and DSRs are told by it, numbers are all alike.
    fn kind_of_type_value(&self, ty: Ty) -> String {
        match self.types.kind(ty) {
            _ if ty.is_dsd() || ty.is_dsr() => self.show(ty),
            TypeKind::Primitive => "type".into(),
            _ => format!("type of {}", self.kind_of_type(ty)),
        }
    }
}

/// A DSD all of whose parts are known.
fn known(dsd: &DsdValue) -> SeenDsd {
    let (name, fabric) = match dsd.shape {
        DsdShape::Mem1d { .. } => ("mem1d_dsd", false),
        DsdShape::Mem4d { .. } => ("mem4d_dsd", false),
        DsdShape::FabIn { .. } => ("fabin_dsd", true),
        DsdShape::FabOut { .. } => ("fabout_dsd", true),
        DsdShape::Fifo { .. } => ("fifo_dsd", false),
    };
    let empty = if fabric && dsd.extent == 0 {
        " (extent 0)"
    } else {
        ""
    };
    SeenDsd {
        class: vec![Part::Text(format!("{name}{empty}"))],
        flags: flags(&dsd.shape),
    }
}

/// Whether an expression names a variable, of the module or of an imported one.
fn is_path(ast: &Ast, e: ExprId) -> bool {
    match ast.expr(e) {
        Expr::Name(_) => true,
        Expr::Field(base, _) => matches!(ast.expr(*base), Expr::Name(_)),
        _ => false,
    }
}

/// What a fabric DSD does beyond moving data.
fn flags(shape: &DsdShape) -> Vec<&'static str> {
    let (control, advance, simd) = match shape {
        DsdShape::FabIn { simd, .. } => (false, false, *simd),
        DsdShape::FabOut {
            control,
            advance_switch,
            simd,
            ..
        } => (*control, *advance_switch, *simd),
        _ => return Vec::new(),
    };
    let named = [
        (control, "control"),
        (advance, "advance_switch"),
        (simd == Simd::Simd32, "simd_32"),
        (simd == Simd::Simd64, "simd_64"),
        (simd == Simd::Simd32Or64, "simd_32_or_64"),
    ];
    let set = named.into_iter().filter(|(is, _)| *is);
    set.map(|(_, name)| name).collect()
}
