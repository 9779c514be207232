//! LLVM IR → model. Reads maximal single-entry regions; what it cannot read, it refuses with a reason.
//!
//! The order: [`region`] proposes regions, [`legality`] looks at every instruction, [`invariant`] finds values in memory that can be
//! taken for parameters, [`domain`] gives every block its instances ([`count`] those of loops), [`statement`] cuts blocks into statements and finds the scalars between them, [`access`] reads addresses, [`reduction`] recognises
//! `a = a op x`. [`affine`] and [`sign`] serve them all.

mod access;
mod affine;
mod assemble;
mod behind;
mod cfg;
mod count;
mod domain;
mod errno;
mod errors;
mod invariant;
mod legality;
mod polynomial;
mod preload;
mod program;
mod reduction;
mod region;
mod sign;
mod statement;
mod twins;

use crate::body::ReadRegion;
use crate::facts::{BlockId, FunctionFacts, LoopId, Oracle, ValueId, ValueKind};
use affine::{NotAffine, Scope};
use invariant::{Arrivals, Invariants};
use isl::Set;
use model::assume::{Allowed, Assumption, AssumptionKind, Assumptions};
use model::refusal::{Refusal, RefusalKind};
use model::scop::{Param, ParamId};
use region::{End, Piece, Region, chain};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All that was read of a function: regions and, for every loop outside of them, a refusal.
#[derive(Default)]
pub struct Reading {
    pub regions: Vec<Found>,
    pub refusals: Vec<Refusal>,
}

pub enum Found {
    Region(Box<ReadRegion>),
    /// The region that was found there the last time.
    AsBefore(Place),
}

/// Entry and exit of a region.
pub type Place = (BlockId, BlockId);

/// What is kept of a function between one reading and the next.
#[derive(Default)]
pub struct Memory {
    /// Regions that are too large for what comes after reading or to be worth it as a whole, and how that was found out.
    pub too_large: BTreeMap<Place, Refusal>,
    /// Regions that were read: their blocks, and what was refused inside them.
    read: BTreeMap<Place, (Vec<BlockId>, Vec<Refusal>)>,
    /// Why others were not; without a block where a budget was used up.
    refused: BTreeMap<Place, (Refusal, Option<BlockId>)>,
    /// Operations of isl that looking for array shapes took so far.
    shaping: Cell<u64>,
    /// How often a budget was used up.
    in_vain: usize,
}

/// Why reading a region stopped.
#[derive(Debug)]
pub enum Stop {
    Refused {
        refusal: Refusal,
        block: BlockId,
    },
    /// These loads must not be taken for invariant.
    Varies(Vec<ValueId>),
    Isl(isl::IslError),
}
impl Stop {
    fn refuse(kind: RefusalKind, line: u32, subject: impl Into<String>, block: BlockId) -> Stop {
        Stop::Refused { refusal: Refusal::new(kind, line, subject), block }
    }
}
impl From<isl::IslError> for Stop {
    fn from(error: isl::IslError) -> Self {
        Stop::Isl(error)
    }
}

/// Requires: nothing of the function has changed since `facts` were taken.
/// Ensures: the regions do not overlap; every loop of the function lies in a region or is covered by a refusal. Instead of a region
/// that is too large, its parts are read.
pub fn read_function(
    facts: &FunctionFacts,
    oracle: &dyn Oracle,
    ctx: &isl::Ctx,
    memory: &mut Memory,
    allowed: Allowed,
) -> Reading {
    let mut search = Search {
        facts,
        oracle,
        ctx,
        found: Reading::default(),
        searched: BTreeSet::new(),
        taken: BTreeSet::new(),
        memory,
        allowed,
    };
    if facts.loops.is_empty() {
        return search.found;
    }
    match legality::refuse_function(facts) {
        Some(refusal) => search.found.refusals.push(refusal),
        None => {
            search.level(None, BlockId(0), None);
            search.handlers();
        }
    }
    search.found
}

struct Search<'a> {
    facts: &'a FunctionFacts,
    oracle: &'a dyn Oracle,
    ctx: &'a isl::Ctx,
    found: Reading,
    /// Where each level was entered: control flow that never ends leads back to where it came from.
    searched: BTreeSet<(Option<LoopId>, BlockId)>,
    /// Blocks of the regions found.
    taken: BTreeSet<BlockId>,
    memory: &'a mut Memory,
    allowed: Allowed,
}

