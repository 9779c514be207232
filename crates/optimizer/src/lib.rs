//! The pipeline over a module, and the report on it.

pub use report;
