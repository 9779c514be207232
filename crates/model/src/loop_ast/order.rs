//! Whether loops run what their schedule tree says, in its order: isl's generator is not believed.
//!
//! Each instance of the tree's domain has a time: on the way from the root to its leaf, its value of each member of a band and the
//! position of its part in each sequence. The tree's order is that of times; instances of equal times may run in any order.
//! Instances of a copy join the others at an extension node; the values of the members above it are their first coordinates, so that they
//! have times like all others.
//!
//! A *run* of the loops is a call and values of the counters around it. Let one run come before another, and follow both from the root
//! down for as long as they are at the same node with the same values of the counters. Where they part, they do so
//! - in a block, going to two of its children; or
//! - in a loop, going to two of its iterations. Nowhere else: a guard sends both the same way.
//!
//! So the loops are in the tree's order if
//! - for each block and two calls in different children of it, no run of the later call has an earlier time than one of the earlier
//!   call, the counters around the block being equal; and
//! - for each loop and two calls in it, which may be one, no run in a later iteration has an earlier time than one in an earlier
//!   iteration, the counters around the loop being equal.
//!
//! No instance runs twice if in all these pairs with equal times the instances differ. None runs that does not exist if all runs of calls
//! are in the tree, and each does if their instances together cover it. The cells of temporaries that a run fills or reads are those of the
//! tree's copies for its instance.
//!
//! Iterations of a loop that is said to be independent need not run in any order. The tree says so of a member of a band, for
//! instances that agree in everything above: all runs in different iterations have to differ in a coincident member first.
//!
//! Most times are a counter, or a number: comparing two such is looking at them. isl is asked about the others, with both runs' counters
//! as the variables of one set.

