//! `mutants --plugin P`: plants every fault in turn and tells which tests or generated kernels notice.

use clap::Parser;
use fuzz::mutants::Hunt;
use planted::Fault;
use std::path::PathBuf;
use std::process::ExitCode;

/// Plants faults in the optimizer and lets tests and generated kernels find them.
#[derive(Parser)]
struct Args {
    /// target/…/release/libloopwright.so, built with the feature `planted`, `loopwright` beside it
    #[arg(long)]
    plugin: PathBuf,
    /// Only these faults
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// A fault that so many kernels did not notice is not noticed
    #[arg(long, default_value_t = 2000)]
    kernels: usize,
    /// The same seed gives the same kernels
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kernels per program
    #[arg(long, default_value_t = 25)]
    batch: usize,
    /// Programs at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let plugin = match fuzz::campaign::find_plugin(Some(args.plugin)) {
        Ok(plugin) => plugin,
        Err(message) => return complain(&message),
    };
    let mut hunt = Hunt::new(&plugin, args.seed, args.batch.max(1));
    (hunt.patience, hunt.jobs) = (args.kernels, args.jobs.max(1));
    if !args.only.is_empty() {
        hunt.faults = Fault::ALL.iter().copied().filter(|f| args.only.iter().any(|name| name == f.name())).collect();
        if hunt.faults.len() != args.only.len() {
            let names: Vec<&str> = Fault::ALL.iter().map(|f| f.name()).collect();
            return complain(&format!("there are these faults: {}", names.join(", ")));
        }
    }
    let table = hunt.run();
    print!("{table}");
    if table.unnoticed() == 0 && table.unusable.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn complain(message: &str) -> ExitCode {
    eprintln!("mutants: {message}");
    ExitCode::from(2)
}
