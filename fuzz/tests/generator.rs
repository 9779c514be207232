//! The generator itself, without the optimizer: its kernels are valid C and compute the same at every level.

use fuzz::campaign::Campaign;
use fuzz::case::Case;
use fuzz::extremes::{self, Object, Set, Ty, interpret};
use fuzz::generate::{self, Family};
use fuzz::kernel::{Bound, Form, Kernel, Loop, Op, Place, Poly, Shape, Stmt, Value};
use fuzz::odd::{self, Exit, How, Neighbour, Promise};
use fuzz::{print, range};

fn passes(mut campaign: Campaign, prepare: impl FnOnce(&mut Campaign)) {
    let keep = tempfile::tempdir().expect("a folder for what fails");
    campaign.keep = keep.path().to_path_buf();
    campaign.reductions = 0;
    campaign.jobs = 2;
    prepare(&mut campaign);
    let summary = campaign.run();
    assert!(summary.failures.is_empty(), "{summary}");
}

#[test]
fn sanitizers_have_nothing_to_report() {
    passes(Campaign::new(11, 0..50), Campaign::sanitize);
}

#[test]
fn optimization_levels_agree() {
    passes(Campaign::new(12, 0..50), Campaign::compare_levels);
}

#[test]
fn sanitizers_have_nothing_to_report_of_extremes() {
    passes(Campaign::new(11, 0..20).of(Family::Extremes), Campaign::sanitize);
}

#[test]
fn optimization_levels_agree_on_extremes() {
    passes(Campaign::new(12, 0..20).of(Family::Extremes), Campaign::compare_levels);
}

#[test]
fn sanitizers_have_nothing_to_report_of_odd_kernels() {
    passes(Campaign::new(11, 0..30).of(Family::Bytes), Campaign::sanitize);
    passes(Campaign::new(11, 0..30).of(Family::Effects), Campaign::sanitize);
}

#[test]
fn optimization_levels_agree_on_odd_kernels() {
    passes(Campaign::new(12, 0..30).of(Family::Bytes), Campaign::compare_levels);
    passes(Campaign::new(12, 0..30).of(Family::Effects), Campaign::compare_levels);
}

#[test]
fn every_kernel_is_valid() {
    for index in 0..2000 {
        let (loops, scalars) = (generate::loops(13, index), generate::scalars(13, index));
        assert_eq!(range::analyse(&loops).err(), None, "loops, kernel {index}");
        assert_eq!(range::analyse(&scalars).err(), None, "scalars, kernel {index}");
    }
}

#[test]
fn the_same_seed_gives_the_same_program() {
    for family in [Family::Loops, Family::Scalars, Family::Mixed, Family::Extremes, Family::Bytes, Family::Effects] {
        let program = |seed| print::program(&[5, 6].map(|k| generate::case(family, seed, k)));
        assert_eq!(program(1), program(1));
        assert_ne!(program(1), program(2));
    }
}

#[test]
fn mixed_kernels_are_those_of_the_two_families_in_turn() {
    let printed = |family, k| print::program(&[generate::case(family, 1, k)]);
    assert_eq!(printed(Family::Mixed, 6), printed(Family::Loops, 6));
    assert_eq!(printed(Family::Mixed, 7), printed(Family::Scalars, 7));
}

/// Each promised form of loop and bound turns up among a few hundred kernels.
#[test]
fn all_loop_forms_turn_up() {
    fn loops(stmts: &[Stmt], visit: &mut dyn FnMut(&Loop)) {
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => {
                    visit(l);
                    loops(&l.body, visit);
                }
                Stmt::If(_, a, b) => {
                    loops(a, visit);
                    loops(b, visit);
                }
                _ => {}
            }
        }
    }
    let kernels: Vec<Kernel> = (0..400).map(|k| generate::loops(14, k)).collect();
    let any = |test: &dyn Fn(&Loop) -> bool| {
        let mut found = false;
        kernels.iter().for_each(|k| loops(&k.body, &mut |l| found |= test(l)));
        found
    };
    for form in [Form::Less, Form::AtMost, Form::Differs, Form::While, Form::Do, Form::Down, Form::Decrement] {
        assert!(any(&|l| l.form == form), "{form:?}");
    }
    assert!(any(&|l| matches!(l.high, Bound::Min(..))));
    assert!(any(&|l| matches!(l.low, Bound::Max(..))));
    assert!(any(&|l| l.stride == 3));
    assert!(kernels.iter().any(Kernel::overlaps));
}

