//! Loops over iterations that run side by side are written out where all of them exist, and stay loops at the ragged ends.
//!
//! The tree has such loops innermost: `for k { for p in 0..=min(3, n - 4 t - 1) { S(4 t + p, k) } }`. They are full if `first <= 0` and
//! `last >= by - 1`, since they are never larger. As far as that does not depend on k it is asked before the loop over k, of which there
//! are two versions then. What depends on k, as at the edge of a triangle, cuts its range in three: before, where it is full,
//! and behind. So control inside of k is as good as none. Code that is not full is there once: it runs wherever something is missing.

use super::{Apart, AstError, BinaryOp, Counter, Expr, For, LoopRole, Node, PrivateScalar};
use crate::scop::Scop;
use crate::transform::{ApartLoops, ApartPoints, BandId, Points, PrivateScalars, apart_by_both};
use planted::Fault;

/// Which iteration of each of the loops that are written out.
type Place = Vec<(BandId, i64)>;

/// More copies of calls than this in one place are not made.
const MAX_CALLS: usize = 64;

/// Ensures: the same instances in the same order, but for what independent iterations leave open; no loop is to be written out any more.
pub fn write_out(node: Node, scop: &Scop, apart: &ApartPoints) -> Node {
    let mut next = 0;
    for_each_loop(&node, &mut |f| next = next.max(f.counter.0 + 1));
    Writer { scop, apart, next }.node(node)
}

/// Calls are told which of the scalars that their iteration has for itself they use.
///
/// Requires: nothing is written out yet. Ensures: what is to be written out has more than one iteration.
pub fn own_scalars(node: &mut Node, scop: &Scop, scalars: &PrivateScalars) -> Result<(), AstError> {
    let none = PrivateScalars::new();
    let scalars = if planted::is(Fault::ScalarsSharedSideBySide) { &none } else { scalars };
    own_scalars_in(node, scop, scalars, &mut Vec::new())
}

fn own_scalars_in(
    node: &mut Node,
    scop: &Scop,
    scalars: &PrivateScalars,
    around: &mut Vec<(Points, Counter)>,
) -> Result<(), AstError> {
    match node {
        Node::Block(children) | Node::Jammed { points: children, .. } => {
            children.iter_mut().try_for_each(|child| own_scalars_in(child, scop, scalars, around))
        }
        Node::If { then, otherwise, .. } => {
            own_scalars_in(then, scop, scalars, around)?;
            otherwise.iter_mut().try_for_each(|other| own_scalars_in(other, scop, scalars, around))
        }
        Node::For(f) => {
            let LoopRole::Jammed { points } = f.role else {
                return own_scalars_in(&mut f.body, scop, scalars, around);
            };
            around.push((points, f.counter));
            own_scalars_in(&mut f.body, scop, scalars, around)?;
            around.pop();
            // One iteration has nothing beside it.
            if f.first == f.last {
                f.role = LoopRole::InOrder;
            }
            Ok(())
        }
        Node::Call { statement, private, .. } => {
            for (scalar, loops) in scalars {
                let accesses = &scop.statements[&*statement].accesses;
                if accesses.iter().all(|access| access.array != *scalar) {
                    continue;
                }
                let (mut number, mut of) = (Expr::Int(0), 1);
                for points in loops {
                    let Some((_, counter)) = around.iter().find(|(other, _)| other == points) else {
                        return Err(AstError::Alone { statement: *statement, band: points.band });
                    };
                    number = Expr::binary(BinaryOp::Mul, Expr::Int(points.by.into()), number);
                    number = Expr::binary(BinaryOp::Add, number, Expr::Counter(*counter));
                    of *= points.by;
                }
                private.push(PrivateScalar { scalar: *scalar, number: simpler(number), of });
            }
            Ok(())
        }
        // They are made when everything is written out.
        Node::IfHold { .. } | Node::Copy { .. } => Ok(()),
    }
}

struct Writer<'a> {
    scop: &'a Scop,
    apart: &'a ApartPoints,
    /// Counters of copies of loops are their own.
    next: u32,
}

