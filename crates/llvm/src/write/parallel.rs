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

use super::code::CodeWriter;
use super::ir::{Compare, Type, Value};
use super::{Site, WriteError};
use model::loop_ast::For;
use planted::Fault;
use std::ffi::CStr;

/// `kmp_sch_static`: one contiguous share per thread.
const STATIC_SCHEDULE: i64 = 34;
/// `KMP_IDENT_KMPC`, and with `KMP_IDENT_WORK_LOOP` for work sharing.
const FORK_FLAGS: i64 = 0x02;
const WORK_LOOP_FLAGS: i64 = 0x202;
const NO_SOURCE: &str = ";unknown;unknown;0;0;;";

impl CodeWriter<'_> {
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
        let least = i64::try_from(self.site.options.min_parallel_trip.max(1) - 1).unwrap_or(i64::MAX);
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
        self.parallel_loops += 1;
        Ok(())
    }

    fn write_fork(&mut self, f: &For, first: Value, last_index: Value) -> Result<(), WriteError> {
        let (build, site) = (self.build, self.site);
        let pointer = build.pointer();
        let ty = build.function_type(build.void(), &[pointer, pointer, pointer], false);
        let worker = build.worker(site.function, &format!("{}.loopwright", site.function.name()), ty);
        for argument in 0..3 {
            for attribute in ["noalias", "noundef"] {
                worker.add_argument_attribute(argument, attribute);
            }
        }
        worker.add_argument_attribute(2, "readonly");
        let context = self
            .write_outlined(worker, 2, |code, top| code.write_share(f, worker.argument(0), top, first, last_index))?;
        let fork_type = build.function_type(build.void(), &[pointer, build.int(32), pointer], true);
        let fork = site.runtime(c"__kmpc_fork_call", fork_type);
        let one = build.constant_of(build.int(32), 1);
        let ident = site.ident(FORK_FLAGS);
        site.call_beside_errno(|| build.call(fork_type, fork, &[ident, one, worker, context]));
        Ok(())
    }

    /// The body of the worker: ask for a share, run it, say that it is done.
    fn write_share(
        &mut self,
        f: &For,
        thread: Value,
        top: Value,
        first: Value,
        last_index: Value,
    ) -> Result<(), WriteError> {
        let build = self.build;
        let (int32, int64, pointer) = (build.int(32), build.i64(), build.pointer());
        let (is_last, [lower, upper, stride]) =
            build.elsewhere(|b| b.before(top), |b| (b.alloca(int32), [(); 3].map(|()| b.alloca(int64))));
        let (first, last_index) = (self.local(first), self.local(last_index));
        let (zero, one) = (build.constant(0), build.constant(1));
        let thread = build.load(int32, thread);
        build.store(build.constant_of(int32, 0), is_last);
        build.store(zero, lower);
        build.store(last_index, upper);
        build.store(one, stride);
        let types = [pointer, int32, int32, pointer, pointer, pointer, pointer, int64, int64];
        let init_type = build.function_type(build.void(), &types, false);
        let init = self.site.runtime(c"__kmpc_for_static_init_8", init_type);
        let ident = self.site.ident(WORK_LOOP_FLAGS);
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
        build.branch(finish);

        self.place_after_current(finish);
        build.at_end(finish);
        let fini_type = build.function_type(build.void(), &[pointer, int32], false);
        let fini = self.site.runtime(c"__kmpc_for_static_fini", fini_type);
        build.call(fini_type, fini, &[ident, thread]);
        build.return_void();
        Ok(())
    }
}

impl Site<'_> {
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
