//! Configuration registers of a router, as programs read and write them while they run.
//!
//! The layout is the one known of wse2 (see docs/machine.md); wse3's is not public, so programs
//! reach it only through the standard modules, which use this layout on both.

use super::grid::PeIndex;
use super::settings::Settings;
use super::{Fabric, View};
use crate::limits::COLORS;
use crate::program::{Direction, Directions, PopMode, SwitchPosition};

/// Word addresses of color 0's registers.
const COLOR_CONFIG: u16 = 0x7f20;
const SWITCH_CONFIG: u16 = 0x7f40;

const SIDES: u16 = 0x1f;
const TORN_DOWN: u16 = 1 << 14;
const RING: u16 = 1 << 12;
/// The direction code of a position that is not valid.
const INVALID: u16 = 5;

enum Register {
    Color(u8),
    Switch(u8),
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
}

impl Fabric {
    /// The value of a register, as code would read it.
    pub fn read_register(&self, pe: PeIndex, address: u16) -> Option<u16> {
        self.view().read_register(pe, address)
    }

    /// Writes a register, at once; false where `read_register` has no value.
    pub fn write_register(&mut self, pe: PeIndex, address: u16, value: u16) -> bool {
        let (color, is_switch) = match register(address) {
            Some(Register::Color(color)) => (color, false),
            Some(Register::Switch(color)) => (color, true),
            None => return false,
        };
        let Some((index, _)) = self.view().find(pe, color) else {
            return false;
        };
        let mut settings = self.wires.settings_of(pe, index).clone();
        let mut position = self.channels[index.index()].position;
        if is_switch {
            set_switch(&mut settings, value);
            position = (value >> 13 & 3) as u8;
        } else {
            set_color(&mut settings, value);
            self.channels[index.index()].torn_down = value & TORN_DOWN != 0;
        }
        self.channels[index.index()].set_position(position, &settings);
        self.wires.set_way(pe, &mut self.channels[index.index()]);
        self.wires.changed.insert(index, settings);
        self.rewired.push(pe);
        true
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
    u16::from(base.tx.0) | u16::from(base.rx.0) << 5 | pop << 12 | torn_down
}

fn set_color(settings: &mut Settings, value: u16) {
    let sides = |bits: u16| Directions((bits & SIDES) as u8);
    settings.pop = match value >> 12 & 3 {
        0 => PopMode::NoPop,
        1 => PopMode::AlwaysPop,
        2 => PopMode::PopOnAdvance,
        _ => PopMode::PopOnAdvanceNop,
    };
    let declared = settings.declared;
    settings.set_routes(sides(value >> 5), sides(value), declared);
}

/// Four bits a position: the direction, and whether it is the input's.
fn switch_word(settings: &Settings, position: u8) -> u16 {
    let code = |sides: Directions| sides.0.trailing_zeros() as u16 & 7;
    let mut word = if settings.ring { RING } else { 0 };
    for (n, declared) in settings.declared.iter().enumerate() {
        let field = match declared {
            Some(SwitchPosition { rx: Some(rx), .. }) => code(*rx) | 8,
            Some(SwitchPosition { tx: Some(tx), .. }) => code(*tx),
            _ => INVALID,
        };
        word |= field << (4 * n);
    }
    word | u16::from(position) << 13
}

fn set_switch(settings: &mut Settings, value: u16) {
    let mut declared = [None; 3];
    for (n, position) in declared.iter_mut().enumerate() {
        let field = value >> (4 * n) & 0xf;
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
    let base = settings.routes(0);
    settings.set_routes(base.rx, base.tx, declared);
}
