//! Exact solutions of the small linear systems that relate loops to statement instances.

use num_rational::Ratio;
use num_traits::{CheckedDiv, CheckedMul, CheckedSub, Zero};

/// The step `d` in the space of instances with `rows · d = e_k`: where one statement goes when loop `k` advances by one and the
/// loops of all other rows stand still. `None` if there is no such step (the statement does not move along this loop alone),
/// if it is not unique (some dimension is in no loop), or if the numbers get out of hand.
pub(super) fn step_of_loop(rows: &[&[i64]], k: usize) -> Option<Vec<f64>> {
    let unknowns = rows.first()?.len();
    if let Some(of_rows) = permuted(rows) {
        let column = of_rows[k]?;
        let mut step = vec![0.0; unknowns];
        step[column] = 1.0 / rows[k][column] as f64;
        return Some(step);
    }
    // The augmented matrix [rows | e_k], reduced to row echelon form.
    let mut matrix: Vec<Vec<Ratio<i128>>> = rows
        .iter()
        .enumerate()
        .map(|(r, row)| {
            let right = i64::from(r == k);
            row.iter().chain([&right]).map(|&v| Ratio::from_integer(i128::from(v))).collect()
        })
        .collect();
    let mut rank = 0;
    let mut pivots = Vec::new();
    for column in 0..unknowns {
        let Some(found) = (rank..matrix.len()).find(|&r| !matrix[r][column].is_zero()) else { continue };
        matrix.swap(rank, found);
        let pivot = matrix[rank][column];
        for value in &mut matrix[rank] {
            *value = value.checked_div(&pivot)?;
        }
        for r in 0..matrix.len() {
            if r == rank || matrix[r][column].is_zero() {
                continue;
            }
            let factor = matrix[r][column];
            let pivot_row = matrix[rank].clone();
            for (value, p) in matrix[r].iter_mut().zip(pivot_row) {
                *value = value.checked_sub(&factor.checked_mul(&p)?)?;
            }
        }
        pivots.push(column);
        rank += 1;
    }
    let inconsistent = matrix[rank..].iter().any(|row| !row[unknowns].is_zero());
    if inconsistent || rank < unknowns {
        return None;
    }
    let mut solution = vec![0.0; unknowns];
    for (r, column) in pivots.into_iter().enumerate() {
        let value = matrix[r][unknowns];
        solution[column] = *value.numer() as f64 / *value.denom() as f64;
    }
    Some(solution)
}

/// If each dimension is in one row alone, and no row has two: the dimension of each row, if it has one. Most are like that.
fn permuted(rows: &[&[i64]]) -> Option<Vec<Option<usize>>> {
    let mut met = vec![false; rows.first()?.len()];
    let mut columns = Vec::with_capacity(rows.len());
    for row in rows {
        let mut in_row = row.iter().enumerate().filter(|(_, c)| **c != 0).map(|(column, _)| column);
        let column = in_row.next();
        if in_row.next().is_some() || column.is_some_and(|c| std::mem::replace(&mut met[c], true)) {
            return None;
        }
        columns.push(column);
    }
    met.into_iter().all(|met| met).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rows: &[&[i64]], k: usize) -> Option<Vec<f64>> {
        step_of_loop(rows, k)
    }

    #[test]
    fn interchanged_loops_step_in_each_others_dimension() {
        assert_eq!(step(&[&[0, 1], &[1, 0]], 0), Some(vec![0.0, 1.0]));
    }
    #[test]
    fn skewed_loops_undo_the_skew() {
        assert_eq!(step(&[&[1, 0], &[2, 1]], 0), Some(vec![1.0, -2.0]));
        assert_eq!(step(&[&[1, 0], &[2, 1]], 1), Some(vec![0.0, 1.0]));
    }
    #[test]
    fn a_statement_outside_of_a_loop_does_not_move_along_it() {
        assert_eq!(step(&[&[1, 0], &[0, 1], &[0, 0]], 2), None);
    }
    #[test]
    fn scaled_loops_step_by_fractions() {
        assert_eq!(step(&[&[2]], 0), Some(vec![0.5]));
        assert_eq!(step(&[&[0, -2], &[1, 0]], 0), Some(vec![0.0, -0.5]));
    }
    #[test]
    fn two_loops_in_one_dimension_cannot_both_move_it_alone() {
        assert_eq!(step(&[&[1, 0], &[1, 0], &[0, 1]], 0), None);
        assert_eq!(step(&[&[1, 0], &[1, 0], &[0, 1]], 2), Some(vec![0.0, 1.0]));
        assert_eq!(step(&[&[1, 0]], 0), None);
    }
}