use super::sets::Around;
use super::{AstError, Expr, For, Node, OwnCell};
use crate::scop::{CopyId, StatementId, ValueId};
use crate::transform::{Copies, Tree};
use isl::{Aff, DimType, IslError, LocalSpace, Map, MultiAff, PwAff, ScheduleNode, ScheduleNodeType, Set, UnionSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// Ensures: for parameters in `context`, the loops run every instance of the tree exactly once and in the tree's order, and those
/// that are said to be independent are as independent as members of bands that are marked coincident. All expressions have a value
/// wherever control gets to them, and those of cells have the values that the tree's copies say.
pub(super) fn check(loops: &Node, tree: &Tree, context: &Set) -> Result<(), AstError> {
    let domain = tree.schedule.get_domain()?;
    let context = context.align_params(&domain.get_space()?)?;
    let mut leaves = Leaves::new();
    find_leaves(&tree.schedule.get_root()?, &domain, &[], &mut leaves)?;
    let mut checker = Checker { leaves, copies: &tree.copies, runs: Vec::new() };
    checker.node(loops, &Around::nothing(&context)?)?;
    checker.everything_runs(&context)
}

/// A leaf of the tree, for one of the statements and copies that reach it.
struct Leaf {
    instances: Set,
    times: Vec<TreeTime>,
}

/// By the name that a statement or a copy has in isl; more than one where filters divide its instances.
type Leaves = BTreeMap<String, Vec<Leaf>>;

/// A time of a leaf's instances.
#[derive(Clone)]
enum TreeTime {
    Part(Part),
    Member { value: PwAff, coincident: bool },
}

/// The position in a sequence, or, without order, in a set.
#[derive(Clone, Copy)]
struct Part {
    position: usize,
    ordered: bool,
}

/// The same for all statements and copies.
#[derive(Clone)]
enum Above {
    Part(Part),
    Member { values: Vec<PwAff>, coincident: bool },
}

fn find_leaves(node: &ScheduleNode, reaching: &UnionSet, above: &[Above], leaves: &mut Leaves) -> Result<(), AstError> {
    let (mut reaching, mut above) = (reaching.clone(), above.to_vec());
    match node.get_type()? {
        ScheduleNodeType::Leaf => {
            for instances in reaching.sets()? {
                let times = above.iter().map(|above| above.of(&instances)).collect::<Result<_, _>>()?;
                leaves.entry(instances.get_tuple_name()?).or_default().push(Leaf { instances, times });
            }
            return Ok(());
        }
        ScheduleNodeType::Band => {
            for (m, row) in node.band_get_partial_schedule()?.list()?.into_iter().enumerate() {
                above.push(Above::Member { values: row.pw_affs()?, coincident: node.band_member_get_coincident(m)? });
            }
        }
        kind @ (ScheduleNodeType::Sequence | ScheduleNodeType::Set) => {
            for (position, child) in node.children()?.iter().enumerate() {
                let part = Part { position, ordered: kind == ScheduleNodeType::Sequence };
                find_leaves(child, &reaching, &[&above[..], &[Above::Part(part)]].concat(), leaves)?;
            }
            return Ok(());
        }
        ScheduleNodeType::Filter => reaching = reaching.intersect(&node.filter_get_filter()?)?,
        ScheduleNodeType::Extension => {
            for instances in node.extension_get_extension()?.maps()? {
                give_times(&mut above, &instances)?;
                reaching = reaching.union(&UnionSet::from_set(&instances.range()?)?)?;
            }
        }
        ScheduleNodeType::Domain | ScheduleNodeType::Mark => {}
        other => return Err(AstError::NotUnderstood { what: format!("a node of the kind {other:?} in a tree") }),
    }
    find_leaves(&node.child(0)?, &reaching, &above, leaves)
}

/// Instances `{ [p…] -> C[p…, e…] }` that join the others get the times p.
fn give_times(above: &mut [Above], instances: &Map) -> Result<(), AstError> {
    let local = LocalSpace::from_space(&instances.range()?.get_space()?)?;
    let mut around = instances.clone();
    let mut depth = 0;
    for above in above {
        if let Above::Member { values, .. } = above {
            values.push(PwAff::from_aff(&Aff::var_on_domain(&local, DimType::Set, depth)?)?);
            around = around.equate(DimType::In, depth, DimType::Out, depth)?;
            depth += 1;
        }
    }
    if instances.dim(DimType::In)? != depth || !instances.is_subset(&around)? {
        return Err(AstError::NotUnderstood { what: format!("{instances} in a tree") });
    }
    Ok(())
}

impl Above {
    fn of(&self, instances: &Set) -> Result<TreeTime, AstError> {
        match self {
            Above::Part(part) => Ok(TreeTime::Part(*part)),
            Above::Member { values, coincident } => {
                let space = instances.get_space()?;
                for value in values {
                    if value.get_domain_space()?.has_equal_tuples(&space)? {
                        return Ok(TreeTime::Member { value: value.clone(), coincident: *coincident });
                    }
                }
                Err(AstError::NotUnderstood { what: format!("a band without a time for {instances}") })
            }
        }
    }
}

/// A call, as far as its instances are of one leaf and its coordinates are of one form.
struct Runs {
    /// Of the statement or copy.
    name: String,
    /// The leaf, among those of that name.
    leaf: usize,
    around: Around,
    coordinates: MultiAff,
    times: Vec<Time>,
}

enum Time {
    Part(Part),
    Member { value: PwAff, linear: Option<Linear>, coincident: bool },
}

/// Σ counters + Σ params + constant.
#[derive(Debug, PartialEq)]
struct Linear {
    counters: Vec<i128>,
    params: Vec<i128>,
    constant: i128,
}

/// How two runs part.
#[derive(Clone, Copy)]
enum Parting<'a> {
    Block,
    Loop(&'a For),
}

struct Checker<'a> {
    leaves: Leaves,
    copies: &'a Copies,
    /// In the order of the calls.
    runs: Vec<Runs>,
}

