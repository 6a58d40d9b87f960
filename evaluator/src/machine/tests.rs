//! Small machines: what they come to, and what is refused, each with its near miss.

use super::plan::*;
use super::{run, Kind, Outcome};
use crate::steps::combined;

const EAST_BIT: u8 = 1 << EAST;
const WEST_BIT: u8 = 1 << WEST;
const RAMP_BIT: u8 = 1 << RAMP;

fn slices(first: i64, count: i64) -> Slices {
    Slices {
        first: Number::fixed(first),
        count: Number::fixed(count),
        backward: false,
        blocks: 1,
        period: 0,
    }
}

fn op(receive: Place, action: Action, send: Place) -> Op {
    Op {
        number: 0,
        receive,
        action,
        send,
        slices: slices(0, 1),
        advance: Advance::Nothing,
        returns: false,
        after: None,
        vectors: 1,
        elements: None,
        r#where: Number::fixed(1),
    }
}

/// The vector is sent on a color.
fn sends(color: u32) -> Op {
    op(Place::Vector, Action::Copy, Place::Color(color))
}

/// What comes on a color overwrites the vector.
fn takes(color: u32) -> Op {
    op(Place::Color(color), Action::Copy, Place::Vector)
}

fn combines(color: u32) -> Op {
    op(Place::Color(color), Action::Combine, Place::Vector)
}

impl Op {
    fn slice(mut self, first: i64, count: i64) -> Self {
        self.slices = slices(first, count);
        self
    }

    fn then(mut self, advance: Advance) -> Self {
        self.advance = advance;
        self
    }

    fn behind(mut self, lane: usize) -> Self {
        self.after = Some(lane);
        self
    }
}

/// An entry of operations, and whether it ends a step.
fn entry(ops: Vec<Op>, ends: bool) -> Entry {
    Entry {
        ops,
        ends_step: Number::fixed(i64::from(ends)),
    }
}

fn lane(entries: Vec<Entry>) -> Lane {
    Lane {
        loops: vec![Loop {
            turns: Number::fixed(1),
            shift: Number::fixed(0),
            entries,
        }],
    }
}

/// One operation after the other.
fn in_turn(ops: Vec<Op>) -> Lane {
    lane(ops.into_iter().map(|one| entry(vec![one], false)).collect())
}

fn route(receive: u8, send: u8) -> Route {
    Route { receive, send }
}

/// A row of PEs with one phase, in which each has the lanes that are given for it.
struct Row {
    given: Given,
}

impl Row {
    fn new(lanes: Vec<Vec<Lane>>, sizes: &[i64]) -> Self {
        let pes = lanes.len();
        let atoms = sizes.len();
        let colors = ["`red`", "`green`", "`blue`"];
        let phase = Phase {
            role_at: (0..pes as i32).collect(),
            place_at: (0..pes as i32).collect(),
            cut_at: vec![0; pes],
            roles: lanes.into_iter().map(|lanes| Role { lanes }).collect(),
            sizes: sizes.to_vec(),
            cuts: vec![(0..=atoms as u32).collect()],
            wavelets: (1, 1),
            sets: Vec::new(),
            filters: Vec::new(),
        };
        let stage = Stage {
            call: 0,
            phase: 0,
            number: 0,
        };
        Row {
            given: Given {
                width: pes,
                height: 1,
                colors: colors.map(String::from).to_vec(),
                torn_down: vec![false; colors.len()],
                settings: Vec::new(),
                phases: vec![phase],
                stages: vec![stage],
                rows: vec![(0..pes as i32).collect()],
                atoms: vec![atoms],
                queue: 2,
            },
        }
    }

    /// The positions of a router of a PE on a color.
    fn set(self, pe: u32, color: u32, positions: &[Route]) -> Self {
        self.set_with(pe, color, positions, false, None)
    }

    fn ring(self, pe: u32, color: u32, positions: &[Route]) -> Self {
        self.set_with(pe, color, positions, true, None)
    }

    fn set_with(
        mut self,
        pe: u32,
        color: u32,
        positions: &[Route],
        ring: bool,
        filter: Option<Filter>,
    ) -> Self {
        let setting = self.given.settings.len() as u32;
        self.given.settings.push(Setting {
            positions: positions.to_vec(),
            ring,
        });
        let last = self.given.phases.len() - 1;
        let phase = &mut self.given.phases[last];
        let filter = filter.map(|filter| {
            phase.filters.push(filter);
            phase.filters.len() as u32 - 1
        });
        phase.sets.push(Set {
            pe,
            color,
            setting,
            filter,
        });
        phase.sets.sort_by_key(|set| set.pe);
        self
    }

    /// A link of a color from a PE to the next one.
    fn link(self, from: u32, color: u32) -> Self {
        self.set(from, color, &[route(RAMP, EAST_BIT)]).set(
            from + 1,
            color,
            &[route(WEST, RAMP_BIT)],
        )
    }

    /// The same phase again, in another call or the same one.
    fn again(mut self, another_call: bool) -> Self {
        let call = self.given.rows.len() - usize::from(!another_call);
        if another_call {
            self.given.rows.push(self.given.rows[0].clone());
            self.given.atoms.push(self.given.atoms[0]);
        }
        self.given.stages.push(Stage {
            call,
            phase: 0,
            number: 0,
        });
        self
    }

    fn torn_down(mut self, color: usize) -> Self {
        self.given.torn_down[color] = true;
        self
    }

    fn held(&self) -> Vec<Vec<u64>> {
        let each = self.given.pes() * self.given.atoms[0];
        let calls = self.given.rows.len();
        (0..calls)
            .map(|call| (0..each).map(|at| (1000 * call + at + 1) as u64).collect())
            .collect()
    }

    fn run(&self) -> Outcome {
        let held = self.held();
        assert_eq!(self.given.check(&held), Ok(()));
        let outcome = run(&self.given, held.clone(), None, true);
        for order in 1..6 {
            let other = run(&self.given, held.clone(), Some(order), false);
            if outcome.faults.is_empty() {
                assert_eq!(
                    (&outcome.held, &other.faults),
                    (&other.held, &outcome.faults)
                );
            } else {
                assert!(!other.faults.is_empty());
            }
        }
        outcome
    }

    /// What PEs hold in the end.
    fn ends_with(&self) -> Vec<u64> {
        let outcome = self.run();
        assert_eq!(outcome.faults, []);
        outcome.held[0].clone()
    }

    /// What is wrong, and at which PE.
    fn refused(&self) -> (Kind, usize, String) {
        let outcome = self.run();
        let fault = outcome.faults.first().expect("something is wrong").clone();
        (fault.kind, fault.pe, fault.text)
    }
}

/// The vectors of three PEs are combined on their way to the first.
fn chain() -> Row {
    let through = op(Place::Color(0), Action::Combine, Place::Color(1));
    let lanes = vec![
        vec![in_turn(vec![combines(1)])],
        vec![in_turn(vec![through])],
    ];
    let lanes = [lanes, vec![vec![in_turn(vec![sends(0)])]]].concat();
    Row::new(lanes, &[4])
        .set(2, 0, &[route(RAMP, WEST_BIT)])
        .set(1, 0, &[route(EAST, RAMP_BIT)])
        .set(1, 1, &[route(RAMP, WEST_BIT)])
        .set(0, 1, &[route(EAST, RAMP_BIT)])
}

#[test]
fn vectors_are_combined_on_their_way_own_ones_first() {
    assert_eq!(chain().ends_with(), [combined(1, combined(2, 3)), 2, 3]);
}

#[test]
fn what_is_received_is_told_in_order() {
    let receipts = chain().run().receipts;
    let found: Vec<_> = receipts
        .iter()
        .map(|one| (one.pe, one.from, one.slices))
        .collect();
    assert_eq!(found, [(0, 1, 1)]);
}

#[test]
fn a_pe_that_sends_nothing_is_named_as_what_all_wait_for() {
    let mut row = chain();
    row.given.phases[0].roles[2].lanes.clear();
    let (kind, pe, text) = row.refused();
    assert_eq!((kind, pe), (Kind::Stuck, 2));
    assert!(
        text.ends_with("for words from its own PE, which sends nothing more there"),
        "{text}"
    );
}

#[test]
fn a_pe_that_receives_too_little_is_named_as_what_all_wait_for() {
    let mut row = chain();
    row.given.phases[0].roles[0].lanes.clear();
    let (kind, pe, text) = row.refused();
    assert_eq!((kind, pe), (Kind::Stuck, 0));
    assert!(text.ends_with("which receives no more of them"), "{text}");
}

#[test]
fn two_pes_that_wait_for_each_other_are_a_circle() {
    let one = in_turn(vec![takes(0), sends(1)]);
    let other = in_turn(vec![takes(1), sends(0)]);
    let row = Row::new(vec![vec![one], vec![other]], &[4])
        .set(0, 0, &[route(EAST, RAMP_BIT)])
        .set(1, 0, &[route(RAMP, WEST_BIT)])
        .link(0, 1);
    let (kind, _, text) = row.refused();
    assert_eq!(kind, Kind::Stuck);
    assert!(text.ends_with("waits for itself"), "{text}");
}

