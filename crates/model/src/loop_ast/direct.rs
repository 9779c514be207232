//! Loops straight from a tree, where that is simple: each statement has one convex domain, and the statements in a loop have the same
//! bounds there.
//!
//! From the root down, each member of a band becomes a counter c, equal to the member's value. That equation gives one of the
//! statement's unknowns, a coordinate or a floor, in terms of c and what is known: after `c0 = floor(i/32)` and `c1 = i mod 32`, the
//! coordinate i is `32 c0 + c1`. The bounds of c are what the statement's constraints say of it once the other unknowns are eliminated;
//! a constraint on what is around the loop, which holds not yet, is a guard.
//!
//! isl's generator does all that and much more, at a price: this takes a small part of the time for most trees. What it makes is checked as
//! isl's loops are, and where it is not right, or nothing comes of it, isl is asked.

use super::generate::{AstError, expr_from_set, has_loop_below, minus_one, negated, role_of_member};
use super::{BinaryOp, Counter, Expr, For, Node};
use crate::inequalities::{Affine, Patience, System};
use crate::quasi_affine::{Form, Linear};
use crate::scop::{ParamId, StatementId};
use crate::transform::{Tree, label_above};
use isl::{BasicMap, DimType, IslError, Map, ScheduleNode, ScheduleNodeType, Set};
use planted::Fault;
use std::collections::{BTreeSet, HashMap};

/// Ensures, if there is one: it is what the tree says, as far as it was understood.
pub(super) fn loops(tree: &Tree, context: &Set, max_nodes: usize) -> Result<Option<Node>, AstError> {
    if !tree.copies.is_empty() {
        return Ok(None);
    }
    let mut known = Known::default();
    let everywhere = context.from_params()?;
    let of_context = match convex(&everywhere)? {
        // Less is known then: what is said of remainders is not looked at, nor what holds in a part alone.
        None => convex(&everywhere.remove_divs()?.simple_hull()?.to_set()?)?,
        all => all,
    };
    match &of_context {
        Some(context) => known.system.and(context),
        None => return Ok(None),
    }
    let (mut active, mut conditions) = (Vec::new(), Conditions::default());
    for domain in tree.schedule.get_domain()?.sets()? {
        let name = domain.get_tuple_name()?;
        let (Some(statement), Some(Instances { system, when })) =
            (StatementId::from_isl_name(&name), conditions.instances(&domain, context)?)
        else {
            return Ok(None);
        };
        let coordinates = (0..domain.dim(DimType::Set)?).map(|d| Affine::variable(Var::Unknown(d))).collect();
        let told = Active { statement, name, system, when, coordinates, floors: Vec::new() }.with_equations();
        let Some(told) = told else { return Ok(None) };
        active.push(told);
    }
    let mut maker = Maker { counters: 0, nodes: 0, max_nodes, patience: Patience::new(MOST_PAIRS), conditions };
    Ok(maker.node(&tree.schedule.get_root()?, active, &known)?)
}

/// Those in `system`, where a condition holds if there is one.
struct Instances {
    system: System<Var>,
    when: Option<usize>,
}

/// On parameters, each of which is no conjunction, as that a mode is another one than 131.
#[derive(Default)]
struct Conditions(Vec<(Set, Expr)>);

impl Conditions {
    fn instances(&mut self, domain: &Set, context: &Set) -> Result<Option<Instances>, AstError> {
        if let Some(system) = convex(domain)? {
            return Ok(Some(Instances { system, when: None }));
        }
        let instances = domain.gist_params(context)?;
        if let Some(system) = convex(&instances)? {
            return Ok(Some(Instances { system, when: None }));
        }
        let hull = instances.simple_hull()?.to_set()?;
        let condition = instances.params()?.gist(&hull.params()?.intersect(context)?)?;
        if !hull.intersect_params(&condition)?.intersect_params(context)?.is_subset(&instances)? {
            return Ok(None);
        }
        let Some(system) = convex(&hull)? else { return Ok(None) };
        for (known, (other, _)) in self.0.iter().enumerate() {
            if other.plain_is_equal(&condition)? {
                return Ok(Some(Instances { system, when: Some(known) }));
            }
        }
        let expr = expr_from_set(&condition, context)?;
        self.0.push((condition, expr));
        Ok(Some(Instances { system, when: Some(self.0.len() - 1) }))
    }
}

