//! What is wrong with what a machine was given, as data: what, and where.

use super::state::{Machine, Running, NONE};

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something waits for ever.
    Stuck,
    /// Words come to a router that is not set for them, or to a PE that receives no more of them.
    Lost,
    LeavesGrid,
    /// A PE takes other slices than are sent to it.
    OtherSlice,
    /// What is received is longer or shorter than what is sent.
    OtherLength,
    /// Two lanes of a PE use a slice, one of them changing it, and nothing orders them.
    NoFixedOrder,
    CutFilter,
    /// A router is left in another position than at first, or a filter inside a period.
    NotReturned,
    NotTornDown,
    /// A router does not take off a command that it should, or takes off one that it should not.
    CommandRefused,
    /// Words that nobody takes.
    WordsLeft,
    SeveralReceive,
    SeveralSend,
    /// A router is set twice, and not alike.
    SetTwice,
    /// What is taken from the stage is not there, or is there twice.
    Staging,
    /// A PE waits for own words that it is kept from.
    KeptBack,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stuck => "stuck",
            Kind::Lost => "lost",
            Kind::LeavesGrid => "leaves the grid",
            Kind::OtherSlice => "other slice",
            Kind::OtherLength => "other length",
            Kind::NoFixedOrder => "no fixed order",
            Kind::CutFilter => "cut filter",
            Kind::NotReturned => "not returned",
            Kind::NotTornDown => "not torn down",
            Kind::CommandRefused => "command refused",
            Kind::WordsLeft => "words left",
            Kind::SeveralReceive => "several receive",
            Kind::SeveralSend => "several send",
            Kind::SetTwice => "set twice",
            Kind::Staging => "staging",
            Kind::KeptBack => "kept back",
        }
    }
}

/// What is wrong, and where: the stage of the run, the PE, of an operation its lane, its entry among
/// those of all loops of the lane and its number; the slice, and who else has to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: Kind,
    pub stage: Option<usize>,
    pub pe: usize,
    pub lane: Option<usize>,
    pub entry: Option<usize>,
    pub op: Option<usize>,
    pub color: Option<u32>,
    pub slice: Option<usize>,
    pub other: Option<usize>,
    pub text: String,
}

impl Fault {
    pub fn at(kind: Kind, pe: usize, text: String) -> Self {
        Fault {
            kind,
            stage: None,
            pe,
            lane: None,
            entry: None,
            op: None,
            color: None,
            slice: None,
            other: None,
            text,
        }
    }

    pub fn on(mut self, color: u32) -> Self {
        self.color = Some(color);
        self
    }

    pub fn of_slice(mut self, slice: usize) -> Self {
        self.slice = Some(slice);
        self
    }

    pub fn with(mut self, other: usize) -> Self {
        self.other = Some(other);
        self
    }
}

pub type Checked<T> = Result<T, Box<Fault>>;

impl Machine<'_> {
    /// `PE (3, 0)`.
    pub(super) fn name(&self, pe: usize) -> String {
        format!("PE ({}, {})", pe % self.given.width, pe / self.given.width)
    }

    pub(super) fn color(&self, color: u32) -> String {
        self.given.colors[color as usize].clone()
    }

    /// A fault of an operation that is under way.
    pub(super) fn fault(&self, kind: Kind, op: &Running, text: String) -> Box<Fault> {
        let mut fault = Fault::at(kind, op.pe as usize, text);
        fault.stage = Some(op.stage as usize);
        fault.lane = Some(op.lane as usize - self.pes[op.pe as usize].first_lane as usize);
        fault.entry = Some(op.entry as usize);
        fault.op = Some(op.op.number);
        fault.color = op.op.receive.color().or(op.op.send.color());
        Box::new(fault)
    }

    /// A fault of a router that words or a command of an operation come to.
    pub(super) fn fault_on_way(
        &self,
        kind: Kind,
        op: &Running,
        slot: usize,
        text: String,
    ) -> Box<Fault> {
        let fault = Fault::at(kind, self.pe_of(slot), text).on(self.color_of(slot));
        let mut fault = Box::new(fault.with(op.pe as usize));
        fault.stage = Some(op.stage as usize);
        fault
    }

    /// A fault of a PE in the stage that it is in.
    pub(super) fn fault_at(&self, kind: Kind, pe: usize, color: u32, text: String) -> Box<Fault> {
        let mut fault = Fault::at(kind, pe, text).on(color);
        let stage = self.pes[pe].stage;
        fault.stage =
            (stage != NONE && (stage as usize) < self.given.stages.len()).then_some(stage as usize);
        Box::new(fault)
    }
}
