//! From a schedule tree to loops: directly where that is simple, else through isl's AST generator.
//!
//! What the schedule says about loops travels through isl in the labels above bands. isl names the counter of the loop for the member
//! at depth d `c<d>`, so a loop finds its role by its counter's name in the labels around it, whatever isl dropped or duplicated in
//! between.
//!
//! What is made of a tree, by us or by isl, is not believed: see `order.rs`.

use super::{BinaryOp, Counter, Expr, For, LoopRole, Node, OwnCell, direct, order};
use crate::scop::{CopyId, ParamId, StatementId, ValueId};
use crate::transform::{BandId, Copies, Label, Points, Tree, instances_at, label_above, labelled};
use isl::{
    AstBuild, AstExpr, AstExprOpType, AstExprType, AstLoopType, AstNode, AstNodeType, Budget, DimType, Id, IslError,
    Map, PwAff, Schedule, ScheduleNode, ScheduleNodeType, Set,
};
use planted::Fault;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use thiserror::Error;

#[derive(Clone, Debug, Error)]
pub enum AstError {
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error("the generated loops have {nodes} nodes, more than the limit of {limit}")]
    TooLarge { nodes: usize, limit: usize },
    #[error("isl generated an expression that is not understood: {what}")]
    NotUnderstood { what: String },
    /// isl leaves out loops of one iteration; which of those that run side by side it is, is not told then.
    #[error("the one iteration of {statement} in the loop over {band} has no number")]
    Alone { statement: StatementId, band: BandId },
    #[error("the loops that isl made are not those of the schedule: {what}")]
    Wrong { what: String },
}

#[derive(Clone, Debug)]
pub struct AstOptions {
    /// More loops, guards and calls than this are not generated.
    pub max_nodes: usize,
}

impl Default for AstOptions {
    fn default() -> Self {
        AstOptions { max_nodes: 400 }
    }
}

/// From the schedule tree to loops.
pub const AST: Budget = Budget::new("ast", 1_000_000);

/// What it may cost to find that loops are in order. Without the proof they are not used.
const ORDER: Budget = Budget::new("order of loops", 1_000_000);

/// The loops of a schedule tree for parameters in `context`.
///
/// Requires: the coincident flags of the bands are true for the order that the tree describes.
/// Ensures: for every parameter value in `context` the result runs every instance of the tree's domain exactly once, in the
/// order of the tree, and the copies of the tree where it has them.
pub fn generate(tree: &Tree, context: &Set, options: &AstOptions) -> Result<Node, AstError> {
    let ctx = context.ctx().clone();
    let mut last = None;
    for way in [Way::Direct, Way::Separate, Way::Default, Way::SeparateAll] {
        // More code is no help where there is too much.
        if way == Way::SeparateAll && !matches!(last, Some(AstError::Wrong { .. })) {
            break;
        }
        let loops = match way {
            Way::Direct => match direct::loops(tree, context, options.max_nodes)? {
                Some(loops) => Ok(loops),
                None => continue,
            },
            _ => ctx.within(AST, || way.loops(tree, context, options)),
        };
        let checked = loops.and_then(|loops| {
            ctx.within(ORDER, || order::check(&loops, tree, context))?;
            Ok(loops)
        });
        match checked {
            Err(
                e @ (AstError::TooLarge { .. } | AstError::Wrong { .. } | AstError::Isl(IslError::OutOfBudget { .. })),
            ) => last = Some(e),
            done => return done,
        }
    }
    Err(last.unwrap_or(AstError::NotUnderstood { what: "nothing".into() }))
}

/// A boolean expression over the parameters that holds, for parameters in `context`, exactly in `set`.
///
/// Requires: `set` is a parameter set.
pub fn expr_from_set(set: &Set, context: &Set) -> Result<Expr, AstError> {
    let expr = build(context)?.expr_from_set(&set.coalesce()?)?;
    Converter::default().expr(&expr, &Surroundings::default())
}

