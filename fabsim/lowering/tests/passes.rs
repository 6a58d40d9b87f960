//! What each pass does, seen in the code that comes out.

mod support;

use fabsim_lowering::cost::PIPELINE;
use fabsim_program::program::*;
use support::{by, function, optimized, program, run};

const U16: ScalarType = ScalarType::U16;
const F32: ScalarType = ScalarType::F32;

fn constant(dst: u16, bits: u64) -> Inst {
    let dst = Slot(dst);
    Inst::Const { dst, bits }
}

fn binary(op: BinaryOp, ty: ScalarType, dst: u16, a: u16, b: u16) -> Inst {
    let (dst, a, b) = (Slot(dst), Slot(a), Slot(b));
    Inst::Binary { op, ty, dst, a, b }
}

fn load(ty: ScalarType, dst: u16, address: u16) -> Inst {
    let (dst, address) = (Slot(dst), Slot(address));
    Inst::Load { ty, dst, address }
}

fn store(ty: ScalarType, address: u16, src: u16) -> Inst {
    let (address, src) = (Slot(address), Slot(src));
    Inst::Store { ty, address, src }
}

fn result(src: u16) -> Inst {
    Inst::Return {
        src: Some(Slot(src)),
    }
}

/// `while (i < turns) : (i += 1)` around a body; the counter is slot 0, slots 1 to 3 are in use.
fn turns(turns: u64, before: Vec<Inst>, body: Vec<Inst>) -> Vec<Inst> {
    let mut code = before;
    code.extend([constant(0, 0), constant(1, turns)]);
    let head = code.len() as u32;
    let out = head + body.len() as u32 + 5;
    let (dst, a, b) = (Slot(2), Slot(0), Slot(1));
    code.push(Inst::Compare {
        op: CompareOp::Lt,
        ty: U16,
        dst,
        a,
        b,
    });
    code.push(Inst::Branch {
        condition: Slot(2),
        when: false,
        to: out,
    });
    code.extend(body);
    code.extend([
        constant(3, 1),
        binary(BinaryOp::Add, U16, 0, 0, 3),
        Inst::Jump { to: head },
    ]);
    code
}

/// The address of element `i` (slot 0) of an array of f32, into a slot.
fn element(dst: u16, base: u64) -> Vec<Inst> {
    vec![
        constant(40, 4),
        binary(BinaryOp::Mul, U16, dst, 0, 40),
        constant(41, base),
        binary(BinaryOp::Add, U16, dst, 41, dst),
    ]
}

fn count(code: Vec<Inst>, wanted: impl Fn(&Inst) -> bool) -> usize {
    let program = program(
        vec![function(2, code)],
        vec![(0, 64), (64, 128), (192, 256)],
    );
    optimized(&program)[0]
        .insts
        .iter()
        .filter(|inst| wanted(inst))
        .count()
}

fn is_jump(inst: &Inst) -> bool {
    matches!(inst, Inst::Jump { .. } | Inst::Branch { .. })
}

fn is_load(inst: &Inst) -> bool {
    matches!(inst, Inst::Load { .. })
}

/// `acc += x[i]`
fn sum() -> Vec<Inst> {
    let mut body = element(10, 64);
    body.extend([load(F32, 11, 10), binary(BinaryOp::Add, F32, 12, 12, 11)]);
    body
}

#[test]
fn short_loops_of_known_turns_are_unrolled_and_long_ones_are_rotated() {
    let with = |n: u64| {
        let mut code = turns(n, vec![constant(12, 0)], sum());
        code.push(result(12));
        code
    };
    assert_eq!(count(with(8), is_jump), 0);
    assert_eq!(count(with(8), is_load), 8);
    assert_eq!(count(with(32), is_jump), 1);
    assert_eq!(count(with(32), is_load), 1);
}

#[test]
fn a_loop_that_waits_for_memory_reads_it_every_turn_and_one_that_counts_does_not() {
    // while (word != 0) {}
    let spins = vec![
        constant(0, 64),
        load(U16, 1, 0),
        constant(2, 0),
        Inst::Compare {
            op: CompareOp::Ne,
            ty: U16,
            dst: Slot(3),
            a: Slot(1),
            b: Slot(2),
        },
        Inst::Branch {
            condition: Slot(3),
            when: true,
            to: 0,
        },
        result(1),
    ];
    let in_loop = |code: Vec<Inst>| {
        let program = program(vec![function(0, code)], vec![(0, 64), (64, 128)]);
        let code = &optimized(&program)[0].insts;
        let back = |(at, inst): (usize, &Inst)| match inst {
            Inst::Branch { to, .. } | Inst::Jump { to } if *to as usize <= at => {
                Some(*to as usize..at)
            }
            _ => None,
        };
        let range = code.iter().enumerate().find_map(back).expect("a loop");
        code[range].iter().filter(|inst| is_load(inst)).count()
    };
    assert_eq!(in_loop(spins), 1);
    let mut counts = turns(
        1000,
        vec![constant(10, 64), constant(12, 0)],
        vec![load(U16, 11, 10), binary(BinaryOp::Add, U16, 12, 12, 11)],
    );
    counts.push(result(12));
    assert_eq!(in_loop(counts), 0);
}

#[test]
fn a_turn_over_an_array_takes_fifteen_cycles() {
    let cycles = |n: u64| {
        let mut code = turns(n, vec![constant(12, 0)], sum());
        code.push(result(12));
        let program = program(vec![function(0, code)], vec![(64, 256)]);
        run(&by(PIPELINE, &program), &[]).cycles
    };
    assert_eq!(cycles(60) - cycles(50), 150);
}

