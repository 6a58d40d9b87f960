//! First half of a router's cycle: which of its wavelets move.

use super::grid::PeIndex;
use super::wavelet::{Command, Wavelet};
use super::{ChannelIndex, Fabric, Move};
use crate::program::{Direction, PopMode};

const RAMP: u8 = 1 << Direction::Ramp as u8;

/// Why a wavelet stays where it is.
enum Refusal {
    /// Another color of this router took the link this cycle.
    LinkTaken,
    /// Nothing but a change elsewhere can let it move.
    Blocked,
}

impl Fabric {
    /// Visits every active router; `room(pe, color)` tells whether the compute element can take
    /// one more wavelet of a color.
    pub fn look(&mut self, room: impl Fn(PeIndex, u8) -> bool) {
        self.wake_rewired();
        let mut active = std::mem::take(&mut self.active);
        for &pe in &active {
            let moved = self.look_at(pe, &room);
            let router = &mut self.routers[pe.index()];
            if moved || router.stay {
                self.next_active.push(pe);
            } else {
                router.active = false;
            }
            router.stay = false;
        }
        active.clear();
        self.active = std::mem::replace(&mut self.next_active, active);
    }

    /// Decides for one router; true if anything moves. Each link carries one wavelet a cycle;
    /// the first color that is refused a taken link goes first next time.
    fn look_at(&mut self, pe: PeIndex, room: &impl Fn(PeIndex, u8) -> bool) -> bool {
        let router = &self.routers[pe.index()];
        let (first_channel, turn) = (router.first_channel, router.turn);
        let mut waiting = router.occupied.rotate_right(u32::from(turn));
        let mut taken = 0u8;
        let mut next_turn = None;
        let mut moved = false;
        while waiting != 0 {
            let local = (waiting.trailing_zeros() as u8 + turn) % 32;
            waiting &= waiting - 1;
            let channel = ChannelIndex(first_channel + u32::from(local));
            match self.try_move(pe, channel, local, taken, room) {
                Ok(decided) => {
                    taken |= decided.outputs;
                    self.moves.push(decided);
                    moved = true;
                }
                Err(Refusal::LinkTaken) => next_turn = next_turn.or(Some(local)),
                Err(Refusal::Blocked) => {}
            }
        }
        if let Some(local) = next_turn {
            self.routers[pe.index()].turn = local;
        }
        moved
    }

    /// A wavelet moves to all its outputs at once or not at all.
    fn try_move(
        &self,
        pe: PeIndex,
        index: ChannelIndex,
        local: u8,
        taken: u8,
        room: &impl Fn(PeIndex, u8) -> bool,
    ) -> Result<Move, Refusal> {
        let channel = &self.channels[index.index()];
        if channel.torn_down || channel.tx.0 == 0 {
            return Err(Refusal::Blocked);
        }
        let color = channel.color;
        let wavelet = channel.first();
        let outputs = self.outputs(pe, index, wavelet);
        if outputs & taken != 0 {
            return Err(Refusal::LinkTaken);
        }
        let mut links = outputs & !RAMP;
        while links != 0 {
            let side = Direction::from_code(links.trailing_zeros() as u8);
            links &= links - 1;
            let neighbour = self.neighbour(pe, side).ok_or(Refusal::Blocked)?;
            let accepted = match self.swaps {
                true => self.accepts_swapped(neighbour, color, side.facing()),
                false => self.accepts(neighbour, color, side.facing()).is_some(),
            };
            if !accepted {
                return Err(Refusal::Blocked);
            }
        }
        if outputs & RAMP != 0 && !room(pe, color) {
            return Err(Refusal::Blocked);
        }
        let (wavelet, command, position) = self.executed(pe, index, wavelet);
        Ok(Move {
            pe,
            channel: index,
            local,
            color,
            outputs,
            wavelet,
            command,
            position,
        })
    }

    /// The sides a wavelet leaves by: the position's, without the ramp if the wavelet is hidden
    /// from the compute element or filtered out.
    #[inline]
    fn outputs(&self, pe: PeIndex, index: ChannelIndex, wavelet: Wavelet) -> u8 {
        let channel = &self.channels[index.index()];
        let outputs = channel.tx.0;
        if outputs & RAMP == 0 {
            return outputs;
        }
        let withheld =
            wavelet.hidden_from_ce() || channel.filtered && !self.filter_passes(pe, index, wavelet);
        if withheld {
            outputs & !RAMP
        } else {
            outputs
        }
    }

    fn filter_passes(&self, pe: PeIndex, index: ChannelIndex, wavelet: Wavelet) -> bool {
        let filter = self.settings_of(pe, index).filter.as_ref();
        let state = self.filters.get(&index);
        match (filter, state) {
            (Some(filter), Some(state)) => state.passes(filter, wavelet),
            _ => true,
        }
    }

    /// Executes slot 0 of a control wavelet here: what leaves, what was done, the new position.
    pub(super) fn executed(
        &self,
        pe: PeIndex,
        index: ChannelIndex,
        wavelet: Wavelet,
    ) -> (Wavelet, Command, u8) {
        let old = self.channels[index.index()].position;
        if !wavelet.control {
            return (wavelet, Command::Nop, old);
        }
        let settings = self.settings_of(pe, index);
        let command = wavelet.command();
        let position = match command {
            Command::Advance => settings.after(old),
            Command::Reset => 0,
            Command::Nop | Command::Teardown => old,
        };
        let advanced = position != old;
        let pops = match settings.pop {
            PopMode::NoPop => false,
            PopMode::AlwaysPop => true,
            PopMode::PopOnAdvance => advanced,
            PopMode::PopOnAdvanceNop => advanced || command == Command::Nop,
        };
        let leaves = if pops { wavelet.popped() } else { wavelet };
        (leaves, command, position)
    }
}
