//! Regions and plans by hand, written into small functions, which then run: the new code against the original, on both sides of
//! the check. Which side ran is read from the counters.

mod bodies;
mod checks;
mod programs;
mod shapes;

use super::{Anchors, WriteOptions, write_region};
use crate::body::{Body, BodyKind, Induction, LiveOut, ReadRegion, ScalarAccess};
use crate::facts::{BlockId, LoopId, ValueId};
use indexmap::IndexMap;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::AsValueRef;
use model::assume::AssumptionKind;
use model::loop_ast::{BinaryOp, Counter, Expr, For, LoopRole, Node};
use model::plan::{CheckKind, CheckTerm, Extent, Plan, Test};
use model::polynomial::Polynomial;
use model::scop::{Access, AccessKind, ArrayId, Param, ParamId, Scop, Statement, StatementId};
use model::source::Line;

/// A parsed function; ids are positions in `values` and `blocks`.
struct Fixture {
    module: Module<'static>,
    function: LLVMValueRef,
    values: Vec<(String, LLVMValueRef)>,
    blocks: Vec<(String, LLVMBasicBlockRef)>,
}

impl Anchors for Fixture {
    fn function(&self) -> LLVMValueRef {
        self.function
    }
    fn value(&self, id: ValueId) -> LLVMValueRef {
        self.values[id.index()].1
    }
    fn block(&self, id: BlockId) -> LLVMBasicBlockRef {
        self.blocks[id.index()].1
    }
}

fn parse(text: &str) -> Module<'static> {
    // Freed with the process: execution engines and handles then need no lifetimes.
    let context: &'static Context = Box::leak(Box::new(Context::create()));
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "fixture");
    context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{}", e.to_string_lossy()))
}

impl Fixture {
    /// Of a module that defines one function.
    fn new(text: &str) -> Fixture {
        let module = parse(text);
        let function = module.get_functions().find(|f| f.count_basic_blocks() > 0).expect("a definition");
        let mut values = Vec::new();
        let mut blocks = Vec::new();
        for argument in super::ir::Value(function.as_value_ref()).arguments() {
            values.push((argument.name(), argument.0));
        }
        for block in function.get_basic_blocks() {
            blocks.push((block.get_name().to_string_lossy().into_owned(), block.as_mut_ptr()));
            for instruction in super::ir::Block(block.as_mut_ptr()).instructions() {
                values.push((instruction.name(), instruction.0));
                for operand in instruction.operands().into_iter().filter(|o| o.is_constant()) {
                    values.push((format!("constant of {}", instruction.name()), operand.0));
                }
            }
        }
        Fixture { function: function.as_value_ref(), module, values, blocks }
    }

    fn value_id(&self, name: &str) -> ValueId {
        ValueId(self.values.iter().position(|(n, _)| n == name).unwrap_or_else(|| panic!("no value {name}")) as u32)
    }
    /// The n-th store of the function, which has no name.
    fn store_id(&self, n: usize) -> ValueId {
        let stores = self.values.iter().enumerate().filter(|(_, (_, v))| super::ir::Value(*v).is_store());
        ValueId(stores.map(|(i, _)| i as u32).nth(n).expect("a store"))
    }
    fn block_id(&self, name: &str) -> BlockId {
        BlockId(self.blocks.iter().position(|(n, _)| n == name).unwrap_or_else(|| panic!("no block {name}")) as u32)
    }

