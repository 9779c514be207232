//! Odd kernels: what loops do to bytes, and what they do besides.
//!
//! Two families share this model. [`bytes`] goes to memory in every width, at every offset and through every door that C leaves open
//! (`memcpy`, unions, `may_alias`, types of other alignment), updates the same bytes with all operators, and uses one memory as two
//! types. [`effects`] calls functions that set `errno`, leaves loops early, promises, casts, and computes what is only defined
//! behind a guard.
//!
//! What a kernel *does* depends on its arguments alone, never on data: control and addresses are executed beforehand
//! ([`interpret`]). That tells the size of each block of memory and that everything is defined: alignments, shifts, divisions,
//! promises, and the type of what is read. Data cannot do harm: integers are computed in unsigned types, and what is converted from
//! floating point is brought into range before.

pub mod bytes;
pub mod cut;
pub mod draw;
pub mod effects;
pub mod interpret;
pub mod print;

pub use crate::kernel::Rel;

/// A type of C, by the name it has in `prelude.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ty {
    Int {
        bits: u32,
        signed: bool,
    },
    Bool,
    Half,
    Float,
    Double,
    /// Of 80 bits, in 16 bytes.
    Long,
    /// Of `float`.
    Complex,
    /// Unsigned lanes of so many bits, in 16 bytes.
    Lanes(u32),
    /// Four of `float`.
    Floats,
    /// A structure of bit-fields: the type of elements, not of values.
    Fields,
}

pub const fn signed(bits: u32) -> Ty {
    Ty::Int { bits, signed: true }
}

pub const fn unsigned(bits: u32) -> Ty {
    Ty::Int { bits, signed: false }
}

impl Ty {
    pub fn name(self) -> String {
        match self {
            Ty::Int { bits, signed } => format!("{}{bits}", if signed { 's' } else { 'u' }),
            Ty::Bool => "b8".into(),
            Ty::Half => "f16".into(),
            Ty::Float => "f32".into(),
            Ty::Double => "f64".into(),
            Ty::Long => "f80".into(),
            Ty::Complex => "c32".into(),
            Ty::Lanes(bits) => format!("v{}u{bits}", 128 / bits),
            Ty::Floats => "v4f32".into(),
            Ty::Fields => "lw_fields".into(),
        }
    }

    pub fn bytes(self) -> i64 {
        match self {
            Ty::Int { bits, .. } => i64::from(bits / 8),
            Ty::Bool => 1,
            Ty::Half => 2,
            Ty::Float => 4,
            Ty::Double | Ty::Complex | Ty::Fields => 8,
            Ty::Long | Ty::Lanes(_) | Ty::Floats => 16,
        }
    }

    pub fn alignment(self) -> i64 {
        if self == Ty::Complex { 4 } else { self.bytes() }
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Ty::Int { .. } | Ty::Bool)
    }

    /// A real number that is not an integer.
    pub fn is_real(self) -> bool {
        matches!(self, Ty::Half | Ty::Float | Ty::Double | Ty::Long)
    }

    pub fn is_vector(self) -> bool {
        matches!(self, Ty::Lanes(_) | Ty::Floats)
    }

    /// What one of its parts is: itself, if it has none.
    pub fn part(self) -> Ty {
        match self {
            Ty::Lanes(bits) => unsigned(bits),
            Ty::Floats | Ty::Complex => Ty::Float,
            other => other,
        }
    }

    /// Any bytes are a value of it, and a value is all of its bytes.
    pub fn is_plain_bytes(self) -> bool {
        matches!(self, Ty::Int { .. } | Ty::Half | Ty::Float | Ty::Double | Ty::Lanes(_) | Ty::Fields)
    }

    /// May memory that was written as one be read as the other?
    pub fn is_compatible(self, other: Ty) -> bool {
        match (self, other) {
            (Ty::Int { bits: a, .. }, Ty::Int { bits: b, .. }) => a == b,
            (a, b) => a == b,
        }
    }

    /// The operators that its values have.
    pub fn operators(self) -> &'static [Op] {
        use Op::*;
        match self {
            Ty::Int { .. } => &[Add, Sub, Mul, And, Or, Xor, Min, Max],
            Ty::Bool => &[And, Or, Xor],
            Ty::Lanes(_) => &[Add, Sub, Mul, And, Or, Xor],
            Ty::Floats => &[Add, Sub, Mul],
            Ty::Complex | Ty::Fields => &[Add, Sub],
            _ => &[Add, Sub, Mul, Min, Max],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// What is undefined for some of its operands. In so many bits, signed unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    ShiftLeft,
    ShiftRight,
    Quotient,
    Remainder,
    /// Of the first operand; zero has none.
    TrailingZeros,
    LeadingZeros,
    /// The least number has none.
    Magnitude,
    /// Of a parameter that is a floating-point number.
    ToSigned,
    ToUnsigned,
}