/// A tree that takes more is not simple: about a tenth of a second.
const MOST_PAIRS: u64 = 100_000;

/// In this order they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Var {
    Param(ParamId),
    /// Of the loops around, outermost first.
    Counter(usize),
    /// A coordinate or a floor that no counter tells yet.
    Unknown(usize),
}

impl Var {
    fn is_unknown(self) -> bool {
        matches!(self, Var::Unknown(_))
    }
}

pub(super) type Row = Affine<Var>;

/// A statement on the way to its leaf.
#[derive(Clone)]
struct Active {
    statement: StatementId,
    name: String,
    system: System<Var>,
    /// It runs only where that holds, of the [`Conditions`].
    when: Option<usize>,
    coordinates: Vec<Row>,
    floors: Vec<Floor>,
}

/// `value` is `of / by`, rounded down.
#[derive(Clone)]
struct Floor {
    of: Row,
    by: i128,
    value: Row,
}

/// What holds at a place among the loops, and the counters there.
#[derive(Clone, Default)]
struct Known {
    system: System<Var>,
    /// Of the [`Conditions`].
    holds: BTreeSet<usize>,
    counters: Vec<Expr>,
    in_thread: bool,
}

/// The same of a set.
fn convex(set: &Set) -> Result<Option<System<Var>>, IslError> {
    constraints(&Map::from_domain(set)?)
}

/// The constraints of a map, in which `Unknown`s are its dimensions, first those of its domain; `None` if they are not one conjunction, or
/// not about dimensions alone.
pub(super) fn constraints(map: &Map) -> Result<Option<System<Var>>, IslError> {
    let pieces: Vec<BasicMap> = map.basic_maps()?;
    let [piece] = pieces.as_slice() else { return Ok(None) };
    if piece.dim(DimType::Div)? > 0 {
        return Ok(None);
    }
    let mut vars = Vec::new();
    for k in 0..piece.dim(DimType::Param)? {
        let name = piece.get_space()?.get_dim_name(DimType::Param, k)?;
        let Some(param) = ParamId::from_isl_name(&name) else { return Ok(None) };
        vars.push((DimType::Param, k, Var::Param(param)));
    }
    let dims = piece.dim(DimType::In)?;
    vars.extend((0..dims).map(|k| (DimType::In, k, Var::Unknown(k))));
    vars.extend((0..piece.dim(DimType::Out)?).map(|k| (DimType::Out, k, Var::Unknown(dims + k))));
    let mut system = System::default();
    for constraint in piece.constraints()? {
        let Some(value) = constraint.get_constant_val()?.to_i64() else { return Ok(None) };
        let mut row = Row::number(value.into());
        for &(kind, k, var) in &vars {
            let Some(value) = constraint.get_coefficient_val(kind, k)?.to_i64() else { return Ok(None) };
            match row.plus(&Row::variable(var), value.into()) {
                Some(sum) => row = sum,
                None => return Ok(None),
            }
        }
        if constraint.is_equality()? { system.equate(row) } else { system.demand(row) }
    }
    Ok(Some(system))
}

impl Active {
    /// The value of a member of a band.
    fn value(&mut self, form: &Form) -> Option<Row> {
        let mut floors = Vec::new();
        for (inner, by) in &form.floors {
            let of = self.sum(inner, &floors)?;
            let same = self.floors.iter().find(|floor| floor.of == of && floor.by == *by);
            let value = match same {
                Some(floor) => floor.value.clone(),
                None => {
                    let value = Row::variable(Var::Unknown(self.coordinates.len() + self.floors.len()));
                    let rest = of.plus(&value, -by)?;
                    self.system.demand(rest.clone());
                    self.system.demand(Row::number(by - 1).plus(&rest, -1)?);
                    self.floors.push(Floor { of, by: *by, value: value.clone() });
                    value
                }
            };
            floors.push(value);
        }
        self.sum(&form.whole, &floors)
    }

