//! Do the subscripts of recovered shapes name the bytes that the program touches?

use super::Trace;
use crate::delinearize::Offset;
use crate::polynomial::{PiecewisePolynomial, Var};
use crate::scop::{Access, Array, Recovered, Scop};

/// The first access found whose subscripts, flattened again, are not the cells at its address, all of them and no others, or leave their
/// dimension.
///
/// Pieces of a piecewise offset are tried one after the other, so that an access passes if any of them names its cells.
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
            for (a, (access, offset)) in statement.accesses.iter().zip(&known).enumerate() {
                let Some(offset) = offset else { continue };
                let array = &scop.arrays[&access.array];
                let mut cells: Vec<i128> = Vec::new();
                for &(_, cell) in trace.touched[k].iter().filter(|(of, _)| *of == a) {
                    let (_, subscripts) = trace.cell(cell);
                    if array.row_and_rest(subscripts).0.copied() != access.row.as_ref().and_then(|row| row.at(value)) {
                        return Some(format!("{} touches {}{subscripts:?} in another row", trace.name(k), array.name));
                    }
                    let Some(flat) = flattened(array, subscripts, params) else {
                        return Some(format!("{} touches {}{subscripts:?} outside its row", trace.name(k), array.name));
                    };
                    cells.push(flat);
                }
                cells.sort_unstable();
                let (size, bytes) = (i128::from(array.cell_bytes), i128::from(access.bytes));
                let addressed = |begin: i128| {
                    let mut all = (0..bytes / size).map(|n| begin + n * size);
                    begin % size == 0
                        && cells.iter().all(|cell| all.next() == Some(cell * size))
                        && all.next().is_none()
                };
                let begins = offset.pieces.iter().filter_map(|(_, piece)| piece.at(value));
                if !cells.is_empty() && !begins.into_iter().any(addressed) {
                    return Some(format!("{} does not touch {}{cells:?}", trace.name(k), array.name));
                }
            }
        }
    }
    None
}

/// The number of the cell from the base, or from the beginning of its row, on; `None` if a subscript leaves its dimension, where the shape was recovered.
pub(super) fn flattened(array: &Array, subscripts: &[i128], params: &[i128]) -> Option<i128> {
    let (_, inside) = array.row_and_rest(subscripts);
    let mut flat = *inside.first()?;
    for (size, subscript) in array.inner_sizes.iter().zip(&inside[1..]) {
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
