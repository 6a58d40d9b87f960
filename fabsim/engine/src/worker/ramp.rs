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