impl Checker<'_> {
    /// Which runs are of calls in `node`.
    fn node(&mut self, node: &Node, around: &Around) -> Result<Range<usize>, AstError> {
        let start = self.runs.len();
        match node {
            Node::Block(children) | Node::Jammed { points: children, .. } => {
                for child in children {
                    let later = self.node(child, around)?;
                    self.in_order(start..later.start, later, around.counters.len(), Parting::Block)?;
                }
            }
            Node::For(f) => {
                let all = self.node(&f.body, &around.inside(f)?)?;
                self.in_order(all.clone(), all, around.counters.len(), Parting::Loop(f))?;
            }
            Node::If { condition, then, otherwise } => {
                let condition = around.truth(condition)?;
                self.node(then, &around.within(&condition)?)?;
                if let Some(otherwise) = otherwise {
                    self.node(otherwise, &around.outside(&condition)?)?;
                }
            }
            Node::IfHold { .. } => return Err(AstError::NotUnderstood { what: "a question about data".into() }),
            Node::Call { statement, coordinates, found, .. } => {
                self.call(&statement.to_string(), coordinates, around)?;
                for (load, own) in found {
                    self.cell_of_reader(*statement, *load, own, start)?;
                }
            }
            Node::Copy { copy, around: p, coordinates, into, .. } => {
                self.call(&copy.to_string(), &[&p[..], coordinates].concat(), around)?;
                self.cell_of_copy(*copy, into, start)?;
            }
        }
        Ok(start..self.runs.len())
    }

    fn call(&mut self, name: &str, coordinates: &[Expr], around: &Around) -> Result<(), AstError> {
        let leaves = self.leaves.get(name).map_or(&[][..], Vec::as_slice);
        let mut exist: Option<Set> = None;
        for (points, coordinates) in pieces(coordinates, around)? {
            for (number, leaf) in leaves.iter().enumerate() {
                let space = points.get_space()?.map_from_domain_and_range(&leaf.instances.get_space()?)?;
                let coordinates = MultiAff::from_aff_list(&space, &coordinates)?;
                let here = Map::from_multi_aff(&coordinates)?.intersect_range(&leaf.instances)?.domain()?;
                let around = around.within(&points)?;
                // All of them, as a rule: then the instances' constraints are nothing new.
                let around = if around.points.is_subset(&here)? { around } else { around.within(&here)? };
                exist = Some(match exist {
                    Some(exist) => exist.union(&around.points)?,
                    None => around.points.clone(),
                });
                if around.points.is_empty()? {
                    continue;
                }
                let times = leaf.times_at(&coordinates, &around)?;
                self.runs.push(Runs { name: name.to_owned(), leaf: number, around, coordinates, times });
            }
        }
        let all = match exist {
            Some(exist) => around.points.is_subset(&exist)?,
            None => around.points.is_empty()?,
        };
        if all { Ok(()) } else { Err(wrong(format!("{name} runs where it has no instance"))) }
    }

    /// The load of a statement's runs from `start` on is told the right cell.
    fn cell_of_reader(
        &self,
        statement: StatementId,
        load: ValueId,
        own: &OwnCell,
        start: usize,
    ) -> Result<(), AstError> {
        let copies = self.copies.values().filter(|copy| copy.temporary == own.temporary);
        let mut readers = copies.flat_map(|copy| &copy.readers).filter(|r| r.statement == statement && r.load == load);
        match readers.next() {
            Some(reader) => self.cell_is(&reader.cell, own, start),
            None => Err(wrong(format!("{statement} finds a value in a temporary"))),
        }
    }

    /// The runs of a copy from `start` on are told the right cell.
    fn cell_of_copy(&self, copy: CopyId, own: &OwnCell, start: usize) -> Result<(), AstError> {
        match self.copies.get(&copy) {
            Some(known) if known.temporary == own.temporary => self.cell_is(&known.cell, own, start),
            _ => Err(wrong(format!("{copy} fills another temporary"))),
        }
    }

    /// `cells`: `{ S[i…] -> [t] }`
    fn cell_is(&self, cells: &Map, own: &OwnCell, start: usize) -> Result<(), AstError> {
        for runs in &self.runs[start..] {
            let right = Map::from_multi_aff(&runs.coordinates)?.apply_range(cells)?;
            let number = Map::from_pw_aff(&runs.around.value(&own.number)?)?.intersect_domain(&runs.around.points)?;
            if !number.is_subset(&right)? {
                return Err(wrong(format!("{} has another cell of {}", runs.name, own.temporary)));
            }
        }
        Ok(())
    }

    fn in_order(
        &self,
        earlier: Range<usize>,
        later: Range<usize>,
        shared: usize,
        parting: Parting,
    ) -> Result<(), AstError> {
        for a in &self.runs[earlier] {
            for b in &self.runs[later.clone()] {
                if !(Pair { a, b, shared, parting }).is_fine()? {
                    return Err(wrong(format!("{} runs before {}", a.name, b.name)));
                }
            }
        }
        Ok(())
    }

    fn everything_runs(&self, context: &Set) -> Result<(), AstError> {
        for (name, leaves) in &self.leaves {
            for (number, leaf) in leaves.iter().enumerate() {
                let mut missing = leaf.instances.intersect_params(context)?;
                for runs in self.runs.iter().filter(|runs| runs.name == *name && runs.leaf == number) {
                    missing = missing.subtract(&runs.instances(leaf)?)?;
                }
                if !missing.is_empty()? {
                    return Err(wrong(format!("{name} does not run for all of its instances")));
                }
            }
        }
        Ok(())
    }
}

