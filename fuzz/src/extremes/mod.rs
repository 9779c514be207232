//! Extreme arguments: kernels called with the smallest and largest numbers their parameters can hold, and with arrays that touch,
//! overlap, or lie on the bounds of the loops that write them.
//!
//! Intervals cannot judge such kernels: which of them are valid depends on wrapping, on single values, and on what was stored just
//! before. So every argument set is *executed* ([`interpret`]), with C's own arithmetic and with memory in bytes; a set with
//! undefined behaviour, or one that takes long, is not used. All memory lies in one block, so that pointers may go from one
//! array into the next.

pub mod cut;
pub mod draw;
pub mod interpret;
pub mod print;

pub use crate::kernel::Rel;

/// An integer type of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    pub bits: u32,
    pub signed: bool,
}

impl Ty {
    pub const SCHAR: Ty = Ty { bits: 8, signed: true };
    pub const UCHAR: Ty = Ty { bits: 8, signed: false };
    pub const SHORT: Ty = Ty { bits: 16, signed: true };
    pub const USHORT: Ty = Ty { bits: 16, signed: false };
    pub const INT: Ty = Ty { bits: 32, signed: true };
    pub const UNSIGNED: Ty = Ty { bits: 32, signed: false };
    pub const LONG: Ty = Ty { bits: 64, signed: true };
    pub const SIZE: Ty = Ty { bits: 64, signed: false };

    pub fn name(self) -> &'static str {
        match (self.bits, self.signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned",
            (_, true) => "long",
            (_, false) => "unsigned long",
        }
    }

    pub fn least(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    pub fn greatest(self) -> i128 {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }

    pub fn holds(self, value: i128) -> bool {
        self.least() <= value && value <= self.greatest()
    }

    /// The value converted to this type.
    pub fn wrap(self, value: i128) -> i128 {
        let rest = value.rem_euclid(1 << self.bits);
        if self.holds(rest) { rest } else { rest - (1 << self.bits) }
    }

    pub fn promoted(self) -> Ty {
        if self.bits < 32 { Ty::INT } else { self }
    }

    /// The usual arithmetic conversions.
    pub fn common(self, other: Ty) -> Ty {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits.cmp(&b.bits) {
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Equal => Ty { bits: a.bits, signed: a.signed && b.signed },
        }
    }

    /// The unsigned type in which values for cells of this type are computed.
    pub fn arithmetic(self) -> Ty {
        Ty { bits: self.bits.max(32), signed: false }
    }
}

/// What a cell contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    Double,
    Float,
    Int(Ty),
}

impl Elem {
    pub fn bytes(self) -> i64 {
        match self {
            Elem::Double => 8,
            Elem::Float => 4,
            Elem::Int(ty) => i64::from(ty.bits / 8),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Elem::Double => "double",
            Elem::Float => "float",
            Elem::Int(ty) => ty.name(),
        }
    }

    /// May one cell be accessed as both? A signed type and its unsigned sibling may lie on each other.
    pub fn is_compatible(self, other: Elem) -> bool {
        match (self, other) {
            (Elem::Int(a), Elem::Int(b)) => a.bits == b.bits,
            _ => self == other,
        }
    }
}

/// Where the value of a parameter comes from, each time it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Argument,
    /// `*n1`
    Pointee,
    /// `r->n1`
    Member,
    /// `g7[1]`, an element of a global array.
    Table,
}

#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub ty: Ty,
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug)]
pub struct Array {
    pub elem: Elem,
    /// The pointer is a member of the record: `r->a0[…]`.
    pub member: bool,
    /// `T (*a)[row]`
    pub row: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Shr,
}

impl Op {
    pub fn sign(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Rem => "%",
            Op::And => "&",
            Op::Shr => ">>",
        }
    }
}

/// An integer expression that means what C says it means.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// Of type `int`, or `long` if it needs it.
    Number(i64),
    Param(usize),
    Counter(usize),
    Cell(Box<Place>),
    Cast(Ty, Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `a < b ? a : b`
    Least(Box<Expr>, Box<Expr>),
}

impl Expr {
    pub fn binary(self, op: Op, other: Expr) -> Expr {
        Expr::Binary(op, Box::new(self), Box::new(other))
    }

    pub fn plus(self, number: i64) -> Expr {
        match number {
            0 => self,
            n if n < 0 => self.binary(Op::Sub, Expr::Number(-n)),
            n => self.binary(Op::Add, Expr::Number(n)),
        }
    }

    pub fn cast(self, ty: Ty) -> Expr {
        Expr::Cast(ty, Box::new(self))
    }
}

/// One subscript, or two where the array has rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub array: usize,
    pub row: Option<Expr>,
    pub at: Expr,
}

/// A part of a value: some of what is in a cell, or a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    Read(Place, i64),
    Index(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cond {
    pub left: Expr,
    pub rel: Rel,
    pub right: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `for (T i = start; i rel end; i += step)`
    For,
    /// `T i = start; do … while ((i += step) rel end);`
    Do,
    /// `for (T i = start; i-- rel end;)`
    CountDown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub counter: usize,
    pub form: Form,
    pub start: Expr,
    pub rel: Rel,
    pub end: Expr,
    pub step: i64,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    Loop(Loop),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `a = terms`, or `a += terms`
    Assign(Place, bool, Vec<Term>),
    /// `s += terms`
    Sum(Vec<Term>),
    /// `a = s`
    Keep(Place),
}

/// A block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// The one in which everything else lies.
    Arena,
    /// The kernel's global array of bounds.
    Table,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub object: Object,
    pub byte: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// By parameter.
    pub values: Vec<i128>,
    /// By parameter: where it lies, if it is a pointee.
    pub pointees: Vec<i64>,
    pub record: i64,
    /// By array.
    pub arrays: Vec<Spot>,
}

/// Cells of one type in the arena.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub elem: Elem,
    pub start: i64,
    pub cells: i64,
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub index: usize,
    pub params: Vec<Param>,
    pub arrays: Vec<Array>,
    pub counters: Vec<Ty>,
    /// The type of the global array's elements.
    pub table: Ty,
    /// What is summed up in a local variable and returned.
    pub sum: Option<Elem>,
    pub body: Vec<Stmt>,
    pub segments: Vec<Segment>,
    pub arena: i64,
    pub sets: Vec<Set>,
}

/// A member of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    Param(usize),
    Array(usize),
}

impl Kernel {
    /// The members of the record with their offsets, as every compiler for this machine lays them out.
    pub fn record(&self) -> Vec<(Member, i64)> {
        let params = self.params.iter().enumerate().filter(|(_, p)| p.origin == Origin::Member);
        let params = params.map(|(k, p)| (Member::Param(k), i64::from(p.ty.bits / 8)));
        let arrays = self.arrays.iter().enumerate().filter(|(_, a)| a.member).map(|(k, _)| (Member::Array(k), 8));
        let mut end = 0;
        let mut members = Vec::new();
        // Pointers among numbers, as people write them.
        for (member, bytes) in arrays.chain(params) {
            let start = (end + bytes - 1) / bytes * bytes;
            members.push((member, start));
            end = start + bytes;
        }
        members
    }

    pub fn table_size(&self) -> i64 {
        self.params.len() as i64
    }

    pub fn is_valid(&self) -> bool {
        !self.sets.is_empty() && self.sets.iter().all(|set| interpret::run(self, set).is_ok())
    }
}
