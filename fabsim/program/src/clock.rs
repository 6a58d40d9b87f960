//! Which machine's cycles a run counts.

/// The table of cycle costs that a program is compiled for and run by.
///
/// The numbers behind each name, with their sources, are in the engine's `timing`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Clock {
    /// Exact for streams of the oldest public measurements; code, register loads and hops as guessed
    /// before anything was published about them.
    Streams,
    /// The vendor's simulator, as published studies of it have it.
    #[default]
    Simfabric,
    /// Like `Simfabric`, with what is known to differ on a wafer.
    Silicon,
}

impl Clock {
    /// All of them, the default first.
    pub const ALL: [Clock; 3] = [Clock::Simfabric, Clock::Silicon, Clock::Streams];

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Streams => "streams",
            Clock::Simfabric => "simfabric",
            Clock::Silicon => "silicon",
        }
    }

    /// The clock of that name.
    pub fn named(name: &str) -> Option<Clock> {
        Clock::ALL.into_iter().find(|clock| clock.name() == name)
    }
}
