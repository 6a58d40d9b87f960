//! Small machines: a line of PEs with a color or two.

use super::given::{Act, End, Script, TimedOp, Timing};
use super::{check, timed, Followed, Piece, Timed};
use crate::machine::plan::{
    Advance, Filter, Given, Number, Phase, Role, Route, Set, Setting, Slices, EAST, RAMP, WEST,
};

/// As many as take a tenth of a second.
const RANDOM_PLANS: u64 = 600;

const TIMING: Timing = Timing {
    hop: 1,
    ramp_up: 3,
    pipeline_fill: 0,
    ramp_down: 2,
    load_use: 4,
    between_tasks: 0,
    first_task: 0,
    router_queue: 4,
};

const fn bit(side: u8) -> u8 {
    1 << side
}

/// A line of PEs with so many colors, each router set by one of the settings.
fn line(width: usize, settings: Vec<Vec<(u8, u8)>>, sets: &[(u32, u32, u32)]) -> Given {
    let colors = 1 + sets.iter().map(|set| set.1).max().unwrap_or(0) as usize;
    let set = |&(pe, color, setting): &(u32, u32, u32)| Set {
        pe,
        color,
        setting,
        filter: None,
    };
    let route = |&(receive, send): &(u8, u8)| Route { receive, send };
    Given {
        width,
        height: 1,
        colors: vec![String::new(); colors],
        torn_down: vec![false; colors],
        settings: settings
            .iter()
            .map(|positions| Setting {
                positions: positions.iter().map(route).collect(),
                ring: false,
            })
            .collect(),
        phases: vec![Phase {
            roles: vec![Role { lanes: Vec::new() }],
            role_at: vec![0; width],
            place_at: (0..width as i32).collect(),
            cut_at: vec![0; width],
            sizes: vec![1; 8],
            cuts: vec![(0..=8).collect()],
            wavelets: (1, 1),
            sets: sets.iter().map(set).collect(),
            filters: Vec::new(),
        }],
        stages: Vec::new(),
        rows: Vec::new(),
        atoms: Vec::new(),
        queue: 2,
    }
}

fn op(receive: Option<u32>, send: Option<u32>, words: u32) -> TimedOp {
    TimedOp {
        receive,
        send,
        output: send.unwrap_or(0),
        words: vec![words],
        vectors: 1,
        at_once: 1,
        all: false,
        yields: false,
        command: Advance::Nothing,
        advances: false,
        end: End::Activates(1),
    }
}

/// Issues operations one behind the other, each by the task at the end of the one before.
fn chain(ops: Vec<TimedOp>) -> Script {
    let mut codes: Vec<Vec<Act>> = Vec::new();
    for number in 0..ops.len() as u32 {
        let follow = Act::Follow {
            task: 1,
            code: number + 1,
        };
        codes.push(vec![follow, Act::Issue(number)]);
    }
    codes.push(vec![Act::Done]);
    let inputs = ops.iter().filter_map(|op| Some((op.receive?, 2)));
    Script {
        codes,
        inputs: inputs.collect(),
        ops,
        outputs: vec![4, 4],
        blocked: 0,
        counters: 1,
        turns: Vec::new(),
        handlers: Vec::new(),
    }
}

fn run(given: &Given, scripts: &[Script], starts: &[i64]) -> Timed {
    let at: Vec<u32> = (0..given.pes() as u32)
        .map(|pe| pe.min(scripts.len() as u32 - 1))
        .collect();
    let numbers: Vec<i64> = (0..given.colors.len() as i64).collect();
    assert_eq!(check(given, TIMING, scripts, &at, &numbers, starts), Ok(()));
    timed(
        given,
        TIMING,
        scripts,
        &at,
        &numbers,
        starts,
        Followed {
            most: 1 << 20,
            by_word: false,
            traced: false,
        },
    )
}

/// From west to east: the first PE sends, all others pass on, the last one takes.
fn eastward(width: u32) -> Given {
    let settings = vec![
        vec![(RAMP, bit(EAST))],
        vec![(WEST, bit(EAST))],
        vec![(WEST, bit(RAMP))],
    ];
    let last = width - 1;
    let sets: Vec<(u32, u32, u32)> = (0..width)
        .map(|pe| (pe, 0, u32::from(pe > 0) + u32::from(pe == last)))
        .collect();
    line(width as usize, settings, &sets)
}