fn wrong(what: String) -> AstError {
    AstError::Wrong { what }
}

/// The coordinates as one function for each part of the points around them.
fn pieces(coordinates: &[Expr], around: &Around) -> Result<Vec<(Set, Vec<Aff>)>, AstError> {
    let mut out = vec![(around.points.clone(), Vec::new())];
    for coordinate in coordinates {
        let pieces = around.value(coordinate)?.pieces()?;
        let mut next = Vec::new();
        for (points, functions) in out {
            for (piece, function) in &pieces {
                let points = if pieces.len() == 1 { points.clone() } else { points.intersect(piece)? };
                next.push((points, [&functions[..], std::slice::from_ref(function)].concat()));
            }
        }
        out = next;
    }
    Ok(out)
}

impl Leaf {
    fn times_at(&self, coordinates: &MultiAff, around: &Around) -> Result<Vec<Time>, AstError> {
        let mut times = Vec::new();
        // So many members are the counters of so many loops.
        let mut loops = 0;
        for time in &self.times {
            times.push(match time {
                TreeTime::Part(part) => Time::Part(*part),
                TreeTime::Member { value, coincident } => {
                    let value = value.pullback_multi_aff(coordinates)?;
                    let known = value.domain()?;
                    if !known.plain_is_universe()? && !around.points.is_subset(&known)? {
                        return Err(AstError::NotUnderstood {
                            what: format!("a band without a time for {coordinates}"),
                        });
                    }
                    let linear = Linear::of(&value, loops, around)?;
                    loops += usize::from(linear.as_ref().is_some_and(|linear| linear.counter() == Some(loops)));
                    Time::Member { value, linear, coincident: *coincident }
                }
            });
        }
        Ok(times)
    }
}

impl Linear {
    /// What a function is at all points, if that is linear and easy to see. It may be several things behind a guard, a number and a
    /// counter, say: then it is the counter at the position `favoured`, as it is for other calls in the same loop.
    fn of(value: &PwAff, favoured: usize, around: &Around) -> Result<Option<Linear>, AstError> {
        let pieces = value.pieces()?;
        let [(_, function)] = &pieces[..] else { return Ok(None) };
        let space = around.points.get_space()?;
        let function = function.align_params(&space)?;
        if function.dim(DimType::Param)? != space.dim(DimType::Param)? {
            return Ok(None);
        }
        let mut quotients = Vec::new();
        for k in 0..function.dim(DimType::Div)? {
            let Some(quotient) = Linear::near(&function.get_div(k)?, &quotients)? else { return Ok(None) };
            quotients.push(quotient);
        }
        let Some(guess) = Linear::near(&function, &quotients)? else { return Ok(None) };
        let is_it = |linear: &Linear| -> Result<bool, IslError> {
            let others = value.ne_set(&PwAff::from_aff(&linear.function(&space)?)?)?;
            around.points.intersect(&others)?.is_empty()
        };
        let is_certain = quotients.is_empty() && function.get_denominator_val()?.is_one()?;
        if is_certain && guess.counters.iter().chain(&guess.params).any(|v| *v != 0) || !is_certain && is_it(&guess)? {
            return Ok(Some(guess));
        }
        let mut counter =
            Linear { constant: 0, counters: vec![0; guess.counters.len()], params: vec![0; guess.params.len()] };
        if let Some(coefficient) = counter.counters.get_mut(favoured) {
            *coefficient = 1;
            if is_it(&counter)? {
                return Ok(Some(counter));
            }
        }
        Ok(is_certain.then_some(guess))
    }

    /// A guess, right for what is linear: with these in place of the function's quotients, and of ⌊(32a + 7b)/32⌋ the whole part a.
    fn near(function: &Aff, quotients: &[Linear]) -> Result<Option<Linear>, IslError> {
        let denominator = function.get_denominator_val()?;
        let numerator = |v: isl::Val| -> Result<Option<i128>, IslError> { Ok(v.mul(&denominator)?.to_i128()) };
        let numerators = |kind: DimType| -> Result<Option<Vec<i128>>, IslError> {
            (0..function.dim(kind)?).map(|k| numerator(function.get_coefficient_val(kind, k)?)).collect()
        };
        let (counters, params) = (numerators(DimType::In)?, numerators(DimType::Param)?);
        let (constant, divisor) = (numerator(function.get_constant_val()?)?, denominator.to_i128());
        let (Some(counters), Some(params), Some(constant), Some(divisor)) = (counters, params, constant, divisor)
        else {
            return Ok(None);
        };
        let mut linear = Linear { counters, params, constant };
        for (k, quotient) in quotients.iter().enumerate() {
            let times = numerator(function.get_coefficient_val(DimType::Div, k)?)?;
            let Some(sum) = times.and_then(|times| linear.plus(times, quotient)) else { return Ok(None) };
            linear = sum;
        }
        linear.each(|v| *v = v.div_euclid(divisor));
        Ok(Some(linear))
    }

