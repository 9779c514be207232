//! Many programs: batches, variants, reduction of what fails, and the summary.

use crate::case::Case;
use crate::generate::{self, Family};
use crate::print;
use crate::reduce::reduce;
use crate::run::{Failure, Patience, Program, Tally, UNSOUND, Variant};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Programs compiled and run for one reduction.
const REDUCTION_BUDGET: usize = 400;

/// A long campaign tells how far it is whenever it has done so many more kernels.
const NEWS: usize = 500;

/// Of so many programs one is compared with the plain compiler's unoptimized code, where a family is.
const UNOPTIMIZED: usize = 7;

/// What users say, and in turn with it every order that is legal, profitable or not. Small tiles reach their borders with small
/// arrays; both kinds of fusion; scalars with memory of their own; the checker now and then. `#` is the number of the program.
const ROTATION: [&str; 10] = [
    "",
    ",force,verify",
    ",tile=4",
    ",force,expand,draw=#,tile=4",
    ",verify",
    ",force,draw=#,tile=3,verify",
    ",tile=7,fusion=max",
    ",force,draw=#,tile=5,fusion=max",
    ",fusion=min,tile=5",
    ",force,expand,draw=#,tile=2,fusion=min,verify",
];

pub struct Campaign {
    pub seed: u64,
    pub family: Family,
    pub kernels: Range<usize>,
    pub batch: usize,
    pub jobs: usize,
    pub keep: PathBuf,
    pub reductions: usize,
    pub patience: Patience,
    /// Every failure inside the optimizer counts, not only what its checker found wrong.
    pub strict: bool,
    /// One failure is enough.
    pub stop_at_first: bool,
    reference: Variant,
    /// Now and then compared with this instead: what it is, and with which programs.
    unoptimized: Option<Variant>,
    /// Every program runs in one of each, or in one of one of them.
    variants: Vec<Vec<Variant>>,
    /// More kernels in the same time: each program runs in one configuration, the next one in the next.
    pub broad: bool,
}

/// A kernel that failed, as small as it became.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its number, or the first one's of those that only fail together.
    pub kernel: usize,
    pub variant: String,
    pub failure: String,
    pub saved: PathBuf,
}

#[derive(Debug, Default)]
pub struct Summary {
    pub programs: usize,
    pub kernels: usize,
    /// A kernel called with one argument set, in one configuration.
    pub runs: usize,
    pub tally: Tally,
    pub failures: Vec<Found>,
    /// Counted from the first kernel of the campaign: how many it took to find something.
    pub first_failure: Option<usize>,
}

/// What is compared with what.
#[derive(Clone, Debug)]
struct Comparison {
    reference: Variant,
    variant: Variant,
}

impl Found {
    fn is_same_message(&self, failure: &Failure) -> bool {
        matches!(failure, Failure::Internal(_, said) if said.message == self.failure)
    }
}

impl Campaign {
    /// Compares with nothing yet.
    pub fn new(seed: u64, kernels: Range<usize>) -> Campaign {
        Campaign {
            seed,
            family: Family::Mixed,
            kernels,
            batch: 25,
            jobs: 1,
            keep: PathBuf::from("target/fuzz"),
            reductions: 10,
            patience: Patience::default(),
            strict: false,
            stop_at_first: false,
            reference: Variant::Plain(vec!["-O3".into()]),
            unoptimized: None,
            variants: Vec::new(),
            broad: false,
        }
    }

    pub fn of(self, family: Family) -> Campaign {
        Campaign { family, ..self }
    }

    /// One configuration for each program, in turn.
    pub fn broadly(self) -> Campaign {
        Campaign { broad: true, ..self }
    }

    /// -O0 against -O3, both without contraction of floating-point operations: tests the generator, not the optimizer.
    pub fn compare_levels(&mut self) {
        let flags = |level: &str| Variant::Plain(vec![level.into(), "-ffp-contract=off".into()]);
        self.reference = flags("-O0");
        self.variants = vec![vec![flags("-O3")]];
    }

