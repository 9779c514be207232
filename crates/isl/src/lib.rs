//! Safe, budgeted access to isl, the integer set library: exact arithmetic on sets and relations of integer tuples bounded by
//! affine constraints, schedules, dataflow and loop generation. No other crate of the workspace names isl's C functions.
//!
//! **Naming.** The C function `isl_T_foo(T, …)` is the method `T::foo(&self, …) -> Result<…>`; what takes no `T` first is an
//! associated function. isl's manual is the reference for what each one means; comments here say what the manual does not, and
//! which answers are approximations. What nobody calls is not here: a function is a line in `raw` and one in a table.
//!
//! **Ownership.** Arguments are borrowed; objects are immutable and reference-counted, so cloning is cheap and every operation
//! makes a new object. Where C takes a reference, it gets one of its own.
//!
//! **Errors.** isl's third truth value, NULL and -1 are [`IslError`]. A context never aborts the process.
//!
//! **Safety.** `raw` states in types who owns what; the tables of signatures are checked against it by the compiler. What isl
//! relies on without checking is a `require` beside the signature, found by calling every function with odd arguments, which
//! the tests go on doing. They are meant to be run under valgrind too, which finds no leak but two of isl's own where a budget
//! ends inside of it:
//!
//! ```text
//! CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --leak-check=full --error-exitcode=9 \
//!     --errors-for-leak-kinds=definite --suppressions=tests/valgrind.supp" cargo test -p isl --tests
//! ```
//!
//! **Budgets.** [`Ctx::within`] bounds the work of a closure, in operations rather than in time; arithmetic on large numbers uses
//! up more of them than on small ones.
//!
//! ```
//! use isl::{Budget, Ctx, IslError, Set};
//! # fn main() -> Result<(), IslError> {
//! let ctx = Ctx::new();
//! let triangle = Set::read_from_str(&ctx, "[n] -> { S[i, j] : 0 <= j <= i < n }")?;
//! let column = ctx.within(Budget::new("column", 1000), || triangle.fix_si(isl::DimType::Set, 1, 2))?;
//! assert_eq!(column.to_string(), "[n] -> { S[i, j = 2] : 2 <= i < n }");
//! # Ok(())
//! # }
//! ```

mod aff;
#[cfg(isl_calls_us)]
mod allocate;
mod ast;
mod ast_build;
mod basic_map;
mod basic_set;
mod budget;
mod callback;
mod ctx;
mod dim;
mod error;
#[cfg(test)]
mod exercise;
mod fixed_box;
mod flow;
mod id;
#[cfg(isl_calls_us)]
mod inside;
mod large;
mod map;
mod multi_aff;
mod object;
mod point;
#[cfg(all(test, isl_calls_us))]
mod random;
mod raw;
#[cfg(isl_calls_us)]
mod sample;
mod schedule;
mod schedule_node;
mod set;
#[cfg(isl_calls_us)]
mod small;
mod space;
mod union_aff;
mod union_map;
mod union_set;
mod val;

pub use aff::{Aff, PwAff};
pub use ast::{AstExpr, AstExprOpType, AstExprType, AstNode, AstNodeType};
pub use ast_build::AstBuild;
pub use basic_map::BasicMap;
pub use basic_set::BasicSet;
pub use budget::{Budget, STEPS_OF_A_SECOND, Spent, spent};
pub use ctx::{Ctx, ScheduleAlgorithm};
pub use dim::DimType;
pub use error::{IslError, Result};
pub use fixed_box::FixedBox;
pub use flow::{UnionAccessInfo, UnionFlow};
pub use id::Id;
pub use map::Map;
pub use multi_aff::{MultiAff, PwMultiAff};
pub use point::{Constraint, Point};
pub use schedule::{Schedule, ScheduleConstraints};
pub use schedule_node::{AstLoopType, ScheduleNode, ScheduleNodeType};
pub use set::Set;
pub use space::{LocalSpace, Space};
pub use union_aff::{MultiUnionPwAff, UnionPwAff, UnionPwMultiAff};
pub use union_map::UnionMap;
pub use union_set::UnionSet;
pub use val::{MultiVal, Val};
