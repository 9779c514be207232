//! Memory of our own: got when all tests have passed, given back behind the new loops.

use super::WriteError;
use super::check::EXPECTED;
use super::code::CodeWriter;
use super::ir::{Compare, Library};
use model::plan::Temporary;

impl CodeWriter<'_> {
    /// One piece of memory for all temporaries, one behind the other. Leaves for the original if there is none.
    pub(super) fn allocate(&mut self, temporaries: &[Temporary]) -> Result<(), WriteError> {
        if temporaries.is_empty() {
            return Ok(());
        }
        // The check has computed the same numbers and found that they fit.
        let mut total = self.build.constant(0);
        let mut places = Vec::new();
        for temporary in temporaries {
            places.push((temporary.array, total));
            let bytes = self.write_int(&temporary.bytes)?;
            total = self.build.add(total, bytes);
        }
        let malloc = Library::Malloc.declared_for(self.site.function).expect("the reader asked");
        let ty = self.build.function_type(self.build.pointer(), &[self.build.i64()], false);
        let memory = self.site.call_beside_errno(|| self.build.call(ty, malloc, &[total]));
        let next = self.build.new_block(c"lw.memory");
        let got = self.build.compare(Compare::Ne, memory, self.build.null());
        let branch = self.build.branch_if(got, next, self.site.joints.original);
        branch.set_branch_weights(EXPECTED.0, EXPECTED.1);
        self.build.at_end(next);
        for (array, offset) in places {
            let start = self.build.offset(memory, offset);
            self.temporaries.insert(array, start);
        }
        self.memory = Some(memory);
        Ok(())
    }

    /// Gives back what [`CodeWriter::allocate`] got.
    pub(super) fn release(&self) {
        if let Some(memory) = self.memory {
            let free = Library::Free.declared_for(self.site.function).expect("the reader asked");
            let ty = self.build.function_type(self.build.void(), &[self.build.pointer()], false);
            self.site.call_beside_errno(|| self.build.call(ty, free, &[memory]));
        }
    }
}
