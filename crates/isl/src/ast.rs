use crate::object::{Lift, Lower, lift_enum, methods, object};
use crate::{Id, IslError, Result, Val, callback, raw};

object! {
    /// A statement of the generated loops: `for`, `if`, block, mark or user statement.
    AstNode(isl_ast_node), print isl_ast_node_to_str,
        list isl_ast_node_list isl_ast_node_list_alloc isl_ast_node_list_add isl_ast_node_list_size isl_ast_node_list_get_at
}

methods! { AstNode;
    fn get_type(&self) -> AstNodeType = isl_ast_node_get_type;
    fn set_annotation(&self, annotation: &Id) -> AstNode = isl_ast_node_set_annotation;
    /// The id given to `set_annotation`, if any.
    fn get_annotation(&self) -> Option<Id> = isl_ast_node_get_annotation;
    fn for_get_iterator(&self) -> AstExpr = isl_ast_node_for_get_iterator;
    fn for_get_init(&self) -> AstExpr = isl_ast_node_for_get_init;
    fn for_get_cond(&self) -> AstExpr = isl_ast_node_for_get_cond;
    /// The step, a positive constant.
    fn for_get_inc(&self) -> AstExpr = isl_ast_node_for_get_inc;
    fn for_get_body(&self) -> AstNode = isl_ast_node_for_get_body;
    /// Whether the loop has exactly one iteration: only iterator, initial value and body count then.
    fn for_is_degenerate(&self) -> bool = isl_ast_node_for_is_degenerate;
    fn if_get_cond(&self) -> AstExpr = isl_ast_node_if_get_cond;
    fn if_get_then_node(&self) -> AstNode = isl_ast_node_if_get_then_node;
    fn if_has_else_node(&self) -> bool = isl_ast_node_if_has_else_node;
    fn if_get_else_node(&self) -> AstNode = isl_ast_node_if_get_else_node;
    fn block_get_children(&self) -> Vec<AstNode> = isl_ast_node_block_get_children;
    fn mark_get_id(&self) -> Id = isl_ast_node_mark_get_id;
    fn mark_get_node(&self) -> AstNode = isl_ast_node_mark_get_node;
    fn user_get_expr(&self) -> AstExpr = isl_ast_node_user_get_expr;
    /// The loops as C.
    #[allow(non_snake_case)]
    fn to_C_str(&self) -> String = isl_ast_node_to_C_str;
}

object! {
    /// An expression of the generated loops, in ℤ.
    AstExpr(isl_ast_expr), print isl_ast_expr_to_str,
        list isl_ast_expr_list isl_ast_expr_list_alloc isl_ast_expr_list_add isl_ast_expr_list_size isl_ast_expr_list_get_at
}