/// A part of the loops with everything written out, and when that is what it was.
struct WrittenOut {
    node: Node,
    full: Vec<Limit>,
}

/// `value <= 0`.
#[derive(Clone, Debug, PartialEq)]
struct Limit(Expr);

type Range = (Expr, Expr);

/// The ranges of a loop's counter before, in and behind the part in which everything is written out.
struct Parts {
    low: Option<Range>,
    full: Range,
    high: Option<Range>,
}

impl Parts {
    /// Requires: the loop's step is 1.
    fn of(f: &For, ends: &[End]) -> Parts {
        let lowest = extreme(BinaryOp::Max, ends.iter().filter_map(End::lower));
        let highest = extreme(BinaryOp::Min, ends.iter().filter_map(End::upper));
        let min = |l: &Expr, r: Expr| Expr::binary(BinaryOp::Min, l.clone(), r);
        let max = |l: &Expr, r: Expr| Expr::binary(BinaryOp::Max, l.clone(), r);
        let first = lowest.as_ref().map_or(f.first.clone(), |lowest| max(&f.first, lowest.clone()));
        let last = highest.as_ref().map_or(f.last.clone(), |highest| min(&f.last, highest.clone()));
        Parts {
            low: lowest.map(|lowest| (f.first.clone(), min(&f.last, less(lowest)))),
            high: highest.map(|highest| (max(&first, more(highest)), f.last.clone())),
            full: (first, last),
        }
    }
    fn are_several(&self) -> bool {
        self.low.is_some() || self.high.is_some()
    }
    /// Where this is not so, the first of the ragged parts has all iterations.
    ///
    /// Requires: there is one.
    fn unless(&mut self, whole: &Expr) {
        let either = |then: Expr, otherwise: Expr| Expr::Select {
            condition: Box::new(whole.clone()),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        let Parts { low, full, high } = self;
        match (low, high) {
            // Behind the last iteration there is nothing, whatever the full part ends with.
            (Some((_, last_low)), high) => {
                let last = high.as_ref().map_or(&full.1, |(_, last)| last).clone();
                *last_low = either(last_low.clone(), last.clone());
                full.0 = either(full.0.clone(), more(last.clone()));
                if let Some((first_high, _)) = high {
                    *first_high = either(first_high.clone(), more(last));
                }
            }
            (None, Some((first_high, _))) => {
                *first_high = either(first_high.clone(), full.0.clone());
                full.1 = either(full.1.clone(), less(full.0.clone()));
            }
            (None, None) => {}
        }
    }
}

impl Writer<'_> {
    fn node(&mut self, node: Node) -> Node {
        match node {
            Node::For(f) if f.role.is_jammed() => self.here(Node::For(f)),
            Node::For(f) if is_innermost(&f.body) => self.innermost(*f),
            node => node.with_parts(&mut |part| self.node(part)),
        }
    }

    /// One part of the code with two versions.
    fn here(&mut self, node: Node) -> Node {
        match self.written_out(&node) {
            Some(WrittenOut { node: full, full: limits }) if has_jammed(&node) => either(&limits, full, in_order(node)),
            _ => in_order(node),
        }
    }

