//! What a router knows about a color: routes per switch position, modes, filter.

use fabsim_program::limits::COLORS;
use fabsim_program::program::{
    ColorSetup, Directions, Filter, PopMode, RouterSetup, Span, SwitchPosition,
};

/// The effective routes of one switch position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Routes {
    /// The inputs.
    pub rx: Directions,
    /// The outputs.
    pub tx: Directions,
    /// Whether the position exists.
    pub valid: bool,
}

/// The settings of one color in one router.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The color.
    pub color: u8,
    /// Inputs and outputs by position.
    pub positions: [Routes; 4],
    /// Positions 1 to 3 as they are declared, each stating what it changes.
    pub declared: [Option<SwitchPosition>; 3],
    /// The position of the switch at the start.
    pub start: u8,
    /// Bits of the switch register that a position keeps while it is not valid.
    pub selects: u16,
    /// The last position is followed by the first one.
    pub ring: bool,
    /// When a command is taken off a control wavelet.
    pub pop: PopMode,
    /// It starts torn down.
    pub teardown: bool,
    /// What keeps wavelets from the compute element.
    pub filter: Option<Filter>,
    /// The color is exchanged with its partner on arrival from east or west, from north or south.
    pub swap_x: bool,
    /// It swaps colors along y.
    pub swap_y: bool,
    /// Where the configuration was declared.
    pub span: Span,
}

impl Settings {
    /// What a color starts with, its positions filled in.
    pub fn new(color: u8, setup: &ColorSetup) -> Settings {
        Settings {
            color,
            positions: fold(setup.rx, setup.tx, &setup.positions),
            declared: setup.positions,
            start: setup.start_position.min(3),
            selects: 0,
            ring: setup.ring_mode,
            pop: setup.pop_mode,
            teardown: setup.teardown,
            filter: setup.filter.clone(),
            swap_x: setup.color_swap_x,
            swap_y: setup.color_swap_y,
            span: setup.span.0,
        }
    }

    /// New base routes and positions.
    pub fn set_routes(
        &mut self,
        rx: Directions,
        tx: Directions,
        declared: [Option<SwitchPosition>; 3],
    ) {
        self.positions = fold(rx, tx, &declared);
        self.declared = declared;
    }

    /// The position a single advance leads to: the next valid one; from the last one back to 0
    /// in ring mode, else nowhere.
    pub fn after(&self, position: u8) -> u8 {
        let later = (position + 1..4).find(|&p| self.positions[usize::from(p)].valid);
        match later {
            Some(next) => next,
            None if self.ring => 0,
            None => position,
        }
    }

    /// Inputs and outputs of a position.
    pub fn routes(&self, position: u8) -> Routes {
        self.positions[usize::from(position & 3)]
    }
}

/// Positions are cumulative by index: a position states what changes, the other side keeps what
/// the previous valid position had.
fn fold(rx: Directions, tx: Directions, declared: &[Option<SwitchPosition>; 3]) -> [Routes; 4] {
    let mut routes = Routes {
        rx,
        tx,
        valid: true,
    };
    let mut all = [routes; 4];
    for (slot, declared) in all[1..].iter_mut().zip(declared) {
        if let Some(position) = declared {
            routes.rx = position.rx.unwrap_or(routes.rx);
            routes.tx = position.tx.unwrap_or(routes.tx);
        }
        *slot = Routes {
            valid: declared.is_some(),
            ..routes
        };
    }
    all
}

/// The settings of a distinct router, and where to find a color in them.
#[derive(Clone, Debug)]
pub struct RouterSettings {
    /// By the number of the channel.
    pub colors: Vec<Settings>,
    /// Index into `colors`, or `NONE`.
    pub of_color: [u8; COLORS],
}

/// A color that a router has no configuration for.
pub const NONE: u8 = u8::MAX;

impl RouterSettings {
    /// The colors of a router, each with its settings.
    pub fn new(setup: &RouterSetup) -> RouterSettings {
        let mut of_color = [NONE; COLORS];
        for (index, (color, _)) in setup.colors.iter().enumerate() {
            if let Some(entry) = of_color.get_mut(usize::from(*color)) {
                *entry = index as u8;
            }
        }
        let colors = setup.colors.iter();
        RouterSettings {
            colors: colors.map(|(color, s)| Settings::new(*color, s)).collect(),
            of_color,
        }
    }

    /// Where `color` is among the configured ones.
    pub fn local(&self, color: u8) -> Option<u8> {
        let entry = self.of_color.get(usize::from(color)).copied();
        entry.filter(|&local| local != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabsim_program::program::{Direction, SwitchPosition};

    fn set(direction: Direction) -> Directions {
        Directions(direction.bit())
    }

    #[test]
    fn a_position_keeps_the_side_it_does_not_name_from_the_position_before() {
        // The interior PE of the 25-point stencil: at position 2 rx is still RAMP, at 3 tx is.
        let both = Directions(Direction::East.bit() | Direction::Ramp.bit());
        let rx = |d| SwitchPosition {
            rx: Some(set(d)),
            tx: None,
        };
        let tx = |d| SwitchPosition {
            rx: None,
            tx: Some(set(d)),
        };
        let setup = ColorSetup {
            rx: set(Direction::West),
            tx: both,
            positions: [
                Some(rx(Direction::Ramp)),
                Some(tx(Direction::Ramp)),
                Some(rx(Direction::West)),
            ],
            ..ColorSetup::default()
        };
        let settings = Settings::new(0, &setup);
        assert_eq!(settings.routes(1).tx, both);
        assert_eq!(settings.routes(2).rx, set(Direction::Ramp));
        assert_eq!(settings.routes(2).tx, set(Direction::Ramp));
        assert_eq!(settings.routes(3).rx, set(Direction::West));
        assert_eq!(settings.routes(3).tx, set(Direction::Ramp));
    }

    #[test]
    fn advancing_skips_invalid_positions_and_wraps_only_in_ring_mode() {
        let mut setup = ColorSetup {
            positions: [None, Some(SwitchPosition::default()), None],
            ..ColorSetup::default()
        };
        let line = Settings::new(0, &setup);
        assert_eq!((line.after(0), line.after(2)), (2, 2));
        setup.ring_mode = true;
        let ring = Settings::new(0, &setup);
        assert_eq!((ring.after(0), ring.after(2)), (2, 0));
    }
}