    /// Against sanitizers that end the program at the first report.
    pub fn sanitize(&mut self) {
        let flags = ["-O0", "-ffp-contract=off", "-fsanitize=undefined,address", "-fno-sanitize-recover=undefined"];
        self.reference = Variant::Plain(vec!["-O3".into(), "-ffp-contract=off".into()]);
        self.variants = vec![vec![Variant::Plain(flags.map(String::from).to_vec())]];
    }

    pub fn optimize(&mut self, plugin: &Path, positions: &[&str], parallel: bool) {
        // What these do is the plain compiler's business, too: one more witness.
        if matches!(self.family, Family::Bytes | Family::Effects) {
            self.unoptimized = Some(Variant::Plain(vec!["-O0".into()]));
        }
        let variant = |options: String| Variant::Optimized { plugin: plugin.to_path_buf(), options, fault: None };
        for position in positions {
            for threads in if parallel { vec!["", ",parallel"] } else { vec![""] } {
                let all = ROTATION.iter().map(|extra| variant(format!("position={position}{extra}{threads}")));
                let mut all: Vec<Variant> = all.collect();
                // One program meets different options at different positions.
                all.rotate_left(3 * self.variants.len() % ROTATION.len());
                self.variants.push(all);
            }
        }
    }

    pub fn run(&self) -> Summary {
        let starts: Vec<usize> = self.kernels.clone().step_by(self.batch).collect();
        let next = AtomicUsize::new(0);
        let began = Instant::now();
        let summary = Mutex::new(Summary::default());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    while let Some(start) = starts.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // Programs are begun in their order: all before the one that failed are done, too, in the end.
                        if self.stop_at_first && !lock(&summary).failures.is_empty() {
                            break;
                        }
                        let range = *start..(*start + self.batch).min(self.kernels.end);
                        self.program(range, &summary);
                        self.news(&lock(&summary), began);
                    }
                });
            }
        });
        let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Threads end in any order.
        summary.failures.sort_by(|a, b| (&a.saved, &a.variant).cmp(&(&b.saved, &b.variant)));
        summary.first_failure = summary.failures.iter().map(|f| f.kernel + 1 - self.kernels.start).min();
        summary
    }

    /// What the program of this number is compared with.
    pub fn reference(&self, number: usize) -> &Variant {
        match &self.unoptimized {
            Some(plain) if number % UNOPTIMIZED == UNOPTIMIZED - 1 => plain,
            _ => &self.reference,
        }
    }

    fn news(&self, summary: &Summary, began: Instant) {
        if summary.kernels >= NEWS && summary.kernels % NEWS < self.batch {
            let each_minute = summary.kernels as f64 * 60.0 / began.elapsed().as_secs_f64();
            let Summary { kernels, failures, .. } = summary;
            let all = self.kernels.len();
            eprintln!("fuzz: {kernels} of {all} kernels, {each_minute:.0} a minute, {} failures", failures.len());
        }
    }

    /// Without configurations in which loops are left alone where nothing is gained: whatever can go wrong goes wrong sooner.
    pub fn force(&mut self) {
        for rotation in &mut self.variants {
            rotation.retain(|v| matches!(v, Variant::Optimized { options, .. } if options.contains("force")));
        }
    }

    /// The configurations that the program with this number runs in.
    pub fn configurations(&self, number: usize) -> Vec<Variant> {
        let (rotations, turn) = match self.variants.len() {
            0 => return Vec::new(),
            all if self.broad => (&self.variants[number % all..][..1], number / all),
            _ => (&self.variants[..], number),
        };
        rotations.iter().map(|rotation| rotation[turn % rotation.len()].numbered(number)).collect()
    }

    fn program(&self, range: Range<usize>, summary: &Mutex<Summary>) {
        lock(summary).programs += 1;
        lock(summary).kernels += range.len();
        let kernels: Vec<Case> = range.clone().map(|k| generate::case(self.family, self.seed, k)).collect();
        let number = range.start / self.batch;
        let reference = self.reference(number);
        let program = match Program::new(&kernels, reference, self.patience) {
            Ok(program) => program,
            Err(failure) => {
                let comparison = Comparison { reference: reference.clone(), variant: reference.clone() };
                let found = self.save(&kernels, &comparison, &failure);
                lock(summary).failures.push(found);
                return;
            }
        };
        for variant in self.configurations(number) {
            let (tally, failure) = program.compare(&variant);
            lock(summary).runs += kernels.iter().map(Case::runs).sum::<usize>();
            lock(summary).tally.add(&tally);
            let failures = failure.map_or_else(|| self.internal_failures(&tally), |failure| vec![failure]);
            let comparison = Comparison { reference: reference.clone(), variant };
            for failure in failures {
                self.investigate(&kernels, &comparison, failure, summary);
            }
        }
    }

    /// What the optimizer said of itself that counts as a failure.
    pub fn internal_failures(&self, tally: &Tally) -> Vec<Failure> {
        let internal = tally.internal.iter().filter(|(said, _)| self.strict || said.kind == UNSOUND);
        internal.map(|(said, kernels)| Failure::Internal(kernels.clone(), said.clone())).collect()
    }

    fn investigate(&self, kernels: &[Case], comparison: &Comparison, failure: Failure, summary: &Mutex<Summary>) {
        if lock(summary).failures.iter().any(|f| f.is_same_message(&failure)) {
            return;
        }
        eprintln!("fuzz: {}: {failure}", comparison.variant);
        for (kernel, failure) in self.isolate(kernels, comparison, failure) {
            // Every step of the way to a smaller kernel that hangs would hang, too.
            let hangs = matches!(failure, Failure::CompilerTime(_));
            let reducing = lock(summary).failures.len() < self.reductions && !hangs;
            let kernel = if reducing && kernel.len() == 1 {
                vec![reduce(kernel[0].clone(), REDUCTION_BUDGET, |k| self.fails_like(k, comparison, &failure))]
            } else {
                kernel
            };
            let found = self.save(&kernel, comparison, &failure);
            eprintln!("fuzz: {}", found.saved.display());
            lock(summary).failures.push(found);
            // One example of each is enough.
            if self.stop_at_first || matches!(failure, Failure::Internal(..)) {
                break;
            }
        }
    }

    fn attempt(&self, kernels: &[Case], comparison: &Comparison) -> Option<Failure> {
        match Program::new(kernels, &comparison.reference, self.patience) {
            Ok(program) => {
                let (tally, failure) = program.compare(&comparison.variant);
                failure.or_else(|| self.internal_failures(&tally).into_iter().next())
            }
            Err(failure) => Some(failure),
        }
    }

    fn fails_like(&self, kernel: &Case, comparison: &Comparison, failure: &Failure) -> bool {
        self.attempt(std::slice::from_ref(kernel), comparison).is_some_and(|f| f.is_like(failure))
    }

    /// The kernels that fail alone; all together if none does.
    fn isolate(&self, kernels: &[Case], comparison: &Comparison, failure: Failure) -> Vec<(Vec<Case>, Failure)> {
        let suspects: Vec<&Case> = match failure.suspects() {
            // One that crashed, or some that differ.
            Some(names) => kernels.iter().filter(|k| names.contains(&k.index())).collect(),
            None => Vec::new(),
        };
        let alone = |all: &[&Case]| -> Vec<(Vec<Case>, Failure)> {
            let each = |k: &&Case| {
                let failure = self.attempt(std::slice::from_ref(*k), comparison)?;
                Some((vec![(*k).clone()], failure))
            };
            let enough = if self.stop_at_first { 1 } else { all.len() };
            all.iter().filter_map(each).take(enough).collect()
        };
        let mut found = alone(&suspects);
        if found.is_empty() {
            found = alone(&kernels.iter().collect::<Vec<_>>());
        }
        if found.is_empty() { vec![(kernels.to_vec(), failure)] } else { found }
    }

    fn save(&self, kernels: &[Case], comparison: &Comparison, failure: &Failure) -> Found {
        let Comparison { reference, variant } = comparison;
        let names = match kernels {
            [one] => format!("k{}", one.index()),
            [first, .., last] => format!("k{}-k{}", first.index(), last.index()),
            [] => "none".into(),
        };
        let options = match variant {
            Variant::Optimized { options, .. } => options.replace(['=', ','], "-"),
            Variant::Plain(_) => "plain".into(),
        };
        let saved = self.keep.join(format!("seed{}-{names}-{options}.c", self.seed));
        let said = failure.to_string().replace('\n', "\n// ");
        let text = format!(
            "// {said}\n// seed {}, family {:?}\n// expected: {}\n// got: {variant}\n{}",
            self.seed,
            self.family,
            reference,
            print::program(kernels)
        );
        if let Err(e) = std::fs::create_dir_all(&self.keep).and_then(|()| std::fs::write(&saved, text)) {
            eprintln!("fuzz: {}: {e}", saved.display());
        }
        let kernel = kernels.first().map_or(self.kernels.start, Case::index);
        Found { kernel, variant: variant.to_string(), failure: failure.to_string(), saved }
    }
}