impl Search<'_> {
    /// A function in which much was read in vain, time and again smaller parts of the same, is not worth as much in the end.
    fn budget(&self) -> isl::Budget {
        const PATIENCE: usize = 8;
        if self.memory.in_vain < PATIENCE { isl::Budget::READ } else { isl::Budget::READ_HASTILY }
    }

    /// Searches one level of the loop tree from `start` to `stop`.
    fn level(&mut self, scope: Option<LoopId>, start: BlockId, stop: Option<BlockId>) {
        if !self.searched.insert((scope, start)) {
            return;
        }
        let (pieces, end) = chain(self.facts, scope, start, stop);
        self.run(scope, &pieces);
        match end {
            End::Stop => {}
            End::Broken(block) => self.unstructured(scope, block),
            End::Joined(block) => self.level(scope, block, stop),
        }
    }

    /// Reads a run of pieces as one region, or cuts it where it is refused.
    fn run(&mut self, scope: Option<LoopId>, pieces: &[Piece]) {
        // Where paths do not meet again, two of them may lead to the same loops.
        let is_taken = |b: &BlockId| self.taken.contains(b);
        if let Some(met) = pieces.iter().position(|p| p.blocks.iter().any(is_taken)) {
            let entirely = pieces[met].blocks.iter().all(is_taken);
            self.run(scope, &pieces[..met]);
            if pieces[met].has_loop && !entirely {
                self.inside(scope, &pieces[met]);
            }
            self.run(scope, &pieces[met + 1..]);
            return;
        }
        let Some((region, covered)) = Region::of_run(self.facts, scope, pieces) else {
            for piece in pieces.iter().filter(|p| p.has_loop) {
                self.inside(scope, piece);
            }
            return;
        };
        for piece in pieces[..covered.start].iter().filter(|p| p.has_loop) {
            self.inside(scope, piece);
        }
        let pieces = &pieces[covered];
        let place = (region.entry, region.exit);
        let (shaping, allowed) = (&self.memory.shaping, self.allowed);
        let reader = |trust: Trust| {
            let trust = if allowed.contains(AssumptionKind::RT) { trust } else { Trust::Nothing };
            let reader = Reader::new(self.facts, self.oracle, self.ctx, &region, shaping, trust)?;
            Ok(Reader { allowed, ..reader })
        };
        let mut halve = false;
        // What is around loops, or one loop after the other, can be taken apart; of a loop, only what is too large is.
        let falls_apart = pieces.len() > 1 || self.facts.child_loop_of(scope, pieces[0].entry).is_none();
        let read = match self.memory.too_large.get(&place) {
            Some(refusal) if refusal.kind == RefusalKind::OutOfBudget || falls_apart => {
                halve = true;
                Err(Stop::Refused { refusal: refusal.clone(), block: region.entry })
            }
            _ if self.memory.read.contains_key(&place) => {
                let (blocks, refusals) = &self.memory.read[&place];
                self.taken.extend(blocks);
                self.found.regions.push(Found::AsBefore(place));
                self.found.refusals.extend(refusals.iter().cloned());
                return;
            }
            _ => match self.memory.refused.get(&place) {
                Some((refusal, block)) => {
                    halve = block.is_none();
                    Err(Stop::Refused { refusal: refusal.clone(), block: block.unwrap_or(region.entry) })
                }
                None => self.ctx.within(self.budget(), || read_region(reader)),
            },
        };
        let (refusal, block) = match read {
            Ok(read) => {
                self.taken.extend(read.region.blocks.iter().copied());
                self.memory.read.insert(place, (read.region.blocks.clone(), read.unshaped.clone()));
                self.found.regions.push(Found::Region(Box::new(read.region)));
                self.found.refusals.extend(read.unshaped);
                return;
            }
            Err(Stop::Refused { refusal, block }) => (refusal, Some(block).filter(|_| !halve)),
            Err(Stop::Varies(_)) => unreachable!("read again without them"),
            Err(Stop::Isl(error)) => {
                self.memory.in_vain += usize::from(error.is_out_of_budget());
                (refusal_of_isl(&error, self.facts.line_of_block(region.entry)), None)
            }
        };
        self.memory.refused.insert(place, (refusal.clone(), block));
        let cut = match block {
            Some(block) => pieces.iter().position(|p| p.blocks.contains(&block)).unwrap_or(0),
            // Half of the run may do with the budget; a single piece that does not is refused.
            None => pieces.len() / 2,
        };
        self.run(scope, &pieces[..cut]);
        if (halve || refusal.kind == RefusalKind::OutOfBudget) && pieces.len() > 1 {
            self.run(scope, &pieces[cut..]);
            return;
        }
        // A piece without a loop only separates regions, and one whose loops can all be read from inside only adds a condition
        // around them: nothing is lost with it.
        if pieces[cut].has_loop {
            let is_loop = self.facts.child_loop_of(scope, pieces[cut].entry).is_some();
            let before = (self.found.regions.len(), self.found.refusals.len());
            self.inside(scope, &pieces[cut]);
            let all_read = self.found.regions.len() > before.0 && self.found.refusals.len() == before.1;
            if is_loop || !all_read {
                self.found.refusals.push(refusal);
            }
        }
        self.run(scope, &pieces[cut + 1..]);
    }

    /// Searches the insides of a piece that is not (part of) a region itself.
    fn inside(&mut self, scope: Option<LoopId>, piece: &Piece) {
        match self.facts.child_loop_of(scope, piece.entry) {
            Some(l) => self.level(Some(l), self.facts.loops[l.index()].header, None),
            None => {
                let mut arms = self.facts.block(piece.entry).successors.clone();
                arms.dedup();
                for arm in arms {
                    let own = piece.blocks.contains(&arm) && self.facts.dominates(arm, arm);
                    let entered_here = self.facts.block(arm).immediate_dominator == Some(piece.entry);
                    if own && entered_here && arm != piece.exit {
                        self.level(scope, arm, Some(piece.exit));
                    }
                }
            }
        }
    }

    /// From `block` on, paths do not meet again on this level (several returns, `noreturn` calls): search what each of them leads to.
    fn unstructured(&mut self, scope: Option<LoopId>, block: BlockId) {
        if let Some(l) = self.facts.child_loop_of(scope, block) {
            let info = &self.facts.loops[l.index()];
            let why = "by `return`, `goto` or a call that does not come back";
            self.found.refusals.push(Refusal::new(RefusalKind::LoopExits, info.line, why));
            self.level(Some(l), info.header, None);
            for &exit in &info.exits {
                if scope.is_none_or(|s| self.facts.in_loop(exit, s)) && self.facts.dominates(info.header, exit) {
                    self.dominated_child(scope, info.header, exit);
                }
            }
            return;
        }
        for &next in &self.facts.block(block).successors {
            self.dominated_child(scope, block, next);
        }
    }

    /// Code that only errors lead to, and that goes on: there may be loops in it.
    fn handlers(&mut self) {
        let facts = self.facts;
        for (index, block) in facts.blocks.iter().enumerate() {
            let by_error = |b: &BlockId| facts.block(*b).is_error;
            if !block.is_error && !block.predecessors.is_empty() && block.predecessors.iter().all(by_error) {
                self.level(block.innermost_loop, BlockId(index as u32), None);
            }
        }
    }

    fn dominated_child(&mut self, scope: Option<LoopId>, above: BlockId, block: BlockId) {
        let is_back_edge = self.facts.dominates(block, above);
        let on_level = scope.is_none_or(|s| self.facts.in_loop(block, s));
        if !is_back_edge && on_level && self.facts.dominates(above, block) {
            self.level(scope, block, None);
        }
    }
}

