//! The model of one region of a program: a *static control part*.
//!
//! Words. A **statement** is a piece of the program that runs as a unit; an **instance** of it is one execution, named by the
//! iteration counts of the loops around it (each from 0 in steps of 1, outermost first). Its **domain** is the set of its instances.
//! An **access** relates instances to the elements they touch. A **parameter** is an integer that the region does not change.
//!
//! isl sees ordinals only: the parameter `ParamId(3)` is `p3`, the statement `StatementId(1)` is `S1`, the array `ArrayId(0)` is `A0`.
//! The source's names live beside them and are applied when something is shown to a person.

use crate::assume::Assumptions;
use crate::delinearize::Offset;
use crate::polynomial::{PiecewisePolynomial, Polynomial};
use crate::source::Line;
use crate::update::Update;
use indexmap::IndexMap;
use std::fmt;

macro_rules! ordinal {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The number of an isl tuple or dimension name that this type printed.
            pub fn from_isl_name(name: &str) -> Option<Self> {
                name.strip_prefix($prefix)?.parse().ok().map(Self)
            }
            pub fn index(self) -> usize { self.0 as usize }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, concat!($prefix, "{}"), self.0) }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { fmt::Display::fmt(self, f) }
        }
    };
}
ordinal!(/// The n-th parameter, `p<n>` in isl.
    ParamId, "p");
ordinal!(/// The n-th statement in original textual order, `S<n>` in isl.
    StatementId, "S");
ordinal!(/// The n-th array (or scalar slot), `A<n>` in isl.
    ArrayId, "A");
ordinal!(/// The n-th copy that the model makes, see [`crate::transform::Copy`]; `C<n>` in isl.
    CopyId, "C");

/// A value of the program (an argument, instruction, constant or global), numbered by who read it. In one instance of a statement it is
/// one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);
impl ValueId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An integer that is the same in all instances, read from a value of `bits` bits.
#[derive(Clone, Debug)]
pub struct Param {
    /// As a person calls it: `n`.
    pub name: String,
    /// The value behind it.
    pub value: ValueId,
    pub bits: u32,
    /// Which of the two readings of the bits; false for all of 64.
    pub unsigned: bool,
    /// Inclusive bounds known at compile time; `bits` wide at most.
    pub range: (i128, i128),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayKind {
    /// Memory reached from one base pointer.
    Memory,
    /// An SSA value that crosses statements: one cell, no subscripts.
    Value,
    /// What a φ will be: written where its incoming edges leave, read where it stands. One cell.
    Phi,
    /// errno, which mathematical calls may write: one cell, at an address that nobody knows before the check asks for it.
    /// `one_value`: all of them would write the same number, and nobody reads it, so that their order does not matter.
    Errno { one_value: bool },
    /// Memory of our own, which exists while the new loops run: a scalar with an element for each of several of its values.
    Temporary,
}
impl ArrayKind {
    pub fn is_scalar(self) -> bool {
        matches!(self, ArrayKind::Value | ArrayKind::Phi)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// Subscripts are flat offsets in cells.
    None,
    /// Constant inner sizes found from the strides.
    Constant,
    /// Inner sizes are parameters.
    Parametric,
}

/// Cells of equal size; `relation`s of accesses map to tuples `A<id>[…]` of `1 + inner_sizes.len()` subscripts
/// (no subscript for scalars), and one before them where there are rows behind pointers.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub kind: ArrayKind,
    /// Type of an element as a person writes it: `double`, `i32`.
    pub element: String,
    /// Bytes of one cell. Where accesses of several sizes share the array this is the common granule.
    pub cell_bytes: u64,
    /// Its rows are reached through pointers in another array; the first subscript is then the number of the row.
    pub rows: Option<Rows>,
    /// Sizes of the inner dimensions in cells, outermost unknown and absent; affine in the parameters.
    pub inner_sizes: Vec<Polynomial>,
    pub recovered: Recovered,
    /// The parameters for which the subscripts stay inside the shape; nothing where that is proved.
    pub condition: Option<isl::Set>,
    /// Some addresses are known modulo a power of two only.
    pub may_wrap: Option<Wraps>,
    /// Its final content is visible after the region (false only for scalars that nobody reads afterwards).
    pub live_out: bool,
}

impl Array {
    /// The subscript that is the number of a row behind a pointer, if there are such rows, and those inside of the row.
    pub fn row_and_rest<'s, T>(&self, subscripts: &'s [T]) -> (Option<&'s T>, &'s [T]) {
        match subscripts.split_first() {
            Some((row, rest)) if self.rows.is_some() => (Some(row), rest),
            _ => (None, subscripts),
        }
    }
}