/// What a thread that panicked has counted still counts.
fn lock(summary: &Mutex<Summary>) -> MutexGuard<'_, Summary> {
    summary.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The plugin: as given, or `LOOPWRIGHT_PLUGIN`, or beside this program or the folder above it (tests run in `deps/`).
pub fn find_plugin(given: Option<PathBuf>) -> Result<PathBuf, String> {
    let missing = |path: &Path| format!("{} is missing: run `make build` first", path.display());
    if let Some(path) = given.or_else(|| std::env::var_os("LOOPWRIGHT_PLUGIN").map(PathBuf::from)) {
        return if path.is_file() {
            std::path::absolute(&path).map_err(|e| e.to_string())
        } else {
            Err(missing(&path))
        };
    }
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let folders: Vec<&Path> = program.ancestors().skip(1).take(2).collect();
    let found = folders.iter().map(|f| f.join("libloopwright.so")).find(|path| path.is_file());
    found.ok_or_else(|| missing(&folders[0].join("libloopwright.so")))
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Summary { programs, kernels, runs, tally, failures, first_failure } = self;
        writeln!(f, "programs      {programs}")?;
        writeln!(f, "kernels       {kernels}")?;
        writeln!(f, "runs          {runs} (a kernel called with one argument set, in one configuration)")?;
        writeln!(f, "modelled      {}", tally.modelled.len())?;
        writeln!(f, "transformed   {}", tally.transformed.len())?;
        writeln!(f, "ran fast      {} ({} times)", tally.ran_fast.len(), tally.fast)?;
        writeln!(f, "ran original  {} ({} times)", tally.ran_original.len(), tally.original)?;
        let mut refusals: Vec<(&String, &u64)> = tally.refusals.iter().collect();
        refusals.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), kind.as_str()));
        for (kind, count) in refusals.into_iter().take(12) {
            writeln!(f, "  refused     {count} {kind}")?;
        }
        for (said, kernels) in &tally.internal {
            writeln!(f, "  internal    {} {}", kernels.len(), said.message)?;
        }
        writeln!(f, "failures      {}", failures.len())?;
        for found in failures {
            writeln!(f, "  {}\n    {}\n    {}", found.saved.display(), found.failure, found.variant)?;
        }
        if let Some(kernels) = first_failure {
            writeln!(f, "first failure after {kernels} kernels")?;
        }
        Ok(())
    }
}
