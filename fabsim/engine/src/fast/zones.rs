//! How the work of a cycle is shared out among threads.

use super::thread_team::Team;
use crate::fabric::grid::{Grid, PeIndex};
use fabsim_program::program::Design;
use std::sync::Mutex;

/// Tiles to visit for each thread, with fewer of which a cycle takes no longer than the threads' waiting for
/// each other.
pub(crate) const TILES_WORTH_A_THREAD: usize = 60;

/// The same of wavelets that go from one zone to another.
pub(crate) const CROSSINGS_WORTH_A_THREAD: usize = 200;

/// The same of main threads that run ahead, each of which takes as long as many visits.
pub(crate) const AHEAD_WORTH_A_THREAD: usize = 4;

/// Tiles of a machine for each thread: with fewer, most cycles are done by one.
const TILES_OF_A_THREAD: usize = 1000;

/// How many threads a machine of so many tiles can have use for: no more than there are processors.
pub fn worthwhile_threads(tiles: usize, processors: usize) -> usize {
    (tiles / TILES_OF_A_THREAD).clamp(1, processors.max(1))
}

/// Zones of a thread at most. In a cycle some rows have much more to do than others: whoever has done its
/// own zones goes on with those that others have not begun.
const ZONES_OF_A_THREAD: usize = 4;

/// Tiles of a zone: with fewer, too much of what they do goes to other zones.
const TILES_OF_A_ZONE: usize = 500;

/// Where the zones of so many threads end: rows are shared out evenly.
pub(crate) fn zones(design: &Design, threads: usize) -> Vec<PeIndex> {
    let grid = Grid {
        width: u32::from(design.width),
        height: u32::from(design.height),
    };
    let rows = grid.height as usize;
    let tiles_of_a_thread = rows * grid.width as usize / threads.max(1);
    let each = match threads {
        0 | 1 => 1,
        _ => (tiles_of_a_thread / TILES_OF_A_ZONE).clamp(1, ZONES_OF_A_THREAD),
    };
    let count = (threads * each).clamp(1, rows.max(1));
    let end = |n: usize| (rows * n / count) as u32 * grid.width;
    (1..=count).map(|n| PeIndex(end(n))).collect()
}

/// So many threads less one, or one for each row. If the system has none to give, one thread does it all.
pub(crate) fn team(threads: usize, zones: usize) -> Option<Team> {
    let others = threads.min(zones).checked_sub(1).filter(|&n| n > 0)?;
    Team::new(others).ok()
}

/// Does the work of all zones, side by side if there are threads for it: each begins with the same ones
/// every time, whose tiles its cache may have, then takes what others have left, from their end on.
pub(crate) fn for_all<Z: Send>(
    threads: Option<&mut Team>,
    zones: impl Iterator<Item = Z>,
    work: impl Fn(Z) + Sync,
) {
    let Some(threads) = threads else {
        return zones.for_each(work);
    };
    let zones: Vec<Mutex<Option<Z>>> = zones.map(|zone| Mutex::new(Some(zone))).collect();
    let size = threads.size();
    let begin = |number: usize| zones.len() * number / size;
    threads.run(&|number| {
        let own = begin(number)..begin(number + 1);
        let others = (0..zones.len()).rev().filter(|n| !own.contains(n));
        for n in own.clone().chain(others) {
            let left = zones[n].lock().ok().and_then(|mut zone| zone.take());
            left.into_iter().for_each(&work);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{for_all, worthwhile_threads, Team};
    use std::sync::Mutex;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn every_zone_is_worked_on_once_and_nobody_waits_for_a_slow_thread() {
        let mut team = Team::new(2).expect("threads");
        for zones in [1, 3, 7, 12] {
            let done = Mutex::new(vec![0; zones]);
            for_all(Some(&mut team), 0..zones, |zone| {
                if zone == 0 {
                    sleep(Duration::from_millis(20));
                }
                done.lock().expect("no panics")[zone] += 1;
            });
            assert_eq!(done.into_inner().expect("no panics"), vec![1; zones]);
        }
    }

    #[test]
    fn a_thread_has_a_thousand_tiles_and_a_processor() {
        let threads =
            [1, 999, 1_999, 2_000, 4_096, 745_500].map(|tiles| worthwhile_threads(tiles, 4));
        assert_eq!(threads, [1, 1, 1, 2, 4, 4]);
        assert_eq!(worthwhile_threads(4_096, 1), 1);
    }
}
