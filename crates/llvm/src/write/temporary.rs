//! Memory of our own: got when all tests have passed, given back behind the new loops.

use super::ir::{Block, Compare, Library};
use super::{Anchors, WriteError, Writer};
use model::plan::Temporary;

impl<A: Anchors> Writer<'_, A> {
    /// One piece of memory for all temporaries, one behind the other. Leaves for `original` if there is none.
    pub(super) fn allocate(&mut self, temporaries: &[Temporary], original: Block) -> Result<(), WriteError> {
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
        let malloc = Library::Malloc.declared_for(self.function).expect("the reader asked");
        let ty = self.build.function_type(self.build.pointer(), &[self.build.i64()], false);
        let memory = self.call_beside_errno(|| self.build.call(ty, malloc, &[total]));
        let next = self.build.new_block(c"lw.memory");
        let got = self.build.compare(Compare::Ne, memory, self.build.null());
        self.build
            .branch_if(got, next, original)
            .set_branch_weights(super::check::EXPECTED.0, super::check::EXPECTED.1);
        self.build.at_end(next);
        for (array, offset) in places {
            let start = self.build.offset(memory, offset);
            self.temporaries.insert(array, start);
        }
        self.memory = Some(memory);
        self.written.allocates = true;
        Ok(())
    }

    /// Gives back what [`Writer::allocate`] got.
    pub(super) fn release(&mut self) {
        if let Some(memory) = self.memory {
            let free = Library::Free.declared_for(self.function).expect("the reader asked");
            let ty = self.build.function_type(self.build.void(), &[self.build.pointer()], false);
            self.call_beside_errno(|| self.build.call(ty, free, &[memory]));
        }
    }
}