    /// Two versions of a loop, and as many parts of it as there are.
    fn innermost(&mut self, f: For) -> Node {
        if !has_jammed(&f.body) {
            return Node::For(Box::new(f));
        }
        let Some(WrittenOut { node: body, full }) = self.written_out(&f.body) else {
            return in_order(Node::For(Box::new(f)));
        };
        let (inside, before): (Vec<Limit>, Vec<Limit>) = full.into_iter().partition(|limit| limit.mentions(f.counter));
        let ends: Option<Vec<End>> = inside.iter().map(|limit| limit.end_of(f.counter)).collect();
        let Some(ends) = ends.filter(|_| f.step == 1) else {
            let body = either(&inside, body, in_order(self.renamed(f.body.clone())));
            let full = Node::For(Box::new(For { body, ..f.clone() }));
            return if before.is_empty() { full } else { either(&before, full, self.ragged(&f)) };
        };
        let asked = self.asked_before(&f, &body);
        let mut parts = Parts::of(&f, &ends);
        match asked {
            Some(calls) => {
                let (first, last) = parts.full.clone();
                let calls = calls.into_iter().map(|call| call.replaced(&counter_is(f.counter, &first))).collect();
                let several = Expr::binary(BinaryOp::Lt, first, last);
                let then = self.parts(&f, body, parts);
                Node::IfHold {
                    when: all(&before).map_or(several.clone(), |whole| Expr::binary(BinaryOp::And, whole, several)),
                    calls,
                    asked_for: f.counter,
                    then: Box::new(then),
                    otherwise: Box::new(self.ragged(&f)),
                }
            }
            // One ragged part is enough.
            None if parts.are_several() => {
                if let Some(whole) = all(&before).filter(|_| !planted::is(Fault::RaggedTakenForWhole)) {
                    parts.unless(&whole);
                }
                self.parts(&f, body, parts)
            }
            None if before.is_empty() => Node::For(Box::new(For { body, ..f })),
            None => {
                let ragged = self.ragged(&f);
                either(&before, Node::For(Box::new(For { body, ..f })), ragged)
            }
        }
    }

    /// The parts of a loop, of which the full one has this body and the loop's own counter.
    fn parts(&mut self, f: &For, body: Node, Parts { low, full, high }: Parts) -> Node {
        let range = |(first, last): (Expr, Expr)| For { first, last, ..f.clone() };
        let low = low.map(|low| self.ragged(&range(low)));
        let full = Node::For(Box::new(For { body, ..range(full) }));
        let high = high.map(|high| self.ragged(&range(high)));
        let mut parts: Vec<Node> = low.into_iter().chain([full]).chain(high).collect();
        if parts.len() == 1 { parts.remove(0) } else { Node::Block(parts) }
    }

    /// A loop in which not all iterations that are to run side by side need exist: they run one after the other. Where the loop's
    /// own iterations are independent, it is the inner one, so that it is as good for vectors, and for predicates that are the same in
    /// all its iterations, as if nothing ran side by side: in each of its iterations, the instances still run in their order.
    fn ragged(&mut self, f: &For) -> Node {
        let turned = (f.role.is_independent() && !f.role.is_for_threads()).then(|| turned_inside(f)).flatten();
        let node = in_order(turned.unwrap_or_else(|| Node::For(Box::new(f.clone()))));
        self.renamed(node)
    }

    /// Where all that is written out stands under predicates that are the same in all iterations, these are asked before the loop. If
    /// they hold, nothing is asked inside; if not, the iterations that would run side by side get loops of their own.
    ///
    /// Such loops are in order if the iterations of this one are independent. And the answers stay what they are. Suppose that an
    /// instance of the loop writes what a predicate reads. The predicate is read in all iterations, of which there are two at least: so
    /// there is one in another iteration than that of the write, and the two depend on each other.
    fn asked_before(&self, f: &For, body: &Node) -> Option<Vec<Node>> {
        let Node::Jammed { points, .. } = body else { return None };
        let is_asked_before = |point: &Node| {
            let Node::Call { statement, coordinates, .. } = point else { return false };
            let depth = self.scop.statements[statement].predicates.iter().map(|p| p.depth).max();
            depth.is_some_and(|depth| !coordinates[..depth].iter().any(|e| Limit(e.clone()).mentions(f.counter)))
        };
        (f.role.is_independent() && points.iter().all(is_asked_before)).then(|| points.clone())
    }

    /// `None`: that would be too much.
    fn written_out(&mut self, node: &Node) -> Option<WrittenOut> {
        let mut full = Vec::new();
        let node = self.copy_out(node, &mut full)?;
        (calls(&node) <= MAX_CALLS).then_some(WrittenOut { node, full })
    }

