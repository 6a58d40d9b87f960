//! Sets of tiles, for those that have something to do.

use super::grid::PeIndex;

const BITS: usize = 64;

/// A set of tiles, walked in the order of their numbers. A tile that is not in it costs nothing: a
/// summary tells which words of the bitmap to look at.
#[derive(Clone, Debug, Default)]
pub struct TileSet {
    first: u32,
    words: Vec<u64>,
    /// Bit per word that may have bits; those of words that ran empty are cleared by `list`.
    summary: Vec<u64>,
}

impl TileSet {
    /// An empty set for `count` tiles from `first` on.
    pub fn new(first: PeIndex, count: usize) -> TileSet {
        let words = count.div_ceil(BITS);
        TileSet {
            first: first.0,
            words: vec![0; words],
            summary: vec![0; words.div_ceil(BITS)],
        }
    }

    #[inline]
    fn place(&self, tile: PeIndex) -> (usize, usize) {
        let at = (tile.0 - self.first) as usize;
        (at / BITS, at % BITS)
    }

    /// Adds a tile.
    #[inline]
    pub fn insert(&mut self, tile: PeIndex) {
        let (word, bit) = self.place(tile);
        self.words[word] |= 1 << bit;
        self.summary[word / BITS] |= 1 << (word % BITS);
    }

    /// Inserts or removes a tile.
    #[inline]
    pub fn put(&mut self, tile: PeIndex, is_in: bool) {
        if is_in {
            self.insert(tile);
        } else {
            self.remove(tile);
        }
    }

    /// Takes a tile out.
    #[inline]
    pub fn remove(&mut self, tile: PeIndex) {
        let (word, bit) = self.place(tile);
        self.words[word] &= !(1 << bit);
    }

    /// Whether a tile is in the set.
    #[inline]
    pub fn contains(&self, tile: PeIndex) -> bool {
        let (word, bit) = self.place(tile);
        self.words[word] >> bit & 1 == 1
    }

    /// Whether no tile is in the set.
    pub fn is_empty(&self) -> bool {
        let mut noted = Ones::over(&self.summary);
        noted.all(|word| self.words[word] == 0)
    }

    /// How many tiles are in the set.
    pub fn len(&self) -> usize {
        let noted = Ones::over(&self.summary);
        noted.map(|n| self.words[n].count_ones() as usize).sum()
    }

    /// Moves all tiles into another set of the same range.
    pub fn pour_into(&mut self, other: &mut TileSet) {
        for at in 0..self.summary.len() {
            let mut noted = std::mem::take(&mut self.summary[at]);
            other.summary[at] |= noted;
            while noted != 0 {
                let word = at * BITS + noted.trailing_zeros() as usize;
                noted &= noted - 1;
                other.words[word] |= std::mem::take(&mut self.words[word]);
            }
        }
    }

    /// Appends the tiles that are in this set or in `other`, in ascending order.
    pub fn list_with(&mut self, other: &mut TileSet, found: &mut Vec<PeIndex>) {
        for at in 0..self.summary.len() {
            let mut noted = self.summary[at] | other.summary[at];
            while noted != 0 {
                let word = at * BITS + noted.trailing_zeros() as usize;
                noted &= noted - 1;
                self.forget_if_empty(word);
                other.forget_if_empty(word);
                let mut bits = self.words[word] | other.words[word];
                while bits != 0 {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    found.push(PeIndex(self.first + (word * BITS + bit) as u32));
                }
            }
        }
    }

    fn forget_if_empty(&mut self, word: usize) {
        if self.words[word] == 0 {
            self.summary[word / BITS] &= !(1 << (word % BITS));
        }
    }
}

/// The places of the one bits of a bitmap.
struct Ones<'a> {
    words: std::iter::Enumerate<std::slice::Iter<'a, u64>>,
    base: usize,
    bits: u64,
}

impl Ones<'_> {
    fn over(words: &[u64]) -> Ones<'_> {
        Ones {
            words: words.iter().enumerate(),
            base: 0,
            bits: 0,
        }
    }
}

impl Iterator for Ones<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            let (n, &bits) = self.words.next()?;
            (self.base, self.bits) = (n * BITS, bits);
        }
        let bit = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(self.base + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_is_listed_in_order_and_once() {
        let (mut a, mut b) = (
            TileSet::new(PeIndex(2), 10_000),
            TileSet::new(PeIndex(2), 10_000),
        );
        for n in [9_999, 3, 64, 5_000] {
            a.insert(PeIndex(n));
        }
        for n in [3, 4, 5_000, 8_191] {
            b.insert(PeIndex(n));
        }
        a.remove(PeIndex(64));
        let mut found = Vec::new();
        a.list_with(&mut b, &mut found);
        let numbers: Vec<u32> = found.iter().map(|tile| tile.0).collect();
        assert_eq!(numbers, [3, 4, 5_000, 8_191, 9_999]);
        assert_eq!((a.len(), b.len()), (3, 4));
        assert!(a.contains(PeIndex(3)) && !a.contains(PeIndex(64)));
    }

    #[test]
    fn a_set_that_lost_its_last_tile_is_empty() {
        let mut set = TileSet::new(PeIndex(0), 100);
        assert!(set.is_empty());
        set.insert(PeIndex(99));
        assert!(!set.is_empty());
        set.remove(PeIndex(99));
        assert!(set.is_empty());
    }
}
