//! Faults planted in the optimizer, and who notices them.
//!
//! A test that nothing can fail says nothing. So every fault of [`planted`] is put into the optimizer in turn. If a test is there for it,
//! that test must fail. Against all others, and those whose test let them pass, the programs of the campaign run, all families by turns,
//! until one computes something else, crashes, or is refused by the checker. A program is compiled plainly once for all faults that are
//! still unnoticed.

use crate::campaign::Campaign;
use crate::generate::{self, Family};
use crate::run::{Failure, Program, Variant};
use planted::Fault;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// One family after the other.
pub const FAMILIES: &[Family] = &[Family::Bytes, Family::Effects, Family::Loops, Family::Scalars, Family::Extremes];

/// How a fault was noticed.
#[derive(Clone, Debug)]
pub enum Notice {
    Test {
        program: &'static str,
        case: &'static str,
    },
    /// `kernels`: of all families, that this fault had met by then.
    Kernels {
        family: Family,
        kernels: usize,
        failure: String,
    },
}

pub struct Hunt {
    /// One for each family.
    campaigns: Vec<Campaign>,
    pub faults: Vec<Fault>,
    /// Kernels that a fault may meet without being noticed.
    pub patience: usize,
    pub jobs: usize,
    /// Where the plugin was built, and `loopwright` and the tests beside it.
    target: PathBuf,
}

#[derive(Default)]
struct State {
    /// By name.
    noticed: BTreeMap<&'static str, Notice>,
    met: BTreeMap<&'static str, usize>,
    /// Programs that fail without any fault show nothing.
    unusable: Vec<String>,
}

/// All faults with what became of them.
pub struct Table {
    rows: Vec<(Fault, Option<Notice>, usize)>,
    pub unusable: Vec<String>,
}

impl Hunt {
    /// Requires: the plugin, and `loopwright` beside it, was built by cargo with faults in it.
    pub fn new(plugin: &Path, seed: u64, batch: usize) -> Hunt {
        let campaigns = FAMILIES.iter().map(|&family| {
            let mut campaign = Campaign::new(seed, 0..0).of(family);
            campaign.batch = batch;
            campaign.broad = true;
            campaign.strict = true;
            campaign.optimize(plugin, &["early", "late"], true);
            campaign.force();
            campaign
        });
        let target = plugin.parent().and_then(Path::parent).unwrap_or(plugin).to_path_buf();
        Hunt { campaigns: campaigns.collect(), faults: Fault::ALL.to_vec(), patience: 2000, jobs: 2, target }
    }

    pub fn run(&self) -> Table {
        let state = Mutex::new(self.test());
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    while !self.unnoticed(&state).is_empty() {
                        self.turn(next.fetch_add(1, Ordering::Relaxed), &state);
                    }
                });
            }
        });
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let rows = self.faults.iter().map(|fault| {
            let notice = state.noticed.get(fault.name()).cloned();
            (*fault, notice, state.met.get(fault.name()).copied().unwrap_or(0))
        });
        Table { rows: rows.collect(), unusable: state.unusable }
    }

    /// Who is noticed by the test that is there for it.
    fn test(&self) -> State {
        let mut state = State::default();
        let mut sound = BTreeMap::new();
        for &fault in &self.faults {
            let Some((program, case)) = fault.test() else { continue };
            if !*sound.entry((program, case)).or_insert_with(|| self.passes(program, case, None)) {
                state.unusable.push(format!("the test {program} {case} fails without a fault, too"));
            } else if !self.passes(program, case, Some(fault)) {
                let notice = Notice::Test { program, case };
                eprintln!("mutants: {}: {notice}", fault.name());
                state.noticed.insert(fault.name(), notice);
            }
        }
        state
    }

    fn passes(&self, program: &str, case: &str, fault: Option<Fault>) -> bool {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["test", "--quiet", "--release", "--package", "tests", "--test", program, "--target-dir"]);
        cargo.arg(&self.target).args(["--", "--exact", case]);
        cargo.env_remove("LOOPWRIGHT_PLANT").envs(fault.map(|f| ("LOOPWRIGHT_PLANT", f.name())));
        cargo.output().is_ok_and(|output| output.status.success())
    }

    fn unnoticed(&self, state: &Mutex<State>) -> Vec<Fault> {
        let state = lock(state);
        let open = |fault: &&Fault| {
            let met = state.met.get(fault.name()).copied().unwrap_or(0);
            !state.noticed.contains_key(fault.name()) && met < self.patience
        };
        self.faults.iter().filter(open).copied().collect()
    }

    /// One program of one family, with all faults that nobody noticed yet.
    fn turn(&self, turn: usize, state: &Mutex<State>) {
        let campaign = &self.campaigns[turn % self.campaigns.len()];
        let number = turn / self.campaigns.len();
        let kernels: Vec<_> = (number * campaign.batch..(number + 1) * campaign.batch)
            .map(|k| generate::case(campaign.family, campaign.seed, k))
            .collect();
        let unusable = |failure: Failure| {
            let said = format!("{:?}, program {number}: {failure}", campaign.family);
            eprintln!("mutants: without a fault: {said}");
            lock(state).unusable.push(said);
        };
        let program = match Program::new(&kernels, campaign.reference(number), campaign.patience) {
            Ok(program) => program,
            Err(failure) => return unusable(failure),
        };
        let fails = |variant: &Variant| {
            let (tally, failure) = program.compare(variant);
            failure.or_else(|| campaign.internal_failures(&tally).into_iter().next())
        };
        for variant in campaign.configurations(number) {
            if let Some(failure) = fails(&variant) {
                unusable(failure);
                continue;
            }
            for fault in self.unnoticed(state) {
                let failure = fails(&variant.planted(fault));
                let mut state = lock(state);
                let met = state.met.entry(fault.name()).or_default();
                *met += kernels.len();
                let kernels = *met;
                if let Some(failure) = failure {
                    let failure = failure.to_string().lines().next().unwrap_or_default().to_string();
                    let notice = Notice::Kernels { family: campaign.family, kernels, failure };
                    // Two programs may notice at the same time.
                    if !state.noticed.contains_key(fault.name()) {
                        eprintln!("mutants: {}: {}", fault.name(), notice);
                        state.noticed.insert(fault.name(), notice);
                    }
                }
            }
        }
    }
}

impl Table {
    pub fn unnoticed(&self) -> usize {
        self.rows.iter().filter(|(_, notice, _)| notice.is_none()).count()
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Notice::Test { program, case } => write!(f, "test {program} {case}"),
            Notice::Kernels { family, kernels, failure } => {
                write!(f, "{} after {kernels} kernels: {failure}", format!("{family:?}").to_lowercase())
            }
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (fault, notice, met) in &self.rows {
            match notice {
                Some(notice) => writeln!(f, "{:28} {notice}", fault.name())?,
                None => writeln!(f, "{:28} NOT NOTICED by {met} kernels: {}", fault.name(), fault.describe())?,
            }
        }
        writeln!(f, "{} of {} noticed", self.rows.len() - self.unnoticed(), self.rows.len())
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
