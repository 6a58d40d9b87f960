//! Operations on DSDs have several forms with the same number of operands: a call fits one of them.

use crate::builtins::signature::table::table;
use crate::builtins::signature::Signature;
use crate::compiler::{Compiler, Ev};
use crate::types::kinds::Ty;
use crate::{err, Res};
use fabsim_program::program::Span;

impl Compiler {
    /// Checks the operands of an operation, which have their values, against its forms.
    pub fn check_operands(&mut self, name: &str, evs: &[Ev], spans: &[Span], at: Span) -> Res<()> {
        let forms = table().forms(name);
        self.check_sides(name, evs, spans)?;
        // The form that goes furthest tells what is wrong.
        let mut best: (usize, Option<&'static Signature>) = (0, None);
        for form in forms {
            let fits = |this: &mut Self, n: usize| match form.argument(n) {
                Some(argument) => this.fits_any(&argument.kinds, &evs[n], None),
                None => false,
            };
            let good = (0..evs.len()).take_while(|n| fits(self, *n)).count();
            if good == evs.len() {
                return Ok(());
            }
            if best.1.is_none() || good > best.0 {
                best = (good, Some(form));
            }
        }
        let wrong = best.0;
        let mut wanted: Vec<String> = Vec::new();
        for form in forms {
            let reaches = (0..wrong).all(|n| match form.argument(n) {
                Some(argument) => self.fits_any(&argument.kinds, &evs[n], None),
                None => false,
            });
            let Some(argument) = form.argument(wrong).filter(|_| reaches) else {
                continue;
            };
            let text = self.wanted_text(&argument.kinds);
            if !wanted.contains(&text) {
                wanted.push(text);
            }
        }
        let (found, wanted) = (self.found_text(&evs[wrong]), wanted.join(" or "));
        let name_of = best.1.and_then(|form| form.argument(wrong));
        let argument = name_of.map_or("?", |argument| argument.name);
        let span = spans.get(wrong).copied().unwrap_or(at);
        err(
            span,
            format!("@{name}: '{argument}' must be {wanted}, found {found}"),
        )
    }

    /// What can only be one side of an operation.
    fn check_sides(&mut self, name: &str, evs: &[Ev], spans: &[Span]) -> Res<()> {
        for (at, (ev, span)) in evs.iter().zip(spans).enumerate() {
            let wrong = match (at, self.type_of_ev(ev)) {
                (0, Ty::FABIN) => "a fabin_dsd cannot be a destination",
                (0, Ty::DSR_SRC1 | Ty::DSR_FIFO_SRC1) => "a dsr_src1 cannot be a destination",
                (1.., Ty::FABOUT) => "a fabout_dsd cannot be a source",
                (1.., Ty::DSR_DEST | Ty::DSR_FIFO_DEST) => "a dsr_dest cannot be a source",
                _ => continue,
            };
            return err(*span, format!("@{name}: {wrong}"));
        }
        Ok(())
    }
}
