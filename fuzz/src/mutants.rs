//! Faults planted in the optimizer, and which generated kernels notice them.
//!
//! A test that nothing can fail says nothing. So every fault of [`planted`] is put into the optimizer in turn, and the programs of the
//! campaign run against it, all families by turns, until one computes something else, crashes, or is refused by the checker. A program is
//! compiled plainly once for all faults that are still unnoticed.

use crate::campaign::Campaign;
use crate::generate::{self, Family};
use crate::run::{Failure, Program, Variant};
use planted::Fault;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// One family after the other.
pub const FAMILIES: &[Family] = &[Family::Bytes, Family::Effects, Family::Loops, Family::Scalars, Family::Extremes];

/// How a fault was noticed.
#[derive(Clone, Debug)]
pub struct Notice {
    pub family: Family,
    /// Kernels of all families that this fault had met by then.
    pub kernels: usize,
    pub failure: String,
}

pub struct Hunt {
    /// One for each family.
    campaigns: Vec<Campaign>,
    pub faults: Vec<Fault>,
    /// Kernels that a fault may meet without being noticed.
    pub patience: usize,
    pub jobs: usize,
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
    /// Requires: the plugin was built with faults in it.
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
        Hunt { campaigns: campaigns.collect(), faults: Fault::ALL.to_vec(), patience: 2000, jobs: 2 }
    }

    pub fn run(&self) -> Table {
        let state = Mutex::new(State::default());
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
                    let notice = Notice { family: campaign.family, kernels, failure };
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
        let Notice { family, kernels, failure } = self;
        write!(f, "{} after {kernels} kernels: {failure}", format!("{family:?}").to_lowercase())
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
