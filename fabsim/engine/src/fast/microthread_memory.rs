//! The memory that microthreads use, which a main thread that runs ahead of them leaves alone.

use crate::pe::memory::reach;
use crate::pe::operation::Running;
use crate::pe::port::Port;

/// Words that a microthread reads or writes, the last one excluded.
#[derive(Clone, Copy, Debug)]
struct Words {
    from: i64,
    to: i64,
    written: bool,
}

/// All that microthreads use.
#[derive(Clone, Debug, Default)]
pub struct MicrothreadMemory(Vec<Words>);

impl MicrothreadMemory {
    /// Nothing is used.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What a microthread uses; false if that is not known before.
    pub fn add(&mut self, running: &Running) -> bool {
        if running.saves.iter().any(Option::is_some) {
            return false;
        }
        let sources = &running.sources[..usize::from(running.source_count)];
        let read = sources
            .iter()
            .all(|port| self.add_port(port, running, false));
        read && self.add_port(&running.dest, running, true)
    }

    fn add_port(&mut self, port: &Port, running: &Running, written: bool) -> bool {
        match *port {
            Port::Scalar { .. } | Port::Input { .. } | Port::Output(_) => true,
            Port::Line { word, step, bytes } if !running.is_infinite() => {
                let (from, to) = reach(word, step, bytes, running.remaining);
                self.0.push(Words { from, to, written });
                true
            }
            _ => false,
        }
    }

    /// Whether another operation may read and write its operands now.
    pub fn allows(&self, running: &Running) -> bool {
        let sources = &running.sources[..usize::from(running.source_count)];
        let clear = |port: &Port, writes: bool| match *port {
            Port::Line { word, step, bytes } => {
                let (from, to) = reach(word, step, bytes, running.remaining);
                self.is_clear(from, to, writes)
            }
            _ => true,
        };
        sources.iter().all(|port| clear(port, false)) && clear(&running.dest, true)
    }

    /// Whether words, the last one excluded, may be read, or written.
    pub fn is_clear(&self, from: i64, to: i64, writes: bool) -> bool {
        let mut used = self.0.iter();
        !used.any(|used| (writes || used.written) && from < used.to && used.from < to)
    }
}
