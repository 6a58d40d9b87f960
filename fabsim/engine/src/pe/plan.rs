//! What PEs with the same program share: the program, with its tables turned into look-ups.

use crate::timing::Timing;
use fabsim_lowering::code::Code;
use fabsim_lowering::Lowering;
use fabsim_program::limits::{limits, COLORS};
use fabsim_program::program::{
    Arch, Direction, DsdShape, FunctionId, Priority, RouterSetup, TaskBinding, TaskKind,
    TileProgram,
};
use std::sync::Arc;

/// An input queue a program uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InputPlan {
    /// Its number.
    pub id: u8,
    /// Its color.
    pub color: u8,
    /// How many wavelets it takes.
    pub depth: u8,
    /// That of microthreads that read it, unless they have one.
    pub priority: Priority,
}

/// An output queue a program uses; its color on wse3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputPlan {
    /// Its number.
    pub id: u8,
    /// Its color, on wse3.
    pub color: Option<u8>,
    /// How many wavelets it takes; 0 where the machine has no such queue.
    pub depth: u8,
}

/// The shared part of PEs.
#[derive(Clone, Debug)]
pub struct PePlan {
    /// The program.
    pub program: Arc<TileProgram>,
    /// The architecture.
    pub arch: Arch,
    /// Cycle counts.
    pub timing: Timing,
    /// By the ids of functions.
    pub code: Vec<Arc<Code>>,
    /// What is undefined is survived where there is a way.
    pub lenient: bool,
    /// Input queues in use, by place.
    pub inputs: Vec<InputPlan>,
    /// Output queues in use, by place.
    pub outputs: Vec<OutputPlan>,
    /// Operands of several colors name one input queue, which operations bind in turn.
    pub shares_inputs: bool,
    /// Bit per channel that an input queue belongs to.
    pub channels: u32,
    /// Place of the first input queue of every color.
    input_of_color: [Option<u8>; COLORS],
    /// Functions by task id.
    pub local: [Option<FunctionId>; 32],
    /// Functions by color on wse2, by input queue on wse3.
    pub data: [Option<FunctionId>; COLORS],
    /// Functions by the number in a control wavelet.
    pub control: [Option<FunctionId>; 64],
}

impl PePlan {
    /// The tables of a program on a machine that counts cycles by `timing`.
    pub fn new(
        arch: Arch,
        timing: Timing,
        program: &Arc<TileProgram>,
        lowering: &mut Lowering,
    ) -> PePlan {
        let mut plan = PePlan {
            program: Arc::clone(program),
            arch,
            timing,
            code: lowering.lower(program),
            lenient: false,
            inputs: declared_inputs(arch, program),
            outputs: outputs(arch, program),
            shares_inputs: false,
            channels: 0,
            input_of_color: [None; COLORS],
            local: tasks(&program.tasks, TaskKind::Local),
            data: tasks(&program.tasks, TaskKind::Data),
            control: tasks(&program.tasks, TaskKind::Control),
        };
        plan.index_inputs();
        plan.bind_queues_of_operands();
        if arch == Arch::Wse2 {
            plan.bind_queues_of_data_tasks();
        }
        plan
    }

    /// On wse2 a fabin DSD that names a color binds its queue to it.
    fn bind_queues_of_operands(&mut self) {
        let program = Arc::clone(&self.program);
        for shape in &program.shapes {
            if let DsdShape::FabIn {
                queue,
                color: Some(color),
                ..
            } = shape
            {
                self.bind_input(*queue, *color);
                self.shares_inputs |= arch_binds_by_color(self.arch)
                    && self
                        .inputs
                        .iter()
                        .any(|q| q.id == *queue && q.color != *color);
            }
        }
    }

    /// On wse2 a data task names a color, and the compiler finds a queue for it.
    fn bind_queues_of_data_tasks(&mut self) {
        for color in 0..COLORS as u8 {
            let unbound = self.input_of_color(color).is_none();
            if self.data[usize::from(color)].is_some() && unbound {
                let used = |id: &u8| self.inputs.iter().any(|q| q.id == *id);
                if let Some(id) = (0..8).rev().find(|id| !used(id)) {
                    self.bind_input(id, color);
                }
            }
        }
    }

