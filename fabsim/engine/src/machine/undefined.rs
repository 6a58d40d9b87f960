//! What the machine leaves undefined is an error, or a warning where the user asked for it.

use super::Machine;
use crate::fabric::grid::PeIndex;
use crate::fabric::router::Collision;
use crate::fault::Fault;
use crate::probe::Probe;
use crate::report::{Cause, Place, SimError};
use crate::report_text;
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
        Err(SimError::from(Cause::Retargeted)
            .on((x, y))
            .of_color(Some(color))
            .in_cycle(self.cycle))
    }

    /// Wavelets that leave the rectangle are lost; a run says so once.
    pub(super) fn note_lost(&mut self) {
        if self.lost_noted {
            return;
        }
        if let Some((pe, color)) = self.fabric.first_lost() {
            let (x, y) = self.fabric.grid.place(pe);
            let text = report_text::lost(color, self.cycle - 1);
            self.warnings.push(format!("PE ({x}, {y}): {text}"));
            self.lost_noted = true;
        }
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
            let from = self.arrivals_of(&collision);
            let pe = self.fabric.grid.place(collision.pe);
            let fatal = !self.lenient || collision.overflow;
            let lines = arrivals::lines(&self.fabric, &collision, fatal, probe);
            let cycle = self.cycle;
            let log = lines.iter().map(|line| (cycle, collision.pe, line.clone()));
            self.log.extend(log);
            if fatal {
                let cause = Cause::Collision {
                    from,
                    arrivals: lines,
                };
                return Err(SimError::from(cause)
                    .on(pe)
                    .of_color(Some(collision.color))
                    .in_cycle(cycle));
            }
            let text = report_text::collision(&from, collision.color, cycle);
            self.warnings
                .push(format!("PE ({}, {}): {text}", pe.0, pe.1));
        }
        Ok(())
    }

    /// The sides that wavelets arrive from at once, and the PEs there.
    fn arrivals_of(&self, collision: &Collision) -> Vec<(Direction, Option<(u32, u32)>)> {
        let grid = self.fabric.grid;
        let neighbour = |side| grid.neighbour(collision.pe, side).map(|pe| grid.place(pe));
        (0..5)
            .map(Direction::from_code)
            .filter(|&side| collision.sides.has(side))
            .map(|side| (side, neighbour(side)))
            .collect()
    }

    pub(super) fn undefined(&self, pe: PeIndex, fault: &Fault) -> SimError {
        let place = fault.span.map(|span| self.place(span));
        SimError::from(Cause::Fault(fault.kind))
            .on(self.fabric.grid.place(pe))
            .of_color(fault.kind.color())
            .in_cycle(self.cycle)
            .at(place)
    }

    /// A span with the name of its file.
    fn place(&self, span: Span) -> Place {
        let file = self.files.get(span.file as usize);
        Place {
            file: file.cloned().unwrap_or_default(),
            line: span.line,
            column: span.column,
        }
    }

    /// `file:line` of a span.
    pub fn location(&self, span: Span) -> String {
        self.place(span).to_string()
    }
}
