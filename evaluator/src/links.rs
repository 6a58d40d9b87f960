//! Links that the ways of several PEs have in common: a link carries one element a cycle.

use std::collections::VecDeque;

/// The cycles in which links are taken, from the present one on.
#[derive(Clone, Debug, Default)]
pub struct Links {
    taken: Vec<Calendar>,
}

#[derive(Clone, Debug, Default)]
struct Calendar {
    first: i64,
    taken: VecDeque<bool>,
}

impl Links {
    /// Cycles by which an element that is sent now is delayed. It uses the `links` of its way one
    /// after the other, each so many cycles later, or as soon after that as the link is free.
    pub fn delay(&mut self, links: &[(usize, i64)], now: i64) -> i64 {
        let mut waited = 0;
        for &(link, later) in links {
            if link >= self.taken.len() {
                self.taken.resize_with(link + 1, Calendar::default);
            }
            let due = now + later;
            waited = self.taken[link].take(now, due + waited) - due;
        }
        waited
    }
}

impl Calendar {
    /// Take the first free cycle from `cycle` on; nobody asks for one before `now` any more.
    fn take(&mut self, now: i64, cycle: i64) -> i64 {
        while self.first < now && self.taken.pop_front().is_some() {
            self.first += 1;
        }
        if self.taken.is_empty() {
            self.first = now;
        }
        let mut at = (cycle - self.first) as usize;
        while at < self.taken.len() && self.taken[at] {
            at += 1;
        }
        if at >= self.taken.len() {
            self.taken.resize(at + 1, false);
        }
        self.taken[at] = true;
        self.first + at as i64
    }
}

#[cfg(test)]
mod tests {
    use super::Links;

    #[test]
    fn an_element_waits_until_the_link_is_free() {
        let mut links = Links::default();
        assert_eq!(links.delay(&[(0, 3)], 10), 0);
        assert_eq!(links.delay(&[(0, 3)], 10), 1);
        assert_eq!(links.delay(&[(0, 1)], 12), 2);
    }

    #[test]
    fn what_waits_at_one_link_comes_later_to_the_next() {
        let mut links = Links::default();
        links.delay(&[(0, 0)], 5);
        assert_eq!(links.delay(&[(1, 1)], 5), 0);
        assert_eq!(links.delay(&[(0, 0), (1, 1)], 5), 1);
        assert_eq!(links.delay(&[(1, 0)], 6), 2);
    }

    #[test]
    fn other_links_and_other_cycles_do_not_matter() {
        let mut links = Links::default();
        links.delay(&[(0, 0)], 5);
        assert_eq!(links.delay(&[(1, 0)], 5), 0);
        assert_eq!(links.delay(&[(0, 0)], 6), 0);
        assert_eq!(links.delay(&[(0, 0)], 100), 0);
    }
}