/// An integer that depends on counters and parameters alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Number(i64),
    Counter(usize),
    Param(usize),
    Sum(Box<Expr>, Box<Expr>),
    Times(i64, Box<Expr>),
    Partial(Partial, u32, Box<Expr>, Box<Expr>),
}

impl Expr {
    pub fn and(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Number(0), e) | (e, Expr::Number(0)) => e,
            (a, b) => Expr::Sum(Box::new(a), Box::new(b)),
        }
    }

    pub fn plus(self, number: i64) -> Expr {
        self.and(Expr::Number(number))
    }

    pub fn times(self, factor: i64) -> Expr {
        match factor {
            0 => Expr::Number(0),
            1 => self,
            _ => Expr::Times(factor, Box::new(self)),
        }
    }

    pub fn partial(self, op: Partial, bits: u32, other: Expr) -> Expr {
        Expr::Partial(op, bits, Box::new(self), Box::new(other))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cond {
    pub left: Expr,
    pub rel: Rel,
    pub right: Expr,
}

/// The door through which memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As an element of its array.
    Plain,
    /// A type that may alias everything and lie anywhere.
    Unaligned,
    /// A type that may alias everything, aligned as usual.
    Alias,
    /// The same, aligned on 16 bytes: a promise.
    Over,
    /// `__builtin_assume_aligned(…, 16)`
    Assumed,
    /// `memcpy` of the whole value.
    Copy,
    /// `memcpy` of the first three bytes of an integer of four.
    Three,
    /// A member of a packed union.
    Pun,
    /// A bit-field of that number.
    Field(usize),
}

/// Bytes of a block. Of elements where the access is plain, of bytes otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub pointer: usize,
    pub ty: Ty,
    pub how: How,
    pub row: Option<Expr>,
    pub at: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Math {
    Log,
    Exp,
    Root,
    Power,
    Arcus,
    Modulo,
    LogFloat,
    RootFloat,
}

/// A value of whatever type is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(i64),
    Index(Expr),
    Read(Place),
    Local(usize),
    Binary(Op, Box<Value>, Box<Value>),
    /// Computed in this type.
    As(Ty, Box<Value>),
    /// Computed in the first type; its bytes are then taken for the second, of the same size.
    Bits(Ty, Ty, Box<Value>),
    Pick(Box<Cond>, Box<Value>, Box<Value>),
    Call(Math, Box<Value>),
    Errno,
}

impl Value {
    pub fn binary(self, op: Op, other: Value) -> Value {
        Value::Binary(op, Box::new(self), Box::new(other))
    }