    fn copy_out(&mut self, node: &Node, full: &mut Vec<Limit>) -> Option<Node> {
        Some(match node {
            Node::For(f) if f.role.is_jammed() => {
                let mut points = Vec::new();
                self.points(f, &mut Vec::new(), &mut points, full)?;
                let apart = self.apart_in(&points);
                Node::Jammed { points: points.into_iter().map(|(_, point)| point).collect(), apart }
            }
            Node::For(f) => {
                if f.first != f.last {
                    return None;
                }
                let counter = self.fresh();
                let body = f.body.clone().replaced(&counter_is(f.counter, &Expr::Counter(counter)));
                let mut inside = Vec::new();
                let body = self.copy_out(&body, &mut inside)?;
                // Who asks for them stands before this loop, of one iteration.
                let value = counter_is(counter, &f.first);
                inside.iter().for_each(|Limit(limit)| Limit::add(limit.replaced(&value), full));
                Node::For(Box::new(For { counter, body, ..(**f).clone() }))
            }
            Node::Block(children) => {
                Node::Block(children.iter().map(|child| self.copy_out(child, full)).collect::<Option<_>>()?)
            }
            Node::If { condition, then, otherwise } => {
                let otherwise = match otherwise {
                    Some(other) => Some(Box::new(self.copy_out(other, full)?)),
                    None => None,
                };
                Node::If { condition: condition.clone(), then: Box::new(self.copy_out(then, full)?), otherwise }
            }
            Node::Jammed { .. } | Node::IfHold { .. } | Node::Call { .. } | Node::Copy { .. } => node.clone(),
        })
    }

    /// Loops directly in each other are one list of points, each with its place in them. `around`: the places so far.
    fn points(
        &mut self,
        f: &For,
        around: &mut Place,
        points: &mut Vec<(Place, Node)>,
        full: &mut Vec<Limit>,
    ) -> Option<()> {
        let LoopRole::Jammed { points: Points { by, band } } = f.role else { return None };
        if f.step != 1 {
            return None;
        }
        Limit::at_most(&f.first, 0, full);
        Limit::at_least(&f.last, i128::from(by) - 1, full);
        for value in 0..by {
            let body = f.body.clone().replaced(&counter_is(f.counter, &Expr::Int(i128::from(value))));
            around.push((band, value));
            match &body {
                Node::For(inner) if inner.role.is_jammed() => self.points(inner, around, points, full)?,
                body => points.push((around.clone(), self.copy_out(body, full)?)),
            }
            around.pop();
        }
        Some(())
    }

    /// What is apart for all statements in them.
    fn apart_in(&self, points: &[(Place, Node)]) -> Vec<Apart> {
        let mut all: Option<ApartLoops> = None;
        let nothing = ApartLoops::new();
        points.iter().for_each(|(_, point)| {
            point.for_each(&mut |node| {
                let Node::Call { statement, .. } = node else { return };
                let apart = self.apart.get(statement).unwrap_or(&nothing);
                all = Some(all.take().map_or_else(|| apart.clone(), |all| apart_by_both(&all, apart)));
            });
        });
        let apart = all.into_iter().flatten().map(|(array, loops)| {
            let mut places: Vec<Place> = Vec::new();
            let class = |(place, _): &(Place, Node)| {
                let place: Place = place.iter().filter(|(band, _)| loops.contains(band)).copied().collect();
                places.iter().position(|known| *known == place).unwrap_or_else(|| {
                    places.push(place);
                    places.len() - 1
                })
            };
            Apart { array, classes: points.iter().map(class).collect() }
        });
        apart.filter(|apart| apart.classes.iter().any(|class| *class != 0)).collect()
    }

    fn fresh(&mut self) -> Counter {
        self.next += 1;
        Counter(self.next - 1)
    }

    /// A copy with counters of its own.
    fn renamed(&mut self, node: Node) -> Node {
        let node = match node {
            Node::For(f) => self.with_own_counter(*f),
            node => node,
        };
        node.with_parts(&mut |part| self.renamed(part))
    }

    fn with_own_counter(&mut self, f: For) -> Node {
        let counter = self.fresh();
        let body = f.body.replaced(&counter_is(f.counter, &Expr::Counter(counter)));
        Node::For(Box::new(For { counter, body, ..f }))
    }
}

fn counter_is(counter: Counter, value: &Expr) -> impl Fn(&Expr) -> Option<Expr> {
    move |e| (*e == Expr::Counter(counter)).then(|| value.clone())
}

