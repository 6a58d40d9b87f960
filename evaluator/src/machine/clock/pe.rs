//! The slot of a PE: operations before code, those that yield behind the others; equals alternate.

use super::given::TimedOp;
use super::given::{Act, End};
use super::state::{Clock, Command, Pe, Thread, Word};
use super::trace::Taken;
use crate::machine::plan::Advance;
use crate::machine::state::NONE;

/// The task that is told of teardowns.
const TEARDOWNS: u32 = 29;

/// What has come of a turn.
enum Turn {
    /// The slot is taken.
    Taken,
    /// It is left to others; code goes on in a later cycle, which it knows.
    Left,
}

impl Clock<'_> {
    /// A cycle of a PE; the cycle in which to look again, if anything is known of it.
    pub(super) fn step(&mut self, pe: usize) -> Option<u64> {
        self.begin_task(pe);
        for yields in [false, true] {
            if let Some(number) = self.ready_thread(pe, yields) {
                self.move_words(pe, number);
                self.pes[pe].taken = Some(self.now);
                return Some(self.now + 1);
            }
        }
        let own = &self.pes[pe];
        if own.runs && own.ready_at <= self.now {
            if let Turn::Taken = self.run_code(pe) {
                self.pes[pe].taken = Some(self.now);
                return Some(self.now + 1);
            }
        }
        self.next_look(pe)
    }

    /// The next cycle in which something may go on by itself.
    fn next_look(&self, pe: usize) -> Option<u64> {
        let own = &self.pes[pe];
        let code = (own.runs || self.next_task(own).is_some()).then_some(own.ready_at);
        let script = &self.scripts[own.script as usize];
        let words = own.threads.iter().filter_map(|thread| {
            let op = &script.ops[thread.op as usize];
            let input = own
                .inputs
                .iter()
                .find(|one| Some(one.color) == op.receive)?;
            let need = if op.all {
                op.at_once.min(thread.left) as usize
            } else {
                1
            };
            input
                .queue
                .words()
                .nth(need - 1)
                .map(|word| u64::from(word.ready))
        });
        words.chain(code).filter(|at| *at > self.now).min()
    }

    /// The task that begins next: that of teardowns, else those that are active and not blocked alternate.
    fn next_task(&self, own: &Pe) -> Option<u32> {
        if own.runs {
            return None;
        }
        if !own.launched {
            return Some(32);
        }
        if own.torn != 0 {
            return Some(TEARDOWNS);
        }
        let ready = own.active & !own.blocked;
        let behind = (1..=32u32).map(|step| (own.last_task + step) % 32);
        behind.into_iter().find(|task| ready >> task & 1 == 1)
    }

    fn begin_task(&mut self, pe: usize) {
        let own = &self.pes[pe];
        if own.ready_at > self.now || (own.launched && self.now < self.timing.first_task) {
            if own.launched && self.next_task(own).is_some() {
                self.pes[pe].ready_at = own.ready_at.max(self.timing.first_task);
            }
            return;
        }
        let Some(task) = self.next_task(own) else {
            return;
        };
        let own = &mut self.pes[pe];
        own.code = if own.launched && task == TEARDOWNS {
            let handlers = &self.scripts[own.script as usize].handlers;
            let due = handlers
                .iter()
                .find(|(color, _)| own.torn >> color & 1 == 1);
            let Some((color, code)) = due else {
                own.torn = 0; // nobody is told of others
                return self.begin_task(pe);
            };
            own.torn &= !(1 << color);
            *code
        } else if own.launched {
            own.active &= !(1 << task);
            own.last_task = task;
            own.follows[task as usize]
        } else {
            own.launched = true;
            0
        };
        (own.runs, own.at, own.part) = (true, 0, 0);
        self.runs.anchor(pe);
    }

    /// The operation whose turn it is among those that can go on.
    fn ready_thread(&self, pe: usize, yields: bool) -> Option<usize> {
        let own = &self.pes[pe];
        let (script, count) = (&self.scripts[own.script as usize], own.threads.len());
        (0..count)
            .map(|number| (number + own.turn) % count)
            .find(|number| {
                let thread = own.threads[*number];
                let op = &script.ops[thread.op as usize];
                op.yields == yields && self.movable(own, op, thread.left) > 0
            })
    }

    /// How many words an operation moves now: as many as have come, and there is room for.
    fn movable(&self, own: &Pe, op: &TimedOp, left: u32) -> u32 {
        let most = op.at_once.min(left);
        let mut count = most;
        if let Some(color) = op.receive {
            let input = own.inputs.iter().find(|one| one.color == color);
            count = count.min(input.map_or(0, |one| one.queue.ready(self.now)));
        }
        if op.send.is_some() {
            let output = &own.outputs[op.output as usize];
            count = count.min((output.depth - output.queue.len()) as u32);
        }
        if op.all && count < most {
            return 0;
        }
        count
    }

    /// An operation moves words.
    fn move_words(&mut self, pe: usize, number: usize) {
        let own = &self.pes[pe];
        let thread = own.threads[number];
        let op = &self.scripts[own.script as usize].ops[thread.op as usize];
        let count = self.movable(own, op, thread.left);
        let own = &mut self.pes[pe];
        let is_over = count == thread.left;
        own.threads[number].left -= count;
        own.turn = number + 1;
        if is_over {
            own.threads.remove(number);
            own.turn = number;
        }
        let taken = self.put(pe, thread.op, count, is_over, 0);
        if let Some(trace) = &mut self.trace {
            let own = &self.pes[pe];
            let op = &self.scripts[own.script as usize].ops[thread.op as usize];
            let issue = own.issued[thread.op as usize].wrapping_sub(1) as usize;
            let total = op.words[issue % op.words.len()];
            let moved = (total - thread.left, count, total);
            trace.moves((pe, thread.op, op), moved, taken, self.now);
        }
        if is_over {
            self.ends(pe, thread.op);
        }
    }

    /// Words are taken from the input queue of an operation, and come to its output queue, so many
    /// cycles later. Gives the first that is taken, where it is told.
    fn put(&mut self, pe: usize, op: u32, count: u32, is_over: bool, later: u64) -> Taken {
        let own = &mut self.pes[pe];
        let op = &self.scripts[own.script as usize].ops[op as usize];
        let (mut made_room, mut taken) = (false, None);
        if let Some(color) = op.receive {
            if let Some(at) = own.inputs.iter().position(|one| one.color == color) {
                let input = &mut own.inputs[at];
                if let Some(trace) = &mut self.trace {
                    let came = input.queue.first().map_or(NONE, |word| word.ready);
                    taken = Some((came, trace.takes(pe, at, count)));
                }
                made_room = input.queue.len() >= input.depth;
                for _ in 0..count {
                    input.queue.pop();
                }
            }
        }
        if let Some(color) = op.send {
            if let Some(trace) = &mut self.trace {
                trace.put(pe, op.output as usize, count);
            }
            let fill = if op.receive.is_none() {
                self.timing.pipeline_fill
            } else {
                0
            };
            for word in 0..count {
                let output = &mut own.outputs[op.output as usize];
                let last = output.queue.words().last().map_or(0, |word| word.ready);
                let ready = self.now + later + self.timing.ramp_up - 1 + fill + u64::from(word);
                output.queue.push(Word {
                    color: color as u8,
                    ready: (ready as u32).max(last),
                    command: command_of(op.command, own_ring(self.given, &self.routers, pe, color)),
                    advances: op.advances && is_over && word + 1 == count,
                });
            }
            self.starts_rising(pe);
        }
        if made_room {
            self.starts_routing(pe);
        }
        taken
    }

    fn ends(&mut self, pe: usize, op: u32) {
        let own = &mut self.pes[pe];
        match self.scripts[own.script as usize].ops[op as usize].end {
            End::Nothing => {}
            End::Activates(task) => own.active |= 1 << task,
            End::Unblocks(task) => own.blocked &= !(1 << task),
        }
    }

    /// Code goes on by what has one slot, and what takes no time before it.
    fn run_code(&mut self, pe: usize) -> Turn {
        loop {
            let now = self.now;
            let own = &mut self.pes[pe];
            let script = &self.scripts[own.script as usize];
            let Some(act) = script.codes[own.code as usize]
                .get(own.at as usize)
                .copied()
            else {
                own.runs = false; // the return has the slot
                own.ready_at = now + 1 + self.timing.between_tasks;
                return Turn::Taken;
            };
            match act {
                Act::Code(count) | Act::Load { count, .. } => {
                    if count > 0 {
                        own.part += 1;
                        own.ready_at = now + 1;
                        if let Act::Load { op, .. } = act {
                            own.loaded[op as usize] = now + self.timing.load_use;
                        }
                        if own.part >= count {
                            (own.at, own.part) = (own.at + 1, 0);
                        }
                        return Turn::Taken;
                    }
                }
                Act::Wait(cycles) => {
                    own.at += 1;
                    if cycles > 0 {
                        own.ready_at = now + u64::from(cycles);
                        return Turn::Left;
                    }
                    continue;
                }
                Act::Settle(op) | Act::Issue(op) if now < own.loaded[op as usize] => {
                    own.ready_at = own.loaded[op as usize];
                    return Turn::Left;
                }
                Act::Settle(_) => {}
                Act::Issue(op) => {
                    own.at += 1;
                    own.ready_at = now + 1;
                    let of = &script.ops[op as usize];
                    let issued = &mut own.issued[op as usize];
                    let left = of.words[*issued as usize % of.words.len()];
                    *issued += 1;
                    if let Some(trace) = &mut self.trace {
                        trace.issues(pe, op, now);
                    }
                    own.threads.push(Thread { op, left });
                    return Turn::Taken;
                }
                Act::Call { op, cycles, other } => return self.call(pe, op, [cycles, other]),
                Act::Mark {
                    point,
                    each,
                    counter,
                } => {
                    own.irregular = true;
                    let turns = own.counters.get(counter as usize).map_or(0, |turns| *turns);
                    let (point, marks) = ((point + each * turns) as usize, &mut self.marks);
                    marks.resize(marks.len().max(point + 1), 0);
                    marks[point] = marks[point].max(now);
                }
                Act::Follow { task, code } => own.follows[task as usize] = code,
                Act::Activate(task) => own.active |= 1 << task,
                Act::Block(task) => own.blocked |= 1 << task,
                Act::Unblock(task) => own.blocked &= !(1 << task),
                Act::Set { color, phase } => self.set_router(pe, color, phase),
                Act::Await { colors, acts, of } => {
                    own.awaited = own.awaited & !of | own.in_use & colors;
                    if own.in_use & colors != 0 {
                        own.at += acts;
                    }
                }
                Act::Skip(acts) => own.at += acts,
                Act::Told { color, code, of } => {
                    let is_last = own.awaited & of == 1 << color;
                    own.in_use &= !(1 << color);
                    own.awaited &= !(1 << color);
                    if is_last {
                        (own.code, own.at) = (code, 0);
                        continue;
                    }
                }
                Act::Again {
                    counter,
                    count,
                    code,
                } => {
                    let turns = &mut own.counters[counter as usize];
                    *turns += 1;
                    if *turns < count {
                        (own.code, own.at) = (code, 0);
                        continue;
                    }
                    *turns = 0;
                    own.wrapped |= 1 << (counter % 64);
                }
                Act::Turn(list) => {
                    let (codes, at) =
                        (&script.turns[list as usize], &mut own.turned[list as usize]);
                    (own.code, own.at) = (codes[*at as usize], 0);
                    *at = (*at + 1) % codes.len() as u32;
                    continue;
                }
                Act::Done => {
                    own.irregular = true;
                    (own.at, own.ready_at) = (own.at + 1, now + 1);
                    if own.done.replace(now).is_none() {
                        self.left -= 1;
                    }
                    return Turn::Taken;
                }
            }
            self.pes[pe].at += 1;
        }
    }

    /// An element is combined by code, if it has come.
    fn call(&mut self, pe: usize, op: u32, cycles: [u32; 2]) -> Turn {
        let own = &self.pes[pe];
        let of = &self.scripts[own.script as usize].ops[op as usize];
        let total = of.words[own.issued[op as usize] as usize % of.words.len()];
        let (part, count) = (own.part, self.movable(own, of, total - own.part));
        if let Some(trace) = &mut self.trace {
            trace.issues(pe, op, self.now);
        }
        if count == 0 {
            return Turn::Left;
        }
        let is_over = part + count >= total;
        let cycles = u64::from(cycles[own.part as usize % 2].max(1));
        let taken = self.put(pe, op, count, is_over, cycles - 1);
        if let Some(trace) = &mut self.trace {
            let script = &self.scripts[self.pes[pe].script as usize];
            let of = (pe, op, &script.ops[op as usize]);
            trace.moves(of, (part, count, total), taken, self.now);
        }
        let own = &mut self.pes[pe];
        own.part += count;
        own.ready_at = self.now + cycles - u64::from(is_over);
        if is_over {
            own.issued[op as usize] += 1;
            (own.at, own.part) = (own.at + 1, 0);
        }
        Turn::Taken
    }
}

fn own_ring(
    given: &crate::machine::plan::Given,
    routers: &[super::state::Router],
    pe: usize,
    color: u32,
) -> bool {
    let router = &routers[pe * given.colors.len() + color as usize];
    let setting = given.settings.get(router.setting as usize);
    setting.is_some_and(|setting| setting.ring)
}

/// What a control wavelet is behind the words of an operation; if the PE's `own` router is a ring, that
/// takes the first of two turns off.
fn command_of(command: Advance, own: bool) -> Command {
    match command {
        Advance::Nothing | Advance::OwnRouter | Advance::Turn => Command::Data,
        Advance::Control => Command::Advance,
        Advance::Reset => Command::Reset,
        Advance::Teardown => Command::Teardown,
        Advance::HandOver => Command::HandOver(1 + u8::from(own)),
    }
}
