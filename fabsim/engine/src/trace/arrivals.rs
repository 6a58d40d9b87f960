//! Two arrivals of one color in one cycle, as log lines.

use super::text::{payload, side_word};
use crate::fabric::router::Collision;
use crate::fabric::Fabric;
use crate::probe::Probe;
use fabsim_program::program::Direction;

/// The order in which sides are told.
const ORDER: [Direction; 5] = [
    Direction::Ramp,
    Direction::East,
    Direction::North,
    Direction::West,
    Direction::South,
];

/// Lines in the form that tools for such logs look for; `fatal`: the run ends with them.
pub fn lines<P: Probe>(
    fabric: &Fabric,
    collision: &Collision,
    fatal: bool,
    probe: &P,
) -> Vec<String> {
    let (pe, color) = (collision.pe, collision.color);
    let (x, y) = fabric.grid.place(pe);
    let tile = format!("ERROR: P{x}.{y} (hwtile)");
    let mut queued = fabric.youngest(pe, color);
    queued.sort_by_key(|(_, side)| ORDER.iter().position(|known| known == side));
    let mut lines: Vec<String> = Vec::new();
    for (wavelet, side) in queued {
        // Only a trace gives wavelets an identity.
        let ident = probe.ident(pe, color, side);
        let ident = ident.map_or(String::new(), |ident| format!(", ident={ident:016X}"));
        let (side, payload) = (side_word(side), payload(wavelet));
        lines.push(format!(
            "{tile} wavelet C{color} from {side}: {payload}{ident}"
        ));
    }
    let sides = ORDER.into_iter().filter(|&side| collision.sides.has(side));
    let sides: Vec<&str> = sides.map(side_word).collect();
    let sides = sides.join(" and ");
    lines.push(format!(
        "{tile} C{color} arrived from {sides} on the same cycle"
    ));
    if fatal {
        let text = "FATAL: this breaks a rule of the architecture; look at the routes of the \
                    adjacent tiles";
        lines.push(text.to_string());
    }
    lines
}
