//! Rules that the sources leave in doubt: what breaks one is a warning, and with `--strict` an error.

use crate::compiler::Compiler;
use crate::state::messages::further_places;
use crate::state::rule::{Rule, RELEASE};
use crate::{err, Res};
use fabsim_program::diagnostic::{Diagnostic, Severity};
use fabsim_program::program::Span;

impl Compiler {
    /// Says that the program relies on what `rule` excludes; `what` is about this place.
    pub fn doubt(&mut self, rule: Rule, span: Span, what: impl Into<String>) -> Res<()> {
        let message = format!("{} [{}]", what.into(), rule.code);
        if self.options.strict {
            return err(span, message);
        }
        self.memo.effects += 1;
        let warning = Diagnostic::new(span, message).severity(Severity::Warning);
        let warning = self.outward(warning);
        let doubts = &mut self.messages.doubts;
        if !doubts.contains(&(rule, warning.clone())) {
            doubts.push((rule, warning));
        }
        Ok(())
    }
}

/// The doubts as warnings: each rule once, with the number of further places; of releases each form.
pub fn gathered(doubts: Vec<(Rule, Diagnostic)>) -> Vec<Diagnostic> {
    let mut out: Vec<(Rule, Diagnostic, usize)> = Vec::new();
    for (rule, doubt) in doubts {
        let alike = |(known, first, _): &&mut (Rule, Diagnostic, usize)| {
            *known == rule && (rule != RELEASE || first.message == doubt.message)
        };
        match out.iter_mut().find(alike) {
            Some((.., more)) => *more += 1,
            None => out.push((rule, doubt, 0)),
        }
    }
    let warning = |(_, mut first, more): (Rule, Diagnostic, usize)| {
        if more > 0 {
            let places = further_places(more);
            first.message.push_str(&format!("{places}, see --strict"));
        }
        first
    };
    out.into_iter().map(warning).collect()
}
