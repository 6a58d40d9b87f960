//! Main threads that run ahead, shared out among threads one by one.
//!
//! Such a turn takes as long as dozens of visits, and in many cycles but one row of PEs or a few PEs have one: by
//! zones, one thread would have them all. It concerns nobody but its own PE, so that it can wait for the end of all
//! visits and be had by any thread.

use super::thread_team::Team;
use super::turns::go_ahead;
use super::zones::{for_all, AHEAD_WORTH_A_THREAD};
use crate::fabric::grid::PeIndex;
use crate::fabric::{split_front, View};
use crate::pe::env::Env;
use crate::pe::event::Next;
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use crate::worker::{WentAhead, Worker};

/// Into how many parts the turns are divided for each thread, so that all end at about the same time.
const PARTS_OF_A_THREAD: usize = 16;

/// A PE whose main thread is to run ahead, and what came of it.
struct Turn<'a> {
    pe: PeIndex,
    state: &'a mut Pe,
    went: WentAhead,
}

impl Turn<'_> {
    fn take(&mut self, plans: &[PePlan], fabric: View, now: u64) {
        let plan = &plans[self.state.plan as usize];
        let (writes, log) = (&mut Vec::new(), &mut Vec::new());
        let mut env = Env::new(plan, (self.pe, now), fabric, writes, log);
        let mut turns = 0;
        let next = go_ahead(self.state, &mut env, &mut turns);
        let unblocked_at = env.unblocked_at;
        debug_assert!(!env.queues_changed && env.writes.is_empty() && env.log.is_empty());
        self.went = WentAhead {
            next,
            turns,
            finished: unblocked_at.filter(|_| std::mem::take(&mut self.state.busy_with_command)),
        };
    }
}

/// Main threads run ahead that visits of this cycle have put off.
pub fn run_ahead(
    (workers, pes): (&mut [Worker], &mut [Pe]),
    (plans, fabric, now): (&[PePlan], View, u64),
    threads: Option<&mut Team>,
) {
    let count: usize = workers.iter().map(|worker| worker.put_off.len()).sum();
    if count == 0 {
        return;
    }
    let threads = threads.filter(|team| count >= AHEAD_WORTH_A_THREAD * team.size());
    let parts = threads
        .as_ref()
        .map_or(1, |team| PARTS_OF_A_THREAD * team.size());
    let (mut pes, mut first) = (pes, 0);
    let mut turns: Vec<Turn> = Vec::with_capacity(count);
    for worker in workers.iter_mut() {
        worker.put_off.sort_unstable();
        for &pe in &worker.put_off {
            split_front(&mut pes, pe.index() - first);
            first = pe.index() + 1;
            let went = WentAhead {
                next: Next::Woken,
                turns: 0,
                finished: None,
            };
            let own = split_front(&mut pes, 1).iter_mut();
            turns.extend(own.map(|state| Turn { pe, state, went }));
        }
    }
    let some = turns.chunks_mut(count.div_ceil(parts));
    for_all(threads, some, |some| {
        for turn in some {
            turn.take(plans, fabric, now);
        }
    });
    let mut turns = turns.into_iter();
    for worker in workers.iter_mut() {
        for _ in 0..std::mem::take(&mut worker.put_off).len() {
            if let Some(Turn { pe, went, .. }) = turns.next() {
                worker.note_ahead(now, pe, went);
            }
        }
    }
}