/// An expression over the parameters that equals `value` wherever that is defined and the parameters are in `context`.
///
/// Requires: `value` has no input dimensions.
pub fn expr_from_pw_aff(value: &PwAff, context: &Set) -> Result<Expr, AstError> {
    let expr = build(context)?.expr_from_pw_aff(&value.coalesce()?)?;
    Converter::default().expr(&expr, &Surroundings::default())
}

fn build(context: &Set) -> Result<AstBuild, IslError> {
    let ctx = context.ctx();
    ctx.set_ast_build_atomic_upper_bound(true);
    // What the bounds of an inner loop say of the parameters is a condition of the outer ones too: without it they turn, maybe for
    // years, around loops that are empty.
    ctx.set_ast_build_exploit_nested_bounds(planted::is(Fault::EmptyLoopsTurn));
    ctx.set_ast_build_detect_min_max(true);
    ctx.set_ast_build_prefer_pdiv(true);
    ctx.set_ast_build_scale_strides(false);
    AstBuild::from_context(context)
}

/// The cell of a temporary that a call is about: which copy filled or fills it, and for which load, if it is one of a reader.
type Cell = (CopyId, Option<ValueId>, AstExpr);

/// While loops are generated, the number of each cell of a temporary is made an expression of the counters around; the call's annotation
/// says where in the list its cells are.
fn with_cells(build: AstBuild, copies: &Copies, cells: &Rc<RefCell<Vec<Vec<Cell>>>>) -> Result<AstBuild, IslError> {
    let (copies, cells) = (copies.clone(), Rc::clone(cells));
    build.set_at_each_domain(move |node, build| {
        // { S[i…] -> [c…] }
        let [call] = &build.get_schedule()?.maps()?[..] else { return Ok(node) };
        let name = call.get_tuple_name(DimType::In)?;
        let mut own = Vec::new();
        for (&id, copy) in &copies {
            let around = call.reverse()?;
            let mut add = |load, cell: Map| -> Result<(), IslError> {
                let number = cell.coalesce()?.as_pw_multi_aff()?.get_at(0)?;
                let number = number.gist(&number.domain()?)?.coalesce()?;
                own.push((id, load, build.expr_from_pw_aff(&number)?));
                Ok(())
            };
            if id.to_string() == name {
                add(None, around.apply_range(&copy.cell)?)?;
            }
            for reader in copy.readers.iter().filter(|reader| reader.statement.to_string() == name) {
                add(Some(reader.load), around.apply_range(&reader.cell)?)?;
            }
        }
        if own.is_empty() {
            return Ok(node);
        }
        let mut cells = cells.borrow_mut();
        cells.push(own);
        node.set_annotation(&Id::alloc(build.ctx(), &(cells.len() - 1).to_string(), 0)?)
    })
}

/// The roles of the loops of each band, with their depths.
type Roles = HashMap<BandId, Vec<(usize, LoopRole)>>;

fn roles(schedule: &Schedule) -> Result<Roles, IslError> {
    let mut out = Roles::new();
    schedule.foreach_schedule_node_top_down(|node: &ScheduleNode| -> Result<bool, IslError> {
        if node.get_type()? != ScheduleNodeType::Band {
            return Ok(true);
        }
        let Some(label) = label_above(node)? else { return Ok(true) };
        let (members, depth) = (node.band_n_member()?, node.get_schedule_depth()?);
        let mut roles = Vec::new();
        for m in 0..members {
            roles.push((depth + m, role_of_member(Some(label), m, members, node.band_member_get_coincident(m)?)));
        }
        // Loops that are written out stand at several leaves.
        out.entry(label.band).or_default().extend(roles);
        Ok(true)
    })?;
    Ok(out)
}

/// What becomes of a member of a band.
pub(super) fn role_of_member(label: Option<Label>, m: usize, members: usize, is_coincident: bool) -> LoopRole {
    let vectors = label.is_some_and(|label| label.vectors) && m + 1 == members;
    match label {
        Some(Label { jam: Some(by), band, .. }) => LoopRole::Jammed { points: Points { band, by } },
        _ if !is_coincident => LoopRole::InOrder,
        Some(Label { threads: true, .. }) if m == 0 => LoopRole::Threads { vectors },
        _ if vectors => LoopRole::Vectors,
        _ => LoopRole::Independent,
    }
}