/// A PE receives a color in two lanes, of which the second may come behind the first.
fn two_receivers(after: Option<usize>) -> Row {
    let mut second = takes(0).slice(1, 1);
    second.after = after;
    let first = takes(0).slice(0, 1);
    let lanes = vec![
        vec![in_turn(vec![sends(0).slice(0, 1), sends(0).slice(1, 1)])],
        vec![in_turn(vec![first]), in_turn(vec![second])],
    ];
    Row::new(lanes, &[4, 4]).link(0, 0)
}

#[test]
fn one_operation_at_a_time_receives_a_color() {
    let (kind, pe, text) = two_receivers(None).refused();
    assert_eq!((kind, pe), (Kind::SeveralReceive, 1));
    assert_eq!(text, "PE (1, 0) receives `red` in two operations at once");
    assert_eq!(two_receivers(Some(0)).ends_with(), [1, 2, 1, 2]);
}

#[test]
fn that_one_receives_behind_another_by_way_of_the_fabric_does_not_count() {
    // the second lane receives what PE 2 sends when it has got what the first lane has received
    let first = in_turn(vec![takes(0).slice(0, 1), sends(1).slice(0, 1)]);
    let second = in_turn(vec![takes(2).slice(1, 1), takes(0).slice(2, 1)]);
    let lanes = vec![
        vec![in_turn(vec![sends(0).slice(0, 1), sends(0).slice(2, 1)])],
        vec![first, second],
        vec![in_turn(vec![takes(1).slice(0, 1), sends(2).slice(1, 1)])],
    ];
    let row = Row::new(lanes, &[4, 4, 4])
        .link(0, 0)
        .link(1, 1)
        .set(2, 2, &[route(RAMP, WEST_BIT)])
        .set(1, 2, &[route(EAST, RAMP_BIT)]);
    assert_eq!(row.refused().0, Kind::SeveralReceive);
}

#[test]
fn one_operation_at_a_time_sends_a_color() {
    let senders = |after| {
        let mut second = sends(0).slice(1, 1);
        second.after = after;
        let first = sends(0).slice(0, 1);
        let lanes = vec![
            vec![in_turn(vec![first]), in_turn(vec![second])],
            vec![in_turn(vec![takes(0).slice(0, 2)])],
        ];
        Row::new(lanes, &[4, 4]).link(0, 0)
    };
    let (kind, pe, text) = senders(None).refused();
    assert_eq!((kind, pe), (Kind::SeveralSend, 0));
    assert_eq!(text, "PE (0, 0) sends on `red` in two operations at once");
    assert_eq!(senders(Some(0)).ends_with(), [1, 2, 1, 2]);
}

/// PE 1 sends a slice on one color that it receives on another one, in lanes that are given.
fn sends_and_receives(lanes: Vec<Lane>) -> Row {
    let ends = vec![in_turn(vec![takes(1)])];
    Row::new(vec![vec![in_turn(vec![sends(0)])], lanes, ends], &[4])
        .link(0, 0)
        .link(1, 1)
}

#[test]
fn lanes_that_touch_a_slice_are_ordered_by_the_pe_and_not_by_what_comes() {
    let two =
        |first: Vec<Entry>, second: Vec<Entry>| sends_and_receives(vec![lane(first), lane(second)]);
    let (into, out) = (|| vec![takes(0)], || vec![sends(1)]);
    let open = two(vec![entry(into(), true)], vec![entry(out(), true)]);
    let (kind, pe, _) = open.refused();
    assert_eq!((kind, pe), (Kind::NoFixedOrder, 1));

    let step = vec![entry(Vec::new(), true), entry(out(), true)];
    let by_steps = two(vec![entry(into(), true)], step);
    assert_eq!(by_steps.ends_with(), [1, 1, 1]);

    let one = sends_and_receives(vec![in_turn(vec![takes(0), sends(1)])]);
    assert_eq!(one.ends_with(), [1, 1, 1]);

    let at_once = sends_and_receives(vec![lane(vec![entry(vec![takes(0), sends(1)], false)])]);
    assert_eq!(at_once.refused().0, Kind::NoFixedOrder);
    let both = vec![
        entry(Vec::new(), false),
        entry(vec![takes(0), sends(1)], false),
    ];
    assert_eq!(
        sends_and_receives(vec![lane(both)]).refused().0,
        Kind::NoFixedOrder
    );
}

#[test]
fn what_comes_after_another_lane_is_ordered_with_what_that_moves_the_same_way() {
    // the first lane sends its slice and then receives into it; the second sends it as well
    let first = in_turn(vec![sends(1), takes(0)]);
    let rows = |second: Op| {
        let lanes = vec![
            vec![in_turn(vec![sends(0)])],
            vec![first.clone(), in_turn(vec![second])],
            vec![in_turn(vec![takes(1)]), in_turn(vec![takes(2).slice(1, 1)])],
        ];
        Row::new(lanes, &[4, 4]).link(0, 0).link(1, 1).link(1, 2)
    };
    let behind = rows(sends(2).behind(0));
    assert_eq!(behind.refused().0, Kind::NoFixedOrder);
}

#[test]
fn what_is_there_already_may_come_from_two_sides() {
    let both = vec![in_turn(vec![takes(0)]), in_turn(vec![takes(1)])];
    let row = |second: Op| {
        let lanes = vec![
            vec![in_turn(vec![sends(0)])],
            both.clone(),
            vec![in_turn(vec![second])],
        ];
        Row::new(lanes, &[4, 4])
            .link(0, 0)
            .set(2, 1, &[route(RAMP, WEST_BIT)])
            .set(1, 1, &[route(EAST, RAMP_BIT)])
    };
    let mut held = row(sends(1)).held();
    held[0][4] = held[0][0]; // the first slices of PEs 0 and 2 are alike
    let row = row(sends(1));
    assert_eq!(run(&row.given, held, None, false).faults, []);
    assert_eq!(row.refused().0, Kind::NoFixedOrder);
}

#[test]
fn a_router_that_is_torn_down_is_set_by_its_pe_when_the_teardown_has_come() {
    let row = |advance| {
        let lanes = vec![
            vec![in_turn(vec![sends(0).then(advance)])],
            vec![in_turn(vec![takes(0)])],
        ];
        Row::new(lanes, &[4]).link(0, 0).again(true).torn_down(0)
    };
    let outcome = row(Advance::Teardown).run();
    assert_eq!(
        (outcome.faults.len(), &outcome.held[1][..]),
        (0, &[1001, 1001][..])
    );
    assert_eq!(row(Advance::Nothing).refused().0, Kind::NotTornDown);
}

#[test]
fn what_is_not_torn_down_is_no_business_of_a_teardown() {
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(Advance::Teardown)])],
        vec![in_turn(vec![takes(0)])],
    ];
    assert_eq!(
        Row::new(lanes, &[4]).link(0, 0).refused().0,
        Kind::NotTornDown
    );
}

/// A PE sends to itself, and receives what it has sent in its next entry.
fn to_itself(size: i64, words: usize) -> Row {
    let mut ops = vec![sends(0); words];
    ops.extend(vec![takes(0); words]);
    let lanes = vec![vec![in_turn(ops)], Vec::new()];
    Row::new(lanes, &[size]).set(0, 0, &[route(RAMP, RAMP_BIT)])
}

#[test]
fn one_burst_that_fits_a_queue_has_room_at_its_receiver() {
    assert_eq!(to_itself(2, 1).ends_with(), [1, 2]);
    assert_eq!(to_itself(3, 1).refused().0, Kind::Stuck);
    assert_eq!(to_itself(1, 2).refused().0, Kind::Stuck);
}

#[test]
fn what_stays_in_a_queue_is_left_over_where_nobody_takes_it() {
    let lanes = vec![vec![in_turn(vec![sends(0)])], Vec::new()];
    let row = Row::new(lanes, &[1]).link(0, 0);
    let (kind, pe, _) = row.refused();
    assert_eq!((kind, pe), (Kind::WordsLeft, 1));
}

#[test]
fn what_stays_in_a_queue_goes_on_from_there() {
    let through = op(Place::Color(0), Action::Combine, Place::Color(1));
    let lanes = vec![
        vec![in_turn(vec![sends(0).slice(0, 1), takes(2).slice(1, 1)])],
        vec![in_turn(vec![sends(2).slice(1, 1), through])],
        vec![in_turn(vec![takes(1)])],
    ];
    let row = Row::new(lanes, &[1, 1])
        .link(0, 0)
        .link(1, 1)
        .set(1, 2, &[route(RAMP, WEST_BIT)])
        .set(0, 2, &[route(EAST, RAMP_BIT)]);
    assert_eq!(row.ends_with(), [1, 4, 3, 4, combined(3, 1), 6]);
}

/// A word that PE 3 sends stays at PE 2, and goes on from there to PE 1, which has taken another one by
/// then and is at `blue`, for which PE 2 comes only behind that word. PE 0 lets PE 1 begin, when nothing
/// else moves any more.
#[test]
fn what_goes_from_queue_to_queue_lets_its_pe_go_on() {
    let through = op(Place::Color(0), Action::Combine, Place::Color(1));
    let lanes = vec![
        vec![in_turn(vec![sends(1), takes(1), sends(0)])],
        vec![in_turn(vec![takes(0), takes(1), takes(2), takes(1)])],
        vec![in_turn(vec![sends(1), through, sends(2)])],
        vec![in_turn(vec![sends(0)])],
    ];
    let mut row = Row::new(lanes, &[1]).set(0, 1, &[route(RAMP, RAMP_BIT)]);
    row = row.link(0, 0);
    for (from, color) in [(2, 1), (2, 2), (3, 0)] {
        row = row.set(from, color, &[route(RAMP, WEST_BIT)]).set(
            from - 1,
            color,
            &[route(EAST, RAMP_BIT)],
        );
    }
    assert_eq!(row.ends_with(), [1, combined(3, 4), 3, 4]);
}

