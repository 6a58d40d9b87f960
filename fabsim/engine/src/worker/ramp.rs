//! The ramp of a tile, and the look of its router.

use super::cycle::Cycle;
use crate::alarm::Alarm;
use crate::fabric::grid::PeIndex;
use crate::fabric::ramp::{Entry, Tag};
use crate::fabric::{Below, Delivery, Looked, Looking};
use crate::fast::prefetch::prefetch;
use crate::pe::element::{takes_pairs, Pe};
use crate::probe::{Probe, RampPassage};

/// What came of a look at the output queues.
pub(super) struct Went {
    /// They have to be looked at again in the next cycle.
    pub stays: bool,
    /// A full one has room now.
    pub made_room: bool,
}

/// One wavelet at most goes from the output queues of a PE to its router; queues take turns.
#[inline]
pub(super) fn up_the_ramp<P: Probe>(
    now: u64,
    pe: PeIndex,
    state: &mut Pe,
    looking: &mut Looking,
    probe: &mut P,
) -> Went {
    let outputs = &mut state.core.outputs;
    let (mut stays, mut made_room) = (false, false);
    let turn = u32::from(state.output_turn) % u8::BITS;
    let mut waiting = outputs.filled().rotate_right(turn);
    while waiting != 0 {
        let n = ((waiting.trailing_zeros() + turn) % u8::BITS) as u8;
        waiting &= waiting - 1;
        let queue = &outputs[usize::from(n)];
        let Some(head) = queue.ring.first().filter(|_| queue.ring.is_ready(now)) else {
            stays = true;
            continue;
        };
        let Some(channel) = looking.accepts_from_ce(pe, head.color()) else {
            continue;
        };
        let waited_for = match queue.ring.room() {
            0 => true,
            // An operation may wait for room for two.
            1 => takes_pairs(&state.threads, state.main.running.as_deref()),
            _ => false,
        };
        made_room = waited_for || state.core.attention;
        let (id, level) = (queue.id, queue.ring.len() - 1);
        outputs.pop(n);
        probe.went_up(RampPassage {
            cycle: now,
            pe,
            color: head.color(),
            wavelet: head.wavelet(),
            queue: id,
            level,
        });
        looking.inject(pe, channel, head);
        stays = true;
        state.output_turn = n + 1;
        break;
    }
    looking.router(pe).fed = stays || outputs.filled() != 0;
    Went { stays, made_room }
}

/// The router of a PE decides what moves.
#[inline]
pub(super) fn look(cycle: Cycle, pe: PeIndex, state: &Pe, looking: &mut Looking) -> Looked {
    looking.look(pe, |color| {
        let plan = &cycle.plans[state.plan as usize];
        let queue = state.core.input_of_color(plan, color);
        queue.is_some_and(|n| state.core.inputs[usize::from(n)].ring.has_room())
    })
}

/// The compute elements of a zone, to which wavelets come down the ramps.
pub(super) struct Ramps<'a> {
    pub cycle: Cycle<'a>,
    /// The first PE of the zone.
    pub first: PeIndex,
    pub pes: &'a mut [Pe],
    pub alarm: &'a mut Alarm,
}

impl Ramps<'_> {
    fn place(&self, pe: PeIndex) -> usize {
        pe.index() - self.first.index()
    }
}

impl<P: Probe> Below<P> for Ramps<'_> {
    #[inline]
    fn deliver(&mut self, Delivery { pe, color, wavelet }: Delivery, probe: &mut P) {
        let place = self.place(pe);
        let state = &mut self.pes[place];
        let plan = &self.cycle.plans[state.plan as usize];
        let Some(queue) = state.core.input_of_color(plan, color) else {
            return;
        };
        let now = self.cycle.now;
        let ready = now + plan.timing.offramp_cycles;
        let queue = &mut state.core.inputs[usize::from(queue)];
        let entry = Entry {
            payload: wavelet.payload,
            tag: Tag::new(color, wavelet.control, false),
        };
        queue.ring.push(entry, ready);
        probe.came_down(RampPassage {
            cycle: now,
            pe,
            color,
            wavelet,
            queue: queue.id,
            level: queue.ring.len(),
        });
        self.alarm.set(now, ready, pe);
    }

    #[inline]
    fn prefetch(&self, pe: PeIndex) {
        self.pes[self.place(pe)].prefetch();
    }

    #[inline]
    fn prefetch_queue(&self, pe: PeIndex, color: u8) {
        let state = &self.pes[self.place(pe)];
        let plan = &self.cycle.plans[state.plan as usize];
        if let Some(queue) = state.core.input_of_color(plan, color) {
            prefetch(&state.core.inputs[usize::from(queue)]);
        }
    }
}
