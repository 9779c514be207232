//! The words that this crate and the shim share. Each is numbered here, once: the build gives the C++ the same (build.rs).

/// What the shim writes as a number: its place among `ALL`.
pub trait Numbered: Copy + 'static {
    const ALL: &'static [Self];
}

macro_rules! codes {
    ($($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $word:ident),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i64)]
        $vis enum $name { $($(#[$doc])* $word),* }
        impl Numbered for $name {
            const ALL: &'static [Self] = &[$(Self::$word),*];
        }
    )*};
}

codes! {
    pub enum IntOp { Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor }
    pub enum FloatOp { Add, Sub, Mul, Div, Rem }
    /// Every one has a name: two casts with one name do the same, given the types.
    pub enum CastOp {
        Trunc, ZExt, SExt, PtrToInt, IntToPtr, BitCast, FPToUI, FPToSI, UIToFP, SIToFP, FPTrunc, FPExt, AddrSpaceCast,
    }
    /// In LLVM's order.
    pub enum Predicate { Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle }
    pub enum MinMaxOp { SMin, SMax, UMin, UMax, FMin, FMax, FMinimum, FMaximum }
    pub enum IgnorableKind { Assume, Lifetime, Other }

    /// What mathematical functions say in errno.
    pub enum MathError {
        /// EDOM and nothing else: the argument is none that the function has a value for.
        Domain,
        /// ERANGE and nothing else: the value is too large or too small.
        Range,
        /// Now this, now that.
        Either,
    }

    /// How the types of two accesses relate.
    pub enum Types {
        Same,
        /// The accesses may touch the same bytes.
        Compatible,
        /// LLVM takes the accesses for apart.
        Apart,
    }

    // What stands next on a tape.
    pub enum TypeTag { Int, Pointer, ScalableVector, Plain, Other }
    pub enum KindTag { Argument, ConstantInt, Constant, Global, Instruction, ConstantGep, Other }
    pub enum OpTag {
        Int, Float, FNeg, Cast, ICmp, FCmp, Select, Freeze, Phi, Gep, Load, Store, Alloca, MemSet, MemCopy, MinMax, Ignorable,
        Call, Branch, Switch, Return, Unreachable, Other,
    }
    pub enum ScevTag { Constant, Unknown, Add, Mul, UDiv, MinMax, AddRec, SExt, ZExt, Trunc, PtrToInt, Other }

    pub enum RemarkKind {
        /// `-Rpass`: something was done.
        Done,
        /// `-Rpass-missed`: something was not.
        Missed,
        /// `-Rpass-analysis`: why.
        Analysis,
    }

    /// Why the pass runs.
    pub enum Occasion {
        /// At the start of a pipeline, on what the front end wrote.
        Early,
        /// Just before the vectorizer.
        Late,
        /// Named in `opt -passes=`.
        Named,
    }

    /// Functions of the C library that new code calls.
    pub enum Library {
        /// `void *malloc(int64)`
        Malloc,
        /// `void free(void *)`
        Free,
        /// `int *__errno_location(void)`
        ErrnoLocation,
    }
}
