//! The generator itself, without the optimizer: its kernels are valid C and compute the same at every level.

use fuzz::campaign::Campaign;
use fuzz::kernel::{Bound, Form, Kernel, Loop, Poly, Shape, Stmt};
use fuzz::{generate, print, range};

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
fn every_kernel_is_valid() {
    for index in 0..2000 {
        let kernel = generate::kernel(13, index);
        assert_eq!(range::analyse(&kernel).err(), None, "kernel {index}");
    }
}

#[test]
fn the_same_seed_gives_the_same_program() {
    let program = |seed| print::program(&[generate::kernel(seed, 5), generate::kernel(seed, 6)]);
    assert_eq!(program(1), program(1));
    assert_ne!(program(1), program(2));
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
    let kernels: Vec<Kernel> = (0..400).map(|k| generate::kernel(14, k)).collect();
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
    let kernels: Vec<Kernel> = (0..400).map(|k| generate::kernel(15, k)).collect();
    let any = |test: &dyn Fn(&Shape) -> bool| kernels.iter().flat_map(|k| &k.arrays).any(|a| test(&a.shape));
    let adds = |sizes: &[Poly]| sizes.iter().any(|size| size.constant > 0);
    assert!(any(&|s| matches!(s, Shape::Vla(sizes) if sizes.len() == 2)));
    assert!(any(&|s| matches!(s, Shape::Vla(sizes) if adds(sizes))));
    assert!(any(&|s| matches!(s, Shape::FlatBy(sizes) if adds(sizes))));
    let program = print::program(&kernels);
    assert!(
        program.lines().any(|l| l.contains("for (") && l.contains(", w") && l.contains(" += n")),
        "no pointer is bumped"
    );
}