    fn sum(&self, linear: &Linear, floors: &[Row]) -> Option<Row> {
        let mut sum = Row::number(linear.constant);
        for (name, times) in &linear.params {
            sum = sum.plus(&Row::variable(Var::Param(ParamId::from_isl_name(name)?)), *times)?;
        }
        for (times, value) in linear.dims.iter().zip(&self.coordinates) {
            sum = sum.plus(value, *times)?;
        }
        for (at, times) in linear.floors.iter().enumerate().filter(|(_, times)| **times != 0) {
            sum = sum.plus(floors.get(at)?, *times)?;
        }
        Some(sum)
    }

    /// The same where the counter is known to be this value.
    fn counted(mut self, counter: Var, value: &Row) -> Option<Active> {
        // A floor first: what it is taken of may be told by a later counter.
        let unknown = value.terms().filter(|(v, times)| v.is_unknown() && times.abs() == 1).max();
        let Some((v, times)) = unknown else {
            if value.terms().any(|(v, _)| v.is_unknown()) {
                return None;
            }
            self.system.equate(value.plus(&Row::variable(counter), -1)?);
            return Some(self);
        };
        // counter = ±v + rest
        let rest = value.with(v, &Row::number(0))?;
        self.told(v, &Row::variable(counter).plus(&rest, -1)?.times(times)?)
    }

    /// The same where an unknown is known to be this value.
    fn told(mut self, v: Var, value: &Row) -> Option<Active> {
        self.system = self.system.with(v, value)?;
        for row in &mut self.coordinates {
            *row = row.with(v, value)?;
        }
        for floor in &mut self.floors {
            (floor.of, floor.value) = (floor.of.with(v, value)?, floor.value.with(v, value)?);
        }
        Some(self)
    }

    /// The same with what its own equations tell: a coordinate that is a number, or the sum of others.
    fn with_equations(mut self) -> Option<Active> {
        while let Some((v, times, equation)) = self.telling_equation() {
            let value = equation.with(v, &Row::number(0))?.times(-times)?;
            self = self.told(v, &value)?;
        }
        Some(self)
    }

    fn telling_equation(&self) -> Option<(Var, i128, Row)> {
        self.system.equations().find_map(|equation| {
            let (v, times) = equation.terms().find(|(v, times)| v.is_unknown() && times.abs() == 1)?;
            Some((v, times, equation.clone()))
        })
    }

    /// What its constraints say of what is known.
    fn projected(&self, patience: &Patience) -> Option<System<Var>> {
        let mut system = self.system.clone();
        let unknowns = self.coordinates.len() + self.floors.len();
        for v in (0..unknowns).map(Var::Unknown) {
            system = system.without(v, patience)?;
        }
        // What contradicts itself has no rows that say so.
        (!system.is_contradiction()).then_some(system)
    }
}

/// The row is zero, or else not negative.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Condition {
    row: Row,
    is_zero: bool,
}

impl Condition {
    fn assume_in(&self, system: &mut System<Var>) {
        match self.is_zero {
            true => system.equate(self.row.clone()),
            false => system.demand(self.row.clone()),
        }
    }
}

/// What is asked before something runs.
#[derive(Clone, Default)]
struct Guards {
    rows: BTreeSet<Condition>,
    /// Of the [`Conditions`].
    whens: BTreeSet<usize>,
}

impl Guards {
    fn new(rows: BTreeSet<Condition>, active: &Active, known: &Known) -> Guards {
        Guards { rows, whens: active.when.filter(|when| !known.holds.contains(when)).into_iter().collect() }
    }

    /// What both ask.
    fn both(&self, other: &Guards) -> Guards {
        Guards {
            rows: self.rows.intersection(&other.rows).cloned().collect(),
            whens: self.whens.intersection(&other.whens).copied().collect(),
        }
    }
}

/// The iterations of a loop, and what has to hold for there to be any.
struct Bounds {
    /// `a c + … ≥ 0` with a > 0, and the others.
    below: Vec<Row>,
    above: Vec<Row>,
    guards: Guards,
    /// The one iteration, if it is one.
    only: Option<Row>,
}

