//! Accesses in cells: the units in which memory is divided.

use super::{LinearAccess, Offset};
use crate::polynomial::{PiecewisePolynomial, Polynomial, Var};
use crate::scop::ParamId;
use isl::{Ctx, DimType, IslError, Map, PwAff, Set, Space, Val};
use num_integer::gcd;
use std::collections::BTreeSet;

/// Where accesses happen. All sets have the same parameters in the same order.
#[derive(Clone)]
pub struct KnownDomain {
    /// Equal domains have the same number.
    pub class: usize,
    all: Set,
    /// Where the parameters are as the context says.
    pub known: Set,
}

impl KnownDomain {
    pub fn new(class: usize, all: &Set, context: &Set) -> Result<Self, IslError> {
        let known = if context.plain_is_universe()? { all.clone() } else { all.intersect_params(context)? };
        Ok(KnownDomain { class, all: all.clone(), known })
    }
}

/// One access, its offset in cells.
pub struct Linear {
    pub domain: KnownDomain,
    /// The offset on disjoint parts of the known domain; nothing if there is an obstacle.
    pub pieces: Vec<(Set, Polynomial)>,
    /// Why the offset is no such polynomial.
    pub obstacle: Option<&'static str>,
    /// The offset where it is affine.
    pub flat: Option<PwAff>,
    /// How many consecutive cells are touched.
    pub count: i64,
}

impl Linear {
    /// `params` are all that occur in the accesses of the array.
    pub fn new(
        ctx: &Ctx,
        access: &LinearAccess,
        cell_bytes: u64,
        params: &Space,
        domain: KnownDomain,
    ) -> Result<Self, IslError> {
        let in_cells = |offset: &PwAff| -> Result<PwAff, IslError> {
            let size = Val::int_from_ui(ctx, cell_bytes)?;
            if offset.n_piece()? == 1 {
                return offset.align_params(params)?.scale_down_val(&size);
            }
            offset.intersect_domain(&domain.all)?.coalesce()?.scale_down_val(&size)
        };
        let (flat, polynomial) = match &access.offset {
            Offset::Affine(offset) => {
                let cells = in_cells(offset)?;
                let polynomial = PiecewisePolynomial::from_pw_aff(&cells)?;
                (Some(cells), polynomial)
            }
            Offset::Polynomial(offset) => {
                let aligned = |(d, p): &(Set, Polynomial)| Ok((d.align_params(params)?, p.clone()));
                let pieces = offset.pieces.iter().map(aligned).collect::<Result<Vec<_>, IslError>>()?;
                let offset = PiecewisePolynomial { pieces };
                let flat =
                    if offset.is_affine() { offset.to_pw_aff()?.map(|o| in_cells(&o)).transpose()? } else { None };
                let cells = i128::from(cell_bytes);
                let divided = offset.pieces.into_iter().map(|(d, p)| Some((d, p.exact_div(cells)?)));
                (flat, divided.collect::<Option<_>>().map(|pieces| PiecewisePolynomial { pieces }))
            }
        };
        let (mut pieces, mut obstacle) = (Vec::new(), None);
        match polynomial {
            None => obstacle = Some("its offset divides or rounds a loop counter"),
            Some(p) if p.pieces.iter().any(|(_, p)| p.terms().any(|(m, _)| m.split().0.degree() > 1)) => {
                obstacle = Some("its offset multiplies loop counters with each other");
            }
            Some(p) if p.pieces.len() == 1 => {
                let (here, cells) = p.pieces.into_iter().next().expect("one");
                let known = &domain.known;
                pieces.push((if here.plain_is_universe()? { known.clone() } else { known.intersect(&here)? }, cells));
            }
            Some(p) => pieces = p.intersect_domain(&domain.known)?.pieces,
        }
        let count = i64::try_from(access.bytes.div_ceil(cell_bytes)).unwrap_or(i64::MAX);
        Ok(Linear { domain, pieces, obstacle, flat, count })
    }

    /// There is one polynomial for all of the known domain.
    pub fn is_whole(&self) -> Result<bool, IslError> {
        match self.pieces.as_slice() {
            [(here, _)] => here.plain_is_equal(&self.domain.known),
            _ => Ok(false),
        }
    }

    /// Two loops turn the same flat offset, at different speeds.
    pub fn mixes_loops(&self) -> bool {
        self.pieces.iter().any(|(_, cells)| cells.mixes_counters())
    }

    /// The cells of the flat offset.
    pub fn flat_relation(&self) -> Result<Option<Map>, IslError> {
        let relation =
            |cells: &PwAff| covering(&Map::from_pw_aff(&cells.intersect_domain(&self.domain.all)?)?, self.count);
        self.flat.as_ref().map(relation).transpose()
    }
}

/// The parameters of all domains and offsets.
pub fn all_params(ctx: &Ctx, accesses: &[LinearAccess], context: &Set) -> Result<Space, IslError> {
    let mut names: BTreeSet<ParamId> = BTreeSet::new();
    let mut space = Space::params_alloc(ctx, 0)?;
    for known in accesses.iter().map(|a| &a.domain).chain([context]) {
        space = space.align_params(&known.get_space()?.params()?)?;
    }
    for access in accesses {
        let Offset::Polynomial(offset) = &access.offset else { continue };
        let params = offset.pieces.iter().flat_map(|(_, p)| p.vars());
        names.extend(params.filter_map(|v| if let Var::Param(id) = v { Some(id) } else { None }));
    }
    for name in names {
        let name = name.to_string();
        if space.find_dim_by_name(DimType::Param, &name)?.is_none() {
            let at = space.dim(DimType::Param)?;
            space = space.add_dims(DimType::Param, 1)?.set_dim_name(DimType::Param, at, &name)?;
        }
    }
    Ok(space)
}

/// The largest size that divides every access size and every offset: an access covers whole cells.
pub fn cell_bytes(accesses: &[LinearAccess]) -> Result<u64, IslError> {
    let mut size = accesses.iter().map(|a| a.bytes).fold(0, gcd).max(1);
    for access in accesses {
        while size > 1 && !divides(size, access)? {
            size = if size % 2 == 0 { size / 2 } else { 1 };
        }
    }
    Ok(size)
}

fn divides(size: u64, access: &LinearAccess) -> Result<bool, IslError> {
    let content = |p: &PiecewisePolynomial| p.pieces.iter().all(|(_, p)| p.content() % i128::from(size) == 0);
    match &access.offset {
        Offset::Polynomial(offset) => Ok(content(offset)),
        Offset::Affine(offset) => {
            if PiecewisePolynomial::from_pw_aff(offset)?.is_some_and(|p| content(&p)) {
                return Ok(true);
            }
            // The domain, or the divisions, may take only multiples.
            let modulus = Val::int_from_ui(offset.ctx(), size)?;
            offset.intersect_domain(&access.domain)?.mod_val(&modulus)?.non_zero_set()?.is_empty()
        }
    }
}

/// From the first cell to `count` cells, along the last subscript.
pub fn covering(first: &Map, count: i64) -> Result<Map, IslError> {
    if count == 1 {
        return Ok(first.clone());
    }
    let dims = first.dim(DimType::Out)?;
    let outer: Vec<String> = (1..dims).map(|k| format!("s{k}")).collect();
    let from = outer.iter().cloned().chain(["e".to_string()]).collect::<Vec<_>>().join(", ");
    let to = outer.iter().cloned().chain(["f".to_string()]).collect::<Vec<_>>().join(", ");
    let text = format!("{{ [{from}] -> [{to}] : e <= f < e + {count} }}");
    first.apply_range(&Map::read_from_str(first.ctx(), &text)?)
}