/// Words stay at PEs 1 and 2, which send them on: that of PE 2 has to pass the router of PE 1, which PE 1
/// moves on with its own one. PE 0 takes that when nothing else moves any more.
#[test]
fn what_comes_out_of_a_queue_makes_way_for_what_has_been_looked_at_before() {
    let through = |from| op(Place::Color(from), Action::Combine, Place::Color(1));
    let first = vec![sends(2), takes(2), takes(1), takes(1), takes(1)];
    let own = vec![sends(1), through(2).then(Advance::OwnRouter)];
    let lanes = vec![
        vec![in_turn(first)],
        vec![in_turn(own)],
        vec![in_turn(vec![sends(2), through(0).then(Advance::Reset)])],
        vec![in_turn(vec![sends(0)])],
    ];
    let west = [route(RAMP, WEST_BIT)];
    let in_turns = [route(RAMP, WEST_BIT), route(EAST, WEST_BIT)];
    let row = Row::new(lanes, &[1])
        .set(0, 2, &[route(RAMP, RAMP_BIT)])
        .set(0, 1, &[route(EAST, RAMP_BIT)])
        .set(1, 1, &in_turns)
        .set(2, 1, &west)
        .set(2, 2, &west)
        .set(1, 2, &[route(EAST, RAMP_BIT)])
        .set(3, 0, &west)
        .set(2, 0, &[route(EAST, RAMP_BIT)]);
    assert_eq!(row.ends_with(), [combined(3, 4), 2, 3, 4]);
}

/// PE 0 sends slices to PEs 1 and 2, whose filters share them out.
fn shared_out(sizes: &[i64], passes: (i64, i64), before: i64) -> Row {
    let count = sizes.len() as i64;
    let filter = |first: i64, passes: i64| {
        Some(Filter {
            period: slices(0, count),
            before: slices(0, first),
            passes: slices(first, passes),
        })
    };
    let lanes = vec![
        vec![in_turn(vec![sends(0).slice(0, count)])],
        vec![in_turn(vec![takes(0).slice(0, passes.0)])],
        vec![in_turn(vec![takes(0).slice(before, passes.1)])],
    ];
    Row::new(lanes, sizes)
        .set(0, 0, &[route(RAMP, EAST_BIT)])
        .set_with(
            1,
            0,
            &[route(WEST, EAST_BIT | RAMP_BIT)],
            false,
            filter(0, passes.0),
        )
        .set_with(
            2,
            0,
            &[route(WEST, RAMP_BIT)],
            false,
            filter(before, passes.1),
        )
}

#[test]
fn filters_share_out_what_comes_by() {
    let row = shared_out(&[4, 4, 4], (1, 2), 1);
    assert_eq!(row.ends_with(), [1, 2, 3, 1, 5, 6, 7, 2, 3]);
}

#[test]
fn a_filter_lets_whole_slices_in() {
    let mut row = shared_out(&[4, 2, 4], (1, 2), 1);
    row.given.phases[0].filters[0].passes = slices(1, 1);
    assert_eq!(row.refused().0, Kind::CutFilter);
}

#[test]
fn a_filter_ends_with_a_period() {
    let mut row = shared_out(&[4, 4, 4], (1, 2), 1);
    for filter in &mut row.given.phases[0].filters {
        filter.period = slices(0, 2);
    }
    row.given.phases[0].roles[0].lanes = vec![in_turn(vec![sends(0).slice(0, 1)])];
    row.given.phases[0].roles[2].lanes.clear();
    row.given.phases[0].filters[1].passes = slices(1, 1);
    assert_eq!(row.refused().0, Kind::NotReturned);
}

/// Two PEs send to a third, one after the other: the router of PE 1 lets its own words go first.
fn own_first(advance: Advance, last: Advance) -> Row {
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(last)])],
        vec![in_turn(vec![sends(0).slice(1, 1).then(advance)])],
        vec![in_turn(vec![takes(0).slice(1, 1), takes(0).slice(0, 1)])],
    ];
    Row::new(lanes, &[4, 4])
        .set(0, 0, &[route(RAMP, EAST_BIT)])
        .set(1, 0, &[route(RAMP, EAST_BIT), route(WEST, EAST_BIT)])
        .set(2, 0, &[route(WEST, RAMP_BIT)])
}

#[test]
fn positions_are_taken_in_turn_and_set_back() {
    let right = own_first(Advance::OwnRouter, Advance::Reset);
    assert_eq!(right.ends_with(), [1, 2, 3, 4, 1, 4]);
    let (kind, pe, _) = own_first(Advance::OwnRouter, Advance::Nothing).refused();
    assert_eq!((kind, pe), (Kind::NotReturned, 1));
    let (kind, pe, text) = own_first(Advance::Nothing, Advance::Reset).refused();
    assert_eq!((kind, pe), (Kind::Stuck, 1));
    assert!(text.contains("position 0 of `red`"), "{text}");
}

#[test]
fn a_command_needs_no_words_but_the_last_word_moves_the_own_router_on() {
    let row = |advance: Advance| {
        let mut row = own_first(advance, Advance::Reset);
        let roles = &mut row.given.phases[0].roles;
        roles[1].lanes[0].loops[0].entries[0].ops[0].slices.count = Number::fixed(0);
        roles[2].lanes = vec![in_turn(vec![takes(0).slice(0, 1)])];
        row
    };
    assert_eq!(row(Advance::Control).ends_with(), [1, 2, 3, 4, 1, 6]);
    assert_eq!(row(Advance::OwnRouter).refused().0, Kind::Stuck);
    assert_eq!(row(Advance::Turn).ends_with(), [1, 2, 3, 4, 1, 6]);
    let right = own_first(Advance::Turn, Advance::Reset);
    assert_eq!(right.ends_with(), [1, 2, 3, 4, 1, 4]);
}

#[test]
fn words_behind_a_reset_are_those_of_the_next_call() {
    let row = own_first(Advance::Reset, Advance::Nothing);
    let (kind, _, text) = row.refused();
    assert_eq!(kind, Kind::Stuck);
    assert!(text.contains("set back"), "{text}");
}

#[test]
fn a_command_for_all_is_taken_off_by_no_ring() {
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(Advance::Reset)])],
        vec![in_turn(vec![takes(0)])],
    ];
    let ring = Row::new(lanes.clone(), &[4])
        .set(0, 0, &[route(RAMP, EAST_BIT)])
        .ring(1, 0, &[route(WEST, RAMP_BIT)]);
    assert_eq!(ring.refused().0, Kind::CommandRefused);
    assert_eq!(Row::new(lanes, &[4]).link(0, 0).ends_with(), [1, 1]);
}

/// Each PE of a row sends in turn to all behind it, and hands the turn on.
fn handed_on(turns: bool) -> Row {
    let hand = Advance::HandOver;
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(hand)])],
        vec![in_turn(vec![takes(0), sends(0).slice(1, 1).then(hand)])],
        vec![in_turn(vec![takes(0), takes(0).slice(1, 1)])],
    ];
    let positions = [route(WEST, EAST_BIT | RAMP_BIT), route(RAMP, EAST_BIT)];
    let row = Row::new(lanes, &[4, 4])
        .set(0, 0, &[route(RAMP, EAST_BIT)])
        .set(2, 0, &[route(WEST, RAMP_BIT)]);
    if turns {
        row.ring(1, 0, &positions)
    } else {
        row.set(1, 0, &positions)
    }
}

#[test]
fn a_ring_takes_off_the_command_that_moves_it() {
    assert_eq!(handed_on(true).ends_with(), [1, 2, 1, 4, 1, 4]);
    let (kind, _, _) = handed_on(false).refused();
    assert_eq!(kind, Kind::CommandRefused);
}

#[test]
fn words_stay_on_the_grid_and_on_routes() {
    let lanes = vec![vec![in_turn(vec![sends(0)])], vec![in_turn(vec![takes(0)])]];
    let row = || Row::new(lanes.clone(), &[4]).set(1, 0, &[route(WEST, RAMP_BIT)]);
    assert_eq!(
        row().set(0, 0, &[route(RAMP, WEST_BIT)]).refused().0,
        Kind::LeavesGrid
    );
    assert_eq!(row().refused().0, Kind::Lost);
    let right = row().set(0, 0, &[route(RAMP, EAST_BIT)]);
    assert_eq!(right.ends_with(), [1, 1]);
}

#[test]
fn a_router_is_set_once_or_alike() {
    let row = chain().set(2, 0, &[route(RAMP, WEST_BIT)]);
    assert_eq!(row.run().faults, []);
    assert_eq!(
        chain().set(2, 0, &[route(WEST, WEST_BIT)]).refused().0,
        Kind::SetTwice
    );
}