/// Loops that were to be written out run as loops.
fn in_order(mut node: Node) -> Node {
    if let Node::For(f) = &mut node
        && f.role.is_jammed()
    {
        f.role = LoopRole::Few;
    }
    node.with_parts(&mut in_order)
}

/// `None`: there are none.
fn all(limits: &[Limit]) -> Option<Expr> {
    let all = limits.iter().map(|Limit(value)| Expr::binary(BinaryOp::Le, value.clone(), Expr::Int(0)));
    all.reduce(|all, one| Expr::binary(BinaryOp::And, all, one))
}

fn either(limits: &[Limit], full: Node, ragged: Node) -> Node {
    match all(limits) {
        Some(_) if planted::is(Fault::RaggedTakenForWhole) => full,
        Some(condition) => Node::If { condition, then: Box::new(full), otherwise: Some(Box::new(ragged)) },
        None => full,
    }
}

/// The same instances with the loop inside of those to be written out, in the same order for each of its iterations: what these say of
/// its counter becomes a bound of its own. `None`: that is not known to be possible.
fn turned_inside(f: &For) -> Option<Node> {
    let (mut first, mut last) = (f.first.clone(), f.last.clone());
    let mut around: Vec<For> = Vec::new();
    let mut body = &f.body;
    while let Node::For(inner) = body
        && let LoopRole::Jammed { points } = inner.role
    {
        if inner.step != 1 {
            return None;
        }
        let (mut low, mut high) = (Vec::new(), Vec::new());
        Limit::at_most(&inner.first, 0, &mut low);
        Limit::at_least(&inner.last, i128::from(points.by) - 1, &mut high);
        let counter = Expr::Counter(inner.counter);
        let (mut own_first, mut own_last) = (Expr::Int(0), Expr::Int(i128::from(points.by) - 1));
        for Limit(above) in low {
            // The counter is `above` or more.
            let limit = Limit(simpler(Expr::binary(BinaryOp::Sub, above.clone(), counter.clone())));
            if !limit.mentions(f.counter) {
                own_first = Expr::binary(BinaryOp::Max, own_first, above);
                continue;
            }
            limit.end_of(f.counter)?.restrict(&mut first, &mut last);
        }
        for Limit(missing) in high {
            // It is `by - 1 - missing` or less.
            let most = simpler(Expr::binary(BinaryOp::Sub, Expr::Int(i128::from(points.by) - 1), missing));
            let limit = Limit(simpler(Expr::binary(BinaryOp::Sub, counter.clone(), most.clone())));
            if !limit.mentions(f.counter) {
                own_last = Expr::binary(BinaryOp::Min, own_last, most);
                continue;
            }
            limit.end_of(f.counter)?.restrict(&mut first, &mut last);
        }
        around.push(For { first: own_first, last: own_last, body: Node::Block(Vec::new()), ..(**inner).clone() });
        body = &inner.body;
    }
    if around.is_empty() || has_jammed(body) {
        return None;
    }
    let innermost = Node::For(Box::new(For { first, last, body: body.clone(), ..f.clone() }));
    Some(around.into_iter().rev().fold(innermost, |body, around| Node::For(Box::new(For { body, ..around }))))
}

/// Nothing but loops to be written out, and those of one iteration, is in it.
fn is_innermost(node: &Node) -> bool {
    let mut innermost = true;
    for_each_loop(node, &mut |f| innermost &= f.role.is_jammed() || f.first == f.last);
    innermost
}

fn has_jammed(node: &Node) -> bool {
    let mut any = false;
    for_each_loop(node, &mut |f| any |= f.role.is_jammed());
    any
}

fn for_each_loop(node: &Node, visit: &mut impl FnMut(&For)) {
    node.for_each(&mut |node| {
        if let Node::For(f) = node {
            visit(f);
        }
    });
}

/// So many calls and copies are in it.
fn calls(node: &Node) -> usize {
    let mut count = 0;
    node.for_each(&mut |node| count += usize::from(node.parts().is_empty()));
    count
}