    fn each(&mut self, change: impl FnMut(&mut i128)) {
        self.counters.iter_mut().chain(&mut self.params).chain([&mut self.constant]).for_each(change);
    }

    fn plus(mut self, times: i128, other: &Linear) -> Option<Linear> {
        let mut others = other.counters.iter().chain(&other.params).chain([&other.constant]);
        let mut fits = true;
        self.each(|v| {
            let sum =
                others.next().and_then(|other| other.checked_mul(times)).and_then(|product| v.checked_add(product));
            fits &= sum.is_some();
            *v = sum.unwrap_or(0);
        });
        fits.then_some(self)
    }

    fn function(&self, space: &isl::Space) -> Result<Aff, IslError> {
        let value = |v: &i128| isl::Val::from_str(space.ctx(), &v.to_string());
        let mut function = Aff::val_on_domain(&LocalSpace::from_space(space)?, &value(&self.constant)?)?;
        for (kind, coefficients) in [(DimType::In, &self.counters), (DimType::Param, &self.params)] {
            for (k, v) in coefficients.iter().enumerate().filter(|(_, v)| **v != 0) {
                function = function.set_coefficient_val(kind, k, &value(v)?)?;
            }
        }
        Ok(function)
    }

    /// The position of the counter that this is.
    fn counter(&self) -> Option<usize> {
        let mut used = self.counters.iter().enumerate().filter(|(_, v)| **v != 0);
        let (position, coefficient) = used.next()?;
        let alone = used.next().is_none() && self.constant == 0 && self.params.iter().all(|v| *v == 0);
        (alone && *coefficient == 1).then_some(position)
    }
}

impl Runs {
    /// The instances that run.
    fn instances(&self, leaf: &Leaf) -> Result<Set, IslError> {
        let coordinates = Map::from_multi_aff(&self.coordinates)?;
        // With all counters among the times, an instance knows its counters: nothing has to be projected out.
        let Some(counters) = self.counters_of(leaf)? else { return self.around.points.apply(&coordinates) };
        let there = Map::from_multi_aff(&counters)?.intersect_range(&self.around.points)?;
        let and_back = self.coordinates.pullback_multi_aff(&counters)?;
        let mut instances = there.domain()?;
        let local = LocalSpace::from_space(&leaf.instances.get_space()?)?;
        for (d, coordinate) in and_back.list()?.iter().enumerate() {
            instances = instances.intersect(&coordinate.eq_set(&Aff::var_on_domain(&local, DimType::Set, d)?)?)?;
        }
        Ok(instances)
    }

    fn counters_of(&self, leaf: &Leaf) -> Result<Option<MultiAff>, IslError> {
        let mut counters = Vec::new();
        for position in 0..self.around.counters.len() {
            let is_it = |time: &Time| matches!(time, Time::Member { linear: Some(linear), .. } if linear.counter() == Some(position));
            let Some(time) = self.times.iter().position(is_it) else { return Ok(None) };
            let TreeTime::Member { value, .. } = &leaf.times[time] else { return Ok(None) };
            let mut pieces = value.pieces()?;
            let (1, Some((_, function))) = (pieces.len(), pieces.pop()) else { return Ok(None) };
            counters.push(function);
        }
        let space = leaf.instances.get_space()?.map_from_domain_and_range(&self.around.points.get_space()?)?;
        MultiAff::from_aff_list(&space, &counters).map(Some)
    }
}

/// Runs of two calls, the first before the second: they share the counters around the node where they part.
struct Pair<'a> {
    a: &'a Runs,
    b: &'a Runs,
    shared: usize,
    parting: Parting<'a>,
}

