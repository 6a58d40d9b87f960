//! From everything that happens to what a trace shows: a region and a window.

use super::event::{Event, Record};
use super::options::Scope;
use crate::fabric::grid::{Grid, PeIndex};
use std::collections::BTreeMap;

/// Passes on the records of a scope. The states in force when the window begins are passed on as if
/// they began with it.
#[derive(Debug)]
pub struct Filter {
    scope: Scope,
    grid: Grid,
    /// Before the window: what each compute element did last, and since when.
    states: BTreeMap<u32, (u64, Vec<Event>)>,
    /// Before the window: colors of the output queues that are held.
    held: BTreeMap<(u32, u8), u8>,
    begun: bool,
}

impl Filter {
    pub fn new(scope: Scope, grid: Grid) -> Filter {
        Filter {
            scope,
            grid,
            states: BTreeMap::new(),
            held: BTreeMap::new(),
            begun: false,
        }
    }

    /// Hands on what is to be seen of a record; records come in the order of their cycles.
    pub fn record<E>(
        &mut self,
        record: &Record,
        pass: &mut impl FnMut(&Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let (first, last) = self.scope.window.unwrap_or((0, u64::MAX));
        if record.cycle >= first && !std::mem::replace(&mut self.begun, true) {
            self.begin(first, pass)?;
        }
        let (x, y) = self.grid.place(PeIndex(record.pe));
        let in_region = self.scope.region.map_or(true, |region| region.has(x, y));
        if !in_region || record.cycle > last {
            return Ok(());
        }
        if record.cycle < first {
            self.remember(record);
            return Ok(());
        }
        pass(record)
    }

    /// No more records come. Where nothing happened in the window, what went on before went on in it.
    pub fn finish<E>(&mut self, pass: &mut impl FnMut(&Record) -> Result<(), E>) -> Result<(), E> {
        let (first, _) = self.scope.window.unwrap_or((0, u64::MAX));
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        self.begin(first, pass)
    }

    fn remember(&mut self, record: &Record) {
        match record.event {
            Event::Held { queue, color } => {
                self.held.insert((record.pe, queue), color);
            }
            Event::Freed { queue, .. } => {
                self.held.remove(&(record.pe, queue));
            }
            event if event.is_state() => {
                let (since, state) = self.states.entry(record.pe).or_default();
                if *since != record.cycle {
                    state.clear();
                }
                *since = record.cycle;
                state.push(event);
            }
            _ => {}
        }
    }

    fn begin<E>(
        &mut self,
        cycle: u64,
        pass: &mut impl FnMut(&Record) -> Result<(), E>,
    ) -> Result<(), E> {
        for (pe, (_, state)) in std::mem::take(&mut self.states) {
            for event in state {
                pass(&Record { cycle, pe, event })?;
            }
        }
        for ((pe, queue), color) in std::mem::take(&mut self.held) {
            let event = Event::Held { queue, color };
            pass(&Record { cycle, pe, event })?;
        }
        Ok(())
    }
}