    fn region(&self, entry: &str, exit: &str, blocks: &[&str], params: &[&str]) -> ReadRegion {
        let ctx = isl::Ctx::new();
        let scop = Scop {
            context: isl::Set::read_from_str(&ctx, "{ : }").expect("valid"),
            schedule: isl::Schedule::read_from_str(&ctx, "{ domain: \"{ S[] }\" }").expect("valid"),
            ctx,
            params: params
                .iter()
                .map(|name| Param {
                    name: name.to_string(),
                    value: self.value_id(name),
                    bits: 64,
                    unsigned: false,
                    range: (i64::MIN.into(), i64::MAX.into()),
                })
                .collect(),
            arrays: IndexMap::new(),
            statements: IndexMap::new(),
            may_alias: Vec::new(),
            invariants: IndexMap::new(),
            assumptions: Default::default(),
            lines: [7, 9].map(|number| Line { number, ..Line::UNKNOWN }).into(),
        };
        ReadRegion {
            scop,
            unshaped: Vec::new(),
            entry: self.block_id(entry),
            exit: self.block_id(exit),
            errors: Vec::new(),
            decided: Vec::new(),
            error_paths: Vec::new(),
            blocks: blocks.iter().map(|b| self.block_id(b)).collect(),
            bodies: IndexMap::new(),
            bases: IndexMap::new(),
            row_loads: IndexMap::new(),
            retyped: Default::default(),
            errno: None,
            initial: Vec::new(),
            live_outs: Vec::new(),
            program: Default::default(),
            twins: Default::default(),
        }
    }

    /// A body of the named instructions; `store` stands for the next store.
    fn body(&self, depth: usize, instructions: &[&str]) -> Body {
        let mut stores = 0;
        let ids = instructions.iter().map(|name| match *name {
            "store" => {
                stores += 1;
                self.store_id(stores - 1)
            }
            name => self.value_id(name),
        });
        Body {
            kind: BodyKind::Instructions(ids.collect()),
            loops: (0..depth as u32).map(LoopId).collect(),
            inductions: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            recomputed: Vec::new(),
            updating: Vec::new(),
            elsewhere: Default::default(),
            predicates: Vec::new(),
        }
    }
    fn induction(&self, name: &str, dims: &[i64]) -> Induction {
        let mut offset = Polynomial::zero();
        for (d, &factor) in dims.iter().enumerate() {
            offset = offset.add(&Polynomial::counter(d).scale(factor.into()).unwrap()).unwrap();
        }
        Induction { value: self.value_id(name), base: None, offset }
    }
    fn scalar(&self, value: &str, slot: u32) -> ScalarAccess {
        ScalarAccess { value: self.value_id(value), slot: ArrayId(slot) }
    }

    fn write(&self, region: &ReadRegion, plan: &Plan) {
        self.write_with(region, plan, &WriteOptions { stats: true, ..WriteOptions::default() })
    }
    fn write_with(&self, region: &ReadRegion, plan: &Plan, options: &WriteOptions) {
        write_region(self, region, plan, options).unwrap_or_else(|e| panic!("{e}\n{}", self.text()));
        self.module.verify().unwrap_or_else(|e| panic!("{}\n{}", e.to_string_lossy(), self.text()));
    }
    fn text(&self) -> String {
        self.module.print_to_string().to_string_lossy().into_owned()
    }
    fn run(self) -> Running {
        for name in ["loopwright.fast", "loopwright.original"] {
            if let Some(counter) = self.module.get_global(name) {
                counter.set_linkage(Linkage::External);
            }
        }
        Running::of(&self.module)
    }
}

/// A compiled module.
struct Running {
    engine: ExecutionEngine<'static>,
}