pub fn refusal_of_isl(error: &isl::IslError, line: u32) -> Refusal {
    match error {
        isl::IslError::OutOfBudget { stage } => Refusal::new(RefusalKind::OutOfBudget, line, *stage),
        other => Refusal::new(RefusalKind::InternalError, line, other.to_string()),
    }
}

/// Ensures: the result's model describes the region exactly, given its assumptions and that its `may_alias` pairs are disjoint.
fn read_region<'a>(reader: impl Fn(Trust) -> Result<Reader<'a>, Stop>) -> Result<Attempt, Stop> {
    let first = reader(Trust::Nothing)?;
    for &block in &first.region.blocks {
        legality::check_block(first.facts, block)?;
    }
    let mut distrusted = BTreeSet::new();
    for _ in 0..MAX_DISAPPOINTMENTS {
        let reader = || reader(Trust::AllBut(distrusted.clone()));
        if reader()?.invariants.is_empty() {
            break;
        }
        match read_with(reader) {
            Ok(attempt) => return Ok(attempt),
            Err(Stop::Varies(loads)) => distrusted.extend(loads),
            Err(Stop::Isl(error)) if !error.is_out_of_budget() => return Err(Stop::Isl(error)),
            Err(_) => break,
        }
    }
    read_with(|| reader(Trust::Nothing))
}