fn idle() -> Script {
    chain(Vec::new())
}

#[test]
fn a_word_takes_a_ramp_up_its_hops_and_a_ramp_down() {
    let done = |width: u32, words: u32| {
        let mut scripts = vec![chain(vec![op(None, Some(0), words)])];
        scripts.extend((2..width).map(|_| idle()));
        scripts.push(chain(vec![op(Some(0), None, words)]));
        run(&eastward(width), &scripts, &vec![0; width as usize]).done[width as usize - 1]
    };
    // issued in cycle 0, executed in 1, in the router in 4, in the next in 5, taken in 7; then a task
    assert_eq!(done(2, 1), 8);
    assert_eq!(done(5, 1), 8 + 3);
    assert_eq!(done(5, 20), 8 + 3 + 19, "a link carries a word a cycle");
}

#[test]
fn who_begins_late_holds_up_as_many_words_as_the_queues_have_no_room_for() {
    let scripts = [
        chain(vec![op(None, Some(0), 20)]),
        chain(vec![op(Some(0), None, 20)]),
    ];
    let late = run(&eastward(2), &scripts, &[0, 100]);
    let (sent, taken) = (late.done[0], late.done[1]);
    assert!(
        (121..=122).contains(&taken),
        "words that wait are taken one a cycle: {taken}"
    );
    // two in the input queue, four in each router, four in the output queue
    assert!((108..=111).contains(&sent), "6 of 20 had no room: {sent}");
    let fits = [
        chain(vec![op(None, Some(0), 14)]),
        chain(vec![op(Some(0), None, 14)]),
    ];
    assert!(run(&eastward(2), &fits, &[0, 100]).done[0] <= 16);
}

#[test]
fn a_register_is_waited_for_and_other_code_goes_on_meanwhile() {
    let load = |op| Act::Load { count: 1, op };
    let mut script = chain(vec![op(None, Some(0), 1)]);
    script.codes[0] = vec![load(0), Act::Code(2), Act::Issue(0), Act::Done];
    let scripts = [script, chain(vec![op(Some(0), None, 1)])];
    assert_eq!(
        run(&eastward(2), &scripts, &[0, 0]).done[0],
        6,
        "4 behind the load, a word, code"
    );
}

#[test]
fn a_task_that_is_blocked_waits_for_the_end_that_unblocks_it() {
    let mut script = chain(vec![op(None, Some(0), 2), op(None, Some(1), 6)]);
    script.ops[1].end = End::Unblocks(1);
    let follow = Act::Follow { task: 1, code: 2 };
    script.codes[0] = vec![follow, Act::Issue(0), Act::Issue(1)];
    script.blocked = 1 << 1;
    let given = line(1, vec![vec![(RAMP, 0)]], &[(0, 0, 0), (0, 1, 0)]);
    let both = run(&given, &[script.clone()], &[0]);
    assert_eq!(both.stuck, None);
    script.ops[1].end = End::Nothing;
    assert_eq!(run(&given, &[script], &[0]).stuck, Some(0));
}

#[test]
fn turns_go_on_with_other_code_and_then_with_what_comes_next() {
    let mut script = idle();
    script.codes = vec![
        vec![
            Act::Code(3),
            Act::Again {
                counter: 0,
                count: 5,
                code: 0,
            },
            Act::Done,
        ],
        vec![Act::Done],
    ];
    let given = line(1, vec![vec![(RAMP, 0)]], &[(0, 0, 0)]);
    assert_eq!(run(&given, &[script], &[7]).done[0], 7 + 15);
}

