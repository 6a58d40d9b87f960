//! Configuration registers of a router, as programs read and write them while they run.
//!
//! The layout is the one known of wse2 (see docs/machine.md); wse3's is not public, so programs
//! reach it only through the standard modules, which use this layout on both.

use super::grid::PeIndex;
use super::settings::Settings;
use super::{ChannelIndex, Fabric, ALL_LINKS};
use crate::limits::COLORS;
use crate::program::{Direction, Directions, Filter, PopMode, SwitchPosition};

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

impl Fabric {
    /// The value of a register; none if there is no such register or the color is not configured.
    pub fn read_register(&self, pe: PeIndex, address: u16) -> Option<u16> {
        match register(address)? {
            Register::Color(color) => {
                let (index, _) = self.find(pe, color)?;
                let torn_down = self.channels[index.index()].torn_down;
                Some(color_word(self.settings_of(pe, index), torn_down))
            }
            Register::Switch(color) => {
                let (index, _) = self.find(pe, color)?;
                let position = self.channels[index.index()].position;
                Some(switch_word(self.settings_of(pe, index), position))
            }
        }
    }

    /// Writes a register, at once.
    pub fn write_register(&mut self, pe: PeIndex, address: u16, value: u16) -> Result<(), Refused> {
        let (color, is_switch) = match register(address) {
            Some(Register::Color(color)) => (color, false),
            Some(Register::Switch(color)) => (color, true),
            None => return Err(Refused::Unknown),
        };
        let (index, _) = self.find(pe, color).ok_or(Refused::Unknown)?;
        let channel = &self.channels[index.index()];
        let old = self.settings_of(pe, index);
        let before = match is_switch {
            true => switch_word(old, channel.position),
            false => color_word(old, channel.torn_down),
        };
        if (before ^ value) & !TORN_DOWN != 0 && !channel.torn_down && !channel.is_empty() {
            return Err(Refused::InUse(color));
        }
        let mut settings = old.clone();
        let mut position = channel.position;
        if is_switch {
            set_switch(&mut settings, value);
            position = (value >> 13 & 3) as u8;
        } else {
            if value & POINT_TO_POINT != 0 {
                return Err(Refused::PointToPoint);
            }
            set_color(&mut settings, value);
            self.channels[index.index()].torn_down = value & TORN_DOWN != 0;
        }
        self.change(pe, index, settings, position);
        Ok(())
    }

    /// Both sides of a switch position, which a register of wse2 has no room for.
    pub fn set_switch_sides(
        &mut self,
        pe: PeIndex,
        color: u8,
        number: usize,
        (rx, tx): (Directions, Directions),
    ) -> Result<(), Refused> {
        let (index, _) = self.find(pe, color).ok_or(Refused::Unknown)?;
        let channel = &self.channels[index.index()];
        if !channel.torn_down && !channel.is_empty() {
            return Err(Refused::InUse(color));
        }
        let position = channel.position;
        let mut settings = self.settings_of(pe, index).clone();
        let mut declared = settings.declared;
        *declared.get_mut(number).ok_or(Refused::Unknown)? = Some(SwitchPosition {
            rx: Some(rx),
            tx: Some(tx),
        });
        let base = settings.routes(0);
        settings.set_routes(base.rx, base.tx, declared);
        self.change(pe, index, settings, position);
        Ok(())
    }

    /// Changes a number of a color's counter filter: its limit, the highest count that passes, or the
    /// count itself.
    pub fn set_filter(
        &mut self,
        pe: PeIndex,
        color: u8,
        field: u64,
        value: u32,
    ) -> Result<(), Refused> {
        let (index, _) = self.find(pe, color).ok_or(Refused::NoFilter)?;
        let filter = self.settings_of(pe, index).filter.as_ref();
        if !filter.is_some_and(|filter| !matches!(filter, Filter::Range { .. })) {
            return Err(Refused::NoFilter);
        }
        let channel = &self.channels[index.index()];
        if !channel.torn_down && !channel.is_empty() {
            return Err(Refused::InUse(color));
        }
        let state = self.filters.get_mut(&index).ok_or(Refused::NoFilter)?;
        match field {
            0 => state.limit = Some(value),
            1 => state.max = value,
            _ => state.counter = value,
        }
        Ok(())
    }

    /// Lets a color's filter decide what the compute element gets, or not.
    pub fn enable_filter(&mut self, pe: PeIndex, color: u8, enable: bool) {
        let Some((index, _)) = self.find(pe, color) else {
            return;
        };
        let has_filter = self.settings_of(pe, index).filter.is_some();
        self.channels[index.index()].filtered = enable && has_filter;
        self.rewired.push(pe);
    }

    fn change(&mut self, pe: PeIndex, index: ChannelIndex, settings: Settings, position: u8) {
        self.channels[index.index()].set_position(position, &settings);
        self.swaps |= settings.swap_x || settings.swap_y;
        self.changed.insert(index, settings);
        self.rewired.push(pe);
    }

    /// Lets everybody see what changed registers make possible. This is put off until all code of
    /// a cycle has run: it would tell a compute element who was visited before it.
    pub(super) fn wake_rewired(&mut self) {
        while let Some(pe) = self.rewired.pop() {
            self.wake(pe);
            self.stay(pe);
            self.wake_neighbours(pe, ALL_LINKS);
        }
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