#[test]
fn a_load_is_shared_until_something_may_write_there() {
    let twice = |between: Vec<Inst>| {
        let mut code = vec![constant(10, 64), load(U16, 11, 10)];
        code.extend(between);
        code.extend([
            load(U16, 12, 10),
            binary(BinaryOp::Add, U16, 11, 11, 12),
            result(11),
        ]);
        count(code, is_load)
    };
    assert_eq!(twice(vec![]), 1);
    assert_eq!(twice(vec![constant(20, 66), store(U16, 20, 0)]), 1);
    let mut other = element(20, 192);
    other.push(store(F32, 20, 1));
    assert_eq!(twice(other), 1, "another array");
    let mut same = element(20, 64);
    same.push(store(F32, 20, 1));
    assert_eq!(twice(same), 2, "the array itself");
    assert_eq!(twice(vec![store(U16, 1, 0)]), 2, "anywhere");
}

#[test]
fn what_does_not_change_is_computed_before_the_loop() {
    let code = |written: u64| {
        let mut body = vec![constant(20, 0), load(F32, 21, 20)];
        body.extend(element(10, written));
        body.push(store(F32, 10, 21));
        turns(50, vec![], body)
    };
    let place = |written: u64| {
        let program = program(vec![function(0, code(written))], vec![(0, 64), (64, 256)]);
        let code = &optimized(&program)[0];
        let back = code.insts.iter().find_map(|inst| match inst {
            Inst::Branch { to, .. } => Some(*to as usize),
            _ => None,
        });
        (code.insts.iter().position(is_load), back)
    };
    let (load, turn) = place(64);
    assert!(load < turn, "another array is written");
    let (load, turn) = place(0);
    assert!(load >= turn, "what is loaded may be written");
}

#[test]
fn a_short_choice_becomes_a_predicated_move() {
    let (dst, a, b) = (Slot(2), Slot(0), Slot(1));
    let code = vec![
        Inst::Compare {
            op: CompareOp::Lt,
            ty: U16,
            dst,
            a,
            b,
        },
        Inst::Branch {
            condition: Slot(2),
            when: false,
            to: 4,
        },
        constant(5, 11),
        Inst::Jump { to: 5 },
        constant(5, 22),
        result(5),
    ];
    assert_eq!(count(code.clone(), is_jump), 0);
    assert_eq!(count(code, |inst| matches!(inst, Inst::Select { .. })), 1);
}

#[test]
fn small_functions_are_inlined_and_recursion_ends() {
    let call = |args: &[u16]| Inst::Call {
        function: FunctionId(1),
        args: args.iter().map(|&n| Slot(n)).collect(),
        dst: Some(Slot(5)),
    };
    let main = function(2, vec![call(&[0]), call(&[1]), result(5)]);
    let twice = function(1, vec![binary(BinaryOp::Add, U16, 0, 0, 0), result(0)]);
    let all = program(vec![main.clone(), twice], Vec::new());
    let code = optimized(&all);
    assert!(!code[0]
        .insts
        .iter()
        .any(|inst| matches!(inst, Inst::Call { .. })));
    assert_eq!(run(&code, &[3, 4]).result, Some(8));
    let recursive = function(1, vec![call(&[0]), result(5)]);
    let code = optimized(&program(vec![main, recursive], Vec::new()));
    assert!(code[1]
        .insts
        .iter()
        .any(|inst| matches!(inst, Inst::Call { .. })));
}

#[test]
fn what_nobody_needs_is_still_checked_and_costs_nothing() {
    let divide = vec![binary(BinaryOp::Div, U16, 5, 0, 1), result(0)];
    let outside = vec![constant(5, 60_000), load(U16, 6, 5), result(0)];
    for code in [divide, outside] {
        let code = optimized(&program(vec![function(2, code)], Vec::new()));
        assert_eq!(code[0].costs[0].next, 0);
        assert!(run(&code, &[1, 0]).failed);
    }
}

#[test]
fn places_in_the_source_stay_with_their_instructions() {
    let call = Inst::Call {
        function: FunctionId(1),
        args: Box::new([Slot(0), Slot(1)]),
        dst: Some(Slot(5)),
    };
    let main = function(2, vec![constant(7, 1), call, result(5)]);
    let callee = function(
        2,
        vec![
            constant(7, 1),
            binary(BinaryOp::Div, U16, 5, 0, 1),
            result(5),
        ],
    );
    let code = &optimized(&program(vec![main, callee], Vec::new()))[0];
    let divide = code
        .insts
        .iter()
        .position(|inst| matches!(inst, Inst::Binary { .. }));
    let origin = code.origin(0, divide.expect("a division"));
    assert_eq!((origin.function, origin.at), (1, 1));
}

#[test]
fn a_function_whose_calls_are_all_inlined_has_no_code_unless_a_pointer_may_lead_there() {
    let callee = || function(0, vec![constant(0, 7), result(0)]);
    let call = Inst::Call {
        function: FunctionId(1),
        args: Box::new([]),
        dst: Some(Slot(0)),
    };
    let mut made = program(vec![function(0, vec![call, result(0)]), callee()], vec![]);
    made.symbols.truncate(1);
    let codes = optimized(&made);
    assert!(!codes[0]
        .insts
        .iter()
        .any(|i| matches!(i, Inst::Call { .. })));
    assert!(codes[1].insts.is_empty());

    let by_pointer = Inst::CallPointer {
        function: Slot(0),
        args: Box::new([]),
        dst: None,
    };
    let through = vec![constant(0, 2), by_pointer, Inst::Return { src: None }];
    let mut made = program(vec![function(0, through), callee()], vec![]);
    made.symbols.truncate(1);
    assert!(!optimized(&made)[1].insts.is_empty());
}
