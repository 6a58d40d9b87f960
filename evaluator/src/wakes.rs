//! When each PE is looked at next, by the cycle and by the PE.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A cycle that does not come.
pub const NEVER: i64 = 1 << 62;
/// Cycles ahead that have a set of PEs each; what is farther ahead waits in a heap.
const NEAR: usize = 64;

/// The next cycle of every PE. A PE that is to be looked at sooner than it was stays in the later
/// set, too, where it is passed over.
#[derive(Clone, Debug)]
pub struct Wakes {
    cycles: Vec<i64>,
    now: i64,
    words: usize,
    /// By cycle, remainder of `NEAR`: a bit for each PE; and which of these sets have some.
    near: Vec<u64>,
    some: u64,
    far: BinaryHeap<Reverse<(i64, usize)>>,
}

impl Wakes {
    /// Nothing happens before `now`.
    pub fn new(cycles: Vec<i64>, now: i64) -> Self {
        let words = cycles.len().div_ceil(64);
        let near = vec![0; NEAR * words];
        let far = BinaryHeap::new();
        let mut made = Wakes {
            cycles,
            now,
            words,
            near,
            some: 0,
            far,
        };
        (0..made.cycles.len()).for_each(|pe| made.file(pe));
        made
    }

    pub fn of(&self, pe: usize) -> i64 {
        self.cycles[pe]
    }

    pub fn set(&mut self, pe: usize, cycle: i64) {
        if self.cycles[pe] != cycle {
            self.cycles[pe] = cycle;
            self.file(pe);
        }
    }

    /// Look at a PE in this cycle at the latest.
    pub fn hurry(&mut self, pe: usize, cycle: i64) {
        if cycle < self.cycles[pe] {
            self.set(pe, cycle);
        }
    }

    fn file(&mut self, pe: usize) {
        let cycle = self.cycles[pe];
        if cycle - self.now < NEAR as i64 {
            let slot = cycle as usize % NEAR;
            self.near[slot * self.words + pe / 64] |= 1 << (pe % 64);
            self.some |= 1 << slot;
        } else if cycle < NEVER {
            self.far.push(Reverse((cycle, pe)));
        }
    }

    /// The first cycle from `now` on in which a PE may have to be looked at.
    pub fn first(&self) -> i64 {
        let ahead = self
            .some
            .rotate_right((self.now as usize % NEAR) as u32)
            .trailing_zeros();
        let near = if self.some == 0 {
            NEVER
        } else {
            self.now + i64::from(ahead)
        };
        self.far
            .peek()
            .map_or(near, |Reverse((far, _))| near.min(*far))
    }

    /// Go on to a cycle; nothing happens before.
    pub fn go_to(&mut self, now: i64) {
        self.now = now;
        while self
            .far
            .peek()
            .is_some_and(|Reverse((cycle, _))| *cycle <= now)
        {
            if let Some(Reverse((_, pe))) = self.far.pop() {
                self.file_now(pe);
            }
        }
    }

    fn file_now(&mut self, pe: usize) {
        if self.cycles[pe] == self.now {
            self.file(pe);
        }
    }

    /// The PEs that are to be looked at in this cycle, ascending, 64 of them a word.
    pub fn take(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.near[self.now as usize % NEAR * self.words + word])
    }

    /// How many words `take` has; and all have been taken.
    pub fn words(&mut self) -> usize {
        self.some &= !(1 << (self.now as usize % NEAR));
        self.words
    }

    /// Everything comes so many cycles later.
    pub fn delay(&mut self, cycles: i64) {
        let later = |cycle: &i64| {
            if *cycle < NEVER {
                cycle + cycles
            } else {
                NEVER
            }
        };
        *self = Wakes::new(self.cycles.iter().map(later).collect(), self.now + cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::{Wakes, NEVER};

    fn due(wakes: &mut Wakes) -> (i64, u64) {
        let now = wakes.first();
        wakes.go_to(now);
        wakes.words();
        (now, wakes.take(0))
    }

    #[test]
    fn cycles_come_in_order_near_and_far() {
        let mut wakes = Wakes::new(vec![70, 3, 1000, NEVER], 0);
        assert_eq!(due(&mut wakes), (3, 0b10));
        wakes.set(1, NEVER);
        assert_eq!(due(&mut wakes), (70, 0b1));
        wakes.set(0, 71);
        assert_eq!(due(&mut wakes), (71, 0b1));
        wakes.set(0, 1000);
        assert_eq!(due(&mut wakes), (1000, 0b101));
        assert_eq!(wakes.first(), NEVER);
    }

    #[test]
    fn who_is_hurried_comes_sooner_and_never_later() {
        let mut wakes = Wakes::new(vec![200, 9], 0);
        wakes.hurry(0, 5);
        wakes.hurry(1, 20);
        assert_eq!(due(&mut wakes), (5, 0b1));
        wakes.set(0, NEVER);
        assert_eq!(due(&mut wakes), (9, 0b10));
    }

    #[test]
    fn a_delay_is_the_same_for_all() {
        let mut wakes = Wakes::new(vec![200, 9, NEVER], 4);
        wakes.delay(100);
        assert_eq!(due(&mut wakes), (109, 0b10));
        assert_eq!((wakes.of(0), wakes.of(2)), (300, NEVER));
    }
}