impl Bounds {
    fn of(active: &Active, counter: Var, around: &Known, patience: &Patience) -> Option<Bounds> {
        let (system, known) = (active.projected(patience)?, &around.system);
        let mut guards = guards(&system, known, patience, |row| row.coefficient(counter) == 0);
        let equation = system.equations().find(|row| row.coefficient(counter) != 0);
        if let Some(equation) = equation {
            let by = equation.coefficient(counter);
            if by.abs() != 1 {
                return None;
            }
            let only = equation.plus(&Row::variable(counter), -by)?.times(-by)?;
            // What else is said of it is said of that value.
            let at = system.with(counter, &only)?;
            guards.extend(self::guards(&at, known, patience, |_| true));
            let guards = Guards::new(guards, active, around);
            return Some(Bounds { below: Vec::new(), above: Vec::new(), guards, only: Some(only) });
        }
        let mut rows: Vec<Row> = system.inequalities().filter(|row| row.coefficient(counter) != 0).collect();
        // Numbers first.
        rows.sort_by_key(|row| row.terms().count());
        let mut known = known.clone();
        guards.iter().for_each(|guard| guard.assume_in(&mut known));
        for at in (0..rows.len()).rev() {
            let mut others = known.clone();
            rows.iter().enumerate().filter(|(k, _)| *k != at).for_each(|(_, row)| others.demand(row.clone()));
            if others.implies(&rows[at], patience) {
                rows.remove(at);
            }
        }
        let (below, above): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.coefficient(counter) > 0);
        if below.is_empty() || above.is_empty() {
            return None;
        }
        Some(Bounds { below, above, guards: Guards::new(guards, active, around), only: None })
    }

    /// Of a loop for both, if one has no iterations that the other has not, which then has to ask further inside.
    fn together_with(
        mut self,
        mut other: Bounds,
        counter: Var,
        known: &System<Var>,
        patience: &Patience,
        may_ask_inside: bool,
    ) -> Option<Bounds> {
        let guards = self.guards.both(&other.guards);
        let is_same = (&self.below, &self.above, &self.only) == (&other.below, &other.above, &other.only);
        if is_same || may_ask_inside && self.includes(&other, counter, known, patience) {
            self.guards = guards;
            return Some(self);
        }
        other.guards = guards;
        (may_ask_inside && other.includes(&self, counter, known, patience)).then_some(other)
    }

    fn includes(&self, other: &Bounds, counter: Var, known: &System<Var>, patience: &Patience) -> bool {
        let mut inside = known.clone();
        other.below.iter().chain(&other.above).for_each(|row| inside.demand(row.clone()));
        if let Some(only) = &other.only {
            let Some(equation) = only.plus(&Row::variable(counter), -1) else { return false };
            inside.equate(equation);
        }
        self.only.is_none() && self.below.iter().chain(&self.above).all(|row| inside.implies(row, patience))
    }
}

/// What does not hold already.
fn guards(
    system: &System<Var>,
    known: &System<Var>,
    patience: &Patience,
    counts: impl Fn(&Row) -> bool,
) -> BTreeSet<Condition> {
    let equations = system.equations().filter(|row| counts(row) && !known.implies_zero(row, patience));
    let inequalities = system.inequalities().filter(|row| counts(row) && !known.implies(row, patience));
    let equations = equations.map(|row| Condition { row: row.clone(), is_zero: true });
    let mut guards: BTreeSet<Condition> =
        equations.chain(inequalities.map(|row| Condition { row, is_zero: false })).collect();
    // Of each, whether the others say it.
    for guard in guards.clone() {
        let mut others = known.clone();
        guards.iter().filter(|other| other.row != guard.row).for_each(|other| other.assume_in(&mut others));
        if !guard.is_zero && others.implies(&guard.row, patience) {
            guards.remove(&guard);
        }
    }
    guards
}

struct Maker {
    counters: u32,
    nodes: usize,
    max_nodes: usize,
    patience: Patience,
    conditions: Conditions,
}

/// `None`: it is not simple.
type Made = Result<Option<Node>, IslError>;

