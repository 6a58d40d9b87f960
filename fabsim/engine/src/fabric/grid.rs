//! The grid of PEs, and where a step in a direction leads.

use fabsim_program::program::{Direction, Directions};

/// The four links to neighbours, in the order of their numbers.
pub const LINKS: [Direction; 4] = [
    Direction::West,
    Direction::East,
    Direction::South,
    Direction::North,
];

/// Position of a PE in the row-major order of the rectangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PeIndex(pub u32);

impl PeIndex {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The rectangle of PEs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Grid {
    /// How many PEs there are.
    pub fn len(self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// (x, y) of a PE.
    pub fn place(self, pe: PeIndex) -> (u32, u32) {
        (pe.0 % self.width, pe.0 / self.width)
    }

    /// The PE of a column and a row.
    pub fn at(self, x: u32, y: u32) -> PeIndex {
        PeIndex(y * self.width + x)
    }

    /// The sides of a PE on which it has a neighbour.
    pub fn sides(self, pe: PeIndex) -> Directions {
        let (x, y) = self.place(pe);
        let west = if x > 0 { Direction::West.bit() } else { 0 };
        let east = if x + 1 < self.width {
            Direction::East.bit()
        } else {
            0
        };
        let south = if y + 1 < self.height {
            Direction::South.bit()
        } else {
            0
        };
        let north = if y > 0 { Direction::North.bit() } else { 0 };
        Directions(west | east | south | north)
    }

    /// The neighbour on a side that has one.
    #[inline]
    pub fn step(self, pe: PeIndex, direction: Direction) -> PeIndex {
        match direction {
            Direction::West => PeIndex(pe.0 - 1),
            Direction::East => PeIndex(pe.0 + 1),
            Direction::South => PeIndex(pe.0 + self.width),
            Direction::North => PeIndex(pe.0 - self.width),
            Direction::Ramp => pe,
        }
    }

    /// The PE one step away; none beyond the edge of the rectangle, and none for the ramp.
    pub fn neighbour(self, pe: PeIndex, direction: Direction) -> Option<PeIndex> {
        let sides = self.sides(pe);
        sides.has(direction).then(|| self.step(pe, direction))
    }
}
