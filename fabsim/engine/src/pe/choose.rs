//! Which of the threads of a compute element issues an instruction.

use super::element::Pe;
use super::env::Env;
use super::event::Choice;
use super::settings::MainPriority;
use fabsim_program::program::Priority;

impl Pe {
    pub(crate) fn choose(&self, env: &Env) -> Choice {
        if self.core.main_priority != MainPriority::MediumLow {
            return self.choose_raised(env);
        }
        if self.threads.len() < 2 {
            return self.choose_of_two(env);
        }
        if let Some(n) = self.ready_thread(env, Priority::High) {
            return Choice::Thread(n);
        }
        if let Some(n) = self.ready_thread(env, Priority::Medium) {
            return Choice::Thread(n);
        }
        if self.main.can_step(&self.core, env.now) {
            return Choice::Main;
        }
        if self.is_held(env) {
            return Choice::Nothing;
        }
        match self.ready_thread(env, Priority::Low) {
            Some(n) => Choice::Thread(n),
            None => Choice::Nothing,
        }
    }

    /// The same where the first turn of a task would be in the cycle behind the last one of another task: a
    /// microthread that can go on has it, whatever its priority. Tasks that follow each other for ever would
    /// keep it from ever beginning.
    #[cold]
    pub(crate) fn choose_between_tasks(&mut self, env: &Env) -> Choice {
        self.main.gives_way = false;
        [Priority::High, Priority::Medium, Priority::Low]
            .into_iter()
            .find_map(|priority| self.ready_thread(env, priority))
            .map_or(Choice::Main, Choice::Thread)
    }

    /// Whether low microthreads have to wait for the main thread although it issues nothing.
    #[inline]
    fn is_held(&self, env: &Env) -> bool {
        env.plan.timing.exclusive_main > 0 && self.main.holds(env.now)
    }

    /// `choose`, where there is one microthread at most.
    #[inline]
    fn choose_of_two(&self, env: &Env) -> Choice {
        let ready = self.threads.first().filter(|running| {
            self.core.blocked_threads >> (running.thread & 7) & 1 == 0
                && running.can_step(&self.core, env.now)
        });
        match ready {
            Some(running) if running.priority != Priority::Low => Choice::Thread(0),
            _ if self.main.can_step(&self.core, env.now) => Choice::Main,
            Some(_) if self.is_held(env) => Choice::Nothing,
            Some(_) => Choice::Thread(0),
            None => Choice::Nothing,
        }
    }

    /// `choose` for a main thread of more than the usual priority. Among equals it takes turns with
    /// all microthreads of that priority together.
    #[cold]
    fn choose_raised(&self, env: &Env) -> Choice {
        let level = self.core.main_priority;
        let main = self.main.can_step(&self.core, env.now);
        let after = |priority| match level {
            MainPriority::High => priority != Priority::High || self.core.main_turn,
            MainPriority::MediumHigh => priority != Priority::High,
            MainPriority::Medium => {
                priority == Priority::Low || priority == Priority::Medium && self.core.main_turn
            }
            MainPriority::MediumLow => priority == Priority::Low,
        };
        let mut waiting = None;
        for priority in [Priority::High, Priority::Medium, Priority::Low] {
            let thread = self.ready_thread(env, priority);
            match thread {
                Some(_) if main && after(priority) => return Choice::Main,
                Some(n) => {
                    waiting = Some(n);
                    break;
                }
                None => {}
            }
        }
        match waiting {
            Some(n) => Choice::Thread(n),
            None if main => Choice::Main,
            None => Choice::Nothing,
        }
    }

    /// The microthread that goes first among equals; 0 if there is none.
    #[inline]
    pub(crate) fn first_thread(&self) -> usize {
        let turn = usize::from(self.turn);
        match turn < self.threads.len() {
            true => turn,
            false => turn % self.threads.len().max(1),
        }
    }

    /// The microthread whose turn it is among those of a priority that can go on.
    #[inline]
    pub(crate) fn ready_thread(&self, env: &Env, priority: Priority) -> Option<usize> {
        match self.core.may_have(priority) {
            true => self.ready_among(env, priority),
            false => None,
        }
    }

    fn ready_among(&self, env: &Env, priority: Priority) -> Option<usize> {
        let count = self.threads.len();
        let mut n = self.first_thread();
        for _ in 0..count {
            let running = &self.threads[n];
            let can_go = running.priority == priority
                && self.core.blocked_threads >> (running.thread & 7) & 1 == 0
                && running.can_step(&self.core, env.now);
            if can_go {
                return Some(n);
            }
            n = if n + 1 < count { n + 1 } else { 0 };
        }
        None
    }
}