impl Pair<'_> {
    /// None of the second has an earlier time than one of the first; or is the same; or is in another iteration of a loop that is
    /// independent without the tree saying so.
    fn is_fine(&self) -> Result<bool, AstError> {
        let independent = matches!(self.parting, Parting::Loop(f) if f.role.is_independent());
        // Those with equal times up to here, where isl had to be asked.
        let mut together: Option<Set> = None;
        for times in self.a.times.iter().zip(&self.b.times) {
            match times {
                (Time::Part(a), Time::Part(b)) if a.position == b.position => {}
                (Time::Part(a), Time::Part(b)) => {
                    let fine = !independent && (a.position < b.position || !a.ordered);
                    return Ok(fine || self.together(together)?.is_empty()?);
                }
                (Time::Member { value: a, linear: la, coincident }, Time::Member { value: b, linear: lb, .. }) => {
                    let later_is_fine = !independent || *coincident;
                    if let (None, Some(la), Some(lb)) = (&together, la, lb) {
                        match self.least_difference(la, lb) {
                            Some(Difference::None) => continue,
                            Some(Difference::Later) if later_is_fine => return Ok(true),
                            _ => {}
                        }
                    }
                    let both = self.together(together)?;
                    let (a, b) = (self.of_a(a)?, self.of_b(b)?);
                    let not_fine = if later_is_fine { a.gt_set(&b)? } else { a.ne_set(&b)? };
                    if !both.intersect(&not_fine)?.is_empty()? {
                        return Ok(false);
                    }
                    let both = both.intersect(&a.eq_set(&b)?)?;
                    if both.is_empty()? {
                        return Ok(true);
                    }
                    together = Some(both);
                }
                // Two leaves part at a sequence.
                _ => return Ok(false),
            }
        }
        if !independent && self.a.name != self.b.name {
            return Ok(true);
        }
        let mut same = self.together(together)?;
        if !independent {
            for (a, b) in self.a.coordinates.list()?.iter().zip(&self.b.coordinates.list()?) {
                let (a, b) = (self.of_a(&PwAff::from_aff(a)?)?, self.of_b(&PwAff::from_aff(b)?)?);
                same = same.intersect(&a.eq_set(&b)?)?;
            }
        }
        Ok(same.is_empty()?)
    }

    /// What the later time is at least beyond the earlier one, if that is easy to see.
    fn least_difference(&self, a: &Linear, b: &Linear) -> Option<Difference> {
        let (a_shared, a_own) = a.counters.split_at(self.shared);
        let (b_shared, b_own) = b.counters.split_at(self.shared);
        if a_shared != b_shared || a.params != b.params {
            return None;
        }
        let (least_step, a_inner, b_inner) = match self.parting {
            Parting::Block => (0, a_own, b_own),
            Parting::Loop(f) => {
                let (rate, a_inner) = a_own.split_first()?;
                let (other, b_inner) = b_own.split_first()?;
                if rate != other || *rate < 0 {
                    return None;
                }
                (rate.checked_mul(i128::from(f.step))?, a_inner, b_inner)
            }
        };
        if a_inner.iter().chain(b_inner).any(|v| *v != 0) {
            return None;
        }
        match least_step.checked_add(b.constant)?.checked_sub(a.constant)? {
            0 if least_step == 0 => Some(Difference::None),
            1.. => Some(Difference::Later),
            _ => None,
        }
    }

    /// The values of all counters, shared ones first, those of the earlier run before those of the later.
    fn together(&self, known: Option<Set>) -> Result<Set, AstError> {
        if let Some(known) = known {
            return Ok(known);
        }
        let (a, b) = (&self.a.around, &self.b.around);
        let (of_a, of_b) = (a.counters.len() - self.shared, b.counters.len() - self.shared);
        let of_a_first = a.points.insert_dims(DimType::Set, a.counters.len(), of_b)?;
        let both = of_a_first.intersect(&b.points.insert_dims(DimType::Set, self.shared, of_a)?)?;
        let Parting::Loop(_) = self.parting else { return Ok(both) };
        let earlier = self.of_a(&a.counter(self.shared)?)?;
        let later = self.of_b(&b.counter(self.shared)?)?;
        Ok(both.intersect(&earlier.lt_set(&later)?)?)
    }

    fn of_a(&self, value: &PwAff) -> Result<PwAff, IslError> {
        value.insert_dims(DimType::In, self.a.around.counters.len(), self.b.around.counters.len() - self.shared)
    }

    fn of_b(&self, value: &PwAff) -> Result<PwAff, IslError> {
        value.insert_dims(DimType::In, self.shared, self.a.around.counters.len() - self.shared)
    }
}

