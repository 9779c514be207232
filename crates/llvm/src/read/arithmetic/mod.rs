//! Integers as functions of iteration counts and parameters: the one reader of values, conditions and addresses.
//!
//! A machine integer of w bits is known modulo 2^w. So every value is read as a function L into ℤ of which only *L ≡ value (mod 2^w)*
//! is claimed: sums, differences, products, shifts to the left and truncations keep that claim without any proof. Where the
//! integer itself matters (an extension, a comparison, a division, an address) L must lie in the range of the type, signed or
//! unsigned; then L *is* the value. That range is proved from no-wrap flags, or over the instances in question, or it becomes
//! an assumption that the run-time check covers.
//!
//! No-wrap flags are `trusted` only while poison from the flagged instruction would reach the address or branch that is being read:
//! in an instance that gets there without undefined behaviour, the flag tells the truth.

mod address;
mod affine;
mod bounds;
mod condition;
mod known;
mod modular;
mod poison;
mod polynomial;

pub use address::Address;
pub use affine::Affine;
use bounds::Required;
pub use known::Known;
pub use modular::{Framed, Function};
pub use polynomial::InductionForm;

use super::Stop;
use super::values::Values;
use crate::facts::{BlockId, LoopId, Type, ValueId};
use isl::{Aff, DimType, IslError, LocalSpace, PwAff, Set, Space};
use model::assume::{Allowed, AssumptionKind};
use model::refusal::RefusalKind;
use model::scop::{Param, ParamId, Predicate};
use model::source::Line;
use std::collections::{BTreeMap, BTreeSet};

/// Expressions deeper than this are not worth reading.
const MAX_DEPTH: u32 = 48;
/// Conditions that fall into more convex parts than this are refused rather than checked.
pub const MAX_ASSUMPTION_PARTS: usize = 4;

/// Where a value is looked at: which instances, and in which loops.
#[derive(Clone)]
pub struct Scope {
    /// Dimension d counts the iterations of `loops[d]`.
    pub loops: Vec<LoopId>,
    /// Unnamed tuple of `loops.len()` dimensions.
    pub domain: Set,
    pub block: BlockId,
    pub line: Line,
    /// Conditions on data under which something happens there.
    pub predicates: Vec<Predicate>,
}

/// Why a value cannot be read.
#[derive(Debug)]
pub enum NotAffine {
    /// The value that stands in the way.
    Because(String),
    Wraps(String),
    Isl(IslError),
}
impl From<IslError> for NotAffine {
    fn from(error: IslError) -> Self {
        NotAffine::Isl(error)
    }
}
impl NotAffine {
    pub fn refused(self, kind: RefusalKind, scope: &Scope) -> Stop {
        match self {
            NotAffine::Because(why) => Stop::refuse(kind, scope.line, why, scope.block),
            NotAffine::Wraps(what) => Stop::refuse(RefusalKind::MayWrap, scope.line, what, scope.block),
            NotAffine::Isl(error) => Stop::Isl(error),
        }
    }
}

pub type Read<T> = Result<T, NotAffine>;

pub fn not_affine<T>(why: impl Into<String>) -> Read<T> {
    Err(NotAffine::Because(why.into()))
}

pub fn set_space(ctx: &isl::Ctx, depth: usize) -> Result<Space, IslError> {
    Space::set_alloc(ctx, 0, depth)
}

/// All signed or unsigned numbers of so many bits.
fn any_of(bits: u32, unsigned: bool) -> (i128, i128) {
    if unsigned { (0, (1i128 << bits) - 1) } else { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) }
}