impl Running {
    fn of(module: &Module<'static>) -> Running {
        Running { engine: module.create_jit_execution_engine(OptimizationLevel::Default).expect("a JIT") }
    }
    fn original(text: &str) -> Running {
        Running::of(&parse(text))
    }
    fn address(&self, name: &str) -> usize {
        self.engine.get_function_address(name).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
    /// (fast, original) so far
    fn counts(&self) -> (u64, u64) {
        use inkwell::llvm_sys::execution_engine::LLVMGetGlobalValueAddress;
        let read = |name: &std::ffi::CStr| unsafe {
            let address = LLVMGetGlobalValueAddress(self.engine.as_mut_ptr(), name.as_ptr());
            *(address as *const u64)
        };
        (read(c"loopwright.fast"), read(c"loopwright.original"))
    }
}

// Expressions and nodes

fn int(value: i128) -> Expr {
    Expr::Int(value)
}
fn param(index: u32) -> Expr {
    Expr::Param(ParamId(index))
}
fn counter(index: u32) -> Expr {
    Expr::Counter(Counter(index))
}
fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}
fn below(bound: Expr) -> Expr {
    binary(BinaryOp::Sub, bound, int(1))
}
fn loop_of(index: u32, first: Expr, last: Expr, body: Node) -> For {
    For { counter: Counter(index), first, last, step: 1, body, role: LoopRole::InOrder, untouched: Vec::new() }
}
fn call(statement: u32, coordinates: Vec<Expr>) -> Node {
    Node::Call { statement: StatementId(statement), coordinates, found: Vec::new(), private: Vec::new() }
}
fn holds(expr: Expr) -> CheckTerm {
    CheckTerm { kind: CheckKind::Assumed(AssumptionKind::EE), test: Test::Holds(expr) }
}
fn disjoint(first: (u32, Expr, Expr), second: (u32, Expr, Expr)) -> CheckTerm {
    let extent = |(array, low, high)| Extent { array: ArrayId(array), low, high };
    CheckTerm {
        kind: CheckKind::Assumed(AssumptionKind::AA),

        test: Test::Disjoint { first: extent(first), second: extent(second), windows: None },
    }
}
fn scale(expr: Expr, factor: i128) -> Expr {
    binary(BinaryOp::Mul, expr, int(factor))
}

/// `for (i = 0; i < n; i++) a[i] = 3 * b[i]`
const TRIPLE: &str = r#"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
define void @triple(ptr noundef %a, ptr noundef %b, i64 noundef %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %from, align 4
  %y = mul i32 %x, 3
  %to = getelementptr inbounds i32, ptr %a, i64 %i
  store i32 %y, ptr %to, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"#;

fn triple() -> (Fixture, ReadRegion, Plan) {
    let fixture = Fixture::new(TRIPLE);
    let mut region = fixture.region("loop", "done", &["loop"], &["n"]);
    let mut body = fixture.body(1, &["from", "x", "y", "to", "store"]);
    body.inductions.push(fixture.induction("i", &[1]));
    let (x, y, store) = (fixture.value_id("x"), fixture.value_id("y"), fixture.store_id(0));
    let ctx = region.scop.ctx.clone();
    let domain = isl::Set::read_from_str(&ctx, "[p0] -> { S0[i] : 0 <= i < p0 }").expect("valid");
    let access = |kind, role, array: ArrayId| Access {
        kind,
        role,
        array,
        relation: isl::Map::read_from_str(&ctx, &format!("{{ S0[i] -> {array}[i] }}")).expect("valid"),
        row: None,
        offset: None,
        unshaped: None,
        bytes: 4,
        exact: true,
        update: None,
        line: Line::UNKNOWN,
    };
    let accesses = vec![
        access(AccessKind::Read, model::scop::Role::Load(x), ArrayId(1)),
        access(AccessKind::Write, model::scop::Role::Store { instruction: store, value: y }, ArrayId(0)),
    ];
    let (line, boxed, loop_names, bound_to_thread) = (Line::UNKNOWN, false, vec!["i".into()], false);
    let predicates = Vec::new();
    let statement = Statement { line, domain, accesses, operations: 1, boxed, loop_names, bound_to_thread, predicates };
    region.scop.statements.insert(StatementId(0), statement);
    region.bodies.insert(StatementId(0), body);
    region.bases = [(ArrayId(0), fixture.value_id("a")), (ArrayId(1), fixture.value_id("b"))].into_iter().collect();
    region.scop.may_alias.push((ArrayId(0), ArrayId(1)));
    let bytes = || scale(param(0), 4);
    let mut all = loop_of(0, int(0), below(param(0)), call(0, vec![counter(0)]));
    all.role = LoopRole::Vectors;
    let plan = Plan {
        check: vec![disjoint((0, int(0), bytes()), (1, int(0), bytes()))],
        temporaries: Vec::new(),
        body: Node::For(Box::new(all)),
    };
    (fixture, region, plan)
}
