//! Random programs do the same with and without the passes: result, memory, and whether they fail.

mod support;

use fabsim_program::program::*;
use support::{function, optimized, plain, program, run};

const SLOTS: u64 = 12;
const ARRAYS: [(u32, u32); 3] = [(0, 64), (64, 128), (192, 256)];

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn slot(&mut self) -> Slot {
        Slot(self.below(SLOTS) as u16)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

const WHOLE: [ScalarType; 4] = [
    ScalarType::U16,
    ScalarType::I16,
    ScalarType::U32,
    ScalarType::I32,
];
const ANY: [ScalarType; 6] = [
    ScalarType::U16,
    ScalarType::I16,
    ScalarType::U32,
    ScalarType::I32,
    ScalarType::F32,
    ScalarType::F16,
];

fn straight(dice: &mut Dice, code: &mut Vec<Inst>) {
    let (dst, a, b) = (dice.slot(), dice.slot(), dice.slot());
    let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul];
    let bits = [
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Shl,
        BinaryOp::Shr,
    ];
    match dice.below(9) {
        0 | 1 => {
            let bits = dice.pick(&[0, 1, 2, 4, 7, 8, 63, 0x8000, 0xffff, 0x3f80_0000]);
            code.push(Inst::Const { dst, bits });
        }
        2 => code.push(Inst::Copy { dst, src: a }),
        3 | 4 => {
            let (op, ty) = match dice.below(8) {
                0..=3 => (dice.pick(&op), dice.pick(&ANY)),
                4..=6 => (dice.pick(&bits), dice.pick(&WHOLE)),
                _ => (
                    dice.pick(&[BinaryOp::Div, BinaryOp::Rem]),
                    dice.pick(&WHOLE),
                ),
            };
            // Floats are whole values of their type, as the front end makes them.
            code.push(Inst::Binary { op, ty, dst, a, b });
        }
        5 => {
            let op = dice.pick(&[CompareOp::Eq, CompareOp::Lt, CompareOp::Ge]);
            code.push(Inst::Compare {
                op,
                ty: dice.pick(&WHOLE),
                dst,
                a,
                b,
            });
        }
        6 => {
            let (from, to) = (dice.pick(&WHOLE), dice.pick(&WHOLE));
            code.push(Inst::Convert { from, to, dst, a });
        }
        _ => access(dice, code, (dst, a)),
    }
}

/// A load or a store in an array, by a constant or by an index that stays inside.
fn access(dice: &mut Dice, code: &mut Vec<Inst>, (dst, index): (Slot, Slot)) {
    let (base, bytes) = dice.pick(&ARRAYS);
    let (x, y) = (Slot(20), Slot(21));
    let ty = dice.pick(&[ScalarType::U16, ScalarType::F32]);
    let size = u64::from(ty.size_bytes());
    let u16 = ScalarType::U16;
    code.push(Inst::Const {
        dst: y,
        bits: u64::from(bytes) / size - 1,
    });
    code.push(Inst::Binary {
        op: BinaryOp::And,
        ty: u16,
        dst: x,
        a: index,
        b: y,
    });
    code.push(Inst::Const { dst: y, bits: size });
    code.push(Inst::Binary {
        op: BinaryOp::Mul,
        ty: u16,
        dst: x,
        a: x,
        b: y,
    });
    code.push(Inst::Const {
        dst: y,
        bits: u64::from(base),
    });
    code.push(Inst::Binary {
        op: BinaryOp::Add,
        ty: u16,
        dst: x,
        a: y,
        b: x,
    });
    let inst = match dice.below(2) {
        0 => Inst::Load {
            ty,
            dst,
            address: x,
        },
        _ => Inst::Store {
            ty,
            address: x,
            src: dst,
        },
    };
    code.push(inst);
}

fn body(dice: &mut Dice, code: &mut Vec<Inst>, depth: u16) {
    for _ in 0..dice.below(6) + 1 {
        match dice.below(7) {
            0 if depth < 3 => choice(dice, code, depth),
            1 if depth < 3 => turns(dice, code, depth),
            2 if depth < 2 => {
                let args = Box::new([dice.slot(), dice.slot()]);
                let dst = Some(dice.slot());
                code.push(Inst::Call {
                    function: FunctionId(1),
                    args,
                    dst,
                });
            }
            _ => straight(dice, code),
        }
    }
}

