//! Ports: wavelets between the host and single PEs, in any number of transfers at once.
//!
//! A port is a color of a PE that no router feeds, into which the host puts wavelets, or one that leads nowhere,
//! from which it takes them: one a cycle [guess]. Transfers of one port follow each other; those of different
//! ports go on side by side whenever the machine runs for any of them.

use super::{Progress, Simulator};
use fabsim_engine::fabric::grid::PeIndex;
use fabsim_engine::report::{During, HostFault, SimError, Transfer as Unfinished};
use fabsim_program::limits::COLORS;
use std::collections::VecDeque;

/// The longest stretch of cycles for which the host looks away between two looks at a transfer. [guess]
const CYCLES_BETWEEN_LOOKS: u64 = 1_000;

/// How many transfers a message lists.
const LISTED: usize = 8;

/// The number of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferId(pub usize);

/// Wavelets through a port: those to be sent, or those received so far.
struct Transfer {
    words: Vec<u32>,
    total: usize,
    done: usize,
}

impl Transfer {
    fn is_done(&self) -> bool {
        self.done == self.total
    }
}

/// A port, and the transfers that wait for it, the one under way first.
struct Port {
    pe: PeIndex,
    color: u8,
    receives: bool,
    waiting: VecDeque<usize>,
}

/// All transfers of a run, and the ports they use.
#[derive(Default)]
pub(super) struct Transfers {
    all: Vec<Transfer>,
    ports: Vec<Port>,
    /// The cycle in which ports have had their turn last.
    moved_in: Option<u64>,
}

impl Simulator {
    /// Begins to send wavelets into a color of PE (x, y).
    pub fn begin_send(
        &mut self,
        x: u32,
        y: u32,
        color: u8,
        words: Vec<u32>,
    ) -> Result<TransferId, SimError> {
        let total = words.len();
        self.begin((x, y), color, words, total, false)
    }

    /// Begins to receive `count` wavelets from a color of PE (x, y).
    pub fn begin_receive(
        &mut self,
        x: u32,
        y: u32,
        color: u8,
        count: usize,
    ) -> Result<TransferId, SimError> {
        self.begin((x, y), color, Vec::new(), count, true)
    }

    fn begin(
        &mut self,
        (x, y): (u32, u32),
        color: u8,
        words: Vec<u32>,
        total: usize,
        receives: bool,
    ) -> Result<TransferId, SimError> {
        let fabric = &self.machine.fabric;
        let grid = fabric.grid;
        let inside = x < grid.width && y < grid.height && usize::from(color) < COLORS;
        let is_port = inside
            && match receives {
                true => fabric.leads_to_host(grid.at(x, y), color),
                false => fabric.comes_from_host(grid.at(x, y), color),
            };
        if !is_port {
            let pe = (x, y);
            let fault = HostFault::NoPort { receives };
            return Err(SimError::from(fault).on(pe).of_color(Some(color)));
        }
        let id = self.transfers.all.len();
        let done = 0;
        self.transfers.all.push(Transfer { words, total, done });
        if total > 0 {
            let port = self.port(grid.at(x, y), color, receives);
            port.waiting.push_back(id);
        }
        Ok(TransferId(id))
    }

    fn port(&mut self, pe: PeIndex, color: u8, receives: bool) -> &mut Port {
        let ports = &mut self.transfers.ports;
        let known = ports.iter().position(|p| (p.pe, p.color) == (pe, color));
        let at = known.unwrap_or(ports.len());
        if known.is_none() {
            ports.push(Port {
                pe,
                color,
                receives,
                waiting: VecDeque::new(),
            });
        }
        &mut ports[at]
    }

    /// Runs until a transfer is done; what it has received, which is given out once.
    pub fn finish_transfer(
        &mut self,
        id: TransferId,
        progress: Progress,
    ) -> Result<Vec<u32>, SimError> {
        let last = self.machine.cycle.saturating_add(self.options.max_cycles);
        if !self.run_transfers(id, last, progress)? {
            self.failed = true;
            return Err(match self.machine.is_quiet() {
                true => self.stuck_transfers(),
                false => self.cycle_limit(None),
            });
        }
        let transfer = self.transfers.all.get_mut(id.0);
        Ok(transfer.map_or_else(Vec::new, |done| std::mem::take(&mut done.words)))
    }

