//! What the code of a PE does: how its tasks start entries of the step tables, as the template
//! `exchange_pe.csl.j2` prints it.
//!
//! When a task starts, all it will do is worked out at once, as moves: code alone decides it.

use crate::line::Action;
use crate::others::Stretch;
use crate::state::{Evaluation, Move, Operation, PeState, Task, Way};

impl Evaluation<'_> {
    /// The code of a PE has had the last slot of an instruction, or the first one of the next.
    pub fn go_on(&mut self, pe: usize) {
        if self.pes[pe].slots < 0 {
            self.pes[pe].slots = 0;
            self.make_moves(pe);
            let own = &mut self.pes[pe];
            if own.slots == 0 {
                return;
            }
            own.slots -= 1;
            if own.slots > 0 {
                return;
            }
        }
        self.pes[pe].ready = self.now + 1;
        self.make_moves(pe);
    }

    /// What the code does at once, up to its next instruction; or its end.
    fn make_moves(&mut self, pe: usize) {
        while let Some(&next) = self.pes[pe].moves.get(self.pes[pe].next) {
            let own = &mut self.pes[pe];
            own.next += 1;
            match next {
                Move::Code(_) | Move::Wait(_) => {
                    own.at = own.next - 1;
                    let code = own.moves[own.at..].iter().map(|one| one.cycles());
                    let code = code.take_while(|&cycles| cycles > 0);
                    (own.slots, own.next) = code.fold((0, own.at), |(slots, next), cycles| {
                        (slots + cycles, next + 1)
                    });
                    own.behind = own.slots - next.cycles();
                    return;
                }
                Move::Leave => (own.free, own.ended) = (self.now, own.ended.max(self.now - 1)),
                Move::Take {
                    lane,
                    elements,
                    passing,
                } => {
                    self.lanes[lane].to_take = elements;
                    self.lanes[lane].progress.passing = passing;
                    own.operations.push(Operation {
                        lane,
                        way: Way::Takes,
                    });
                    self.under_way += 1;
                }
                Move::Send { lane, elements } => {
                    self.lanes[lane].to_send = elements;
                    own.operations.push(Operation {
                        lane,
                        way: Way::Sends,
                    });
                    self.under_way += 1;
                }
            }
        }
        let own = &mut self.pes[pe];
        own.active = false;
        own.idle = self.now + 1 + self.line.machine.between;
        if let Some(last) = self.stretches.as_mut().and_then(|of| of[pe].last_mut()) {
            last.end = self.now + 1;
        }
        self.under_way -= 1;
        self.start_task(pe);
    }

    /// An operation has ended, and with it perhaps its entry.
    pub fn operation_ended(&mut self, pe: usize, lane: usize) {
        self.under_way -= 1;
        self.pes[pe].ended = self.now;
        let progress = &mut self.lanes[lane].progress;
        progress.runs -= 1;
        if progress.runs == 0 {
            progress.pending = true;
            self.lanes[lane].due = self.now + 1 + self.line.machine.task;
            if !self.pes[pe].active {
                self.start_task(pe);
            }
        }
    }

    /// The task of an entry that has ended starts, if there is one: of two not the one that was last
    /// again.
    fn start_task(&mut self, pe: usize) {
        let each = self.line.lanes_each;
        for turn in 1..=each {
            let index = (self.pes[pe].last + turn) % each;
            let lane = pe * each + index;
            if !std::mem::take(&mut self.lanes[lane].progress.pending) {
                continue;
            }
            let own = &mut self.pes[pe];
            (own.last, own.active, own.slots) = (index, true, 0);
            let (due, between) = (self.lanes[lane].due, self.line.machine.between);
            own.ready = self.others.free(pe, due, own.idle.max(due), between);
            own.next = 0;
            own.moves.clear();
            self.under_way += 1;
            if let Some(stretches) = &mut self.stretches {
                let begin = self.pes[pe].ready;
                let end = begin;
                stretches[pe].push(Stretch { due, begin, end });
            }
            self.task(pe, lane);
            if let Some(tasks) = &mut self.tasks {
                let moves = self.pes[pe].moves.clone();
                let lane = Some(index);
                tasks.push(Task { pe, lane, moves });
            }
            return;
        }
    }

    /// The phase is called at every PE that has entries; `deep[pe]` is what returning behind takes.
    pub fn begin(&mut self, deep: &[i64]) {
        let line = self.line;
        let code = &line.machine.code;
        for (pe, &returning) in deep.iter().enumerate() {
            let lanes = line.lanes_of(pe).filter(|&lane| line.has_entries(lane));
            let lanes: Vec<usize> = lanes.collect();
            if lanes.is_empty() {
                continue;
            }
            self.under_way += 1;
            let own = &mut self.pes[pe];
            own.active = true;
            own.code(line.beginning);
            for &lane in &lanes {
                own.code(line.lanes[lane].begins);
            }
            if line.lanes_each == 1 {
                if self.entries(pe, lanes[0]) {
                    self.pes[pe].jump(code.jump);
                }
            } else {
                self.test(pe, 1, false);
                self.steps(pe);
            }
            self.pes[pe].code(line.machine.frame + returning);
        }
    }

    /// An entry has ended.
    fn task(&mut self, pe: usize, lane: usize) {
        let code = &self.line.machine.code;
        self.pes[pe].code(self.line.machine.dispatch);
        if self.line.lanes_each == 1 {
            if self.entries(pe, lane) {
                self.pes[pe].jump(code.meet);
            }
        } else {
            if !self.ends_step(pe, lane) {
                self.start_entry(pe, lane);
                self.go_on_in_step(pe, lane);
            }
            let goes_on = self.pes[pe].running > 0;
            self.test(pe, 1, goes_on);
            if !goes_on {
                self.pes[pe].jump(code.no_jump);
                self.steps(pe);
            }
        }
        self.pes[pe].code(self.line.machine.frame);
    }

    /// What is in memory is compared: so many loads, as many instructions more, and a jump that is
    /// taken or not.
    fn test(&mut self, pe: usize, loads: i64, jumps: bool) {
        let code = &self.line.machine.code;
        let jump = if jumps { code.jump } else { code.no_jump };
        self.pes[pe].code(2 * loads);
        self.pes[pe].jump(jump);
    }

    /// A bit of what is in memory is compared, which takes an instruction more.
    fn test_bit(&mut self, pe: usize, jumps: bool) {
        self.pes[pe].code(1);
        self.test(pe, 1, jumps);
    }

    /// Whether the entry under way ends its lane's part in a step. One lane less is in it then, and
    /// what else there is to do is jumped over.
    fn ends_step(&mut self, pe: usize, lane: usize) -> bool {
        let ends = self.line.ends(lane, self.lanes[lane].progress.begun - 1);
        self.test_bit(pe, !ends);
        if ends {
            let code = &self.line.machine.code;
            self.pes[pe].code(code.counter);
            self.pes[pe].jump(code.jump);
            self.pes[pe].running -= 1;
        }
        ends
    }

    /// Whether there is no further entry at a lane.
    fn is_over(&self, lane: usize) -> bool {
        let begun = self.lanes[lane].progress.begun;
        self.line.entry(lane, begun).is_none()
    }

    /// What follows the phase is called.
    fn leave(&mut self, pe: usize) {
        self.pes[pe].code(self.line.machine.code.step_over);
        self.pes[pe].moves.push(Move::Leave);
    }

    /// Entries of a PE's only lane begin until one is under way; whether there is one.
    fn entries(&mut self, pe: usize, lane: usize) -> bool {
        let mut over = self.is_over(lane);
        self.test_bit(pe, over);
        while !over {
            self.start_entry(pe, lane);
            self.prepare_next(pe, lane);
            let waits = self.lanes[lane].progress.runs > 0;
            self.test_bit(pe, !waits);
            if waits {
                return true;
            }
            over = self.is_over(lane);
            self.test_bit(pe, !over);
        }
        self.leave(pe);
        false
    }

    /// Steps begin until one is under way; no lane is within a step.
    fn steps(&mut self, pe: usize) {
        let line = self.line;
        let code = &line.machine.code;
        let lanes = line.lanes_of(pe).filter(|&lane| line.has_entries(lane));
        let lanes: Vec<usize> = lanes.collect();
        loop {
            let over = self.is_over(lanes[0]);
            self.pes[pe].code(1); // kinds are compared by one bit
            self.test(pe, line.lanes_each as i64, !over);
            if over {
                self.leave(pe);
                self.pes[pe].jump(code.jump);
                break;
            }
            self.pes[pe].code(code.step_begun);
            for &lane in &lanes {
                self.pes[pe].running += 1;
                self.start_entry(pe, lane);
            }
            for &lane in &lanes {
                self.go_on_in_step(pe, lane);
            }
            let again = self.pes[pe].running == 0;
            self.test(pe, 1, again);
            if !again {
                break;
            }
        }
    }

    /// The prepared entry becomes the one under way.
    fn start_entry(&mut self, pe: usize, lane: usize) {
        let (line, own) = (self.line, &mut self.pes[pe]);
        let progress = &mut self.lanes[lane].progress;
        let kind = line.kind(lane, progress.begun);
        let entry = line
            .entry(lane, progress.begun)
            .copied()
            .unwrap_or_default();
        progress.begun += 1;
        progress.runs = kind.operations();
        for action in &kind.actions {
            let into = |elements, passing| Move::Take {
                lane,
                elements,
                passing,
            };
            match *action {
                Action::Code(cycles) => own.code(cycles),
                Action::Wait(cycles) => own.wait(cycles),
                Action::Apply => own.code(entry.applying),
                Action::Receive => own.moves.push(into(entry.into, false)),
                Action::Pass => own.moves.push(into(entry.passed, true)),
                Action::Send => own.moves.push(Move::Send {
                    lane,
                    elements: entry.out,
                }),
            }
        }
    }

    /// Behind a start: the next entry is prepared.
    fn prepare_next(&mut self, pe: usize, lane: usize) {
        let begun = self.lanes[lane].progress.begun;
        for action in &self.line.kind(lane, begun).prepared {
            match *action {
                Action::Code(cycles) => self.pes[pe].code(cycles),
                Action::Wait(cycles) => self.pes[pe].wait(cycles),
                _ => {}
            }
        }
    }

    /// Entries of a step begin until one is under way.
    fn go_on_in_step(&mut self, pe: usize, lane: usize) {
        self.prepare_next(pe, lane);
        let waits = self.lanes[lane].progress.runs > 0;
        self.test_bit(pe, waits);
        while self.lanes[lane].progress.runs == 0 {
            if self.ends_step(pe, lane) {
                break;
            }
            self.start_entry(pe, lane);
            self.prepare_next(pe, lane);
            let again = self.lanes[lane].progress.runs == 0;
            self.test_bit(pe, again);
        }
    }
}

impl PeState {
    /// Cycles of code, counted together with those before them.
    fn code(&mut self, cycles: i64) {
        if let Some(Move::Code(before)) = self.moves.last_mut() {
            *before += cycles;
        } else if cycles > 0 {
            self.moves.push(Move::Code(cycles));
        }
    }

    /// Cycles in which the code waits, counted together with those before them.
    fn wait(&mut self, cycles: i64) {
        if let Some(Move::Wait(before)) = self.moves.last_mut() {
            *before += cycles;
        } else if cycles > 0 {
            self.moves.push(Move::Wait(cycles));
        }
    }

    /// A jump is an instruction, and the wait for where it leads to.
    fn jump(&mut self, cycles: i64) {
        if cycles > 0 {
            self.code(1);
            self.wait(cycles - 1);
        }
    }
}