#[test]
fn slices_are_as_long_as_what_comes() {
    let row = |sizes: &[i64], takes: Op| {
        let lanes = vec![vec![in_turn(vec![sends(0)])], vec![in_turn(vec![takes])]];
        Row::new(lanes, sizes).link(0, 0)
    };
    assert_eq!(
        row(&[4, 3], takes(0).slice(1, 1)).refused().0,
        Kind::OtherLength
    );
    assert_eq!(row(&[4, 4], takes(0).slice(1, 1)).ends_with(), [1, 2, 3, 1]);
    let mut backward = takes(0);
    backward.slices.backward = true;
    assert_eq!(row(&[4, 4], backward.clone()).refused().0, Kind::OtherSlice);
    assert_eq!(row(&[1, 1], backward).ends_with(), [1, 2, 1, 4]);
}

/// Slices `first` to `first + count - 1` of two blocks of so many slices.
fn in_blocks(mut op: Op, first: i64, count: i64, period: u32) -> Op {
    op.slices = slices(first, count);
    (op.slices.blocks, op.slices.period) = (2, period);
    op
}

#[test]
fn slices_in_blocks_pass_one_behind_the_other() {
    let row = |sent: Op, taken: Op| {
        let lanes = vec![vec![in_turn(vec![sent])], vec![in_turn(vec![taken])]];
        Row::new(lanes, &[3, 3, 3, 3]).link(0, 0)
    };
    // slices 0 and 2, then 1 and 3, come to those in the same order
    let sent = |first, count| in_blocks(sends(0), first, count, 2);
    let right = row(sent(0, 2), in_blocks(takes(0), 0, 2, 2));
    assert_eq!(right.ends_with(), [1, 2, 3, 4, 1, 2, 3, 4]);
    // who takes them as if they were not in blocks has them in another order
    let plain = row(sent(0, 2), takes(0).slice(0, 4));
    assert_eq!(plain.ends_with(), [1, 2, 3, 4, 1, 3, 2, 4]);
    // the slices of one block, to the other's places
    let one = row(sends(0).slice(0, 2), in_blocks(takes(0), 1, 1, 2));
    assert_eq!(one.ends_with(), [1, 2, 3, 4, 5, 1, 7, 2]);
}

#[test]
fn slices_in_blocks_turn_their_order_and_keep_that_of_elements() {
    let row = |turned: (bool, bool)| {
        let mut sent = in_blocks(sends(0), 0, 2, 2);
        let mut taken = in_blocks(takes(0), 0, 2, 2);
        (sent.slices.backward, taken.slices.backward) = turned;
        let lanes = vec![vec![in_turn(vec![sent])], vec![in_turn(vec![taken])]];
        Row::new(lanes, &[3, 3, 3, 3]).link(0, 0)
    };
    assert_eq!(row((true, true)).ends_with(), [1, 2, 3, 4, 1, 2, 3, 4]);
    assert_eq!(row((true, false)).ends_with(), [1, 2, 3, 4, 2, 1, 4, 3]);
}

#[test]
fn slices_of_a_block_that_is_not_there_are_refused() {
    let row = |first: i64, period: u32, sizes: &[i64]| {
        let sent = in_blocks(sends(0), first, 1, period);
        let taken = in_blocks(takes(0), 0, 1, 2);
        let lanes = vec![vec![in_turn(vec![sent])], vec![in_turn(vec![taken])]];
        Row::new(lanes, sizes).link(0, 0)
    };
    assert_eq!(row(1, 2, &[1, 1, 1, 1]).run().faults, []);
    assert_eq!(
        row(1, 3, &[1, 1, 1, 1]).refused().0,
        Kind::OtherSlice,
        "slice 4 of 4"
    );
    // blocks are counted in slices that have elements, so that all have to have some
    assert_eq!(row(1, 2, &[1, 1, 0, 1]).refused().0, Kind::OtherSlice);
    let mut none = row(1, 2, &[1, 1, 1, 1]).given;
    none.phases[0].roles[0].lanes[0].loops[0].entries[0].ops[0]
        .slices
        .blocks = 0;
    assert!(none.check(&[vec![0; 8]]).is_err());
}

#[test]
fn a_filter_counts_the_slices_of_all_blocks() {
    let row = |passes: (i64, u32)| {
        let of = |first: i64, count: i64, blocks: u32| Slices {
            blocks,
            period: 2,
            ..slices(first, count)
        };
        let filter = Filter {
            period: of(0, 2, 2),
            before: of(0, 1, 2),
            passes: of(1, passes.0, passes.1),
        };
        let sent = in_blocks(sends(0), 0, 2, 2);
        let taken = in_blocks(takes(0), 1, 1, 2);
        let lanes = vec![vec![in_turn(vec![sent])], vec![in_turn(vec![taken])]];
        Row::new(lanes, &[3, 3, 3, 3])
            .set(0, 0, &[route(RAMP, EAST_BIT)])
            .set_with(1, 0, &[route(WEST, RAMP_BIT)], false, Some(filter))
    };
    assert_eq!(row((1, 2)).ends_with(), [1, 2, 3, 4, 5, 2, 7, 4]);
    assert_ne!(row((1, 1)).run().faults, [], "the last one does not come");
}

#[test]
fn what_is_combined_may_be_other_elements_which_shows_in_the_values() {
    let row = |slice: i64| {
        let lanes = vec![
            vec![in_turn(vec![sends(0).slice(1, 1)])],
            vec![in_turn(vec![combines(0).slice(slice, 1)])],
        ];
        Row::new(lanes, &[4, 4]).link(0, 0)
    };
    assert_eq!(row(0).ends_with(), [1, 2, combined(3, 2), 4]);
    assert_eq!(row(1).ends_with(), [1, 2, 3, combined(4, 2)]);
}

/// PE 1 lets some wavelets pass from PE 0 to PE 2.
fn relays(elements: i64) -> Row {
    let mut relay = op(Place::Color(0), Action::Relay, Place::Color(1));
    relay.elements = Some(Number::fixed(elements));
    let lanes = vec![
        vec![in_turn(vec![sends(0).slice(0, 2)])],
        vec![in_turn(vec![relay])],
        vec![in_turn(vec![takes(1).slice(0, 2)])],
    ];
    Row::new(lanes, &[4, 3]).link(0, 0).link(1, 1)
}

/// What a relay lets pass is what the PE before it has made of it, and not what was sent.
#[test]
fn a_relay_lets_pass_what_has_been_combined_before() {
    let through = op(Place::Color(0), Action::Combine, Place::Color(1));
    let mut relay = op(Place::Color(1), Action::Relay, Place::Color(0));
    relay.elements = Some(Number::fixed(4));
    let lanes = vec![
        vec![in_turn(vec![sends(0)])],
        vec![in_turn(vec![through])],
        vec![in_turn(vec![relay])],
        vec![in_turn(vec![takes(0)])],
    ];
    let row = Row::new(lanes, &[4])
        .link(0, 0)
        .link(1, 1)
        .set(2, 0, &[route(RAMP, EAST_BIT)])
        .set(3, 0, &[route(WEST, RAMP_BIT)]);
    assert_eq!(row.ends_with(), [1, 2, 3, combined(2, 1)]);
}

#[test]
fn a_relay_lets_pass_what_comes() {
    assert_eq!(relays(7).ends_with(), [1, 2, 3, 4, 1, 2]);
    assert_eq!(relays(6).refused().0, Kind::OtherLength);
    assert_eq!(relays(8).refused().0, Kind::Stuck);
    assert_eq!(relays(4).refused().0, Kind::Stuck);
}

#[test]
fn a_word_that_comes_to_the_next_call_is_found() {
    let row = |first: Op| {
        let lanes = vec![
            vec![in_turn(vec![first, sends(0)])],
            vec![in_turn(vec![takes(0)])],
        ];
        Row::new(lanes, &[4]).link(0, 0).again(true)
    };
    let mut nowhere = sends(0);
    nowhere.slices = slices(0, 0);
    assert_eq!(row(nowhere).run().faults, []);
    let (kind, pe, _) = row(sends(0)).refused();
    assert_eq!((kind, pe), (Kind::OtherSlice, 1));
}

#[test]
fn the_stage_has_room_for_one_slice_in_each_place() {
    let stages = |slice: i64| op(Place::Color(0), Action::Copy, Place::Stage(0)).slice(slice, 1);
    let applies = |slice: i64| op(Place::Stage(0), Action::Combine, Place::Vector).slice(slice, 1);
    let row = |ops: Vec<Op>| {
        let lanes = vec![
            vec![in_turn(vec![sends(0), sends(0).slice(1, 1)])],
            vec![in_turn(ops)],
        ];
        Row::new(lanes, &[4, 4]).link(0, 0)
    };
    let right = row(vec![stages(0), stages(1), applies(0), applies(1)]);
    assert_eq!(right.ends_with(), [1, 2, combined(3, 1), combined(4, 2)]);
    let mut backward = applies(0).slice(0, 2);
    backward.slices.backward = true;
    let right = row(vec![stages(0), stages(1), backward]);
    assert_eq!(right.ends_with(), [1, 2, combined(3, 1), combined(4, 2)]);
    let twice = row(vec![stages(0), stages(0), applies(0)]);
    assert_eq!(twice.refused().0, Kind::Staging);
    let again = row(vec![stages(0), applies(0), applies(0), stages(1)]);
    assert_eq!(again.refused().0, Kind::Staging);
}

