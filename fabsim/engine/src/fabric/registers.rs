//! Configuration registers of a router, as programs read and write them while they run.
//!
//! The layout is the one known of wse2 (see docs/machine.md); wse3's is not public, so programs
//! reach it only through the standard modules, which use this layout on both.

use super::grid::PeIndex;
use super::rectangle::Fabric;
use super::router::ChannelIndex;
use super::settings::Settings;
use super::view::View;
use fabsim_program::limits::COLORS;
use fabsim_program::program::{Direction, Directions, Filter, PopMode, SwitchPosition};

/// Word addresses of color 0's registers.
const COLOR_CONFIG: u16 = 0x7f20;
const SWITCH_CONFIG: u16 = 0x7f40;

const SIDES: u16 = 0x1f;
const TORN_DOWN: u16 = 1 << 14;
const SWAP_Y: u16 = 1 << 10;
const SWAP_X: u16 = 1 << 11;
const POINT_TO_POINT: u16 = 1 << 15;
const RING: u16 = 1 << 12;
/// The direction code of a position that is not valid.
const INVALID: u16 = 5;

/// The bits of three positions that say whether these are of the input side.
const SELECTS: u16 = 0x888;

enum Register {
    Color(u8),
    Switch(u8),
}

/// Why a register cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There is no such register, or the color is not configured.
    Unknown,
    /// The color is not torn down, and wavelets of it wait in the router: whether they follow the
    /// old routes or the new ones is undefined.
    InUse(u8),
    /// The color has no counter filter.
    NoFilter,
    /// The point-to-point bit, whose meaning is not public.
    PointToPoint,
}

fn register(address: u16) -> Option<Register> {
    let color = |base: u16| {
        let color = address.checked_sub(base)?;
        (usize::from(color) < COLORS).then_some(color as u8)
    };
    color(COLOR_CONFIG)
        .map(Register::Color)
        .or_else(|| color(SWITCH_CONFIG).map(Register::Switch))
}

/// Whether `address` is a register fabsim has.
pub fn is_known(address: u16) -> bool {
    register(address).is_some()
}

/// What code changes of its own router; it takes effect before routers look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A register of the color configuration.
    Register {
        /// Its address.
        address: u16,
        /// Its new value.
        value: u16,
    },
    /// Both sides of a switch position, which a register of wse2 has no room for.
    SwitchSides {
        /// The color.
        color: u8,
        /// The position, from 0.
        number: u8,
        /// The new inputs.
        rx: Directions,
        /// The new outputs.
        tx: Directions,
    },
    /// Lets a color's filter decide what the compute element gets, or not.
    Filter {
        /// The color.
        color: u8,
        /// Whether it is in force.
        enable: bool,
    },
    /// A number of a color's counter filter.
    FilterNumber {
        /// The color.
        color: u8,
        /// Which number.
        field: FilterField,
        /// Its new value.
        value: u32,
    },
}

/// The numbers of a counter filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterField {
    /// The count after which it begins again.
    Limit,
    /// The highest count that passes.
    Max,
    /// The count itself.
    Count,
}

