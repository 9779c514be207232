//! All instances of a region at given parameters, in the original order, with the cells they touch.

use crate::scop::{ArrayId, Scop, StatementId};
use isl::{DimType, IslError, Point, Set};
use std::collections::HashMap;

pub(crate) struct Trace {
    /// In the original order.
    pub instances: Vec<(StatementId, Vec<i128>)>,
    /// Per instance: (position of the access in the statement, cell).
    pub touched: Vec<Vec<(usize, usize)>>,
    cells: Vec<(ArrayId, Vec<i128>)>,
    positions: HashMap<(StatementId, Vec<i128>), usize>,
}

pub(crate) enum Traced {
    All(Trace),
    TooLarge,
}

/// Why an enumeration ended early.
enum EndedEarly {
    Isl(IslError),
    TooMany,
}
impl From<IslError> for EndedEarly {
    fn from(error: IslError) -> EndedEarly {
        EndedEarly::Isl(error)
    }
}

impl Trace {
    /// Requires: `scop.schedule` orders all instances totally.
    pub(crate) fn of(scop: &Scop, params: &[i128], max_instances: usize) -> Result<Traced, IslError> {
        match Trace::build(scop, params, max_instances) {
            Ok(trace) => Ok(Traced::All(trace)),
            Err(EndedEarly::TooMany) => Ok(Traced::TooLarge),
            Err(EndedEarly::Isl(error)) => Err(error),
        }
    }

    fn build(scop: &Scop, params: &[i128], max_instances: usize) -> Result<Trace, EndedEarly> {
        let fixed = fixed_params(scop, params)?;
        let mut timed: Vec<(Vec<i128>, StatementId, Vec<i128>)> = Vec::new();
        for map in scop.schedule.get_map()?.maps()? {
            let Some(statement) = StatementId::from_isl_name(&map.get_tuple_name(DimType::In)?) else { continue };
            let dims = map.dim(DimType::In)?;
            let domain = scop.statements[&statement].domain.intersect_params(&fixed)?;
            let room = max_instances - timed.len();
            for mut point in points(&map.intersect_domain(&domain)?.wrap()?, room)? {
                let time = point.split_off(dims);
                timed.push((time, statement, point));
            }
        }
        timed.sort();
        let instances: Vec<_> = timed.into_iter().map(|(_, statement, at)| (statement, at)).collect();
        let positions = instances.iter().enumerate().map(|(k, i)| (i.clone(), k)).collect();
        let mut trace = Trace { touched: vec![Vec::new(); instances.len()], instances, cells: Vec::new(), positions };
        let mut cells = HashMap::new();
        for (&id, statement) in &scop.statements {
            let dims = statement.domain.dim(DimType::Set)?;
            for (a, access) in statement.accesses.iter().enumerate() {
                let relation = access.relation.intersect_params(&fixed)?.intersect_domain(&statement.domain)?;
                for mut point in points(&relation.wrap()?, 4 * max_instances)? {
                    let cell = (access.array, point.split_off(dims));
                    let next = cells.len();
                    let cell = *cells.entry(cell.clone()).or_insert_with(|| {
                        trace.cells.push(cell);
                        next
                    });
                    if let Some(k) = trace.positions.get(&(id, point)) {
                        trace.touched[*k].push((a, cell));
                    }
                }
            }
        }
        Ok(trace)
    }

    pub(crate) fn position(&self, statement: StatementId, at: &[i128]) -> Option<usize> {
        self.positions.get(&(statement, at.to_vec())).copied()
    }
    pub(crate) fn name(&self, k: usize) -> String {
        let (statement, at) = &self.instances[k];
        format!("{statement}{at:?}")
    }
    pub(crate) fn cells(&self) -> &[(ArrayId, Vec<i128>)] {
        &self.cells
    }
    pub(crate) fn cell(&self, cell: usize) -> &(ArrayId, Vec<i128>) {
        &self.cells[cell]
    }
}

/// `{ : p0 = … and p1 = … }`
fn fixed_params(scop: &Scop, params: &[i128]) -> Result<Set, IslError> {
    let names: Vec<String> = (0..params.len()).map(|k| format!("p{k}")).collect();
    let equalities: Vec<String> = params.iter().enumerate().map(|(k, v)| format!("p{k} = {v}")).collect();
    let text = match params.len() {
        0 => "{ : }".to_string(),
        _ => format!("[{}] -> {{ : {} }}", names.join(", "), equalities.join(" and ")),
    };
    Set::read_from_str(&scop.ctx, &text)
}

fn points(set: &Set, most: usize) -> Result<Vec<Vec<i128>>, EndedEarly> {
    let dims = set.dim(DimType::Set)?;
    // isl enumerates in one go, so a set of astronomical size must not reach it.
    let mut size = 1f64;
    if set.is_empty()? {
        return Ok(Vec::new());
    }
    for d in 0..dims {
        let (low, high) = (set.dim_min_val(d)?, set.dim_max_val(d)?);
        if !(low.is_int()? && high.is_int()?) {
            return Err(EndedEarly::TooMany);
        }
        size = size.max(high.get_d()? - low.get_d()? + 1.0);
    }
    if size > most as f64 {
        return Err(EndedEarly::TooMany);
    }
    let mut out = Vec::new();
    set.foreach_point(|point: Point| -> Result<(), EndedEarly> {
        if out.len() >= most {
            return Err(EndedEarly::TooMany);
        }
        let mut at = Vec::with_capacity(dims);
        for d in 0..dims {
            // Coordinates are integers; one that fits nowhere belongs to a region that nobody replays.
            at.push(point.get_coordinate_val(DimType::Set, d)?.to_i128().ok_or(EndedEarly::TooMany)?);
        }
        out.push(at);
        Ok(())
    })?;
    // Where parts of a set overlap, isl may name a point twice.
    out.sort();
    out.dedup();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_two_parts_is_one_point() {
        let ctx = isl::Ctx::new();
        let set = |text: &str| Set::read_from_str(&ctx, text).unwrap();
        let parts = set("[p2, p1, p0] -> { [0, 1] : p2 >= -2 and 0 < p0 <= 2147483647 and ((p2 >= 0 and \
             p1 >= -2147483649 + p2 and 0 <= p1 <= 1073741824) or (p1 = 2 and p2 <= 2147483651)) }");
        let here = parts.intersect_params(&set("[p0, p1, p2] -> { : p0 = 2 and p1 = 2 and p2 = 2 }")).unwrap();
        assert_eq!(points(&here, 10).ok(), Some(vec![vec![0, 1]]));
        let line = set("{ [i] : 0 <= i <= 3 or 2 <= i <= 5 }");
        assert_eq!(points(&line, 10).ok().map(|p| p.len()), Some(6));
    }
}