#[test]
fn open_routers_are_passed_at_once() {
    let count: u32 = 500;
    let mut lanes = vec![vec![in_turn(vec![combines(0); count as usize - 1])]];
    lanes.extend((1..count).map(|_| vec![in_turn(vec![sends(0).then(Advance::OwnRouter)])]));
    let mut row = Row::new(lanes, &[4]).set(0, 0, &[route(EAST, RAMP_BIT)]);
    for pe in 1..count {
        row = row.set(pe, 0, &[route(RAMP, WEST_BIT), route(EAST, WEST_BIT)]);
    }
    let outcome = run(&row.given, row.held(), None, false);
    assert_eq!(outcome.faults[0].kind, Kind::NotReturned); // nothing sets switches back here
    assert!(outcome.events < 20 * u64::from(count), "{}", outcome.events);
}

#[test]
fn a_number_goes_with_its_place() {
    let mut number = Number::fixed(3);
    assert_eq!(number.at(7), 3);
    (number.slope, number.divisor) = (2, 3);
    assert_eq!([-1, 2, 3, 7].map(|place| number.at(place)), [1, 3, 5, 7]);
    number.modulus = 5;
    assert_eq!([-1, 2, 3, 7].map(|place| number.at(place)), [1, 3, 0, 2]);
    (number.every, number.table) = (2, vec![10, 20]);
    assert_eq!(
        [-1, 2, 3, 4].map(|place| number.at(place)),
        [21, 23, 20, 10]
    );
}

#[test]
fn neighbours_are_on_the_grid() {
    let mut given = chain().given;
    (given.width, given.height) = (3, 2);
    let of = |pe: usize| [NORTH, EAST, SOUTH, WEST].map(|side| given.neighbour(pe, side));
    assert_eq!(of(0), [None, Some(1), Some(3), None]);
    assert_eq!(of(1), [None, Some(2), Some(4), Some(0)]);
    assert_eq!(of(2), [None, None, Some(5), Some(1)]);
    assert_eq!(of(3), [Some(0), Some(4), None, None]);
    assert_eq!(of(5), [Some(2), None, None, Some(4)]);
    assert_eq!(given.neighbour(5, RAMP), Some(5));
    let sides = [NORTH, EAST, SOUTH, WEST, RAMP];
    assert_eq!(sides.map(opposite), [SOUTH, WEST, NORTH, EAST, RAMP]);
}

#[test]
fn a_route_passes_what_goes_from_a_neighbour_to_one_neighbour() {
    assert_eq!(route(WEST, EAST_BIT).passes(), Some(EAST));
    assert_eq!(route(WEST, RAMP_BIT).passes(), None);
    assert_eq!(route(RAMP, EAST_BIT).passes(), None);
    assert_eq!(route(WEST, EAST_BIT | RAMP_BIT).passes(), None);
    assert_eq!(route(WEST, 0).passes(), None);
}

#[test]
fn words_go_down_a_column_and_up() {
    for (from, to, send, receive) in [(0, 1, SOUTH, NORTH), (1, 0, NORTH, SOUTH)] {
        let mut lanes = vec![Vec::new(), Vec::new()];
        lanes[from as usize] = vec![in_turn(vec![sends(0)])];
        lanes[to as usize] = vec![in_turn(vec![takes(0)])];
        let mut row = Row::new(lanes, &[4])
            .set(from, 0, &[route(RAMP, 1 << send)])
            .set(to, 0, &[route(receive, RAMP_BIT)]);
        (row.given.width, row.given.height) = (1, 2);
        assert_eq!(row.ends_with(), vec![u64::from(from) + 1; 2]);
        row.given.settings[0].positions[0].send = 1 << receive;
        let (kind, _, text) = row.refused();
        assert_eq!(kind, Kind::LeavesGrid);
        assert!(
            text.ends_with(&format!("leave the grid at PE (0, {from})")),
            "{text}"
        );
    }
}

/// What is wrong with numbers of a chain of three PEs, one of which has been changed.
fn wrong(change: impl FnOnce(&mut Given)) -> Result<(), &'static str> {
    let mut row = chain();
    let held = row.held();
    change(&mut row.given);
    row.given.check(&held)
}

#[test]
fn numbers_lead_to_what_is_given() {
    assert_eq!(wrong(|_| ()), Ok(()));
    assert_eq!(wrong(|given| given.phases[0].role_at[1] = -1), Ok(()));
    assert_eq!(wrong(|given| given.rows[0][1] = -1), Ok(()));
    let filter = |given: &mut Given| given.phases[0].filters.push(any_filter());
    let filtered = |given: &mut Given| given.phases[0].sets[1].filter = Some(0);
    assert_eq!(wrong(|given| (filter(given), filtered(given)).0), Ok(()));

    let of_settings = Err("a color says whether it is torn down, a setting has positions");
    assert_eq!(wrong(|given| given.torn_down.truncate(2)), of_settings);
    assert_eq!(
        wrong(|given| given.settings[3].positions.clear()),
        of_settings
    );

    let of_columns = Err("a phase has a number for each PE");
    assert_eq!(
        wrong(|given| given.phases[0].role_at.truncate(2)),
        of_columns
    );
    assert_eq!(
        wrong(|given| given.phases[0].place_at.truncate(2)),
        of_columns
    );
    assert_eq!(
        wrong(|given| given.phases[0].cut_at.truncate(2)),
        of_columns
    );

    let of_roles = Err("a PE has a role, or cuts, that are not given");
    assert_eq!(wrong(|given| given.phases[0].role_at[0] = 3), of_roles);
    assert_eq!(wrong(|given| given.phases[0].cut_at[0] = 1), of_roles);
    assert_eq!(wrong(|given| given.phases[0].cut_at[0] = -1), of_roles);
    assert_eq!(wrong(|given| given.phases[0].sizes.clear()), of_roles);
    assert_eq!(wrong(|given| given.phases[0].sizes.push(1)), of_roles);

    let of_sets = Err("a phase sets routers that are not given");
    assert_eq!(wrong(|given| given.phases[0].sets[3].pe = 3), of_sets);
    assert_eq!(wrong(|given| given.phases[0].sets[3].color = 3), of_sets);
    assert_eq!(wrong(|given| given.phases[0].sets[3].setting = 4), of_sets);
    assert_eq!(wrong(filtered), of_sets);
    assert_eq!(wrong(|given| given.phases[0].sets.reverse()), of_sets);

    let of_ops = Err("an operation has a color that is not given");
    let receives = |given: &mut Given| {
        let lane = &mut given.phases[0].roles[0].lanes[0];
        lane.loops[0].entries[0].ops[0].receive = Place::Color(3);
    };
    let sends = |given: &mut Given| {
        let lane = &mut given.phases[0].roles[2].lanes[0];
        lane.loops[0].entries[0].ops[0].send = Place::Color(3);
    };
    assert_eq!(wrong(receives), of_ops);
    assert_eq!(wrong(sends), of_ops);

    let of_stages = Err("a stage is of a phase, and of a call with what it begins with");
    assert_eq!(wrong(|given| given.stages[0].call = 1), of_stages);
    assert_eq!(wrong(|given| given.stages[0].phase = 1), of_stages);
    assert_eq!(wrong(|given| given.rows.push(vec![0; 3])), of_stages);
    assert_eq!(wrong(|given| given.atoms.push(1)), of_stages);

    let of_rows = Err("what is held has a row for each PE");
    assert_eq!(wrong(|given| given.rows[0][2] = 3), of_rows);
    assert_eq!(wrong(|given| given.rows[0].truncate(2)), of_rows);
    assert_eq!(wrong(|given| given.atoms[0] = 2), of_rows);

    let of_cuts = Err("slices have atoms that are not given");
    assert_eq!(wrong(|given| given.phases[0].cuts[0][1] = 2), of_cuts);
}

fn any_filter() -> Filter {
    Filter {
        period: slices(0, 1),
        before: slices(0, 0),
        passes: slices(0, 1),
    }
}

/// A loop of entries.
fn turns(count: i64, shift: i64, entries: Vec<Entry>) -> Loop {
    Loop {
        turns: Number::fixed(count),
        shift: Number::fixed(shift),
        entries,
    }
}

#[test]
fn slices_of_a_loop_go_round_by_its_shift() {
    let sender = |first: i64| Lane {
        loops: vec![turns(
            3,
            1,
            vec![entry(vec![sends(0).slice(first, 1)], false)],
        )],
    };
    let row = |first: i64, takes: Op| {
        let lanes = vec![vec![sender(first)], vec![in_turn(vec![takes])]];
        Row::new(lanes, &[1, 1, 1]).link(0, 0)
    };
    let all = || takes(0).slice(0, 3);
    assert_eq!(row(0, all()).ends_with(), [1, 2, 3, 1, 2, 3]);
    assert_eq!(row(2, all()).ends_with(), [1, 2, 3, 3, 1, 2]);
    let mut backward = all();
    backward.slices.backward = true;
    assert_eq!(row(2, backward).ends_with(), [1, 2, 3, 2, 1, 3]);
    let (kind, pe, text) = row(3, all()).refused();
    assert_eq!((kind, pe), (Kind::OtherSlice, 0));
    assert_eq!(text, "PE (0, 0) moves slices 3 to 3 of 3");
}

