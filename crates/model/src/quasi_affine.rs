//! Quasi-affine expressions as numbers, to look at without asking isl.

use isl::{Aff, DimType, IslError, UnionPwAff};
use std::collections::HashMap;

/// A quasi-affine expression: a linear one, in which floors of others are numbers like any other.
pub(crate) struct Form {
    pub whole: Linear,
    /// What is rounded down, divided by what. One may contain those before it.
    pub floors: Vec<(Linear, i128)>,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub params: Vec<(String, i128)>,
    pub dims: Vec<i128>,
    pub floors: Vec<i128>,
    pub constant: i128,
}

impl Form {
    /// What can be seen of a row of a schedule: of those statements for which it is one expression.
    pub(crate) fn by_statement(row: &UnionPwAff) -> Result<HashMap<String, Form>, IslError> {
        let mut forms = HashMap::new();
        for part in row.pw_affs()? {
            let pieces = part.pieces()?;
            let [(domain, aff)] = pieces.as_slice() else { continue };
            if domain.plain_is_universe()?
                && let Some(form) = Form::of(aff)?
            {
                forms.insert(part.get_domain_space()?.get_tuple_name(DimType::Set)?, form);
            }
        }
        Ok(forms)
    }

    /// `None`: there are numbers that do not fit, or fractions.
    fn of(aff: &Aff) -> Result<Option<Form>, IslError> {
        let count = aff.dim(DimType::Div)?;
        let Some((whole, 1)) = Linear::of(aff, count)? else { return Ok(None) };
        let mut floors = Vec::new();
        for k in 0..count {
            // The number is without what it is divided by.
            let Some((inner, by)) = Linear::of(&aff.get_div(k)?, count)? else { return Ok(None) };
            if inner.floors[k..].iter().any(|c| *c != 0) {
                return Ok(None);
            }
            floors.push((inner, by));
        }
        Ok(Some(Form { whole, floors }))
    }
}

impl Linear {
    /// The expression times a number, and that number.
    fn of(aff: &Aff, floors: usize) -> Result<Option<(Linear, i128)>, IslError> {
        let denominator = aff.get_denominator_val()?;
        let scaled = |value: isl::Val| -> Result<Option<i128>, IslError> {
            Ok(value.mul(&denominator)?.to_i64().map(i128::from))
        };
        let Some(all) = denominator.to_i64() else { return Ok(None) };
        let mut linear = Linear::default();
        for k in 0..aff.dim(DimType::Param)? {
            let Some(value) = scaled(aff.get_coefficient_val(DimType::Param, k)?)? else { return Ok(None) };
            if value != 0 {
                linear.params.push((aff.get_dim_name(DimType::Param, k)?, value));
            }
        }
        for (kind, count, out) in
            [(DimType::In, aff.dim(DimType::In)?, &mut linear.dims), (DimType::Div, floors, &mut linear.floors)]
        {
            for k in 0..count {
                let Some(value) = scaled(aff.get_coefficient_val(kind, k)?)? else { return Ok(None) };
                out.push(value);
            }
        }
        let Some(value) = scaled(aff.get_constant_val()?)? else { return Ok(None) };
        linear.constant = value;
        Ok(Some((linear, all.into())))
    }
}
