use super::super::issue_notes::CallNotes;
use super::*;

/// Notes of seven calls, as one note and one by one, the first turn in cycle 5.
fn both(calls: CallNotes) -> [IssueSchedule; 2] {
    let (mut short, mut long) = (IssueSchedule::default(), IssueSchedule::default());
    for beside in [&mut short, &mut long] {
        (0..5).for_each(|_| beside.delay());
    }
    short.calls(calls, 0);
    for _ in 0..calls.count {
        long.elements(calls.elements.into());
        if calls.wait > 0 {
            long.wait(calls.wait.into(), calls.wait.into(), std::iter::empty());
        }
        long.turns(calls.turns.into());
        long.step(calls.back.into());
    }
    [short, long]
}

#[test]
fn a_note_of_calls_stands_for_the_notes_of_each_however_microthreads_delay_them() {
    let kinds = [(0, 0, 0), (1, 2, 1), (0, 2, 0), (1, 0, 0), (0, 0, 3)];
    let mut state = 1u32;
    for ((elements, wait, back), widest) in
        kinds.into_iter().flat_map(|k| [(k, 1), (k, 4), (k, 40)])
    {
        for _ in 0..100 {
            let mut ways = both(CallNotes {
                count: 7,
                turns: 4,
                elements,
                wait,
                dsrs: [NONE; 4],
                back,
            });
            let (mut now, mut ends) = (5, false);
            while !ends {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                now += 1 + u64::from((state >> 24) % widest);
                let [short, long] = ways.each_mut().map(|beside| {
                    let turns = beside.advance(now);
                    ends = beside.ends_in(now);
                    if !ends && beside.at() == now && state >> 16 & 1 == 1 {
                        beside.delay();
                    }
                    let called = beside.is_called();
                    let free = beside.next_free(now + 1);
                    let left = beside.end_at_earliest();
                    (
                        turns,
                        ends,
                        beside.at(),
                        called,
                        free,
                        left,
                        beside.ended.clone(),
                    )
                });
                assert_eq!(short, long, "{elements} {wait} {back} in {now}");
            }
            assert_eq!(ways[0].ended.len(), 7);
        }
    }
}
