//! In which order to run the instances.
mod cost;
mod linear;

/// What the estimate knows of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    pub vector_bits: u32,
    /// Bytes of the first and second level data caches of one core.
    pub l1: u64,
    pub l2: u64,
    pub cache_line: u64,
}

impl Default for Machine {
    fn default() -> Self {
        Machine { vector_bits: 256, l1: 32 << 10, l2: 512 << 10, cache_line: 64 }
    }
}