impl View<'_> {
    /// The value of a register; none if there is no such register or the color is not configured.
    pub fn read_register(self, pe: PeIndex, address: u16) -> Option<u16> {
        let register = register(address)?;
        let (Register::Color(color) | Register::Switch(color)) = register;
        let (index, _) = self.find(pe, color)?;
        let (channel, settings) = (self.channel(index), self.wires.settings_of(pe, index));
        Some(match register {
            Register::Color(_) => color_word(settings, channel.torn_down),
            Register::Switch(_) => switch_word(settings, channel.position),
        })
    }

    /// Whether a change can be made now.
    pub fn check(self, pe: PeIndex, change: Change) -> Result<(), Refused> {
        match change {
            Change::Register { address, value } => self.check_register(pe, address, value),
            Change::SwitchSides { color, number, .. } => {
                let (index, _) = self.find(pe, color).ok_or(Refused::Unknown)?;
                let channel = self.channel(index);
                if !channel.torn_down && !channel.is_empty() {
                    return Err(Refused::InUse(color));
                }
                (number < 3).then_some(()).ok_or(Refused::Unknown)
            }
            Change::Filter { .. } => Ok(()),
            Change::FilterNumber { color, .. } => self.check_filter(pe, color),
        }
    }

    fn check_filter(self, pe: PeIndex, color: u8) -> Result<(), Refused> {
        let (index, _) = self.find(pe, color).ok_or(Refused::NoFilter)?;
        let filter = self.wires.settings_of(pe, index).filter.as_ref();
        if !filter.is_some_and(|filter| !matches!(filter, Filter::Range { .. })) {
            return Err(Refused::NoFilter);
        }
        let channel = self.channel(index);
        if !channel.torn_down && !channel.is_empty() {
            return Err(Refused::InUse(color));
        }
        Ok(())
    }

    fn check_register(self, pe: PeIndex, address: u16, value: u16) -> Result<(), Refused> {
        let known = register(address).ok_or(Refused::Unknown)?;
        let (Register::Color(color) | Register::Switch(color)) = known;
        let (index, _) = self.find(pe, color).ok_or(Refused::Unknown)?;
        let channel = self.channel(index);
        let before = self.read_register(pe, address).ok_or(Refused::Unknown)?;
        if (before ^ value) & !TORN_DOWN != 0 && !channel.torn_down && !channel.is_empty() {
            return Err(Refused::InUse(color));
        }
        match known {
            Register::Color(_) if value & POINT_TO_POINT != 0 => Err(Refused::PointToPoint),
            _ => Ok(()),
        }
    }
}

impl Fabric {
    /// The value of a register, as code would read it.
    pub fn read_register(&self, pe: PeIndex, address: u16) -> Option<u16> {
        self.view().read_register(pe, address)
    }

    /// Writes a register, at once.
    pub fn write_register(&mut self, pe: PeIndex, address: u16, value: u16) -> Result<(), Refused> {
        let change = Change::Register { address, value };
        self.view().check(pe, change)?;
        self.make(pe, change);
        Ok(())
    }

    /// Makes a change that has been checked.
    pub fn make(&mut self, pe: PeIndex, change: Change) {
        match change {
            Change::Register { address, value } => self.set_register(pe, address, value),
            Change::SwitchSides {
                color,
                number,
                rx,
                tx,
            } => self.set_switch_sides(pe, color, usize::from(number), (rx, tx)),
            Change::Filter { color, enable } => self.enable_filter(pe, color, enable),
            Change::FilterNumber {
                color,
                field,
                value,
            } => self.set_filter(pe, color, field, value),
        }
    }

    fn set_register(&mut self, pe: PeIndex, address: u16, value: u16) {
        let Some(known) = register(address) else {
            return;
        };
        let (Register::Color(color) | Register::Switch(color)) = known;
        let Some((index, _)) = self.view().find(pe, color) else {
            return;
        };
        let mut settings = self.wires.settings_of(pe, index).clone();
        let channel = &mut self.channels[index.index()];
        let mut position = channel.position;
        match known {
            Register::Switch(_) => {
                set_switch(&mut settings, value);
                position = (value >> 13 & 3) as u8;
            }
            Register::Color(_) => {
                set_color(&mut settings, value);
                channel.torn_down = value & TORN_DOWN != 0;
            }
        }
        self.change(pe, index, settings, position);
    }

    fn set_switch_sides(
        &mut self,
        pe: PeIndex,
        color: u8,
        number: usize,
        (rx, tx): (Directions, Directions),
    ) {
        let Some((index, _)) = self.view().find(pe, color) else {
            return;
        };
        let position = self.channels[index.index()].position;
        let mut settings = self.wires.settings_of(pe, index).clone();
        let mut declared = settings.declared;
        if let Some(place) = declared.get_mut(number) {
            *place = Some(SwitchPosition {
                rx: Some(rx),
                tx: Some(tx),
            });
        }
        let base = settings.routes(0);
        settings.set_routes(base.rx, base.tx, declared);
        self.change(pe, index, settings, position);
    }

    fn set_filter(&mut self, pe: PeIndex, color: u8, field: FilterField, value: u32) {
        let index = self.view().find(pe, color).map(|(index, _)| index);
        let Some(state) = index.and_then(|index| self.wires.filters.get_mut(&index)) else {
            return;
        };
        match field {
            FilterField::Limit => state.limit = Some(value),
            FilterField::Max => state.max = value,
            FilterField::Count => state.counter = value,
        }
    }