impl Maker {
    fn node(&mut self, node: &ScheduleNode, active: Vec<Active>, known: &Known) -> Made {
        self.nodes += 1;
        let is_there = |active: &Active| {
            let mut both = known.system.clone();
            both.and(&active.system);
            !both.is_impossible(&self.patience)
        };
        let active: Vec<Active> = active.into_iter().filter(is_there).collect();
        if active.is_empty() {
            return Ok(Some(Node::Block(Vec::new())));
        }
        if self.nodes > self.max_nodes || self.patience.is_at_an_end() {
            return Ok(None);
        }
        match node.get_type()? {
            ScheduleNodeType::Leaf => Ok(self.leaf(active, known)),
            ScheduleNodeType::Domain | ScheduleNodeType::Mark => self.node(&node.child(0)?, active, known),
            ScheduleNodeType::Sequence | ScheduleNodeType::Set => self.parts(node, active, known),
            ScheduleNodeType::Band => {
                let mut values = Vec::new();
                for row in node.band_get_partial_schedule()?.list()? {
                    values.push(Form::by_statement(&row)?);
                }
                self.members(node, &values, 0, active, known)
            }
            _ => Ok(None),
        }
    }

    fn parts(&mut self, node: &ScheduleNode, active: Vec<Active>, known: &Known) -> Made {
        let mut parts = Vec::new();
        for part in node.children()? {
            let mut inside = Vec::new();
            for set in part.filter_get_filter()?.sets()? {
                let Some(filter) = constraints(&Map::from_domain(&set)?)? else { return Ok(None) };
                let name = set.get_tuple_name()?;
                for active in active.iter().filter(|active| active.name == name) {
                    let mut active = active.clone();
                    // It speaks of coordinates, some of which counters have told.
                    let mut filter = filter.clone();
                    for (d, value) in active.coordinates.iter().enumerate() {
                        match filter.with(Var::Unknown(d), value) {
                            Some(told) => filter = told,
                            None => return Ok(None),
                        }
                    }
                    active.system.and(&filter);
                    inside.push(active);
                }
            }
            match self.node(&part.child(0)?, inside, known)? {
                Some(Node::Block(inner)) => parts.extend(inner),
                Some(other) => parts.push(other),
                None => return Ok(None),
            }
        }
        if planted::is(Fault::PartsSwapped) {
            parts.reverse();
        }
        Ok(Some(if parts.len() == 1 { parts.remove(0) } else { Node::Block(parts) }))
    }

    /// The loops of a band from member m on, and what is in them.
    fn members(
        &mut self,
        band: &ScheduleNode,
        values: &[HashMap<String, Form>],
        m: usize,
        active: Vec<Active>,
        known: &Known,
    ) -> Made {
        let Some(forms) = values.get(m) else { return self.node(&band.child(0)?, active, known) };
        let counter = Var::Counter(known.counters.len());
        // Where an innermost loop would ask in every iteration, isl makes several of it.
        let may_ask_inside = m + 1 < values.len() || has_loop_below(band)?;
        let mut inside = Vec::new();
        let mut all: Option<Bounds> = None;
        for mut active in active {
            let value = forms.get(&active.name).and_then(|form| active.value(form));
            let Some(active) = value.and_then(|value| active.counted(counter, &value)) else { return Ok(None) };
            let Some(bounds) = Bounds::of(&active, counter, known, &self.patience) else { return Ok(None) };
            let together = match all {
                None => Some(bounds),
                Some(others) => bounds.together_with(others, counter, &known.system, &self.patience, may_ask_inside),
            };
            let Some(together) = together else { return Ok(None) };
            all = Some(together);
            inside.push(active);
        }
        let Some(Bounds { below, above, mut guards, only }) = all else { return Ok(None) };
        if planted::is(Fault::EmptyLoopsTurn) {
            guards.rows.clear();
        }
        let (condition, mut known) = self.guarded(guards, known);
        let number = Counter(self.counters);
        self.counters += 1;
        let role = role_of_member(label_above(band)?, m, values.len(), band.band_member_get_coincident(m)?);
        let made = match only {
            Some(value) => {
                let (role, first) = (role.alone(), known.expr(&value));
                known.system.equate(value.plus(&Row::variable(counter), -1).expect("it was like this"));
                let is_plain = matches!(first, Expr::Int(_) | Expr::Param(_) | Expr::Counter(_));
                if is_plain && !role.is_jammed() {
                    known.counters.push(first);
                    self.members(band, values, m + 1, inside, &known)?
                } else {
                    known.counters.push(Expr::Counter(number));
                    let body = self.members(band, values, m + 1, inside, &known)?;
                    body.map(|body| {
                        loop_of(For {
                            counter: number,
                            last: first.clone(),
                            first,
                            step: 1,
                            body,
                            role,
                            untouched: Vec::new(),
                        })
                    })
                }
            }
            None => {
                let role = if known.in_thread { role.in_thread() } else { role };
                known.in_thread |= role.is_for_threads();
                let first = below.iter().map(|row| known.quotient(row, counter, End::First, &self.patience));
                let last = above.iter().map(|row| known.quotient(row, counter, End::Last, &self.patience));
                let (Some(first), Some(last)) = (first.collect::<Option<Vec<_>>>(), last.collect::<Option<Vec<_>>>())
                else {
                    return Ok(None);
                };
                let of = |op, bounds: Vec<Expr>| bounds.into_iter().reduce(|l, r| Expr::binary(op, l, r));
                let (Some(first), Some(mut last)) = (of(BinaryOp::Max, first), of(BinaryOp::Min, last)) else {
                    return Ok(None);
                };
                if planted::is(Fault::RemainderShort) && matches!(last, Expr::Binary(BinaryOp::Min, ..)) {
                    last = minus_one(last);
                }
                below.into_iter().chain(above).for_each(|row| known.system.demand(row));
                known.counters.push(Expr::Counter(number));
                let body = self.members(band, values, m + 1, inside, &known)?;
                body.map(|body| {
                    loop_of(For { counter: number, first, last, step: 1, body, role, untouched: Vec::new() })
                })
            }
        };
        Ok(made.map(|made| under(condition, made)))
    }