/// What a limit says of the counter of a loop.
enum End {
    Lower(Expr),
    Upper(Expr),
}

impl End {
    fn lower(&self) -> Option<Expr> {
        if let End::Lower(e) = self { Some(e.clone()) } else { None }
    }
    fn upper(&self) -> Option<Expr> {
        if let End::Upper(e) = self { Some(e.clone()) } else { None }
    }
    fn restrict(self, first: &mut Expr, last: &mut Expr) {
        match self {
            End::Lower(e) => *first = Expr::binary(BinaryOp::Max, first.clone(), e),
            End::Upper(e) => *last = Expr::binary(BinaryOp::Min, last.clone(), e),
        }
    }
}

impl Limit {
    /// `value <= most`, taken apart; what is plainly so is nothing to ask.
    fn at_most(value: &Expr, most: i128, out: &mut Vec<Limit>) {
        match value {
            Expr::Binary(BinaryOp::Max, l, r) => {
                Limit::at_most(l, most, out);
                Limit::at_most(r, most, out);
            }
            Expr::Int(v) if *v <= most => {}
            _ => Limit::add(Expr::binary(BinaryOp::Sub, value.clone(), Expr::Int(most)), out),
        }
    }
    fn at_least(value: &Expr, least: i128, out: &mut Vec<Limit>) {
        match value {
            Expr::Binary(BinaryOp::Min, l, r) => {
                Limit::at_least(l, least, out);
                Limit::at_least(r, least, out);
            }
            Expr::Int(v) if *v >= least => {}
            _ => Limit::add(Expr::binary(BinaryOp::Sub, Expr::Int(least), value.clone()), out),
        }
    }
    /// Of two limits that differ by a number only the stricter counts. It may be asked where what it was taken from does not run, and
    /// what is known there of dividends may not be so.
    fn add(value: Expr, out: &mut Vec<Limit>) {
        let value = total(value);
        let Some(terms) = Terms::of(&value) else { return out.push(Limit(value)) };
        for Limit(other) in out.iter_mut() {
            let Some(others) = Terms::of(other).filter(|others| others.products == terms.products) else { continue };
            if terms.number > others.number {
                *other = terms.expr();
            }
            return;
        }
        out.push(Limit(terms.expr()));
    }
    fn mentions(&self, counter: Counter) -> bool {
        let mut found = false;
        self.0.for_each(&mut |e| found |= *e == Expr::Counter(counter));
        found
    }
    /// `None`: it is not of the form `counter <= …` or `counter >= …`.
    fn end_of(&self, counter: Counter) -> Option<End> {
        let mut terms = Terms::of(&self.0)?;
        let at = terms.products.iter().position(|(_, e)| *e == Expr::Counter(counter))?;
        let (factor, _) = terms.products.remove(at);
        let mentioned_again = terms.products.iter().any(|(_, e)| Limit(e.clone()).mentions(counter));
        match factor {
            _ if mentioned_again => None,
            1 => Some(End::Upper(terms.negated()?.expr())),
            -1 => Some(End::Lower(terms.expr())),
            _ => None,
        }
    }
}

/// The same where it has a value, and a value everywhere.
fn total(expr: Expr) -> Expr {
    let parts = |l: Box<Expr>, r: Box<Expr>| (total(*l), total(*r));
    match expr {
        Expr::Int(_) | Expr::Param(_) | Expr::Counter(_) => expr,
        Expr::Neg(e) => Expr::Neg(Box::new(total(*e))),
        Expr::Select { condition, then, otherwise } => {
            let (then, otherwise) = parts(then, otherwise);
            let condition = Box::new(total(*condition));
            Expr::Select { condition, then: Box::new(then), otherwise: Box::new(otherwise) }
        }
        Expr::Binary(BinaryOp::ExactDiv | BinaryOp::NonNegDiv, l, r) => {
            let (l, r) = parts(l, r);
            Expr::binary(BinaryOp::FloorDiv, l, r)
        }
        Expr::Binary(BinaryOp::NonNegRem, l, r) => {
            let (l, r) = parts(l, r);
            let whole = Expr::binary(BinaryOp::Mul, r.clone(), Expr::binary(BinaryOp::FloorDiv, l.clone(), r));
            Expr::binary(BinaryOp::Sub, l, whole)
        }
        Expr::Binary(BinaryOp::Power, l, r) => {
            let (l, r) = parts(l, r);
            Expr::binary(BinaryOp::Power, l, Expr::binary(BinaryOp::Max, r, Expr::Int(0)))
        }
        Expr::Binary(op, l, r) => {
            let (l, r) = parts(l, r);
            Expr::binary(op, l, r)
        }
    }
}