#[test]
fn slices_are_moved_vector_by_vector() {
    let times = |mut of: Op, vectors: i64| {
        of.vectors = vectors;
        of
    };
    let row = |first: Op, second: Op| {
        let lanes = vec![vec![in_turn(vec![first])], vec![in_turn(vec![second])]];
        Row::new(lanes, &[4, 4]).link(0, 0)
    };
    let (one, both) = (|| sends(0).slice(1, 1), || takes(0).slice(0, 2));
    assert_eq!(row(times(one(), 2), both()).ends_with(), [1, 2, 2, 2]);
    assert_eq!(row(times(one(), 1), both()).refused().0, Kind::Stuck);
    let sums = row(times(one(), 3), times(combines(0).slice(1, 1), 3));
    let three = combined(combined(combined(4, 2), 2), 2);
    assert_eq!(sums.ends_with(), [1, 2, 3, three]);
    let none = row(times(one(), 0), times(both(), 0));
    assert_eq!(none.ends_with(), [1, 2, 3, 4]);
}

#[test]
fn slices_without_elements_are_not_moved() {
    let lanes = vec![
        vec![in_turn(vec![sends(0).slice(0, 3)])],
        vec![in_turn(vec![takes(0).slice(2, 1), takes(0).slice(0, 2)])],
    ];
    let mut row = Row::new(lanes, &[4, 0, 4]).link(0, 0);
    row.given.phases[0].cuts[0] = vec![0, 1, 1, 3];
    let lane = &mut row.given.phases[0].roles[1].lanes[0];
    assert_eq!(lane.loops[0].entries.len(), 2);
    row.given.atoms[0] = 3;
    let (kind, _, text) = row.refused(); // the last slice has two elements, the first one has one
    assert_eq!(kind, Kind::OtherLength);
    assert!(text.starts_with("PE (1, 0) takes slice 2, of 4 wavelets, and PE (0, 0) sends slice 0"));
    row.given.phases[0].roles[1].lanes[0].loops[0]
        .entries
        .reverse();
    assert_eq!(row.ends_with(), [1, 2, 3, 1, 2, 3]);
}

#[test]
fn an_operation_is_done_where_it_is() {
    let row = |place: i64| {
        let mut one = sends(0);
        // places 0 and 1: the PE at one of them sends
        one.r#where = Number {
            offset: place,
            slope: 1,
            modulus: 2,
            ..Number::fixed(0)
        };
        let lanes = vec![vec![in_turn(vec![one])], vec![in_turn(vec![takes(0)])]];
        Row::new(lanes, &[4]).link(0, 0)
    };
    assert_eq!(row(1).ends_with(), [1, 1]);
    assert_eq!(row(0).refused().0, Kind::Stuck);
}

#[test]
fn words_that_should_come_back_do() {
    let returning = |mut one: Op| {
        one.returns = true;
        one
    };
    let both = vec![returning(sends(0).slice(0, 1)), takes(0).slice(1, 1)];
    let own = Row::new(vec![vec![lane(vec![entry(both, false)])]], &[4, 4]);
    assert_eq!(own.set(0, 0, &[route(RAMP, RAMP_BIT)]).ends_with(), [1, 1]);

    let away = |one: Op, other: Vec<Op>| {
        let lanes = vec![vec![in_turn(vec![returning(one)])], vec![in_turn(other)]];
        Row::new(lanes, &[4]).link(0, 0)
    };
    let (kind, pe, _) = away(sends(0), vec![takes(0)]).refused();
    assert_eq!((kind, pe), (Kind::KeptBack, 0));
    let nothing = sends(0).slice(0, 0).then(Advance::Control);
    assert_eq!(away(nothing, Vec::new()).ends_with(), [1, 2]);
}

#[test]
fn a_fault_says_where_it_is() {
    let mut last = takes(0).slice(1, 1);
    last.number = 7;
    let twice = turns(2, 0, vec![entry(vec![takes(0)], false)]);
    let lanes = vec![
        vec![in_turn(vec![sends(0); 3])],
        vec![
            in_turn(Vec::new()),
            Lane {
                loops: vec![twice, turns(1, 0, vec![entry(vec![last], false)])],
            },
        ],
    ];
    let fault = Row::new(lanes, &[4, 3]).link(0, 0).run().faults.remove(0);
    assert_eq!(
        (fault.kind, fault.stage, fault.pe),
        (Kind::OtherLength, Some(0), 1)
    );
    assert_eq!(
        (fault.lane, fault.entry, fault.op),
        (Some(1), Some(1), Some(7))
    );
    assert_eq!(
        (fault.color, fault.slice, fault.other),
        (Some(0), Some(1), Some(0))
    );
    assert_eq!(
        fault.text,
        "PE (1, 0) takes slice 1, of 3 wavelets, and PE (0, 0) sends slice 0, of 4"
    );
}

/// PE 0 waits for a second word on `red` before it sends what PE 1 waits for.
fn waits_for_more(loops: Vec<Loop>) -> Row {
    let lanes = vec![
        vec![in_turn(vec![takes(0), takes(0), sends(1)])],
        vec![Lane { loops }],
    ];
    Row::new(lanes, &[4])
        .set(0, 0, &[route(EAST, RAMP_BIT)])
        .set(1, 0, &[route(RAMP, WEST_BIT)])
        .link(0, 1)
}

#[test]
fn who_sends_later_is_waited_for_and_who_does_not_is_named() {
    let one = |op: Op| entry(vec![op], false);
    let first = |count: i64| turns(count, 0, vec![one(sends(0)), one(takes(1))]);
    let more = |count: i64| turns(count, 0, vec![one(sends(0))]);
    let circle = |row: Row| {
        let (kind, _, text) = row.refused();
        assert_eq!(kind, Kind::Stuck);
        let nothing = text.ends_with("for words from its own PE, which sends nothing more there");
        assert!(nothing || text.ends_with("waits for itself"), "{text}");
        !nothing
    };
    assert!(circle(waits_for_more(vec![first(2)])));
    assert!(!circle(waits_for_more(vec![first(1)])));
    assert!(circle(waits_for_more(vec![first(1), more(1)])));
    assert!(!circle(waits_for_more(vec![first(1), more(0)])));
    let mut nowhere = more(1);
    nowhere.entries[0].ops[0].r#where = Number::fixed(0);
    assert!(!circle(waits_for_more(vec![first(1), nowhere])));
    let before = turns(1, 0, vec![one(takes(1))]);
    assert!(!circle(waits_for_more(vec![more(1), before.clone()])));
    let second = turns(1, 0, vec![entry(Vec::new(), false), one(sends(0))]);
    assert!(!circle(waits_for_more(vec![second, before])));
    let behind = turns(1, 0, vec![one(sends(0)), one(takes(1)), one(sends(0))]);
    assert!(circle(waits_for_more(vec![behind])));
    assert!(circle(waits_for_more(vec![first(1)]).again(false)));
    assert!(!circle(waits_for_more(vec![first(1)]).again(true)));
}

/// Lanes of PE 1, which gets a slice on `red` from PE 0 and one on `green` from PE 2.
fn from_two_sides(lanes: Vec<Lane>) -> Row {
    let one = |color: u32| vec![in_turn(vec![sends(color), sends(color).slice(1, 1)])];
    Row::new(vec![one(0), lanes, one(1)], &[4, 4])
        .link(0, 0)
        .set(2, 1, &[route(RAMP, WEST_BIT)])
        .set(1, 1, &[route(EAST, RAMP_BIT)])
}

#[test]
fn what_comes_after_a_lane_is_ordered_with_that_lane_and_no_other() {
    let none = || in_turn(Vec::new());
    let first = || in_turn(vec![takes(0), takes(0).slice(1, 1)]);
    let second = |behind: usize| in_turn(vec![takes(1).behind(behind), takes(1).slice(1, 1)]);
    let right = from_two_sides(vec![none(), first(), second(1)]);
    assert_eq!(right.ends_with(), [1, 2, 5, 6, 5, 6]);
    let (kind, pe, _) = from_two_sides(vec![none(), first(), second(0)]).refused();
    assert_eq!((kind, pe), (Kind::NoFixedOrder, 1));
    let later = in_turn(vec![takes(1), takes(1).slice(1, 1).behind(1)]);
    let (kind, _, text) = from_two_sides(vec![none(), first(), later]).refused();
    assert_eq!(kind, Kind::NoFixedOrder);
    assert!(text.starts_with("PE (1, 0) changes slice 0"), "{text}");
}

#[test]
fn what_sends_behind_a_lane_does_not_wait_for_what_that_receives() {
    let row = |second: Op| {
        let mut row = sends_and_receives(vec![in_turn(vec![takes(0)]), in_turn(vec![second])]);
        row.given.phases[0].sizes = vec![4];
        row
    };
    assert_eq!(row(sends(1).behind(0)).refused().0, Kind::NoFixedOrder);
}

