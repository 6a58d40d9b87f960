//! Calls of a `@map` that differ in nothing but where their vectors are, which moves on regularly: what each
//! of them would have to ask is asked once, and one note stands for all.

use super::issue_notes::CallNotes;
use super::map_calls::Calls;
use super::recent_results::written;
use super::repeated_operation::operands;
use super::run_ahead::{register, RunAhead, SLACK, TURNS};
use crate::pe::env::Env;
use crate::pe::map::MapRun;
use crate::pe::memory::reach;
use crate::pe::port::Port;
use crate::pe::state::Core;
use fabsim_program::program::Opcode;

/// Where words end that a register can hold the address of.
const WORDS: i64 = 1 << 15;

/// A vector that moves on from call to call.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Walk {
    word: i32,
    step: i32,
    bytes: u8,
    /// Words from one call to the next.
    by: i32,
}

impl Walk {
    /// The words that so many calls touch, the last one excluded.
    fn reach(&self, length: u32, calls: u32) -> (i64, i64) {
        let (from, to) = reach(self.word, self.step, self.bytes, length);
        let way = i64::from(self.by) * (i64::from(calls) - 1);
        (from + way.min(0), to + way.max(0))
    }

    /// Where the call with so many before it begins.
    fn begin(&self, calls: u32) -> i64 {
        i64::from(self.word) + i64::from(self.by) * i64::from(calls)
    }

    /// Whether no element is at the place of another one, in whichever call.
    fn is_apart(&self) -> bool {
        self.by != 0 && self.step.unsigned_abs() >= u32::from(self.bytes / 2)
    }
}

/// When calls take place.
#[derive(Clone, Copy)]
struct Times {
    /// When the first one begins, and for how many cycles more than the others it waits.
    first: u64,
    more: u64,
    /// From one to the next.
    each: u64,
    /// From the end of the operation to the next one.
    back: u64,
}

impl Times {
    fn begin(&self, n: u32) -> u64 {
        self.first + u64::from(n) * self.each + if n > 0 { self.more } else { 0 }
    }

    /// The last cycle of the operation.
    fn end(&self, n: u32) -> u64 {
        self.begin(n + 1) - self.back - 1
    }
}

impl Calls<'_> {
    /// Takes calls in advance, none of which a microthread or an earlier result may hold up; how many. At
    /// most `left`, with registers that can be used from cycle `usable` on.
    pub(crate) fn take_alike(
        &mut self,
        map: &mut MapRun,
        (left, usable): (u32, u64),
        core: &mut Core,
        (env, ahead): (&mut Env, &mut RunAhead),
    ) -> u32 {
        let timing = &env.plan.timing;
        // The last call has no return of this kind.
        let most = left - u32::from(timing.map_return_cycles > 0);
        let most = most.min((TURNS - ahead.turns) as u32);
        let Some(turns) = self.running.steady_cycles() else {
            return 0;
        };
        let registers = operands(self.op).filter_map(register);
        let Some(mut notes) = CallNotes::new(most, turns, timing, registers) else {
            return 0;
        };
        let times = Times {
            first: env.now,
            more: usable.saturating_sub(env.now + timing.map_cycles),
            each: notes.cycles(),
            back: timing.map_return_cycles,
        };
        let waits_apart = times.more > 0 && notes.wait == 0;
        if most == 0 || waits_apart || !self.moves_freely(map, most, core, ahead) {
            return 0;
        }
        let count = self.settled(most, times, core, (env, ahead));
        if count == 0 {
            return 0;
        }
        notes.count = count as u16;
        let beside = ahead.schedule.as_mut();
        let noted = beside.map(|beside| beside.calls(notes, times.more));
        let (after, last) = (timing.memory_result_cycles, times.end(count - 1));
        for n in 0..count {
            self.running.remaining = self.running.length;
            self.take_elements(map, core);
            let end = times.end(n);
            if end + after > last {
                let written = written(self.running, timing);
                let noted = noted.map(|first| first + n as usize);
                core.recent.pass(written, end, after, noted);
            }
            self.running.pass_in_memory(&mut core.memory);
            self.go_back();
        }
        env.now = times.begin(count);
        ahead.turns += u64::from(count) * notes.turns_of_one();
        count
    }

    /// Where a line of memory goes, which a register may keep.
    fn walk(&self, port: &Port, kept: bool) -> Option<Walk> {
        match *port {
            Port::Line { word, step, bytes } => Some(Walk {
                word,
                step,
                bytes,
                by: match kept {
                    true => step.checked_mul(self.running.length as i32)?,
                    false => 0,
                },
            }),
            _ => None,
        }
    }

    /// Whether so many calls stay within memory, leave alone what microthreads use, and read nothing that
    /// one of them has written but in the place of what it writes itself.
    fn moves_freely(&self, map: &MapRun, calls: u32, core: &Core, ahead: &RunAhead) -> bool {
        let running = &self.running;
        let length = running.length;
        let free = |walk: Walk, writes: bool| {
            let (from, to) = walk.reach(length, calls);
            let end = walk.begin(calls);
            let beside = ahead.schedule.as_deref();
            core.memory.holds(from, to)
                && (0..WORDS).contains(&end)
                && beside.map_or(true, |beside| beside.is_clear(from, to, writes))
        };
        let Some(dest) = self.walk(&running.dest, running.saves[0].is_some()) else {
            return false;
        };
        let written = dest.reach(length, calls);
        let count = usize::from(running.source_count);
        let mut sources = running.sources[..count].iter().zip(&running.saves[1..]);
        let apart = sources.all(|(port, save)| match port {
            Port::Scalar { .. } => true,
            _ => self.walk(port, save.is_some()).is_some_and(|walk| {
                let read = walk.reach(length, calls);
                let in_place = walk == dest && dest.is_apart();
                let overlaps = read.0 < written.1 && written.0 < read.1;
                free(walk, false) && (in_place || !overlaps)
            }),
        });
        let mut elements = map.inputs.iter().filter_map(|port| match *port {
            Port::Line { word, step, bytes } => Some(reach(word, step, bytes, calls)),
            _ => None,
        });
        let beside = ahead.schedule.as_deref().map_or(true, |beside| {
            beside.has_room_for(1) && elements.all(|(from, to)| beside.is_clear(from, to, false))
        });
        let finite = !running.is_infinite() && running.opcode != Opcode::Dfilt;
        finite && apart && beside && free(dest, true)
    }

    /// How many of so many calls read nothing that may not be in memory yet.
    fn settled(
        &self,
        most: u32,
        times: Times,
        core: &Core,
        (env, ahead): (&Env, &RunAhead),
    ) -> u32 {
        let timing = &env.plan.timing;
        let after = timing.memory_result_cycles;
        let ready = timing.map_cycles + timing.operation_issue_cycles;
        let running = &self.running;
        let count = usize::from(running.source_count);
        let sources = running.sources[..count].iter().zip(&running.saves[1..]);
        let walks = sources.filter_map(|(port, save)| self.walk(port, save.is_some()));
        let known = core.recent.end_of_all(after);
        let is_settled = |n: u32| {
            let now = match ahead.schedule {
                Some(_) => times.begin(n).saturating_sub(SLACK),
                None => times.begin(n) + ready,
            };
            let ended = n.checked_sub(1).map_or(0, |before| times.end(before));
            let words = walks.clone().map(|walk| walk.begin(n));
            known <= ended || core.recent.is_settled(words, (now, ended), after)
        };
        (0..most).find(|n| !is_settled(*n)).unwrap_or(most)
    }
}
