//! A parallel loop becomes a function that every thread of an OpenMP team runs on its share of the iterations.
//!
//! ```text
//!   if (enough iterations)  __kmpc_fork_call(worker, &context)  else  the same loop in place
//!
//!   worker(thread, _, context):
//!     load captured values
//!     __kmpc_for_static_init_8 gives lower, upper of 0 .. trips − 1
//!     for (counter = first + lower·step; counter <= first + upper·step; counter += step) body
//!     __kmpc_for_static_fini
//! ```
//! The context lies on the caller's stack: the fork returns when all threads are done.

use super::ir::{Block, Builder, Compare, Module, Type, Value};
use super::{Anchors, WriteError, Writer};
use indexmap::IndexMap;
use model::loop_ast::For;
use model::scop::ArrayId;
use planted::Fault;
use std::collections::HashMap;
use std::ffi::CStr;

/// `kmp_sch_static`: one contiguous share per thread.
const STATIC_SCHEDULE: i64 = 34;
/// `KMP_IDENT_KMPC`, and with `KMP_IDENT_WORK_LOOP` for work sharing.
const FORK_FLAGS: i64 = 0x02;
const WORK_LOOP_FLAGS: i64 = 0x202;
const NO_SOURCE: &str = ";unknown;unknown;0;0;;";

/// The function being filled, and what it takes from its parent.
pub(super) struct Worker {
    function: Value,
    /// Runs once per thread before everything else; ends in a branch.
    prologue: Block,
    context: Value,
    /// A value of the parent and its copy here.
    copies: HashMap<Value, Value>,
    slot_copies: IndexMap<ArrayId, Value>,
    captured: Vec<Captured>,
    bytes: u64,
    alignment: u64,
}

struct Captured {
    source: Source,
    offset: u64,
}

#[derive(Clone, Copy)]
enum Source {
    Value(Value),
    /// What the slot holds when the team starts; nobody writes it before the team is done.
    Slot(ArrayId),
}

impl Worker {
    pub(super) fn function(&self) -> Value {
        self.function
    }

    /// Reserves room in the context and loads from it in the prologue.
    fn capture(&mut self, build: &Builder, module: Module, source: Source, ty: Type) -> Value {
        let (bytes, alignment) = module.layout_of(ty);
        let offset = self.bytes.next_multiple_of(alignment.max(1));
        self.bytes = offset + bytes;
        self.alignment = self.alignment.max(alignment);
        self.captured.push(Captured { source, offset });
        let end = self.prologue.terminator();
        build.elsewhere(
            |b| b.before(end),
            |b| {
                let place = b.offset(self.context, b.constant(offset as i64));
                b.load(ty, place)
            },
        )
    }
}

