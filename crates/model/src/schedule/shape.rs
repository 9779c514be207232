//! A schedule tree as plain data for the estimate: bands with what they do to each statement.

use super::cost::{Lanes, LoopKey, Moving, Nest, References};
use super::linear::step_of_loop;
use super::nominal::NOMINAL_SIZE;
use super::region::{Accesses, EstimatedRegion, SizedRegion};
use crate::scop::{ArrayId, StatementId};
use crate::transform::{BandId, Step, Steps, agreement_at, all_equal_at, label_above, statements_of};
use isl::{DimType, IslError, Map, Schedule, ScheduleNode, ScheduleNodeType, Set, UnionMap, UnionPwAff, Val};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(super) enum BandTree {
    Band { id: BandId, members: Vec<Member>, permutable: bool, child: Box<BandTree> },
    Sequence(Vec<BandTree>),
    Leaf(Vec<StatementId>),
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its position in the band before any step.
    pub position: usize,
    /// No dependence moves along it, whatever the order of the band's members.
    pub coincident: bool,
    /// What stands between it and vectors if it is the innermost loop of the nest.
    pub lanes: Lanes,
    pub trips: f64,
    /// For a loop over tiles or groups: how many iterations of the loop over points one of it is.
    tile: Option<i64>,
    /// It is written out.
    jammed: bool,
    /// Coefficients of the statement's dimensions; absent: not a plain affine row.
    rows: Rc<HashMap<StatementId, Vec<i64>>>,
    /// The loops around it, by number of band and position, whose iterations it must not mix: side by side in it they would depend on
    /// what its earlier iterations do.
    tied: Rc<BTreeSet<(u32, usize)>>,
}

impl Member {
    /// Some statement's loop counter is more than one of its dimensions.
    pub(super) fn is_skewed(&self) -> bool {
        self.rows.values().any(|row| row.iter().filter(|c| **c != 0).count() > 1)
    }
    /// Leaves the loop over groups; the result is the one over a group.
    fn grouped(&mut self, by: i64) -> Member {
        let trips = self.trips.min(by as f64);
        let points = Member { trips, tile: None, jammed: true, ..self.clone() };
        self.trips /= by as f64;
        self.tile = Some(self.tile.unwrap_or(1) * by);
        points
    }
    fn turn(&mut self) {
        self.rows = Rc::new(self.rows.iter().map(|(s, row)| (*s, row.iter().map(|c| -c).collect())).collect());
    }
}

impl BandTree {
    /// Loops one in the other, of which the innermost has independent iterations.
    fn ends_independent(&self) -> bool {
        match self {
            BandTree::Band { members, child, .. } if matches!(**child, BandTree::Leaf(_)) => {
                members.last().is_some_and(|innermost| innermost.coincident)
            }
            BandTree::Band { child, .. } => child.ends_independent(),
            BandTree::Leaf(_) | BandTree::Sequence(_) => false,
        }
    }

    /// What [`Step::apply`] makes of the tree, as far as the estimate looks at it.
    pub(super) fn applied(&self, steps: &[Step]) -> BandTree {
        let mut ids = Vec::new();
        self.for_each_band(&mut |band, _, _| ids.push(band));
        self.applied_to(steps, &mut ids)
    }

    /// `ids`: of all bands so far.
    fn applied_to(&self, steps: &[Step], ids: &mut Vec<BandId>) -> BandTree {
        match self {
            BandTree::Leaf(statements) => BandTree::Leaf(statements.clone()),
            BandTree::Sequence(parts) => BandTree::Sequence(parts.iter().map(|p| p.applied_to(steps, ids)).collect()),
            BandTree::Band { id, members, permutable, child } => {
                let mut id = *id;
                let mut members = members.clone();
                let mut around = Vec::new();
                let mut written_out = Vec::new();
                for step in steps {
                    match step {
                        _ if step.band() != id => {}
                        Step::Permute { order, .. } => members = order.iter().map(|m| members[*m].clone()).collect(),
                        Step::Reverse { member, .. } => members[*member].turn(),
                        Step::Tile { sizes, .. } => {
                            around.push((id, cut(&mut members, sizes)));
                            id = id.points();
                            ids.push(id);
                        }
                        Step::Jam { member, by, .. } => {
                            let points = id.cut_beside(ids.iter().copied());
                            ids.push(points);
                            written_out.push((points, members[*member].grouped(*by)));
                        }
                        // Taken before the estimate looks at the tree.
                        Step::Skew { .. } => {}
                        // What copies cost and gain is not estimated.
                        Step::Pack { .. } | Step::Threads { .. } | Step::Vectors { .. } => {}
                    }
                }
                let mut child = Box::new(child.applied_to(steps, ids));
                written_out.into_iter().for_each(|(id, points)| child.sink(id, &points));
                let points = BandTree::Band { id, members, permutable: *permutable, child };
                around.into_iter().rev().fold(points, |inner, (id, members)| BandTree::Band {
                    id,
                    members,
                    permutable: *permutable,
                    child: Box::new(inner),
                })
            }
        }
    }

