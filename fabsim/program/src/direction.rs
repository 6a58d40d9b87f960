//! The links of a router, and sets of them.

use std::fmt;

/// A link of a router. RAMP joins the router to its own compute element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Direction {
    /// Towards lower x.
    West = 0,
    /// Towards higher x.
    East = 1,
    /// Towards higher y.
    South = 2,
    /// Towards lower y.
    North = 3,
    /// To the own compute element.
    Ramp = 4,
}

/// A set of directions, bit `1 << direction`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Directions(pub u8);

impl Direction {
    /// This direction as a set.
    #[inline]
    pub fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The side of the neighbour that looks back.
    #[inline]
    pub fn facing(self) -> Direction {
        match self {
            Direction::West => Direction::East,
            Direction::East => Direction::West,
            Direction::South => Direction::North,
            Direction::North => Direction::South,
            Direction::Ramp => Direction::Ramp,
        }
    }

    /// The direction with number `code`; anything beyond the links is the ramp.
    #[inline]
    pub fn from_code(code: u8) -> Direction {
        match code {
            0 => Direction::West,
            1 => Direction::East,
            2 => Direction::South,
            3 => Direction::North,
            _ => Direction::Ramp,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Direction::West => "WEST",
            Direction::East => "EAST",
            Direction::South => "SOUTH",
            Direction::North => "NORTH",
            Direction::Ramp => "RAMP",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Directions {
    /// Whether a direction is in the set.
    #[inline]
    pub fn has(self, direction: Direction) -> bool {
        self.0 & direction.bit() != 0
    }
}

impl fmt::Display for Directions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = (0..5)
            .map(Direction::from_code)
            .filter(|&d| self.has(d))
            .map(Direction::name)
            .collect();
        write!(f, "{{{}}}", names.join(", "))
    }
}
