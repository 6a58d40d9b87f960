//! Collecting what is said about a program. A program falls into parts that are checked one after
//! the other; each may fail by itself. What only follows from an earlier error is not said: it
//! travels as a diagnostic without a message (`silent`), which is never shown.

use crate::compiler::Compiler;
use crate::state::messages::{silent, MAX_ERRORS, MAX_REMARKS};
use crate::types::kinds::{dsr_type, fifo_dsr_type};
use crate::types::value::{Elements, Value};
use crate::Res;
use fabsim_program::diagnostic::{Diagnostic, Severity};
use fabsim_program::program::Span;
use fabsim_program::rules;

/// Elements of an array that `@comptime_print` shows.
const MAX_SHOWN: usize = 64;

impl Compiler {
    /// Keeps an error. Several PE programs share files: what is found again is not said again.
    pub fn report(&mut self, error: Diagnostic) {
        self.memo.effects += 1;
        let messages = &mut self.messages;
        if error.message.is_empty() || messages.errors.contains(&error) {
            return;
        }
        if rules::accepted(&self.options.off, &error.message) {
            messages.accepted = true;
            return;
        }
        messages.errors.push(error);
        messages.stopped |= messages.errors.len() >= MAX_ERRORS;
    }

    /// Checks one part of the program; its error is kept and does not hinder the parts behind it.
    pub fn part(&mut self, check: impl FnOnce(&mut Compiler) -> Res<()>) {
        if self.messages.stopped {
            self.messages.failures += 1;
            return;
        }
        let (depth, stage) = (self.depth, self.stage);
        if let Err(error) = check(self) {
            self.report(*error);
            self.messages.failures += 1;
            self.depth = depth;
            self.stage = stage;
            self.builder = None;
        }
    }

    /// Ends a phase: what comes next needs a program without errors.
    pub fn refuse_if_any(&self, span: Span) -> Res<()> {
        match self.messages.errors.is_empty() && self.messages.failures == 0 {
            true => Ok(()),
            false => silent(span),
        }
    }

    pub fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.memo.effects += 1;
        let warning = Diagnostic::new(span, message).severity(Severity::Warning);
        let warning = self.outward(warning);
        let warnings = &mut self.messages.warnings;
        if warnings.len() < MAX_REMARKS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// One line of `@comptime_print`.
    pub fn print(&mut self, span: Span, values: &[Value]) {
        if self.messages.printed.len() >= MAX_REMARKS {
            return;
        }
        let texts: Vec<String> = values.iter().map(|value| self.show_value(value)).collect();
        let line = Diagnostic::new(span, texts.join(" ")).severity(Severity::Note);
        self.messages.printed.push(line);
    }

    /// A value as the program would write it.
    fn show_value(&self, value: &Value) -> String {
        let list = |values: &[Value]| {
            let shown = values.iter().map(|value| self.show_value(value));
            shown.collect::<Vec<_>>().join(", ")
        };
        match value {
            Value::Void => "{}".into(),
            Value::Undefined(ty) => format!("undefined {}", self.show(*ty)),
            Value::Bool(value) => value.to_string(),
            Value::Int(value, _) => value.to_string(),
            Value::Float(value, _) => format!("{value:?}"),
            Value::Str(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Type(ty) => self.show(*ty),
            Value::Handle(value, ty) => format!("{}({value})", self.show(*ty)),
            Value::Enum(value, ty) => self.show_enum(*value, *ty),
            Value::Array(array) => {
                let count = array.elements.len().min(MAX_SHOWN);
                let first = (0..count).filter_map(|at| array.elements.get(at).cloned());
                let rest = if count < array.elements.len() {
                    ", ..."
                } else {
                    ""
                };
                let first: Vec<Value> = match &array.elements {
                    Elements::Same(value, n) if *n > MAX_SHOWN => vec![value.clone()],
                    _ => first.collect(),
                };
                format!("{}{{ {}{rest} }}", self.show(array.ty), list(&first))
            }
            Value::Struct(fields) => {
                format!("{}{{ {} }}", self.show(fields.ty), list(&fields.values))
            }
            Value::Anonymous(fields) => {
                let names = fields.names.iter().map(|name| self.text(*name));
                let shown = names.zip(&fields.values);
                let shown =
                    shown.map(|(name, value)| format!(".{name} = {}", self.show_value(value)));
                format!(".{{ {} }}", shown.collect::<Vec<_>>().join(", "))
            }
            Value::Tuple(values) => format!(".{{ {} }}", list(values)),
            Value::Range(range) => format!(
                "@range({}, {}, {}, {})",
                self.show(range.ty),
                range.start,
                range.stop,
                range.step
            ),
            Value::Function(_) => "a function".into(),
            Value::Module(_) => "a module".into(),
            Value::Pointer(pointer) => self.show(pointer.ty),
            Value::Dsd(dsd) => self.show(dsd.ty),
            Value::Dsr(dsr) => format!("{}({})", self.show(dsr_type(*dsr)), dsr.id),
            Value::FifoDsr(dsr) => format!("{}({})", self.show(fifo_dsr_type(*dsr)), dsr.id),
        }
    }

    fn show_enum(&self, value: i128, ty: crate::types::kinds::Ty) -> String {
        let name = match self.types.kind(ty) {
            crate::types::kinds::TypeKind::Enum { members, .. } => {
                members.iter().find(|(_, number)| *number == value)
            }
            _ => None,
        };
        match name {
            Some((name, _)) => format!("{}.{}", self.show(ty), self.text(*name)),
            None => value.to_string(),
        }
    }
}