#[test]
fn a_ring_that_lets_pass_is_moved_by_what_passes() {
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(Advance::Control)])],
        vec![in_turn(vec![sends(0).slice(1, 1).then(Advance::OwnRouter)])],
        vec![in_turn(vec![takes(0).slice(1, 1), takes(0)])],
    ];
    let positions = [route(RAMP, EAST_BIT), route(WEST, EAST_BIT)];
    let row = Row::new(lanes, &[4, 4])
        .set(0, 0, &[route(RAMP, EAST_BIT)])
        .set(2, 0, &[route(WEST, RAMP_BIT)]);
    let ring = Row {
        given: row.given.clone(),
    }
    .ring(1, 0, &positions);
    assert_eq!(ring.ends_with(), [1, 2, 3, 4, 1, 4]);
    let (kind, pe, _) = row.set(1, 0, &positions).refused();
    assert_eq!((kind, pe), (Kind::NotReturned, 1));
}

#[test]
fn a_filter_counts_what_passes_its_router_by() {
    let row = |period: i64| {
        let lanes = vec![
            vec![in_turn(vec![sends(0)])],
            Vec::new(),
            vec![in_turn(vec![takes(0)])],
        ];
        let filter = Filter {
            period: slices(0, period),
            ..any_filter()
        };
        Row::new(lanes, &[4, 4])
            .set(0, 0, &[route(RAMP, EAST_BIT)])
            .set_with(1, 0, &[route(WEST, EAST_BIT)], false, Some(filter))
            .set(2, 0, &[route(WEST, RAMP_BIT)])
    };
    assert_eq!(row(1).ends_with(), [1, 2, 3, 4, 1, 6]);
    let (kind, pe, _) = row(2).refused();
    assert_eq!((kind, pe), (Kind::NotReturned, 1));
    let mut twice = row(2);
    let roles = &mut twice.given.phases[0].roles;
    roles[0].lanes = vec![in_turn(vec![sends(0), sends(0).slice(1, 1)])];
    roles[2].lanes = vec![in_turn(vec![takes(0).slice(1, 1), takes(0)])];
    assert_eq!(twice.ends_with(), [1, 2, 3, 4, 2, 1]);
}

#[test]
fn a_filter_may_be_as_short_as_a_wavelet_but_not_nothing() {
    let row = |sizes: &[i64], period: i64| {
        let lanes = vec![vec![in_turn(vec![sends(0)])], vec![in_turn(vec![takes(0)])]];
        let filter = Filter {
            period: slices(0, period),
            ..any_filter()
        };
        Row::new(lanes, sizes)
            .set(0, 0, &[route(RAMP, EAST_BIT)])
            .set_with(1, 0, &[route(WEST, RAMP_BIT)], false, Some(filter))
    };
    assert_eq!(row(&[1], 1).ends_with(), [1, 1]);
    assert_eq!(row(&[1], 0).refused().0, Kind::Stuck);
}

#[test]
fn a_teardown_that_does_not_come_is_told_where_it_should_be_sent() {
    let rows = |advance: Advance| {
        let lanes = vec![
            vec![in_turn(vec![sends(1).then(advance)])],
            vec![in_turn(vec![takes(1)])],
        ];
        let mut row = Row::new(lanes, &[4])
            .link(0, 1)
            .set(0, 0, &[route(EAST, RAMP_BIT)])
            .set(1, 0, &[route(RAMP, WEST_BIT)])
            .torn_down(1);
        let mut second = row.given.phases[0].clone(); // PE 1 sends back, and sets its router on `green`
        second.sets.retain(|set| set.color == 0 || set.pe == 1);
        second.roles[0].lanes = vec![in_turn(vec![takes(0)])];
        second.roles[1].lanes = vec![in_turn(vec![sends(0)])];
        row.given.phases.push(second);
        row = row.again(false);
        row.given.stages[1].phase = 1;
        row
    };
    let fault = rows(Advance::Nothing).run().faults.remove(0);
    assert_eq!(
        (fault.kind, fault.pe, fault.color),
        (Kind::NotTornDown, 0, Some(1))
    );
    assert_eq!(
        (fault.stage, fault.lane, fault.other),
        (Some(1), Some(0), Some(0))
    );
    let mut silent = rows(Advance::Nothing); // PE 0 does nothing in the second phase
    silent.given.phases[1].roles[0].lanes.clear();
    silent.given.phases[1].roles[1].lanes.clear();
    let found = silent.refused();
    assert_eq!((found.0, found.1), (Kind::NotTornDown, 0));
    let left_up = rows(Advance::Teardown).run(); // what PE 1 has set for the second phase
    let found: Vec<_> = left_up
        .faults
        .iter()
        .map(|one| (one.kind, one.pe, one.color))
        .collect();
    assert_eq!(found, [(Kind::NotTornDown, 1, Some(1))]);
}

#[test]
fn a_relay_has_two_colors() {
    let relay = |receive: Place, send: Place| {
        let lanes = vec![
            vec![in_turn(vec![sends(0)])],
            vec![in_turn(vec![op(receive, Action::Relay, send)])],
            vec![in_turn(vec![takes(1)])],
        ];
        Row::new(lanes, &[4]).link(0, 0).link(1, 1)
    };
    let (red, green) = (Place::Color(0), Place::Color(1));
    assert_eq!(relay(red, green).ends_with(), [1, 2, 1]);
    let mut second = relay(red, green);
    for phase in &mut second.given.phases {
        phase.sizes = vec![4, 3];
        phase.cuts = vec![vec![0, 1, 2]];
        for one in &mut phase.roles {
            one.lanes[0].loops[0].entries[0].ops[0].slices = slices(1, 1);
        }
    }
    second.given.atoms[0] = 2;
    assert_eq!(second.ends_with(), [1, 2, 3, 4, 5, 2]);
    for (receive, send) in [(red, Place::Vector), (Place::Vector, green)] {
        let (kind, pe, text) = relay(receive, send).refused();
        assert_eq!((kind, pe), (Kind::OtherSlice, 1));
        assert!(text.ends_with("lets nothing pass from one color to another"));
    }
}

#[test]
fn a_burst_has_room_in_the_queues_of_all_or_stays_where_it_is() {
    let all = |row: Row, color: u32| {
        row.set(0, color, &[route(RAMP, EAST_BIT)])
            .set(1, color, &[route(WEST, EAST_BIT | RAMP_BIT)])
            .set(2, color, &[route(WEST, RAMP_BIT)])
    };
    let row = |first: Vec<Op>, second: Vec<Op>| {
        let last = vec![in_turn(vec![takes(2), takes(0)])];
        let lanes = vec![vec![in_turn(first)], vec![in_turn(second)], last];
        all(all(Row::new(lanes, &[1, 1]), 0), 2)
    };
    let one = row(vec![sends(0), sends(2)], vec![takes(0), takes(2)]);
    assert_eq!(one.ends_with(), [1, 2, 1, 4, 1, 6]);
    // PE 1 has room for the second word, PE 2 has not
    let sent = vec![sends(0), sends(0).slice(1, 1), sends(2)];
    let taken = vec![takes(0), takes(2), takes(0).slice(1, 1)];
    assert_eq!(row(sent, taken).refused().0, Kind::Stuck);
}

#[test]
fn a_teardown_comes_to_routers_that_words_have_passed_at_once() {
    let row = |last: Advance| {
        let lanes = vec![
            vec![in_turn(vec![sends(0), sends(0).then(last)])],
            Vec::new(),
            vec![in_turn(vec![takes(0), takes(0)])],
        ];
        Row::new(lanes, &[4])
            .set(0, 0, &[route(RAMP, EAST_BIT)])
            .set(1, 0, &[route(WEST, EAST_BIT)])
            .set(2, 0, &[route(WEST, RAMP_BIT)])
            .again(true)
            .torn_down(0)
    };
    let outcome = row(Advance::Teardown).run();
    assert_eq!(
        (outcome.faults, &outcome.held[1][..]),
        (vec![], &[1001, 1002, 1001][..])
    );
    let (kind, pe, _) = row(Advance::OwnRouter).refused();
    assert_eq!((kind, pe), (Kind::NotTornDown, 0));
}

#[test]
fn operations_that_words_go_through_may_be_of_fewer_slices_or_of_more_than_come_at_once() {
    let through = op(Place::Color(0), Action::Combine, Place::Color(1));
    let one_by_one = |of: &Op| vec![of.clone().slice(0, 1), of.clone().slice(1, 1)];
    let both = |of: &Op| vec![of.clone().slice(0, 2)];
    let row = |sent: Vec<Op>, passed: Vec<Op>| {
        let last = vec![in_turn(both(&takes(1)))];
        let lanes = vec![vec![in_turn(sent)], vec![in_turn(passed)], last];
        Row::new(lanes, &[4, 4]).link(0, 0).link(1, 1).ends_with()
    };
    let sums = [1, 2, 3, 4, combined(3, 1), combined(4, 2)];
    assert_eq!(row(both(&sends(0)), one_by_one(&through)), sums);
    assert_eq!(row(one_by_one(&sends(0)), both(&through)), sums);
}