pub struct Arithmetic<'a> {
    pub values: &'a Values<'a>,
    pub known: Known,
    /// What may be assumed.
    allowed: Allowed,
    /// But nothing at the moment: see [`Arithmetic::prove`].
    proofs_only: bool,
    /// What the next assumption is about.
    subject: (AssumptionKind, String),
    /// While an exit condition is read: instances in which it says something else than the program, and which are not assumed away.
    unsure: Option<Set>,
    /// Values from outside that are products are read as such, not as parameters of their own.
    pub expand_products: bool,
    /// A φ may be read as something that it is only if a part of it lies in a window.
    may_frame: bool,
    /// At the moment, though nothing is assumed.
    framing: bool,
    /// While bounds are read: ranges that numbers must be in, which join them.
    required: Option<Required>,
    pub sizes: Sizes,
    /// What loops count from that do not count from 0, as functions of the counters around them.
    pub origins: BTreeMap<LoopId, PwAff>,
}

/// How sizes in pieces, as `max(n, 0)`, are read where they are factors.
#[derive(Default)]
pub struct Sizes {
    /// To be read in pieces.
    in_pieces: BTreeSet<ValueId>,
    /// One piece was left where something runs.
    whole: BTreeSet<ValueId>,
    /// Nothing is known of the pieces: a symbol.
    symbols: BTreeSet<ValueId>,
}

impl Sizes {
    pub fn new(in_pieces: &BTreeSet<ValueId>) -> Sizes {
        Sizes { in_pieces: in_pieces.clone(), ..Sizes::default() }
    }

    /// Those that were read in two ways: no shape fits both.
    pub fn disagreeing(&self) -> BTreeSet<ValueId> {
        self.whole.intersection(&self.symbols).copied().collect()
    }
}

impl<'a> Arithmetic<'a> {
    pub fn new(
        values: &'a Values<'a>,
        allowed: Allowed,
        (expand_products, may_frame): (bool, bool),
        sizes: Sizes,
    ) -> Result<Self, IslError> {
        Ok(Arithmetic {
            values,
            known: Known::nothing(values.ctx)?,
            allowed,
            proofs_only: false,
            subject: (AssumptionKind::EE, "integer arithmetic in the loops must not wrap around".into()),
            unsure: None,
            expand_products,
            may_frame,
            framing: false,
            required: None,
            sizes,
            origins: BTreeMap::new(),
        })
    }

    // ---- scopes: what holds while a step runs, and what is left of it ----

    /// Runs a step with another value in a field, which gets its own back however the step ends.
    pub fn with<V, T>(&mut self, field: fn(&mut Self) -> &mut V, value: V, step: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(field(self), value);
        let result = step(self);
        *field(self) = before;
        result
    }

    /// Runs a step whose assumptions are of this kind, for this reason.
    pub fn assuming<T>(&mut self, kind: AssumptionKind, because: String, step: impl FnOnce(&mut Self) -> T) -> T {
        self.with(|this| &mut this.subject, (kind, because), step)
    }

