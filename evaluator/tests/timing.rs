//! Lines of a few PEs whose cycles can be counted by hand.

use collc_evaluator::line::{Action, Code, Entry, Kind, Lane, Line, Machine};
use collc_evaluator::others::Stretch;
use collc_evaluator::timing::{run, tasks, Budget, Calls, Failure, Timing};

const SEND: usize = 0;
const RECEIVE: usize = 1;
const PASS: usize = 2;
const BEYOND: usize = 3;
const MANY: i64 = 1 << 40;

fn machine() -> Machine {
    Machine {
        ramp_up: 2,
        send_start: 0,
        ramp_down: 3,
        hop: 1,
        router_queue: 4,
        output_queue: 8,
        input_queue: 8,
        group: 1,
        task: 5,
        dispatch: 0,
        between: 0,
        frame: 1,
        code: Code {
            jump: 1,
            no_jump: 1,
            ..Code::default()
        },
    }
}

fn kinds() -> Vec<Kind> {
    let kind = |action| Kind {
        prepared: Vec::new(),
        actions: vec![Action::Code(1), action],
        ends: true,
    };
    let beyond = Kind {
        prepared: Vec::new(),
        actions: vec![],
        ends: true,
    };
    vec![
        kind(Action::Send),
        kind(Action::Receive),
        kind(Action::Pass),
        beyond,
    ]
}

fn entry(kind: usize, count: i64) -> Entry {
    let of = |one| if kind == one { count } else { 0 };
    Entry {
        kind,
        into: of(RECEIVE),
        out: of(SEND),
        passed: of(PASS),
        applying: 0,
    }
}

/// PEs of one lane with an entry each; `ways` says for each where it sends to, over which links.
fn line(machine: Machine, entries: &[Entry], ways: &[Option<(usize, Vec<usize>)>]) -> Line {
    let lane = |(at, way): (usize, &Option<(usize, Vec<usize>)>)| Lane {
        entries: at..at + 1,
        beyond: BEYOND,
        target: way.as_ref().map(|(target, _)| *target),
        links: way.as_ref().map_or(vec![], |(_, links)| links.clone()),
        begins: 0,
    };
    let lanes = ways.iter().enumerate().map(lane).collect();
    Line::new(machine, 1, 0, kinds(), entries.to_vec(), lanes).unwrap()
}

/// One PE sends so many wavelets over so many links to another.
fn pair(machine: Machine, count: i64, hops: usize) -> Line {
    let ways = [Some((1, (0..hops).collect())), None];
    line(machine, &[entry(SEND, count), entry(RECEIVE, count)], &ways)
}

fn follow(line: &Line, most: i64, enough: i64) -> Result<Timing, Failure> {
    let none = vec![0; line.pes()];
    let calls = Calls {
        called: &none,
        deep: &none,
    };
    let is_interrupted = &mut || false;
    run(
        line,
        calls,
        None,
        Budget {
            most,
            enough,
            is_interrupted,
        },
    )
}

fn timing(line: &Line) -> Timing {
    follow(line, MANY, MANY).unwrap()
}

#[test]
fn an_element_takes_both_ramps_and_the_hops_between() {
    let of = |machine, hops| timing(&pair(machine, 1, hops)).ended;
    let near = of(machine(), 1);
    // sent in one cycle, up the ramp, over the link, down the ramp, and taken
    assert_eq!(near[1] - near[0], 2 + 1 + 3);
    assert_eq!(of(machine(), 5)[1], near[1] + 4);
    let slow = Machine {
        hop: 2,
        ..machine()
    };
    assert_eq!(of(slow, 5)[1], near[1] + 9);
}

#[test]
fn elements_follow_each_other_in_every_cycle() {
    let end = |count| timing(&pair(machine(), count, 3)).ended[1];
    assert_eq!(end(100) - end(1), 99);
    assert_eq!(end(5000) - end(100), 4900);
}

#[test]
fn a_queue_of_one_element_holds_the_stream_up() {
    let end = |output_queue| {
        let machine = Machine {
            ramp_up: 3,
            output_queue,
            ..machine()
        };
        timing(&pair(machine, 100, 1)).ended[1]
    };
    assert_eq!(end(1) - end(2), 99);
    assert_eq!(end(2), end(8));
}

#[test]
fn elements_that_come_hold_up_code_but_not_what_it_waits_for() {
    let free = |action| {
        let mut line = pair(machine(), 20, 1);
        line.kinds[RECEIVE].actions.push(action);
        timing(&line).free[1]
    };
    // the elements come in its cycles, and code would have to make up for them
    assert!(free(Action::Wait(20)) + 5 < free(Action::Code(20)));
}

#[test]
fn what_repeats_is_leapt_over_with_the_same_end() {
    let line = pair(machine(), 5000, 3);
    let (followed, leapt) = (timing(&line), follow(&line, MANY, 200).unwrap());
    assert_eq!(
        (&leapt.free, &leapt.ended),
        (&followed.free, &followed.ended)
    );
    assert!(leapt.looks * 5 < followed.looks);
}

