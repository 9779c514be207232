//! Questions about control flow that LLVM's trees answer in a few steps.

use crate::facts::{Block, BlockId, FunctionFacts, Instruction, LoopId, Op, Value, ValueId, ValueKind};

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
    pub fn line_of_block(&self, block: BlockId) -> u32 {
        let lines = self.block(block).instructions.iter().filter_map(|&v| self.instruction(v)).map(|i| i.line);
        lines.into_iter().find(|&l| l != 0).unwrap_or(0)
    }

    pub fn is_phi(&self, value: ValueId) -> bool {
        matches!(self.instruction(value), Some(Instruction { op: Op::Phi { .. }, .. }))
    }

    /// How a person would call the value.
    pub fn display_name(&self, value: ValueId) -> String {
        let v = self.value(value);
        match (&v.kind, v.name.as_str()) {
            (ValueKind::ConstantInt(c), _) => c.to_string(),
            (_, "") => self.name_behind(value).unwrap_or_else(|| "a value without a name".into()),
            (_, name) => format!("`{name}`"),
        }
    }

    /// `a[…]` for an address or an element of something with a name.
    fn name_behind(&self, value: ValueId) -> Option<String> {
        /// A name that is further away says little about the value.
        const STEPS: usize = 8;
        let mut at = value;
        for _ in 0..STEPS {
            let instruction = self.instruction(at)?;
            at = match &instruction.op {
                Op::Load { pointer, .. } => *pointer,
                Op::Gep { .. } | Op::Cast(_) | Op::Freeze => *instruction.operands.first()?,
                _ => return None,
            };
            let name = &self.value(at).name;
            if !name.is_empty() {
                return Some(format!("`{name}[…]`"));
            }
        }
        None
    }
}
