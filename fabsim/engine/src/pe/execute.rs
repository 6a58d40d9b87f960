//! What each instruction of a function does.

use super::clock_register::is_clock;
use super::env::Env;
use super::issue::{block_target, control_action, done_action};
use super::main_thread::{Caller, Flow, Main, Site, Threads};
use super::operate::load_cycles;
use super::packed;
use super::settings::is_shared;
use super::shortcuts::Shortcuts;
use super::state::{Core, LoadedDsr};
use crate::fault::{Fault, FaultKind};
use fabsim_lowering::scalar::{binary, compare, convert, cut, unary};
use fabsim_program::program::{Arch, Dsd, DsrLoad, FunctionId, Inst, Slot, Span};

/// Byte address behind the data memory of a PE.
const REGISTERS: u64 = 48 * 1024;

impl Main {
    pub(crate) fn execute(
        &mut self,
        inst: &Inst,
        (site, time): (Site, u64),
        core: &mut Core,
        (threads, env): (&mut Threads, &mut Env),
        shortcuts: &mut impl Shortcuts,
    ) -> Result<Flow, Fault> {
        match inst {
            Inst::Jump { to } => Ok(Flow::Jump(*to)),
            Inst::Branch {
                condition,
                when,
                to,
            } => {
                let taken = (self.get(*condition) & 1 == 1) == *when;
                let here = Flow::Next(site.cost());
                Ok(if taken { Flow::Jump(*to) } else { here })
            }
            Inst::Call {
                function,
                args,
                dst,
            } => self.call(*function, args, *dst, env),
            Inst::CallPointer {
                function,
                args,
                dst,
            } => {
                let id = self.get(*function).checked_sub(1);
                let id = id.ok_or(FaultKind::NullFunction)?;
                self.call(FunctionId(id as u32), args, *dst, env)
            }
            Inst::Return { src } => {
                let value = src.map(|slot| self.get(slot));
                Ok(self.leave_function(value))
            }
            Inst::Load { dst, address, .. } if self.leads_to_register(*address, env) => {
                let (dst, address) = (*dst, *address);
                let read = Inst::ReadConfig { dst, address };
                self.through_pointer(
                    &read,
                    address,
                    (site, time),
                    core,
                    (threads, env, shortcuts),
                )
            }
            Inst::Store { src, address, .. } if self.leads_to_register(*address, env) => {
                let (src, address) = (*src, *address);
                let write = Inst::WriteConfig { address, src };
                self.through_pointer(
                    &write,
                    address,
                    (site, time),
                    core,
                    (threads, env, shortcuts),
                )
            }
            Inst::Operation(op) => {
                self.operation(op, (site, time), core, (threads, env), shortcuts)
            }
            Inst::Map(map) => self.map(map, (site.span(), time), core, (threads, env)),
            // Registers are shared with the router: they are used in their own cycle.
            Inst::ReadConfig { .. } | Inst::WriteConfig { .. } if time > env.now => {
                Ok(Flow::Again(0))
            }
            Inst::System { call, .. } if time > env.now && is_shared(*call) => Ok(Flow::Again(0)),
            Inst::ReadConfig { dst, address } => {
                let address = self.get(*address) as u16;
                let value = match is_clock(env.plan, address) {
                    true => self.system.read_clock(address, time),
                    false => core.read_register(address, env)?,
                };
                self.set(*dst, u64::from(value));
                Ok(Flow::Next(site.cost()))
            }
            Inst::WriteConfig { address, src } => {
                let (address, value) = (self.get(*address) as u16, self.get(*src) as u16);
                match is_clock(env.plan, address) {
                    true => self.system.write_clock(address, value, time),
                    false => core.write_register(address, value, (threads, env))?,
                }
                Ok(Flow::Next(site.cost()))
            }
            straight => self
                .straight_instruction(straight, (site, time), core, env)
                .map(Flow::Next),
        }
    }

    /// Whether a pointer leads to a configuration register: on wse2 these lie above the memory.
    pub(crate) fn leads_to_register(&self, address: Slot, env: &Env) -> bool {
        env.plan.arch == Arch::Wse2 && self.get(address) & 0xffff >= REGISTERS
    }

    /// Uses a register whose byte address is in a slot; `inst` wants its word address there.
    fn through_pointer(
        &mut self,
        inst: &Inst,
        address: Slot,
        at: (Site, u64),
        core: &mut Core,
        (threads, env, shortcuts): (&mut Threads, &mut Env, &mut impl Shortcuts),
    ) -> Result<Flow, Fault> {
        let byte = self.get(address);
        self.set(address, (byte & 0xffff) / 2);
        let flow = self.execute(inst, at, core, (threads, env), shortcuts);
        self.set(address, byte);
        flow
    }