    fn leaf(&mut self, mut active: Vec<Active>, known: &Known) -> Option<Node> {
        let only = active.pop().filter(|_| active.is_empty())?;
        let is_told = |row: &Row| row.terms().all(|(v, _)| !v.is_unknown());
        if !only.coordinates.iter().all(is_told) {
            return None;
        }
        let rows = guards(&only.projected(&self.patience)?, &known.system, &self.patience, |_| true);
        let (condition, known) = self.guarded(Guards::new(rows, &only, known), known);
        let coordinates = only.coordinates.iter().map(|row| known.expr(row)).collect();
        let call = Node::Call { statement: only.statement, coordinates, found: Vec::new(), private: Vec::new() };
        Some(under(condition, call))
    }

    /// The condition, and what is known where it holds.
    fn guarded(&mut self, guards: Guards, known: &Known) -> (Option<Expr>, Known) {
        let mut inside = known.clone();
        let mut all = Vec::new();
        for when in guards.whens {
            inside.holds.insert(when);
            all.push(self.conditions.0[when].1.clone());
        }
        for guard in guards.rows {
            all.push(known.comparison(&guard));
            guard.assume_in(&mut inside.system);
        }
        let condition = all.into_iter().reduce(|others, this| Expr::binary(BinaryOp::And, others, this));
        self.nodes += usize::from(condition.is_some());
        (condition, inside)
    }
}

fn loop_of(f: For) -> Node {
    Node::For(Box::new(f))
}