impl<A: Anchors> Writer<'_, A> {
    /// `value` in the function being written: itself, or captured where it belongs to the parent of a worker.
    pub(super) fn local(&mut self, value: Value) -> Value {
        let Some(worker) = &mut self.worker else { return value };
        // The address of a thread-local variable is a constant to LLVM: each thread's own. The original means its caller's.
        let anywhere = value.is_constant() && !value.is_thread_dependent();
        if anywhere || !value.is_constant() && value.function().is_none_or(|f| f == worker.function) {
            return value;
        }
        if let Some(&copy) = worker.copies.get(&value) {
            return copy;
        }
        let copy = worker.capture(&self.build, self.function.module(), Source::Value(value), value.ty());
        worker.copies.insert(value, copy);
        copy
    }

    /// The content of a slot of the parent. Only while a worker is written.
    pub(super) fn captured_slot(&mut self, slot: ArrayId) -> Value {
        let worker = self.worker.as_mut().expect("called for workers only");
        if let Some(&copy) = worker.slot_copies.get(&slot) {
            return copy;
        }
        let copy = worker.capture(&self.build, self.function.module(), Source::Slot(slot), self.slots[&slot].ty);
        worker.slot_copies.insert(slot, copy);
        copy
    }

    pub(super) fn write_parallel(&mut self, f: &For) -> Result<(), WriteError> {
        if f.step <= 0 {
            return Err(WriteError::Plan("a loop step is not positive".into()));
        }
        let (first, last) = (self.write_int(&f.first)?, self.write_int(&f.last)?);
        let fork = self.build.new_block(c"lw.fork");
        let alone = self.build.new_block(c"lw.alone");
        let done = self.build.new_block(c"lw.joined");
        // The index of the last iteration, meaningful where first <= last; as a signed number it is negative only for more than
        // 2⁶³ iterations, which then run alone, as the runtime counts in signed numbers too.
        let distance = self.build.sub(last, first);
        let last_index = self.build.udiv(distance, self.build.constant(f.step));
        let least = i64::try_from(self.options.min_parallel_trip.max(1) - 1).unwrap_or(i64::MAX);
        let any = self.build.compare(Compare::Le, first, last);
        let enough = self.build.compare(Compare::Ge, last_index, self.build.constant(least));
        let both = self.build.and(any, enough);
        self.build.branch_if(both, fork, alone);

        self.build.at_end(fork);
        self.write_fork(f, first, last_index)?;
        self.build.branch(done);

        self.build.at_end(alone);
        self.write_loop(f, first, last)?;
        self.build.branch(done);

        self.place_after_current(done);
        self.build.at_end(done);
        self.written.parallel_loops += 1;
        Ok(())
    }

    fn write_fork(&mut self, f: &For, first: Value, last_index: Value) -> Result<(), WriteError> {
        let here = self.build.block();
        let pointer = self.build.pointer();
        let ty = self.build.function_type(self.build.void(), &[pointer, pointer, pointer], false);
        let function = self.build.worker(self.function, &format!("{}.loopwright", self.function.name()), ty);
        for argument in 0..3 {
            for attribute in ["noalias", "noundef"] {
                function.add_argument_attribute(argument, attribute);
            }
        }
        function.add_argument_attribute(2, "readonly");
        let prologue = self.build.new_block_in(function, c"");
        let start = self.build.new_block_in(function, c"lw.start");
        self.build.set_location(function.artificial_location());
        self.build.at_end(prologue);
        self.build.branch(start);
        self.worker = Some(Worker {
            function,
            prologue,
            context: function.argument(2),
            copies: HashMap::new(),
            slot_copies: IndexMap::new(),
            captured: Vec::new(),
            bytes: 0,
            alignment: 1,
        });
        self.build.at_end(start);
        self.write_share(f, function, prologue, first, last_index)?;
        let worker = self.worker.take().expect("put there above");

        self.build.set_location(self.function.artificial_location());
        let context = self.write_context(&worker, here);
        self.build.at_end(here);
        let build = &self.build;
        let fork_type = build.function_type(build.void(), &[pointer, build.int(32), pointer], true);
        let fork = self.runtime(c"__kmpc_fork_call", fork_type);
        let one = build.constant_of(build.int(32), 1);
        let errno = self.save_errno();
        build.call(fork_type, fork, &[self.ident(FORK_FLAGS), one, function, context]);
        self.restore_errno(errno);
        Ok(())
    }

    /// The context filled with what the worker captured, at the end of block `here`.
    fn write_context(&self, worker: &Worker, here: Block) -> Value {
        let build = &self.build;
        let top = self.function.entry_block().instructions()[0];
        build.before(top);
        let context = build.alloca(build.array_type(build.int(8), worker.bytes.max(1)));
        context.set_alignment(worker.alignment as u32);
        build.at_end(here);
        for captured in &worker.captured {
            let value = match captured.source {
                Source::Value(value) => value,
                Source::Slot(slot) => build.load(self.slots[&slot].ty, self.slots[&slot].pointer),
            };
            build.store(value, build.offset(context, build.constant(captured.offset as i64)));
        }
        context
    }

    /// The body of the worker: ask for a share, run it, say that it is done.
    fn write_share(
        &mut self,
        f: &For,
        function: Value,
        prologue: Block,
        first: Value,
        last_index: Value,
    ) -> Result<(), WriteError> {
        let (int32, int64, pointer) = (self.build.int(32), self.build.i64(), self.build.pointer());
        let start = self.build.block();
        let top = prologue.terminator();
        self.build.before(top);
        let is_last = self.build.alloca(int32);
        let [lower, upper, stride] = [(); 3].map(|()| self.build.alloca(int64));
        self.build.at_end(start);
        let (first, last_index) = (self.local(first), self.local(last_index));
        let build = &self.build;
        let (zero, one) = (build.constant(0), build.constant(1));
        let thread = build.load(int32, function.argument(0));
        build.store(build.constant_of(int32, 0), is_last);
        build.store(zero, lower);
        build.store(last_index, upper);
        build.store(one, stride);
        let types = [pointer, int32, int32, pointer, pointer, pointer, pointer, int64, int64];
        let init_type = build.function_type(build.void(), &types, false);
        let init = self.runtime(c"__kmpc_for_static_init_8", init_type);
        let ident = self.ident(WORK_LOOP_FLAGS);
        let schedule = build.constant_of(int32, STATIC_SCHEDULE);
        build.call(init_type, init, &[ident, thread, schedule, is_last, lower, upper, stride, one, one]);
        let lower = build.load(int64, lower);
        let upper = build.intrinsic("llvm.smin", build.load(int64, upper), last_index);

        // A thread without a share gets lower > upper; its counter would start behind `last`, perhaps behind all of i64.
        let work = build.new_block(c"lw.share");
        let finish = build.new_block(c"lw.finish");
        build.branch_if(build.compare(Compare::Le, lower, upper), work, finish);
        build.at_end(work);
        let step = build.constant(f.step);
        let share_first = build.add(first, build.mul(lower, step));
        let lost = build.constant(i64::from(planted::is(Fault::ShareShort)));
        let share_last = build.sub(build.add(first, build.mul(upper, step)), lost);
        self.write_loop(f, share_first, share_last)?;
        self.build.branch(finish);

        self.place_after_current(finish);
        self.build.at_end(finish);
        let fini_type = self.build.function_type(self.build.void(), &[pointer, int32], false);
        let fini = self.runtime(c"__kmpc_for_static_fini", fini_type);
        self.build.call(fini_type, fini, &[ident, thread]);
        self.build.return_void();
        Ok(())
    }

    fn runtime(&self, name: &CStr, ty: Type) -> Value {
        let module = self.function.module();
        module.function(name).unwrap_or_else(|| {
            let function = module.add_function(name, ty);
            function.add_function_attribute("nounwind");
            function
        })
    }

    /// The `ident_t` that libomp wants to see the caller in: { reserved, flags, reserved, length of the text, text }.
    fn ident(&self, flags: i64) -> Value {
        let name: &CStr = if flags == FORK_FLAGS { c"loopwright.ident.fork" } else { c"loopwright.ident.loop" };
        let module = self.function.module();
        module.global(name).unwrap_or_else(|| {
            let build = &self.build;
            let text = build.text(NO_SOURCE);
            let source = module.global(c"loopwright.ident.source").unwrap_or_else(|| {
                let source = module.add_global(c"loopwright.ident.source", text.ty());
                source.set_initializer(text);
                source.make_private_constant();
                source
            });
            let word = |value| build.constant_of(build.int(32), value);
            let fields = [word(0), word(flags), word(0), word(NO_SOURCE.len() as i64), source];
            let content = build.constant_struct(&fields);
            let ident = module.add_global(name, content.ty());
            ident.set_initializer(content);
            ident.make_private_constant();
            ident.set_alignment(8);
            ident
        })
    }
}
