//! The mathematics of loopwright: what a loop nest is, which instances depend on which, in which order they may run,
//! and what must hold at run time for all of it to be true. Nothing in this crate knows LLVM.

pub mod assume;
mod dataflow;
pub mod delicm;
pub mod delinearize;
pub mod dependence;
#[cfg(test)]
pub(crate) mod fixture;
mod inequalities;
mod known;
pub mod lmad;
pub mod loop_ast;
pub mod names;
pub mod plan;
pub mod polynomial;
mod quasi_affine;
pub mod refusal;
pub mod schedule;
pub mod scop;
pub mod source;
pub mod transform;
pub mod turns;
pub mod update;
pub mod verify;
mod zone;