#[test]
fn colors_take_turns_on_a_link_and_a_link_is_half_as_fast_for_each() {
    let settings = vec![vec![(RAMP, bit(EAST))], vec![(WEST, bit(RAMP))]];
    let sets = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)];
    let given = line(2, settings, &sets);
    let both = |receive: bool| {
        let of = |color| match receive {
            true => op(Some(color), None, 16),
            false => op(None, Some(color), 16),
        };
        let mut script = chain(vec![of(0), of(1)]);
        script.ops[0].end = End::Nothing;
        let follow = Act::Follow { task: 1, code: 2 };
        script.codes[0] = vec![follow, Act::Issue(0), Act::Issue(1)];
        script
    };
    let found = run(&given, &[both(false), both(true)], &[0, 0]);
    assert_eq!(found.words, 64, "16 of each color, at two routers");
    assert!(
        (32 + 7..32 + 12).contains(&found.done[1]),
        "{:?}",
        found.done
    );
}

#[test]
fn the_own_router_advances_as_the_last_word_lands_and_a_command_moves_the_others() {
    // PE 1 sends first, then lets through what PE 0 sends
    let settings = vec![
        vec![(RAMP, bit(EAST))],
        vec![(RAMP, bit(EAST)), (WEST, bit(EAST))],
        vec![(WEST, bit(RAMP))],
    ];
    let given = line(3, settings, &[(0, 0, 0), (1, 0, 1), (2, 0, 2)]);
    let mut own = op(None, Some(0), 5);
    own.advances = true;
    let takes = chain(vec![op(Some(0), None, 10)]);
    let scripts = [chain(vec![op(None, Some(0), 5)]), chain(vec![own]), takes];
    assert_eq!(run(&given, &scripts, &[0, 0, 0]).stuck, None);
    let mut command = op(None, Some(0), 1);
    command.command = Advance::Control;
    let by_command = chain(vec![op(None, Some(0), 5), command]);
    let scripts = [scripts[0].clone(), by_command, scripts[2].clone()];
    let found = run(&given, &scripts, &[0, 0, 0]);
    assert_eq!(
        found.stuck, None,
        "the command is hidden from the PE that takes"
    );
    let never = chain(vec![op(None, Some(0), 5)]);
    let scripts = [scripts[0].clone(), never, scripts[2].clone()];
    assert_eq!(run(&given, &scripts, &[0, 0, 0]).stuck, Some(2));
}

#[test]
fn a_filter_lets_through_its_part_of_each_period() {
    let mut given = eastward(2);
    let slices = |first: i64, count: i64| Slices {
        first: Number::fixed(first),
        count: Number::fixed(count),
        backward: false,
        blocks: 1,
        period: 0,
    };
    given.phases[0].filters = vec![Filter {
        period: slices(0, 4),
        before: slices(0, 1),
        passes: slices(1, 2),
    }];
    given.phases[0].sets[1].filter = Some(0);
    let scripts = [
        chain(vec![op(None, Some(0), 8)]),
        chain(vec![op(Some(0), None, 4)]),
    ];
    let found = run(&given, &scripts, &[0, 0]);
    assert_eq!(
        found.done[1],
        8 + 6,
        "the last that passes is the seventh word"
    );
}

#[test]
fn what_leads_to_nothing_is_told_in_words() {
    let given = eastward(2);
    let good = chain(vec![op(None, Some(0), 1)]);
    let found = |script: Script| check(&given, TIMING, &[script], &[0, 0], &[0], &[0, 0]);
    assert_eq!(found(good.clone()), Ok(()));
    let mut bad = good.clone();
    bad.codes[0].push(Act::Issue(1));
    assert!(found(bad).is_err());
    let mut bad = good.clone();
    bad.ops[0].words.clear();
    assert!(found(bad).is_err());
    let mut bad = good.clone();
    bad.ops[0].receive = Some(7);
    assert!(found(bad).is_err());
    assert!(check(&given, TIMING, &[good], &[0, 1], &[0], &[0, 0]).is_err());
}

#[test]
fn a_turn_goes_on_with_one_code_after_the_other_and_again_with_the_first() {
    let mut script = idle();
    script.codes = vec![
        vec![Act::Turn(0)],
        vec![Act::Code(10), Act::Turn(0)],
        vec![Act::Code(100), Act::Turn(0)],
        vec![Act::Done],
    ];
    let given = line(1, vec![vec![(RAMP, 0)]], &[(0, 0, 0)]);
    for (list, cycles) in [(vec![1, 2, 3], 110), (vec![2, 3], 100), (vec![1, 1, 3], 20)] {
        script.turns = vec![list];
        assert_eq!(run(&given, &[script.clone()], &[0]).done[0], cycles);
    }
    script.turns = vec![vec![]];
    assert!(script.check(1, 1).is_err(), "a list has code");
}

