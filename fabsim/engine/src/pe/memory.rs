//! A PE's data memory: as many words as its program declares.

use crate::fast::prefetch::prefetch;
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::TileProgram;

/// Words of 16 bits; addresses in instructions are byte addresses.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    words: Box<[u16]>,
    /// A bit per word that nobody has written, where reading it is an error.
    unwritten: Option<Box<[u64]>>,
}

/// The words that bytes from an address on lie in, the last one excluded.
pub fn words(address: u64, bytes: u32) -> (i64, i64) {
    let address = (address & 0xffff) as i64;
    (address / 2, (address + i64::from(bytes) + 1) / 2)
}

/// The words that a line touches, the last one excluded.
pub fn reach(word: i32, step: i32, bytes: u8, count: u32) -> (i64, i64) {
    let first = i64::from(word);
    let last = first + i64::from(step) * (i64::from(count) - 1).max(0);
    let width = i64::from(bytes / 2).max(1);
    (first.min(last), first.max(last) + width)
}

/// The word at a byte address; elements of 16 bits and more begin at even ones.
pub fn word_address(address: u64) -> Result<i64, Fault> {
    if address & 1 == 1 {
        return Err(FaultKind::OddAddress(address).into());
    }
    Ok((address / 2) as i64)
}

fn load(word: impl Fn(i64) -> Result<u16, Fault>, address: u64, bytes: u32) -> Result<u64, Fault> {
    if bytes == 1 {
        let word = word((address / 2) as i64)?;
        return Ok(u64::from(word >> (8 * (address & 1)) & 0xff));
    }
    let first = word_address(address)?;
    let mut value = 0;
    for n in 0..i64::from(bytes / 2) {
        value |= u64::from(word(first + n)?) << (16 * n);
    }
    Ok(value)
}

impl Memory {
    /// What the program starts with.
    pub fn new(program: &TileProgram) -> Memory {
        let mut words = vec![0; program.memory_bytes.div_ceil(2) as usize];
        for (address, initial) in &program.memory {
            let from = (*address / 2) as usize;
            let room = words.len().saturating_sub(from).min(initial.len());
            if let Some(place) = words.get_mut(from..from + room) {
                place.copy_from_slice(&initial[..room]);
            }
        }
        Memory {
            words: words.into_boxed_slice(),
            unwritten: None,
        }
    }

    /// From now on, reading a word that has no initial value and was not written is an error.
    pub fn watch_uninitialized(&mut self, program: &TileProgram) {
        let mut unwritten = vec![u64::MAX; self.words.len().div_ceil(64)];
        for (address, initial) in &program.memory {
            let from = (*address / 2) as usize;
            let written = (from..from + initial.len()).filter(|word| *word < self.words.len());
            written.for_each(|word| unwritten[word / 64] &= !(1 << (word % 64)));
        }
        self.unwritten = Some(unwritten.into_boxed_slice());
    }

    /// Whether reading what nobody has written is an error.
    pub fn is_watched(&self) -> bool {
        self.unwritten.is_some()
    }

    /// Whether `count` elements at words `word`, `word + step`, ... are all inside.
    pub fn holds_line(&self, word: i32, step: i32, bytes: u8, count: u32) -> bool {
        let first = i64::from(word);
        let last = first + i64::from(step) * (i64::from(count) - 1).max(0);
        let end = self.words.len() as i64 - i64::from(bytes / 2).max(1);
        first.min(last) >= 0 && first.max(last) <= end
    }

    /// Whether words are all inside, the last one excluded.
    pub fn holds(&self, from: i64, to: i64) -> bool {
        from >= 0 && to <= self.words.len() as i64
    }

    /// Elements of a line that `holds_line`.
    pub fn read_line(&self, word: i64, step: i64, bytes: u8, into: &mut [u32]) {
        let mut at = word;
        for value in into {
            *value = self.element(at, bytes).unwrap_or_default();
            at += step;
        }
    }

    /// `N` words from one on, if there are so many.
    #[inline]
    pub fn row<const N: usize>(&self, word: usize) -> Option<&[u16; N]> {
        self.words.get(word..)?.first_chunk()
    }

