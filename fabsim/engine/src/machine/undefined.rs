//! What the machine leaves undefined is an error, or a warning where the user asked for it.

use super::Machine;
use crate::fabric::grid::PeIndex;
use crate::fabric::Collision;
use crate::probe::Probe;
use crate::report::{Fault, SimError};
use crate::trace::arrivals;
use fabsim_program::program::{Direction, Span};

impl Machine {
    /// `advance_switch` moves the switch as soon as the last wavelet is in the router, so it can
    /// change where wavelets come from and not where those before it go.
    pub(super) fn check_retargeted(&mut self) -> Result<(), SimError> {
        let Some((pe, color)) = self.fabric.first_retargeted() else {
            return Ok(());
        };
        let (x, y) = self.fabric.grid.place(pe);
        Err(SimError::Undefined(format!(
            "PE ({x}, {y}): advance_switch leads color {color} to a switch position with other \
             outputs in cycle {}, while what was sent may not have left the router; send a control \
             wavelet instead",
            self.cycle
        )))
    }

    /// Two arrivals at once are undefined: an error, or a warning where the user asked for it.
    pub(super) fn check_collisions<P: Probe>(&mut self, probe: &P) -> Result<(), SimError> {
        let mut collisions = self.fabric.take_collisions();
        if collisions.is_empty() {
            return Ok(());
        }
        collisions.sort_unstable();
        collisions.dedup_by(|more, kept| {
            let same = (more.pe, more.color) == (kept.pe, kept.color);
            if same {
                kept.sides.0 |= more.sides.0;
                kept.overflow |= more.overflow;
            }
            same
        });
        for collision in collisions {
            let text = self.describe(&collision);
            let fatal = !self.lenient || collision.overflow;
            let lines = arrivals::lines(&self.fabric, &collision, fatal, probe);
            let cycle = self.cycle;
            let log = lines.iter().map(|line| (cycle, collision.pe, line.clone()));
            self.log.extend(log);
            if fatal {
                let lines = lines.iter().map(|line| format!("\n  @{cycle} {line}"));
                return Err(SimError::Undefined(text + &lines.collect::<String>()));
            }
            self.warnings.push(text);
        }
        Ok(())
    }

    fn describe(&self, collision: &Collision) -> String {
        let (x, y) = self.fabric.grid.place(collision.pe);
        let source = |side: Direction| match self.fabric.grid.neighbour(collision.pe, side) {
            Some(pe) => {
                let (x, y) = self.fabric.grid.place(pe);
                format!("{side} (PE {x}, {y})")
            }
            None => format!("{side} (its own compute element)"),
        };
        let from: Vec<String> = (0..5)
            .map(Direction::from_code)
            .filter(|&side| collision.sides.has(side))
            .map(|side| format!("from {}", source(side)))
            .collect();
        let count = match from.len() {
            2 => "two".to_string(),
            more => more.to_string(),
        };
        format!(
            "PE ({x}, {y}): {count} wavelets of color {} arrive in cycle {}, {}; what the machine \
             does then is undefined",
            collision.color,
            self.cycle,
            from.join(" and "),
        )
    }

    pub(super) fn undefined(&self, pe: PeIndex, fault: &Fault) -> SimError {
        let (x, y) = self.fabric.grid.place(pe);
        let place = fault
            .span
            .map(|span| self.location(span) + ": ")
            .unwrap_or_default();
        SimError::Undefined(format!(
            "{place}PE ({x}, {y}), cycle {}: {}",
            self.cycle, fault.text
        ))
    }

    /// `file:line` of a span.
    pub fn location(&self, span: Span) -> String {
        match self.files.get(span.file as usize) {
            Some(file) => format!("{file}:{}", span.line),
            None => format!("line {}", span.line),
        }
    }
}
