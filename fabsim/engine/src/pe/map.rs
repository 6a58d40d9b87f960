//! `@map`: one call of a function per element, on the main thread.

use super::operands::Operands;
use super::operation::INFINITE;
use super::plan::PePlan;
use super::port::{send, Port};
use super::slots::Slots;
use super::state::Core;
use crate::fault::Fault;
use fabsim_program::program::{FunctionId, MapOperation, Operand, ScalarType, Span};
use smallvec::SmallVec;

/// One for each input: most `@map`s have so few that they need no memory of their own.
type OfInputs<T> = SmallVec<[T; 3]>;

/// A `@map` under way.
#[derive(Clone, Debug)]
pub struct MapRun {
    /// The call-back.
    pub function: FunctionId,
    /// Where it is in the source.
    pub span: Span,
    /// What arguments are taken from.
    pub inputs: OfInputs<Port>,
    /// Where results go.
    pub output: Option<Port>,
    /// Elements until the first operand is exhausted; none if all are endless.
    pub remaining: Option<u32>,
    /// How many calls there are.
    pub length: u32,
    /// A result on its way to the output.
    result: Option<u64>,
    /// The arguments of the last call.
    args: OfInputs<u64>,
}

impl MapRun {
    /// Begins with what its operands hold now.
    pub fn new(
        map: &MapOperation,
        span: Span,
        plan: &PePlan,
        core: &Core,
        slots: Slots,
    ) -> Result<MapRun, Fault> {
        let operands = Operands {
            plan,
            core,
            slots,
            index: 0,
            mixed: false,
        };
        let mut shortest: Option<u32> = None;
        let mut port = |(operand, ty): &(Operand, ScalarType)| -> Result<Port, Fault> {
            let (port, extent) = operands.any(operand, ty.size_bytes().clamp(2, 4) as u8)?;
            shortest = shortest.into_iter().chain(extent).min();
            Ok(port)
        };
        let inputs: Result<OfInputs<Port>, Fault> = map.inputs.iter().map(&mut port).collect();
        let output = map.output.as_ref().map(&mut port).transpose()?;
        // Scalars alone are taken once; where all is endless there is no end.
        let remaining = Some(shortest.unwrap_or(1)).filter(|&count| count != INFINITE);
        Ok(MapRun {
            function: map.function,
            span,
            inputs: inputs?,
            output,
            remaining,
            length: remaining.unwrap_or(INFINITE),
            result: None,
            args: OfInputs::new(),
        })
    }

    /// Whether all calls have been made.
    pub fn is_done(&self) -> bool {
        self.remaining == Some(0) && self.result.is_none()
    }

    /// Whether it goes between scalars and lines of memory.
    pub fn is_private(&self) -> bool {
        let ports = &mut self.inputs.iter().chain(&self.output);
        ports.all(|port| matches!(port, Port::Scalar { .. } | Port::Line { .. }))
    }

    /// Whether wavelets take part.
    pub fn touches_fabric(&self) -> bool {
        self.inputs.iter().chain(&self.output).any(Port::is_fabric)
    }

    /// Places of the fabric operands among the PE's input and output queues.
    pub fn queues(&self) -> (OfInputs<Option<u8>>, Option<u8>) {
        let inputs = self.inputs.iter().map(|port| match port {
            Port::Input { queue, .. } => Some(*queue),
            _ => None,
        });
        let output = match &self.output {
            Some(Port::Output(sender)) => Some(sender.queue),
            _ => None,
        };
        (inputs.collect(), output)
    }

    /// Whether elements, or room for a result, are there.
    pub fn can_step(&self, core: &Core, now: u64) -> bool {
        if self.result.is_some() {
            return match &self.output {
                Some(Port::Output(s)) => core.outputs[usize::from(s.queue)].ring.has_room(),
                _ => true,
            };
        }
        self.inputs.iter().all(|port| match port {
            Port::Input { queue, .. } => core.inputs[usize::from(*queue)].head(now).is_some(),
            _ => true,
        })
    }

    /// Writes the last call's result, or takes the next elements: the arguments of a call.
    pub fn step(&mut self, core: &mut Core, ready: u64) -> Result<Option<&[u64]>, Fault> {
        if let Some(value) = self.result.take() {
            let last = self.remaining == Some(0);
            match &mut self.output {
                Some(Port::Output(sender)) => {
                    send(*sender, value as u32, last, ready, &mut core.outputs);
                }
                Some(port) => port.write(&mut core.memory, value as u32)?,
                None => {}
            }
            return Ok(None);
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining -= 1;
        }
        self.args.clear();
        for port in &mut self.inputs {
            let value = port.read(&core.memory, &mut core.inputs)?;
            self.args.push(u64::from(value));
        }
        Ok(Some(&self.args))
    }

    /// The callback has returned.
    pub fn returned(&mut self, value: u64) {
        if self.output.is_some() {
            self.result = Some(value);
        }
    }
}