    /// The same, to be written.
    #[inline]
    pub fn row_mut<const N: usize>(&mut self, word: usize) -> Option<&mut [u16; N]> {
        self.words.get_mut(word..)?.first_chunk_mut()
    }

    /// Two neighbouring words that are inside, the first one in the low half; nobody watches what is read.
    #[inline]
    pub fn pair(&self, word: i32) -> u32 {
        let pair = self.row::<2>(word as usize);
        pair.map_or(0, |&[low, high]| u32::from(low) | u32::from(high) << 16)
    }

    /// Writes two such words.
    #[inline]
    pub fn set_pair(&mut self, word: i32, value: u32) {
        if let Some(pair) = self.row_mut::<2>(word as usize) {
            *pair = [value as u16, (value >> 16) as u16];
        }
    }

    /// Words of a line of words that `holds_line`.
    pub fn read_words(&self, word: usize, step: i32, into: &mut [u16]) {
        if step == 1 {
            into.copy_from_slice(&self.words[word..word + into.len()]);
            return;
        }
        let mut at = word as i64;
        for value in into {
            *value = self.words[at as usize];
            at += i64::from(step);
        }
    }

    /// Writes words to a line of words that `holds_line`, one after the other; nobody watches what is read.
    pub fn write_words(&mut self, word: usize, step: i32, from: &[u16]) {
        if step == 1 {
            self.words[word..word + from.len()].copy_from_slice(from);
            return;
        }
        let mut at = word;
        for value in from {
            self.words[at] = *value;
            at = at.wrapping_add_signed(step as isize);
        }
    }

    /// Writes elements to a line that `holds_line`, one after the other; nobody watches what is read.
    pub fn write_line(&mut self, word: i64, step: i64, bytes: u8, values: &[u32]) {
        let mut at = word as usize;
        for value in values {
            self.words[at] = *value as u16;
            if bytes == 4 {
                self.words[at + 1] = (*value >> 16) as u16;
            }
            at = at.wrapping_add_signed(step as isize);
        }
    }

    fn is_unwritten(&self, word: usize) -> bool {
        let bits = self.unwritten.as_ref();
        bits.is_some_and(|bits| bits[word / 64] >> (word % 64) & 1 == 1)
    }

    fn mark(&mut self, word: usize, unwritten: bool) {
        if let Some(bits) = &mut self.unwritten {
            let bit = 1 << (word % 64);
            let place = &mut bits[word / 64];
            *place = if unwritten {
                *place | bit
            } else {
                *place & !bit
            };
        }
    }

    /// Copies of what nobody has written are as good as the original.
    fn copy_marks(&mut self, to: usize, from: usize, count: usize) {
        if self.unwritten.is_some() {
            let marks: Vec<bool> = (from..from + count).map(|n| self.is_unwritten(n)).collect();
            for (n, unwritten) in marks.into_iter().enumerate() {
                self.mark(to + n, unwritten);
            }
        }
    }

    fn uninitialized(&self, word: usize) -> Fault {
        FaultKind::Uninitialized(word as u64 * 2).into()
    }

    /// Prefetches a word, if there is one.
    #[inline]
    pub fn prefetch(&self, word: i64) {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        self.words.get(at).into_iter().for_each(prefetch);
    }

    /// How many words there are.
    pub fn len_words(&self) -> usize {
        self.words.len()
    }

    #[cold]
    fn outside(&self, word: i64) -> Fault {
        FaultKind::OutsideMemory {
            address: word * 2,
            bytes: self.words.len() * 2,
        }
        .into()
    }

