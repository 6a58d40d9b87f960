//! A PE's data memory: as many words as its program declares.

use crate::program::TileProgram;
use crate::report::Fault;

/// Words of 16 bits; addresses in instructions are byte addresses.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    words: Box<[u16]>,
}

/// The word at a byte address; elements of 16 bits and more begin at even ones.
pub fn word_address(address: u64) -> Result<i64, Fault> {
    if address & 1 == 1 {
        let text = format!("address {address} is odd; memory is made of 16-bit words");
        return Err(Fault::new(text));
    }
    Ok((address / 2) as i64)
}

impl Memory {
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
        }
    }

    pub fn len_words(&self) -> usize {
        self.words.len()
    }

    #[cold]
    fn outside(&self, word: i64) -> Fault {
        Fault::new(format!(
            "address {} is outside the {} bytes of memory the program declares",
            word * 2,
            self.words.len() * 2
        ))
    }

    #[inline]
    pub fn word(&self, word: i64) -> Result<u16, Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        self.words
            .get(at)
            .copied()
            .ok_or_else(|| self.outside(word))
    }

    #[inline]
    pub fn set_word(&mut self, word: i64, value: u16) -> Result<(), Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        match self.words.get_mut(at) {
            Some(place) => {
                *place = value;
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
        match self.words.get(at..at.saturating_add(2)) {
            Some(&[low, high]) => Ok(u32::from(low) | u32::from(high) << 16),
            _ => Err(self.outside(if at < self.words.len() {
                word + 1
            } else {
                word
            })),
        }
    }

    #[inline]
    pub fn set_element(&mut self, word: i64, bytes: u8, value: u32) -> Result<(), Fault> {
        let at = usize::try_from(word).unwrap_or(usize::MAX);
        if bytes != 4 {
            return self.set_word(word, value as u16);
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
        if bytes == 1 {
            let word = self.word((address / 2) as i64)?;
            return Ok(u64::from(word >> (8 * (address & 1)) & 0xff));
        }
        let word = word_address(address)?;
        let mut value = 0;
        for n in 0..i64::from(bytes / 2) {
            value |= u64::from(self.word(word + n)?) << (16 * n);
        }
        Ok(value)
    }

    pub fn store(&mut self, address: u64, bytes: u32, value: u64) -> Result<(), Fault> {
        if bytes == 1 {
            let word = (address / 2) as i64;
            let shift = 8 * (address & 1);
            let old = self.word(word)? & !(0xff << shift);
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
            return Ok(());
        }
        let values: Result<Vec<u64>, Fault> = (0..u64::from(bytes))
            .map(|n| self.load(from + n, 1))
            .collect();
        for (n, value) in values?.into_iter().enumerate() {
            self.store(to + n as u64, 1, value)?;
        }
        Ok(())
    }
}