    pub fn cast(self, ty: Ty) -> Value {
        Value::As(ty, Box::new(self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `for (i = low; i < high; i += step)`
    Up,
    /// `for (i = high - 1; i >= low; i -= step)`
    Down,
    /// `i = low; do … while ((i += step) < high);`, where low is below high.
    Do,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub counter: usize,
    pub form: Form,
    pub low: Expr,
    pub high: Expr,
    pub step: i64,
    pub body: Vec<Stmt>,
}

/// A way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A function that does not return, told this number.
    Handler(i64),
    Return,
    Break,
    Continue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    Assume,
    Unreachable,
}

/// Something beside the arrays that others can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    Volatile,
    Atomic,
    ThreadLocal,
    Fence,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    Loop(Loop),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// By the remainder of the expression; the second kind jumps to addresses of labels.
    Switch(Expr, Vec<Vec<Stmt>>, bool),
    Store(Place, Value),
    /// `place = place op value`
    Update(Place, Op, Value),
    /// `x0 = value`
    Set(usize, Value),
    /// `x0 = x0 op value`
    Fold(usize, Op, Value),
    Leave(Cond, Exit),
    Promise(Cond, Promise),
    SetErrno(Value),
    Touch(Neighbour),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// An integer of 32 or 64 bits, or `double`.
    pub ty: Ty,
    /// The caller passes constants, one for each argument set, which the compiler can see.
    pub known: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Argument,
    Global,
    ThreadLocal,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer {
    pub elem: Ty,
    /// `T (*p)[row]`; floating-point numbers in such arrays are accessed as elements alone.
    pub row: Option<i64>,
    pub restrict: bool,
    pub place: Where,
}

/// Memory of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Block {
    /// Starts with values of this type, and is compared as such.
    Filled(Ty),
    /// Of `double`: where mathematical functions have a value, and where they have none.
    Arguments,
    /// Global arrays are blocks of their own.
    Global(usize),
    Errno,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// By parameter.
    pub values: Vec<i64>,
    /// By pointer: a block and the byte in it.
    pub at: Vec<(usize, i64)>,
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub index: usize,
    pub family: &'static str,
    pub params: Vec<Param>,
    pub pointers: Vec<Pointer>,
    pub blocks: Vec<Block>,
    /// The types of the local variables.
    pub locals: Vec<Ty>,
    pub counters: usize,
    /// Of counters.
    pub counter: Ty,
    /// Returned at the end.
    pub result: Option<usize>,
    /// `#pragma clang fp reassociate(on)`
    pub reassociate: bool,
    pub body: Vec<Stmt>,
    pub sets: Vec<Set>,
}

impl Kernel {
    pub fn is_valid(&self) -> bool {
        !self.sets.is_empty() && interpret::extents(self).is_ok()
    }

    pub fn mentions_errno(&self) -> bool {
        fn value_does(value: &Value) -> bool {
            match value {
                Value::Call(..) | Value::Errno => true,
                Value::Binary(_, a, b) | Value::Pick(_, a, b) => value_does(a) || value_does(b),
                Value::As(_, a) | Value::Bits(_, _, a) => value_does(a),
                Value::Number(_) | Value::Index(_) | Value::Read(_) | Value::Local(_) => false,
            }
        }
        fn block_does(stmts: &[Stmt]) -> bool {
            stmts.iter().any(|stmt| match stmt {
                Stmt::Loop(l) => block_does(&l.body),
                Stmt::If(_, a, b) => block_does(a) || block_does(b),
                Stmt::Switch(_, arms, _) => arms.iter().any(|arm| block_does(arm)),
                Stmt::Store(_, v) | Stmt::Update(_, _, v) | Stmt::Set(_, v) | Stmt::Fold(_, _, v) => value_does(v),
                Stmt::SetErrno(_) => true,
                Stmt::Leave(..) | Stmt::Promise(..) | Stmt::Touch(_) => false,
            })
        }
        self.blocks.contains(&Block::Errno) || block_does(&self.body)
    }
}

impl Place {
    /// How many bytes it is.
    pub fn bytes(&self) -> i64 {
        match self.how {
            How::Three => 3,
            How::Field(_) => Ty::Fields.bytes(),
            _ => self.ty.bytes(),
        }
    }

    /// In units of so many bytes its subscripts count.
    pub fn unit(&self, pointer: &Pointer) -> i64 {
        match self.how {
            How::Plain | How::Field(_) => pointer.elem.bytes(),
            _ => 1,
        }
    }

    pub fn alignment(&self) -> i64 {
        match self.how {
            How::Plain | How::Alias => self.ty.alignment(),
            How::Field(_) => Ty::Fields.alignment(),
            How::Over | How::Assumed => 16,
            How::Unaligned | How::Copy | How::Three | How::Pun => 1,
        }
    }
}
