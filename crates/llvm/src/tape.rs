//! Reads what the shim wrote on a tape, word by word in the same order (shim/facts.cpp, shim/scev.cpp). Words have one numbering
//! (`codes`); that they come in one order is up to these files: a disagreement is a bug in this crate, so it panics rather than guesses.

use crate::codes::{KindTag, Numbered, OpTag, ScevTag, TypeTag};
use crate::facts::*;
use crate::ffi;

/// A tape and how far it has been read.
pub struct Reader {
    tape: *mut ffi::Tape,
    words: *const [i64],
    pool: *const [u8],
    next: usize,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: `tape` is ours since `new`.
        unsafe { ffi::lw_tape_free(self.tape) }
    }
}

impl Reader {
    /// # Safety
    /// `tape` comes from the shim and is not used by anybody else.
    pub unsafe fn new(tape: *mut ffi::Tape) -> Self {
        let (mut word_count, mut pool_count) = (0, 0);
        // SAFETY: the tape does not change any more.
        let (words, pool) =
            unsafe { (ffi::lw_tape_words(tape, &mut word_count), ffi::lw_tape_pool(tape, &mut pool_count).cast()) };
        Reader {
            tape,
            words: std::ptr::slice_from_raw_parts(words, word_count),
            pool: std::ptr::slice_from_raw_parts(pool, pool_count),
            next: 0,
        }
    }

    /// Ensures: the whole tape was read, no more and no less.
    pub fn finish<T>(mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let result = read(&mut self);
        assert_eq!(self.next, self.words().len(), "the shim wrote more than was read");
        result
    }

    fn words(&self) -> &[i64] {
        // SAFETY: lives as long as the tape; an empty vector may have no address.
        if self.words.is_empty() { &[] } else { unsafe { &*self.words } }
    }

    fn pool(&self) -> &[u8] {
        // SAFETY: as for `words`.
        if self.pool.is_empty() { &[] } else { unsafe { &*self.pool } }
    }

