//! Every cycle count the engine knows, one table for each clock and architecture, each with its source.
//!
//! Sources: [model] a published performance model of the WSE-2; [fit] chosen so that published
//! measurements come out; [measured] measured on the official simulator; [study] an instruction-level
//! study of the WSE-3 by traces of that simulator and on silicon; [guess] nothing better is known.
//! docs/machine.md, section 4, says how the numbers came about.

use fabsim_lowering::cost::{ScalarTiming, PIPELINE, PIPELINE_WSE2, UNOPTIMIZED};
use fabsim_program::clock::Clock;
use fabsim_program::program::{Arch, Design};
use std::fmt;

/// Queues keep track of what is on a ramp for so many cycles.
const RAMP_LIMIT: u64 = 8;

/// Declares `Timing` together with what finds its numbers by name.
macro_rules! timing {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// Costs in cycles, where they are not called something else.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Timing {
            $($(#[$about])* pub $name: u64,)*
            /// Scalar code.
            pub scalar: ScalarTiming,
        }

        impl Timing {
            /// The numbers by name, in the order of the table.
            pub fn numbers(&self) -> Vec<(&'static str, u64)> {
                let mut all = vec![$((stringify!($name), self.$name)),*];
                all.extend(self.scalar.numbers());
                all
            }

            /// Another number for one of them; false if there is none of that name, or if it
            /// makes no sense: a link has one register at most, and the ramps have an end; what comes down one
            /// is there in the next cycle at the earliest.
            pub fn set(&mut self, name: &str, cycles: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = cycles,)*
                    _ => return self.scalar.set(name, cycles),
                }
                let ramp = self.offramp_cycles.max(self.onramp_cycles + self.send_start_cycles);
                let parts = [
                    self.dsr_use_cycles,
                    self.two_sources_cycles,
                    self.bank_conflict_cycles,
                    self.sum_cycles,
                    self.touched_words,
                ];
                (1..=2).contains(&self.hop_cycles)
                    && self.offramp_cycles >= 1
                    && ramp <= RAMP_LIMIT
                    && parts.iter().all(|part| (1..=100).contains(part))
            }
        }
    };
}

timing! {
    /// From landing in the own router until the compute element can use the value.
    offramp_cycles,
    /// From the end of the executing cycle until the value lands in the own router.
    onramp_cycles,
    /// The same on top, where an operation that reads no wavelets sends: its pipeline fills.
    send_start_cycles,
    /// From leaving a router until a wavelet can leave the next one. At least 1.
    hop_cycles,
    /// Copying one DSD into a DSR, explicitly or as an operand of an operation.
    dsr_load_cycles,
    /// The same on top for a DSD of several dimensions.
    tensor_load_cycles,
    /// From the last such load until the operation that uses the register can begin, the load included.
    dsr_use_cycles,
    /// Issue of an operation, on top of its elements.
    operation_issue_cycles,
    /// The same on top, where a microthread takes the elements.
    async_issue_cycles,
    /// From taking an element of an operation until another operation can read the result in memory.
    memory_result_cycles,
    /// Taking the elements of a call of `@map`.
    map_cycles,
    /// Coming back from such a call.
    map_return_cycles,
    /// 1: low microthreads do not go on while the main thread waits for its own registers, jumps and results.
    exclusive_main,
    /// Dispatch and prologue of a local task.
    task_start_cycles,
    /// From the end of a task until the next one can begin, on top.
    between_tasks_cycles,
    /// Dispatch and prologue of a task that a wavelet starts.
    data_task_start_cycles,
    /// From reset until a PE looks for its first task.
    start_up_cycles,
    /// A scalar instruction.
    scalar_cycles,
    /// A time stamp: reading the counter and storing its three words.
    stamp_cycles,
    /// A scalar f32 division.
    float_divide_cycles,
    /// 0: operations in memory run at the documented rates; 1: as the rest of the table says.
    measured_rates,
    /// How much longer an operation with two vectors as sources takes than documented; not f32 products.
    two_sources_cycles,
    /// An element of a f32 product whose two sources are in the same banks.
    bank_conflict_cycles,
    /// An element that is summed up in one word.
    sum_cycles,
    /// Words in a row that a cycle can touch.
    touched_words,
    /// Hundredths of an element a cycle at most; 0 is no limit: copies of 16 bits,
    half_copy_hundredths,
    /// of 32 bits,
    word_copy_hundredths,
    /// and arithmetic of 16 bits on two vectors.
    half_sum_hundredths,
}