fn land(code: &mut [Inst], at: usize, target: usize) {
    if let Inst::Jump { to } | Inst::Branch { to, .. } = &mut code[at] {
        *to = target as u32;
    }
}

fn choice(dice: &mut Dice, code: &mut Vec<Inst>, depth: u16) {
    let condition = dice.slot();
    let branch = code.len();
    code.push(Inst::Branch {
        condition,
        when: dice.below(2) == 1,
        to: 0,
    });
    body(dice, code, depth + 1);
    let jump = code.len();
    code.push(Inst::Jump { to: 0 });
    let here = code.len();
    land(code, branch, here);
    if dice.below(2) == 0 {
        body(dice, code, depth + 1);
    }
    let here = code.len();
    land(code, jump, here);
}

/// A loop that counts in slots of its own, sometimes left early.
fn turns(dice: &mut Dice, code: &mut Vec<Inst>, depth: u16) {
    let (i, n, one, c) = (
        Slot(30 + 4 * depth),
        Slot(31 + 4 * depth),
        Slot(32 + 4 * depth),
        Slot(33 + 4 * depth),
    );
    let u16 = ScalarType::U16;
    code.push(Inst::Const { dst: i, bits: 0 });
    match dice.below(2) {
        0 => code.push(Inst::Const {
            dst: n,
            bits: dice.below(9),
        }),
        _ => {
            let mask = Slot(20);
            code.push(Inst::Const { dst: mask, bits: 7 });
            code.push(Inst::Binary {
                op: BinaryOp::And,
                ty: u16,
                dst: n,
                a: dice.slot(),
                b: mask,
            });
        }
    }
    let head = code.len();
    code.push(Inst::Compare {
        op: CompareOp::Lt,
        ty: u16,
        dst: c,
        a: i,
        b: n,
    });
    code.push(Inst::Branch {
        condition: c,
        when: false,
        to: 0,
    });
    code.push(Inst::Copy {
        dst: dice.slot(),
        src: i,
    });
    body(dice, code, depth + 1);
    let early = code.len();
    if dice.below(4) == 0 {
        code.push(Inst::Branch {
            condition: dice.slot(),
            when: true,
            to: 0,
        });
    }
    code.push(Inst::Const { dst: one, bits: 1 });
    code.push(Inst::Binary {
        op: BinaryOp::Add,
        ty: u16,
        dst: i,
        a: i,
        b: one,
    });
    code.push(Inst::Jump { to: head as u32 });
    let here = code.len();
    land(code, head + 1, here);
    if matches!(code[early], Inst::Branch { .. }) {
        land(code, early, here);
    }
}

fn random_program(dice: &mut Dice) -> TileProgram {
    let mut functions = Vec::new();
    for (depth, params) in [(0, 2), (2, 2)] {
        let mut code = Vec::new();
        body(dice, &mut code, depth);
        body(dice, &mut code, depth);
        code.push(Inst::Return {
            src: Some(dice.slot()),
        });
        functions.push(function(params, code));
    }
    program(functions, ARRAYS.to_vec())
}

#[test]
fn passes_change_nothing_that_can_be_seen() {
    let mut shorter = 0;
    for seed in 0..1_500 {
        let mut dice = Dice(seed);
        let program = random_program(&mut dice);
        let args = [dice.below(1 << 16), dice.below(1 << 16)];
        let (before, after) = (
            run(&plain(&program), &args),
            run(&optimized(&program), &args),
        );
        assert_eq!(before.failed, after.failed, "seed {seed}");
        if !before.failed {
            assert_eq!(
                before.result, after.result,
                "seed {seed}: {:#?}",
                program.functions
            );
            assert_eq!(
                before.memory, after.memory,
                "seed {seed}: {:#?}",
                program.functions
            );
        }
        shorter += u32::from(after.steps < before.steps);
    }
    assert!(shorter > 750, "only {shorter} programs became shorter");
}
