//! Generated loop nests: C programs that are valid by construction, run as the plain compiler makes them and as the
//! optimizer makes them, and compared byte for byte.
//!
//! ```text
//! generate   seed → kernel: loops or scalars, statements, argument sets        (uses range: nothing is thrown away)
//! range      kernel → intervals of all counters and subscripts → array sizes   (the only judge of their validity)
//! extremes   seed → kernel whose calls were executed to know that they are valid
//! odd        seed → kernel that goes to bytes and has effects: its control and addresses were executed
//! print      kernel → C
//! run        C → programs → hashes, counters
//! reduce     failing kernel → smaller failing kernel
//! campaign   many of them
//! mutants    many of them against an optimizer with a fault
//! ```

pub mod campaign;
pub mod case;
pub mod extremes;
pub mod generate;
pub mod kernel;
pub mod mutants;
pub mod odd;
pub mod print;
pub mod range;
pub mod reduce;
pub mod rng;
pub mod run;