#[test]
fn words_wait_for_a_router_that_is_torn_down_until_its_pe_sets_it() {
    let mut given = eastward(2);
    given.torn_down = vec![true];
    let mut scripts = [
        chain(vec![op(None, Some(0), 3)]),
        chain(vec![op(Some(0), None, 3)]),
    ];
    assert_eq!(
        run(&given, &scripts, &[0, 0]).stuck,
        Some(1),
        "the sender has a queue for three words"
    );
    let set = Act::Set { color: 0, phase: 0 };
    scripts[0].codes[0].insert(0, set);
    scripts[1].codes[0].insert(0, set);
    let soon = run(&given, &scripts, &[0, 0]);
    scripts[1].codes[0].insert(0, Act::Code(50));
    let late = run(&given, &scripts, &[0, 0]);
    assert_eq!((soon.stuck, late.stuck), (None, None));
    assert!(late.done[1] > 50 && late.done[1] > soon.done[1]);
}

#[test]
fn a_teardown_is_told_to_every_pe_that_it_passes() {
    let mut given = eastward(3);
    given.torn_down = vec![true];
    let set = Act::Set { color: 0, phase: 0 };
    let told = |first: Vec<Act>| {
        let mut script = idle();
        script.codes = vec![
            first,
            vec![Act::Told {
                color: 0,
                code: 3,
                of: 1,
            }],
            vec![Act::Done],
            vec![Act::Activate(2)],
        ];
        script.codes[0].extend([
            Act::Follow { task: 2, code: 2 },
            Act::Await {
                colors: 1,
                acts: 1,
                of: 1,
            },
            Act::Done,
        ]);
        script.handlers = vec![(0, 1)];
        script
    };
    let mut sender = told(vec![set, Act::Issue(0)]);
    let mut command = op(None, Some(0), 1);
    (command.command, command.end) = (Advance::Teardown, End::Nothing);
    sender.ops = vec![command];
    let found = run(
        &given,
        &[sender, told(vec![set]), told(vec![set])],
        &[0, 0, 0],
    );
    assert_eq!(found.stuck, None);
    assert!(found.done[0] < found.done[1] && found.done[1] < found.done[2]);
    let idle_first = run(
        &given,
        &[told(vec![]), told(vec![set]), told(vec![set])],
        &[0, 0, 0],
    );
    assert_eq!(idle_first.stuck, Some(1), "nobody tears it down");
}

/// Numbers that look random, below a bound each.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize].clone()
    }
}

/// So many words go in pieces, each with code around it, or by call-backs; `first` is the code that begins it.
fn some_turns(dice: &mut Dice, script: &mut Script, mut op: TimedOp, total: u32, first: u32) {
    let number = script.ops.len() as u32;
    let piece = dice.of(&[1, 2, 6, 30, total, total]);
    (op.at_once, op.all) = (1 + dice.below(2), dice.below(2) == 0);
    (op.words, op.yields) = (vec![piece], dice.below(3) == 0);
    let mut begins = vec![
        Act::Follow {
            task: 1,
            code: first + 1,
        },
        Act::Code(dice.below(4)),
        Act::Wait(dice.below(3)),
    ];
    if dice.below(4) == 0 {
        let (cycles, other) = (2 + dice.below(3), 2 + dice.below(3));
        let op = number;
        begins.extend([Act::Call { op, cycles, other }, Act::Activate(1)]);
    } else {
        begins.extend([
            Act::Load {
                count: 1,
                op: number,
            },
            Act::Issue(number),
        ]);
    }
    let again = Act::Again {
        counter: number,
        count: total / piece,
        code: first,
    };
    script.codes.extend([begins, vec![again]]);
    script.ops.push(op);
}

