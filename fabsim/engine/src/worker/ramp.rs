//! The ramp of a tile, and the look of its router.

use super::Cycle;
use crate::fabric::grid::PeIndex;
use crate::fabric::{Looked, Looking};
use crate::pe::{takes_pairs, Pe};
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
    let count = outputs.len();
    let (mut stays, mut made_room, mut sent) = (false, false, false);
    let first = usize::from(state.output_turn);
    let first = if first < count { first } else { 0 };
    for k in first..first + count {
        let n = if k < count { k } else { k - count };
        let queue = &mut outputs[n];
        let Some(head) = queue.ring.first() else {
            continue;
        };
        if sent || !queue.ring.is_ready(now) {
            stays = true;
            continue;
        }
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
        queue.ring.pop();
        probe.went_up(RampPassage {
            cycle: now,
            pe,
            color: head.color(),
            wavelet: head.wavelet(),
            queue: queue.id,
            level: queue.ring.len(),
        });
        looking.inject(pe, channel, head);
        (sent, stays) = (true, true);
        state.output_turn = n as u8 + 1;
    }
    let fed = stays || outputs.iter().any(|queue| !queue.ring.is_empty());
    looking.router(pe).fed = fed;
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