/// So often a region is read again with fewer loads taken for invariant.
const MAX_DISAPPOINTMENTS: usize = 4;

/// Which loads may be taken for invariant.
enum Trust {
    Nothing,
    AllBut(BTreeSet<ValueId>),
}

fn read_with<'a>(reader: impl Fn() -> Result<Reader<'a>, Stop>) -> Result<Attempt, Stop> {
    let expanded = reader()?.read()?;
    if expanded.unshaped.is_empty() && (expanded.conditional == 0 || !expanded.expanded_products) {
        return Ok(expanded);
    }
    // `A[i*nm + j]` with nm = n*m may have no shape in n and m, and two matrices in one buffer have no common one: where products
    // are symbols and pointers computed before the region are arrays of their own, such accesses are affine. The same may save a
    // condition.
    match (Reader { expand_products: false, ..reader()? }).read() {
        Ok(opaque) if opaque.doubts() < expanded.doubts() => Ok(opaque),
        Err(Stop::Isl(error)) if !error.is_out_of_budget() => Err(Stop::Isl(error)),
        _ => Ok(expanded),
    }
}

/// A region, and the arrays with polynomial addresses for which no shape was found.
struct Attempt {
    region: ReadRegion,
    unshaped: Vec<Refusal>,
    /// How many arrays have a shape that holds under a condition only.
    conditional: usize,
    /// Values from outside were read as products, though they could have been symbols.
    expanded_products: bool,
}
impl Attempt {
    fn doubts(&self) -> (usize, usize) {
        (self.unshaped.len(), self.conditional)
    }
}

/// The state of reading one region.
struct Reader<'a> {
    ctx: isl::Ctx,
    facts: &'a FunctionFacts,
    oracle: &'a dyn Oracle,
    region: &'a Region,
    /// The entry is a loop header: its φs belong to the region.
    entry_is_header: bool,
    params: Vec<Param>,
    param_values: Vec<ValueId>,
    /// Known statically.
    context: Set,
    /// Known or assumed.
    context_assumed: Set,
    assumptions: Vec<Assumption>,
    /// The parameters for which each of these promises is broken: what they tell is not known yet.
    promises: Vec<Set>,
    /// There is a loop inside of a box of which nobody knows whether it ends.
    unmodelled_endless: bool,
    /// Nothing may be assumed: see [`Reader::prove`].
    proofs_only: bool,
    /// What else may be.
    allowed: Allowed,
    /// Values from outside that are products are read as such, not as parameters of their own.
    expand_products: bool,
    /// That was of consequence.
    expanded_products: bool,
    shaping: &'a Cell<u64>,
    /// φs to which the same is brought on all edges, and what that is.
    twins: HashMap<ValueId, ValueId>,
    /// By load or store: the array it touches, as far as an earlier attempt found out.
    bases: HashMap<ValueId, ValueId>,
    /// Loads taken for values from outside, by the one that stands for all loads of its cell.
    invariants: Invariants,
    /// Loads that are not to be among them.
    distrusted: BTreeSet<ValueId>,
    arrivals: Arrivals,
    /// While an exit condition is read: instances in which it says something else than the program.
    unsure: Option<Set>,
    /// The uses of every value, once somebody asks.
    users: OnceCell<Vec<Vec<ValueId>>>,
    /// What the next assumption is about.
    subject: (AssumptionKind, String),
}

/// All signed or unsigned numbers of so many bits.
fn any_of(bits: u32, unsigned: bool) -> (i128, i128) {
    if unsigned { (0, (1i128 << bits) - 1) } else { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) }
}

/// What guards tell is kept in so many parts at most.
const MAX_CONTEXT_PARTS: usize = 2;

/// A point to go back to when what was read turns out not to be needed.
#[derive(Clone)]
struct KnownParameters {
    count: usize,
    assumptions: usize,
    context: Set,
    context_assumed: Set,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Result<Attempt, Stop> {
        self.learn_from_guards()?;
        let items = self.domains()?;
        let (known, expanded) = (self.known_parameters(), self.expanded_products);
        let mut cut = self.cut_into_statements(&items)?;
        let mut accesses = self.read_accesses(&cut)?;
        if self.is_out_of_order(&cut, &accesses) {
            // Pointers that looked unrelated turned out to point into one array. Now it is known which ones do.
            for (&base, all) in &accesses {
                self.bases.extend(all.iter().map(|access| (access.instruction, base)));
            }
            self.forget_parameters_since(known);
            self.expanded_products = expanded;
            cut = self.cut_into_statements(&items)?;
            accesses = self.read_accesses(&cut)?;
            assert!(!self.is_out_of_order(&cut, &accesses), "statements of a block swap accesses to one array");
        }
        let preloads = self.read_invariants()?;
        self.assemble(&items, cut, accesses, preloads)
    }

