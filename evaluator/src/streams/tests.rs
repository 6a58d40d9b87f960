use super::*;

const MACHINE: Machine = Machine {
    ramp_up: 3,
    send_start: 0,
    ramp_down: 2,
    hop: 1,
    router_queue: 4,
    output_queue: 2,
    input_queue: 4,
    issue: 3,
    receives: 1,
    returns: 2,
    between: 0,
};

fn router(positions: &[(usize, usize)]) -> Router {
    Router {
        positions: positions.to_vec(),
        ..Router::default()
    }
}

fn sends(wavelets: i64, advances: bool) -> Operation {
    Operation {
        sends: Some(0),
        wavelets,
        advances,
        ..Operation::default()
    }
}

fn place(positions: &[(usize, usize)], operation: Operation) -> Place {
    Place {
        routers: vec![router(positions)],
        operations: vec![operation],
        code: 1,
    }
}

/// Three PEs that send `own` wavelets each to the first.
fn gather(own: i64) -> Vec<Place> {
    let receives = Operation {
        receives: Some(0),
        wavelets: 2 * own,
        ..Operation::default()
    };
    vec![
        place(&[(HIGHER, 1 << RAMP)], receives),
        place(
            &[(RAMP, 1 << LOWER), (HIGHER, 1 << LOWER)],
            sends(own, true),
        ),
        place(&[(RAMP, 1 << LOWER)], sends(own, false)),
    ]
}

#[test]
fn words_of_a_gather_follow_each_other_without_a_gap() {
    let found = ends(&MACHINE, &gather(8)).expect("it comes to its end");
    assert_eq!(found[0].0, [2 + 3 + 1 + 2 + 2 * 8 - 1]);
}

#[test]
fn a_router_that_never_takes_turns_is_told_of() {
    let mut line = gather(8);
    line[1].routers[0].positions.pop();
    assert_eq!(ends(&MACHINE, &line), Err(Stuck(vec![0, 2])));
}

/// The first of three PEs sends, then the one between, whose router first lets pass; `commands`
/// are in the wavelet behind the first one's words.
fn handed_over(own: i64, commands: u8) -> Vec<Place> {
    let control = Operation {
        sends: Some(0),
        wavelets: 1,
        after: Some(0),
        commands,
        ..Operation::default()
    };
    let receives = |wavelets| Operation {
        receives: Some(0),
        wavelets,
        ..Operation::default()
    };
    let mut first = place(&[(RAMP, 1 << HIGHER)], sends(own, false));
    first.operations.push(control);
    let ring = [(LOWER, 1 << HIGHER | 1 << RAMP), (RAMP, 1 << HIGHER)];
    let mut second = place(&ring, sends(own, false));
    second.routers[0].ring = true;
    second.operations.push(receives(own));
    let third = place(&[(LOWER, 1 << RAMP)], receives(2 * own));
    vec![first, second, third]
}

#[test]
fn a_turn_is_handed_over_by_a_command() {
    let found = ends(&MACHINE, &handed_over(8, 1)).expect("it comes to its end");
    assert!(found[2].0[0] > found[1].0[0]);
    assert_eq!(ends(&MACHINE, &handed_over(8, 0)), Err(Stuck(vec![1, 2])));
}

#[test]
fn a_filter_lets_a_pe_have_its_part() {
    let mut line = vec![
        place(&[(RAMP, 1 << HIGHER)], sends(6, false)),
        place(
            &[(LOWER, 1 << RAMP)],
            Operation {
                receives: Some(0),
                wavelets: 2,
                ..Operation::default()
            },
        ),
    ];
    line[1].routers[0].filter = Some((6, 2, 2));
    let found = ends(&MACHINE, &line).expect("it comes to its end");
    assert_eq!(found[1].0, [2 + 3 + 1 + 2 + 6 - 1]);
}

/// PEs that send `own` wavelets each towards the first, in turn; each takes those of the next.
fn passed_on(pes: i64, own: i64) -> Vec<Place> {
    let middle = |behind: i64| {
        let sides = 1 << LOWER | 1 << RAMP;
        let mut one = place(&[(RAMP, 1 << LOWER), (HIGHER, sides)], sends(own, true));
        one.routers[0].filter = Some((own * behind, 0, own));
        one.operations.push(Operation {
            receives: Some(0),
            wavelets: own,
            begins: 7 * behind,
            ..Operation::default()
        });
        one
    };
    let mut line = gather(own);
    line[0].operations[0].wavelets = own * (pes - 1);
    line.splice(1..2, (1..pes - 1).map(|at| middle(pes - 1 - at)));
    line
}

/// A line seen from its other end.
fn mirrored(mut line: Vec<Place>) -> Vec<Place> {
    let other = |side: usize| [HIGHER, LOWER, RAMP][side];
    line.reverse();
    for router in line.iter_mut().flat_map(|one| &mut one.routers) {
        for (from, sides) in &mut router.positions {
            let all = (0..3).filter(|side| *sides >> side & 1 == 1);
            (*from, *sides) = (other(*from), all.map(|side| 1 << other(side)).sum());
        }
    }
    line
}

/// Two lines of as many places and one color each, on the same PEs.
fn beside(mut line: Vec<Place>, second: Vec<Place>) -> Vec<Place> {
    for (one, other) in line.iter_mut().zip(second) {
        let before = one.operations.len();
        one.routers.extend(other.routers);
        one.operations
            .extend(other.operations.into_iter().map(|operation| Operation {
                receives: operation.receives.map(|color| color + 1),
                sends: operation.sends.map(|color| color + 1),
                after: operation.after.map(|number| number + before),
                ..operation
            }));
    }
    line
}

#[test]
fn who_sleeps_ends_when_it_would_have_ended_awake() {
    let lines = [1, 3, 40, 200].map(|own| {
        let stuck = handed_over(own, 0);
        let both_ways = beside(passed_on(9, own), mirrored(passed_on(9, own)));
        let on_one_link = beside(passed_on(9, own), passed_on(9, own + 5));
        let of_two_kinds = beside(gather(own), handed_over(own, 1));
        let of_one = [gather(own), handed_over(own, 1), stuck, passed_on(9, own)];
        let of_two = [both_ways, on_one_link, of_two_kinds];
        of_one.into_iter().chain(of_two).collect::<Vec<_>>()
    });
    for (number, line) in lines.iter().flatten().enumerate() {
        let mut machine = MACHINE;
        for seed in 0..32 {
            machine.hop = 1 + seed % 3;
            machine.router_queue = 1 + seed as usize / 3 % 4;
            machine.input_queue = 1 + seed as usize % 5;
            machine.output_queue = 1 + seed as usize % 2;
            let awake = followed(&machine, line, false);
            assert_eq!(ends(&machine, line), awake, "line {number}, {machine:?}");
        }
    }
}

#[test]
fn where_words_pass_through_hardly_anybody_is_awake() {
    let line = passed_on(40, 500);
    let mut followed = Line::new(&MACHINE, &line, true);
    let (mut awake, mut cycles) = (0, 0);
    while followed.open > 0 {
        followed.cycle();
        awake += followed.sleepers.awake.len();
        cycles += 1;
    }
    assert!(awake < 6 * cycles, "{awake} in {cycles} cycles");
}
