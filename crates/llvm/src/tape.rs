//! Reads what the shim wrote on a tape, word by word in the same order (shim/facts.cpp, shim/scev.cpp). The two files are one
//! format: a disagreement is a bug in this crate, so it panics rather than guesses.

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
            unsafe { (ffi::lw_tape_words(tape, &mut word_count), ffi::lw_tape_pool(tape, &mut pool_count)) };
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
        let name = self.text();
        let line = self.small();
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
        FunctionFacts { name, line, attributes, values, blocks, loops, target }
    }

    fn described_value(&mut self) -> Value {
        let ty = match self.word() {
            0 => Type::Int(self.small()),
            1 => Type::Pointer { address_space: self.small(), integral: self.flag() },
            2 => Type::ScalableVector,
            3 => Type::Plain,
            _ => Type::Other,
        };
        let bytes = self.word() as u64;
        let type_name = self.text();
        let name = self.text();
        let kind = match self.word() {
            0 => ValueKind::Argument,
            1 => ValueKind::ConstantInt(self.word()),
            2 => ValueKind::Constant,
            3 => ValueKind::Global,
            4 => ValueKind::Instruction(Box::new(self.instruction())),
            6 => ValueKind::ConstantGep { base: ValueId(self.word() as u32), offset: self.word() },
            _ => ValueKind::Other,
        };
        Value { ty, bytes, type_name, name, kind }
    }

    fn instruction(&mut self) -> Instruction {
        let block = self.block();
        let line = self.small();
        let operands = self.list(Self::value);
        let flags = Flags {
            nsw: self.flag(),
            nuw: self.flag(),
            exact: self.flag(),
            disjoint: self.flag(),
            nneg: self.flag(),
            reassoc: self.flag(),
            nnan: self.flag(),
            nsz: self.flag(),
        };
        let pure_and_speculatable = self.flag();
        let reads_memory = self.flag();
        let writes_memory = self.flag();
        let side_effects = self.flag();
        let op = self.op();
        Instruction {
            block,
            line,
            op,
            operands,
            flags,
            pure_and_speculatable,
            reads_memory,
            writes_memory,
            side_effects,
        }
    }

    fn op(&mut self) -> Op {
        use {CastOp::*, IntOp::*};
        const INT: [IntOp; 13] = [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor];
        const FLOAT: [FloatOp; 5] = [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Rem];
        const CAST: [CastOp; 13] = [
            Trunc,
            ZExt,
            SExt,
            PtrToInt,
            IntToPtr,
            BitCast,
            FPToUI,
            FPToSI,
            UIToFP,
            SIToFP,
            FPTrunc,
            FPExt,
            AddrSpaceCast,
        ];
        match self.word() {
            0 => Op::Int(INT[self.word() as usize]),
            1 => Op::Float(FLOAT[self.word() as usize]),
            2 => Op::FNeg,
            3 => Op::Cast(CAST[self.word() as usize]),
            4 => Op::ICmp(self.predicate()),
            5 => Op::FCmp,
            6 => Op::Select,
            7 => Op::Freeze,
            8 => Op::Phi { incoming: self.blocks() },
            9 => {
                let base = self.value();
                let (inbounds, nusw, nuw) = (self.flag(), self.flag(), self.flag());
                let offset = self
                    .flag()
                    .then(|| GepOffset { constant: self.word(), terms: self.list(|r| (r.value(), r.word())) });
                Op::Gep { base, offset, inbounds, nusw, nuw }
            }
            10 => Op::Load {
                pointer: self.value(),
                bytes: self.word() as u64,
                alignment: self.word() as u64,
                simple: self.flag(),
            },
            11 => Op::Store {
                pointer: self.value(),
                value: self.value(),
                bytes: self.word() as u64,
                alignment: self.word() as u64,
                simple: self.flag(),
            },
            12 => Op::Alloca,
            13 => Op::MemSet { destination: self.value(), length: self.value(), simple: self.flag() },
            14 => Op::MemCopy {
                destination: self.value(),
                source: self.value(),
                length: self.value(),
                simple: self.flag(),
            },
            15 => Op::MinMax(self.min_max()),
            16 => {
                const KINDS: [IgnorableKind; 3] =
                    [IgnorableKind::Assume, IgnorableKind::Lifetime, IgnorableKind::Other];
                Op::Ignorable(KINDS[self.word() as usize])
            }
            17 => Op::Call(CallFacts {
                callee: self.text(),
                nounwind: self.flag(),
                will_return: self.flag(),
                no_sync: self.flag(),
                convergent: self.flag(),
                must_tail: self.flag(),
                no_memory: self.flag(),
                math_errno: self.flag(),
                math_error: match self.word() {
                    0 => MathError::Domain,
                    1 => MathError::Range,
                    _ => MathError::Either,
                },
                any_thread: self.flag(),
                is_intrinsic: self.flag(),
                has_operand_bundles: self.flag(),
            }),
            18 => Op::Branch { targets: self.blocks() },
            19 => Op::Switch { default: self.block(), cases: self.list(|r| (r.word(), r.block())) },
            20 => Op::Return,
            21 => Op::Unreachable,
            _ => Op::Other(self.text()),
        }
    }

    fn predicate(&mut self) -> Predicate {
        use Predicate::*;
        [Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle][self.word() as usize]
    }

    fn min_max(&mut self) -> MinMaxOp {
        use MinMaxOp::*;
        [SMin, SMax, UMin, UMax, FMin, FMax, FMinimum, FMaximum][self.word() as usize]
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
            line: self.small(),
            end_line: self.small(),
            counter_name: self.text(),
            hinted: self.flag(),
            backedge_taken_count: self.scev(),
            exit_counts: self.list(Self::scev),
        }
    }

    pub fn scev(&mut self) -> Scev {
        let tag = self.word();
        if tag == 11 {
            return Scev::Other { text: self.text() };
        }
        let bits = self.small();
        match tag {
            0 => Scev::Constant { bits, value: self.word() },
            1 => Scev::Unknown { bits, value: self.value() },
            2 => {
                let (nsw, nuw) = (self.flag(), self.flag());
                Scev::Add { bits, operands: self.list(Self::scev), nsw, nuw }
            }
            3 => {
                let (nsw, nuw) = (self.flag(), self.flag());
                Scev::Mul { bits, operands: self.list(Self::scev), nsw, nuw }
            }
            4 => Scev::UDiv { bits, dividend: self.boxed_scev(), divisor: self.boxed_scev() },
            5 => Scev::MinMax { bits, op: self.min_max(), operands: self.list(Self::scev) },
            6 => {
                let in_loop = LoopId(self.small());
                let (nsw, nuw, nw) = (self.flag(), self.flag(), self.flag());
                Scev::AddRec { bits, in_loop, operands: self.list(Self::scev), nsw, nuw, nw }
            }
            7 => Scev::SExt { bits, operand: self.boxed_scev() },
            8 => Scev::ZExt { bits, operand: self.boxed_scev() },
            9 => Scev::Trunc { bits, operand: self.boxed_scev() },
            10 => Scev::PtrToInt { bits, operand: self.boxed_scev() },
            _ => unreachable!("no such scalar evolution: {tag}"),
        }
    }
    fn boxed_scev(&mut self) -> Box<Scev> {
        Box::new(self.scev())
    }
}