    fn enable_filter(&mut self, pe: PeIndex, color: u8, enable: bool) {
        let Some((index, _)) = self.view().find(pe, color) else {
            return;
        };
        let has_filter = self.wires.settings_of(pe, index).filter.is_some();
        let channel = &mut self.channels[index.index()];
        channel.filtered = enable && has_filter;
        self.wires.set_way(pe, channel);
        self.wake(pe);
    }

    fn change(&mut self, pe: PeIndex, index: ChannelIndex, settings: Settings, position: u8) {
        let channel = &mut self.channels[index.index()];
        channel.set_position(position, &settings);
        let swaps = settings.swap_x || settings.swap_y;
        self.wires.changed.insert(index, settings);
        self.wires.set_way(pe, channel);
        if swaps && !std::mem::replace(&mut self.wires.swaps, true) {
            self.set_ways();
        }
        self.wake(pe);
    }
}

fn color_word(settings: &Settings, torn_down: bool) -> u16 {
    let base = settings.routes(0);
    let pop = match settings.pop {
        PopMode::NoPop => 0,
        PopMode::AlwaysPop => 1,
        PopMode::PopOnAdvance => 2,
        PopMode::PopOnAdvanceNop => 3,
    };
    let torn_down = if torn_down { TORN_DOWN } else { 0 };
    let swap_x = if settings.swap_x { SWAP_X } else { 0 };
    let swap_y = if settings.swap_y { SWAP_Y } else { 0 };
    u16::from(base.tx.0) | u16::from(base.rx.0) << 5 | pop << 12 | torn_down | swap_x | swap_y
}

fn set_color(settings: &mut Settings, value: u16) {
    let sides = |bits: u16| Directions((bits & SIDES) as u8);
    settings.pop = match value >> 12 & 3 {
        0 => PopMode::NoPop,
        1 => PopMode::AlwaysPop,
        2 => PopMode::PopOnAdvance,
        _ => PopMode::PopOnAdvanceNop,
    };
    settings.swap_x = value & SWAP_X != 0;
    settings.swap_y = value & SWAP_Y != 0;
    let declared = settings.declared;
    settings.set_routes(sides(value >> 5), sides(value), declared);
}

/// Four bits a position: the direction, and whether it is the input's.
fn switch_word(settings: &Settings, position: u8) -> u16 {
    let mut word = if settings.ring { RING } else { 0 };
    for (n, declared) in settings.declared.iter().enumerate() {
        word |= position_field(declared) << (4 * n);
    }
    word | selects(settings) | u16::from(position) << 13
}

/// Which side positions are of that are not valid, as last written.
fn selects(settings: &Settings) -> u16 {
    let invalid = (0..3).filter(|n| settings.declared[*n].is_none());
    invalid.fold(0, |bits, n| bits | settings.selects & 8 << (4 * n))
}

fn position_field(declared: &Option<SwitchPosition>) -> u16 {
    let code = |sides: Directions| sides.0.trailing_zeros() as u16 & 7;
    match declared {
        Some(SwitchPosition { rx: Some(rx), .. }) => code(*rx) | 8,
        Some(SwitchPosition { tx: Some(tx), .. }) => code(*tx),
        _ => INVALID,
    }
}

fn set_switch(settings: &mut Settings, value: u16) {
    let mut declared = settings.declared;
    for (n, position) in declared.iter_mut().enumerate() {
        let field = value >> (4 * n) & 0xf;
        // A position that says more than its field has room for keeps it where the field stays.
        if field == position_field(position) {
            continue;
        }
        *position = None;
        if field & 7 < INVALID {
            let side = Some(Directions(Direction::from_code((field & 7) as u8).bit()));
            let is_input = field & 8 != 0;
            *position = Some(SwitchPosition {
                rx: side.filter(|_| is_input),
                tx: side.filter(|_| !is_input),
            });
        }
    }
    settings.ring = value & RING != 0;
    settings.selects = value & SELECTS;
    let base = settings.routes(0);
    settings.set_routes(base.rx, base.tx, declared);
}