/// How a tree's loops are found.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// By ourselves, where that is simple.
    Direct,
    /// Statements that share an innermost loop get loops of their own where their iterations differ. This keeps guards out of it, but can
    /// multiply code.
    Separate,
    Default,
    /// Statements get loops of their own at every depth. Where isl gets the order wrong in loops that several share, it may get this
    /// right.
    SeparateAll,
}

impl Way {
    fn loops(self, tree: &Tree, context: &Set, options: &AstOptions) -> Result<Node, AstError> {
        // What the context says need not be simplified away again in every loop.
        let schedule = self.of(&labelled(&tree.schedule.gist_domain_params(context)?)?)?;
        let (copies, cells) = (tree.copies.clone(), Rc::new(RefCell::new(Vec::new())));
        let ast = match copies.is_empty() {
            true => build(context)?.node_from_schedule(&schedule)?,
            false => with_cells(build(context)?, &copies, &cells)?.node_from_schedule(&schedule)?,
        };
        let (roles, cells) = (roles(&schedule)?, cells.take());
        let mut converter = Converter { roles, copies, cells, counters: 0, nodes: 0, limit: options.max_nodes };
        converter.node(&ast, &Surroundings::default())
    }

    /// What isl is asked to make of the bands.
    fn of(self, schedule: &Schedule) -> Result<Schedule, IslError> {
        schedule.map_schedule_node_bottom_up(|node: ScheduleNode| -> Result<ScheduleNode, IslError> {
            if node.get_type()? != ScheduleNodeType::Band || is_jammed(&node)? {
                return Ok(node);
            }
            let members = node.band_n_member()?;
            match self {
                Way::Separate if members > 0 && !has_loop_below(&node)? && instances_at(&node)?.n_set()? > 1 => {
                    node.band_member_set_ast_loop_type(members - 1, AstLoopType::Separate)
                }
                Way::SeparateAll => {
                    (0..members).try_fold(node, |node, m| node.band_member_set_ast_loop_type(m, AstLoopType::Separate))
                }
                _ => Ok(node),
            }
        })
    }
}

/// Is it to be written out?
fn is_jammed(band: &ScheduleNode) -> Result<bool, IslError> {
    Ok(label_above(band)?.is_some_and(|label| label.jam.is_some()))
}