/// [model] the ramps and the hop; [fit] register loads (three of them and one issue are the constant of
/// the measured chain), the issue, and the start-up (a measured program whose tasks are active at
/// start ended 37 cycles later than its stamps account for; 20 are the task's start, 4 its first and
/// last instructions); [measured] the task's start, on wse3: a trivial data task repeats every 32 cycles
/// or so, a dozen of them its instructions; [guess] scalar instructions.
const STREAMS_WSE2: Timing = Timing {
    offramp_cycles: 2,
    onramp_cycles: 2,
    send_start_cycles: 0,
    hop_cycles: 1,
    dsr_load_cycles: 18,
    tensor_load_cycles: 0,
    dsr_use_cycles: 1,
    operation_issue_cycles: 2,
    async_issue_cycles: 0,
    memory_result_cycles: 1,
    map_cycles: 1,
    map_return_cycles: 1,
    exclusive_main: 0,
    task_start_cycles: 20,
    between_tasks_cycles: 0,
    data_task_start_cycles: 20,
    start_up_cycles: 13,
    scalar_cycles: 1,
    stamp_cycles: 1,
    float_divide_cycles: 50,
    measured_rates: 0,
    two_sources_cycles: 1,
    bank_conflict_cycles: 1,
    sum_cycles: 1,
    touched_words: 4,
    half_copy_hundredths: 0,
    word_copy_hundredths: 0,
    half_sum_hundredths: 0,
    scalar: UNOPTIMIZED,
};

/// [measured]: a synchronous `@mov32` lengthens a data task by 13, a load and an issue.
const STREAMS_WSE3: Timing = Timing {
    dsr_load_cycles: 11,
    ..STREAMS_WSE2
};

/// [study] register loads, their use, and that nothing else is added to an operation's elements: read on
/// the WSE-3, and programs of four authors confirm it for the WSE-2; [measured] results in memory: a
/// stencil whose operations take an element each comes out to the cycle on both; [measured] that nothing
/// goes on beside a task's code, waits included: a stencil's exchange with messages of any length;
/// [fit] loads of several dimensions and the starts of tasks; the rest as in `STREAMS_WSE2`.
const SIMFABRIC_WSE2: Timing = Timing {
    dsr_load_cycles: 1,
    tensor_load_cycles: 1,
    dsr_use_cycles: 4,
    operation_issue_cycles: 0,
    async_issue_cycles: 1,
    memory_result_cycles: 3,
    exclusive_main: 1,
    map_cycles: 0,
    map_return_cycles: 0,
    task_start_cycles: 0,
    data_task_start_cycles: 18,
    stamp_cycles: 6,
    measured_rates: 1,
    two_sources_cycles: 2,
    bank_conflict_cycles: 2,
    sum_cycles: 2,
    scalar: PIPELINE_WSE2,
    ..STREAMS_WSE2
};

/// [study] a hop, and what lies between dispatch, router and execution: 7 cycles from the dispatch of a
/// send until its first wavelet leaves the own router, 3 from the last wavelet's arrival until the first
/// cycle of the completion task. [fit] the way up the ramp within that (a chain takes 8 cycles a PE), and
/// what lies between the end of a task and the next one.
const SIMFABRIC_WSE3: Timing = Timing {
    onramp_cycles: 3,
    send_start_cycles: 2,
    hop_cycles: 2,
    between_tasks_cycles: 4,
    data_task_start_cycles: 0,
    tensor_load_cycles: 2,
    stamp_cycles: 12,
    touched_words: 8,
    scalar: PIPELINE,
    ..SIMFABRIC_WSE2
};

const SILICON_WSE2: Timing = SIMFABRIC_WSE2;

/// [study] copies in memory run slower on a wafer than on the simulator.
const SILICON_WSE3: Timing = Timing {
    half_copy_hundredths: 482,
    word_copy_hundredths: 244,
    half_sum_hundredths: 292,
    ..SIMFABRIC_WSE3
};

/// The table of a clock and an architecture.
pub fn timing(clock: Clock, arch: Arch) -> Timing {
    match (clock, arch) {
        (Clock::Streams, Arch::Wse2) => STREAMS_WSE2,
        (Clock::Streams, Arch::Wse3) => STREAMS_WSE3,
        (Clock::Simfabric, Arch::Wse2) => SIMFABRIC_WSE2,
        (Clock::Simfabric, Arch::Wse3) => SIMFABRIC_WSE3,
        (Clock::Silicon, Arch::Wse2) => SILICON_WSE2,
        (Clock::Silicon, Arch::Wse3) => SILICON_WSE3,
    }
}