    /// The loop stands above all leaves.
    fn sink(&mut self, id: BandId, member: &Member) {
        match self {
            BandTree::Band { child, .. } => child.sink(id, member),
            BandTree::Sequence(parts) => parts.iter_mut().for_each(|part| part.sink(id, member)),
            BandTree::Leaf(_) => {
                let leaf = std::mem::replace(self, BandTree::Sequence(Vec::new()));
                *self = BandTree::Band { id, members: vec![member.clone()], permutable: false, child: Box::new(leaf) };
            }
        }
    }

    fn for_each_member(&mut self, visit: &mut impl FnMut(&mut Member)) {
        match self {
            BandTree::Band { members, child, .. } => {
                members.iter_mut().for_each(&mut *visit);
                child.for_each_member(visit);
            }
            BandTree::Sequence(parts) => parts.iter_mut().for_each(|part| part.for_each_member(visit)),
            BandTree::Leaf(_) => {}
        }
    }

    pub(super) fn for_each_outermost(&self, visit: &mut impl FnMut(BandId, &[Member], bool)) {
        match self {
            BandTree::Band { id, members, permutable, .. } => visit(*id, members, *permutable),
            BandTree::Sequence(parts) => parts.iter().for_each(|part| part.for_each_outermost(visit)),
            BandTree::Leaf(_) => {}
        }
    }

    fn for_each_leaf(&self, visit: &mut impl FnMut(&[StatementId])) {
        match self {
            BandTree::Band { child, .. } => child.for_each_leaf(visit),
            BandTree::Sequence(parts) => parts.iter().for_each(|part| part.for_each_leaf(visit)),
            BandTree::Leaf(statements) => visit(statements),
        }
    }

    /// Outer before inner.
    pub(super) fn for_each_band(&self, visit: &mut impl FnMut(BandId, &[Member], bool)) {
        match self {
            BandTree::Band { id, members, permutable, child } => {
                visit(*id, members, *permutable);
                child.for_each_band(visit);
            }
            BandTree::Sequence(parts) => parts.iter().for_each(|part| part.for_each_band(visit)),
            BandTree::Leaf(_) => {}
        }
    }
}

/// Leaves the loops over points; the result are those over tiles.
fn cut(members: &mut [Member], sizes: &[i64]) -> Vec<Member> {
    let mut tiles = Vec::new();
    for (member, &size) in members.iter_mut().zip(sizes) {
        // Not rounded up: partial tiles are smaller, and the instances must stay as many as they are.
        tiles.push(Member { trips: member.trips / size as f64, tile: Some(size), ..member.clone() });
        member.trips = member.trips.min(size as f64);
    }
    tiles
}

/// Everything that the estimate needs of a tree, and of what steps make of it.
pub(super) struct EstimatedTree {
    pub shape: BandTree,
    /// Statements with control flow in them.
    rigid: Rc<BTreeSet<StatementId>>,
    /// And before them.
    predicated: Rc<BTreeSet<StatementId>>,
    accesses: Rc<HashMap<StatementId, Accesses>>,
}

