//! `fuzz --count N --seed S`: N generated kernels, original against optimized.

use clap::{Parser, ValueEnum};
use fuzz::campaign::{Campaign, Summary};
use fuzz::generate::Family;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Clone, Copy, ValueEnum)]
enum Position {
    Early,
    Late,
    Both,
}

/// Generates loop nests, compiles them with and without the optimizer, runs both and compares.
#[derive(Parser)]
struct Args {
    /// How many kernels
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// The same seed gives the same kernels
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What kind of kernels
    #[arg(long, value_enum, default_value_t = Family::Mixed)]
    family: Family,
    /// Start with this kernel
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// libloopwright.so; otherwise LOOPWRIGHT_PLUGIN, or the one beside this program
    #[arg(long)]
    plugin: Option<PathBuf>,
    /// Programs at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Where failing kernels are saved
    #[arg(long, default_value = "target/fuzz")]
    keep: PathBuf,
    /// Where in the pipeline the optimizer works
    #[arg(long, value_enum, default_value_t = Position::Both)]
    position: Position,
    /// Also with threads
    #[arg(long)]
    parallel: bool,
    /// More kernels in the same time: each program in one configuration instead of all of them
    #[arg(long)]
    broad: bool,
    /// Kernels per program
    #[arg(long, default_value_t = 25)]
    batch: usize,
    /// Seconds a compilation may take
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Reduce at most this many failures
    #[arg(long, default_value_t = 10)]
    reduce: usize,
    /// Every failure inside the optimizer counts, also where the loop was left as it was
    #[arg(long)]
    strict: bool,
    /// End at the first failure
    #[arg(long)]
    stop_at_first: bool,
    /// Without the optimizer: -O0 against -O3
    #[arg(long)]
    levels: bool,
    /// Without the optimizer: -O3 against address and undefined-behaviour sanitizers
    #[arg(long, conflicts_with = "levels")]
    sanitize: bool,
    /// Print the program of these kernels instead
    #[arg(long)]
    print: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.print {
        let all = args.from..args.from + args.count;
        let kernels: Vec<_> = all.map(|k| fuzz::generate::case(args.family, args.seed, k)).collect();
        print!("{}", fuzz::print::program(&kernels));
        return ExitCode::SUCCESS;
    }
    let mut campaign = Campaign::new(args.seed, args.from..args.from + args.count);
    campaign.family = args.family;
    campaign.batch = args.batch.max(1);
    campaign.jobs = args.jobs.max(1);
    campaign.keep = args.keep;
    campaign.reductions = args.reduce;
    campaign.strict = args.strict;
    campaign.broad = args.broad;
    campaign.stop_at_first = args.stop_at_first;
    campaign.patience.compile = std::time::Duration::from_secs(args.patience);
    if args.levels {
        campaign.compare_levels();
    } else if args.sanitize {
        campaign.sanitize();
    } else {
        let plugin = match fuzz::campaign::find_plugin(args.plugin) {
            Ok(plugin) => plugin,
            Err(message) => {
                eprintln!("fuzz: {message}");
                return ExitCode::from(2);
            }
        };
        let positions: &[&str] = match args.position {
            Position::Early => &["early"],
            Position::Late => &["late"],
            Position::Both => &["early", "late"],
        };
        campaign.optimize(&plugin, positions, args.parallel);
    }
    let summary: Summary = campaign.run();
    print!("{summary}");
    if summary.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