#[test]
fn what_goes_through_is_as_long_as_what_comes() {
    let row = |sizes: &[i64], slice: i64| {
        let through = op(Place::Color(0), Action::Combine, Place::Color(1)).slice(slice, 1);
        let lanes = vec![
            vec![in_turn(vec![sends(0)])],
            vec![in_turn(vec![through])],
            vec![in_turn(vec![takes(1)])],
        ];
        Row::new(lanes, sizes).link(0, 0).link(1, 1)
    };
    assert_eq!(row(&[4, 4], 0).ends_with(), [1, 2, 3, 4, combined(3, 1), 6]);
    let mut both = row(&[4, 3], 0);
    for role in &mut both.given.phases[0].roles {
        role.lanes[0].loops[0].entries[0].ops[0].slices = slices(0, 2);
    }
    let own = [combined(3, 1), combined(4, 2)];
    assert_eq!(both.ends_with(), [1, 2, 3, 4, own[0], own[1]]);
    assert_eq!(row(&[4, 4], 1).ends_with(), [1, 2, 3, 4, combined(4, 1), 6]);
    let found = row(&[4, 3], 1).refused();
    assert_eq!((found.0, found.1), (Kind::OtherLength, 1));
}

#[test]
fn a_filter_lets_in_the_same_of_each_period() {
    let row = |taken: Vec<Op>| {
        let filter = Filter {
            period: slices(0, 2),
            before: slices(0, 1),
            passes: slices(1, 1),
        };
        let lanes = vec![
            vec![in_turn(vec![sends(0).slice(0, 4)])],
            vec![in_turn(taken)],
        ];
        Row::new(lanes, &[4; 4])
            .set(0, 0, &[route(RAMP, EAST_BIT)])
            .set_with(1, 0, &[route(WEST, RAMP_BIT)], false, Some(filter))
    };
    let both = vec![takes(0).slice(0, 2)];
    assert_eq!(row(both).ends_with(), [1, 2, 3, 4, 2, 4, 7, 8]);
    let one_by_one = vec![takes(0).slice(2, 1), takes(0).slice(0, 1)];
    assert_eq!(row(one_by_one).ends_with(), [1, 2, 3, 4, 4, 6, 2, 8]);
    assert_eq!(row(vec![takes(0).slice(0, 1)]).refused().0, Kind::Stuck);
    assert_eq!(row(vec![takes(0).slice(0, 3)]).refused().0, Kind::Stuck);
}

#[test]
fn a_router_that_is_set_no_more_is_named_and_one_that_will_be_is_waited_for() {
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(Advance::Teardown), sends(0)])],
        vec![in_turn(vec![takes(0), takes(0)])],
    ];
    let row = Row::new(lanes, &[4]).link(0, 0).torn_down(0);
    let again = Row {
        given: row.given.clone(),
    }
    .again(true);
    let (kind, pe, text) = row.refused();
    assert_eq!((kind, pe), (Kind::Stuck, 0));
    assert!(
        text.ends_with("the router of PE (0, 0) is not set on `red` any more"),
        "{text}"
    );
    let (kind, pe, text) = again.refused();
    assert_eq!((kind, pe), (Kind::Stuck, 0));
    assert!(
        text.contains("is not set on `red`, and is not before words of PE (0, 0) come"),
        "{text}"
    );
}

#[test]
fn a_side_from_which_nothing_comes_is_named() {
    for (side, name) in [
        (NORTH, "north"),
        (EAST, "east"),
        (SOUTH, "south"),
        (WEST, "west"),
    ] {
        let mut lanes = vec![Vec::new(); 9];
        lanes[4] = vec![in_turn(vec![takes(0)])];
        let mut row = Row::new(lanes, &[4]).set(4, 0, &[route(side, RAMP_BIT)]);
        (row.given.width, row.given.height) = (3, 3);
        let start = "PE (1, 1) waits for ever: the router of PE (1, 1) is in position 0 of `red`, for words \
                     from ";
        let (kind, pe, text) = row.refused();
        assert_eq!((kind, pe), (Kind::Stuck, 4));
        assert_eq!(
            text,
            format!("{start}the {name}, where no router is set for it")
        );
        (row.given.width, row.given.height) = (9, 1);
        let other = row.given.neighbour(4, side).unwrap_or(8) as u32;
        let row = row.set(other, 0, &[route(RAMP, 1 << side)]);
        let text = row.refused().2;
        if matches!(side, EAST | WEST) {
            let silent = format!("the {name}, where PE ({other}, 0) sends none");
            assert!(text.ends_with(&silent), "{text}");
        } else {
            assert!(text.ends_with("for words from beyond the grid"), "{text}");
        }
    }
}

#[test]
fn a_router_that_has_been_set_back_is_told_as_such() {
    let row = |last: Advance| {
        let lanes = vec![
            vec![in_turn(vec![sends(0).then(last)])],
            vec![in_turn(vec![takes(0), takes(0)])],
        ];
        Row::new(lanes, &[4]).link(0, 0).refused().2
    };
    let nothing = "position 0 of `red`, for words from its own PE, which sends nothing more there";
    let text = row(Advance::Nothing);
    assert!(
        text.ends_with(&format!("PE (0, 0) is in {nothing}")),
        "{text}"
    );
    let text = row(Advance::Reset);
    assert!(
        text.ends_with(&format!("PE (0, 0) has been set back to {nothing}")),
        "{text}"
    );
}

#[test]
fn a_turn_that_is_handed_on_moves_the_next_ring_and_nothing_behind_it() {
    let lanes = vec![
        vec![in_turn(vec![sends(0).then(Advance::HandOver)])],
        vec![in_turn(vec![
            takes(0),
            sends(0).slice(1, 1).then(Advance::OwnRouter),
        ])],
        vec![in_turn(vec![takes(0), takes(0).slice(1, 1)])],
    ];
    let row = Row::new(lanes, &[4, 4])
        .set(0, 0, &[route(RAMP, EAST_BIT)])
        .ring(
            1,
            0,
            &[route(WEST, EAST_BIT | RAMP_BIT), route(RAMP, EAST_BIT)],
        );
    let behind = [route(WEST, RAMP_BIT), route(RAMP, WEST_BIT)];
    let again = Row {
        given: row.given.clone(),
    };
    assert_eq!(row.set(2, 0, &behind).ends_with(), [1, 2, 1, 4, 1, 4]);
    assert_eq!(again.ring(2, 0, &behind).ends_with(), [1, 2, 1, 4, 1, 4]);
}

#[test]
fn routers_that_are_looked_at_and_what_moves_are_counted() {
    let lanes = vec![vec![in_turn(vec![sends(0)])], vec![in_turn(vec![takes(0)])]];
    let row = Row::new(lanes, &[4]).link(0, 0);
    // two routers, what is sent and what is taken
    assert_eq!(run(&row.given, row.held(), None, false).events, 4);
}

#[test]
fn who_goes_on_next_is_another_one_in_another_order() {
    let lanes = (0..12).map(|pe| match pe % 2 {
        0 => vec![in_turn(vec![sends(0)])],
        _ => vec![in_turn(vec![takes(0)])],
    });
    let mut row = Row::new(lanes.collect(), &[4]);
    for pe in (0..12).step_by(2) {
        row = row.link(pe, 0);
    }
    let told = |order| -> Vec<u32> {
        let receipts = run(&row.given, row.held(), order, true).receipts;
        receipts.iter().map(|one| one.pe).collect()
    };
    let orders: std::collections::HashSet<_> = (1..9).map(|order| told(Some(order))).collect();
    assert!(orders.len() > 4, "{orders:?}");
    assert_eq!(told(None), told(None));
}

#[test]
fn the_first_router_has_to_return_as_all_others() {
    let row = |last: Advance| {
        let lanes = vec![
            vec![in_turn(vec![sends(0).then(last)])],
            vec![in_turn(vec![takes(0)])],
        ];
        let positions = [route(RAMP, EAST_BIT), route(EAST, RAMP_BIT)];
        Row::new(lanes, &[4])
            .set(0, 0, &positions)
            .set(1, 0, &[route(WEST, RAMP_BIT)])
    };
    assert_eq!(row(Advance::Nothing).ends_with(), [1, 1]);
    let (kind, pe, text) = row(Advance::OwnRouter).refused();
    assert_eq!((kind, pe), (Kind::NotReturned, 0));
    assert_eq!(text, "the router of PE (0, 0) on `red` ends in position 1");
}

#[test]
fn a_router_that_is_set_back_lets_in_what_the_next_call_sends() {
    let outcome = own_first(Advance::OwnRouter, Advance::Reset)
        .again(true)
        .run();
    assert_eq!(outcome.faults, []);
    assert_eq!(outcome.held[1], [1001, 1002, 1003, 1004, 1001, 1004]);
}

#[test]
fn that_one_sends_behind_another_by_way_of_the_fabric_does_not_count() {
    // the second lane sends when PE 1 has answered what the first lane has sent
    let row = |last: Op| {
        let first = in_turn(vec![sends(0).slice(0, 1)]);
        let second = in_turn(vec![takes(1).slice(2, 1), last]);
        let other = vec![
            takes(0).slice(0, 1),
            sends(1).slice(2, 1),
            takes(0).slice(1, 1),
        ];
        Row::new(vec![vec![first, second], vec![in_turn(other)]], &[4, 4, 4])
            .link(0, 0)
            .set(1, 1, &[route(RAMP, WEST_BIT)])
            .set(0, 1, &[route(EAST, RAMP_BIT)])
    };
    let (kind, pe, _) = row(sends(0).slice(1, 1)).refused();
    assert_eq!((kind, pe), (Kind::SeveralSend, 0));
    let ordered = row(sends(0).slice(1, 1).behind(0));
    assert_eq!(ordered.ends_with(), [1, 2, 6, 1, 2, 6]);
}