#[test]
fn whoever_lets_pass_takes_and_sends_in_one_slot() {
    let entries = [entry(SEND, 100), entry(PASS, 100), entry(RECEIVE, 100)];
    let ways = [Some((1, vec![0])), Some((2, vec![1])), None];
    let end = timing(&line(machine(), &entries, &ways)).ended;
    assert_eq!((end[1] - end[0], end[2] - end[1]), (6, 6));
}

#[test]
fn a_link_that_two_use_carries_one_element_in_a_cycle() {
    let entries = [
        entry(SEND, 100),
        entry(SEND, 100),
        entry(RECEIVE, 100),
        entry(RECEIVE, 100),
    ];
    let ways = |second| [Some((2, vec![0])), Some((3, vec![second])), None, None];
    let apart = timing(&line(machine(), &entries, &ways(1))).ended;
    let shared = timing(&line(machine(), &entries, &ways(0))).ended;
    assert_eq!(apart[2], apart[3]);
    assert!(shared[3].max(shared[2]) >= apart[3] + 95);
}

#[test]
fn a_line_that_gets_stuck_names_who_waits() {
    let entries = [entry(SEND, 10), entry(RECEIVE, 11)];
    let ways = [Some((1, vec![0])), None];
    let stuck = follow(&line(machine(), &entries, &ways), MANY, MANY);
    assert_eq!(stuck, Err(Failure::Stuck(vec![1])));
}

#[test]
fn a_budget_that_is_spent_is_told_and_the_rest_goes_on_at_the_same_pace() {
    let count = 40;
    let step = |kind| vec![entry(kind, 50); count];
    let lane = |entries, target, links| Lane {
        entries,
        beyond: BEYOND,
        target,
        links,
        begins: 0,
    };
    let lanes = vec![
        lane(0..count, Some(1), vec![0]),
        lane(count..2 * count, None, vec![]),
    ];
    let entries = [step(SEND), step(RECEIVE)].concat();
    let line = Line::new(machine(), 1, 0, kinds(), entries, lanes).unwrap();
    let whole = timing(&line);
    let part = follow(&line, whole.looks * 3 / 4, MANY).unwrap();
    assert!(part.extrapolated && !whole.extrapolated);
    let (told, right) = (part.ended[1] as f64, whole.ended[1] as f64);
    assert!((told / right - 1.0).abs() < 0.05, "{told} {right}");
}

#[test]
fn an_interruption_ends_it() {
    let line = pair(machine(), 10_000_000, 1);
    let none = [0, 0];
    let calls = Calls {
        called: &none,
        deep: &none,
    };
    let budget = Budget {
        most: MANY,
        enough: MANY,
        is_interrupted: &mut || true,
    };
    assert_eq!(run(&line, calls, None, budget), Err(Failure::Interrupted));
}

#[test]
fn tasks_are_told_as_they_start() {
    let line = pair(machine(), 10, 1);
    let none = [0, 0];
    let calls = Calls {
        called: &none,
        deep: &none,
    };
    let budget = Budget {
        most: MANY,
        enough: MANY,
        is_interrupted: &mut || false,
    };
    let tasks = tasks(&line, calls, budget).unwrap();
    let lanes: Vec<_> = tasks.iter().map(|task| (task.pe, task.lane)).collect();
    assert_eq!(lanes, [(0, None), (1, None), (0, Some(0)), (1, Some(0))]);
}

#[test]
fn numbers_that_lead_nowhere_are_refused() {
    let lane = |beyond, target| Lane {
        entries: 0..0,
        beyond,
        target,
        links: vec![],
        begins: 0,
    };
    let made = |lanes| Line::new(machine(), 1, 0, kinds(), vec![], lanes).map(|line| line.pes());
    assert_eq!(made(vec![lane(BEYOND, None)]), Ok(1));
    assert!(made(vec![lane(BEYOND + 1, None)]).is_err());
    assert!(made(vec![lane(BEYOND, Some(1))]).is_err());
}

/// The timing of a pair beside code that the sender runs from one cycle up to another.
fn beside(of_sender: Stretch) -> Timing {
    let line = pair(machine(), 1, 1);
    let calls = Calls {
        called: &[0, 0],
        deep: &[0, 0],
    };
    let budget = Budget {
        most: MANY,
        enough: MANY,
        is_interrupted: &mut || false,
    };
    run(&line, calls, Some(vec![vec![of_sender], vec![]]), budget).unwrap()
}

#[test]
fn a_task_and_what_only_sends_wait_for_code_of_others() {
    let alone = timing(&pair(machine(), 1, 1));
    let stretch = |due, begin, end| Stretch { due, begin, end };
    let last = |timing: &Timing| timing.stretches[0][0];
    let early = beside(stretch(0, 1, 2));
    assert_eq!(early.ended, alone.ended);
    // the element waits, and its task with it
    let held = beside(stretch(0, 1, 30));
    assert_eq!(last(&held).due, 30 + 1 + machine().task);
    let later = last(&held).due - last(&early).due;
    assert_eq!(held.ended[1], alone.ended[1] + later);
    // it has been sent; only the task waits, if it was due later
    let due = last(&early).due;
    assert_eq!(last(&beside(stretch(due, due, due + 10))).begin, due + 10);
    assert_eq!(last(&beside(stretch(due + 1, due, due + 10))).begin, due);
}
