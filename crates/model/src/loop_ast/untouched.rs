//! What an innermost loop reads and nobody in it writes: if it is one element, it can be loaded before the loop.
//!
//! In `for (k = j + 1; …) B[i][k] -= A[k][j] * B[i][j]` we know that no `B[i][k]` is `B[i][j]`. LLVM does not: it would load that again and
//! again, and iterations side by side would wait for each other's stores. In the source it may have been a scalar, too, which is read from
//! its element so that statements can go anywhere.

use super::direct::{Row, Var, constraints};
use super::{BinaryOp, Expr, For, Node};
use crate::inequalities::{Affine, Patience, System};
use crate::polynomial::Polynomial;
use crate::scop::{Access, ArrayId, Role, Scop, StatementId};
use isl::{DimType, IslError, Map};
use planted::Fault;
use std::collections::HashMap;

/// An element that a call of an innermost loop reads: the same in all iterations that the loop has at one place in the loops around it, and
/// none of its calls writes the element in any of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Untouched {
    /// Which of the calls of the loop, in their order.
    pub call: usize,
    /// What reads it.
    pub role: Role,
    /// As [`crate::delicm::Element`] has it, in the coordinates of the call.
    pub array: ArrayId,
    pub row: Option<Polynomial>,
    pub offset: Polynomial,
    pub bytes: u64,
}

/// What may be spent on all loops of a region: some hundredths of a second.
const MOST_PAIRS: u64 = 30_000;

/// Notes in each innermost loop what its calls have from elements that it does not write.
///
/// Requires: everything is written out.
pub(crate) fn note_untouched(node: &mut Node, scop: &Scop) -> Result<(), IslError> {
    let mut notes = Notes { scop, patience: Patience::new(MOST_PAIRS), told: HashMap::new(), domains: HashMap::new() };
    notes.node(node)
}

