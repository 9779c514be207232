// What a function no longer promises once it calls into a runtime library.
#include "shim.h"

#include "llvm/ADT/SetVector.h"

using namespace llvm;
using namespace loopwright;

extern "C" {

// The function now calls malloc or the OpenMP runtime: promises about memory, synchronization and recursion, which LLVM inferred from
// its body, do not cover that. Functions that call it have theirs from there. Attributes only ever get weaker here, so that nothing
// that was done with them before becomes wrong: memory of our own is nobody's else.
void lw_forget_effects(Managers *AMs, LLVMValueRef Of) {
  static constexpr Attribute::AttrKind Promises[] = {Attribute::Memory, Attribute::NoSync, Attribute::NoFree,
                                                     Attribute::NoRecurse};
  SetVector<Function *> Open;
  Open.insert(unwrap<Function>(Of));
  for (size_t Next = 0; Next < Open.size(); ++Next) {
    Function *F = Open[Next];
    AMs->forget(*F);
    AMs->changed(*F);
    for (Attribute::AttrKind Promise : Promises)
      F->removeFnAttr(Promise);
    for (User *U : F->users())
      if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledFunction() == F) {
        for (Attribute::AttrKind Promise : Promises)
          Call->removeFnAttr(Promise);
        Open.insert(Call->getFunction());
      }
  }
}

} // extern "C"
