//! Questions about control flow that LLVM's trees answer in a few steps.

use crate::facts::{
    Block, BlockId, FloatOp, FunctionFacts, Instruction, IntOp, LoopId, Op, Predicate, Value, ValueId, ValueKind,
};
use model::source::Line;

impl FunctionFacts {
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    pub fn value(&self, value: ValueId) -> &Value {
        &self.values[value.index()]
    }

    pub fn instruction(&self, value: ValueId) -> Option<&Instruction> {
        match &self.value(value).kind {
            ValueKind::Instruction(instruction) => Some(instruction),
            _ => None,
        }
    }

    pub fn terminator(&self, block: BlockId) -> Option<&Instruction> {
        self.block(block).instructions.last().and_then(|&last| self.instruction(last))
    }

    /// Reflexive.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let mut at = Some(below);
        while let Some(block) = at {
            if block == above {
                return true;
            }
            // Blocks are in reverse post-order: a dominator comes before what it dominates.
            if block < above {
                return false;
            }
            at = self.block(block).immediate_dominator;
        }
        false
    }

    pub fn loop_contains(&self, outer: LoopId, inner: Option<LoopId>) -> bool {
        let mut at = inner;
        while let Some(l) = at {
            if l == outer {
                return true;
            }
            at = self.loops[l.index()].parent;
        }
        false
    }

    pub fn in_loop(&self, block: BlockId, l: LoopId) -> bool {
        self.loop_contains(l, self.block(block).innermost_loop)
    }

    /// The loop directly inside `scope` that contains `block`, if `block` is deeper than `scope`.
    pub fn child_loop_of(&self, scope: Option<LoopId>, block: BlockId) -> Option<LoopId> {
        let mut at = self.block(block).innermost_loop;
        while let Some(l) = at {
            let parent = self.loops[l.index()].parent;
            if Some(l) == scope {
                return None;
            }
            if parent == scope {
                return Some(l);
            }
            at = parent;
        }
        None
    }

    /// Source line of the first instruction of the block that has one.
    pub fn line_of_block(&self, block: BlockId) -> Line {
        Line::first(self.block(block).instructions.iter().filter_map(|&v| self.instruction(v)).map(|i| i.line))
    }

    pub fn is_phi(&self, value: ValueId) -> bool {
        matches!(self.instruction(value), Some(Instruction { op: Op::Phi { .. }, .. }))
    }

    /// How a person would call the value.
    pub fn display_name(&self, value: ValueId) -> String {
        match self.expression(value, 0) {
            Some(text) if matches!(self.value(value).kind, ValueKind::ConstantInt(_)) => text,
            Some(text) => format!("`{text}`"),
            None => self.without_words(value).into(),
        }
    }

    /// `a[…]` for an element of something with a name, `a[…] < n` for what is computed of such.
    fn expression(&self, value: ValueId, depth: usize) -> Option<String> {
        /// More is no help.
        const DEPTH: usize = 4;
        let v = self.value(value);
        let instruction = match &v.kind {
            ValueKind::ConstantInt(c) => return Some(c.to_string()),
            _ if !v.name.is_empty() => return Some(v.name.clone()),
            ValueKind::Instruction(instruction) if depth < DEPTH => instruction,
            _ => return None,
        };
        let operand = |k: usize| self.expression(*instruction.operands.get(k)?, depth + 1);
        let both = |sign: &str| Some(format!("{} {sign} {}", operand(0)?, operand(1)?));
        match &instruction.op {
            Op::Load { pointer, .. } => self.element_of(*pointer),
            Op::Gep { .. } => self.element_of(value),
            Op::Cast(_) | Op::Freeze => operand(0),
            Op::ICmp(predicate) => both(sign(*predicate)),
            // Which comparison is not known here; what is compared tells enough.
            Op::FCmp => match (operand(0), operand(1)) {
                (Some(first), Some(second)) => Some(format!("{first} compared with {second}")),
                (first, second) => first.or(second),
            },
            Op::Int(IntOp::Add) | Op::Float(FloatOp::Add) => both("+"),
            Op::Int(IntOp::Sub) | Op::Float(FloatOp::Sub) => both("-"),
            Op::Int(IntOp::Mul) | Op::Float(FloatOp::Mul) => both("*"),
            Op::Call(call) if !call.callee.is_empty() => Some(format!("{}(…)", call.callee_in_source)),
            _ => None,
        }
    }

    /// `a[…]`, where the pointer leads back to something with a name.
    fn element_of(&self, pointer: ValueId) -> Option<String> {
        /// A name that is further away says little about the value.
        const STEPS: usize = 8;
        let mut at = pointer;
        for _ in 0..STEPS {
            let name = &self.value(at).name;
            if !name.is_empty() {
                return Some(format!("{name}[…]"));
            }
            let instruction = self.instruction(at)?;
            at = match &instruction.op {
                Op::Load { pointer, .. } => *pointer,
                Op::Gep { .. } | Op::Cast(_) | Op::Freeze => *instruction.operands.first()?,
                _ => return None,
            };
        }
        None
    }

    fn without_words(&self, value: ValueId) -> &'static str {
        match self.instruction(value).map(|i| &i.op) {
            Some(Op::Phi { .. }) => "what an earlier iteration or another path has left",
            Some(Op::Load { .. }) => "what is read from memory here",
            Some(Op::Call(_)) => "what a function pointer returns",
            Some(Op::ICmp(_) | Op::FCmp) => "a comparison",
            Some(_) => "what is computed here",
            None => "a value from outside",
        }
    }
}

/// As C writes it.
fn sign(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::Eq => "==",
        Predicate::Ne => "!=",
        Predicate::Ugt | Predicate::Sgt => ">",
        Predicate::Uge | Predicate::Sge => ">=",
        Predicate::Ult | Predicate::Slt => "<",
        Predicate::Ule | Predicate::Sle => "<=",
    }
}
