//! Threads that work together, several times a cycle.
//!
//! Putting a thread to sleep and waking it takes longer than many a cycle does. So whoever waits for the
//! others first looks again and again, for about as long as sleep and waking would take, and sleeps only
//! then. Where that has not paid of late, since other programs have the processors, it sleeps sooner.
//!
//! Nobody waits for a thread that has yet to wake: what it would have done the others do, and it takes part
//! the next time.

use std::any::Any;
use std::hint::spin_loop;
use std::io;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How long a thread looks for something to do before it sleeps: as long as sleep and waking take.
const LONGEST: Duration = Duration::from_micros(50);
/// The same where that has not paid.
const SHORTEST: Duration = Duration::from_micros(1);
/// Looks between two looks at the clock.
const LOOKS: usize = 16;

/// What members do, each with its number: all there is to do, as far as others have not begun with it.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// The threads beside the one that asks them to work.
#[derive(Debug)]
pub struct Team {
    shared: Arc<Shared>,
    members: Vec<JoinHandle<()>>,
    patience: Patience,
}

/// A piece of work, and who waits for its end.
#[derive(Clone)]
struct Task {
    work: &'static Work<'static>,
    caller: Thread,
}

#[derive(Default)]
struct Shared {
    /// How many tasks there have been; the end of the team counts as one. It changes only while `task` is locked.
    posted: AtomicUsize,
    /// The last of them, as long as members may begin with it.
    task: Mutex<Option<Task>>,
    /// Members that have begun with it and not finished. It grows only while `task` is locked.
    busy: AtomicUsize,
    /// The team has ended.
    ended: AtomicBool,
    /// What the first member that panicked did so with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// No task and no panic is half written, whatever happened to a thread that held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Team {
    /// A team of so many threads beside the caller's, or the system's error if it has none to give.
    pub fn new(others: usize) -> io::Result<Team> {
        let mut team = Team {
            shared: Arc::default(),
            members: Vec::new(),
            patience: Patience::default(),
        };
        for number in 1..=others {
            let shared = Arc::clone(&team.shared);
            let name = format!("fabsim {number}");
            let member = move || shared.serve(number);
            team.members
                .push(thread::Builder::new().name(name).spawn(member)?);
        }
        Ok(team)
    }

    /// How many threads there are, with the caller's.
    pub fn size(&self) -> usize {
        self.members.len() + 1
    }

    /// Calls `work` by this thread, which is number 0, and by each member that is awake before this thread has
    /// finished; returns when all of them have.
    pub fn run(&mut self, work: &Work) {
        // SAFETY: only the lifetime changes, and `work` is called by nobody after this function has ended. A
        // member calls it only after it has found it in `task` and, before unlocking that, counted itself in
        // `busy`. From `post` on this function neither returns nor unwinds before it has emptied `task`, so
        // that nobody begins any more, and then read 0 from `busy`: `work(0)` is the only thing that may panic,
        // and that is caught. Each decrement happens before that read (AcqRel, Acquire).
        let work = unsafe { std::mem::transmute::<&Work, &'static Work<'static>>(work) };
        let caller = thread::current();
        self.post(Some(Task { work, caller }));
        let own = catch_unwind(AssertUnwindSafe(|| work(0)));
        *lock(&self.shared.task) = None;
        let busy = &self.shared.busy;
        self.patience.wait(|| busy.load(Ordering::Acquire) == 0);
        let theirs = lock(&self.shared.panic).take();
        if let Some(panic) = own.err().or(theirs) {
            resume_unwind(panic);
        }
    }