    /// Whether a transfer is done.
    pub fn is_transfer_done(&self, id: TransferId) -> Result<bool, SimError> {
        Ok(self.transfer(id)?.is_done())
    }

    /// Whether a transfer is done, after some more time.
    pub fn poll_transfer(&mut self, id: TransferId, progress: Progress) -> Result<bool, SimError> {
        let last = self.machine.cycle.saturating_add(CYCLES_BETWEEN_LOOKS);
        self.run_transfers(id, last, progress)
    }

    fn transfer(&self, id: TransferId) -> Result<&Transfer, SimError> {
        let known = self.transfers.all.get(id.0);
        known.ok_or_else(|| HostFault::NoTransfer(id.0).into())
    }

    /// Runs until a transfer is done, nothing moves any more, or the cycle `last`.
    fn run_transfers(
        &mut self,
        id: TransferId,
        last: u64,
        progress: Progress,
    ) -> Result<bool, SimError> {
        self.settle(progress)?;
        if self.transfer(id)?.is_done() {
            return Ok(true);
        }
        if self.transfers.moved_in == Some(self.machine.cycle) {
            self.pass_a_cycle(progress)?;
        }
        loop {
            self.transfers.moved_in = Some(self.machine.cycle);
            self.move_transfers();
            if self.transfer(id)?.is_done() {
                return Ok(true);
            }
            if self.machine.is_quiet() || self.machine.cycle >= last {
                return Ok(false);
            }
            if !progress(self.machine.cycle) {
                self.failed = true;
                return Err(SimError::interrupted(self.machine.cycle));
            }
            self.pass_a_cycle(progress)?;
        }
    }

    /// Lets at least one cycle go by.
    fn pass_a_cycle(&mut self, progress: Progress) -> Result<(), SimError> {
        let next = self.machine.cycle + 1;
        self.run(progress, |machine| machine.cycle >= next)?;
        self.machine.cycle = self.machine.cycle.max(next);
        Ok(())
    }

    /// Moves one wavelet of every port that can take or give one.
    fn move_transfers(&mut self) {
        let Transfers { all, ports, .. } = &mut self.transfers;
        let fabric = &mut self.machine.fabric;
        for port in ports {
            let Some(transfer) = port.waiting.front().map(|&n| &mut all[n]) else {
                continue;
            };
            let (pe, color) = (port.pe, port.color);
            if port.receives {
                if let Some(word) = fabric.take_data_for_host(pe, color) {
                    transfer.words.push(word);
                    transfer.done += 1;
                }
            } else if fabric.put_from_host(pe, color, transfer.words[transfer.done]) {
                transfer.done += 1;
            }
            if transfer.is_done() {
                if !port.receives {
                    transfer.words = Vec::new();
                }
                port.waiting.pop_front();
            }
        }
    }

    /// Ends what has come to the ports and is not for the host; whether there was any.
    pub(super) fn end_hidden_at_ports(&mut self) -> bool {
        let fabric = &mut self.machine.fabric;
        let mut any = false;
        for port in self.transfers.ports.iter().filter(|port| port.receives) {
            any |= fabric.end_hidden(port.pe, port.color);
        }
        any
    }

    fn stuck_transfers(&mut self) -> SimError {
        let Transfers { all, ports, .. } = &self.transfers;
        let open = ports.iter().filter_map(|port| {
            let &first = port.waiting.front()?;
            Some((port, &all[first]))
        });
        let listed = open
            .clone()
            .take(LISTED)
            .map(|(port, transfer)| Unfinished {
                receives: port.receives,
                done: transfer.done,
                total: transfer.total,
                color: port.color,
                pe: self.machine.fabric.grid.place(port.pe),
            });
        let listed = listed.collect();
        let more = open.count().saturating_sub(LISTED);
        let during = During::Transfers { listed, more };
        self.stuck(during)
    }
}
