//! Time as isl's dataflow analysis has to be told it.
//!
//! isl finds out which of two statements comes first in the text from the first dimension of time that is a number for both, and
//! means the positions in sequences. But a loop counter that is a number, as under `if (k == 3)`, passes for a position too; where
//! other statements have no number there, "first in the text" can become circular, and isl takes for the last writer who is not.
//! A symbol that is added to all counters changes no order, and hides the numbers.

use isl::{DimType, Id, IslError, Map, UnionMap};

const SYMBOL: &str = "clock";

/// `{ S[i…] -> [t…] }`, all of one length, without numbers in dimensions in which some statement counts.
pub(crate) fn clock(times: &UnionMap) -> Result<UnionMap, IslError> {
    let maps = times.maps()?;
    let Some(first) = maps.first() else { return Ok(times.clone()) };
    let length = first.dim(DimType::Out)?;
    let mut to = Vec::new();
    for d in 0..length {
        let mut counts = false;
        for map in &maps {
            counts |= !map.plain_get_val_if_fixed(DimType::Out, d)?.is_int()?;
        }
        to.push(if counts { format!("t{d} + {SYMBOL}") } else { format!("t{d}") });
    }
    let from: Vec<String> = (0..length).map(|d| format!("t{d}")).collect();
    let text = format!("[{SYMBOL}] -> {{ [{}] -> [{}] }}", from.join(", "), to.join(", "));
    let shift = UnionMap::from_map(&Map::read_from_str(times.ctx(), &text)?)?;
    times.apply_range(&shift)
}

/// A result without the symbol.
pub(crate) fn without_clock(pairs: &UnionMap) -> Result<UnionMap, IslError> {
    pairs.project_out_param_id(&Id::alloc(pairs.ctx(), SYMBOL, 0)?)
}
