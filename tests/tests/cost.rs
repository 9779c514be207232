//! What checks cost, and what the original costs beside new code.

use std::path::{Path, PathBuf};
use tests::cost;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn check_costs_little(name: &str, options: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = cost::compile(&file(name), &format!("{options},outline"), folder.path()).unwrap();
    let all = cost::instructions(&program, &[]).unwrap();
    let sum = |part: &str| -> u64 { all.iter().filter(|(f, _)| f.contains(part)).map(|(_, cost)| cost).sum() };
    let (kernel, check) = (sum("kernel"), sum(".lw.check."));
    assert!(check > 0, "{name}, {options}: no check was executed: {all:?}");
    assert!(check * 100 < kernel, "{name}, {options}: {check} of {kernel} instructions are the check's");
}

#[test]
fn a_check_costs_less_than_one_percent() {
    for options in ["position=late", "position=early"] {
        check_costs_little("kernels/forms/param_product.c", options);
        check_costs_little("kernels/forms/pointer_walk.c", options);
        check_costs_little("kernels/dense/chain3.c", options);
    }
}

/// The fallback of a loop that LLVM vectorizes. Without vectors it would take about twice as long.
#[test]
fn the_original_is_as_fast_as_without_us() {
    let source = file("tests/fixtures/run/mapped_fallback_is_as_fast.c");
    let folder = tempfile::tempdir().unwrap();
    let kernel = |options: &str, columns: &str| -> u64 {
        let program = cost::compile(&source, options, folder.path()).unwrap();
        cost::instructions(&program, &["150", columns]).unwrap()["kernel"]
    };
    let plain = kernel("off", "201");
    for options in ["position=late,force", "position=early,force"] {
        assert!(kernel(options, "200") != kernel("off", "200"), "{options}: nothing was transformed");
        let ours = kernel(options, "201");
        assert!(ours <= plain + plain / 100, "{options}: {ours} instructions instead of {plain}");
    }
}
