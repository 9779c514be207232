//! Exact solutions of the small linear systems that relate loops to statement instances.

use crate::polynomial::gcd;

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    const ZERO: Fraction = Fraction { numerator: 0, denominator: 1 };

    fn new(numerator: i128, denominator: i128) -> Option<Fraction> {
        let g = gcd(numerator, denominator).max(1);
        (denominator != 0).then_some(())?;
        let sign = denominator.signum();
        Some(Fraction { numerator: sign * numerator / g, denominator: sign * denominator / g })
    }
    fn is_zero(self) -> bool {
        self.numerator == 0
    }
    fn divided_by(self, other: Fraction) -> Option<Fraction> {
        Fraction::new(self.numerator.checked_mul(other.denominator)?, self.denominator.checked_mul(other.numerator)?)
    }
    fn minus_product(self, a: Fraction, b: Fraction) -> Option<Fraction> {
        let (n, d) = (a.numerator.checked_mul(b.numerator)?, a.denominator.checked_mul(b.denominator)?);
        let top = self.numerator.checked_mul(d)?.checked_sub(n.checked_mul(self.denominator)?)?;
        Fraction::new(top, self.denominator.checked_mul(d)?)
    }
    pub(super) fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// The step `d` in the space of instances with `rows · d = e_k`: where one statement goes when loop `k` advances by one and the
/// loops of all other rows stand still. `None` if there is no such step (the statement does not move along this loop alone),
/// if it is not unique (some dimension is in no loop), or if the numbers get out of hand.
pub(super) fn step_of_loop(rows: &[Vec<i64>], k: usize) -> Option<Vec<Fraction>> {
    let unknowns = rows.first()?.len();
    // The augmented matrix [rows | e_k], reduced to row echelon form.
    let mut matrix: Vec<Vec<Fraction>> = rows
        .iter()
        .enumerate()
        .map(|(r, row)| {
            let right = i64::from(r == k);
            row.iter().chain([&right]).map(|&v| Fraction { numerator: i128::from(v), denominator: 1 }).collect()
        })
        .collect();
    let mut rank = 0;
    let mut pivots = Vec::new();
    for column in 0..unknowns {
        let Some(found) = (rank..matrix.len()).find(|&r| !matrix[r][column].is_zero()) else { continue };
        matrix.swap(rank, found);
        let pivot = matrix[rank][column];
        for value in &mut matrix[rank] {
            *value = value.divided_by(pivot)?;
        }
        for r in 0..matrix.len() {
            if r == rank || matrix[r][column].is_zero() {
                continue;
            }
            let factor = matrix[r][column];
            let pivot_row = matrix[rank].clone();
            for (value, p) in matrix[r].iter_mut().zip(pivot_row) {
                *value = value.minus_product(factor, p)?;
            }
        }
        pivots.push(column);
        rank += 1;
    }
    let inconsistent = matrix[rank..].iter().any(|row| !row[unknowns].is_zero());
    if inconsistent || rank < unknowns {
        return None;
    }
    let mut solution = vec![Fraction::ZERO; unknowns];
    for (r, column) in pivots.into_iter().enumerate() {
        solution[column] = matrix[r][unknowns];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rows: &[&[i64]], k: usize) -> Option<Vec<f64>> {
        let rows: Vec<Vec<i64>> = rows.iter().map(|r| r.to_vec()).collect();
        Some(step_of_loop(&rows, k)?.into_iter().map(Fraction::as_f64).collect())
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
    }
}