/// Rows behind pointers: row r begins where the pointer leads that stands `first + r * stride` bytes from the base of an array.
///
/// That different rows are different bytes is nothing that an address says. It is assumed of the parts of rows that are touched (kind
/// RP), and so is that no write of the region hits one of the pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The array of the pointers, which is read and not written.
    pub pointers: ArrayId,
    pub first: i64,
    pub stride: i64,
    /// When the check reads the pointers: see [`crate::turns`].
    pub turn: Turn,
}

/// Arrays with rows are looked at in the order of these, and their rows from the first to the last or backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    pub number: usize,
    pub backwards: bool,
}

/// What the check must show of an array, so that addresses computed modulo a power of two are those that the relations say. Domains and
/// relations are those of accesses as the program has them, whatever becomes of them.
#[derive(Clone, Debug, Default)]
pub struct Wraps {
    /// The bytes of the array can be counted in 64 bits, if there are any of these accesses.
    pub counted: Vec<(isl::Set, isl::Map)>,
    pub framed: Vec<FramedPart>,
}

/// A part of addresses that is computed in few bits: `x` of 32 bits in `A[x + k]`.
#[derive(Clone, Debug)]
pub struct FramedPart {
    /// The instances that compute it.
    pub domain: isl::Set,
    /// Where the part alone would lead to. Its inner subscripts may leave their rows.
    pub relation: isl::Map,
    /// Where that must be, in bytes from the base: the first, and the one behind the last.
    pub window: (i128, i128),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// May touch more than it does: a read is always an over-approximation-safe "may".
    Read,
    /// Certainly overwrites all related cells.
    Write,
    /// May overwrite the related cells.
    MayWrite,
}