    /// A word, or the fault of reading it.
    #[inline]
    pub fn word(&self, word: i64) -> Result<u16, Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        match self.words.get(at) {
            Some(_) if self.unwritten.is_some() && self.is_unwritten(at) => {
                Err(self.uninitialized(at))
            }
            Some(word) => Ok(*word),
            None => Err(self.outside(word)),
        }
    }

    /// Writes a word, or the fault of writing it.
    #[inline]
    pub fn set_word(&mut self, word: i64, value: u16) -> Result<(), Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        match self.words.get_mut(at) {
            Some(place) => {
                *place = value;
                if self.unwritten.is_some() {
                    self.mark(at, false);
                }
                Ok(())
            }
            None => Err(self.outside(word)),
        }
    }

    /// A little-endian value of 2 or 4 bytes at a word address.
    #[inline]
    pub fn element(&self, word: i64, bytes: u8) -> Result<u32, Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        if bytes != 4 {
            return self.word(word).map(u32::from);
        }
        if self.unwritten.is_some() {
            return self.load_pair(word);
        }
        match self.words.get(at..at.saturating_add(2)) {
            Some(&[low, high]) => Ok(u32::from(low) | u32::from(high) << 16),
            _ => Err(self.outside(if at < self.words.len() {
                word + 1
            } else {
                word
            })),
        }
    }

    #[cold]
    fn load_pair(&self, word: i64) -> Result<u32, Fault> {
        Ok(u32::from(self.word(word)?) | u32::from(self.word(word + 1)?) << 16)
    }

    /// Writes a value of 2 or 4 bytes at a word address.
    #[inline]
    pub fn set_element(&mut self, word: i64, bytes: u8, value: u32) -> Result<(), Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        if bytes != 4 {
            return self.set_word(word, value as u16);
        }
        if self.unwritten.is_some() {
            self.set_word(word, value as u16)?;
            return self.set_word(word + 1, (value >> 16) as u16);
        }
        match self.words.get_mut(at..at.saturating_add(2)) {
            Some(place) => {
                place.copy_from_slice(&[value as u16, (value >> 16) as u16]);
                Ok(())
            }
            None if word == -1 => Err(self.outside(word)),
            None => Err(self.outside(word + 1)),
        }
    }

    /// A little-endian value of 1, 2, 4 or 8 bytes at a byte address.
    pub fn load(&self, address: u64, bytes: u32) -> Result<u64, Fault> {
        if bytes == 8 && address & 1 == 0 && self.unwritten.is_none() {
            if let Some(words) = self.row::<4>((address / 2) as usize) {
                let shifted = |n: usize| u64::from(words[n]) << (16 * n);
                return Ok(shifted(0) | shifted(1) | shifted(2) | shifted(3));
            }
        }
        load(|word| self.word(word), address, bytes)
    }

    /// `load` for those who may look at what nobody has written: the host.
    pub fn peek(&self, address: u64, bytes: u32) -> Result<u64, Fault> {
        load(|word| self.peek_word(word), address, bytes)
    }

    fn peek_word(&self, word: i64) -> Result<u16, Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        let known = self.words.get(at).copied();
        known.ok_or_else(|| self.outside(word))
    }

    /// Writes a little-endian value at a byte address.
    pub fn store(&mut self, address: u64, bytes: u32, value: u64) -> Result<(), Fault> {
        if bytes == 1 {
            let word = (address / 2) as i64;
            let shift = 8 * (address & 1);
            let old = self.peek_word(word)? & !(0xff << shift);
            return self.set_word(word, old | ((value as u16 & 0xff) << shift));
        }
        let word = word_address(address)?;
        for n in 0..i64::from(bytes / 2) {
            self.set_word(word + n, (value >> (16 * n)) as u16)?;
        }
        Ok(())
    }

    /// Copies as if through a buffer.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u32) -> Result<(), Fault> {
        if (to | from | u64::from(bytes)) & 1 == 0 {
            let (to, from, n) = (to as usize / 2, from as usize / 2, bytes as usize / 2);
            if to.max(from) + n > self.words.len() {
                return Err(self.outside((to.max(from) + n) as i64));
            }
            self.words.copy_within(from..from + n, to);
            self.copy_marks(to, from, n);
            return Ok(());
        }
        let values: Result<Vec<u64>, Fault> = (0..u64::from(bytes))
            .map(|n| self.peek(from + n, 1))
            .collect();
        for (n, value) in values?.into_iter().enumerate() {
            self.store(to + n as u64, 1, value)?;
        }
        Ok(())
    }
}