    fn new(
        facts: &'a FunctionFacts,
        oracle: &'a dyn Oracle,
        ctx: &isl::Ctx,
        region: &'a Region,
        shaping: &'a Cell<u64>,
        trust: Trust,
    ) -> Result<Self, Stop> {
        let universe = Set::universe(&isl::Space::params_alloc(ctx, 0)?)?;
        let mut reader = Reader {
            ctx: ctx.clone(),
            facts,
            oracle,
            region,
            entry_is_header: facts.child_loop_of(region.scope, region.entry).is_some(),
            params: Vec::new(),
            param_values: Vec::new(),
            context: universe.clone(),
            context_assumed: universe,
            assumptions: Vec::new(),
            promises: Vec::new(),
            unmodelled_endless: false,
            proofs_only: false,
            allowed: Allowed::ALL,
            expand_products: true,
            expanded_products: false,
            shaping,
            twins: HashMap::new(),
            bases: HashMap::new(),
            invariants: Invariants::new(),
            distrusted: BTreeSet::new(),
            arrivals: Arrivals::new(),
            unsure: None,
            users: OnceCell::new(),
            subject: (AssumptionKind::EE, "integer arithmetic in the loops must not wrap around".into()),
        };
        reader.find_twins();
        if let Trust::AllBut(distrusted) = trust {
            reader.distrusted = distrusted;
            reader.find_invariants();
        }
        Ok(reader)
    }

    /// The same value in all instances, known before the region starts.
    fn is_outside(&self, value: ValueId) -> bool {
        self.is_defined_before(value) || self.invariants.contains_key(&self.stands_for(value))
    }

    fn is_defined_before(&self, value: ValueId) -> bool {
        match &self.facts.value(value).kind {
            ValueKind::Instruction(instruction) => {
                !self.region.contains(instruction.block)
                    || (!self.entry_is_header && instruction.block == self.region.entry && self.facts.is_phi(value))
            }
            _ => true,
        }
    }

    fn intern_parameter(&mut self, value: ValueId, bits: u32) -> Result<ParamId, isl::IslError> {
        // What LLVM knows of a value does not bind the frozen copy that we use if the value may be poison.
        let loaded_before = self.invariants.contains_key(&value) && !self.is_defined_before(value);
        let reliable = !loaded_before && self.oracle.is_guaranteed_not_poison(value);
        let unsigned = self.is_taken_for_unsigned(value, bits);
        let range = match (reliable, unsigned) {
            (false, _) => any_of(bits, unsigned),
            (true, false) => self.oracle.signed_range(value),
            // Of less than 64 bits.
            (true, true) => {
                let (low, high) = self.oracle.unsigned_range(value);
                (low as i128, high as i128)
            }
        };
        self.intern(value, Param { name: String::new(), bits, unsigned, range })
    }

    /// A value of the region that is computed again before it. What LLVM knows of it holds where it stands, not there.
    fn intern_hoisted(&mut self, value: ValueId, bits: u32) -> Result<ParamId, isl::IslError> {
        let unsigned = self.is_taken_for_unsigned(value, bits);
        self.intern(value, Param { name: String::new(), bits, unsigned, range: any_of(bits, unsigned) })
    }

    /// The parameter for the value, which gets its name here; `param` if it is new.
    fn intern(&mut self, value: ValueId, param: Param) -> Result<ParamId, isl::IslError> {
        if let Some(known) = self.param_values.iter().position(|&v| v == value) {
            return Ok(ParamId(known as u32));
        }
        let id = ParamId(self.params.len() as u32);
        let name = self.name_of(value).unwrap_or_else(|| id.to_string());
        let (low, high) = param.range;
        self.params.push(Param { name, ..param });
        self.param_values.push(value);
        let range = Set::read_from_str(&self.ctx, &format!("[{id}] -> {{ : {low} <= {id} <= {high} }}"))?;
        self.context = self.context.intersect(&range)?;
        self.context_assumed = self.context_assumed.intersect(&range)?;
        Ok(id)
    }

