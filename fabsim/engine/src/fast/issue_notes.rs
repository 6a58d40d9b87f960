//! Notes of what a main thread that runs ahead takes turns for, and how far they have been gone through.

use crate::timing::Timing;
use fabsim_program::program::Dsr;

/// No register.
pub const NONE: u8 = u8::MAX;

/// The numbers of registers, four at most.
pub fn numbers(dsrs: impl Iterator<Item = Dsr>) -> [u8; 4] {
    let mut numbers = [NONE; 4];
    for (place, dsr) in numbers.iter_mut().zip(dsrs) {
        *place = dsr.number();
    }
    numbers
}

/// What the main thread takes a turn for, or a part of a turn if it costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// The next one follows so many cycles later.
    Step(u32),
    /// A turn in each of so many cycles.
    Turns(u32),
    /// A register is loaded, to be used so many cycles later.
    Load { dsr: u8, cycles: u16, usable: u16 },
    /// Elements of a `@map` are taken, in a turn that takes none of an operation.
    Elements(u32),
    /// A task ends, and the next one begins so many cycles later.
    End(u32),
    /// Operands are waited for: so many cycles, and until these registers can be used.
    Wait { cycles: u16, dsrs: [u8; 4] },
    /// Calls of a `@map`: short for the notes of each.
    Calls(CallNotes),
}

/// Notes of calls of a `@map` whose call-back is an operation, one like the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallNotes {
    /// How many calls.
    pub count: u16,
    /// Turns of the operation.
    pub turns: u16,
    /// Cycles in which elements are taken.
    pub elements: u8,
    /// Cycles that operands are waited for, and these registers.
    pub wait: u8,
    pub dsrs: [u8; 4],
    /// Cycles of the return.
    pub back: u8,
}

/// Notes that a call stands for.
const PARTS: u32 = 4;

impl CallNotes {
    /// Of so many calls, each with an operation of so many turns on these registers; none if a number is
    /// beyond what notes hold.
    pub fn new(
        count: u32,
        turns: u64,
        timing: &Timing,
        dsrs: impl Iterator<Item = Dsr>,
    ) -> Option<CallNotes> {
        Some(CallNotes {
            count: count.try_into().ok()?,
            turns: turns.try_into().ok()?,
            elements: timing.map_cycles.try_into().ok()?,
            wait: timing.operation_issue_cycles.try_into().ok()?,
            dsrs: numbers(dsrs),
            back: timing.map_return_cycles.try_into().ok()?,
        })
    }

    fn part(&self, n: u32) -> Note {
        match n % PARTS {
            0 => Note::Elements(self.elements.into()),
            1 => Note::Wait {
                cycles: self.wait.into(),
                dsrs: self.dsrs,
            },
            2 => Note::Turns(self.turns.into()),
            _ => Note::Step(self.back.into()),
        }
    }

    /// The part behind one, without those that nothing is noted for.
    fn part_behind(&self, n: u32) -> u32 {
        match n % PARTS {
            0 if self.wait == 0 => n + 2,
            2 if self.back == 0 => n + 2,
            _ => n + 1,
        }
    }

    /// Cycles of a call as they are noted: without the turn that takes elements where that costs nothing.
    pub fn noted(&self) -> u64 {
        u64::from(self.turns)
            + u64::from(self.elements)
            + u64::from(self.wait)
            + u64::from(self.back)
    }

    /// From the beginning of a call until its operation waits for nothing but registers.
    pub fn until_ready(&self) -> u64 {
        u64::from(self.elements) + u64::from(self.wait)
    }

    /// Cycles of a call that nobody delays.
    pub fn cycles(&self) -> u64 {
        self.noted() + u64::from(self.until_ready() == 0)
    }

    /// Turns in these.
    pub fn turns_of_one(&self) -> u64 {
        let parts = u64::from(self.elements > 0) + u64::from(self.wait > 0);
        u64::from(self.turns) + parts.max(1) + u64::from(self.back > 0)
    }
}

/// How far notes have been gone through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// Which note.
    pub note: usize,
    /// Which of those that this one is short for.
    pub part: u32,
    /// Turns of the note that have been had.
    pub turns: u32,
    /// The cycle of the next turn.
    pub at: u64,
    /// The cycle of the last turn that took elements of a `@map`.
    pub mapped: u64,
}

impl Cursor {
    /// The note it is at.
    #[inline]
    pub fn note(&self, notes: &[Note]) -> Option<Note> {
        notes.get(self.note).map(|note| match note {
            Note::Calls(calls) => calls.part(self.part),
            note => *note,
        })
    }

    /// Goes on to the next one.
    #[inline]
    pub fn go_on(&mut self, notes: &[Note]) {
        if let Some(Note::Calls(calls)) = notes.get(self.note) {
            self.part = calls.part_behind(self.part);
            if self.part < PARTS * u32::from(calls.count) {
                return;
            }
        }
        (self.note, self.part) = (self.note + 1, 0);
    }

    /// Whether the next turn goes on with one that took elements of a `@map`.
    pub fn is_called(&self) -> bool {
        self.mapped == self.at && self.at > 0
    }

    /// Passes calls of the note that it is at, so many at most, if it is between two of them; how many they are.
    pub fn pass_calls(&mut self, calls: &CallNotes, most: u64) -> u64 {
        let left = match self.part % PARTS {
            0 => u64::from(u32::from(calls.count) - self.part / PARTS),
            _ => 0,
        };
        let count = left.min(most);
        if count > 0 {
            self.at += count * calls.cycles();
            self.mapped = self.at - calls.cycles();
            self.part += count as u32 * PARTS;
        }
        if left > 0 && count == left {
            (self.note, self.part) = (self.note + 1, 0);
        }
        count
    }
}