/// A band as the search sees it.
pub(super) struct EstimatedBand {
    pub id: BandId,
    pub members: Vec<Member>,
    pub permutable: bool,
    /// There are no loops below it.
    pub is_innermost: bool,
    /// Nor are there several parts.
    pub is_leaf: bool,
    /// Most of its statements that are together in one innermost loop.
    pub statements: usize,
    pub inside: BTreeSet<StatementId>,
    /// The numbers of the bands around it.
    pub around: Vec<u32>,
    /// Copies of its statements side by side share something, and nothing is in their way.
    pub may_be_jammed: bool,
    /// Some of them do nothing where a predicate does not hold.
    pub is_predicated: bool,
    /// Of the loops below it, if they are one in the other, the innermost has independent iterations.
    pub ends_independent: bool,
}

impl EstimatedTree {
    /// Outer before inner.
    pub(super) fn bands(&self) -> Vec<EstimatedBand> {
        let mut out = Vec::new();
        self.add_bands(&self.shape, &mut Vec::new(), &mut out);
        out
    }

    fn add_bands(&self, shape: &BandTree, around: &mut Vec<u32>, out: &mut Vec<EstimatedBand>) {
        match shape {
            BandTree::Leaf(_) => {}
            BandTree::Sequence(parts) => parts.iter().for_each(|part| self.add_bands(part, around, out)),
            BandTree::Band { id, members, permutable, child } => {
                let mut is_innermost = true;
                child.for_each_band(&mut |_, _, _| is_innermost = false);
                let (mut most, mut may_be_jammed, mut is_predicated) = (0, true, false);
                let mut inside = BTreeSet::new();
                child.for_each_leaf(&mut |statements| {
                    inside.extend(statements);
                    most = most.max(statements.len());
                    may_be_jammed &= statements.iter().all(|s| !self.rigid.contains(s));
                    is_predicated |= statements.iter().any(|s| self.predicated.contains(s));
                });
                out.push(EstimatedBand {
                    id: *id,
                    members: members.clone(),
                    permutable: *permutable,
                    is_innermost,
                    is_leaf: matches!(**child, BandTree::Leaf(_)),
                    statements: most,
                    inside,
                    around: around.clone(),
                    may_be_jammed,
                    is_predicated,
                    ends_independent: child.ends_independent(),
                });
                around.push(id.number);
                self.add_bands(child, around, out);
                around.pop();
            }
        }
    }

    /// Requires: the bands of `schedule` are labelled.
    pub(super) fn of(region: &EstimatedRegion, schedule: &Schedule) -> Result<EstimatedTree, IslError> {
        let mut shape = region.shape(&schedule.get_root()?, &mut Vec::new())?;
        for (id, domain) in &region.sized.domains {
            measure_trips(&mut shape, *id, domain)?;
        }
        let (rigid, predicated) = (Rc::clone(&region.rigid), Rc::clone(&region.predicated));
        Ok(EstimatedTree { shape, rigid, predicated, accesses: Rc::clone(&region.accesses) })
    }

    /// The same tree where the region has another size.
    pub(super) fn with_size(&self, region: &SizedRegion) -> Result<EstimatedTree, IslError> {
        let mut shape = self.shape.clone();
        shape.for_each_member(&mut |member| member.trips = 1.0);
        for (id, domain) in &region.sized.domains {
            measure_trips(&mut shape, *id, domain)?;
        }
        let (rigid, predicated) = (Rc::clone(&self.rigid), Rc::clone(&self.predicated));
        Ok(EstimatedTree { shape, rigid, predicated, accesses: Rc::clone(&region.accesses) })
    }