    /// On wse2 control tasks name no color, and wavelets of any color that reaches the compute element
    /// may activate them: each such color gets a queue. [guess]
    pub fn bind_queues_of_control_tasks(&mut self, router: &RouterSetup) {
        let mut tasks = self.program.tasks.iter();
        if self.arch != Arch::Wse2 || !tasks.any(|task| task.kind == TaskKind::Control) {
            return;
        }
        for (color, setup) in &router.colors {
            let positions = setup.positions.iter().flatten().filter_map(|p| p.tx);
            let mut outputs = positions.chain([setup.tx]);
            let arrives = outputs.any(|tx| tx.has(Direction::Ramp));
            if arrives && self.input_of_color(*color).is_none() {
                let used = |id: &u8| self.inputs.iter().any(|q| q.id == *id);
                if let Some(id) = (0..8).rev().find(|id| !used(id)) {
                    self.bind_input(id, *color);
                }
            }
        }
    }

    fn bind_input(&mut self, id: u8, color: u8) {
        if self.inputs.iter().any(|q| q.id == id) {
            return;
        }
        self.inputs.push(InputPlan {
            id,
            color,
            depth: depth(&limits(self.arch).input_queues, id),
            priority: Priority::Low,
        });
        self.index_inputs();
    }

    fn index_inputs(&mut self) {
        let channels = 0..self.inputs.len();
        let bits = channels.map(|n| {
            1u32.checked_shl(u32::from(self.channel_at_start(n)))
                .unwrap_or(0)
        });
        self.channels = bits.fold(0, |all, bit| all | bit);
        self.input_of_color = [None; COLORS];
        for (n, queue) in self.inputs.iter().enumerate().rev() {
            if let Some(entry) = self.input_of_color.get_mut(usize::from(queue.color)) {
                *entry = Some(n as u8);
            }
        }
    }

    /// The channel of an input queue that code has not bound to another color.
    fn channel_at_start(&self, input: usize) -> u8 {
        match self.arch {
            Arch::Wse2 => self.inputs[input].color,
            Arch::Wse3 => self.inputs[input].id,
        }
    }

    /// Whether a local task is bound to the id.
    pub fn binds_local(&self, id: u8) -> bool {
        let task = self.local.get(usize::from(id));
        task.copied().flatten().is_some()
    }

    /// Place of an input queue among the PE's.
    pub fn input(&self, id: u8) -> Option<u8> {
        self.inputs.iter().position(|q| q.id == id).map(|n| n as u8)
    }

    /// The place of the input queue of a color.
    #[inline]
    pub fn input_of_color(&self, color: u8) -> Option<u8> {
        let known = self.input_of_color.get(usize::from(color));
        known.copied().flatten()
    }

    /// The place of an output queue.
    pub fn output(&self, id: u8) -> Option<u8> {
        self.outputs
            .iter()
            .position(|q| q.id == id)
            .map(|n| n as u8)
    }
}

/// Whether an operation binds the queue of its operand to the operand's color.
fn arch_binds_by_color(arch: Arch) -> bool {
    arch == Arch::Wse2
}

fn tasks<const N: usize>(bindings: &[TaskBinding], kind: TaskKind) -> [Option<FunctionId>; N] {
    let mut table = [None; N];
    for task in bindings.iter().filter(|task| task.kind == kind) {
        if let Some(entry) = table.get_mut(usize::from(task.id)) {
            *entry = Some(task.function);
        }
    }
    table
}

fn depth(depths: &[u8; 8], id: u8) -> u8 {
    depths.get(usize::from(id)).copied().unwrap_or(0)
}

fn declared_inputs(arch: Arch, program: &TileProgram) -> Vec<InputPlan> {
    let declared = program.input_queues.iter().enumerate();
    declared
        .filter_map(|(id, queue)| {
            queue.as_ref().map(|queue| InputPlan {
                id: id as u8,
                color: queue.color,
                depth: depth(&limits(arch).input_queues, id as u8),
                priority: queue.priority,
            })
        })
        .collect()
}

/// Every output queue that is initialised or that an operand names.
fn outputs(arch: Arch, program: &TileProgram) -> Vec<OutputPlan> {
    let named = |id: u8| {
        program
            .shapes
            .iter()
            .any(|shape| matches!(shape, DsdShape::FabOut { queue, .. } if *queue == id))
    };
    (0..8u8)
        .filter_map(|id| {
            let setup = program.output_queues[usize::from(id)].as_ref();
            (setup.is_some() || named(id)).then(|| OutputPlan {
                id,
                color: setup.and_then(|setup| setup.color),
                depth: depth(&limits(arch).output_queues, id),
            })
        })
        .collect()
}
