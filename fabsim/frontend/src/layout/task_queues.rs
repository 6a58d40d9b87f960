//! Input queues of data tasks on wse2, which name a color: the compiler finds a queue for each.

use crate::Res;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{
    Direction, DsdShape, RouterSetup, TaskBinding, TaskKind, Tile, TileProgram,
};
use std::sync::Arc;

/// Input queues of a PE.
const QUEUES: usize = 8;

/// Refuses a data task whose color arrives at a PE that has no input queue left for it.
pub fn check(
    width: u16,
    tiles: &[Tile],
    programs: &[Arc<TileProgram>],
    routers: &[Arc<RouterSetup>],
) -> Res<()> {
    let without: Vec<Vec<&TaskBinding>> = programs.iter().map(|p| without_queue(p)).collect();
    for (n, tile) in tiles.iter().enumerate() {
        let router = &routers[tile.router as usize];
        let mut tasks = without[tile.program as usize].iter();
        if let Some(task) = tasks.find(|task| arrives(router, task.id)) {
            let (x, y) = (n % usize::from(width), n / usize::from(width));
            let message = format!(
                "the data task of color {} has no input queue on PE ({x}, {y}): {QUEUES} other colors have one each. Receive some of them by operations whose DSDs name one queue, or let streams share a color",
                task.id
            );
            return Err(Box::new(Diagnostic::new(task.span, message)));
        }
    }
    Ok(())
}

/// The data tasks for whose colors no queue is left, where each color gets one in turn.
fn without_queue(program: &TileProgram) -> Vec<&TaskBinding> {
    let declared = program
        .input_queues
        .iter()
        .flatten()
        .map(|queue| queue.color);
    let named = program.shapes.iter().filter_map(|shape| match shape {
        DsdShape::FabIn { color, .. } => *color,
        _ => None,
    });
    let known: Vec<u8> = declared.chain(named).collect();
    let taken = program.input_queues.iter().flatten().count();
    let data = program.tasks.iter().filter(|t| t.kind == TaskKind::Data);
    let mut tasks: Vec<&TaskBinding> = data.filter(|task| !known.contains(&task.id)).collect();
    tasks.sort_by_key(|task| task.id);
    tasks.split_off(tasks.len().min(QUEUES - taken.min(QUEUES)))
}

/// Whether a color may come down the ramp, at whatever position of its switch.
fn arrives(router: &RouterSetup, color: u8) -> bool {
    let mut setups = router.colors.iter().filter(|(of, _)| *of == color);
    setups.any(|(_, setup)| {
        let positions = setup.positions.iter().flatten().filter_map(|p| p.tx);
        let mut outputs = positions.chain([setup.tx]);
        outputs.any(|tx| tx.has(Direction::Ramp))
    })
}