    /// Skews after which references stand still along more loops than they do now.
    ///
    /// A triangle such as `for j: for i = j..n` arrives with counters that start at 0, where `A[i]` is `A[i + j]`: it moves along both
    /// loops, though copies for several `j`, side by side, need the same elements.
    ///
    /// Ensures: permutable bands stay so. Let (a, b) be the distances along the two loops; both are not negative. If b becomes a + b,
    /// it still is not; if it becomes b - a, a is 0 by `coincident`. A loop around the band has a = 0 for all that the band orders.
    pub(super) fn straightening(&self) -> Steps {
        let (_, references) = self.nest(&[]);
        let bands = self.bands();
        let mut steps = Steps::new();
        let (mut skewed, mut used): (BTreeSet<LoopKey>, BTreeSet<LoopKey>) = Default::default();
        for band in &bands {
            let around = bands.iter().filter(|b| b.id == band.id || band.around.contains(&b.id.number));
            let others: Vec<(BandId, &Member)> = around.flat_map(|b| b.members.iter().map(|m| (b.id, m))).collect();
            for member in band.members.iter().rev() {
                let own = LoopKey { band: band.id, position: member.position };
                if used.contains(&own) {
                    continue;
                }
                let pairs = others.iter().flat_map(|(id, other)| [1, -1].map(|by| (*id, *other, by)));
                let allowed = pairs.filter(|(id, other, by)| {
                    let other_key = LoopKey { band: *id, position: other.position };
                    let stays_permutable = *id != band.id || *by > 0 || other.coincident || !band.permutable;
                    other_key != own && !skewed.contains(&other_key) && stays_permutable
                });
                let gains = allowed.map(|(id, other, by)| {
                    let of = LoopKey { band: id, position: other.position };
                    (stand_still(&references, own, of, by), of, by)
                });
                if let Some((gain, of, by)) = gains.max_by_key(|(gain, ..)| *gain)
                    && gain > 0
                {
                    skewed.insert(own);
                    used.insert(of);
                    let of = (of.band, of.position);
                    steps.push(Step::Skew { band: band.id, member: member.position, by, of });
                }
            }
        }
        steps
    }

    /// The nest that the steps make of the tree.
    pub(super) fn nest(&self, steps: &[Step]) -> (Vec<Nest>, References) {
        let mut references = References::new();
        let nest = self.build(&self.shape.applied(steps), &mut Vec::new(), &mut references);
        (nest, references)
    }

    fn build<'a>(
        &self,
        shape: &'a BandTree,
        around: &mut Vec<(BandId, &'a Member)>,
        references: &mut References,
    ) -> Vec<Nest> {
        match shape {
            BandTree::Leaf(statements) => {
                for s in statements {
                    references.insert(*s, self.moving(*s, around));
                }
                statements.iter().map(|s| Nest::Statement(*s)).collect()
            }
            BandTree::Sequence(parts) => parts.iter().flat_map(|p| self.build(p, around, references)).collect(),
            BandTree::Band { id, members, child, .. } => {
                // One tile is no loop.
                let loops: Vec<_> = members.iter().filter(|m| m.tile.is_none() || m.trips > 1.0).collect();
                around.extend(loops.iter().map(|member| (*id, *member)));
                let inner = self.build(child, around, references);
                around.truncate(around.len() - loops.len());
                let beside = side_by_side(&inner);
                loops.iter().rev().fold(inner, |body, Member { position, trips, lanes, jammed, tied, .. }| {
                    vec![Nest::Loop {
                        key: LoopKey { band: *id, position: *position },
                        trips: *trips,
                        lanes: if tied.is_disjoint(&beside) { *lanes } else { Lanes::Ordered },
                        jammed: *jammed,
                        body,
                    }]
                })
            }
        }
    }

    fn moving(&self, statement: StatementId, around: &[(BandId, &Member)]) -> Moving {
        let accesses = &self.accesses[&statement];
        let mut moving = Moving {
            loops: BTreeSet::new(),
            references: accesses.references.iter().map(|a| a.reference.clone()).collect(),
            scalars: accesses.scalars,
            operations: accesses.operations,
        };
        // A loop over tiles moves a statement as the one over points does, but further.
        let points: Vec<_> = around.iter().filter(|(_, member)| member.tile.is_none()).collect();
        let rows: Option<Vec<&[i64]>> = points.iter().map(|(_, m)| m.rows.get(&statement).map(Vec::as_slice)).collect();
        for (k, (band, point)) in points.iter().enumerate() {
            let zero = rows.as_ref().is_some_and(|r| r[k].iter().all(|c| *c == 0));
            if zero {
                continue;
            }
            // A statement that is not in every iteration moves further from one to the next than this says.
            let is_whole = |step: &Vec<f64>| step.iter().all(|d| d.fract() == 0.0);
            let step = rows.as_ref().and_then(|r| step_of_loop(r, k)).filter(is_whole);
            let same = |(b, m): &&(BandId, &Member)| b.number == band.number && m.position == point.position;
            for (band, member) in around.iter().filter(same) {
                let key = LoopKey { band: *band, position: member.position };
                let scale = member.tile.unwrap_or(1) as f64;
                moving.loops.insert(key);
                for (reference, access) in moving.references.iter_mut().zip(&accesses.references) {
                    let stride = match (&step, &access.per_dimension) {
                        (Some(step), Some(bytes)) => {
                            let dot = |(d, b): (&f64, &f64)| d * b;
                            Some(scale * step.iter().zip(bytes).map(dot).sum::<f64>())
                        }
                        _ => None,
                    };
                    if stride != Some(0.0) {
                        reference.strides.insert(key, stride);
                    }
                }
            }
        }
        moving
    }
}

