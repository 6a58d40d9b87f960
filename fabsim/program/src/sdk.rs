//! The releases of the vendor's SDK whose CSL differs, oldest first.

use std::fmt;

/// A release. They are ordered, so that what one of them allows is a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sdk {
    /// SDK 0.7.
    V0_7,
    /// SDK 0.8.
    V0_8,
    /// SDK 0.9.
    V0_9,
    /// SDK 1.0.
    V1_0,
    /// SDK 1.1.
    V1_1,
    /// SDK 1.2.
    V1_2,
    /// SDK 1.3.
    V1_3,
    /// SDK 1.4.
    V1_4,
    /// SDK 2.10.
    V2_10,
}

impl Sdk {
    /// All releases, oldest first.
    pub const ALL: [Sdk; 9] = [
        Sdk::V0_7,
        Sdk::V0_8,
        Sdk::V0_9,
        Sdk::V1_0,
        Sdk::V1_1,
        Sdk::V1_2,
        Sdk::V1_3,
        Sdk::V1_4,
        Sdk::V2_10,
    ];

    /// The first release whose pages are public: forms of before are not dated one by one.
    pub const FIRST_DATED: Sdk = Sdk::V1_0;

    /// The release that everything is written for unless it says otherwise.
    pub const NEWEST: Sdk = Sdk::V2_10;

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Sdk::V0_7 => "0.7",
            Sdk::V0_8 => "0.8",
            Sdk::V0_9 => "0.9",
            Sdk::V1_0 => "1.0",
            Sdk::V1_1 => "1.1",
            Sdk::V1_2 => "1.2",
            Sdk::V1_3 => "1.3",
            Sdk::V1_4 => "1.4",
            Sdk::V2_10 => "2.10",
        }
    }

    /// The release of a name on the command line.
    pub fn named(name: &str) -> Option<Sdk> {
        Sdk::ALL.into_iter().find(|sdk| sdk.name() == name)
    }
}

impl fmt::Display for Sdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Sdk;

    #[test]
    fn releases_are_ordered_and_found_by_name() {
        assert!(Sdk::ALL.is_sorted());
        for sdk in Sdk::ALL {
            assert_eq!(Sdk::named(sdk.name()), Some(sdk));
        }
        assert_eq!(Sdk::named("1.10"), None);
    }
}
