//! Why a loop is left alone: data, not failure. Two voices: `message` for compiler engineers, `advice` for the loop's author.

use crate::source::Line;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    pub line: Line,
    /// What was found, with the names of the source: "the call to `printf`".
    pub subject: String,
}

/// The name of the budget that all loops of a file share.
pub const THIS_FILE: &str = "this file";
/// And of the one that a loop has because little can be gained there.
pub const SMALL_GAIN: &str = "so small a gain";

macro_rules! refusals {
    ($( $(#[$doc:meta])* $kind:ident => $message:literal, $advice:literal; )*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum RefusalKind { $( $(#[$doc])* $kind, )* }
        impl RefusalKind {
            pub fn name(self) -> &'static str { match self { $(RefusalKind::$kind => stringify!($kind),)* } }
            fn template(self) -> &'static str { match self { $(RefusalKind::$kind => $message,)* } }
            pub fn advice(self) -> &'static str { match self { $(RefusalKind::$kind => $advice,)* } }
        }
    };
}

refusals! {
    // functions
    FunctionAttribute => "the function is {}", "remove the attribute if this loop matters";
    AddressWidth => "the function is compiled for addresses of {} bits", "compile for a machine with addresses of 64 bits if this loop matters";
    AddressOfLabel => "the address of a label in {} is taken, and a copy of its code would be somewhere else", "move the loop into a function of its own, or use `switch` instead of a computed `goto`";
    // loops
    UnknownTripCount => "how often this loop runs cannot be computed: {}", "count with an integer that the loop changes by a constant, and compare it with a bound that the loop does not change";
    LoopExits => "the loop is left in more than one way: {}", "move the `break` or `return` out of the loop, or test a flag in the loop condition";
    NonAffineBound => "the bound of this loop is not a sum of multiples of loop counters and unchanging integers: {}", "copy the bound into a local variable before the loops";
    MayWrap => "{} may wrap around", "use a signed type as wide as a pointer (`long`, `ptrdiff_t`) for counters and sizes";
    Irreducible => "control flow jumps into the middle of a loop: {}", "remove the `goto`";
    // statements
    Call => "the call to {} may do anything", "mark the function `static inline`, or move the call out of the loop";
    /// In none of the loops, but between them.
    CallOutside => "the call to {} between the loops may do anything", "mark the function `static inline`, or move the call before or behind the loops";
    Volatile => "{} is volatile, atomic or ordered", "copy it into an ordinary variable around the loop";
    UnsupportedInstruction => "{} cannot be modelled", "rewrite this part with plain arithmetic on arrays";
    NonAffineBranch => "a condition depends on data: {}", "use arithmetic or `?:` instead of `if` where both sides may be computed";
    ErrorBranch => "whether the check here fails depends on data: {}", "compare counters with unchanging sizes only, or check before the loops";
    UnknownBase => "the address of {} is read from memory inside the loop", "copy the pointer into a local variable before the loops";
    AddressSpace => "{} lives in another or a mixed address space", "use ordinary memory";
    NoShape => "the shape of the array {} was not found, so any of its elements may be meant", "write the subscript as `row * n + column` with 0 <= column < n, or pass the array as `a[][n]`";
    AliasUnchecked => "{} may overlap and the extents of their accesses are unknown", "declare the pointers `restrict`";
    // whole regions
    NeededBehind => "the loops behind this one need {} from inside of it, which only the original code computes", "copy it into a variable between the two";
    Contradiction => "what would have to be assumed is never true ({})", "look at the bounds and subscripts: whatever the input, one of them wraps around or leaves its array";
    Circular => "whether `{}` can be read before the loops depends on itself", "copy it into a local variable before the loops";
    Unassumed => "it would have to be assumed {}", "allow it with the option `assume`";
    /// Of the file, not of the loop.
    LeftOut => "the budget of {} was used up before it was known what to do here", "name the function with the option `function`, or move the loop into a file of its own";
    OutOfBudget => "the analysis gave up after its budget for {} was used up", "split the loop nest into smaller functions";
    NoProfit => "no faster order was found: {}", "nothing to do: the original loop is kept";
    TooSmall => "there is too little to do for a new order to pay: {}", "nothing to do: the original loop is kept";
    TooComplex => "too large to be worth it: {}", "split the loop nest into smaller functions";
    /// Said by those who check what was made, and believe nobody.
    Unsound => "what loopwright made of this is wrong, the original code was kept: {}", "please report this with the source file";
    InternalError => "loopwright failed here, the original code was kept: {}", "please report this with the source file";
    Metadata => "{} asks for the loop to be left as it is", "remove the pragma";
}

impl Refusal {
    pub fn new(kind: RefusalKind, line: Line, subject: impl Into<String>) -> Self {
        Refusal { kind, line, subject: subject.into() }
    }
    pub fn message(&self) -> String {
        self.kind.template().replacen("{}", &self.subject, 1)
    }
    pub fn advice(&self) -> &'static str {
        self.kind.advice()
    }
}