fn under(condition: Option<Expr>, then: Node) -> Node {
    match condition {
        Some(_) if planted::is(Fault::GuardDropped) => then,
        Some(condition) => Node::If { condition, then: Box::new(then), otherwise: None },
        None => then,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    First,
    Last,
}

impl Known {
    fn variable(&self, v: Var) -> Expr {
        match v {
            Var::Param(p) => Expr::Param(p),
            Var::Counter(k) => self.counters[k].clone(),
            Var::Unknown(_) => unreachable!("it is told by then"),
        }
    }

    fn term(&self, v: Var, times: i128) -> Expr {
        match times {
            1 => self.variable(v),
            _ => Expr::binary(BinaryOp::Mul, Expr::Int(times), self.variable(v)),
        }
    }

    fn expr(&self, row: &Row) -> Expr {
        let mut sum: Option<Expr> = None;
        for (v, times) in row.terms() {
            sum = Some(match sum {
                None if times == -1 => negated(self.variable(v)),
                None => self.term(v, times),
                Some(sum) if times < 0 => Expr::binary(BinaryOp::Sub, sum, self.term(v, -times)),
                Some(sum) => Expr::binary(BinaryOp::Add, sum, self.term(v, times)),
            });
        }
        match (sum, row.constant) {
            (None, constant) => Expr::Int(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant) if constant < 0 => Expr::binary(BinaryOp::Sub, sum, Expr::Int(-constant)),
            (Some(sum), constant) => Expr::binary(BinaryOp::Add, sum, Expr::Int(constant)),
        }
    }

    /// The first or last counter for which the row is not negative.
    fn quotient(&self, row: &Row, counter: Var, end: End, patience: &Patience) -> Option<Expr> {
        let by = row.coefficient(counter);
        let rest = row.with(counter, &Row::number(0))?;
        let dividend = match end {
            // by · c + rest ≥ 0: c is −rest / by at least, rounded up.
            End::First => rest.times(-1)?.plus(&Row::number(by - 1), 1)?,
            // −by · c + rest ≥ 0
            End::Last => rest,
        };
        if by.abs() == 1 {
            return Some(self.expr(&dividend));
        }
        let is_positive = self.system.implies(&dividend, patience) || planted::is(Fault::QuotientTruncated);
        let op = if is_positive { BinaryOp::NonNegDiv } else { BinaryOp::FloorDiv };
        Some(Expr::binary(op, self.expr(&dividend), Expr::Int(by.abs())))
    }

    /// `x >= y + 1` for `x − y − 1 ≥ 0`.
    fn comparison(&self, Condition { row, is_zero }: &Condition) -> Expr {
        let side = |sign: i128| {
            let parts = row.terms().filter(|(_, times)| times.signum() == sign);
            parts.fold(Row::number(0), |sum, (v, times)| {
                sum.plus(&Row::variable(v), times.abs()).expect("it is part of what there was")
            })
        };
        let (mut left, mut right) = (side(1), side(-1));
        // Without anything on the left, the number is there: 7 >= x.
        if left.is_number() || row.constant > 0 && !right.is_number() {
            left.constant = row.constant;
        } else {
            right.constant = -row.constant;
        }
        let (op, left, right) = match (*is_zero, left.is_number()) {
            (true, false) => (BinaryOp::Eq, left, right),
            (true, true) => (BinaryOp::Eq, right, left),
            (false, false) => (BinaryOp::Ge, left, right),
            (false, true) => (BinaryOp::Le, right, left),
        };
        Expr::binary(op, self.expr(&left), self.expr(&right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use crate::loop_ast::order;
    use crate::transform::labelled;
    use expect_test::expect;

    /// What is made without isl, which is in order.
    fn made(text: &str) -> String {
        let scop = test_scop(text);
        let tree = labelled(&scop.schedule).unwrap().into();
        let Some(loops) = loops(&tree, &scop.context, 100).unwrap() else { return "not simple\n".into() };
        order::check(&loops, &tree, &scop.context).unwrap();
        loops.text(&scop)
    }

    #[test]
    fn a_mode_that_is_another_one_is_asked_where_statements_part() {
        let text = made(
            "for i : 0 <= i < p0\n  for j : 0 <= j < p0 and (p1 < 131 or p1 > 131)\n    read A0[i, j]; write A1[i, j]\n  \
             for j : 0 <= j < p0 and p1 = 131\n    read A0[i, j]; write A1[j, i]",
        );
        expect![[r#"
            if (p0 >= 1) {
              for (int c0 = 0; c0 <= p0 - 1; ++c0) {
                if (p1 >= 132 || p1 <= 130) {
                  for (int c1 = 0; c1 <= p0 - 1; ++c1) {
                    S0(c0, c1);
                  }
                }
                if (p1 == 131) {
                  for (int c2 = 0; c2 <= p0 - 1; ++c2) {
                    S1(c0, c2);
                  }
                }
              }
            }
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn what_the_context_says_of_remainders_is_known() {
        let text = made("context 1 <= p0 and p1 mod 2 = 1\nfor i : 0 <= i < p0 and p1 mod 2 = 1\n  write A0[i]");
        expect![[r#"
            for (int c0 = 0; c0 <= p0 - 1; ++c0) {
              S0(c0);
            }
        "#]]
        .assert_eq(&text);
    }
}
