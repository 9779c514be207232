//! Which orders compute the same, straight from the tree and the dependences.

use super::apart::are_apart;
use super::copy::{has_copies_below, opaque};
use super::distance::{Agreement, Precision, Row, agreement_below};
use super::jam::{PrivateScalars, divided};
use super::label::find;
use super::reach::instances_at;
use super::{Step, StepError, Tree, label_above};
use crate::dependence::Dependences;
use crate::scop::{Scop, Statement, StatementId};
use isl::{Ctx, IslError, Schedule, ScheduleNode, ScheduleNodeType, Set, UnionMap, UnionSet};
use planted::Fault;

/// A tree that [`check_legal`] let pass.
///
/// Ensures: its order computes what the original order does. Every `coincident` flag is as true as it can be: member m of a band is
/// coincident if and only if no dependence, reductions included, connects two instances that agree in all loops around m (the
/// earlier members of its band among them) but not in m, and nothing is copied inside of it: there is one temporary for all its
/// iterations. What is labelled for threads or vectors is coincident.
#[derive(Clone, Debug)]
pub struct Legal(Tree);

impl Legal {
    pub fn tree(&self) -> &Tree {
        &self.0
    }
    /// A loop is distributed over threads or meant for vectors.
    pub fn with(&self, step: &Step, scop: &Scop) -> Result<Legal, StepError> {
        if !step.is_label() {
            return Err(StepError::BehindLabels { step: step.clone() });
        }
        if let (Step::Threads { band }, Some(node)) = (step, find(&self.0.schedule.get_root()?, step.band())?) {
            if is_distributed(&node)? {
                return Err(StepError::Distributed { band: *band });
            }
            if is_bound_to_thread(&node, scop)? {
                return Err(StepError::BoundToThread { band: *band });
            }
        }
        Ok(Legal(step.apply(&self.0, scop)?))
    }
}

