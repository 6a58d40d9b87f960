//! Copies between the host and exported pointers.

use super::Simulator;
use fabsim_engine::fabric::grid::{Grid, PeIndex};
use fabsim_engine::report::{CopyFault, HostFault, SimError};
use fabsim_program::program::SymbolKind;

/// The PEs a copy touches, in coordinates of the program, and how much of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    /// The first column.
    pub x: u16,
    /// The first row.
    pub y: u16,
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
    /// Elements per PE.
    pub per_pe: usize,
}

/// No PE has more elements than this; larger counts are mistakes, and must not be allocated.
const ELEMENTS_PER_PE: usize = 1 << 15;

impl Area {
    pub(super) fn len(&self) -> usize {
        usize::from(self.width) * usize::from(self.height) * self.per_pe
    }

    /// Refuses what cannot be an area of the rectangle.
    pub(super) fn check(
        &self,
        direction: &'static str,
        symbol: &str,
        grid: Grid,
    ) -> Result<(), SimError> {
        let fits = |from: u16, count: u16, size: u32| u32::from(from) + u32::from(count) <= size;
        if !fits(self.x, self.width, grid.width) || !fits(self.y, self.height, grid.height) {
            let symbol = symbol.into();
            return Err(HostFault::CopyOutside { symbol, direction }.into());
        }
        if self.per_pe > ELEMENTS_PER_PE {
            let (symbol, per_pe) = (symbol.into(), self.per_pe);
            return Err(HostFault::CopyTooLong { symbol, per_pe }.into());
        }
        Ok(())
    }

    /// Where element `i` of the PE at (x, y) of the area is in the host's array. Row-major: the
    /// elements of one PE lie together. Column-major: y runs fastest, then x.
    pub(super) fn index(&self, x: usize, y: usize, i: usize, col_major: bool) -> usize {
        let (width, height) = (usize::from(self.width), usize::from(self.height));
        if col_major {
            (i * width + x) * height + y
        } else {
            (y * width + x) * self.per_pe + i
        }
    }
}

/// How elements lie in the host's array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyFormat {
    /// An element is the low half of a word.
    pub is16: bool,
    /// Elements come by columns of PEs, not by rows.
    pub col_major: bool,
}

impl Simulator {
    /// Copies from the host; the arguments are those of `copy_in`, one by one.
    #[allow(clippy::too_many_arguments)] // the host's call has as many
    pub fn memcpy_h2d(
        &mut self,
        symbol: &str,
        x: u16,
        y: u16,
        width: u16,
        height: u16,
        per_pe: usize,
        data: &[u32],
        is16: bool,
        col_major: bool,
    ) -> Result<(), SimError> {
        let area = Area {
            x,
            y,
            width,
            height,
            per_pe,
        };
        self.copy_in(symbol, area, data, CopyFormat { is16, col_major })
    }

    /// Copies to the host; the arguments are those of `copy_out`, one by one.
    #[allow(clippy::too_many_arguments)] // the host's call has as many
    pub fn memcpy_d2h(
        &mut self,
        symbol: &str,
        x: u16,
        y: u16,
        width: u16,
        height: u16,
        per_pe: usize,
        is16: bool,
        col_major: bool,
    ) -> Result<Vec<u32>, SimError> {
        let area = Area {
            x,
            y,
            width,
            height,
            per_pe,
        };
        self.copy_out(symbol, area, CopyFormat { is16, col_major })
    }

    /// Copies `data` to where an exported pointer points on every PE of the area.
    pub fn copy_in(
        &mut self,
        symbol: &str,
        area: Area,
        data: &[u32],
        format: CopyFormat,
    ) -> Result<(), SimError> {
        area.check("h2d", symbol, self.machine.fabric.grid)?;
        if data.len() > area.len() {
            self.warn_of_elements_left_over(symbol, &area, data.len());
        }
        if data.len() < area.len() {
            return Err(HostFault::CopyElements {
                symbol: symbol.into(),
                elements: data.len(),
                size: (area.width, area.height),
                per_pe: area.per_pe,
            }
            .into());
        }
        self.wait_for_host()?;
        let bytes = if format.is16 { 2u32 } else { 4 };
        self.for_each_pe(symbol, area, |simulator, pe, start, (x, y)| {
            let memory = &mut simulator.machine.pes[pe.index()].core.memory;
            for i in 0..area.per_pe {
                let value = data[area.index(x, y, i, format.col_major)];
                let address = start + (i as u64) * u64::from(bytes);
                memory.store(address, bytes, u64::from(value))?;
            }
            Ok(())
        })
    }

    /// A published program copies from an array that has more than the area takes.
    fn warn_of_elements_left_over(&mut self, symbol: &str, area: &Area, elements: usize) {
        let (taken, left) = (area.len(), elements - area.len());
        let text = format!(
            "memcpy_h2d of {symbol:?}: {elements} elements for {} x {} PEs of {} each: the first {taken} are copied, {left} are left over",
            area.width, area.height, area.per_pe
        );
        let warnings = &mut self.machine.warnings;
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// Copies from where an exported pointer points on every PE of the area.
    pub fn copy_out(
        &mut self,
        symbol: &str,
        area: Area,
        format: CopyFormat,
    ) -> Result<Vec<u32>, SimError> {
        area.check("d2h", symbol, self.machine.fabric.grid)?;
        self.wait_for_host()?;
        let mut data = vec![0; area.len()];
        let bytes = if format.is16 { 2u32 } else { 4 };
        self.for_each_pe(symbol, area, |simulator, pe, start, (x, y)| {
            let memory = &simulator.machine.pes[pe.index()].core.memory;
            for i in 0..area.per_pe {
                let address = start + (i as u64) * u64::from(bytes);
                let value = memory.peek(address, bytes)?;
                data[area.index(x, y, i, format.col_major)] = value as u32;
            }
            Ok(())
        })?;
        Ok(data)
    }

    /// Calls `visit` with each PE of the area, the address its pointer holds now, and its place.
    fn for_each_pe(
        &mut self,
        symbol: &str,
        area: Area,
        mut visit: impl FnMut(&mut Simulator, PeIndex, u64, (usize, usize)) -> Result<(), CopyFault>,
    ) -> Result<(), SimError> {
        let grid = self.machine.fabric.grid;
        for y in 0..area.height {
            for x in 0..area.width {
                let pe = grid.at(u32::from(area.x + x), u32::from(area.y + y));
                let place = (usize::from(x), usize::from(y));
                let done = self
                    .pointer(pe, symbol)
                    .and_then(|start| visit(self, pe, start, place));
                done.map_err(|fault| {
                    let symbol = symbol.into();
                    SimError::from(HostFault::Copy { symbol, fault }).on(grid.place(pe))
                })?;
            }
        }
        Ok(())
    }

    fn pointer(&self, pe: PeIndex, symbol: &str) -> Result<u64, CopyFault> {
        let state = &self.machine.pes[pe.index()];
        let program = &self.machine.plans[state.plan as usize].program;
        let known = program.symbols.iter().find(|known| known.name == symbol);
        match known.map(|known| &known.kind) {
            Some(SymbolKind::Pointer { pointer, .. }) => {
                let address = state.core.memory.peek(u64::from(*pointer), 2);
                address.map_err(CopyFault::from)
            }
            Some(SymbolKind::Function(_)) => Err(CopyFault::IsFunction),
            None => Err(CopyFault::NoSymbol),
        }
    }
}