/// Why numbers by name are no table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TableFault {
    /// The table has no numbers of these names.
    Unknown(Vec<String>),
    /// It has these, too.
    Missing(Vec<&'static str>),
    /// No machine has these numbers together.
    Impossible,
}

impl fmt::Display for TableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableFault::Unknown(names) => write!(f, "there is no constant {}", names.join(", ")),
            TableFault::Missing(names) => write!(f, "it lacks {}", names.join(", ")),
            TableFault::Impossible => write!(
                f,
                "a hop takes 1 or 2 cycles, what lies on a ramp at most {RAMP_LIMIT}, a register is \
                 used 1 cycle after its load at the earliest"
            ),
        }
    }
}

impl Timing {
    /// Puts numbers in place of those of the same names; others count for nothing.
    fn put(&mut self, numbers: &[(String, u64)]) {
        for (name, cycles) in numbers {
            self.set(name, *cycles);
        }
    }

    /// Checks numbers that are to be the whole of this table: each by its name, none missing.
    pub fn check(mut self, numbers: &[(String, u64)]) -> Result<(), TableFault> {
        let known = self.numbers();
        let unknown = numbers
            .iter()
            .filter(|(name, _)| !known.iter().any(|(own, _)| own == name));
        let unknown: Vec<String> = unknown.map(|(name, _)| name.clone()).collect();
        if !unknown.is_empty() {
            return Err(TableFault::Unknown(unknown));
        }
        let given = |own: &str| numbers.iter().any(|(name, _)| name == own);
        let missing: Vec<&str> = known.iter().map(|(own, _)| *own).collect();
        let missing: Vec<&str> = missing.into_iter().filter(|own| !given(own)).collect();
        if !missing.is_empty() {
            return Err(TableFault::Missing(missing));
        }
        self.put(numbers);
        let hop = self.hop_cycles;
        match self.set("hop_cycles", hop) {
            true => Ok(()),
            false => Err(TableFault::Impossible),
        }
    }
}

/// The table that a design counts by.
///
/// [fit] Compilers before 1.0 brought a descriptor into its register in some 18 cycles: the 22 points of
/// the measured reduce have 18 a load before the first operation (three and 2 are its 56) and between
/// two (one and 2 are 18 to 21). It is code, not the machine: the same synchronous operations from
/// registers that are loaded take a cycle or two in programs of later compilers.
pub fn timing_of(design: &Design) -> Timing {
    let mut table = timing(design.clock, design.arch);
    table.put(&design.constants);
    if !design.older || design.clock == Clock::Streams {
        return table;
    }
    Timing {
        dsr_load_cycles: 18,
        dsr_use_cycles: 3,
        ..table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_found_by_its_name_and_no_other_is() {
        let mut table = timing(Clock::Simfabric, Arch::Wse3);
        for (name, _) in table.numbers() {
            assert!(table.set(name, 1), "{name}");
        }
        assert!(table.numbers().iter().all(|&(_, cycles)| cycles == 1));
        let mut names: Vec<&str> = table.numbers().iter().map(|&(name, _)| name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(!table.set("no_such_number", 1));
    }

    #[test]
    fn a_table_has_every_number_and_no_other() {
        let table = timing(Clock::Simfabric, Arch::Wse3);
        let mut numbers: Vec<(String, u64)> = table
            .numbers()
            .into_iter()
            .map(|(name, cycles)| (name.to_string(), cycles))
            .collect();
        assert_eq!(table.check(&numbers), Ok(()));
        assert_eq!(
            table.check(&numbers[1..]),
            Err(TableFault::Missing(vec!["offramp_cycles"]))
        );
        numbers[0].1 = 9;
        assert_eq!(table.check(&numbers), Err(TableFault::Impossible));
        numbers[0].0 = "offramp".into();
        let unknown = TableFault::Unknown(vec!["offramp".into()]);
        assert_eq!(table.check(&numbers), Err(unknown));
    }

    #[test]
    fn a_hop_takes_a_cycle_or_two_and_a_ramp_ends() {
        let table = timing(Clock::Simfabric, Arch::Wse3);
        for (name, cycles) in [("hop_cycles", 0), ("hop_cycles", 3), ("offramp_cycles", 9)] {
            assert!(!{ table }.set(name, cycles), "{name} = {cycles}");
        }
        assert!(!{ table }.set("offramp_cycles", 0));
        assert!({ table }.set("onramp_cycles", 0));
    }
}