    /// Says that there is something new. Its number changes with it, so that nobody takes it twice.
    fn post(&self, task: Option<Task>) {
        let mut place = lock(&self.shared.task);
        *place = task;
        self.shared.posted.fetch_add(1, Ordering::Release);
        drop(place);
        for member in &self.members {
            member.thread().unpark();
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.post(None);
        for member in self.members.drain(..) {
            // Its panics have been passed on.
            let _ = member.join();
        }
    }
}

impl Shared {
    /// What a member does all its life.
    fn serve(&self, number: usize) {
        let mut patience = Patience::default();
        let mut served = 0;
        loop {
            let has_ended = || self.ended.load(Ordering::Acquire);
            patience.wait(|| self.posted.load(Ordering::Acquire) != served || has_ended());
            if has_ended() {
                return;
            }
            let Some(Task { work, caller }) = self.begin(&mut served) else {
                continue;
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(number))) {
                lock(&self.panic).get_or_insert(panic);
            }
            if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
                caller.unpark();
            }
        }
    }

    /// The last task, if it is not too late for it; its number.
    fn begin(&self, number: &mut usize) -> Option<Task> {
        let task = lock(&self.task);
        *number = self.posted.load(Ordering::Relaxed);
        if task.is_some() {
            self.busy.fetch_add(1, Ordering::Relaxed);
        }
        task.clone()
    }
}

/// How long a thread looks before it sleeps.
#[derive(Debug)]
struct Patience {
    bound: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { bound: LONGEST }
    }
}

impl Patience {
    /// Returns when `is_ready`; whoever makes it so has to unpark this thread afterwards.
    fn wait(&mut self, is_ready: impl Fn() -> bool) {
        if is_ready() {
            return;
        }
        let begun = Instant::now();
        while begun.elapsed() < self.bound {
            for _ in 0..LOOKS {
                if is_ready() {
                    return self.learn(begun.elapsed());
                }
                spin_loop();
            }
        }
        while !is_ready() {
            thread::park();
        }
        self.learn(begun.elapsed());
    }

    /// The wait was that long, of which sleep and waking may have been the half.
    fn learn(&mut self, waited: Duration) {
        self.bound = match waited < 2 * LONGEST {
            true => (2 * self.bound).min(LONGEST),
            false => (self.bound / 2).max(SHORTEST),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// Waits until so many members are at it.
    fn at_once(here: &AtomicUsize, count: usize) {
        here.fetch_add(1, Ordering::Relaxed);
        while here.load(Ordering::Relaxed) < count {
            thread::yield_now();
        }
    }

    #[test]
    fn whoever_has_begun_has_finished_when_it_returns_however_long_they_waited() {
        let mut team = Team::new(3).expect("threads");
        let (begun, finished) = (AtomicU64::new(0), AtomicU64::new(0));
        for round in 1..=300u64 {
            if round % 100 == 0 {
                thread::sleep(4 * LONGEST);
            }
            team.run(&|_| {
                begun.fetch_add(1, Ordering::Relaxed);
                if round % 7 == 0 {
                    thread::sleep(LONGEST);
                }
                finished.fetch_add(1, Ordering::Relaxed);
            });
            let all = begun.load(Ordering::Relaxed);
            assert_eq!(finished.load(Ordering::Relaxed), all);
            assert!((round..=4 * round).contains(&all));
        }
    }

    #[test]
    fn members_that_are_awake_take_part_each_once() {
        let mut team = Team::new(3).expect("threads");
        for _ in 0..50 {
            let here = AtomicUsize::new(0);
            let times = [const { AtomicU64::new(0) }; 4];
            team.run(&|number| {
                times[number].fetch_add(1, Ordering::Relaxed);
                at_once(&here, 4);
            });
            assert!(times.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn a_panic_is_passed_on_when_all_have_finished_and_the_team_goes_on() {
        let mut team = Team::new(2).expect("threads");
        for failing in 0..3 {
            let (here, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |number| {
                at_once(&here, 3);
                assert_ne!(number, failing, "on purpose");
                thread::sleep(Duration::from_millis(2));
                done.fetch_add(1, Ordering::Relaxed);
            };
            assert!(catch_unwind(AssertUnwindSafe(|| team.run(&work))).is_err());
            assert_eq!(done.into_inner(), 2);
        }
        let (here, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        team.run(&|_| {
            at_once(&here, 3);
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 3);
    }

    #[test]
    fn waits_that_are_too_long_shorten_looking_and_short_ones_lengthen_it() {
        let mut patience = Patience::default();
        (0..9).for_each(|_| patience.learn(Duration::from_millis(3)));
        assert_eq!(patience.bound, SHORTEST);
        (0..9).for_each(|_| patience.learn(Duration::from_micros(20)));
        assert_eq!(patience.bound, LONGEST);
    }
}