/// The calls of an innermost loop, in their order; `None` if something else is in it.
pub fn calls_of(body: &Node) -> Option<Vec<(StatementId, &[Expr])>> {
    match body {
        Node::Call { statement, coordinates, .. } => Some(vec![(*statement, &coordinates[..])]),
        Node::Block(parts) | Node::Jammed { points: parts, .. } => {
            let parts: Option<Vec<_>> = parts.iter().map(calls_of).collect();
            Some(parts?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

struct Notes<'a> {
    scop: &'a Scop,
    patience: Patience,
    /// What is said of the cells of an access of a statement: first come its coordinates, then the subscripts.
    told: HashMap<(StatementId, usize), Option<System<Var>>>,
    /// And of the coordinates of a statement.
    domains: HashMap<StatementId, Option<System<Var>>>,
}

/// A call, with what its coordinates are.
struct Run<'a> {
    statement: StatementId,
    accesses: &'a [Access],
    coordinates: Vec<Row>,
}

impl Run<'_> {
    /// What is said of the coordinates, and behind them of so many subscripts, where the loop's counter has this value; the subscripts are
    /// `Unknown(e)` then.
    fn at(&self, said: System<Var>, subscripts: usize, counter: &Row, f: &For) -> Option<System<Var>> {
        let own = Var::Counter(f.counter.0 as usize);
        let mut said = said;
        for (d, coordinate) in self.coordinates.iter().enumerate() {
            said = said.with(Var::Unknown(d), &coordinate.with(own, counter)?)?;
        }
        // No coordinate is left, so that the numbers below these are free.
        for e in 0..subscripts {
            said = said.with(Var::Unknown(self.coordinates.len() + e), &Affine::variable(Var::Unknown(e)))?;
        }
        Some(said)
    }

    /// The value of an expression in the coordinates is the same in all iterations of the loop.
    fn stands(&self, expression: &Polynomial, f: &For) -> bool {
        let stands = || {
            let coordinates: Option<Vec<Polynomial>> = self.coordinates.iter().map(polynomial).collect();
            let now = expression.compose(&coordinates?).ok()?;
            let own = Polynomial::counter(f.counter.0 as usize);
            Some(!now.vars().any(|v| Polynomial::var(v) == own))
        };
        stands().unwrap_or(false)
    }
}

fn polynomial(row: &Row) -> Option<Polynomial> {
    let mut sum = Polynomial::constant(row.constant);
    for (v, times) in row.terms() {
        let term = match v {
            Var::Param(p) => Polynomial::param(p),
            Var::Counter(c) => Polynomial::counter(c),
            Var::Unknown(_) => return None,
        };
        sum = sum.add(&term.scale(times).ok()?).ok()?;
    }
    Some(sum)
}

impl Notes<'_> {
    fn node(&mut self, node: &mut Node) -> Result<(), IslError> {
        match node {
            Node::Block(parts) | Node::Jammed { points: parts, .. } => {
                parts.iter_mut().try_for_each(|part| self.node(part))
            }
            Node::For(f) => match calls_of(&f.body) {
                Some(calls) => {
                    f.untouched = self.of_loop(f, &calls)?;
                    Ok(())
                }
                None => self.node(&mut f.body),
            },
            Node::If { then, otherwise, .. } => {
                self.node(then)?;
                otherwise.iter_mut().try_for_each(|other| self.node(other))
            }
            Node::IfHold { then, otherwise, .. } => {
                self.node(then)?;
                self.node(otherwise)
            }
            Node::Call { .. } | Node::Copy { .. } => Ok(()),
        }
    }

    fn of_loop(&mut self, f: &For, calls: &[(StatementId, &[Expr])]) -> Result<Vec<Untouched>, IslError> {
        let scop = self.scop;
        let all = || calls.iter().flat_map(|(statement, _)| &scop.statements[statement].accesses);
        let is_written = |array: ArrayId| all().any(|access| access.is_write() && access.array == array);
        let is_of_interest = |access: &Access| !access.is_write() && is_written(access.array);
        if !all().any(is_of_interest) {
            return Ok(Vec::new());
        }
        // What has the same value in all iterations is a number here, whatever it is.
        let mut opaque: Vec<Expr> = Vec::new();
        let mut runs = Vec::new();
        for (statement, coordinates) in calls {
            let rows = coordinates.iter().map(|expr| row_of(expr, f, &mut opaque)).collect::<Option<Vec<Row>>>();
            let Some(coordinates) = rows else { return Ok(Vec::new()) };
            runs.push(Run { statement: *statement, accesses: &scop.statements[statement].accesses, coordinates });
        }
        let mut instances = None;
        let mut untouched = Vec::new();
        for (call, run) in runs.iter().enumerate() {
            for (at, access) in run.accesses.iter().enumerate() {
                if !is_of_interest(access) || scop.statements[&run.statement].boxed {
                    continue;
                }
                let Some(offset) = access.one_offset()?.filter(|_| reads_element(access)) else { continue };
                if !run.stands(&offset, f) || !access.row.as_ref().is_none_or(|row| run.stands(row, f)) {
                    continue;
                }
                let instances = match &instances {
                    Some(known) => known,
                    None => instances.insert(self.instances(&runs, f)?),
                };
                if self.is_untouched(f, run, at, &runs, instances)? || planted::is(Fault::TouchedLoadedAhead) {
                    let Access { role, array, bytes, .. } = *access;
                    untouched.push(Untouched { call, role, array, row: access.row.clone(), offset, bytes });
                }
            }
        }
        Ok(untouched)
    }

    /// What holds in the iteration that writes, whichever it is: all calls run in it, so that all their instances exist.
    fn instances(&mut self, runs: &[Run], f: &For) -> Result<System<Var>, IslError> {
        let mut all = System::default();
        for run in runs {
            let told = match self.domains.get(&run.statement) {
                Some(told) => told.clone(),
                None => {
                    let domain = &self.scop.statements[&run.statement].domain;
                    let told = constraints_of_all(&Map::from_domain(domain)?)?;
                    self.domains.insert(run.statement, told.clone());
                    told
                }
            };
            if let Some(here) = told.and_then(|told| run.at(told, 0, &theirs(), f)) {
                all.and(&here);
            }
        }
        Ok(all)
    }

    fn is_untouched(
        &mut self,
        f: &For,
        reader: &Run,
        at: usize,
        runs: &[Run],
        instances: &System<Var>,
    ) -> Result<bool, IslError> {
        let array = reader.accesses[at].array;
        let Some(read) = self.cells(reader, at, &Row::variable(Var::Counter(f.counter.0 as usize)), f)? else {
            return Ok(false);
        };
        for writer in runs {
            for (k, _) in writer.accesses.iter().enumerate().filter(|(_, a)| a.is_write() && a.array == array) {
                let Some(mut meeting) = self.cells(writer, k, &theirs(), f)? else { return Ok(false) };
                meeting.and(&read);
                if meeting.is_impossible(&self.patience) {
                    continue;
                }
                meeting.and(instances);
                if !meeting.is_impossible(&self.patience) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What is known of the subscripts `Unknown(e)` of the cells that an access touches where the loop's counter has this value.
    fn cells(&mut self, run: &Run, at: usize, counter: &Row, f: &For) -> Result<Option<System<Var>>, IslError> {
        let relation = &run.accesses[at].relation;
        let told = match self.told.get(&(run.statement, at)) {
            Some(told) => told.clone(),
            None => {
                let told = constraints_of_all(relation)?;
                self.told.insert((run.statement, at), told.clone());
                told
            }
        };
        let subscripts = relation.dim(DimType::Out)?;
        Ok(told.and_then(|told| run.at(told, subscripts, counter, f)))
    }
}

/// What holds of all pairs; of others it may hold, too.
fn constraints_of_all(map: &Map) -> Result<Option<System<Var>>, IslError> {
    match constraints(map)? {
        Some(told) => Ok(Some(told)),
        None => constraints(&Map::from_basic_map(&map.remove_divs()?.simple_hull()?)?),
    }
}

/// Stands for the counter in the iteration that writes; no loop has this number, nor those below that stand for other expressions.
const THEIRS: usize = u32::MAX as usize;

fn theirs() -> Row {
    Row::variable(Var::Counter(THEIRS))
}

fn reads_element(access: &Access) -> bool {
    access.exact && matches!(access.role, Role::Load(_) | Role::Reload(_) | Role::ReadScalar(_))
}

/// `None`: it may change in the loop in a way that is not linear.
fn row_of(expr: &Expr, f: &For, opaque: &mut Vec<Expr>) -> Option<Row> {
    if let Some(row) = linear(expr) {
        return Some(row);
    }
    let mut changes = false;
    expr.for_each(&mut |e| changes |= *e == Expr::Counter(f.counter));
    if changes {
        return None;
    }
    let number = opaque.iter().position(|known| known == expr).unwrap_or_else(|| {
        opaque.push(expr.clone());
        opaque.len() - 1
    });
    Some(Row::variable(Var::Counter(THEIRS - 1 - number)))
}

fn linear(expr: &Expr) -> Option<Row> {
    match expr {
        Expr::Int(value) => Some(Row::number(*value)),
        Expr::Param(p) => Some(Row::variable(Var::Param(*p))),
        Expr::Counter(c) => Some(Row::variable(Var::Counter(c.0 as usize))),
        Expr::Neg(e) => linear(e)?.times(-1),
        Expr::Binary(BinaryOp::Add, a, b) => linear(a)?.plus(&linear(b)?, 1),
        Expr::Binary(BinaryOp::Sub, a, b) => linear(a)?.plus(&linear(b)?, -1),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let (a, b) = (linear(a)?, linear(b)?);
            if a.is_number() {
                b.times(a.constant)
            } else {
                b.is_number().then_some(b.constant).and_then(|b| a.times(b))
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use crate::loop_ast::{AstOptions, generate};
    use crate::transform::{Tree, labelled};

    /// How many of the reads of all innermost loops find an element that stands still and that their loop does not write.
    fn untouched(sketch: &str) -> usize {
        let scop = test_scop(sketch);
        let tree = Tree::from(labelled(&scop.schedule).unwrap());
        let mut node = generate(&tree, &scop.context, &AstOptions::default()).unwrap();
        note_untouched(&mut node, &scop).unwrap();
        let mut count = 0;
        node.for_each(&mut |node| count += if let Node::For(f) = node { f.untouched.len() } else { 0 });
        count
    }

    const BEHIND: &str = "
        array A0 8 100
        for i : 0 <= i < p0
          for j : 0 <= j < 90
            for k : j < k < 90
              read A0[i, j]; read A0[i, k]; write A0[i, k]";

    #[test]
    fn an_element_before_those_that_are_written_stays() {
        assert_eq!(untouched(BEHIND), 1);
        // In another row.
        assert_eq!(untouched(&BEHIND.replace("j < k", "0 <= k").replace("read A0[i, j]", "read A0[i + 1, j]")), 1);
    }

    #[test]
    fn an_element_that_one_iteration_writes_does_not_stay() {
        assert_eq!(untouched(&BEHIND.replace("j < k", "j <= k")), 0);
        assert_eq!(untouched(&BEHIND.replace("j < k", "0 <= k")), 0);
        assert_eq!(untouched(&BEHIND.replace("write A0[i, k]", "write A0[i, k]; write A0[i, j]")), 0);
    }

    #[test]
    fn what_moves_is_not_loaded_before() {
        assert_eq!(untouched(&BEHIND.replace("read A0[i, j]", "read A0[i + 1, k]")), 0);
        // Nobody writes this array: LLVM sees to it.
        assert_eq!(untouched(&BEHIND.replace("read A0[i, j]", "read A1[i, j]")), 0);
    }
}