    fn word(&mut self) -> i64 {
        let word = self.words()[self.next];
        self.next += 1;
        word
    }
    fn small(&mut self) -> u32 {
        u32::try_from(self.word()).expect("a number that fits 32 bits")
    }
    fn flag(&mut self) -> bool {
        self.word() != 0
    }
    fn code<T: Numbered>(&mut self) -> T {
        T::ALL[self.word() as usize]
    }
    fn text(&mut self) -> String {
        let (start, length) = (self.word() as usize, self.word() as usize);
        String::from_utf8_lossy(&self.pool()[start..start + length]).into_owned()
    }
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.word();
        (0..count).map(|_| one(self)).collect()
    }
    fn optional(&mut self) -> Option<u32> {
        let word = self.word();
        (word >= 0).then(|| u32::try_from(word).expect("a number that fits 32 bits"))
    }
    fn line(&mut self) -> Line {
        Line { file: FileId(self.small()), number: self.small() }
    }
    fn value(&mut self) -> ValueId {
        ValueId(self.small())
    }
    fn block(&mut self) -> BlockId {
        BlockId(self.small())
    }
    fn blocks(&mut self) -> Vec<BlockId> {
        self.list(Self::block)
    }

    pub fn facts(&mut self) -> FunctionFacts {
        let (name, source_name, line) = (self.text(), self.text(), self.line());
        let attributes = FunctionAttributes {
            optnone: self.flag(),
            naked: self.flag(),
            strictfp: self.flag(),
            presplit_coroutine: self.flag(),
            returns_twice: self.flag(),
            calls_returns_twice: self.flag(),
            takes_address_of_label: self.flag(),
            sanitize_thread: self.flag(),
            sanitize_memory: self.flag(),
            optimize_size: self.flag(),
            may_allocate: self.flag(),
            ours: self.flag(),
        };
        let target = Target {
            vector_bits: self.small(),
            l1_bytes: self.word() as u64,
            l2_bytes: self.word() as u64,
            cache_line_bytes: self.word() as u64,
            pointer_bits: self.small(),
            index_bits: self.small(),
        };
        let values = self.list(Self::described_value);
        let blocks = self.list(Self::described_block);
        let loops = self.list(Self::described_loop);
        let files = self.list(Self::text);
        FunctionFacts { name, source_name, files, line, attributes, values, blocks, loops, target }
    }

    fn described_value(&mut self) -> Value {
        let ty = match self.code() {
            TypeTag::Int => Type::Int(self.small()),
            TypeTag::Pointer => Type::Pointer { address_space: self.small(), integral: self.flag() },
            TypeTag::ScalableVector => Type::ScalableVector,
            TypeTag::Plain => Type::Plain,
            TypeTag::Other => Type::Other,
        };
        let bytes = self.word() as u64;
        let type_name = self.text();
        let name = self.text();
        let kind = match self.code() {
            KindTag::Argument => ValueKind::Argument,
            KindTag::ConstantInt => ValueKind::ConstantInt(self.word()),
            KindTag::Constant => ValueKind::Constant,
            KindTag::Global => ValueKind::Global,
            KindTag::Instruction => ValueKind::Instruction(Box::new(self.instruction())),
            KindTag::ConstantGep => ValueKind::ConstantGep { base: self.value(), offset: self.word() },
            KindTag::Other => ValueKind::Other,
        };
        Value { ty, bytes, type_name, name, kind }
    }

    fn instruction(&mut self) -> Instruction {
        Instruction {
            block: self.block(),
            line: self.line(),
            operands: self.list(Self::value),
            flags: Flags {
                nsw: self.flag(),
                nuw: self.flag(),
                exact: self.flag(),
                disjoint: self.flag(),
                nneg: self.flag(),
                reassoc: self.flag(),
                nnan: self.flag(),
                nsz: self.flag(),
            },
            pure_and_speculatable: self.flag(),
            reads_memory: self.flag(),
            writes_memory: self.flag(),
            side_effects: self.flag(),
            op: self.op(),
        }
    }

    fn op(&mut self) -> Op {
        match self.code() {
            OpTag::Int => Op::Int(self.code()),
            OpTag::Float => Op::Float(self.code()),
            OpTag::FNeg => Op::FNeg,
            OpTag::Cast => Op::Cast(self.code()),
            OpTag::ICmp => Op::ICmp(self.code()),
            OpTag::FCmp => Op::FCmp,
            OpTag::Select => Op::Select,
            OpTag::Freeze => Op::Freeze,
            OpTag::Phi => Op::Phi { incoming: self.blocks() },
            OpTag::Gep => {
                let base = self.value();
                let (inbounds, nusw, nuw) = (self.flag(), self.flag(), self.flag());
                let offset = self
                    .flag()
                    .then(|| GepOffset { constant: self.word(), terms: self.list(|r| (r.value(), r.word())) });
                Op::Gep { base, offset, inbounds, nusw, nuw }
            }
            OpTag::Load => Op::Load {
                pointer: self.value(),
                bytes: self.word() as u64,
                alignment: self.word() as u64,
                simple: self.flag(),
            },
            OpTag::Store => Op::Store {
                pointer: self.value(),
                value: self.value(),
                bytes: self.word() as u64,
                alignment: self.word() as u64,
                simple: self.flag(),
            },
            OpTag::Alloca => Op::Alloca,
            OpTag::MemSet => Op::MemSet { destination: self.value(), length: self.value(), simple: self.flag() },
            OpTag::MemCopy => Op::MemCopy {
                destination: self.value(),
                source: self.value(),
                length: self.value(),
                simple: self.flag(),
            },
            OpTag::MinMax => Op::MinMax(self.code()),
            OpTag::Ignorable => Op::Ignorable(self.code()),
            OpTag::Call => Op::Call(CallFacts {
                callee: self.text(),
                callee_in_source: self.text(),
                nounwind: self.flag(),
                will_return: self.flag(),
                no_sync: self.flag(),
                convergent: self.flag(),
                must_tail: self.flag(),
                no_memory: self.flag(),
                math_errno: self.flag(),
                math_error: self.code(),
                any_thread: self.flag(),
                is_intrinsic: self.flag(),
                has_operand_bundles: self.flag(),
            }),
            OpTag::Branch => Op::Branch { targets: self.blocks() },
            OpTag::Switch => Op::Switch { default: self.block(), cases: self.list(|r| (r.word(), r.block())) },
            OpTag::Return => Op::Return,
            OpTag::Unreachable => Op::Unreachable,
            OpTag::Other => Op::Other(self.text()),
        }
    }

    fn described_block(&mut self) -> Block {
        Block {
            name: self.text(),
            instructions: self.list(Self::value),
            successors: self.blocks(),
            predecessors: self.blocks(),
            immediate_dominator: self.optional().map(BlockId),
            immediate_post_dominator: self.optional().map(BlockId),
            innermost_loop: self.optional().map(LoopId),
            is_error: false,
        }
    }

    fn described_loop(&mut self) -> Loop {
        Loop {
            parent: self.optional().map(LoopId),
            children: self.list(|r| LoopId(r.small())),
            depth: self.small(),
            header: self.block(),
            latch: self.optional().map(BlockId),
            blocks: self.blocks(),
            exiting: self.blocks(),
            exits: self.blocks(),
            line: self.line(),
            end_line: self.line(),
            counter_name: self.text(),
            hinted: self.flag(),
            must_progress: self.flag(),
            backedge_taken_count: self.scev(),
            exit_counts: self.list(Self::scev),
        }
    }

    pub fn scev(&mut self) -> Scev {
        let tag = self.code();
        if tag == ScevTag::Other {
            return Scev::Other { text: self.text() };
        }
        let bits = self.small();
        match tag {
            ScevTag::Constant => Scev::Constant { bits, value: self.word() },
            ScevTag::Unknown => Scev::Unknown { bits, value: self.value() },
            ScevTag::Add => {
                let (nsw, nuw) = (self.flag(), self.flag());
                Scev::Add { bits, operands: self.list(Self::scev), nsw, nuw }
            }
            ScevTag::Mul => {
                let (nsw, nuw) = (self.flag(), self.flag());
                Scev::Mul { bits, operands: self.list(Self::scev), nsw, nuw }
            }
            ScevTag::UDiv => Scev::UDiv { bits, dividend: self.boxed_scev(), divisor: self.boxed_scev() },
            ScevTag::MinMax => Scev::MinMax { bits, op: self.code(), operands: self.list(Self::scev) },
            ScevTag::AddRec => {
                let in_loop = LoopId(self.small());
                let (nsw, nuw) = (self.flag(), self.flag());
                Scev::AddRec { bits, in_loop, operands: self.list(Self::scev), nsw, nuw }
            }
            ScevTag::SExt => Scev::SExt { bits, operand: self.boxed_scev() },
            ScevTag::ZExt => Scev::ZExt { bits, operand: self.boxed_scev() },
            ScevTag::Trunc => Scev::Trunc { bits, operand: self.boxed_scev() },
            ScevTag::PtrToInt => Scev::PtrToInt { bits, operand: self.boxed_scev() },
            ScevTag::Other => unreachable!("it has no width"),
        }
    }
    fn boxed_scev(&mut self) -> Box<Scev> {
        Box::new(self.scev())
    }
}