/// Σ factor · expression + number. What is no sum or product with a number is an expression of its own.
#[derive(Clone, Debug, PartialEq)]
struct Terms {
    products: Vec<(i128, Expr)>,
    number: i128,
}

impl Terms {
    /// `None`: there are numbers in it that 128 bits do not hold.
    fn of(e: &Expr) -> Option<Terms> {
        let mut terms = Terms { products: Vec::new(), number: 0 };
        terms.add(e, 1)?;
        terms.products.retain(|(factor, _)| *factor != 0);
        terms.products.sort_by_cached_key(|(_, e)| format!("{e:?}"));
        Some(terms)
    }
    fn add(&mut self, e: &Expr, factor: i128) -> Option<()> {
        match e {
            Expr::Int(v) => self.number = self.number.checked_add(factor.checked_mul(*v)?)?,
            Expr::Neg(e) => self.add(e, factor.checked_neg()?)?,
            Expr::Binary(BinaryOp::Add, l, r) => {
                self.add(l, factor)?;
                self.add(r, factor)?;
            }
            Expr::Binary(BinaryOp::Sub, l, r) => {
                self.add(l, factor)?;
                self.add(r, factor.checked_neg()?)?;
            }
            Expr::Binary(BinaryOp::Mul, l, r) => match (l.as_int(), r.as_int()) {
                (Some(v), _) => self.add(r, factor.checked_mul(v)?)?,
                (_, Some(v)) => self.add(l, factor.checked_mul(v)?)?,
                _ => self.product(e, factor)?,
            },
            _ => self.product(e, factor)?,
        }
        Some(())
    }
    fn product(&mut self, e: &Expr, factor: i128) -> Option<()> {
        match self.products.iter_mut().find(|(_, other)| other == e) {
            Some((sum, _)) => *sum = sum.checked_add(factor)?,
            None => self.products.push((factor, e.clone())),
        }
        Some(())
    }
    fn negated(mut self) -> Option<Terms> {
        for (factor, _) in &mut self.products {
            *factor = factor.checked_neg()?;
        }
        Some(Terms { number: self.number.checked_neg()?, ..self })
    }
    fn expr(&self) -> Expr {
        let mut sum: Option<Expr> = (self.number != 0 || self.products.is_empty()).then_some(Expr::Int(self.number));
        for (factor, e) in &self.products {
            let size = factor.unsigned_abs() as i128;
            let product = match size {
                1 => e.clone(),
                _ => Expr::binary(BinaryOp::Mul, Expr::Int(size), e.clone()),
            };
            sum = Some(match (sum, *factor < 0) {
                (Some(sum), true) => Expr::binary(BinaryOp::Sub, sum, product),
                (Some(sum), false) => Expr::binary(BinaryOp::Add, sum, product),
                (None, true) => Expr::Neg(Box::new(product)),
                (None, false) => product,
            });
        }
        sum.unwrap_or(Expr::Int(0))
    }
}

fn extreme(op: BinaryOp, all: impl Iterator<Item = Expr>) -> Option<Expr> {
    all.reduce(|left, right| Expr::binary(op, left, right))
}

fn more(e: Expr) -> Expr {
    simpler(Expr::binary(BinaryOp::Add, e, Expr::Int(1)))
}

fn less(e: Expr) -> Expr {
    simpler(Expr::binary(BinaryOp::Sub, e, Expr::Int(1)))
}

fn simpler(e: Expr) -> Expr {
    Terms::of(&e).map_or(e, |terms| terms.expr())
}