enum Difference {
    None,
    /// By one or more.
    Later,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{computed, test_scop};
    use crate::loop_ast::{AstOptions, BinaryOp, Counter, LoopRole, generate};
    use crate::scop::{ArrayId, Scop};
    use crate::transform::{BandId, Step, labelled};
    use crate::verify::{Verdict, verify};
    use isl::Schedule;

    /// isl, left to itself, runs S1(0, 0, 0) before S0(0), which has the earlier time.
    #[test]
    fn loops_in_the_wrong_order_are_not_taken() {
        let scop = test_scop(
            "for i : 0 <= i < 5
               write A0[i, 0]; read A1[i, 1]
               for j : i <= j < 6
                 for k : 0 <= k < 3
                   read A0[0, j]; may A0[0, j]
                 for k : 0 <= k < 3
                   read A0[i + 1, j]; update A0[i, j]",
        );
        let tree = r#"{ domain: "{ S1[i, j, k] : 0 <= i <= 4 and i <= j <= 5 and 0 <= k <= 2; S2[i, j, k] : 0 <= i <= 4 and i <= j <= 5 and 0 <= k <= 2; S0[i] : 0 <= i <= 4 }",
            child: { schedule: "[{ S1[i, j, k] -> [(floor((j)/2))]; S0[i] -> [(0)]; S2[i, j, k] -> [(floor((j)/2))] }, { S1[i, j, k] -> [(floor((i)/3))]; S0[i] -> [(0)]; S2[i, j, k] -> [(floor((i)/3))] }]",
            child: { schedule: "[{ S1[i, j, k] -> [((j) mod 2)]; S0[i] -> [(0)]; S2[i, j, k] -> [((j) mod 2)] }, { S1[i, j, k] -> [((i) mod 3)]; S0[i] -> [(0)]; S2[i, j, k] -> [((i) mod 3)] }]",
            child: { schedule: "[{ S1[i, j, k] -> [(k)]; S2[i, j, k] -> [(2 + k)]; S0[i] -> [(4i)] }]",
            child: { schedule: "[{ S1[i, j, k] -> [(1)]; S2[i, j, k] -> [(2 - k)]; S0[i] -> [(i)] }]" } } } } }"#;
        let schedule = Schedule::read_from_str(&scop.ctx, tree).unwrap();
        let node = generate(&schedule.into(), &scop.context, &AstOptions::default()).unwrap();
        assert!(
            matches!(verify(&scop, &computed(&scop), &node, &[]).unwrap(), Verdict::Same { .. }),
            "{}",
            node.text(&scop)
        );
    }

    const NEST: &str = "for i : 0 <= i < p0
                          write A0[i]
                          for j : 0 <= j <= i
                            read A0[i - 1]; write A1[j]";

    /// What is said of the loops after a change.
    fn complaint(sketch: &str, change: impl FnOnce(&mut Node)) -> Option<String> {
        let scop = test_scop(sketch);
        complaint_about(&scop.schedule.clone().into(), &scop, change)
    }

    fn complaint_about(tree: &Tree, scop: &Scop, change: impl FnOnce(&mut Node)) -> Option<String> {
        let mut node = generate(tree, &scop.context, &AstOptions::default()).unwrap();
        change(&mut node);
        match check(&node, tree, &scop.context) {
            Ok(()) => None,
            Err(AstError::Wrong { what }) => Some(what),
            Err(other) => panic!("{other}"),
        }
    }

    /// The same of `for i { for j { T[j] = A0[j, i] } for j { S0 } }`: A0 is copied before the inner loop.
    fn complaint_about_copies(change: impl FnOnce(&mut Node)) -> Option<String> {
        let scop = test_scop(
            "for i : 0 <= i < p0
               for j : 0 <= j < 10
                 read A0[j, i]; write A1[i, j]",
        );
        let pack = Step::Pack { band: BandId { number: 1, level: 0 }, array: ArrayId(0) };
        let tree = pack.apply(&labelled(&scop.schedule).unwrap().into(), &scop).unwrap();
        complaint_about(&tree, &scop, change)
    }
    fn copy(node: &mut Node) -> (&mut Vec<Expr>, &mut OwnCell) {
        let Node::For(f) = &mut parts(node)[0] else { panic!("no loop") };
        let Node::Copy { around, into, .. } = &mut f.body else { panic!("no copy") };
        (around, into)
    }
    fn found(node: &mut Node) -> &mut OwnCell {
        let Node::For(f) = &mut parts(node)[1] else { panic!("no loop") };
        let Node::Call { found, .. } = &mut f.body else { panic!("no call") };
        &mut found[0].1
    }

    fn outer(node: &mut Node) -> &mut For {
        let Node::For(f) = node else { panic!("{node:?} is no loop") };
        f
    }
    fn parts(node: &mut Node) -> &mut Vec<Node> {
        let Node::Block(parts) = &mut outer(node).body else { panic!("no block") };
        parts
    }
    fn less(e: &Expr) -> Expr {
        Expr::binary(BinaryOp::Sub, e.clone(), Expr::Int(1))
    }

    #[test]
    fn loops_as_generated_pass() {
        assert_eq!(complaint(NEST, |_| {}), None);
    }
    #[test]
    fn parts_in_another_order_are_noticed() {
        assert_eq!(complaint(NEST, |n| parts(n).swap(0, 1)).as_deref(), Some("S1 runs before S0"));
    }
    #[test]
    fn a_loop_that_runs_backwards_is_noticed() {
        let backwards = |n: &mut Node| {
            let Node::For(f) = &mut parts(n)[1] else { panic!("no loop") };
            let Node::Call { coordinates, .. } = &mut f.body else { panic!("no call") };
            coordinates[1] = Expr::binary(BinaryOp::Sub, coordinates[0].clone(), coordinates[1].clone());
        };
        assert_eq!(complaint(NEST, backwards).as_deref(), Some("S1 runs before S1"));
    }
    #[test]
    fn what_is_left_out_is_noticed() {
        let short = |n: &mut Node| outer(n).last = less(&outer(n).last);
        assert_eq!(complaint(NEST, short).as_deref(), Some("S0 does not run for all of its instances"));
    }
    #[test]
    fn what_runs_twice_is_noticed() {
        let again = |n: &mut Node| {
            let call = parts(n)[0].clone();
            parts(n).insert(0, call);
        };
        assert_eq!(complaint(NEST, again).as_deref(), Some("S0 runs before S0"));
    }
    #[test]
    fn what_does_not_exist_is_noticed() {
        let early = |n: &mut Node| outer(n).first = less(&outer(n).first);
        assert_eq!(complaint(NEST, early).as_deref(), Some("S0 runs where it has no instance"));
    }
    #[test]
    fn independence_that_the_tree_does_not_know_of_is_noticed() {
        let claim = |n: &mut Node| outer(n).role = LoopRole::Independent;
        assert_eq!(complaint(NEST, claim).as_deref(), Some("S0 runs before S0"));
    }
    #[test]
    fn broken_promises_are_noticed() {
        let negative = |n: &mut Node| {
            let c = Expr::Counter(Counter(0));
            let half = Expr::binary(BinaryOp::NonNegDiv, less(&c), Expr::Int(2));
            let condition = Expr::binary(BinaryOp::Le, half, c);
            let then = Box::new(std::mem::replace(&mut outer(n).body, Node::Block(Vec::new())));
            outer(n).body = Node::If { condition, then, otherwise: None };
        };
        assert!(complaint(NEST, negative).unwrap().contains("has no value"));
    }
    #[test]
    fn copies_in_their_place_pass() {
        assert_eq!(complaint_about_copies(|_| {}), None);
    }
    #[test]
    fn copies_behind_their_readers_are_noticed() {
        assert_eq!(complaint_about_copies(|n| parts(n).swap(0, 1)).as_deref(), Some("S0 runs before C0"));
    }
    #[test]
    fn copies_that_are_left_out_are_noticed() {
        let short = |n: &mut Node| {
            let Node::For(f) = &mut parts(n)[0] else { panic!("no loop") };
            f.last = less(&f.last);
        };
        assert_eq!(complaint_about_copies(short).as_deref(), Some("C0 does not run for all of its instances"));
    }
    #[test]
    fn copies_in_another_iteration_are_noticed() {
        let early = |n: &mut Node| copy(n).0[0] = less(&copy(n).0[0]);
        assert_eq!(complaint_about_copies(early).as_deref(), Some("C0 runs where it has no instance"));
    }
    #[test]
    fn other_cells_are_noticed() {
        let filled = |n: &mut Node| copy(n).1.number = less(&copy(n).1.number);
        assert_eq!(complaint_about_copies(filled).as_deref(), Some("C0 has another cell of A2"));
        let read = |n: &mut Node| found(n).number = less(&found(n).number);
        assert_eq!(complaint_about_copies(read).as_deref(), Some("S0 has another cell of A2"));
    }
}
