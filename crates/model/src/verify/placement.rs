//! Do the subscripts of recovered shapes name the bytes that the program touches?

use super::Trace;
use crate::delinearize::Offset;
use crate::polynomial::{PiecewisePolynomial, Var};
use crate::scop::{Access, Array, Recovered, Scop};

/// The first access found whose subscripts, flattened again, are not the cells at its address, or leave their dimension.
///
/// Pieces of a piecewise offset are tried one after the other, so that a cell passes if any of them names it.
pub(super) fn misplaced(scop: &Scop, trace: &Trace, params: &[i128]) -> Option<String> {
    let offsets = |access: &Access| match &access.offset {
        Some(Offset::Affine(function)) => PiecewisePolynomial::from_pw_aff(function).ok().flatten(),
        Some(Offset::Polynomial(function)) => Some(function.clone()),
        None => None,
    };
    for (id, statement) in &scop.statements {
        let known: Vec<_> = statement.accesses.iter().map(|a| offsets(a).filter(|_| a.exact)).collect();
        for (k, (_, at)) in trace.instances.iter().enumerate().filter(|(_, (s, _))| s == id) {
            let value = |var: Var| match var {
                Var::Counter(d) => at[d as usize],
                Var::Param(p) => params[p.index()],
            };
            for &(a, cell) in &trace.touched[k] {
                let (array, subscripts) = trace.cell(cell);
                let array = &scop.arrays[array];
                let (Some(offset), bytes) = (&known[a], i128::from(statement.accesses[a].bytes)) else { continue };
                let Some(flat) = flattened(array, subscripts, params) else {
                    return Some(format!("{} touches {}{subscripts:?} outside its row", trace.name(k), array.name));
                };
                let begins = |(_, p): &(isl::Set, crate::polynomial::Polynomial)| p.at(value);
                let size = i128::from(array.cell_bytes);
                let inside = |begin: i128| begin <= flat * size && flat * size + size <= begin + bytes;
                if !offset.pieces.iter().filter_map(begins).any(inside) {
                    return Some(format!("{} does not touch {}{subscripts:?}", trace.name(k), array.name));
                }
            }
        }
    }
    None
}

/// The number of the cell from the base on; `None` if a subscript leaves its dimension, where the shape was recovered.
fn flattened(array: &Array, subscripts: &[i128], params: &[i128]) -> Option<i128> {
    let mut flat = *subscripts.first()?;
    for (size, subscript) in array.inner_sizes.iter().zip(&subscripts[1..]) {
        let size = size.at(|var| match var {
            Var::Param(p) => params[p.index()],
            Var::Counter(_) => unreachable!("sizes are functions of parameters"),
        })?;
        if array.recovered != Recovered::None && !(0..size).contains(subscript) {
            return None;
        }
        flat = flat.checked_mul(size)?.checked_add(*subscript)?;
    }
    Some(flat)
}