    fn known_parameters(&self) -> KnownParameters {
        KnownParameters {
            count: self.params.len(),
            assumptions: self.assumptions.len(),
            context: self.context.clone(),
            context_assumed: self.context_assumed.clone(),
        }
    }

    fn forget_parameters_since(&mut self, known: KnownParameters) {
        self.params.truncate(known.count);
        self.assumptions.truncate(known.assumptions);
        self.param_values.truncate(known.count);
        self.context = known.context;
        self.context_assumed = known.context_assumed;
    }

    fn may_assume(&self, kind: AssumptionKind) -> bool {
        !self.proofs_only && self.allowed.contains(kind)
    }

    fn unassumed(&self, kind: AssumptionKind, line: u32, what: &str, block: BlockId) -> Stop {
        Stop::refuse(RefusalKind::Unassumed, line, format!("{what} ({})", kind.name()), block)
    }

    /// Runs a step with another value in a field, which gets its own back however the step ends.
    fn with<V, T>(&mut self, field: fn(&mut Self) -> &mut V, value: V, step: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(field(self), value);
        let result = step(self);
        *field(self) = before;
        result
    }

    /// Runs a step whose assumptions are of this kind, for this reason.
    fn assuming<T>(&mut self, kind: AssumptionKind, because: String, step: impl FnOnce(&mut Self) -> T) -> T {
        self.with(|this| &mut this.subject, (kind, because), step)
    }

    /// Runs a step; if it fails, nothing that it learned or assumed on the way remains.
    fn or_forget<T, E>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        let known = self.known_parameters();
        let result = step(self);
        if result.is_err() {
            self.forget_parameters_since(known);
        }
        result
    }

    /// The same for a step without which reading goes on.
    fn attempt<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, NotAffine>) -> Result<Option<T>, isl::IslError> {
        match self.or_forget(step) {
            Ok(result) => Ok(Some(result)),
            Err(NotAffine::Isl(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// An attempt in which nothing may be assumed.
    fn prove<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, NotAffine>) -> Result<Option<T>, isl::IslError> {
        self.with(|this| &mut this.proofs_only, true, |this| this.attempt(step))
    }

    /// Adds to the context what must hold for control to reach the region: conditions of branches that dominate it.
    fn learn_from_guards(&mut self) -> Result<(), Stop> {
        /// Guards further up seldom speak of the same values.
        const MAX_GUARDS: usize = 16;
        let facts = self.facts;
        let mut below = self.region.entry;
        let mut seen = 0;
        while let Some(above) = facts.block(below).immediate_dominator {
            self.learn_from_hints_above(above)?;
            if let [taken, other] = facts.block(above).successors[..] {
                let terminator = facts.terminator(above);
                let leads_here =
                    |edge: BlockId| facts.dominates(edge, below) && facts.block(edge).predecessors == [above];
                let truth = if taken == other {
                    None
                } else if leads_here(taken) {
                    Some(true)
                } else if leads_here(other) {
                    Some(false)
                } else {
                    None
                };
                if let (Some(truth), Some(crate::facts::Op::Branch { .. })) = (truth, terminator.map(|t| &t.op)) {
                    self.learn(terminator.unwrap().operands[0], truth, above)?;
                    seen += 1;
                }
            }
            if seen >= MAX_GUARDS {
                break;
            }
            below = above;
        }
        Ok(())
    }

    fn learn(&mut self, condition: ValueId, truth: bool, block: BlockId) -> Result<(), Stop> {
        let domain = Set::universe(&affine::set_space(&self.ctx, 0)?)?;
        let scope = Scope { loops: Vec::new(), domain, block, line: self.facts.line_of_block(block) };
        self.prove(|this| {
            let set = this.condition(condition, &scope)?;
            let set = if truth { set } else { set.complement()? }.params()?;
            let context = this.context.intersect(&set)?.coalesce()?;
            // A context in pieces, from `n != 3`, takes all that meets it to pieces: that costs more than it tells.
            if context.basic_sets()?.len() > MAX_CONTEXT_PARTS {
                return Err(NotAffine::Because("a condition in pieces".into()));
            }
            this.context = context;
            this.context_assumed = this.context_assumed.intersect(&set)?;
            Ok(())
        })?;
        Ok(())
    }

    fn into_assumptions(self) -> Assumptions {
        let mut all = Assumptions::default();
        self.assumptions.into_iter().for_each(|a| all.add(a));
        all
    }
}
