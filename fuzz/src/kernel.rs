//! A kernel as a tree: what the generator makes, the reducer cuts and the printer writes.

/// C types of counters and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    Int,
    Unsigned,
    Long,
    Size,
    Short,
    UChar,
}

impl Int {
    pub fn name(self) -> &'static str {
        match self {
            Int::Int => "int",
            Int::Unsigned => "unsigned",
            Int::Long => "long",
            Int::Size => "size_t",
            Int::Short => "short",
            Int::UChar => "unsigned char",
        }
    }

    /// The type of its values in arithmetic.
    pub fn promoted(self) -> Int {
        match self {
            Int::Short | Int::UChar => Int::Int,
            other => other,
        }
    }

    pub fn is_unsigned(self) -> bool {
        matches!(self, Int::Unsigned | Int::Size | Int::UChar)
    }

    pub fn is_wide(self) -> bool {
        matches!(self, Int::Long | Int::Size)
    }

    /// The numbers a counter of this type may take, one stride beyond its last value included.
    pub fn room(self) -> (i64, i64) {
        match self {
            Int::UChar => (0, 255),
            Int::Short => (-32768, 32767),
            Int::Unsigned | Int::Size => (0, 1 << 30),
            Int::Int | Int::Long => (-(1 << 30), 1 << 30),
        }
    }
}

/// Element types of arrays and scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    Double,
    Float,
    Int,
    Short,
    UChar,
    Long,
}

impl Elem {
    pub const ALL: [Elem; 6] = [Elem::Double, Elem::Float, Elem::Int, Elem::Short, Elem::UChar, Elem::Long];

    pub fn name(self) -> &'static str {
        match self {
            Elem::Double => "double",
            Elem::Float => "float",
            Elem::Int => "int",
            Elem::Short => "short",
            Elem::UChar => "unsigned char",
            Elem::Long => "long",
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Elem::Double | Elem::Float)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(pub usize);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub usize);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScalarId(pub usize);

/// How the value of a variable comes into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Counter,
    Argument,
    /// Read through a pointer wherever it is used; nothing ever changes it, but the compiler does not know.
    Pointee,
    /// A global variable, likewise.
    Global,
}

#[derive(Clone, Debug)]
pub struct Var {
    pub ty: Int,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Factor {
    Var(VarId),
    /// An element of a table, somewhere in `0 ..= limit`.
    Lookup(TableId, Box<Poly>),
}

/// constant + Σ coefficient · Π factors, over ℤ. An unsigned variable stands for its value modulo 2^width, taken
/// negative where the argument set says so: what is printed computes the same number modulo that width.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Poly {
    pub constant: i64,
    pub terms: Vec<(i64, Vec<Factor>)>,
}

impl Poly {
    pub fn number(constant: i64) -> Poly {
        Poly { constant, terms: Vec::new() }
    }

    pub fn var(var: VarId) -> Poly {
        Poly { constant: 0, terms: vec![(1, vec![Factor::Var(var)])] }
    }

    pub fn plus(mut self, constant: i64) -> Poly {
        self.constant += constant;
        self
    }

    pub fn sum(mut self, other: &Poly) -> Poly {
        self.constant += other.constant;
        self.terms.extend(other.terms.iter().cloned());
        self
    }

    pub fn product(&self, other: &Poly) -> Poly {
        let whole = |p: &Poly| -> Vec<(i64, Vec<Factor>)> {
            p.terms.iter().cloned().chain((p.constant != 0).then(|| (p.constant, Vec::new()))).collect()
        };
        let mut product = Poly::default();
        for (a, left) in whole(self) {
            for (b, right) in whole(other) {
                match [left.clone(), right].concat() {
                    none if none.is_empty() => product.constant += a * b,
                    factors => product.terms.push((a * b, factors)),
                }
            }
        }
        product
    }

    /// The variables outside of lookups.
    pub fn vars(&self) -> impl Iterator<Item = VarId> {
        self.terms.iter().flat_map(|t| &t.1).filter_map(|f| match f {
            Factor::Var(v) => Some(*v),
            Factor::Lookup(..) => None,
        })
    }

    /// `k` where this is `var + k`.
    pub fn distance_from(&self, var: VarId) -> Option<i64> {
        (self.terms == Poly::var(var).terms).then_some(self.constant)
    }

    pub fn scale(mut self, by: i64) -> Poly {
        self.constant *= by;
        self.terms.iter_mut().for_each(|t| t.0 *= by);
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    One(Poly),
    Min(Poly, Poly),
    Max(Poly, Poly),
}

impl Bound {
    pub fn plus(&self, by: i64) -> Bound {
        match self {
            Bound::One(a) => Bound::One(a.clone().plus(by)),
            Bound::Min(a, b) => Bound::Min(a.clone().plus(by), b.clone().plus(by)),
            Bound::Max(a, b) => Bound::Max(a.clone().plus(by), b.clone().plus(by)),
        }
    }