methods! { AstExpr;
    fn get_type(&self) -> AstExprType = isl_ast_expr_get_type;
    fn int_get_val(&self) -> Val = isl_ast_expr_int_get_val;
    fn id_get_id(&self) -> Id = isl_ast_expr_id_get_id;
    fn get_id(&self) -> Id = isl_ast_expr_get_id;
    fn op_get_type(&self) -> AstExprOpType = isl_ast_expr_op_get_type;
    fn get_op_type(&self) -> AstExprOpType = isl_ast_expr_get_op_type;
    fn op_get_n_arg(&self) -> usize = isl_ast_expr_op_get_n_arg;
    fn op_get_arg(&self, pos: usize) -> AstExpr = isl_ast_expr_op_get_arg;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstNodeType {
    For,
    If,
    Block,
    Mark,
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstExprType {
    Op,
    Id,
    Int,
}

/// The operators of generated expressions. All compute in ℤ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstExprOpType {
    /// Both operands may be evaluated.
    And,
    /// The second operand is evaluated only if the first holds.
    AndThen,
    Or,
    /// The second operand is evaluated only if the first does not hold.
    OrElse,
    Max,
    Min,
    Minus,
    Add,
    Sub,
    Mul,
    /// The division is known to be exact.
    Div,
    /// Rounds towards −∞.
    FdivQ,
    /// The dividend is known not to be negative.
    PdivQ,
    /// The remainder, whose dividend is known not to be negative.
    PdivR,
    /// The remainder, of which only matters whether it is zero.
    ZdivR,
    /// Only the operand chosen is evaluated.
    Cond,
    /// Both operands may be evaluated.
    Select,
    Eq,
    Le,
    Lt,
    Ge,
    Gt,
    Call,
    Access,
    Member,
    AddressOf,
}

lift_enum! { AstNodeType; 1 => For, 2 => If, 3 => Block, 4 => Mark, 5 => User }

lift_enum! { AstExprType; 0 => Op, 1 => Id, 2 => Int }

lift_enum! { AstExprOpType;
    0 => And, 1 => AndThen, 2 => Or, 3 => OrElse, 4 => Max, 5 => Min, 6 => Minus, 7 => Add, 8 => Sub, 9 => Mul, 10 => Div,
    11 => FdivQ, 12 => PdivQ, 13 => PdivR, 14 => ZdivR, 15 => Cond, 16 => Select, 17 => Eq, 18 => Le, 19 => Lt, 20 => Ge,
    21 => Gt, 22 => Call, 23 => Access, 24 => Member, 25 => AddressOf
}

impl AstNode {
    /// What is directly below this node: the body of a loop, the branches of an `if`, the statements of a block, the node under
    /// a mark.
    pub fn children(&self) -> Result<Vec<AstNode>> {
        Ok(match self.get_type()? {
            AstNodeType::For => vec![self.for_get_body()?],
            AstNodeType::If if self.if_has_else_node()? => {
                vec![self.if_get_then_node()?, self.if_get_else_node()?]
            }
            AstNodeType::If => vec![self.if_get_then_node()?],
            AstNodeType::Block => self.block_get_children()?,
            AstNodeType::Mark => vec![self.mark_get_node()?],
            AstNodeType::User => Vec::new(),
        })
    }

    /// The nodes one after the other; there has to be at least one.
    pub fn block_from_children(nodes: &[AstNode]) -> Result<AstNode> {
        const FUNCTION: &str = "isl_ast_node_block_from_children";
        let first = nodes.first().ok_or_else(|| IslError::invalid(FUNCTION, "a block needs a statement"))?;
        let ctx = first.ctx();
        ctx.reset_error();
        // SAFETY: C takes a list made for it, and gives a node.
        let result = unsafe { raw::isl_ast_node_block_from_children(nodes.lower(ctx, FUNCTION)?) };
        result.lift(ctx, FUNCTION)
    }

    /// Replaces this node and every node below it by what `rewrite` makes of it, children first.
    pub fn map_descendant_bottom_up<E: From<IslError>>(
        &self,
        rewrite: impl FnMut(AstNode) -> Result<AstNode, E>,
    ) -> Result<AstNode, E> {
        const FUNCTION: &str = "isl_ast_node_map_descendant_bottom_up";
        // SAFETY: the function gives nodes to its callback and takes the results.
        unsafe { callback::rewrite_each(self, FUNCTION, raw::isl_ast_node_map_descendant_bottom_up, rewrite) }
    }

    /// Visits this node and what is below it from the top down; below a node for which `visit` says `false` nothing is visited.
    pub fn foreach_descendant_top_down<E: From<IslError>>(
        &self,
        visit: impl FnMut(&AstNode) -> Result<bool, E>,
    ) -> Result<(), E> {
        const FUNCTION: &str = "isl_ast_node_foreach_descendant_top_down";
        // SAFETY: the function keeps what it shows to its callback.
        unsafe { callback::test_each(self, FUNCTION, raw::isl_ast_node_foreach_descendant_top_down, visit) }
    }
}

impl AstExpr {
    /// The operands of an operation, in order.
    pub fn op_args(&self) -> Result<Vec<AstExpr>> {
        (0..self.op_get_n_arg()?).map(|position| self.op_get_arg(position)).collect()
    }
}