/// One that is not to be written out.
pub(super) fn has_loop_below(node: &ScheduleNode) -> Result<bool, IslError> {
    for child in node.children()? {
        let is_loop = child.get_type()? == ScheduleNodeType::Band && !is_jammed(&child)?;
        if is_loop || has_loop_below(&child)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The surroundings of a node: what isl's ids stand for, and the roles of the loops at each depth.
#[derive(Clone, Default)]
struct Surroundings {
    counters: HashMap<String, Expr>,
    roles: HashMap<usize, LoopRole>,
    in_thread: bool,
}

#[derive(Default)]
struct Converter {
    roles: Roles,
    copies: Copies,
    cells: Vec<Vec<Cell>>,
    counters: u32,
    nodes: usize,
    limit: usize,
}

impl Converter {
    fn node(&mut self, ast: &AstNode, scope: &Surroundings) -> Result<Node, AstError> {
        self.nodes += 1;
        if self.nodes > self.limit {
            return Err(AstError::TooLarge { nodes: self.nodes, limit: self.limit });
        }
        match ast.get_type()? {
            AstNodeType::Block => {
                let mut children = Vec::new();
                for child in ast.block_get_children()? {
                    match self.node(&child, scope)? {
                        Node::Block(inner) => children.extend(inner),
                        other => children.push(other),
                    }
                }
                if planted::is(Fault::PartsSwapped) {
                    children.reverse();
                }
                Ok(Node::Block(children))
            }
            AstNodeType::Mark => {
                let mut scope = scope.clone();
                if let Some(label) = Label::parse(&ast.mark_get_id()?.get_name()?) {
                    scope.roles.extend(self.roles.get(&label.band).into_iter().flatten().copied());
                }
                self.node(&ast.mark_get_node()?, &scope)
            }
            AstNodeType::If => {
                let mut condition = self.expr(&ast.if_get_cond()?, scope)?;
                if planted::is(Fault::GuardDropped) {
                    condition = Expr::truth(true);
                }
                let then = Box::new(self.node(&ast.if_get_then_node()?, scope)?);
                let otherwise = if ast.if_has_else_node()? {
                    Some(Box::new(self.node(&ast.if_get_else_node()?, scope)?))
                } else {
                    None
                };
                Ok(Node::If { condition, then, otherwise })
            }
            AstNodeType::User => {
                let at = ast.get_annotation()?.and_then(|id| id.get_name().ok()?.parse::<usize>().ok());
                let cells = at.map(|at| std::mem::take(&mut self.cells[at])).unwrap_or_default();
                self.call(&ast.user_get_expr()?, cells, scope)
            }
            AstNodeType::For => self.for_loop(ast, scope),
        }
    }

    fn for_loop(&mut self, ast: &AstNode, scope: &Surroundings) -> Result<Node, AstError> {
        let name = ast.for_get_iterator()?.id_get_id()?.get_name()?;
        let first = self.expr(&ast.for_get_init()?, scope)?;
        let mut inner = scope.clone();
        let counter = Counter(self.counters);
        self.counters += 1;
        inner.counters.insert(name.clone(), Expr::Counter(counter));
        let depth = name.strip_prefix('c').and_then(|d| d.parse::<usize>().ok());
        let role = depth.and_then(|d| scope.roles.get(&d).copied()).unwrap_or_default();
        if ast.for_is_degenerate()? {
            // One iteration; a variable rather than a substitution keeps the expressions below small.
            if matches!(first, Expr::Int(_) | Expr::Param(_) | Expr::Counter(_)) && !role.is_jammed() {
                inner.counters.insert(name, first);
                return self.node(&ast.for_get_body()?, &inner);
            }
            let body = self.node(&ast.for_get_body()?, &inner)?;
            let role = role.alone();
            return Ok(Node::For(Box::new(For {
                counter,
                last: first.clone(),
                first,
                step: 1,
                body,
                role,
                untouched: Vec::new(),
            })));
        }
        let role = if scope.in_thread { role.in_thread() } else { role };
        inner.in_thread |= role.is_for_threads();
        let step = self.expr(&ast.for_get_inc()?, scope)?.as_int().and_then(|s| i64::try_from(s).ok());
        let step = step.filter(|s| *s > 0).ok_or_else(|| not_understood("the step of a loop", &ast.for_get_inc()))?;
        let last = self.last(&ast.for_get_cond()?, &name, scope)?;
        let body = self.node(&ast.for_get_body()?, &inner)?;
        Ok(Node::For(Box::new(For { counter, first, last, step, body, role, untouched: Vec::new() })))
    }

    /// The inclusive bound of `c <= e` and `c < e`.
    fn last(&mut self, condition: &AstExpr, counter: &str, scope: &Surroundings) -> Result<Expr, AstError> {
        let complaint = || AstError::NotUnderstood { what: format!("the loop condition {condition}") };
        if condition.get_type()? != AstExprType::Op {
            return Err(complaint());
        }
        let args = condition.op_args()?;
        let is_counter = |e: &AstExpr| -> Result<bool, IslError> {
            Ok(e.get_type()? == AstExprType::Id && e.id_get_id()?.get_name()? == counter)
        };
        if args.len() != 2 || !is_counter(&args[0])? {
            return Err(complaint());
        }
        let bound = self.expr(&args[1], scope)?;
        match condition.op_get_type()? {
            AstExprOpType::Le if planted::is(Fault::RemainderShort) && is_least(&bound) => Ok(minus_one(bound)),
            AstExprOpType::Le => Ok(bound),
            AstExprOpType::Lt => Ok(minus_one(bound)),
            _ => Err(complaint()),
        }
    }

    fn call(&mut self, expr: &AstExpr, cells: Vec<Cell>, scope: &Surroundings) -> Result<Node, AstError> {
        let args = expr.op_args()?;
        let callee = args.first().ok_or_else(|| AstError::NotUnderstood { what: expr.to_string() })?;
        let name = callee.id_get_id()?.get_name()?;
        let coordinates = args[1..].iter().map(|a| self.expr(a, scope)).collect::<Result<Vec<_>, _>>()?;
        let mut found = Vec::new();
        for (id, load, number) in cells {
            let number = self.expr(&number, scope)?;
            let copy = &self.copies[&id];
            let own = OwnCell { temporary: copy.temporary, number, cells: copy.cells, bytes: copy.from.bytes };
            match load {
                Some(load) => found.push((load, own)),
                None => {
                    let mut around = coordinates;
                    let coordinates = around.split_off(copy.depth);
                    let loads = copy.readers.iter().map(|reader| reader.load).collect();
                    let from = copy.from.clone();
                    return Ok(Node::Copy { copy: id, around, from, coordinates, into: own, loads });
                }
            }
        }
        let statement = StatementId::from_isl_name(&name)
            .ok_or_else(|| AstError::NotUnderstood { what: format!("the statement {name}") })?;
        Ok(Node::Call { statement, coordinates, found, private: Vec::new() })
    }

    fn expr(&mut self, ast: &AstExpr, scope: &Surroundings) -> Result<Expr, AstError> {
        use AstExprOpType as Op;
        match ast.get_type()? {
            AstExprType::Int => ast
                .int_get_val()?
                .to_i128()
                .map(Expr::Int)
                .ok_or_else(|| AstError::NotUnderstood { what: ast.to_string() }),
            AstExprType::Id => {
                let name = ast.id_get_id()?.get_name()?;
                if let Some(value) = scope.counters.get(&name) {
                    return Ok(value.clone());
                }
                ParamId::from_isl_name(&name).map(Expr::Param).ok_or(AstError::NotUnderstood { what: name })
            }
            AstExprType::Op => {
                let op = ast.op_get_type()?;
                let mut args = ast.op_args()?.iter().map(|a| self.expr(a, scope)).collect::<Result<Vec<_>, _>>()?;
                let binary = match op {
                    Op::Minus if args.len() == 1 => return Ok(negated(args.remove(0))),
                    Op::Cond | Op::Select if args.len() == 3 => {
                        let otherwise = Box::new(args.remove(2));
                        let then = Box::new(args.remove(1));
                        return Ok(Expr::Select { condition: Box::new(args.remove(0)), then, otherwise });
                    }
                    Op::Add => BinaryOp::Add,
                    Op::Sub => BinaryOp::Sub,
                    Op::Mul => BinaryOp::Mul,
                    Op::Div => BinaryOp::ExactDiv,
                    Op::FdivQ if planted::is(Fault::QuotientTruncated) => BinaryOp::NonNegDiv,
                    Op::FdivQ => BinaryOp::FloorDiv,
                    Op::PdivQ => BinaryOp::NonNegDiv,
                    Op::PdivR => BinaryOp::NonNegRem,
                    Op::ZdivR => BinaryOp::ZeroTestRem,
                    Op::Min => BinaryOp::Min,
                    Op::Max => BinaryOp::Max,
                    Op::Eq => BinaryOp::Eq,
                    Op::Le => BinaryOp::Le,
                    Op::Lt => BinaryOp::Lt,
                    Op::Ge => BinaryOp::Ge,
                    Op::Gt => BinaryOp::Gt,
                    Op::And | Op::AndThen => BinaryOp::And,
                    Op::Or | Op::OrElse => BinaryOp::Or,
                    _ => return Err(AstError::NotUnderstood { what: ast.to_string() }),
                };
                // Only min and max have more than two operands, and they associate.
                args.into_iter()
                    .reduce(|left, right| Expr::binary(binary, left, right))
                    .ok_or_else(|| AstError::NotUnderstood { what: ast.to_string() })
            }
        }
    }
}

fn not_understood(what: &str, expr: &Result<AstExpr, IslError>) -> AstError {
    let text = expr.as_ref().map_or_else(|e| e.to_string(), |e| e.to_string());
    AstError::NotUnderstood { what: format!("{what}: {text}") }
}

/// The bound of a tile that may be cut off.
fn is_least(e: &Expr) -> bool {
    matches!(e, Expr::Binary(BinaryOp::Min, ..))
}

pub(super) fn minus_one(e: Expr) -> Expr {
    match e {
        Expr::Int(v) => Expr::Int(v - 1),
        e => Expr::binary(BinaryOp::Sub, e, Expr::Int(1)),
    }
}

pub(super) fn negated(e: Expr) -> Expr {
    match e {
        Expr::Int(v) => Expr::Int(-v),
        e => Expr::Neg(Box::new(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::test_scop;
    use expect_test::{Expect, expect};
    use isl::Ctx;

    fn check(sketch: &str, expected: Expect) {
        let scop = test_scop(sketch);
        let node = generate(&scop.schedule.clone().into(), &scop.context, &AstOptions::default()).unwrap();
        expected.assert_eq(&node.text(&scop));
    }

    #[test]
    fn a_triangle_keeps_its_shape() {
        check(
            "context 1 <= p0
             for i : 0 <= i < p0
               for j : 0 <= j <= i
                 write A0[i, j]",
            expect![[r#"
                for (int c0 = 0; c0 <= p0 - 1; ++c0) {
                  for (int c1 = 0; c1 <= c0; ++c1) {
                    S0(c0, c1);
                  }
                }
            "#]],
        );
    }

    #[test]
    fn statements_of_one_loop_stay_in_order() {
        check(
            "for i : 0 <= i < 10
               write A0[i]
               read A0[i]; write A1[i]",
            expect![[r#"
                for (int c0 = 0; c0 <= 9; ++c0) {
                  S0(c0);
                  S1(c0);
                }
            "#]],
        );
    }

    #[test]
    fn strided_domains_become_steps_or_guards() {
        check(
            "context 1 <= p0
             for i : 0 <= i < p0
               if i mod 3 = 1
                 write A0[i]",
            expect![[r#"
                for (int c0 = 1; c0 <= p0 - 1; c0 += 3) {
                  S0(c0);
                }
            "#]],
        );
    }

    #[test]
    fn loops_around_nothing_do_not_turn() {
        // The second nest has a loop of its own that may be empty; of the first it is known that it is not.
        check(
            "context 1 <= p1
             for i : 0 <= i < p0
               for j : 0 <= j < p1
                 write A0[i, j]
             for i : 0 <= i < p0
               for j : 0 <= j < p2
                 write A1[i, j]",
            expect![[r#"
                for (int c0 = 0; c0 <= p0 - 1; ++c0) {
                  for (int c1 = 0; c1 <= p1 - 1; ++c1) {
                    S0(c0, c1);
                  }
                }
                if (p2 >= 1) {
                  for (int c2 = 0; c2 <= p0 - 1; ++c2) {
                    for (int c3 = 0; c3 <= p2 - 1; ++c3) {
                      S1(c2, c3);
                    }
                  }
                }
            "#]],
        );
    }

    fn condition(set: &str, context: &str, expected: &str) {
        let ctx = Ctx::new();
        let set = Set::read_from_str(&ctx, set).unwrap();
        let context = Set::read_from_str(&ctx, context).unwrap();
        let expr = expr_from_set(&set, &context).unwrap();
        let names = super::super::Spelling {
            param: &|p| p.to_string(),
            statement: &|s| s.to_string(),
            array: &|a| a.to_string(),
        };
        assert_eq!(expr.text_with(&names), expected);
    }

    #[test]
    fn conditions_use_what_the_context_knows() {
        condition("[p0] -> { : p0 <= 7 and p0 >= 0 }", "[p0] -> { : p0 >= 3 }", "p0 <= 7");
        condition("[p0, p1] -> { : p0 < p1 or p0 >= 5 }", "[p0, p1] -> { : }", "p1 >= p0 + 1 || p0 >= 5");
        condition("[p0] -> { : }", "[p0] -> { : p0 >= 3 }", "1");
    }
}
