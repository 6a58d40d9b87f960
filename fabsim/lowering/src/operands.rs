//! Which slots an instruction reads and writes, in one place for all instructions.

use fabsim_program::program::{Completion, Inst, OnControl, OpOptions, Operand, Slot};

/// Calls `read` for every slot an instruction reads and `write` for the one it writes.
pub fn visit(inst: &mut Inst, read: &mut dyn FnMut(&mut Slot), write: &mut dyn FnMut(&mut Slot)) {
    match inst {
        Inst::Const { dst, .. } => write(dst),
        Inst::Copy { dst, src } => {
            read(src);
            write(dst);
        }
        Inst::Unary { dst, a, .. } | Inst::Convert { dst, a, .. } => {
            read(a);
            write(dst);
        }
        Inst::Binary { dst, a, b, .. } | Inst::Compare { dst, a, b, .. } => {
            read(a);
            read(b);
            write(dst);
        }
        Inst::Select {
            dst,
            condition,
            a,
            b,
        } => {
            read(condition);
            read(a);
            read(b);
            write(dst);
        }
        Inst::Load { dst, address, .. }
        | Inst::LoadDsd { dst, address }
        | Inst::ReadConfig { dst, address } => {
            read(address);
            write(dst);
        }
        Inst::Store { address, src, .. }
        | Inst::StoreDsd { address, src }
        | Inst::WriteConfig { address, src } => {
            read(address);
            read(src);
        }
        Inst::CopyMemory { to, from, .. } => {
            read(to);
            read(from);
        }
        Inst::Jump { .. } => {}
        Inst::Branch { condition, .. } | Inst::Assert { condition } => read(condition),
        Inst::Call { args, dst, .. } | Inst::System { args, dst, .. } => {
            args.iter_mut().for_each(&mut *read);
            dst.iter_mut().for_each(write);
        }
        Inst::CallPointer {
            function,
            args,
            dst,
        } => {
            read(function);
            args.iter_mut().for_each(&mut *read);
            dst.iter_mut().for_each(write);
        }
        Inst::Return { src } => src.iter_mut().for_each(read),
        Inst::DsdSetBase {
            dst,
            dsd,
            address: by,
        }
        | Inst::DsdSetLength {
            dst,
            dsd,
            length: by,
        }
        | Inst::DsdSetStride {
            dst,
            dsd,
            stride: by,
        }
        | Inst::DsdAdvance { dst, dsd, by, .. } => {
            read(dsd);
            read(by);
            write(dst);
        }
        Inst::Operation(op) => {
            operand(&mut op.dest, read);
            for source in &mut op.sources {
                operand(source, read);
            }
            options(&mut op.options, read);
            op.result.iter_mut().for_each(write);
        }
        Inst::Map(map) => {
            for (input, _) in &mut map.inputs {
                operand(input, read);
            }
            if let Some((output, _)) = &mut map.output {
                operand(output, read);
            }
        }
        Inst::LoadDsr(load) => {
            read(&mut load.dsd);
            options(&mut load.options, read);
        }
        Inst::Activate { id } | Inst::Block { id, .. } | Inst::Unblock { id, .. } => read(id),
    }
}

fn operand(operand: &mut Operand, read: &mut dyn FnMut(&mut Slot)) {
    match operand {
        Operand::Dsd(slot) | Operand::Scalar(slot, _) | Operand::Pointer(slot, _) => read(slot),
        Operand::Dsr(_) => {}
    }
}

fn options(options: &mut OpOptions, read: &mut dyn FnMut(&mut Slot)) {
    match &mut options.on_done {
        Some(Completion::Activate(id) | Completion::Unblock(_, id)) => read(id),
        None => {}
    }
    match &mut options.on_control {
        Some(OnControl::Activate(id) | OnControl::Unblock(_, id)) => read(id),
        Some(OnControl::Terminate) | None => {}
    }
    options.index.iter_mut().for_each(&mut *read);
    options.ut_id.iter_mut().for_each(read);
}

/// Calls `read` for every slot an instruction reads, in the order of `visit`.
pub fn for_each_read(inst: &Inst, mut read: impl FnMut(Slot)) {
    visit(&mut inst.clone(), &mut |slot| read(*slot), &mut |_| {});
}

/// The slots an instruction reads, in the order of `visit`.
pub fn reads(inst: &Inst) -> Vec<Slot> {
    let mut found = Vec::new();
    for_each_read(inst, |slot| found.push(slot));
    found
}

/// The slot an instruction writes.
pub fn written(inst: &Inst) -> Option<Slot> {
    let mut found = None;
    visit(&mut inst.clone(), &mut |_| {}, &mut |slot| {
        found = Some(*slot)
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabsim_program::program::{DsdOperation, Opcode, ScalarType};

    #[test]
    fn an_operation_reads_its_operands_and_the_ids_in_its_options() {
        let operation = Inst::Operation(Box::new(DsdOperation {
            opcode: Opcode::Fadds,
            dest: Operand::Dsd(Slot(1)),
            sources: vec![
                Operand::Scalar(Slot(2), ScalarType::F32),
                Operand::Dsd(Slot(3)),
            ],
            options: OpOptions {
                on_done: Some(Completion::Activate(Slot(4))),
                ut_id: Some(Slot(5)),
                ..OpOptions::default()
            },
            result: Some(Slot(6)),
        }));
        assert_eq!(reads(&operation), [1, 2, 3, 4, 5].map(Slot));
        assert_eq!(written(&operation), Some(Slot(6)));
    }
}
