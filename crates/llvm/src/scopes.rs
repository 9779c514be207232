//! Alias scopes need a beginning.

use crate::ffi;
use inkwell::llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};

/// Marks, before an instruction, the place from which on the scopes' promise holds. Without the mark a loop around the code is read
/// as if the promise held across its iterations: unrolled, `for (t…) { if (check(a, b)) {…} swap(a, b); }` has the same scopes in
/// both copies. With it, whoever copies the code gives the copy scopes of its own.
pub(crate) fn declare_alias_scopes(before: LLVMValueRef, scopes: &[LLVMMetadataRef]) {
    // SAFETY: an instruction, and nodes of its context.
    unsafe { ffi::lw_declare_alias_scopes(before, scopes.as_ptr(), scopes.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analyses, OwnedModule, facts::BlockId};
    use inkwell::llvm_sys::core::{LLVMGetBasicBlockTerminator, LLVMGetFirstInstruction, LLVMGetMetadata};
    use inkwell::llvm_sys::core::{LLVMGetMDKindID, LLVMGetOperand, LLVMValueAsMetadata};

    #[test]
    fn a_declaration_names_the_scope() {
        let text = r#"
define void @f(ptr %p) {
  store i32 0, ptr %p, !alias.scope !0
  ret void
}
!0 = !{!1}
!1 = distinct !{!1, !2}
!2 = distinct !{!2}
"#;
        let mut module = OwnedModule::read_text("scope.ll", text).unwrap();
        let handle = module.handle();
        let function = handle.function("f").unwrap();
        let (_, analyses) = Analyses::collect(&function);
        let block = analyses.block_ref(BlockId(0));
        // SAFETY: the store is the first instruction, its metadata a list of one scope.
        unsafe {
            let kind = LLVMGetMDKindID(c"alias.scope".as_ptr(), 11);
            let list = LLVMGetMetadata(LLVMGetFirstInstruction(block), kind);
            let scope = LLVMValueAsMetadata(LLVMGetOperand(list, 0));
            declare_alias_scopes(LLVMGetBasicBlockTerminator(block), &[scope]);
        }
        function.verify().unwrap();
        let printed = function.print();
        assert!(printed.contains("call void @llvm.experimental.noalias.scope.decl(metadata !0)"), "{printed}");
    }
}
