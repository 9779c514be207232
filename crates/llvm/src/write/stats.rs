//! Which side ran, counted at run time and printed to stderr when the program (or the shared object) ends.

use super::Site;
use super::ir::{Block, Module, Value};

const PRINTER: &std::ffi::CStr = c"loopwright.stats";

impl Site<'_> {
    pub(super) fn write_stats(&self, new: Block) {
        let module = self.function.module();
        let counters =
            [(c"loopwright.fast", new), (c"loopwright.original", self.joints.original)].map(|(name, block)| {
                let counter = module.add_global(name, self.build.i64());
                counter.set_initializer(self.build.constant(0));
                counter.make_internal();
                self.build.before(block.instructions()[0]);
                self.build.count_up(counter);
                counter
            });
        self.print_at_exit(module, counters);
    }

    /// Adds a line to the module's one printer, which runs among its destructors: works in every language and without a runtime of
    /// ours, and each module of a program prints its own.
    fn print_at_exit(&self, module: Module, [fast, original]: [Value; 2]) {
        let build = &self.build;
        build.set_location(None);
        let printer = module.function(PRINTER).unwrap_or_else(|| {
            let printer = module.add_function(PRINTER, build.function_type(build.void(), &[], false));
            printer.make_internal();
            printer.add_string_attribute("loopwright");
            build.at_end(build.new_block_in(printer, c""));
            build.return_void();
            printer.register_destructor();
            printer
        });
        build.before(printer.entry_block().terminator());
        let text = |content: &str| {
            let content = build.text(content);
            let global = module.add_global(c"loopwright.text", content.ty());
            global.set_initializer(content);
            global.make_private_constant();
            global
        };
        let line = self.region.scop.lines.0;
        let place = if line.is_known() { format!(":{}", line.number) } else { String::new() };
        let hint = if line.is_known() { "" } else { " (-g would give the line)" };
        let format = text(&format!("loopwright: stats: %s{place} fast=%lld original=%lld{hint}\n"));
        let name = text(&self.function.source_name());
        let print_type = build.function_type(build.int(32), &[build.int(32), build.pointer()], true);
        let print = module.function(c"dprintf").unwrap_or_else(|| module.add_function(c"dprintf", print_type));
        let standard_error = build.constant_of(build.int(32), 2);
        let [fast, original] = [fast, original].map(|counter| build.load(build.i64(), counter));
        build.call(print_type, print, &[standard_error, format, name, fast, original]);
    }
}