    pub fn polys(&self) -> Vec<&Poly> {
        match self {
            Bound::One(a) => vec![a],
            Bound::Min(a, b) | Bound::Max(a, b) => vec![a, b],
        }
    }
}

/// How a loop over `low .. high` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `for (i = low; i < high; i += stride)`
    Less,
    /// `for (i = low; i <= high - 1; i += stride)`
    AtMost,
    /// `for (i = low; i != high; i++)`; needs low ≤ high
    Differs,
    /// `i = low; while (i < high) { …; i += stride; }`
    While,
    /// `i = low; do … while ((i += stride) < high);` runs once more than the others when the range is empty
    Do,
    /// `for (i = high - 1; i >= low; i -= stride)`
    Down,
    /// `for (i = high; i-- > low;)`
    Decrement,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub counter: VarId,
    pub form: Form,
    pub low: Bound,
    pub high: Bound,
    pub stride: i64,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rel {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Rel {
    pub fn sign(self) -> &'static str {
        match self {
            Rel::Lt => "<",
            Rel::Le => "<=",
            Rel::Gt => ">",
            Rel::Ge => ">=",
            Rel::Eq => "==",
            Rel::Ne => "!=",
        }
    }

    pub fn holds(self, a: i128, b: i128) -> bool {
        match self {
            Rel::Lt => a < b,
            Rel::Le => a <= b,
            Rel::Gt => a > b,
            Rel::Ge => a >= b,
            Rel::Eq => a == b,
            Rel::Ne => a != b,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    Compare(Poly, Rel, Poly),
    /// `poly % modulus rel rest`
    Remainder(Poly, i64, Rel, i64),
    /// `low <= var && var < high`; accesses under it count on it.
    Guard(VarId, i64, i64),
    Data(Place, Rel, i64),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    Not(Box<Cond>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Cell(ArrayId, Vec<Poly>),
    Scalar(ScalarId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    /// By a divisor that cannot be zero: `y | 1`, or `fabs(y) + 1.0`.
    Div,
    /// `y != 0 ? x / y : 1`: the division must not be executed where the condition does not hold.
    Quotient,
}

/// A value in the arithmetic of the type it is stored to: floating point, or unsigned integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Read(Place),
    /// An integer, or eighths of it in floating point.
    Number(i64),
    Index(Poly),
    Binary(Op, Box<Value>, Box<Value>),
    Abs(Box<Value>),
    /// `sqrt(fabs(x) + 1)`; in integers `x >> 1`.
    Root(Box<Value>),
    /// Divided by a number that is not zero wherever control gets here, and may be elsewhere.
    Over(Box<Value>, Poly),
    Pick(Box<Cond>, Box<Value>, Box<Value>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Set,
    Add,
    Sub,
    Mul,
    Xor,
    Or,
    /// `if (v < x) x = v;`
    MinIf,
    /// `x = x > v ? x : v;`
    MaxPick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    Break,
    Continue,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    Loop(Loop),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `switch ((unsigned)poly % arms) { … }`
    Switch(Poly, Vec<Vec<Stmt>>),
    Assign(Place, Update, Value),
    /// A declaration with its first value, in scope for the rest of the block.
    Scalar(ScalarId, Value),
    /// `memset` of `count` elements, if positive.
    Fill(ArrayId, Vec<Poly>, Poly, u8),
    /// `memmove` (or `memcpy` where nothing overlaps) of `count` elements.
    Move {
        to: (ArrayId, Vec<Poly>),
        from: (ArrayId, Vec<Poly>),
        count: Poly,
    },
    /// An inlined function with `restrict` parameters on two different cells of one array, `distance` apart.
    Nudge(ArrayId, Vec<Poly>, i64),
    Leave(Cond, Leave),
}

/// How an array comes into the kernel and how its cells are addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `static T A[N][M]`
    Global,
    /// `T (*A)[M]`
    Rows,
    /// `T **A`, in two dimensions or more: rows behind pointers, in any order, some of them shared or one cell into each other.
    Pointers,
    /// `T *A`, `A[(i) * 40 + j]`: one leading dimension less than dimensions; rows may run into each other.
    Flat(Vec<i64>),
    /// The same with parameters: `A[(i) * (n + 1) + j]`.
    FlatBy(Vec<Poly>),
    /// The same in two dimensions, but where a loop goes along the rows a pointer goes with it: `w[j]`, and `w += n` in the loop.
    Walked(Poly),
    /// `T A[][n + 1][m]`: one size less than dimensions, all positive; no row may run into the next.
    Vla(Vec<Poly>),
    /// `(A + offset)[i]`
    Shifted(VarId),
}

#[derive(Clone, Debug)]
pub struct Array {
    pub elem: Elem,
    pub dims: usize,
    pub shape: Shape,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub limit: i64,
}

/// Where an array of an argument set lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    Apart,
    /// At the place of an earlier array plus some elements.
    Near(ArrayId, i64),
    /// Its first cell follows the last of an earlier array.
    Behind(ArrayId),
    /// Somewhere in a global array of the kernel, where it fits.
    Within(ArrayId, u64),
}

#[derive(Clone, Debug)]
pub struct ArgumentSet {
    /// One value per parameter; parameters are the first variables.
    pub values: Vec<i64>,
    pub placement: Vec<Placement>,
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub index: usize,
    pub vars: Vec<Var>,
    /// The first this many variables are parameters, the others counters.
    pub parameters: usize,
    pub arrays: Vec<Array>,
    pub tables: Vec<Table>,
    pub scalars: Vec<Elem>,
    pub body: Vec<Stmt>,
    pub result: Option<ScalarId>,
    pub sets: Vec<ArgumentSet>,
    /// Pointers are `restrict`: no argument set overlaps.
    pub restrict: bool,
}

impl Kernel {
    pub fn overlaps(&self) -> bool {
        self.sets.iter().any(|s| s.placement.iter().any(|p| *p != Placement::Apart))
    }
}
