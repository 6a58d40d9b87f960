//! How the work of a cycle is shared out among threads.

use super::team::Team;
use crate::fabric::grid::{Grid, PeIndex};
use fabsim_program::program::Design;
use std::sync::Mutex;

/// Tiles to visit for each thread, with fewer of which a cycle takes no longer than the threads' waiting for
/// each other.
pub(super) const TILES_WORTH_A_THREAD: usize = 60;

/// Tiles of a machine for each thread: with fewer, most cycles are done by one.
const TILES_OF_A_THREAD: usize = 1000;

/// How many threads a machine of so many tiles can have use for: no more than there are processors.
pub fn worthwhile_threads(tiles: usize, processors: usize) -> usize {
    (tiles / TILES_OF_A_THREAD).clamp(1, processors.max(1))
}

/// Where the zones of the threads end: rows are shared out evenly.
pub(super) fn zones(design: &Design, threads: usize) -> Vec<PeIndex> {
    let grid = Grid {
        width: u32::from(design.width),
        height: u32::from(design.height),
    };
    let count = threads.clamp(1, usize::from(design.height).max(1));
    let end = |n: usize| (grid.height as usize * n / count) as u32 * grid.width;
    (1..=count).map(|n| PeIndex(end(n))).collect()
}

/// The threads for all zones but one. If the system has none to give, one thread does it all.
pub(super) fn team(zones: usize) -> Option<Team> {
    let others = zones.checked_sub(1).filter(|&others| others > 0)?;
    Team::new(others).ok()
}

/// Does the work of all zones, side by side if there are threads for it: that of the first one on
/// this thread, each of the others' always on the same one, whose cache has what it needs.
pub(super) fn for_all<Z: Send>(
    threads: Option<&mut Team>,
    zones: impl Iterator<Item = Z>,
    work: impl Fn(Z) + Sync,
) {
    let Some(threads) = threads else {
        return zones.for_each(work);
    };
    let zones: Vec<Mutex<Option<Z>>> = zones.map(|zone| Mutex::new(Some(zone))).collect();
    debug_assert!(zones.len() <= threads.size(), "every zone has a thread");
    threads.run(&|number| {
        let own = zones.get(number).and_then(|zone| zone.lock().ok()?.take());
        own.into_iter().for_each(&work);
    });
}

#[cfg(test)]
mod tests {
    use super::worthwhile_threads;

    #[test]
    fn a_thread_has_a_thousand_tiles_and_a_processor() {
        let threads =
            [1, 999, 1_999, 2_000, 4_096, 745_500].map(|tiles| worthwhile_threads(tiles, 4));
        assert_eq!(threads, [1, 1, 1, 2, 4, 4]);
        assert_eq!(worthwhile_threads(4_096, 1), 1);
    }
}