    /// Runs a step; if it fails, nothing that it learned or assumed on the way remains.
    pub fn or_forget<T, E>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        let mark = self.known.mark();
        let required = self.required.as_ref().map_or(0, Vec::len);
        let result = step(self);
        if result.is_err() {
            self.known.go_back_to(mark);
            if let Some(all) = &mut self.required {
                all.truncate(required);
            }
        }
        result
    }

    /// The same for a step without which reading goes on.
    pub fn attempt<T>(&mut self, step: impl FnOnce(&mut Self) -> Read<T>) -> Result<Option<T>, IslError> {
        match self.or_forget(step) {
            Ok(result) => Ok(Some(result)),
            Err(NotAffine::Isl(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// An attempt in which nothing may be assumed.
    pub fn prove<T>(&mut self, step: impl FnOnce(&mut Self) -> Read<T>) -> Result<Option<T>, IslError> {
        self.with(|this| &mut this.proofs_only, true, |this| this.attempt(step))
    }

    /// Runs a step that is not to assume anything of exit conditions; beside its result, the instances that it is unsure of.
    pub fn unsure<T>(&mut self, nowhere: Set, step: impl FnOnce(&mut Self) -> T) -> (T, Set) {
        let finish = |this: &mut Self| (step(this), this.unsure.take().expect("set here"));
        self.with(|this| &mut this.unsure, Some(nowhere), finish)
    }

    pub fn may_assume(&self, kind: AssumptionKind) -> bool {
        !self.proofs_only && self.allowed.contains(kind)
    }

    pub fn unassumed(&self, kind: AssumptionKind, line: Line, what: &str, block: BlockId) -> Stop {
        Stop::refuse(RefusalKind::Unassumed, line, format!("{what} ({})", kind.name()), block)
    }

    // ---- parameters ----

    /// The value as a parameter of the region.
    pub fn parameter(&mut self, scope: &Scope, value: ValueId) -> Read<Affine> {
        let Some(value) = self.values.handed_on(value) else {
            return not_affine(self.values.facts.display_name(value));
        };
        self.as_parameter(scope, value, |values, bits, unsigned| {
            // What LLVM knows of a value does not bind the frozen copy that we use if the value may be poison.
            let loaded_before = values.invariants.contains_key(&value) && !values.is_defined_before(value);
            if loaded_before || !values.oracle.is_guaranteed_not_poison(value) {
                any_of(bits, unsigned)
            } else if unsigned {
                // Of less than 64 bits.
                let (low, high) = values.oracle.unsigned_range(value);
                (low as i128, high as i128)
            } else {
                values.oracle.signed_range(value)
            }
        })
    }

    /// A value that the region computes from what is known before it, as a parameter.
    pub fn hoisted_parameter(&mut self, scope: &Scope, value: ValueId) -> Read<Affine> {
        // What LLVM knows of it holds where it stands, not before the region.
        self.as_parameter(scope, value, |_, bits, unsigned| any_of(bits, unsigned))
    }

    fn as_parameter(
        &mut self,
        scope: &Scope,
        value: ValueId,
        range: impl FnOnce(&Values, u32, bool) -> (i128, i128),
    ) -> Read<Affine> {
        let bits = self.bits(value)?;
        let known = self.known.params.iter().position(|p| p.value == value);
        let id = ParamId(known.unwrap_or(self.known.params.len()) as u32);
        if known.is_none() {
            // A bit is 0 or 1.
            let unsigned = bits == 1 || self.values.is_taken_for_unsigned(value, bits);
            let name = self.values.name_of(value).unwrap_or_else(|| id.to_string());
            let range = range(self.values, bits, unsigned);
            self.known.add(id, Param { name, value, bits, unsigned, range })?;
        }
        let space = set_space(self.values.ctx, scope.loops.len())?.add_dims(DimType::Param, 1)?;
        let space = space.set_dim_name(DimType::Param, 0, &id.to_string())?;
        let local = LocalSpace::from_space(&space)?;
        let function = PwAff::from_aff(&Aff::var_on_domain(&local, DimType::Param, 0)?)?;
        let Param { unsigned, range, .. } = self.known.params[id.index()];
        let signed = !unsigned || range.1 < 1 << (bits - 1);
        Ok(Affine { signed, unsigned: range.0 >= 0, ..Affine::new(function, bits) })
    }

    fn bits(&self, value: ValueId) -> Read<u32> {
        match self.values.facts.value(value).ty {
            Type::Int(bits) if bits <= 64 => Ok(bits),
            Type::Int(_) => not_affine("an integer of more than 64 bits"),
            _ => not_affine(self.values.facts.display_name(value)),
        }
    }

    /// Is one of its parameters a product of others?
    pub fn hides_products(&self, offset: &PwAff) -> Result<bool, IslError> {
        for p in 0..offset.dim(DimType::Param)? {
            let id = ParamId::from_isl_name(&offset.get_dim_name(DimType::Param, p)?);
            let product = id.is_some_and(|id| self.values.hides_product(self.known.params[id.index()].value, 0));
            if product && offset.involves_dims(DimType::Param, p, 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