/// Is a loop around it distributed over threads?
fn is_distributed(band: &ScheduleNode) -> Result<bool, IslError> {
    let mut node = band.clone();
    while node.has_parent()? {
        node = node.parent()?;
        if node.get_type()? == ScheduleNodeType::Band && label_above(&node)?.is_some_and(|label| label.threads) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A scalar is one cell of the thread that enters the region. A loop that carries no dependence may still write it, in one iteration.
fn is_bound_to_thread(node: &ScheduleNode, scop: &Scop) -> Result<bool, IslError> {
    for set in instances_at(node)?.sets()? {
        let statement = StatementId::from_isl_name(&set.get_tuple_name()?).and_then(|s| scop.statements.get(&s));
        let writes_scalar =
            |s: &Statement| s.accesses.iter().any(|a| a.is_write() && scop.arrays[&a.array].kind.is_scalar());
        let bound = |s: &Statement| s.bound_to_thread && !planted::is(Fault::EffectsInAnyThread);
        if statement.is_none_or(|s| bound(s) || writes_scalar(s)) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[derive(Clone, Debug)]
pub enum Legality {
    Legal(Legal),
    /// `{ source -> sink }`: the sink does not run after the source; or they are in two iterations of a loop that is labelled to run at
    /// once; or the source is a copy in which the sink may not find what it reads.
    Violated(UnionMap),
}

/// Does the tree run every instance after those that it depends on, and nothing at once that is not independent, at all parameter values
/// for which the dependences mean something?
///
/// The first is so if each pair of `validity` is in order; or, where live ranges of scalars may change places, each pair of
/// `firm_validity`, and the ranges are apart, those in two iterations that run side by side each having a scalar of its own. Copies have
/// no dependences of their own: they are transparent or wrong (`opaque`).
pub fn check_legal(tree: &Tree, scop: &Scop, dependences: &Dependences) -> Result<Legality, IslError> {
    check_legal_knowing(None, tree, scop, dependences)
}

/// The same where it may be known already that the tree keeps the order.
///
/// Requires: `known` is of the same region and dependences.
pub fn check_legal_knowing(
    known: Option<&KeptOrder>,
    tree: &Tree,
    scop: &Scop,
    dependences: &Dependences,
) -> Result<Legality, IslError> {
    let Tree { schedule, copies, .. } = tree;
    // At other parameter values the original runs.
    let possible = |pairs: &UnionMap| pairs.intersect_params(&dependences.known);
    let private = match known {
        Some(kept) if kept.schedule.plain_is_equal(schedule)? => Some(kept.private.clone()),
        _ => keeps_order(schedule, scop, dependences)?.map(|kept| kept.private),
    };
    // Where the order is kept, only the flags are left to be found out.
    let ordered = match &private {
        Some(_) => UnionMap::empty_ctx(schedule.ctx())?,
        None => dependences.validity()?,
    };
    let (found, flagged) = Violations::all(schedule, Pairs::of(dependences, ordered)?)?;
    let opaque = opaque(tree, scop, &dependences.known)?;
    let violated = possible(&found.of_order.union(&found.of_labels)?)?.union(&opaque)?;
    Ok(match private {
        Some(private) if violated.is_empty()? => {
            Legality::Legal(Legal(Tree { schedule: flagged, copies: copies.clone(), private }))
        }
        _ => Legality::Violated(violated),
    })
}

/// A tree that keeps the order, as [`check_legal`] says. Labels and copies were not asked about.
#[derive(Clone, Debug)]
pub struct KeptOrder {
    schedule: Schedule,
    /// The scalars of which there must be several then.
    private: PrivateScalars,
}

/// Does the tree keep the order?
pub fn keeps_order(schedule: &Schedule, scop: &Scop, dependences: &Dependences) -> Result<Option<KeptOrder>, IslError> {
    let kept = |private| Some(KeptOrder { schedule: schedule.clone(), private });
    let in_order = |pairs: UnionMap| Violations::is_in_order(schedule, pairs, Vec::new(), &dependences.known);
    // What live ranges of scalars may not change is part of what they would have to respect in their places, and is refused more often.
    if dependences.ranges.is_some() && !in_order(dependences.firm_validity()?)? {
        return Ok(None);
    }
    if in_order(dependences.validity()?)? {
        return Ok(kept(PrivateScalars::new()));
    }
    Ok(moved(schedule, scop, dependences)?.and_then(kept))
}

/// If live ranges of scalars may change places as they do in the tree: the scalars of which there must be several then.
///
/// Requires: what they may not change is in order.
fn moved(schedule: &Schedule, scop: &Scop, dependences: &Dependences) -> Result<Option<PrivateScalars>, IslError> {
    let Some(ranges) = &dependences.ranges else { return Ok(None) };
    let (mut private, mut doubtful) = (PrivateScalars::new(), Vec::new());
    for scalar in divided(schedule, scop, &ranges.scalars)? {
        // Where all of `order` is kept that meets in one cell, no live range has another write in it, as said at `Ranged`: mostly it is,
        // and that is quick to see.
        let order = scalar.ranged.order.clone();
        if !Violations::is_in_order(schedule, order, scalar.rows()?, &dependences.known)? {
            doubtful.push(scalar.in_one_cell()?);
        }
        if !scalar.points.is_empty() {
            private.extend(scalar.ranged.arrays.iter().map(|array| (*array, scalar.points.clone())));
        }
    }
    Ok((doubtful.is_empty() || are_apart(schedule, &doubtful)?).then_some(private))
}

/// The pairs that reach a node together: both in its domain, and equal in all bands above it.
#[derive(Clone)]
struct Pairs {
    ordered: UnionMap,
    /// What iterations that run at once must not have between them, all that is ordered among it; if that is asked.
    at_once: Option<UnionMap>,
}

impl Pairs {
    /// Requires: `ordered` is all that is to be in order, or nothing.
    fn of(dependences: &Dependences, ordered: UnionMap) -> Result<Pairs, IslError> {
        let at_once = match planted::is(Fault::UpdatesAtOnce) {
            true => dependences.validity()?,
            false => dependences.at_once()?,
        };
        Ok(Pairs { ordered, at_once: Some(at_once) })
    }

    fn map(&self, restrict: impl Fn(&UnionMap) -> Result<UnionMap, IslError>) -> Result<Pairs, IslError> {
        let at_once = self.at_once.as_ref().map(&restrict).transpose()?;
        Ok(Pairs { ordered: restrict(&self.ordered)?, at_once })
    }
}

struct Violations {
    of_order: UnionMap,
    /// Between iterations that a label wants to run at once.
    of_labels: UnionMap,
    /// The parameter values that count. `Some`: one violation of the order is enough.
    until_first: Option<Set>,
    /// Of what is together in the loops around.
    precision: Precision,
    /// Some may have been looked at that do not count.
    has_more: bool,
    /// The rows around the node that is looked at: its pairs agree in them, or do not count.
    above: Vec<Row>,
}

/// Why a tree was not looked at to the end.
enum Halt {
    Isl(IslError),
    /// It is out of order.
    Violated,
}

impl From<IslError> for Halt {
    fn from(error: IslError) -> Halt {
        Halt::Isl(error)
    }
}

impl Violations {
    fn none(ctx: &Ctx) -> Result<Violations, IslError> {
        let nothing = UnionMap::empty_ctx(ctx)?;
        Ok(Violations {
            of_order: nothing.clone(),
            of_labels: nothing,
            until_first: None,
            precision: Precision::Exact,
            has_more: false,
            above: Vec::new(),
        })
    }

    /// Is every pair of `ordered` in order that agrees in these rows, at these parameter values?
    fn is_in_order(schedule: &Schedule, ordered: UnionMap, rows: Vec<Row>, known: &Set) -> Result<bool, IslError> {
        let mut found = Violations {
            until_first: Some(known.clone()),
            precision: Precision::OrMore,
            has_more: !rows.is_empty(),
            above: rows,
            ..Violations::none(schedule.ctx())?
        };
        match found.below(schedule.get_root()?, Pairs { ordered, at_once: None }) {
            Ok(_) => Ok(true),
            Err(Halt::Violated) => Ok(false),
            Err(Halt::Isl(error)) => Err(error),
        }
    }

    /// All that there are; and the tree with exact flags.
    fn all(schedule: &Schedule, pairs: Pairs) -> Result<(Violations, Schedule), IslError> {
        let mut found = Violations::none(schedule.ctx())?;
        match found.below(schedule.get_root()?, pairs) {
            Ok(node) => Ok((found, node.get_schedule()?)),
            Err(Halt::Isl(error)) => Err(error),
            Err(Halt::Violated) => unreachable!("all are asked for"),
        }
    }

    /// The node with exact flags at and below it, if that is asked; ends where it began.
    fn below(&mut self, node: ScheduleNode, pairs: Pairs) -> Result<ScheduleNode, Halt> {
        match node.get_type()? {
            // Nothing says in which order these run.
            ScheduleNodeType::Leaf => self.add(&pairs.ordered).map(|()| node),
            ScheduleNodeType::Band => self.band(node, pairs),
            ScheduleNodeType::Sequence | ScheduleNodeType::Set => self.parts(node, &pairs),
            _ => Ok(self.below(node.child(0)?, pairs)?.parent()?),
        }
    }

    fn add(&mut self, pairs: &UnionMap) -> Result<(), Halt> {
        let Some(known) = &self.until_first else {
            self.of_order = self.of_order.union(pairs)?;
            return Ok(());
        };
        // There may be some among them that are apart in the loops around: that takes longer to see, but of a few pairs only.
        let counts = |pairs: &UnionMap| -> Result<bool, IslError> {
            Ok(!pairs.is_empty()? && !pairs.intersect_params(known)?.is_empty()?)
        };
        match counts(pairs)? && (!self.has_more || counts(&self.together(pairs)?)?) {
            true => Err(Halt::Violated),
            false => Ok(()),
        }
    }

    /// Those of the pairs that agree in all rows above.
    fn together(&self, pairs: &UnionMap) -> Result<UnionMap, IslError> {
        Ok(agreement_below(pairs, &self.above, &[], Precision::Exact)?.equal)
    }

    fn band(&mut self, node: ScheduleNode, mut pairs: Pairs) -> Result<ScheduleNode, Halt> {
        let rows = node.band_get_partial_schedule()?.list()?;
        let label = label_above(&node)?;
        let fills = has_copies_below(&node)?;
        let mut node = node;
        for (m, row) in rows.iter().enumerate() {
            let row = Row::of(row)?;
            let (asked, all) = (pairs.at_once.is_some(), pairs.at_once.as_ref().unwrap_or(&pairs.ordered));
            let above: Vec<&Row> = self.above.iter().collect();
            let distances = row.distances(all, &above)?;
            let Agreement { equal, differ: carries, has_more } = distances.agreement(self.precision)?;
            self.has_more |= has_more;
            if asked {
                let is_last = m + 1 == rows.len();
                let passes = (!carries || planted::is(Fault::CarriedAtOnce) && is_last) && !fills;
                node = node.band_member_set_coincident(m, passes)?;
                if !passes && label.is_some_and(|label| label.threads && m == 0 || label.vectors && is_last) {
                    self.of_labels = self.of_labels.union(&all.subtract(&equal)?)?;
                }
            }
            // A loop that carries nothing has no pair in two of its iterations: all stay as they are.
            if carries {
                pairs = if asked {
                    let ordered = row.distances(&pairs.ordered, &above)?;
                    self.add(&ordered.backward()?)?;
                    Pairs { ordered: ordered.agreement(self.precision)?.equal, at_once: Some(equal) }
                } else {
                    self.add(&distances.backward()?)?;
                    Pairs { ordered: equal, at_once: None }
                };
            }
            self.above.push(row);
        }
        let node = self.below(node.child(0)?, pairs)?.parent()?;
        self.above.truncate(self.above.len() - rows.len());
        Ok(node)
    }

    fn parts(&mut self, node: ScheduleNode, pairs: &Pairs) -> Result<ScheduleNode, Halt> {
        let is_sequence = node.get_type()? == ScheduleNodeType::Sequence;
        let mut node = node;
        let mut earlier: Option<UnionSet> = None;
        for k in 0..node.n_children()? {
            let instances = node.child(k)?.filter_get_filter()?;
            if let Some(earlier) = &earlier {
                self.add(&pairs.ordered.intersect_domain(&instances)?.intersect_range(earlier)?)?;
                if !is_sequence {
                    self.add(&pairs.ordered.intersect_domain(earlier)?.intersect_range(&instances)?)?;
                }
            }
            let inside = pairs.map(|pairs| pairs.intersect_domain(&instances)?.intersect_range(&instances))?;
            node = self.below(node.child(k)?, inside)?.parent()?;
            earlier = Some(match earlier {
                Some(earlier) => earlier.union(&instances)?,
                None => instances,
            });
        }
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependence::dependences;
    use crate::fixture::test_scop;

    fn flags(sketch: &str) -> Vec<bool> {
        let scop = test_scop(sketch);
        let verdict = check_legal(&scop.schedule.clone().into(), &scop, &dependences(&scop).unwrap()).unwrap();
        let Legality::Legal(legal) = verdict else {
            panic!("the original order is legal");
        };
        let mut out = Vec::new();
        legal
            .tree()
            .schedule
            .foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
                if node.get_type()? == ScheduleNodeType::Band {
                    for m in 0..node.band_n_member()? {
                        out.push(node.band_member_get_coincident(m)?);
                    }
                }
                Ok(true)
            })
            .unwrap();
        out
    }

    /// Whether the loops may run with the outer one backwards.
    fn may_turn(sketch: &str) -> bool {
        let scop = test_scop(sketch);
        let tree = crate::transform::labelled(&scop.schedule).unwrap().into();
        let step = Step::Reverse { band: crate::transform::BandId { number: 0, level: 0 }, member: 0 };
        let turned = step.apply(&tree, &scop).unwrap();
        matches!(check_legal(&turned, &scop, &dependences(&scop).unwrap()).unwrap(), Legality::Legal(_))
    }

    #[test]
    fn only_parameters_for_which_the_new_order_runs_count() {
        let nest = "for i : 0 <= i < p0
                      for j : 0 <= j < p1
                        read A0[2i + j # 4]; write A0[2i + j # 4]";
        assert!(!may_turn(nest));
        // Where there are two iterations of i, there is none of j.
        assert!(may_turn(&format!("context 2 p0 <= 4 - p1\n{nest}")));
    }

    #[test]
    fn a_loop_inside_of_the_one_that_carries_is_coincident() {
        let sketch = "for t : 0 <= t < p0
                        for i : 0 <= i < p0
                          read A0[t - 1, i + 1]; write A0[t, i]";
        assert_eq!(flags(sketch), [false, true]);
    }
    #[test]
    fn reductions_are_carried() {
        let sketch = "for i : 0 <= i < p0
                        for k : 0 <= k < p0
                          update A0[i] +; read A1[k]";
        assert_eq!(flags(sketch), [true, false]);
    }
}