/// Arrays of parametric size, with rows as long as loops run, longer and shorter.
#[test]
fn parametric_sizes_turn_up() {
    let kernels: Vec<Kernel> = (0..400).map(|k| generate::loops(15, k)).collect();
    let any = |test: &dyn Fn(&Shape) -> bool| kernels.iter().flat_map(|k| &k.arrays).any(|a| test(&a.shape));
    let adds = |sizes: &[Poly]| sizes.iter().any(|size| size.constant > 0);
    assert!(any(&|s| matches!(s, Shape::Vla(sizes) if sizes.len() == 2)));
    assert!(any(&|s| matches!(s, Shape::Vla(sizes) if adds(sizes))));
    assert!(any(&|s| matches!(s, Shape::FlatBy(sizes) if adds(sizes))));
    let program = print::program(&kernels.into_iter().map(Case::Nest).collect::<Vec<_>>());
    assert!(
        program.lines().any(|l| l.contains("for (") && l.contains(", w") && l.contains(" += n")),
        "no pointer is bumped"
    );
}

/// All statements of a kernel, nested ones included.
fn statements(kernel: &Kernel) -> Vec<&Stmt> {
    fn collect<'a>(stmts: &'a [Stmt], all: &mut Vec<&'a Stmt>) {
        for stmt in stmts {
            all.push(stmt);
            match stmt {
                Stmt::Loop(l) => collect(&l.body, all),
                Stmt::If(_, a, b) => {
                    collect(a, all);
                    collect(b, all);
                }
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    collect(&kernel.body, &mut all);
    all
}

/// What makes a scalar hard to move into a cell turns up among a few hundred kernels.
#[test]
fn scalars_cross_statements_in_all_ways() {
    let kernels: Vec<Kernel> = (0..400).map(|k| generate::scalars(16, k)).collect();
    let count = |test: &dyn Fn(&Stmt) -> bool| kernels.iter().filter(|k| statements(k).into_iter().any(test)).count();
    let is_scalar = |stmt: &Stmt| matches!(stmt, Stmt::Assign(Place::Scalar(_), ..));
    let inner = |stmt: &Stmt, test: &dyn Fn(&[Stmt]) -> bool| matches!(stmt, Stmt::Loop(l) if test(&l.body));
    // A sum in a loop, and one that is stored there as well.
    assert!(count(&|s| inner(s, &|body| body.iter().any(is_scalar))) > 100);
    let stores = |body: &[Stmt]| {
        body.windows(2).any(|pair| match pair {
            [Stmt::Assign(sum @ Place::Scalar(_), ..), Stmt::Assign(Place::Cell(..), _, Value::Read(stored))] => {
                sum == stored
            }
            _ => false,
        })
    };
    assert!(count(&|s| inner(s, &stores)) > 10);
    // Values that meet behind a condition.
    let meets = |s: &Stmt| matches!(s, Stmt::If(_, a, b) if a.iter().any(is_scalar) && b.iter().any(is_scalar));
    assert!(count(&meets) > 20);
    // Starting with what is in a cell; a quotient that must stay where it is.
    assert!(count(&|s| matches!(s, Stmt::Scalar(_, Value::Read(Place::Cell(..))))) > 50);
    assert!(count(&|s| matches!(s, Stmt::Scalar(_, Value::Over(..)))) > 3);
    assert!(count(&|s| matches!(s, Stmt::Scalar(_, Value::Binary(Op::Quotient, ..)))) > 3);
    // Of other types than the cells; live behind the loops; in arrays that overlap.
    let mixed = |k: &&Kernel| k.arrays.iter().any(|a| k.scalars.iter().any(|s| *s != a.elem));
    assert!(kernels.iter().filter(mixed).count() > 100);
    assert!(kernels.iter().filter(|k| k.result.is_some()).count() > 50);
    assert!(kernels.iter().filter(|k| k.overlaps()).count() > 50);
}

/// Whatever may go wrong with an argument set turns up among a few hundred of them.
#[test]
fn extremes_are_extreme() {
    let kernels: Vec<extremes::Kernel> = (0..120).map(|k| extremes::draw::kernel(17, k)).collect();
    let count = |test: &dyn Fn(&extremes::Kernel, &Set) -> bool| {
        kernels.iter().flat_map(|k| k.sets.iter().map(move |s| (k, s))).filter(|(k, s)| test(k, s)).count()
    };
    assert!(kernels.iter().all(extremes::Kernel::is_valid));
    assert!(count(&|_, _| true) > 1200);
    // Values as small and as large as they can be, and those at which 32 bits end.
    let any = |k: &extremes::Kernel, s: &Set, test: &dyn Fn(Ty, i128) -> bool| {
        k.params.iter().zip(&s.values).any(|(p, v)| test(p.ty, *v))
    };
    assert!(count(&|k, s| any(k, s, &|ty, v| ty.signed && ty.bits >= 32 && v == ty.least())) > 20);
    assert!(count(&|k, s| any(k, s, &|ty, v| ty.bits >= 32 && v == ty.greatest())) > 50);
    assert!(count(&|k, s| any(k, s, &|_, v| v == 1 << 62)) > 5);
    assert!(count(&|k, s| any(k, s, &|_, v| v == 1 << 32)) > 5);
    assert!(count(&|k, s| any(k, s, &|_, v| v == -1)) > 20);
    // Stores that change a bound while the loops run; arrays on each other, and on the global array.
    let traced = |k: &extremes::Kernel, s: &Set| interpret::run(k, s).expect("sets are valid");
    assert!(count(&|k, s| traced(k, s).changed) > 80);
    assert!(count(&|_, s| s.arrays.len() > 1 && s.arrays[0] == s.arrays[1]) > 20);
    assert!(count(&|_, s| s.arrays.iter().any(|a| a.object == Object::Table)) > 5);
    // And calls that do something.
    assert!(count(&|k, s| traced(k, s).stores > 20) > 300);
    let program = print::program(&kernels.into_iter().map(Case::Extreme).collect::<Vec<_>>());
    for text in ["for (unsigned char i", "r->a0[", " != ((unsigned)(", "i0-- > ", "do {", " >> ", "(*n0)"] {
        assert!(program.contains(text), "{text}");
    }
}

/// Statements of odd kernels, nested ones included.
fn visit_odd(stmts: &[odd::Stmt], visit: &mut dyn FnMut(&odd::Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match stmt {
            odd::Stmt::Loop(l) => visit_odd(&l.body, visit),
            odd::Stmt::If(_, a, b) => [a, b].into_iter().for_each(|block| visit_odd(block, visit)),
            odd::Stmt::Switch(_, arms, _) => arms.iter().for_each(|block| visit_odd(block, visit)),
            _ => {}
        }
    }
}

/// How many of these kernels have such a statement.
fn count_odd(kernels: &[odd::Kernel], test: &dyn Fn(&odd::Stmt) -> bool) -> usize {
    let has = |kernel: &&odd::Kernel| {
        let mut found = false;
        visit_odd(&kernel.body, &mut |stmt| found |= test(stmt));
        found
    };
    kernels.iter().filter(has).count()
}

/// Every door to memory, every operator and every type turns up among a few hundred kernels.
#[test]
fn bytes_are_accessed_in_all_ways() {
    let kernels: Vec<odd::Kernel> = (0..500).map(|k| odd::bytes::kernel(18, k)).collect();
    let place = |stmt: &odd::Stmt| match stmt {
        odd::Stmt::Store(place, _) | odd::Stmt::Update(place, ..) => Some(place.clone()),
        _ => None,
    };
    for how in [
        How::Plain,
        How::Unaligned,
        How::Alias,
        How::Over,
        How::Assumed,
        How::Copy,
        How::Three,
        How::Pun,
        How::Field(1),
    ] {
        assert!(count_odd(&kernels, &|s| place(s).is_some_and(|p| p.how == how)) > 3, "{how:?}");
    }
    for ty in [
        odd::Ty::Bool,
        odd::Ty::Half,
        odd::Ty::Long,
        odd::Ty::Complex,
        odd::Ty::Lanes(8),
        odd::Ty::Floats,
        odd::signed(128),
        odd::unsigned(8),
    ] {
        assert!(count_odd(&kernels, &|s| place(s).is_some_and(|p| p.ty == ty)) > 0, "{ty:?}");
    }
    // Each operator in both signs.
    for signed in [true, false] {
        for op in odd::signed(32).operators() {
            let updates = |stmt: &odd::Stmt| {
                let has_sign = |ty| matches!(ty, odd::Ty::Int { signed: sign, .. } if sign == signed);
                matches!(stmt, odd::Stmt::Update(place, by, _) if by == op && has_sign(place.ty))
            };
            assert!(count_odd(&kernels, &updates) > 3, "{op:?}, signed: {signed}");
        }
    }
    assert!(kernels.iter().filter(|k| k.reassociate).count() > 10);
    // Memory that is used as two types.
    let twice = |k: &&odd::Kernel| {
        let spots = &k.sets[0].at;
        let pairs = (0..spots.len()).flat_map(|p| (0..p).map(move |q| (p, q)));
        pairs
            .into_iter()
            .any(|(p, q)| spots[p].0 == spots[q].0 && !k.pointers[p].elem.is_compatible(k.pointers[q].elem))
    };
    assert!(kernels.iter().filter(twice).count() > 20);
}

/// Whatever loops do besides, and every way out, turns up among a few hundred kernels.
#[test]
fn effects_are_of_all_kinds() {
    let kernels: Vec<odd::Kernel> = (0..500).map(|k| odd::effects::kernel(19, k)).collect();
    let exits = |exit: fn(&Exit) -> bool| count_odd(&kernels, &|s| matches!(s, odd::Stmt::Leave(_, e) if exit(e)));
    assert!(exits(|e| matches!(e, Exit::Handler(_))) > 50);
    assert!(exits(|e| *e == Exit::Return) > 10);
    assert!(exits(|e| *e == Exit::Break) > 3);
    for promise in [Promise::Assume, Promise::Unreachable] {
        assert!(count_odd(&kernels, &|s| matches!(s, odd::Stmt::Promise(_, p) if *p == promise)) > 30, "{promise:?}");
    }
    for neighbour in [Neighbour::Volatile, Neighbour::Atomic, Neighbour::ThreadLocal, Neighbour::Fence] {
        assert!(count_odd(&kernels, &|s| matches!(s, odd::Stmt::Touch(n) if *n == neighbour)) > 3, "{neighbour:?}");
    }
    assert!(count_odd(&kernels, &|s| matches!(s, odd::Stmt::Switch(_, _, true))) > 5);
    assert!(kernels.iter().filter(|k| k.mentions_errno()).count() > 60);
    assert!(kernels.iter().filter(|k| k.params.iter().any(|p| p.known)).count() > 30);
    let program = print::program(&kernels.into_iter().map(Case::Odd).collect::<Vec<_>>());
    for text in
        ["&errno", " << n", "__builtin_ctz(", "__builtin_clz(", "__builtin_abs(", "(s32)n0)", " % (s32)n", " / (s32)"]
    {
        assert!(program.contains(text), "{text}");
    }
}

/// The reducer ends with what matters, and with nothing undefined.
#[test]
fn odd_kernels_become_small() {
    let has_update = |case: &Case| match case {
        Case::Odd(kernel) => count_odd(std::slice::from_ref(kernel), &|s| matches!(s, odd::Stmt::Update(..))) > 0,
        _ => false,
    };
    let case = (0..).map(|k| generate::case(Family::Bytes, 1, k)).find(has_update).expect("there are many");
    let small = fuzz::reduce::reduce(case, 10_000, has_update);
    assert!(small.is_valid());
    let Case::Odd(kernel) = small else { panic!("a cut leaves a family") };
    assert_eq!((kernel.sets.len(), kernel.body.len()), (1, 1));
    assert!(matches!(kernel.body[0], odd::Stmt::Update(..)));
}