/// A PE does one operation behind the other, or all at once.
fn some_script(dice: &mut Dice, ops: Vec<TimedOp>, total: u32) -> Script {
    let mut script = idle();
    script.inputs = vec![(0, 2), (1, 2 + dice.below(3))];
    script.counters = 2;
    if ops.len() == 2 && dice.below(2) == 0 {
        script.ops = ops;
        script.ops[1].end = End::Unblocks(1);
        script.blocked = 1 << 1;
        let follow = Act::Follow { task: 1, code: 1 };
        script.codes = vec![vec![follow, Act::Issue(0), Act::Issue(1)], vec![Act::Done]];
        return script;
    }
    script.codes.clear();
    let count = ops.len();
    for (number, op) in ops.into_iter().enumerate() {
        some_turns(dice, &mut script, op, total, 3 * number as u32);
        let next = Act::Follow {
            task: 1,
            code: 3 * number as u32 + 3,
        };
        let go_on = [next, Act::Activate(1)];
        script.codes.push(vec![]);
        let last = script.codes.len() - 2;
        if number + 1 < count {
            script.codes[last].extend(go_on);
        } else {
            script.codes[last].push(Act::Done);
        }
    }
    if count == 0 {
        script.codes = vec![vec![Act::Done]];
    }
    script
}

/// One color goes from the first PE to some others; one of those sends what it receives on by another.
fn some_plan(dice: &mut Dice) -> (Given, Vec<Script>) {
    let east = bit(EAST);
    let settings = vec![
        vec![(RAMP, east)],
        vec![(WEST, east)],
        vec![(WEST, east | bit(RAMP))],
        vec![(WEST, bit(RAMP))],
    ];
    let (width, total) = (3 + dice.below(6), 30 * (1 + dice.below(9)));
    let relay = 1 + dice.below(width - 2);
    let (mut sets, mut scripts) = (Vec::new(), Vec::new());
    for pe in 0..width {
        let last = pe == width - 1;
        let takes = pe == relay || last || dice.below(2) == 0;
        let setting = |first: u32, takes| match pe {
            pe if pe == first => 0,
            _ if last => 3,
            _ => 1 + u32::from(takes),
        };
        sets.push((pe, 0, setting(0, takes)));
        let mut ops = Vec::new();
        if pe == 0 {
            ops.push(op(None, Some(0), total));
        } else if takes {
            ops.push(op(Some(0), (pe == relay).then_some(1), total));
        }
        if pe >= relay {
            let takes = last || dice.below(2) == 0;
            sets.push((pe, 1, setting(relay, takes)));
            if takes && pe > relay {
                ops.push(op(Some(1), None, total));
            }
        }
        scripts.push(some_script(dice, ops, total));
    }
    (line(width as usize, settings, &sets), scripts)
}

#[test]
fn who_repeats_itself_is_not_followed_and_takes_the_same_cycles() {
    let (mut words, mut followed, mut ended) = (0, 0, 0);
    for seed in 0..RANDOM_PLANS {
        let mut dice = Dice(seed);
        let (given, scripts) = some_plan(&mut dice);
        let pes = scripts.len() as u32;
        let starts: Vec<i64> = (0..pes).map(|_| i64::from(dice.below(90))).collect();
        let at: Vec<u32> = (0..pes).collect();
        let checked = check(&given, TIMING, &scripts, &at, &[0, 1], &starts);
        assert_eq!(checked, Ok(()));
        let run = |by_word| {
            let most = 1 << 20;
            timed(
                &given,
                TIMING,
                &scripts,
                &at,
                &[0, 1],
                &starts,
                Followed {
                    most,
                    by_word,
                    traced: true,
                },
            )
        };
        let (one, runs) = (run(true), run(false));
        assert_eq!(one.done, runs.done, "plan {seed}");
        assert_eq!(one.stuck, runs.stuck, "plan {seed}");
        assert_eq!(one.words, runs.words, "plan {seed}");
        let in_order = |mut pieces: Vec<Piece>| {
            pieces.sort_by_key(|one| (one.taken, one.pe, one.op));
            pieces
        };
        assert_eq!(in_order(one.pieces), in_order(runs.pieces), "plan {seed}");
        words += runs.words;
        followed += runs.followed;
        ended += u64::from(one.stuck.is_none());
    }
    assert!(followed * 4 < words * 3, "{followed} of {words} words");
    assert!(
        ended * 3 > RANDOM_PLANS,
        "{ended} plans end, others are stuck"
    );
}
