//! Fabric DSDs of wse2 that name a color and no queue: synchronous operations may use them, and the
//! compiler finds them a queue. Which one the vendor's compiler takes is not public. [guess]

use crate::compiler::{Compiler, Ev};
use crate::state::tile::TileState;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{DsdShape, Span, TaskKind, TileProgram};

/// Stands for the queue of such a DSD until all of a tile program is known.
pub const UNNAMED: u8 = u8::MAX;

/// Input queues of wse2, without the one of memcpy, and its output queues.
const INPUTS: std::ops::Range<u8> = 1..8;
const OUTPUTS: std::ops::Range<u8> = 0..6;

impl Compiler {
    /// Refuses an asynchronous operation on a DSD that is known to have no queue.
    pub fn require_queues(&self, name: &str, operands: &[Ev], span: Span) -> Res<()> {
        let unnamed =
            |ev: &Ev| matches!(ev, Ev::Val(Value::Dsd(dsd)) if queue(&dsd.shape) == Some(UNNAMED));
        match operands.iter().any(unnamed) {
            false => Ok(()),
            true => err(
                span,
                format!("@{name}: the fabric DSD of an asynchronous operation needs a queue: give it '.input_queue' or '.output_queue'"),
            ),
        }
    }
}

fn queue(shape: &DsdShape) -> Option<u8> {
    match shape {
        DsdShape::FabIn { queue, .. } | DsdShape::FabOut { queue, .. } => Some(*queue),
        _ => None,
    }
}

/// Gives every DSD that names no queue one.
pub fn deal(tile: &mut TileState) {
    let output = free_output(&tile.program);
    for at in 0..tile.program.shapes.len() {
        match tile.program.shapes[at] {
            DsdShape::FabIn {
                queue: UNNAMED,
                color,
                ..
            } => {
                let dealt = input_for(tile, color);
                if let DsdShape::FabIn { queue, .. } = &mut tile.program.shapes[at] {
                    *queue = dealt;
                }
            }
            DsdShape::FabOut {
                queue: ref mut queue @ UNNAMED,
                ..
            } => *queue = output,
            _ => {}
        }
    }
}

/// The queue that has the color already, else the first free one, else, for colors that come after
/// all are taken, the last that nothing initialises: operations bind it in turn.
fn input_for(tile: &TileState, color: Option<u8>) -> u8 {
    let program = &tile.program;
    let declared = program.input_queues.iter().enumerate();
    let declared = declared.filter_map(|(id, queue)| Some((id as u8, queue.as_ref()?.color)));
    let named = program.shapes.iter().filter_map(|shape| match shape {
        DsdShape::FabIn {
            queue,
            color: Some(color),
            ..
        } if *queue != UNNAMED => Some((*queue, *color)),
        _ => None,
    });
    let known: Vec<(u8, u8)> = declared.chain(named).collect();
    let same = known.iter().find(|(_, other)| Some(*other) == color);
    let free = || INPUTS.filter(|id| !known.iter().any(|(used, _)| used == id));
    let kept = colors_of_tasks(tile, &known);
    let first = free().nth(kept).and_then(|_| free().next());
    // A queue that is initialised keeps its color.
    let mut shared = INPUTS
        .rev()
        .filter(|id| program.input_queues[usize::from(*id)].is_none());
    let last = shared.nth(kept).unwrap_or(INPUTS.end - 1 - kept as u8);
    same.map_or(first.unwrap_or(last), |(id, _)| *id)
}

/// Colors of data tasks that no DSD reads and no queue has: each is given a queue, from the last on.
fn colors_of_tasks(tile: &TileState, known: &[(u8, u8)]) -> usize {
    let tasks = tile.bound.iter().map(|(binding, _)| binding);
    let data = tasks.filter(|task| task.kind == TaskKind::Data);
    let read = |color: u8| {
        let mut shapes = tile.program.shapes.iter();
        shapes.any(|shape| matches!(shape, DsdShape::FabIn { color: Some(c), .. } if *c == color))
    };
    data.filter(|task| !read(task.id) && !known.iter().any(|(_, color)| *color == task.id))
        .count()
        .min(usize::from(INPUTS.end - INPUTS.start) - 1)
}

/// One output queue for all of them, which no other DSD names, if there is one.
fn free_output(program: &TileProgram) -> u8 {
    let mut free = OUTPUTS.filter(|id| {
        let named =
            |shape: &DsdShape| matches!(shape, DsdShape::FabOut { queue, .. } if queue == id);
        program.output_queues[usize::from(*id)].is_none() && !program.shapes.iter().any(named)
    });
    free.next().unwrap_or(OUTPUTS.start)
}