/// What an access of a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It yields the value.
    Load(ValueId),
    /// The instruction puts the value there.
    Store { instruction: ValueId, value: ValueId },
    /// A scalar that crosses statements: it yields the value.
    ReadScalar(ValueId),
    /// A scalar that crosses statements gets the value; `None`: one of several values.
    WriteScalar(Option<ValueId>),
    /// It yields the n-th thing that the statement fetches.
    Reload(usize),
    /// A call that may write there or leave it as it is.
    Call(ValueId),
    /// Anything else that the instruction does: a block of memory set or copied, whatever is inside of a box.
    Block(ValueId),
}
impl Role {
    /// The instruction of the program that touches memory, if it is one.
    pub fn instruction(self) -> Option<ValueId> {
        match self {
            Role::Load(v) | Role::Store { instruction: v, .. } | Role::Call(v) | Role::Block(v) => Some(v),
            Role::ReadScalar(_) | Role::WriteScalar(_) | Role::Reload(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Access {
    pub kind: AccessKind,
    pub role: Role,
    pub array: ArrayId,
    /// `{ S[i…] -> A[e…] }`, restricted to the statement's domain.
    pub relation: isl::Map,
    /// The number of the row, in an array with rows behind pointers.
    pub row: Option<Polynomial>,
    /// The flat byte offset from the array's base, or from the beginning of the row, where it is known; `bytes` bytes are touched from
    /// there.
    pub offset: Option<Offset>,
    /// Of an access that fits no shape: the offset that it has all the same, modulo 2^64. It is for people: nothing rests on it.
    pub unshaped: Option<PiecewisePolynomial>,
    pub bytes: u64,
    /// The relation says exactly which cells are touched (not an over-approximation).
    pub exact: bool,
    /// Part of `a = a op x`: the read whose value nothing but op uses, or the write of what nothing else uses, of the same bytes in
    /// every instance. That its instances may be reordered where this is so, and their bytes are the same, is said by [`crate::update`].
    pub update: Option<Update>,
    pub line: Line,
}
impl Access {
    pub fn is_write(&self) -> bool {
        self.kind != AccessKind::Read
    }
    /// Some subscript may be anything.
    pub fn is_anywhere(&self) -> Result<bool, isl::IslError> {
        if self.exact || self.offset.is_some() {
            return Ok(false);
        }
        for subscript in 0..self.relation.dim(isl::DimType::Out)? {
            if !self.relation.involves_dims(isl::DimType::Out, subscript, 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
    /// The offset, if it is one polynomial for all instances.
    pub fn one_offset(&self) -> Result<Option<Polynomial>, isl::IslError> {
        let one = |offset: &PiecewisePolynomial| match offset.pieces.as_slice() {
            [(_, offset)] => Some(offset.clone()),
            _ => None,
        };
        Ok(match &self.offset {
            Some(Offset::Polynomial(offset)) => one(offset),
            Some(Offset::Affine(function)) => PiecewisePolynomial::from_pw_aff(function)?.as_ref().and_then(one),
            None => None,
        })
    }
    /// It finds in memory what was a scalar in the source.
    pub fn was_scalar(&self) -> bool {
        self.kind == AccessKind::Read && matches!(self.role, Role::Reload(_) | Role::ReadScalar(_))
    }
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub line: Line,
    /// `{ S[i0, …, in-1] }` intersected with the context.
    pub domain: isl::Set,
    /// In execution order inside the statement; all reads of an instance are taken to happen before its writes.
    pub accesses: Vec<Access>,
    /// How many floating point products and quotients an instance computes: the estimate asks.
    pub operations: usize,
    /// Contains control flow that is not modelled.
    pub boxed: bool,
    /// Source names of the loops around it, outermost first (`i`, `j`), for display.
    pub loop_names: Vec<String>,
    /// A call in it may write errno or may give something else in another thread: never run in a worker thread.
    pub bound_to_thread: bool,
    /// An instance does nothing unless all of these hold, outermost first.
    pub predicates: Vec<Predicate>,
}
impl Statement {
    /// Every instance does all of its accesses, whatever the data.
    pub fn is_certain(&self) -> bool {
        !self.boxed && self.predicates.is_empty()
    }
}

/// A condition on data: the value, which the statement reads, must be true, or false.
///
/// Instances in which it does not hold are modelled, though they do nothing. Their writes to memory are [`AccessKind::MayWrite`]; what
/// passes through scalars from one statement to another under the same predicate is written for certain, since nobody else reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    pub condition: ValueId,
    pub truth: bool,
    /// The first so many counters of the statement are those of the loops around the condition.
    pub depth: usize,
}

/// A value in memory that the region reads and that is taken not to change while it runs.
#[derive(Clone, Debug)]
pub struct Invariant {
    pub name: String,
    pub line: Line,
    /// The values of the region that are the same as the load that it is found by.
    pub same: Vec<ValueId>,
    /// Where the region reads it, so that nobody may write there; nothing if that is before all writes.
    pub cell: Option<Cell>,
    /// How the check gets hold of it; nothing where the program knows it before.
    pub preload: Option<Preload>,
}

/// One place in an array.
#[derive(Clone, Debug)]
pub struct Cell {
    pub array: ArrayId,
    /// `{ [] : … }`: the parameters for which the region reads it.
    pub domain: isl::Set,
    /// `{ [] -> A[e…] }`
    pub relation: isl::Map,
    /// Bytes from the array's base at which it begins; and how many there are.
    pub offset: isl::PwAff,
    pub bytes: u64,
}

/// A load before the region.
#[derive(Clone, Debug)]
pub struct Preload {
    /// The parameters for which it is certain that the cell may be read. For others the value does not matter.
    pub when: isl::Set,
    /// So many of the region's assumptions must hold before.
    pub after: usize,
    /// What is known with it.
    pub params: Vec<ParamId>,
    /// Arrays whose base is known with it.
    pub arrays: Vec<ArrayId>,
}

/// One region, modelled.
#[derive(Clone)]
pub struct Scop {
    pub ctx: isl::Ctx,
    pub params: Vec<Param>,
    /// What is known statically of the parameters: `{ : … }` over all params, their type ranges included.
    pub context: isl::Set,
    pub arrays: IndexMap<ArrayId, Array>,
    pub statements: IndexMap<StatementId, Statement>,
    /// The original order as a schedule tree: a domain, a band of one member per loop, sequences.
    pub schedule: isl::Schedule,
    /// Pairs of memory arrays (first < second) that may overlap as far as the compiler knows; the check must separate them
    /// wherever one of the two is written. The model treats them as disjoint.
    pub may_alias: Vec<(ArrayId, ArrayId)>,
    pub assumptions: Assumptions,
    /// By the load that stands for all of its values, in an order in which they can be loaded.
    pub invariants: IndexMap<ValueId, Invariant>,
    /// First and last source line.
    pub lines: (Line, Line),
}
impl Scop {
    /// What is known and assumed of the parameters, that subscripts stay inside of the shapes of their arrays included.
    pub fn given(&self) -> Result<isl::Set, isl::IslError> {
        let conditions = self.arrays.values().filter_map(|array| array.condition.as_ref());
        let valid = self.assumptions.valid(&self.context, |_, _| true)?;
        conditions.cloned().chain([valid]).try_fold(self.context.clone(), |given, also| given.intersect(&also))
    }
    /// Every loop is a dimension of a domain and every access is exact.
    pub fn is_modelled(&self) -> bool {
        self.statements.values().all(|s| !s.boxed && s.accesses.iter().all(|a| a.exact))
    }
}
