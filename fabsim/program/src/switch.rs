//! A rule of docs/machine.md that can be switched off: a row of the tables in `rules` and `readings`.

use crate::program::Design;

/// A rule that can be switched off.
pub struct Switch {
    /// Its number in docs/machine.md.
    pub rule: &'static str,
    /// Messages of its checks, with `*` for any text.
    pub refusals: &'static [&'static str],
    /// What a machine without it does, if it is about more than what is refused.
    pub other: Option<Other>,
}

impl std::fmt::Debug for Switch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.rule)
    }
}

/// What a machine without a rule does.
pub struct Other {
    /// In words.
    pub what: &'static str,
    /// Writes it into a program.
    pub read: fn(&mut Design),
}