impl EstimatedRegion<'_> {
    fn shape(&self, node: &ScheduleNode, around: &mut Vec<Around>) -> Result<BandTree, IslError> {
        match node.get_type()? {
            ScheduleNodeType::Leaf => {
                let mut statements = statements_of(&node.get_domain()?)?;
                statements.sort();
                Ok(BandTree::Leaf(statements))
            }
            ScheduleNodeType::Band => self.band(node, around),
            ScheduleNodeType::Sequence | ScheduleNodeType::Set => {
                let parts = node.children()?.iter().map(|c| self.shape(c, around)).collect::<Result<_, _>>()?;
                Ok(BandTree::Sequence(parts))
            }
            _ => self.shape(&node.child(0)?, around),
        }
    }

    fn band(&self, node: &ScheduleNode, around: &mut Vec<Around>) -> Result<BandTree, IslError> {
        let rows = node.band_get_partial_schedule()?.list()?;
        let Some(label) = label_above(node)? else { return self.shape(&node.child(0)?, around) };
        let at_once = active(node, &self.at_once)?;
        let all = active(node, &self.lanes)?;
        let with_sums = self.lanes_with_sums.as_ref().map(|v| active(node, v)).transpose()?;
        let lanes = |row: &UnionPwAff, others: &[&UnionPwAff]| -> Result<Lanes, IslError> {
            let lanes = lanes(&all, with_sums.as_ref(), row, others)?;
            let is_ordered = lanes == Lanes::Chained && !self.hand_on(&active(node, &self.values)?, row, others)?;
            Ok(if is_ordered { Lanes::Ordered } else { lanes })
        };
        let mut members = Vec::new();
        for (m, row) in rows.iter().enumerate() {
            let others: Vec<&UnionPwAff> = rows.iter().enumerate().filter(|(k, _)| *k != m).map(|(_, r)| r).collect();
            let coincident = all_equal_at(&at_once, row)?;
            members.push(Member {
                position: m,
                coincident,
                lanes: if coincident { Lanes::Independent } else { lanes(row, &others)? },
                trips: 1.0,
                tile: None,
                jammed: false,
                rows: Rc::new(self.rows(row)?),
                tied: Rc::new(BTreeSet::new()),
            });
        }
        let outside = around.len();
        for (member, row) in members.iter().zip(&rows) {
            let loop_ = (label.band.number, member.position);
            around.push(Around { loop_, coincident: member.coincident, row: row.clone() });
        }
        let child = Box::new(self.shape(&node.child(0)?, around)?);
        around.truncate(outside);
        if matches!(*child, BandTree::Leaf(_)) {
            for (member, row) in members.iter_mut().zip(&rows).filter(|(member, _)| member.coincident) {
                member.tied = Rc::new(self.tied(node, row, around)?);
            }
        }
        let permutable = node.band_get_permutable()?;
        Ok(BandTree::Band { id: label.band, members, permutable, child })
    }

    /// The loops around whose iterations depend on each other through several iterations of the row, which has none that do within one of
    /// each. Along a loop around that no dependence moves along, nothing else can happen.
    fn tied(
        &self,
        node: &ScheduleNode,
        row: &UnionPwAff,
        around: &[Around],
    ) -> Result<BTreeSet<(u32, usize)>, IslError> {
        let mut tied = BTreeSet::new();
        let statements = node.get_universe_domain()?;
        for loose in around.iter().filter(|outer| !outer.coincident) {
            let inside = self.at_once.intersect_domain(&statements)?.intersect_range(&statements)?;
            let others = around.iter().filter(|outer| outer.loop_ != loose.loop_);
            let pairs = agreement_at(&inside, others.map(|outer| &outer.row))?.equal;
            if !all_equal_at(&pairs, row)? {
                tied.insert(loose.loop_);
            }
        }
        Ok(tied)
    }

    /// Is a value handed on from iteration to iteration of the row by many instances of a statement? Those on a plane that the statement
    /// leaves, such as the one with `j = k` of all `j`, are few.
    fn hand_on(&self, values: &UnionMap, row: &UnionPwAff, others: &[&UnionPwAff]) -> Result<bool, IslError> {
        let values = agreement_at(values, others.iter().copied())?.equal;
        for map in values.maps()? {
            let name = map.get_tuple_name(DimType::In)?;
            let statement = StatementId::from_isl_name(&name).and_then(|id| self.scop.statements.get(&id));
            let Some(statement) = statement else { return Ok(true) };
            let all = statement.domain.affine_hull()?.to_set()?;
            for piece in map.basic_maps()? {
                if all_equal_at(&UnionMap::from_basic_map(&piece)?, row)? {
                    continue;
                }
                let few = Map::from_basic_map(&piece)?.domain()?.affine_hull()?;
                if few.dim(DimType::Div)? > 0 || all.is_subset(&few.to_set()?)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn rows(&self, row: &UnionPwAff) -> Result<HashMap<StatementId, Vec<i64>>, IslError> {
        let mut out = HashMap::new();
        for part in row.pw_affs()? {
            let name = part.get_domain_space()?.get_tuple_name(DimType::Set)?;
            let Some(statement) = StatementId::from_isl_name(&name) else { continue };
            let pieces = part.pieces()?;
            let [(_, aff)] = pieces.as_slice() else { continue };
            if aff.involves_locals()? || !self.scop.statements.contains_key(&statement) {
                continue;
            }
            let coefficients: Option<Vec<i64>> = (0..part.dim(DimType::In)?)
                .map(|k| Ok(aff.get_coefficient_val(DimType::In, k)?.to_i64()))
                .collect::<Result<_, IslError>>()?;
            out.extend(coefficients.map(|c| (statement, c)));
        }
        Ok(out)
    }
}

/// A loop around a node.
struct Around {
    /// The number of its band, and its position there.
    loop_: (u32, usize),
    coincident: bool,
    row: UnionPwAff,
}

/// The loops that are written out in these parts, by number of band and position.
fn side_by_side(parts: &[Nest]) -> BTreeSet<(u32, usize)> {
    let mut out = BTreeSet::new();
    for part in parts {
        if let Nest::Loop { key, jammed, body, .. } = part {
            out.extend(jammed.then_some((key.band.number, key.position)));
            out.extend(side_by_side(body));
        }
    }
    out
}

/// The pairs that reach the node together: of its statements, and equal in all bands above it. Of a statement that is there in part, all
/// pairs are taken to do so.
fn active(node: &ScheduleNode, pairs: &UnionMap) -> Result<UnionMap, IslError> {
    let statements = node.get_universe_domain()?;
    let inside = pairs.intersect_domain(&statements)?.intersect_range(&statements)?;
    if node.get_schedule_depth()? == 0 {
        return Ok(inside);
    }
    let prefix = node.get_prefix_schedule_multi_union_pw_aff()?.list()?;
    Ok(agreement_at(&inside, &prefix)?.equal)
}

/// How many more arrays are walked along in such a way that they stand still along the loop `of`, if the loop `own` is skewed by it.
fn stand_still(references: &References, own: LoopKey, of: LoopKey, by: i64) -> i64 {
    let mut walks: Vec<(ArrayId, f64, f64)> = Vec::new();
    for moving in references.values().filter(|m| m.loops.contains(&own) && m.loops.contains(&of)) {
        for reference in &moving.references {
            let (Some(along), Some(across)) = (reference.along(own), reference.along(of)) else { continue };
            let walk = (reference.array, along, across);
            if along != 0.0 && !walks.contains(&walk) {
                walks.push(walk);
            }
        }
    }
    let change = |(_, along, across): &(ArrayId, f64, f64)| match across {
        across if *across == by as f64 * along => 1,
        across if *across == 0.0 => -1,
        _ => 0,
    };
    walks.iter().map(change).sum()
}

/// `with_sums` is given where it differs from `all`.
fn lanes(
    all: &UnionMap,
    with_sums: Option<&UnionMap>,
    row: &UnionPwAff,
    others: &[&UnionPwAff],
) -> Result<Lanes, IslError> {
    let carried = |pairs: &UnionMap| -> Result<bool, IslError> {
        Ok(!all_equal_at(&agreement_at(pairs, others.iter().copied())?.equal, row)?)
    };
    Ok(match with_sums {
        _ if !carried(all)? => Lanes::Independent,
        Some(with_sums) if !carried(with_sums)? => Lanes::Reductions,
        _ => Lanes::Chained,
    })
}

/// Raises the trips of each loop around the statement to what it is for an iteration in the middle of the outer loops.
fn measure_trips(shape: &mut BandTree, statement: StatementId, domain: &Set) -> Result<(), IslError> {
    fn path<'a>(shape: &'a mut BandTree, statement: StatementId, out: &mut Vec<&'a mut Member>) -> bool {
        match shape {
            BandTree::Leaf(statements) => statements.contains(&statement),
            BandTree::Sequence(parts) => {
                for part in parts {
                    if contains(part, statement) {
                        return path(part, statement, out);
                    }
                }
                false
            }
            BandTree::Band { members, child, .. } => {
                out.extend(members.iter_mut());
                path(child, statement, out)
            }
        }
    }
    let mut members = Vec::new();
    if !path(shape, statement, &mut members) || domain.is_empty()? {
        return Ok(());
    }
    let mut rest = domain.clone();
    let space = domain.get_space()?;
    for member in members {
        let Some(row) = member.rows.get(&statement) else { continue };
        let mut aff = isl::Aff::zero_on_domain_space(&space)?;
        for (k, c) in row.iter().enumerate() {
            aff = aff.set_coefficient_val(DimType::In, k, &Val::int_from_si(space.ctx(), *c)?)?;
        }
        let (low, high) = (rest.min_val(&aff)?, rest.max_val(&aff)?);
        let (Some(low), Some(high)) = (low.to_i64(), high.to_i64()) else {
            member.trips = member.trips.max(NOMINAL_SIZE as f64);
            continue;
        };
        // A counter may start where its type does: differences need more bits than the type has.
        member.trips = member.trips.max(high as f64 - low as f64 + 1.0);
        for value in [low.midpoint(high), low] {
            let value = isl::Val::int_from_si(space.ctx(), value)?;
            let here = aff.add_constant_val(&value.neg()?)?.zero_basic_set()?.to_set()?.intersect(&rest)?;
            if !here.is_empty()? {
                rest = here;
                break;
            }
        }
    }
    Ok(())
}

fn contains(shape: &BandTree, statement: StatementId) -> bool {
    match shape {
        BandTree::Leaf(statements) => statements.contains(&statement),
        BandTree::Sequence(parts) => parts.iter().any(|p| contains(p, statement)),
        BandTree::Band { child, .. } => contains(child, statement),
    }
}

/// About how many instances one execution of the band runs, all statements below it taken together.
pub(super) fn instances_of_band(shape: &BandTree, number: u32) -> Option<f64> {
    fn inside(shape: &BandTree) -> f64 {
        match shape {
            BandTree::Leaf(statements) => statements.len() as f64,
            BandTree::Sequence(parts) => parts.iter().map(inside).sum(),
            BandTree::Band { members, child, .. } => members.iter().map(|m| m.trips).product::<f64>() * inside(child),
        }
    }
    match shape {
        BandTree::Band { id, .. } if id.number == number => Some(inside(shape)),
        BandTree::Band { child, .. } => instances_of_band(child, number),
        BandTree::Sequence(parts) => parts.iter().find_map(|p| instances_of_band(p, number)),
        BandTree::Leaf(_) => None,
    }
}
