//! The rules in doubt, by name.

/// A rule that public text or programs suggest and nothing proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// What messages call it.
    pub code: &'static str,
    /// Its statement in docs/machine.md.
    pub stated: &'static str,
}

macro_rules! rules {
    ($($name:ident $code:literal $stated:literal,)*) => {
        $(pub const $name: Rule = Rule { code: $code, stated: $stated };)*
        /// All of them.
        #[cfg(test)]
        pub const ALL: &[Rule] = &[$($name),*];
    };
}

rules! {
    DSR_PAIR "dsr-pair" "M3.9-9",
    DSR_TWICE "dsr-twice" "M3.9-10",
    DSR_ZERO "dsr-zero" "M3.9-11",
    SAVE_ADDRESS "save-address" "M3.9-12",
    RUN_TIME_FABRIC "run-time-fabric-dsd" "M3.9-13",
    EXTENT_ZERO "extent-zero" "M3.9-14",
    MAP_ADVANCE "map-advance" "M3.9-15",
    TEARDOWN_TASK "teardown-task" "M3.9-16",
    MEMORY "memory" "M3.9-17",
    DSR_COMPLETION "dsr-completion" "M3.9-18",
    RELEASE "release" "M3.9-19",
}
