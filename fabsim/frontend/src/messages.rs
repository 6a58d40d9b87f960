//! Collecting what is said about a program. A program falls into parts that are checked one after
//! the other; each may fail by itself. What only follows from an earlier error is not said: it
//! travels as a diagnostic without a message (`silent`), which is never shown.

use super::compiler::Compiler;
use super::dsr::{dsr_type, fifo_dsr_type};
use super::strict::Rule;
use super::value::{Elements, Value};
use super::Res;
use fabsim_program::diagnostic::{Diagnostic, Severity};
use fabsim_program::program::Span;
use fabsim_program::rules;

/// After so many errors the rest of a program is not looked at.
const MAX_ERRORS: usize = 50;

/// More warnings or printed lines than this are dropped.
const MAX_REMARKS: usize = 10_000;

/// Elements of an array that `@comptime_print` shows.
const MAX_SHOWN: usize = 64;

#[derive(Default)]
pub struct Messages {
    pub errors: Vec<Diagnostic>,
    /// There were errors that are none since the rule is off.
    pub accepted: bool,
    pub warnings: Vec<Diagnostic>,
    /// What breaks rules that are in doubt.
    pub doubts: Vec<(Rule, Diagnostic)>,
    pub printed: Vec<Diagnostic>,
    /// Parts that failed, with a new error or with one that was known.
    pub failures: u64,
    /// Nothing can be learnt from the parts that are left.
    pub stopped: bool,
}

/// How much has been said.
pub struct Mark {
    errors: usize,
    printed: usize,
    failures: u64,
    stopped: bool,
}

impl Messages {
    pub fn mark(&self) -> Mark {
        Mark {
            errors: self.errors.len(),
            printed: self.printed.len(),
            failures: self.failures,
            stopped: self.stopped,
        }
    }

    /// Forgets what has been said since: it will be said again. Warnings are said only once anyway.
    pub fn return_to(&mut self, mark: Mark) {
        self.errors.truncate(mark.errors);
        self.printed.truncate(mark.printed);
        self.failures = mark.failures;
        self.stopped = mark.stopped;
    }
}

/// Warnings as they are shown: what differs in numbers alone is said once, with the number of further
/// places.
pub fn told_once(warnings: &[Diagnostic]) -> Vec<Diagnostic> {
    let idiom = |warning: &Diagnostic| -> String {
        let letters = warning.message.chars().filter(|c| !c.is_ascii_digit());
        letters.collect()
    };
    let mut told: Vec<(String, Diagnostic, usize)> = Vec::new();
    for warning in warnings {
        let idiom = idiom(warning);
        match told.iter_mut().find(|(known, ..)| *known == idiom) {
            Some((.., more)) => *more += 1,
            None => told.push((idiom, warning.clone(), 0)),
        }
    }
    let shown = |(_, mut first, more): (String, Diagnostic, usize)| {
        first.message.push_str(&further_places(more));
        first
    };
    told.into_iter().map(shown).collect()
}

/// What follows a message that stands for several.
pub fn further_places(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => "; so at 1 more place".into(),
        n => format!("; so at {n} more places"),
    }
}

/// An error that follows from one that has been reported.
pub fn silent<T>(span: Span) -> Res<T> {
    Err(Box::new(Diagnostic::new(span, "")))
}

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

    fn show_enum(&self, value: i128, ty: super::types::Ty) -> String {
        let name = match self.types.kind(ty) {
            super::types::TypeKind::Enum { members, .. } => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idiom_is_told_once_with_the_number_of_further_places() {
        let at = |line, text: &str| {
            let span = Span {
                file: 0,
                line,
                column: 1,
            };
            Diagnostic::new(span, text).severity(Severity::Warning)
        };
        let told = told_once(&[
            at(1, "queue 2 is not initialised"),
            at(2, "nothing uses 'a'"),
            at(3, "queue 3 is not initialised"),
            at(4, "nothing uses 'b'"),
            at(5, "queue 2 is not initialised"),
        ]);
        let told: Vec<(u32, &str)> = told
            .iter()
            .map(|d| (d.span.line, d.message.as_str()))
            .collect();
        let expected = [
            (1, "queue 2 is not initialised; so at 2 more places"),
            (2, "nothing uses 'a'"),
            (4, "nothing uses 'b'"),
        ];
        assert_eq!(told, expected);
    }
}