    /// An instruction that the next one follows; its cost.
    fn straight_instruction(
        &mut self,
        inst: &Inst,
        (site, time): (Site, u64),
        core: &mut Core,
        env: &mut Env,
    ) -> Result<u64, Fault> {
        let timing = &env.plan.timing;
        match inst {
            Inst::Const { dst, bits } => {
                self.set(*dst, *bits);
            }
            Inst::Copy { dst, src } => self.set(*dst, self.get(*src)),
            Inst::Unary { op, ty, dst, a } => self.set(*dst, unary(*op, *ty, self.get(*a))),
            Inst::Binary { op, ty, dst, a, b } => {
                let result =
                    binary(*op, *ty, self.get(*a), self.get(*b)).map_err(FaultKind::from)?;
                self.set(*dst, result);
            }
            Inst::Select {
                dst,
                condition,
                a,
                b,
            } => {
                let chosen = if self.get(*condition) & 1 == 1 { a } else { b };
                self.set(*dst, self.get(*chosen));
            }
            Inst::Compare { op, ty, dst, a, b } => {
                let result = compare(*op, *ty, self.get(*a), self.get(*b));
                self.set(*dst, u64::from(result));
            }
            Inst::Convert { from, to, dst, a } => {
                self.set(*dst, convert(*from, *to, self.get(*a)));
            }
            Inst::LoadDsr(load) => {
                let mut loaded = self.loaded_dsr(load, site.span());
                let cycles = load_cycles(loaded.dsd.pack(), env.plan);
                loaded.usable = time + cycles + timing.dsr_use_cycles - 1;
                core.load_dsr(loaded);
                return Ok(cycles);
            }
            Inst::Activate { id } => core.activate(self.get(*id) as u8),
            Inst::Block { target, id } => {
                core.set_blocked(env.plan, block_target(*target, self.get(*id)), true);
            }
            Inst::Unblock { target, id } => {
                core.set_blocked(env.plan, block_target(*target, self.get(*id)), false);
            }
            Inst::System { call, args, dst } => {
                let args = self.args(args);
                let (result, cost) = self.system.call(*call, &args, time, core, env)?;
                if let Some(dst) = dst {
                    self.set(*dst, result);
                }
                return Ok(cost);
            }
            Inst::Assert { condition } => {
                if self.get(*condition) & 1 == 0 {
                    return Err(FaultKind::AssertionFails.into());
                }
            }
            memory => self.memory_instruction(memory, core)?,
        }
        Ok(site.cost())
    }

    /// Loads, stores and arithmetic on packed DSDs.
    fn memory_instruction(&mut self, inst: &Inst, core: &mut Core) -> Result<(), Fault> {
        let address = |main: &Main, slot: Slot| main.get(slot) & 0xffff;
        match inst {
            Inst::Load {
                ty,
                dst,
                address: at,
            } => {
                let bits = core.memory.load(address(self, *at), ty.size_bytes())?;
                self.set(*dst, bits);
            }
            Inst::Store {
                ty,
                address: at,
                src,
            } => {
                let bits = cut(*ty, self.get(*src));
                core.memory
                    .store(address(self, *at), ty.size_bytes(), bits)?;
            }
            Inst::LoadDsd { dst, address: at } => {
                let bits = core.memory.load(address(self, *at), packed::BYTES)?;
                self.set(*dst, bits);
            }
            Inst::StoreDsd { address: at, src } => {
                let bits = self.get(*src);
                core.memory.store(address(self, *at), packed::BYTES, bits)?;
            }
            Inst::CopyMemory { to, from, bytes } => {
                core.memory
                    .copy(address(self, *to), address(self, *from), *bytes)?;
            }
            arithmetic => match packed::changed(arithmetic, |slot| self.get(slot)) {
                Some((dst, bits)) => self.set(dst, bits),
                None => return Err(FaultKind::UnknownInstruction.into()),
            },
        }
        Ok(())
    }

    fn call(
        &mut self,
        function: FunctionId,
        args: &[Slot],
        dst: Option<Slot>,
        env: &Env,
    ) -> Result<Flow, Fault> {
        self.refuse_deep_calls()?;
        if let Some(frame) = self.frames.last_mut() {
            frame.pc += 1;
        }
        let args = self.args(args);
        self.push_frame(env.plan, function, &args, Caller::Function(dst));
        Ok(Flow::Moved)
    }

    fn loaded_dsr(&self, load: &DsrLoad, span: Span) -> LoadedDsr {
        let slots = self.current_slots();
        LoadedDsr {
            dsr: load.dsr,
            dsd: Dsd::unpack(self.get(load.dsd)),
            is_async: load.options.is_async,
            on_done: done_action(&load.options, slots),
            on_control: control_action(&load.options, slots),
            ut_id: load.options.ut_id.map(|slot| self.get(slot) as u8),
            save_address: load.save_address,
            usable: 0,
            span,
        }
    }
}
