//! The tasks of a PE of a stream, one at a time: what they issue, and when the next one may run.

use std::collections::VecDeque;

use crate::streams::{Line, Operation};

/// The code that a PE is running: what is behind the last issue of a task, or what leads up to the
/// first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Instructions that are left.
    pub left: i64,
    /// The first cycle in which one of them may run.
    pub from: i64,
    /// If they lead up to an issue: the operation whose end the task follows, and the least `begins`
    /// of those that it issues.
    behind: Option<(usize, i64)>,
    /// The first cycle in which the PE may run a task, once no instruction is left.
    free: i64,
    /// Operations that have ended, whose tasks wait.
    waiting: VecDeque<usize>,
}

impl<'a> Line<'a> {
    /// What begins at once is issued, and what is behind operations without wavelets begins.
    pub fn begin(&mut self) {
        for (at, place) in self.places.iter().enumerate() {
            let at_once = place.operations.iter().filter(|one| one.after.is_none());
            if let Some(issued) = at_once.map(|one| one.begins).max() {
                self.set_code_behind(at, issued, place.code);
            }
            for (number, one) in place.operations.iter().enumerate() {
                if one.after.is_none() {
                    self.take_turns(at, number);
                }
                if one.wavelets == 0 {
                    self.begin_behind(at, number, one.begins + self.machine.to_slot(one));
                }
            }
        }
    }

    /// An operation may have slots from now on, behind those issued before.
    fn take_turns(&mut self, at: usize, number: usize) {
        if self.left[at][number] > 0 {
            self.running[at].push(number);
        }
    }

    /// The last operation of a task is issued in a cycle; `code` instructions follow, up to the return.
    fn set_code_behind(&mut self, at: usize, cycle: i64, code: i64) {
        self.code[at].left = code;
        self.code[at].from = cycle + 1;
    }

    /// The first cycle in which a PE may run a task, as nothing goes before what is left of its code.
    pub fn free(&self, at: usize) -> i64 {
        let code = &self.code[at];
        if code.left == 0 {
            return code.free;
        }
        self.now.max(code.from) + code.left + self.machine.between
    }

    /// The operations that begin behind one, by their numbers.
    fn followers(&self, at: usize, number: usize) -> impl Iterator<Item = (usize, &'a Operation)> {
        let operations = self.places[at].operations.iter().enumerate();
        operations.filter(move |(_, one)| one.after == Some(number))
    }

    /// What begins behind an operation that is over in cycle `end` is issued by a task, each of whose
    /// instructions takes a slot.
    fn begin_behind(&mut self, at: usize, number: usize, end: i64) {
        let Some(begins) = self.followers(at, number).map(|one| one.1.begins).min() else {
            return;
        };
        let from = end.max(self.code[at].free - 1);
        self.code[at].left = begins - self.machine.issue;
        self.code[at].from = from + 1;
        self.code[at].behind = Some((number, begins));
        if self.code[at].left <= 0 {
            self.issue_behind(at, from + begins);
        }
    }

    /// A task issues its operations, the first of them in a cycle, the others as much later as their
    /// `begins` are greater.
    fn issue_behind(&mut self, at: usize, cycle: i64) {
        let Some((number, first)) = self.code[at].behind.take() else {
            return;
        };
        let mut last = cycle;
        for (other, one) in self.followers(at, number) {
            let issued = cycle + one.begins - first;
            self.starts[at][other] = issued + self.machine.to_slot(one);
            self.take_turns(at, other);
            last = last.max(issued);
        }
        self.set_code_behind(at, last, 1);
    }

    /// An operation is over: what begins behind it waits for its turn.
    pub fn is_over(&mut self, at: usize, number: usize) {
        self.code[at].waiting.push_back(number);
        self.run_tasks(at);
    }

    /// Tasks begin that are due, one behind another: while code is left, the others wait.
    fn run_tasks(&mut self, at: usize) {
        while self.code[at].left == 0 {
            let Some(number) = self.code[at].waiting.pop_front() else {
                return;
            };
            self.begin_behind(at, number, self.now);
        }
    }

    /// The PE's slot goes to an instruction of its code.
    pub fn instruction(&mut self, at: usize) {
        self.code[at].left -= 1;
        if self.code[at].left > 0 {
            return;
        }
        if self.code[at].behind.is_some() {
            self.issue_behind(at, self.now + self.machine.issue);
        } else {
            self.code[at].free = self.now + 1 + self.machine.between;
            self.run_tasks(at);
        }
    }
}
