// What a function no longer promises once it calls into a runtime library.
#include "shim.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

const char *loopwright::errnoFunction(const Module &M) {
  // A module that names no system is compiled for this one.
  Triple System(M.getTargetTriple().empty() ? sys::getDefaultTargetTriple() : M.getTargetTriple());
  if (System.isAndroid() || System.isOSOpenBSD() || System.isOSNetBSD())
    return "__errno";
  if (System.isOSLinux() || System.isOSEmscripten())
    return "__errno_location";
  if (System.isOSDarwin() || System.isOSFreeBSD())
    return "__error";
  return nullptr;
}

extern "C" {

// The function now calls malloc or the OpenMP runtime: promises about memory, synchronization and recursion, which LLVM inferred from
// its body, do not cover that. Functions that call it have theirs from there. Attributes only ever get weaker here, so that nothing
// that was done with them before becomes wrong: memory of our own is nobody's else.
void lw_forget_effects(LLVMValueRef Of) {
  static constexpr Attribute::AttrKind Promises[] = {Attribute::Memory, Attribute::NoSync, Attribute::NoFree,
                                                     Attribute::NoRecurse};
  SetVector<Function *> Open;
  Open.insert(unwrap<Function>(Of));
  for (size_t Next = 0; Next < Open.size(); ++Next) {
    Function *F = Open[Next];
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
