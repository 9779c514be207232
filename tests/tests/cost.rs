//! What checks cost, what the original costs beside new code, and what is left out so that compiling does not cost too much.

use std::path::{Path, PathBuf};
use std::process::Command;
use tests::{cost, tools};

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

/// What `analyze` says of a file: columns that are walked along, in front of so many products of matrices.
fn analyzed(products: usize) -> String {
    let columns = "void columns(long n, double a[n][n], double b[n][n]) {
      for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++)
          b[i][j] = 2 * a[i][j];
    }\n";
    let product = |k: usize| {
        format!(
            "void product{k}(long n, double a[n][n], double b[n][n], double c[n][n]) {{
               for (long i = 0; i < n; i++)
                 for (long j = 0; j < n; j++)
                   for (long k = 0; k < n; k++)
                     c[i][j] += {k} * a[i][k] * b[k][j];
             }}\n"
        )
    };
    let source: String = std::iter::once(columns.to_string()).chain((0..products).map(product)).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), source).unwrap();
    let mut command = Command::new(tools::loopwright().unwrap());
    let output =
        tools::succeed(command.args(["analyze", "a.c"]).current_dir(&folder).env_remove("LOOPWRIGHT")).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_least_promising_loops_of_a_large_file_are_left_out() {
    const LEFT_OUT: &str = "the budget of this file was used up before it was known what to do here";
    assert!(!analyzed(1).contains(LEFT_OUT));
    let large = analyzed(80);
    let of = |function: &str| large.split("\n\n").find(|part| part.contains(function)).unwrap_or_default().to_string();
    assert!(of("columns").contains(LEFT_OUT), "{large}");
    assert!(!of("product0").contains(LEFT_OUT), "{large}");
    assert_eq!(large, analyzed(80));
}
