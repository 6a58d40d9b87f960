//! What is said about a program.

use crate::state::rule::Rule;
use crate::Res;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;

/// After so many errors the rest of a program is not looked at.
pub const MAX_ERRORS: usize = 50;

/// More warnings or printed lines than this are dropped.
pub const MAX_REMARKS: usize = 10_000;

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
    pub errors: usize,
    pub printed: usize,
    pub failures: u64,
    pub stopped: bool,
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

#[cfg(test)]
mod tests {
    use super::*;
    use fabsim_program::diagnostic::Severity;

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
